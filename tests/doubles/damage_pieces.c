/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Damage to many copies at once: other lists, and for a bit one more copy behind the right ones. */
#include "damage.h"

#include <stdlib.h>
#include <string.h>

#define SHIFT XB_DAMAGE_SHIFT
#define DAMAGES ((size_t)XB_DAMAGE_PIECE_MISPLACED + 1)
/* How many more pieces a damaged list may have. */
#define MORE 2

/* Lists or graphs: that of XB_DAMAGE_NONE is the right one. Where a damage does not change the
 * list, or cannot be done, it is not there; where no piece is left, it is NULL. */
struct variants {
    struct xb_buffer *target, *source;
    struct xb_piece bit; /* what is copied to flip one; no bytes: not possible */
    struct {
        bool there;
        void *made;
    } of[DAMAGES];
};

struct damaged_pieces {
    struct xb_pieces base;
    struct variants variants;
};

struct damaged_graph {
    struct xb_graph base;
    struct variants variants;
};

/* ---- damaged lists ---- */

/* A list that is being changed. */
struct draft {
    struct xb_piece *pieces;
    size_t count;
    uint64_t source_bytes; /* of the buffer */
};

/* The first two pieces get each other's bytes; of a single piece, its halves do. */
static bool swap_pieces(struct draft *draft)
{
    struct xb_piece *p = draft->pieces;
    if (draft->count == 1) {
        const struct xb_piece whole = p[0];
        uint64_t half = whole.bytes / 2;
        p[0] = (struct xb_piece){whole.source_offset + half, whole.target_offset, half};
        p[1] = (struct xb_piece){whole.source_offset, whole.target_offset + half, half};
        p[2] = (struct xb_piece){whole.source_offset + 2 * half, whole.target_offset + 2 * half, 1};
        draft->count = whole.bytes % 2 == 0 ? 2 : 3;
        return half > 0;
    }
    size_t longer = p[0].bytes < p[1].bytes;
    uint64_t common = p[1 - longer].bytes;
    uint64_t source_offset = p[0].source_offset;
    if (p[longer].bytes > common) /* the rest of the longer one is right */
        p[draft->count++] =
            (struct xb_piece){p[longer].source_offset + common, p[longer].target_offset + common,
                              p[longer].bytes - common};
    p[longer].bytes = common;
    p[0].source_offset = p[1].source_offset;
    p[1].source_offset = source_offset;
    return true;
}

static bool shift_pieces(struct draft *draft)
{
    bool shifted = false;
    for (size_t i = 0; i < draft->count; i++) {
        struct xb_piece *piece = &draft->pieces[i];
        uint64_t behind = draft->source_bytes - piece->source_offset - piece->bytes;
        if (behind < SHIFT)
            continue;
        piece->source_offset += SHIFT;
        shifted = true;
    }
    return shifted;
}

static void remove_piece(struct draft *draft, size_t i)
{
    draft->count--;
    memmove(&draft->pieces[i], &draft->pieces[i + 1], (draft->count - i) * sizeof draft->pieces[0]);
}

/* The one in the middle goes 8 bytes before its place, or behind it where there is no place. */
static void misplace_piece(struct draft *draft)
{
    struct xb_piece *piece = &draft->pieces[draft->count / 2];
    if (piece->target_offset >= 8) {
        piece->target_offset -= 8;
        return;
    }
    piece->target_offset += 8;
    piece->bytes = piece->bytes > 8 ? piece->bytes - 8 : 1;
}

/* Changes the list; false where the damage is none of lists or cannot be done to this one. */
static bool change(struct draft *draft, enum xb_damage damage)
{
    struct xb_piece *last = &draft->pieces[draft->count - 1];
    switch (damage) {
    case XB_DAMAGE_NONE:
        return true;
    case XB_DAMAGE_BIT_FLIPPED:
        return false;
    case XB_DAMAGE_BLOCKS_SWAPPED:
        return swap_pieces(draft);
    case XB_DAMAGE_SHIFTED_2MIB:
        return shift_pieces(draft);
    case XB_DAMAGE_LAST_BYTE_LOST:
        if (--last->bytes == 0)
            draft->count--;
        return true;
    case XB_DAMAGE_NOTHING_COPIED:
        draft->count = 0;
        return true;
    case XB_DAMAGE_PIECE_LOST:
        remove_piece(draft, draft->count / 2);
        return true;
    case XB_DAMAGE_PIECE_MISPLACED:
        misplace_piece(draft);
        return true;
    }
    return false;
}

static enum xb_status open_variant(struct damaged_pieces *opening, struct xb_device *device,
                                   const struct xb_piece *pieces, enum xb_damage damage,
                                   struct xb_error *error)
{
    struct xb_pieces *base = &opening->base;
    struct xb_pieces *list = NULL;
    struct draft draft = {.pieces = calloc(base->count + MORE, sizeof *pieces),
                          .count = base->count,
                          .source_bytes = base->source->bytes};
    enum xb_status status = XB_OK;
    if (draft.pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to damage %zu pieces", base->count);
    memcpy(draft.pieces, pieces, base->count * sizeof *pieces);
    opening->variants.of[damage].there = change(&draft, damage);
    if (opening->variants.of[damage].there && draft.count > 0)
        status = xb_damager.inner->pieces_open(device, base->target, base->source, draft.pieces,
                                               draft.count, &list, error);
    opening->variants.of[damage].made = list;
    free(draft.pieces);
    return status;
}

/* A word of the target that a piece covers from its beginning, near the middle of the list. Kernels
 * copy from the beginnings of words only. */
static struct xb_piece find_bit(const struct xb_piece *pieces, size_t count)
{
    for (size_t i = count / 2; i < count; i++) {
        uint64_t middle = pieces[i].target_offset + pieces[i].bytes / 2;
        uint64_t place = middle / 8 * 8;
        if (place < pieces[i].target_offset)
            continue;
        uint64_t behind = pieces[i].target_offset + pieces[i].bytes - place;
        return (struct xb_piece){pieces[i].source_offset + place - pieces[i].target_offset, place,
                                 behind < 8 ? behind : 8};
    }
    return (struct xb_piece){.bytes = 0};
}

enum xb_status xb_damage_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                     struct xb_buffer *source, const struct xb_piece *pieces,
                                     size_t count, struct xb_pieces **list, struct xb_error *error)
{
    struct damaged_pieces *opened = calloc(1, sizeof *opened);
    struct xb_pieces *right = NULL;
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a list of pieces");
    /* The right list first: it says whether the rest may be looked at. */
    enum xb_status status =
        xb_damager.inner->pieces_open(device, target, source, pieces, count, &right, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    bool large = right->bytes >= XB_DAMAGE_LEAST;
    opened->base = *right;
    opened->variants = (struct variants){.target = target, .source = source};
    opened->variants.of[XB_DAMAGE_NONE].made = right;
    if (large)
        opened->variants.bit = find_bit(pieces, count);
    for (size_t i = XB_DAMAGE_NONE + 1; large && status == XB_OK && i < DAMAGES; i++)
        status = open_variant(opened, device, pieces, (enum xb_damage)i, error);
    if (status != XB_OK) {
        xb_damage_pieces_close(&opened->base);
        return status;
    }
    *list = &opened->base;
    return XB_OK;
}

void xb_damage_pieces_close(struct xb_pieces *list)
{
    for (size_t i = 0; list != NULL && i < DAMAGES; i++)
        xb_damager.inner->pieces_close(((struct damaged_pieces *)list)->variants.of[i].made);
    free(list);
}

enum xb_status xb_damage_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                    struct xb_graph **graph, struct xb_error *error)
{
    const struct variants *lists = &((const struct damaged_pieces *)list)->variants;
    struct damaged_graph *opened = calloc(1, sizeof *opened);
    enum xb_status status = XB_OK;
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    opened->base.device = queue->device;
    opened->variants = *lists;
    for (size_t i = 0; i < DAMAGES; i++) {
        struct xb_graph *made = NULL;
        if (status == XB_OK && lists->of[i].made != NULL)
            status = xb_damager.inner->graph_open(queue, lists->of[i].made, &made, error);
        opened->variants.of[i].made = made;
    }
    if (status != XB_OK) {
        xb_damage_graph_close(&opened->base);
        return status;
    }
    *graph = &opened->base;
    return XB_OK;
}

void xb_damage_graph_close(struct xb_graph *graph)
{
    for (size_t i = 0; graph != NULL && i < DAMAGES; i++)
        xb_damager.inner->graph_close(((struct damaged_graph *)graph)->variants.of[i].made);
    free(graph);
}

/* ---- enqueuing ---- */

/* Behind the copies. `bit` says where and from where the right word came; where nobody flips bits,
 * one comes from elsewhere. */
static enum xb_status flip_bit(struct xb_queue *queue, struct xb_buffer *target,
                               struct xb_buffer *source, const struct xb_piece *bit, bool by_kernel,
                               struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    const uint64_t from = bit->source_offset < 16 ? 16 : 0;
    const uint64_t bytes = xb_damage_least(bit->bytes, source->bytes - from);
    if (xb_damager.flip != NULL)
        return xb_damager.flip(queue, target, bit->target_offset, error);
    return by_kernel
               ? inner->queue_kernel_copy(queue, target, bit->target_offset, source, from, bytes,
                                          XB_ACCESS_SEQUENTIAL, 1, error)
               : inner->queue_copy(queue, target, bit->target_offset, source, from, bytes, error);
}

/* Enqueues, in one of these ways, what stands for the damage that is to be done and can be. */
enum way { BY_COPIES, BY_KERNEL, BY_GRAPH };
static enum xb_status enqueue(enum way way, struct xb_queue *queue, const struct variants *variants,
                              unsigned blocks, bool bulk, struct xb_error *error)
{
    const struct xb_backend *inner = xb_damager.inner;
    enum xb_damage damage = *xb_damager.damage;
    enum xb_status status = XB_OK;
    bool flips = damage == XB_DAMAGE_BIT_FLIPPED && variants->bit.bytes > 0;
    bool is_damaged = flips || variants->of[damage].there;
    void *made = variants->of[is_damaged && !flips ? damage : XB_DAMAGE_NONE].made;
    xb_damage_count += is_damaged;
    if (made != NULL)
        status = way == BY_KERNEL  ? inner->queue_kernel_pieces(queue, made, blocks, bulk, error)
                 : way == BY_GRAPH ? inner->queue_graph(queue, made, error)
                                   : inner->queue_copy_pieces(queue, made, error);
    if (status != XB_OK || !flips)
        return status;
    return flip_bit(queue, variants->target, variants->source, &variants->bit, way == BY_KERNEL,
                    error);
}

enum xb_status xb_damage_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           struct xb_error *error)
{
    return enqueue(BY_COPIES, queue, &((struct damaged_pieces *)list)->variants, 0, false, error);
}

enum xb_status xb_damage_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                             unsigned blocks, bool bulk, struct xb_error *error)
{
    return enqueue(BY_KERNEL, queue, &((struct damaged_pieces *)list)->variants, blocks, bulk,
                   error);
}

enum xb_status xb_damage_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                     struct xb_error *error)
{
    return enqueue(BY_GRAPH, queue, &((struct damaged_graph *)graph)->variants, 0, false, error);
}

/* ---- rows ---- */

/* Rows as they were asked for, or some of them. */
struct table {
    struct xb_rows target, source;
    uint64_t bytes, count;
};

/* `count` rows from number `from` on to number `to` and those behind it. */
static struct table some_rows(const struct table *table, uint64_t to, uint64_t from, uint64_t count)
{
    struct table some = *table;
    some.target.offset += to * some.target.pitch;
    some.source.offset += from * some.source.pitch;
    some.count = count;
    return some;
}

/* Whether that can be done to these rows; what breaks the rules is left for the inner backend to
 * refuse. */
static bool can_damage_rows(enum xb_damage damage, const struct table *table)
{
    if (table->count == 0 || table->bytes == 0 || table->count > UINT64_MAX / table->bytes ||
        table->bytes * table->count < XB_DAMAGE_LEAST || table->bytes < 16)
        return false;
    if (damage == XB_DAMAGE_BLOCKS_SWAPPED)
        return table->count > 1;
    if (damage == XB_DAMAGE_SHIFTED_2MIB)
        return table->source.offset + SHIFT + table->bytes <= table->source.buffer->bytes;
    return damage != XB_DAMAGE_NONE;
}

/* The rows that are copied in place of all, in this order; returns how many times. */
static size_t find_rows(enum xb_damage damage, const struct table *all,
                        struct table parts[XB_DAMAGE_OPERATIONS])
{
    const uint64_t middle = all->count / 2;
    const uint64_t last = all->count - 1;
    parts[0] = *all;
    switch (damage) {
    case XB_DAMAGE_NOTHING_COPIED:
        return 0;
    case XB_DAMAGE_NONE:
    case XB_DAMAGE_BIT_FLIPPED: /* behind these */
        return 1;
    case XB_DAMAGE_BLOCKS_SWAPPED:
        parts[1] = some_rows(all, 0, 1, 1);
        parts[2] = some_rows(all, 1, 0, 1);
        return 3;
    case XB_DAMAGE_SHIFTED_2MIB: /* as many as there are further on */
        parts[0].source.offset += SHIFT;
        parts[0].count = xb_damage_least(
            all->count,
            (all->source.buffer->bytes - parts[0].source.offset - all->bytes) / all->source.pitch +
                1);
        return 1;
    case XB_DAMAGE_LAST_BYTE_LOST:
        parts[0].count = last;
        parts[1] = some_rows(all, last, last, 1);
        parts[1].bytes--;
        return 2;
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED: /* the middle one, 8 bytes before or behind its place */
        parts[0].count = middle;
        parts[1] = some_rows(all, middle + 1, middle + 1, last - middle);
        parts[2] = some_rows(all, middle, middle, 1);
        parts[2].bytes -= parts[2].target.offset < 8 ? 8 : 0;
        parts[2].target.offset += parts[2].target.offset < 8 ? 8 : UINT64_C(0) - 8;
        return damage == XB_DAMAGE_PIECE_LOST ? 2 : 3;
    }
    return 1;
}

enum xb_status xb_damage_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                         struct xb_rows source, uint64_t bytes, uint64_t count,
                                         struct xb_error *error)
{
    const struct table all = {target, source, bytes, count};
    struct table parts[XB_DAMAGE_OPERATIONS] = {all};
    bool is_damaged = can_damage_rows(*xb_damager.damage, &all);
    size_t part_count = is_damaged ? find_rows(*xb_damager.damage, &all, parts) : 1;
    xb_damage_count += is_damaged;
    for (size_t i = 0; i < part_count; i++)
        if (!is_damaged || parts[i].count > 0)
            XB_TRY(xb_damager.inner->queue_copy_rows(queue, parts[i].target, parts[i].source,
                                                     parts[i].bytes, parts[i].count, error));
    if (!is_damaged || *xb_damager.damage != XB_DAMAGE_BIT_FLIPPED)
        return XB_OK;
    const struct xb_piece bit = {source.offset + count / 2 * source.pitch + 8,
                                 target.offset + count / 2 * target.pitch + 8, 8};
    return flip_bit(queue, target.buffer, source.buffer, &bit, false, error);
}
