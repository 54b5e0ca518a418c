/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damage.h"

#include "backends/slot_checks.h"

#define BLOCK UINT64_C(4096)
#define SHIFT (UINT64_C(2) << 20)

/* A read as it was asked for. */
struct read {
    const struct xb_backend *inner;
    struct xb_file *file;
    uint64_t from;
    struct xb_buffer *target;
    uint64_t to;
};

/* A part of it. */
static enum xb_status part(const struct read *read, uint64_t to, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    return read->inner->file_read(read->file, read->from + from, read->target, read->to + to, bytes,
                                  error);
}

static enum xb_status lose_block(const struct read *read, uint64_t bytes, bool misplaced,
                                 struct xb_error *error)
{
    enum xb_status status = part(read, 0, 0, BLOCK / 2, error);
    if (status == XB_OK)
        status = part(read, 3 * BLOCK / 2, 3 * BLOCK / 2, bytes - 3 * BLOCK / 2, error);
    if (status == XB_OK && misplaced)
        status = part(read, BLOCK / 2 - 8, BLOCK / 2, BLOCK, error);
    return status;
}

/* What is read right at first and then partly once more, from another place. */
static enum xb_status read_twice(const struct read *read, enum xb_damage damage, uint64_t bytes,
                                 struct xb_error *error)
{
    uint64_t middle = bytes / 2 / 8 * 8;
    enum xb_status status = part(read, 0, 0, bytes, error);
    if (status != XB_OK)
        return status;
    if (damage == XB_DAMAGE_BIT_FLIPPED)
        return part(read, middle, middle - 8, 8, error);
    status = part(read, 0, BLOCK, BLOCK, error);
    return status == XB_OK ? part(read, BLOCK, 0, BLOCK, error) : status;
}

/* Where the file ends before, everything is right. */
static enum xb_status shift(const struct read *read, uint64_t bytes, struct xb_error *error)
{
    if (part(read, 0, SHIFT, bytes, error) == XB_OK)
        return XB_OK;
    xb_damage_count--;
    return part(read, 0, 0, bytes, error);
}

enum xb_status xb_damage_file_read(enum xb_damage damage, const struct xb_backend *inner,
                                   struct xb_file *file, uint64_t file_offset,
                                   struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   struct xb_error *error)
{
    const struct read read = {inner, file, file_offset, buffer, offset};
    xb_damage_note_write(buffer);
    if (damage == XB_DAMAGE_NONE || bytes < XB_DAMAGE_LEAST ||
        xb_file_read_check(file, buffer, offset, bytes, error) != XB_OK)
        return part(&read, 0, 0, bytes, error);
    xb_damage_count++;
    switch (damage) {
    case XB_DAMAGE_NONE:
    case XB_DAMAGE_NOTHING_COPIED:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return read_twice(&read, damage, bytes, error);
    case XB_DAMAGE_SHIFTED_2MIB:
        return shift(&read, bytes, error);
    case XB_DAMAGE_LAST_BYTE_LOST:
        return part(&read, 0, 0, bytes - 1, error);
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return lose_block(&read, bytes, damage == XB_DAMAGE_PIECE_MISPLACED, error);
    }
    return XB_OK;
}
