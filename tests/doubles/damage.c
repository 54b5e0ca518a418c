/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damage.h"

#include "backends/slot_checks.h"

#define BLOCK UINT64_C(4096)
#define SHIFT XB_DAMAGE_SHIFT

struct xb_damager xb_damager;
_Atomic unsigned xb_damage_count;

/* ---- copies ---- */

/* A copy as it was asked for, by one of three slots. */
struct copy {
    struct xb_queue *queue;
    struct xb_buffer *target;
    uint64_t to;
    struct xb_buffer *source;
    uint64_t from;
    uint64_t bytes;
    enum { COPY, KERNEL_COPY, PEER_COPY } slot;
    enum xb_access access; /* of a kernel copy */
    unsigned together;     /* of a kernel copy */
};

/* A part of the copy: `bytes` to its target + to from its source + from. */
static enum xb_status part(const struct copy *copy, uint64_t to, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    switch (copy->slot) {
    case KERNEL_COPY:
        return inner->queue_kernel_copy(copy->queue, copy->target, copy->to + to, copy->source,
                                        copy->from + from, bytes, copy->access, copy->together,
                                        error);
    case PEER_COPY:
        return inner->queue_copy_peer(copy->queue, copy->target, copy->to + to, copy->source,
                                      copy->from + from, bytes, error);
    case COPY:
        break;
    }
    return inner->queue_copy(copy->queue, copy->target, copy->to + to, copy->source,
                             copy->from + from, bytes, error);
}

/* What is moved, in this order, where a move of that many bytes takes that damage: parts of it, by
 * their places. Returns how many. Blocks that are swapped are of `block` bytes. */
static size_t find_parts(enum xb_damage damage, uint64_t bytes, uint64_t block,
                         struct xb_piece parts[XB_DAMAGE_OPERATIONS])
{
    const uint64_t middle = bytes / 2 / 8 * 8;
    parts[0] = (struct xb_piece){.bytes = bytes};
    switch (damage) {
    case XB_DAMAGE_NONE:
        return 1;
    case XB_DAMAGE_BIT_FLIPPED: /* no two words of a pattern are the same: this is a wrong one,
                                   where nobody flips a bit behind it */
        parts[1] = (struct xb_piece){middle - 8, middle, 8};
        return 2;
    case XB_DAMAGE_BLOCKS_SWAPPED:
        parts[1] = (struct xb_piece){block, 0, block};
        parts[2] = (struct xb_piece){0, block, block};
        return 3;
    case XB_DAMAGE_SHIFTED_2MIB:
        parts[0].source_offset = SHIFT;
        return 1;
    case XB_DAMAGE_LAST_BYTE_LOST:
        parts[0].bytes--;
        return 1;
    case XB_DAMAGE_NOTHING_COPIED:
        return 0;
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED: /* 8 bytes before its place */
        parts[0].bytes = BLOCK / 2;
        parts[1] = (struct xb_piece){3 * BLOCK / 2, 3 * BLOCK / 2, bytes - 3 * BLOCK / 2};
        parts[2] = (struct xb_piece){BLOCK / 2, BLOCK / 2 - 8, BLOCK};
        return damage == XB_DAMAGE_PIECE_LOST ? 2 : 3;
    }
    return 1;
}

/* The damage that can be done to an operation on that range; counts it. */
static enum xb_damage begin(const struct xb_buffer *source, uint64_t from, uint64_t bytes)
{
    enum xb_damage damage = *xb_damager.damage;
    uint64_t behind = from < source->bytes ? source->bytes - from : 0;
    /* What breaks the rules is left for the inner backend to refuse. */
    if (bytes < XB_DAMAGE_LEAST || bytes > behind)
        return XB_DAMAGE_NONE;
    if (damage == XB_DAMAGE_SHIFTED_2MIB && behind <= SHIFT)
        return XB_DAMAGE_NONE;
    xb_damage_count += damage != XB_DAMAGE_NONE;
    return damage;
}

static enum xb_status damage_copy(const struct copy *copy, struct xb_error *error)
{
    struct xb_piece parts[XB_DAMAGE_OPERATIONS];
    enum xb_damage damage = begin(copy->source, copy->from, copy->bytes);
    const bool flips = damage == XB_DAMAGE_BIT_FLIPPED && xb_damager.flip != NULL;
    /* What a pipeline sends in and out again must not be put right by the same swap twice. */
    size_t count = find_parts(damage, copy->bytes,
                              copy->target->memory == XB_MEMORY_DEVICE ? BLOCK : BLOCK / 2, parts);
    if (damage == XB_DAMAGE_SHIFTED_2MIB)
        parts[0].bytes = xb_damage_least(copy->bytes, copy->source->bytes - copy->from - SHIFT);
    for (size_t i = 0; i < (flips ? 1 : count); i++)
        XB_TRY(part(copy, parts[i].target_offset, parts[i].source_offset, parts[i].bytes, error));
    return flips ? xb_damager.flip(copy->queue, copy->target, copy->to + parts[1].target_offset,
                                   error)
                 : XB_OK;
}

enum xb_status xb_damage_queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                    struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                    struct xb_error *error)
{
    const struct copy copy = {queue, target, to, source, from, bytes, COPY, XB_ACCESS_SEQUENTIAL,
                              1};
    return damage_copy(&copy, error);
}

enum xb_status xb_damage_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                           uint64_t to, struct xb_buffer *source, uint64_t from,
                                           uint64_t bytes, enum xb_access access, unsigned together,
                                           struct xb_error *error)
{
    const struct copy copy = {queue, target,      to,     source,  from,
                              bytes, KERNEL_COPY, access, together};
    return damage_copy(&copy, error);
}

enum xb_status xb_damage_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t to, struct xb_buffer *source, uint64_t from,
                                         uint64_t bytes, struct xb_error *error)
{
    const struct copy copy = {
        queue, target, to, source, from, bytes, PEER_COPY, XB_ACCESS_SEQUENTIAL, 1};
    return damage_copy(&copy, error);
}

/* ---- chases ---- */

enum xb_status xb_damage_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                     struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                     bool bulk, struct xb_error *error)
{
    enum xb_damage damage = *xb_damager.damage;
    uint64_t lost = damage == XB_DAMAGE_NONE ? 0 : damage == XB_DAMAGE_NOTHING_COPIED ? loads : 1;
    xb_damage_count += lost > 0;
    return xb_damager.inner->queue_chase(queue, chain, cursor, loads - lost, turn, bulk, error);
}

/* ---- prefetches and decodings ---- */

/* Which words of what is there become wrong. */
static struct xb_piece find_wrong(enum xb_damage damage, uint64_t bytes)
{
    switch (damage) {
    case XB_DAMAGE_NONE:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
        return (struct xb_piece){0, bytes / 2 / 8 * 8, 8};
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return (struct xb_piece){0, 0, 2 * BLOCK};
    case XB_DAMAGE_SHIFTED_2MIB:
    case XB_DAMAGE_NOTHING_COPIED:
        return (struct xb_piece){0, 0, bytes};
    case XB_DAMAGE_LAST_BYTE_LOST:
        return (struct xb_piece){0, bytes / 8 * 8 - 8, 8};
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return (struct xb_piece){0, BLOCK / 2, BLOCK};
    }
    return (struct xb_piece){0, 0, 0};
}

enum xb_status xb_damage_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                        uint64_t bytes, bool to_device, struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    XB_TRY(inner->queue_prefetch(queue, buffer, bytes, to_device, error));
    const struct xb_piece wrong = find_wrong(begin(buffer, 0, bytes), bytes);
    return wrong.bytes == 0
               ? XB_OK
               : inner->queue_compute(queue, buffer, wrong.target_offset, wrong.bytes, 1, error);
}

enum xb_status xb_damage_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                      struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    enum xb_damage damage = *xb_damager.damage;
    if (damage == XB_DAMAGE_NONE || decoding->bytes < XB_DAMAGE_LEAST ||
        decoding->target->memory != XB_MEMORY_DEVICE ||
        xb_decode_check(queue, decoding, error) != XB_OK)
        return inner->queue_decode(queue, decoding, error);
    xb_damage_count++;
    if (damage == XB_DAMAGE_NOTHING_COPIED)
        return XB_OK;
    struct xb_piece wrong = find_wrong(damage, decoding->bytes);
    XB_TRY(inner->queue_decode(queue, decoding, error));
    return inner->queue_compute(queue, decoding->target,
                                decoding->target_offset + wrong.target_offset, wrong.bytes, 1,
                                error);
}

/* ---- files ---- */

enum xb_status xb_damage_file_read(struct xb_file *file, uint64_t file_offset,
                                   struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                   struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    enum xb_damage damage = *xb_damager.damage;
    struct xb_piece parts[XB_DAMAGE_OPERATIONS];
    enum xb_status status = XB_OK;
    if (bytes < XB_DAMAGE_LEAST || xb_file_read_check(file, buffer, offset, bytes, error) != XB_OK)
        damage = XB_DAMAGE_NONE;
    xb_damage_count += damage != XB_DAMAGE_NONE;
    size_t count = find_parts(damage, bytes, BLOCK, parts);
    for (size_t i = 0; status == XB_OK && i < count; i++)
        status = inner->file_read(file, file_offset + parts[i].source_offset, buffer,
                                  offset + parts[i].target_offset, parts[i].bytes, error);
    if (status == XB_OK || damage != XB_DAMAGE_SHIFTED_2MIB)
        return status;
    xb_damage_count--; /* the file ends before: everything is right */
    return inner->file_read(file, file_offset, buffer, offset, bytes, error);
}

/* ---- a backend whose operations are damaged ---- */

enum xb_damage xb_damaged_how;

static struct xb_backend table;

enum xb_status xb_damage_driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                     struct xb_error *error)
{
    enum xb_status status = xb_damager.inner->driver_open(driver, probe, error);
    if (status == XB_OK)
        (*driver)->backend = &table;
    return status;
}

void xb_damage_driver_close(struct xb_driver *driver)
{
    if (driver != NULL)
        driver->backend = xb_damager.inner;
    xb_damager.inner->driver_close(driver);
}

/* Several operations stand in for one, and as many must fit behind a hold. */
static void describe(struct xb_device_info *info)
{
    info->held_operations /= XB_DAMAGE_OPERATIONS;
}

enum xb_status xb_damage_device_info(struct xb_driver *driver, unsigned index,
                                     struct xb_device_info *info, struct xb_error *error)
{
    enum xb_status status = xb_damager.inner->device_info(driver, index, info, error);
    if (status == XB_OK)
        describe(info);
    return status;
}

enum xb_status xb_damage_device_open(struct xb_driver *driver, unsigned index,
                                     struct xb_device **device, struct xb_error *error)
{
    XB_TRY(xb_damager.inner->device_open(driver, index, device, error));
    (*device)->backend = &table;
    describe(&(*device)->info);
    return XB_OK;
}

void xb_damage_device_close(struct xb_device *device)
{
    if (device != NULL)
        device->backend = xb_damager.inner;
    xb_damager.inner->device_close(device);
}

/* Takes the place of a slot that is there: the others have none of it. */
#define WRAP(slot)                                                                                 \
    if (inner->slot != NULL)                                                                       \
    table.slot = xb_damage_##slot

const struct xb_backend *xb_damaged_wrap(const struct xb_backend *inner)
{
    xb_damager = (struct xb_damager){&xb_damaged_how, inner, NULL};
    table = *inner; /* with those slots that need no help, and those that are not there */
    WRAP(driver_open);
    WRAP(driver_close);
    WRAP(device_info);
    WRAP(device_open);
    WRAP(device_close);
    WRAP(queue_copy);
    WRAP(queue_kernel_copy);
    WRAP(queue_chase);
    WRAP(queue_copy_peer);
    WRAP(queue_prefetch);
    WRAP(queue_decode);
    WRAP(file_read);
    WRAP(pieces_open);
    WRAP(pieces_close);
    WRAP(queue_copy_pieces);
    WRAP(queue_kernel_pieces);
    WRAP(graph_open);
    WRAP(graph_close);
    WRAP(queue_graph);
    WRAP(queue_copy_rows);
    return &table;
}
