/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/mode.h"

struct xb_result;

/* What modes use to prove that data arrived. */

/*
 * The two patterns of a case, which differ in every byte. Until the first timed sample all buffers
 * hold `before`. Then a mode writes `after` to one end, so that no byte of the target is right
 * unless a timed copy has put it there.
 */
struct xb_pattern xb_proof_before(unsigned long long seed);
struct xb_pattern xb_proof_after(unsigned long long seed);

/* Another pattern, for what lies around the data in a target and is to stay as it is. */
struct xb_pattern xb_proof_around(unsigned long long seed);

/* Writes the pattern to the start of a buffer, host memory by the CPU and DEVICE memory by a kernel
 * on the queue, and waits for it. */
enum xb_status xb_proof_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                             struct xb_pattern pattern, struct xb_error *error);

/* Copies outside of what is timed, and waits for it. */
enum xb_status xb_copy_and_wait(struct xb_queue *queue, struct xb_buffer *target,
                                uint64_t target_offset, struct xb_buffer *source,
                                uint64_t source_offset, uint64_t bytes, struct xb_error *error);

/* Compares the start of a buffer with the pattern where it lies, and adds what differs to *found.
 */
enum xb_status xb_proof_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                              struct xb_pattern pattern, struct xb_mismatch *found,
                              struct xb_error *error);

/* Adds what one check found to what others did. */
void xb_proof_add(struct xb_mismatch *found, const struct xb_mismatch *more);

/* Adds the bytes of `is`, of which the first is byte `offset`, that are not those of `should`.
 * Reads wrong bytes twice: where all are right the second time, one counts as wrong, the first. */
void xb_proof_bytes(const void *is, const void *should, uint64_t bytes, uint64_t offset,
                    struct xb_mismatch *found);

/* One side of a comparison: a buffer, and a queue of its device to fetch it with. */
struct xb_proof_side {
    struct xb_queue *queue;
    struct xb_buffer *buffer;
    uint64_t offset; /* where in the buffer that begins which is compared */
};

/* Compares `bytes` of a buffer with those of the pattern from byte `from` on, and adds what differs
 * to *found. Works on the host, 4 KiB at a time: for what lies round the data. */
enum xb_status xb_proof_check_round(const struct xb_proof_side *side, uint64_t bytes,
                                    struct xb_pattern pattern, uint64_t from,
                                    struct xb_mismatch *found, struct xb_error *error);

/*
 * Compares windows of two buffers byte by byte on the host, without a pattern, so that a generator
 * and a checker that share a mistake do not agree unnoticed. The windows are spread evenly, the
 * first at the start and the last at the very end.
 */
enum xb_status xb_proof_compare(const struct xb_proof_side *a, const struct xb_proof_side *b,
                                uint64_t bytes, struct xb_mismatch *found, struct xb_error *error);

/* Compares some words of the target with what so many steps of xb_compute_step make of the
 * source's, one step after the other: a second opinion beside the pattern, whose steps are
 * calculated in one go. Both are addresses of the host. Adds what differs to *found. */
void xb_proof_check_steps(const void *source, const void *target, uint64_t bytes, uint64_t steps,
                          struct xb_mismatch *found);

/* Concludes of a host's buffer that must hold what so many steps make of the other, which holds
 * xb_proof_after. Says that the host checks, and how many steps there were. */
void xb_proof_conclude_steps(struct xb_result *result, const struct xb_buffer *source,
                             const struct xb_buffer *target, uint64_t steps);

/* Says who compares the memory of that device with a pattern: the device itself, or the host on
 * copies of it where the device can run no kernels. That is a weaker proof. Static text. */
const char *xb_proof_reader(const struct xb_device *device);

/* Says in the result whether the data is right: `all` is what xb_proof_check found, `windows` what
 * xb_proof_compare found. */
void xb_proof_conclude(struct xb_result *result, const struct xb_mismatch *all,
                       const struct xb_mismatch *windows);
