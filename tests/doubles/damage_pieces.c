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

/* Of one damage. Where it does not change the list, or cannot be done, it is not there. */
struct variant {
    bool there;
    struct xb_pieces *list; /* NULL where no piece is left */
};

struct damaged_pieces {
    struct xb_pieces base;
    const struct xb_backend *inner;
    struct variant variants[DAMAGES]; /* that of XB_DAMAGE_NONE is the right list */
    struct xb_piece bit;              /* what is copied to flip one; no bytes: not possible */
};

struct damaged_graph {
    struct xb_graph base;
    const struct xb_backend *inner;
    struct xb_buffer *target, *source;
    struct {
        bool there;
        struct xb_graph *graph;
    } variants[DAMAGES];
    struct xb_piece bit;
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
    struct variant *variant = &opening->variants[damage];
    struct draft draft = {.pieces = calloc(base->count + MORE, sizeof *pieces),
                          .count = base->count,
                          .source_bytes = base->source->bytes};
    enum xb_status status = XB_OK;
    if (draft.pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to damage %zu pieces", base->count);
    memcpy(draft.pieces, pieces, base->count * sizeof *pieces);
    variant->there = change(&draft, damage);
    if (variant->there && draft.count > 0)
        status = opening->inner->pieces_open(device, base->target, base->source, draft.pieces,
                                             draft.count, &variant->list, error);
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

enum xb_status xb_damage_pieces_open(const struct xb_backend *inner, struct xb_device *device,
                                     struct xb_buffer *target, struct xb_buffer *source,
                                     const struct xb_piece *pieces, size_t count,
                                     struct xb_pieces **list, struct xb_error *error)
{
    struct damaged_pieces *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a list of pieces");
    opened->inner = inner;
    /* The right list first: it says whether the rest may be looked at. */
    struct xb_pieces **right = &opened->variants[XB_DAMAGE_NONE].list;
    enum xb_status status = inner->pieces_open(device, target, source, pieces, count, right, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base = **right;
    opened->variants[XB_DAMAGE_NONE].there = true;
    opened->bit = find_bit(pieces, count);
    bool large = opened->base.bytes >= XB_DAMAGE_LEAST;
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
    if (list == NULL)
        return;
    struct damaged_pieces *closing = (struct damaged_pieces *)list;
    for (size_t i = 0; i < DAMAGES; i++)
        closing->inner->pieces_close(closing->variants[i].list);
    free(closing);
}

/* ---- enqueuing ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Behind the copies: a byte that differs in one bit, or a word from elsewhere where what is there
 * is not known. `bit` says where and from where the right one came. */
static enum xb_status flip_bit(const struct xb_backend *inner, struct xb_queue *queue,
                               struct xb_buffer *target, struct xb_buffer *source,
                               const struct xb_piece *bit, bool by_kernel, struct xb_error *error)
{
    uint64_t from = xb_damage_find_flipped(source, bit->source_offset, 8);
    uint64_t bytes = 1;
    if (from == bit->source_offset) {
        from = from < 16 ? 16 : 0;
        bytes = least(bit->bytes, source->bytes - from);
    }
    return by_kernel
               ? inner->queue_kernel_copy(queue, target, bit->target_offset, source, from, bytes,
                                          XB_ACCESS_SEQUENTIAL, 1, error)
               : inner->queue_copy(queue, target, bit->target_offset, source, from, bytes, error);
}

/* The damage that is done to this list. */
static enum xb_damage choose(enum xb_damage damage, bool there, const struct xb_piece *bit,
                             uint64_t bytes)
{
    bool possible =
        damage == XB_DAMAGE_BIT_FLIPPED ? bit->bytes > 0 && bytes >= XB_DAMAGE_LEAST : there;
    damage = possible ? damage : XB_DAMAGE_NONE;
    xb_damage_count += damage != XB_DAMAGE_NONE;
    return damage;
}

/* Enqueues the list that stands for the damage. */
static enum xb_status enqueue(enum xb_damage damage, struct xb_queue *queue, struct xb_pieces *list,
                              bool by_kernel, unsigned blocks, struct xb_error *error)
{
    const struct damaged_pieces *pieces = (const struct damaged_pieces *)list;
    const struct xb_backend *inner = pieces->inner;
    enum xb_status status = XB_OK;
    xb_damage_note_write(list->target);
    damage = choose(damage, pieces->variants[damage].there, &pieces->bit, list->bytes);
    struct xb_pieces *chosen =
        pieces->variants[damage == XB_DAMAGE_BIT_FLIPPED ? XB_DAMAGE_NONE : damage].list;
    if (chosen != NULL && by_kernel)
        status = inner->queue_kernel_pieces(queue, chosen, blocks, error);
    else if (chosen != NULL)
        status = inner->queue_copy_pieces(queue, chosen, error);
    if (status != XB_OK || damage != XB_DAMAGE_BIT_FLIPPED)
        return status;
    return flip_bit(inner, queue, list->target, list->source, &pieces->bit, by_kernel, error);
}

enum xb_status xb_damage_copy_pieces(enum xb_damage damage, struct xb_queue *queue,
                                     struct xb_pieces *list, struct xb_error *error)
{
    return enqueue(damage, queue, list, false, 0, error);
}

enum xb_status xb_damage_kernel_pieces(enum xb_damage damage, struct xb_queue *queue,
                                       struct xb_pieces *list, unsigned blocks,
                                       struct xb_error *error)
{
    return enqueue(damage, queue, list, true, blocks, error);
}

enum xb_status xb_damage_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                    struct xb_graph **graph, struct xb_error *error)
{
    const struct damaged_pieces *pieces = (const struct damaged_pieces *)list;
    struct damaged_graph *opened = calloc(1, sizeof *opened);
    enum xb_status status = XB_OK;
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    opened->base.device = queue->device;
    opened->inner = pieces->inner;
    opened->target = list->target;
    opened->source = list->source;
    opened->bit = list->bytes >= XB_DAMAGE_LEAST ? pieces->bit : (struct xb_piece){.bytes = 0};
    for (size_t i = 0; status == XB_OK && i < DAMAGES; i++) {
        opened->variants[i].there = pieces->variants[i].there;
        if (pieces->variants[i].list != NULL)
            status = opened->inner->graph_open(queue, pieces->variants[i].list,
                                               &opened->variants[i].graph, error);
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
    if (graph == NULL)
        return;
    struct damaged_graph *closing = (struct damaged_graph *)graph;
    for (size_t i = 0; i < DAMAGES; i++)
        closing->inner->graph_close(closing->variants[i].graph);
    free(closing);
}

enum xb_status xb_damage_graph(enum xb_damage damage, struct xb_queue *queue,
                               struct xb_graph *graph, struct xb_error *error)
{
    const struct damaged_graph *damaged = (const struct damaged_graph *)graph;
    enum xb_status status = XB_OK;
    xb_damage_note_write(damaged->target);
    damage = choose(damage, damaged->variants[damage].there, &damaged->bit, XB_DAMAGE_LEAST);
    struct xb_graph *chosen =
        damaged->variants[damage == XB_DAMAGE_BIT_FLIPPED ? XB_DAMAGE_NONE : damage].graph;
    if (chosen != NULL)
        status = damaged->inner->queue_graph(queue, chosen, error);
    if (status != XB_OK || damage != XB_DAMAGE_BIT_FLIPPED)
        return status;
    return flip_bit(damaged->inner, queue, damaged->target, damaged->source, &damaged->bit, false,
                    error);
}

/* ---- rows ---- */

struct table {
    const struct xb_backend *inner;
    struct xb_queue *queue;
    struct xb_rows target, source;
    uint64_t bytes;
};

/* `count` rows from number `from` on to number `to` and those behind it. */
static enum xb_status rows(const struct table *table, uint64_t to, uint64_t from, uint64_t count,
                           struct xb_error *error)
{
    struct xb_rows target = table->target;
    struct xb_rows source = table->source;
    target.offset += to * target.pitch;
    source.offset += from * source.pitch;
    if (count == 0)
        return XB_OK;
    return table->inner->queue_copy_rows(table->queue, target, source, table->bytes, count, error);
}

/* Whether that can be done to that many rows; what breaks the rules is left for the inner backend
 * to refuse. */
static bool can_damage_rows(enum xb_damage damage, const struct table *table, uint64_t count)
{
    if (count == 0 || table->bytes == 0 || count > UINT64_MAX / table->bytes ||
        table->bytes * count < XB_DAMAGE_LEAST || table->bytes < 16)
        return false;
    if (damage == XB_DAMAGE_BLOCKS_SWAPPED)
        return count > 1;
    if (damage == XB_DAMAGE_SHIFTED_2MIB)
        return table->source.offset + SHIFT + table->bytes <= table->source.buffer->bytes;
    return damage != XB_DAMAGE_NONE;
}

static enum xb_status flip_in_row(const struct table *table, uint64_t row, struct xb_error *error)
{
    const struct xb_piece bit = {table->source.offset + row * table->source.pitch + 8,
                                 table->target.offset + row * table->target.pitch + 8, 8};
    return flip_bit(table->inner, table->queue, table->target.buffer, table->source.buffer, &bit,
                    false, error);
}

static enum xb_status shift_rows(const struct table *table, uint64_t count, struct xb_error *error)
{
    struct table shifted = *table;
    shifted.source.offset += SHIFT;
    uint64_t behind = table->source.buffer->bytes - shifted.source.offset - table->bytes;
    return rows(&shifted, 0, 0, least(count, behind / table->source.pitch + 1), error);
}

static enum xb_status shorten_last_row(const struct table *table, uint64_t count,
                                       struct xb_error *error)
{
    enum xb_status status = rows(table, 0, 0, count - 1, error);
    struct table shorter = *table;
    shorter.bytes--;
    return status == XB_OK ? rows(&shorter, count - 1, count - 1, 1, error) : status;
}

/* All but the one in the middle, which is lost or comes 8 bytes before or behind its place. */
static enum xb_status lose_row(const struct table *table, uint64_t count, bool misplaced,
                               struct xb_error *error)
{
    uint64_t lost = count / 2;
    struct table moved = *table;
    if (moved.target.offset + lost * moved.target.pitch >= 8) {
        moved.target.offset -= 8;
    } else {
        moved.target.offset += 8;
        moved.bytes -= 8;
    }
    enum xb_status status = rows(table, 0, 0, lost, error);
    if (status == XB_OK)
        status = rows(table, lost + 1, lost + 1, count - lost - 1, error);
    if (status == XB_OK && misplaced)
        status = rows(&moved, lost, lost, 1, error);
    return status;
}

enum xb_status xb_damage_rows(enum xb_damage damage, const struct xb_backend *inner,
                              struct xb_queue *queue, struct xb_rows target, struct xb_rows source,
                              uint64_t bytes, uint64_t count, struct xb_error *error)
{
    const struct table table = {inner, queue, target, source, bytes};
    enum xb_status status = XB_OK;
    xb_damage_note_write(target.buffer);
    if (!can_damage_rows(damage, &table, count))
        return inner->queue_copy_rows(queue, target, source, bytes, count, error);
    xb_damage_count++;
    switch (damage) {
    case XB_DAMAGE_NONE:
    case XB_DAMAGE_NOTHING_COPIED:
        return XB_OK;
    case XB_DAMAGE_SHIFTED_2MIB:
        return shift_rows(&table, count, error);
    case XB_DAMAGE_LAST_BYTE_LOST:
        return shorten_last_row(&table, count, error);
    case XB_DAMAGE_PIECE_LOST:
    case XB_DAMAGE_PIECE_MISPLACED:
        return lose_row(&table, count, damage == XB_DAMAGE_PIECE_MISPLACED, error);
    case XB_DAMAGE_BIT_FLIPPED:
    case XB_DAMAGE_BLOCKS_SWAPPED:
        break;
    }
    status = rows(&table, 0, 0, count, error);
    if (status == XB_OK && damage == XB_DAMAGE_BIT_FLIPPED)
        return flip_in_row(&table, count / 2, error);
    if (status == XB_OK)
        status = rows(&table, 0, 1, 1, error);
    if (status == XB_OK)
        status = rows(&table, 1, 0, 1, error);
    return status;
}
