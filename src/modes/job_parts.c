/* SPDX-License-Identifier: Apache-2.0 */
/* How a job's data lies in chunks, and the proof that all of it came back. */
#include "job.h"

#include "backends/verify.h"
#include "proof.h"

#define WORD UINT64_C(8)

__extension__ typedef unsigned __int128 wide;

static uint64_t whole_words(uint64_t bytes)
{
    return bytes / WORD * WORD;
}

/* Where the output of the chunk begins whose input begins there: the same share of the whole. */
static uint64_t out_at(const struct xb_job_layout *layout, uint64_t in_offset)
{
    if (in_offset >= layout->in)
        return layout->out;
    return whole_words((uint64_t)((wide)layout->out * in_offset / layout->in));
}

struct xb_job_layout xb_job_lay_out(uint64_t in, uint64_t out, uint64_t chunk)
{
    uint64_t whole = whole_words(in + WORD - 1);
    struct xb_job_layout layout = {.in = in, .out = out, .chunk = chunk < whole ? chunk : whole};
    layout.count = xb_chunk_count(in, layout.chunk);
    layout.stride = layout.chunk;
    if (out > in && layout.count > 1) {
        /* The longest that the output of a chunk can be which is not the last: out_at rounds down.
         */
        uint64_t share = (uint64_t)((wide)out * layout.chunk / in);
        layout.stride = xb_larger(layout.chunk, whole_words(share) + WORD);
    }
    struct xb_job_part last = xb_job_part_at(&layout, layout.count - 1);
    layout.device_bytes = last.device_offset + xb_larger(last.in.bytes, last.out.bytes);
    return layout;
}

struct xb_job_part xb_job_part_at(const struct xb_job_layout *layout, uint64_t index)
{
    struct xb_job_part part = {.in = xb_chunk_at(layout->in, layout->chunk, index),
                               .device_offset = index * layout->stride};
    part.out.offset = out_at(layout, part.in.offset);
    part.out.bytes = out_at(layout, part.in.offset + part.in.bytes) - part.out.offset;
    return part;
}

#define PIECE_BYTES (UINT64_C(4) << 20)

uint64_t xb_job_piece_bytes(const struct xb_job_layout *layout)
{
    return xb_lesser(layout->in, PIECE_BYTES);
}

struct xb_pattern xb_job_beside(unsigned long long seed, bool is_after)
{
    unsigned long long other = seed + (1ULL << 39);
    return is_after ? xb_proof_after(other) : xb_proof_before(other);
}

static void check_bytes(const void *memory, uint64_t offset, uint64_t bytes,
                        struct xb_pattern pattern, struct xb_mismatch *found)
{
    struct xb_mismatch here = xb_host_check(memory, offset, bytes, pattern);
    xb_proof_add(found, &here);
}

/* Checks the first bytes of a word that the kernel computed: only the whole of it can be
 * calculated. */
static void check_word_beginning(const unsigned char *memory, uint64_t offset, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_mismatch *found)
{
    unsigned char word[8];
    xb_host_fill(word, offset, sizeof word, pattern);
    for (uint64_t i = 0; i < bytes; i++)
        if (word[i] != memory[i]) {
            struct xb_mismatch wrong = {.wrong_bytes = 1, .first_offset = offset + i};
            xb_proof_add(found, &wrong);
        }
}

/* Checks what came back of one chunk: words that were computed, the bytes behind the last of them,
 * and what the device had behind the chunk. */
static void check_part(const struct xb_job_proof *proof, const struct xb_job_part *part,
                       struct xb_mismatch *found)
{
    const unsigned char *memory = (unsigned char *)proof->out->host_address + part->out.offset;
    struct xb_pattern plain = xb_proof_after(proof->seed);
    struct xb_pattern computed = plain;
    computed.steps = proof->steps;
    uint64_t stepped = xb_lesser(part->out.bytes, part->in.bytes / 8 * 8);
    uint64_t words = stepped / 8 * 8;
    uint64_t input = xb_lesser(part->out.bytes, part->in.bytes);
    check_bytes(memory, part->in.offset, words, computed, found);
    check_word_beginning(memory + words, part->in.offset + words, stepped - words, computed, found);
    check_bytes(memory + stepped, part->in.offset + stepped, input - stepped, plain, found);
    check_bytes(memory + input, part->device_offset + input, part->out.bytes - input,
                xb_job_beside(proof->seed, true), found);
}

/* Checks what arrived and was computed on, of a job that brings less back: fetches it in pieces. */
static enum xb_status check_arrived(struct xb_queue *queue, const struct xb_job_proof *proof,
                                    struct xb_mismatch *found, struct xb_mismatch *spots,
                                    struct xb_error *error)
{
    void *piece = proof->piece->host_address;
    struct xb_pattern expected = xb_proof_after(proof->seed);
    expected.steps = proof->steps;
    for (uint64_t at = 0; at < proof->layout->in; at += PIECE_BYTES) {
        uint64_t bytes = xb_lesser(PIECE_BYTES, proof->layout->in - at);
        xb_host_fill(piece, at, bytes, xb_proof_before(proof->seed));
        XB_TRY(xb_copy_and_wait(queue, proof->piece, 0, proof->data, at, bytes, error));
        check_bytes(piece, at, bytes, expected, found);
        if (at == 0)
            xb_proof_check_steps(proof->in->host_address, piece, bytes, proof->steps, spots);
    }
    return XB_OK;
}

enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                            struct xb_mismatch *all, struct xb_mismatch *spots,
                            struct xb_error *error)
{
    for (uint64_t i = 0; proof->out != NULL && i < proof->layout->count; i++) {
        struct xb_job_part part = xb_job_part_at(proof->layout, i);
        check_part(proof, &part, all);
        if (i == 0)
            xb_proof_check_steps(proof->in->host_address, proof->out->host_address,
                                 xb_lesser(part.in.bytes, part.out.bytes), proof->steps, spots);
    }
    return proof->piece != NULL ? check_arrived(queue, proof, all, spots, error) : XB_OK;
}
