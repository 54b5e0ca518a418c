/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "piece_layout.h"

#include "backends/verify.h"
#include "base/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

uint64_t xb_layout_span(uint64_t bytes, uint64_t piece, const struct xb_layout_side *side)
{
    uint64_t before = xb_chunk_count(bytes, piece) - 1; /* the last piece */
    uint64_t last = bytes - before * piece;
    uint64_t begin = 0;
    if (__builtin_mul_overflow(before, side->pitch > 0 ? side->pitch : piece, &begin) ||
        __builtin_add_overflow(begin, side->offset, &begin) ||
        __builtin_add_overflow(begin, last, &begin))
        return UINT64_MAX;
    return begin;
}

/* Pieces that are whole lie in the order of a permutation, if they are scattered. Each side begins
 * elsewhere in the same one, so that neither order follows from the other. */
static uint64_t offset_of(const struct xb_layout *layout, const struct xb_layout_side *side,
                          uint64_t index)
{
    uint64_t apart = side->pitch > 0 ? side->pitch : layout->piece;
    uint64_t whole = layout->bytes / layout->piece;
    struct xb_pattern from = {.seed = layout->seed + (side == &layout->source ? 0 : 1)};
    if (side->scattered && index < whole)
        index = xb_access_random(whole, (index + xb_pattern_word(from, 0) % whole) % whole);
    return side->offset + index * apart;
}

enum xb_status xb_layout_make(struct xb_layout *layout, struct xb_error *error)
{
    layout->count = xb_chunk_count(layout->bytes, layout->piece);
    layout->source_span = xb_layout_span(layout->bytes, layout->piece, &layout->source);
    layout->target_span = xb_layout_span(layout->bytes, layout->piece, &layout->target);
    layout->pieces = calloc(layout->count, sizeof *layout->pieces);
    if (layout->pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", layout->count);
    for (size_t i = 0; i < layout->count; i++) {
        uint64_t left = layout->bytes - i * layout->piece;
        layout->pieces[i] = (struct xb_piece){
            .source_offset = offset_of(layout, &layout->source, i),
            .target_offset = offset_of(layout, &layout->target, i),
            .bytes = left < layout->piece ? left : layout->piece,
        };
    }
    return XB_OK;
}

void xb_layout_free(struct xb_layout *layout)
{
    free(layout->pieces);
    layout->pieces = NULL;
}

/* Few pieces a thread are not worth it. */
#define GRAIN 64

/* The pieces in the order in which they lie in the target: what is between two is around both. */
struct job {
    const struct xb_piece_proof *proof;
    const struct xb_piece *pieces;
    const unsigned char *source, *target; /* as the CPU sees them */
    pthread_mutex_t lock;                 /* protects what follows */
    struct xb_mismatch all, compared;
};

static void add(struct xb_mismatch *found, uint64_t wrong_bytes, uint64_t first_offset)
{
    if (wrong_bytes > 0 && (found->wrong_bytes == 0 || first_offset < found->first_offset))
        found->first_offset = first_offset;
    found->wrong_bytes += wrong_bytes;
}

/* Checks the bytes of the target up to each piece, and the piece. */
static void check_part(void *argument, uint64_t begin, uint64_t end)
{
    struct job *job = argument;
    struct xb_mismatch all = {0};
    struct xb_mismatch compared = {0};
    for (uint64_t i = begin; i < end; i++) {
        const struct xb_piece *piece = &job->pieces[i];
        uint64_t since = i > 0 ? piece[-1].target_offset + piece[-1].bytes : 0;
        uint64_t at = piece->target_offset;
        struct xb_mismatch here =
            xb_host_check(job->target + since, since, at - since, job->proof->around);
        add(&all, here.wrong_bytes, here.first_offset);
        here =
            xb_host_check(job->target + at, piece->source_offset, piece->bytes, job->proof->moved);
        add(&all, here.wrong_bytes, here.first_offset - piece->source_offset + at);
        if (memcmp(job->target + at, job->source + piece->source_offset, piece->bytes) != 0)
            add(&compared, 1, at);
    }
    pthread_mutex_lock(&job->lock);
    add(&job->all, all.wrong_bytes, all.first_offset);
    add(&job->compared, compared.wrong_bytes, compared.first_offset);
    pthread_mutex_unlock(&job->lock);
}

static int by_target(const void *a, const void *b)
{
    const struct xb_piece *one = a;
    const struct xb_piece *other = b;
    return (one->target_offset > other->target_offset) -
           (one->target_offset < other->target_offset);
}

/* Makes every byte of a piece wrong in the room, where others' data may lie. */
static void spoil_part(void *argument, uint64_t begin, uint64_t end)
{
    const struct xb_piece_proof *proof = argument;
    unsigned char *room = proof->room->host_address;
    bool is_target = proof->target->memory == XB_MEMORY_DEVICE;
    struct xb_pattern wrong = proof->moved;
    wrong.flip ^= XB_PATTERN_POISON;
    for (uint64_t i = begin; i < end; i++) {
        const struct xb_piece *piece = &proof->layout->pieces[i];
        xb_host_fill(room + (is_target ? piece->target_offset : piece->source_offset),
                     piece->source_offset, piece->bytes, wrong);
    }
}

/* The bytes of a side as the CPU sees them: in place, or fetched into the room, where no byte is
 * right before. */
static enum xb_status look(const struct xb_piece_proof *proof, struct xb_buffer *side,
                           uint64_t span, const unsigned char **bytes, struct xb_error *error)
{
    *bytes = side->host_address;
    if (side->memory != XB_MEMORY_DEVICE)
        return XB_OK;
    xb_parallel_for(proof->layout->count, GRAIN, spoil_part, (void *)proof);
    *bytes = proof->room->host_address;
    return xb_copy_and_wait(proof->queue, proof->room, 0, side, 0, span, error);
}

enum xb_status xb_piece_proof_check(const struct xb_piece_proof *proof, struct xb_mismatch *all,
                                    struct xb_mismatch *compared, struct xb_error *error)
{
    const struct xb_layout *layout = proof->layout;
    struct job job = {.proof = proof, .lock = PTHREAD_MUTEX_INITIALIZER};
    XB_TRY(look(proof, proof->source, layout->source_span, &job.source, error));
    XB_TRY(look(proof, proof->target, layout->target_span + proof->behind, &job.target, error));
    struct xb_piece *sorted = malloc(layout->count * sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to check %zu pieces", layout->count);
    memcpy(sorted, layout->pieces, layout->count * sizeof *sorted);
    qsort(sorted, layout->count, sizeof *sorted, by_target);
    job.pieces = sorted;
    xb_parallel_for(layout->count, GRAIN, check_part, &job);
    free(sorted);
    struct xb_mismatch behind = xb_host_check(job.target + layout->target_span, layout->target_span,
                                              proof->behind, proof->around);
    add(&job.all, behind.wrong_bytes, behind.first_offset);
    add(all, job.all.wrong_bytes, job.all.first_offset);
    add(compared, job.compared.wrong_bytes, job.compared.first_offset);
    return XB_OK;
}
