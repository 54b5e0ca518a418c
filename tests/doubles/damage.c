/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damage.h"

#include "backends/slot_checks.h"

#include <pthread.h>

#define BLOCK UINT64_C(4096)
#define SHIFT XB_DAMAGE_SHIFT

struct xb_damager xb_damager;
_Atomic unsigned xb_damage_count;

/* ---- what buffers hold ---- */

/* Buffers that queues have written to, and as much of them as is known to hold a pattern. */
static struct {
    const struct xb_buffer *buffer;
    uint64_t bytes;
    struct xb_pattern pattern;
} written[64];

#define WRITTEN (sizeof written / sizeof written[0])

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `written` */

/* With the lock held. */
static void forget(const struct xb_buffer *buffer)
{
    for (size_t i = 0; i < WRITTEN; i++)
        if (written[i].buffer == buffer)
            written[i].buffer = NULL;
}

static void note(const struct xb_buffer *buffer, uint64_t bytes, struct xb_pattern pattern)
{
    pthread_mutex_lock(&lock);
    forget(buffer);
    size_t i = 0;
    while (i < WRITTEN && written[i].buffer != NULL)
        i++;
    if (i < WRITTEN) {
        written[i].buffer = buffer;
        written[i].bytes = bytes;
        written[i].pattern = pattern;
    }
    pthread_mutex_unlock(&lock);
}

void xb_damage_note_write(const struct xb_buffer *buffer)
{
    const struct xb_pattern none = {0};
    note(buffer, 0, none);
}

void xb_damage_forget(const struct xb_buffer *buffer)
{
    pthread_mutex_lock(&lock);
    forget(buffer);
    pthread_mutex_unlock(&lock);
}

enum xb_status xb_damage_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t bytes, struct xb_pattern pattern,
                                    struct xb_error *error)
{
    note(buffer, bytes, pattern);
    return xb_damager.inner->queue_fill(queue, buffer, bytes, pattern, error);
}

enum xb_status xb_damage_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                       uint64_t offset, uint64_t bytes, uint64_t steps,
                                       struct xb_error *error)
{
    xb_damage_note_write(buffer);
    return xb_damager.inner->queue_compute(queue, buffer, offset, bytes, steps, error);
}

enum xb_status xb_damage_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, enum xb_access access, struct xb_error *error)
{
    xb_damage_note_write(buffer);
    return xb_damager.inner->queue_chain(queue, buffer, bytes, access, error);
}

enum xb_status xb_damage_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                      uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                      uint64_t target_offset, struct xb_error *error)
{
    xb_damage_note_write(target);
    return xb_damager.inner->queue_digest(queue, buffer, offset, bytes, target, target_offset,
                                          error);
}

/*
 * Byte `offset` of a buffer, or -1 where it is not known. The CPU may look at host memory only if
 * no queue writes to it: what is asked about is still to be copied. Never at managed memory, whose
 * pages would move.
 */
static int known_byte(const struct xb_buffer *buffer, uint64_t offset)
{
    bool is_written = false;
    int byte = -1;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < WRITTEN && !is_written; i++) {
        is_written = written[i].buffer == buffer;
        if (is_written && offset < written[i].bytes)
            byte =
                (int)(xb_pattern_word(written[i].pattern, offset / 8) >> (8 * (offset % 8)) & 0xFF);
    }
    pthread_mutex_unlock(&lock);
    if (is_written || buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MANAGED)
        return byte;
    return ((const unsigned char *)buffer->host_address)[offset];
}

/* ---- copies ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

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

static bool one_bit(int difference)
{
    return difference > 0 && (difference & (difference - 1)) == 0;
}

/* One byte in 32 is such a one. */
uint64_t xb_damage_find_flipped(const struct xb_buffer *buffer, uint64_t from, uint64_t place,
                                uint64_t step)
{
    int right = known_byte(buffer, from + place);
    for (uint64_t at = 0; right >= 0 && at < XB_DAMAGE_LEAST; at += step) {
        int byte = known_byte(buffer, from + at);
        if (byte >= 0 && one_bit(byte ^ right))
            return at;
    }
    return place;
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
    case XB_DAMAGE_BIT_FLIPPED: /* no two words of a pattern are the same: this is a wrong one */
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
    xb_damage_note_write(copy->target);
    enum xb_damage damage = begin(copy->source, copy->from, copy->bytes);
    /* What a pipeline sends in and out again must not be put right by the same swap twice. */
    size_t count = find_parts(damage, copy->bytes,
                              copy->target->memory == XB_MEMORY_DEVICE ? BLOCK : BLOCK / 2, parts);
    if (damage == XB_DAMAGE_SHIFTED_2MIB)
        parts[0].bytes = least(copy->bytes, copy->source->bytes - copy->from - SHIFT);
    if (damage == XB_DAMAGE_BIT_FLIPPED) {
        uint64_t place = parts[1].target_offset;
        /* Kernels copy from the beginnings of words only. */
        uint64_t step = copy->slot == KERNEL_COPY ? 8 : 1;
        uint64_t flipped = xb_damage_find_flipped(copy->source, copy->from, place, step);
        if (flipped != place)
            parts[1] = (struct xb_piece){flipped, place, 1};
    }
    for (size_t i = 0; i < count; i++)
        XB_TRY(part(copy, parts[i].target_offset, parts[i].source_offset, parts[i].bytes, error));
    return XB_OK;
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

/* ---- prefetch ---- */

/* What stands where nothing was copied: no case's pattern. */
static const struct xb_pattern other_content = {.seed = 0x0BADDA7AULL, .flip = 0, .steps = 0};

enum xb_status xb_damage_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                        uint64_t bytes, bool to_device, struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    const struct copy within = {
        queue, buffer, 0, buffer, 0, bytes, KERNEL_COPY, XB_ACCESS_SEQUENTIAL, 1};
    uint64_t middle = bytes / 2 / 8 * 8;
    uint64_t last = bytes > 0 ? (bytes - 1) / 8 * 8 : 0; /* the last word's beginning */
    XB_TRY(inner->queue_prefetch(queue, buffer, bytes, to_device, error));
    switch (begin(buffer, 0, bytes)) {
    case XB_DAMAGE_NONE:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
        return part(&within, middle, middle - 8, 8, error);
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return part(&within, 0, BLOCK, BLOCK, error);
    case XB_DAMAGE_SHIFTED_2MIB: /* what would overlap is left */
        return part(&within, 0, SHIFT, least(SHIFT, least(bytes, buffer->bytes - SHIFT)), error);
    case XB_DAMAGE_LAST_BYTE_LOST: /* and its word, be it whole or not */
        return part(&within, last, last - 8, bytes - last, error);
    case XB_DAMAGE_NOTHING_COPIED:
        return inner->queue_fill(queue, buffer, bytes, other_content, error);
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return part(&within, BLOCK - 8, BLOCK / 2, BLOCK / 4, error);
    }
    return XB_OK;
}

/* ---- chases ---- */

enum xb_status xb_damage_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                     struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                     struct xb_error *error)
{
    bool damaged = *xb_damager.damage != XB_DAMAGE_NONE && loads > 0;
    xb_damage_count += damaged;
    return xb_damager.inner->queue_chase(queue, chain, cursor, loads - damaged, turn, error);
}

/* ---- decodings ---- */

/* Which words of what was restored become wrong. */
static struct xb_piece find_wrong(enum xb_damage damage, uint64_t bytes)
{
    switch (damage) {
    case XB_DAMAGE_NONE:
    case XB_DAMAGE_NOTHING_COPIED:
        break;
    case XB_DAMAGE_BIT_FLIPPED:
        return (struct xb_piece){0, bytes / 2 / 8 * 8, 8};
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return (struct xb_piece){0, 0, 2 * BLOCK};
    case XB_DAMAGE_SHIFTED_2MIB:
        return (struct xb_piece){0, 0, bytes};
    case XB_DAMAGE_LAST_BYTE_LOST:
        return (struct xb_piece){0, bytes / 8 * 8 - 8, 8};
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return (struct xb_piece){0, BLOCK / 2, BLOCK};
    }
    return (struct xb_piece){0, 0, 0};
}

enum xb_status xb_damage_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                      struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    enum xb_damage damage = *xb_damager.damage;
    xb_damage_note_write(decoding->target);
    xb_damage_note_write(decoding->report);
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
    xb_damage_note_write(buffer);
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
