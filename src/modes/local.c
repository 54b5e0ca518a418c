/* SPDX-License-Identifier: Apache-2.0 */
/* One copy from one buffer of a device's memory to another of the same device. */
#include "modes/readings/readings.h"
#include "proof.h"
#include "shared_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The words of --by. */
enum by { BY_ENGINE, BY_KERNEL, BY_BULK, BY_READ, BY_WRITE };

struct state {
    struct xb_buffer *source, *target;
    enum by by;
};

static uint32_t capabilities(const struct xb_case *test)
{
    return strcmp(test->variant, "engine") == 0 ? 0 : xb_access_capabilities(test);
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_variant_number(test) < BY_READ || test->bytes % 8 == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "'%s' goes through whole words: take a --size that is a multiple of 8",
                   test->variant);
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct state, source));
    xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes, offsetof(struct state, target));
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    state->by = xb_variant_number(test);
    context->operations_per_iteration = state->by == BY_ENGINE ? XB_LOCAL_COPY_OPERATIONS
                                        : state->by == BY_READ ? 2
                                                               : 1;
    context->hold = true;
    context->sample_seconds = XB_FAST_SAMPLE_S;
    XB_TRY(xb_borrow(context, NULL, 1, error));
    return xb_proof_fill(context->queues[0], state->source, test->bytes,
                         xb_proof_before(test->seed), error);
}

/* The target holds what is not sent, until a timed copy puts it right. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return xb_proof_fill(context->queues[0], state->target, context->test->bytes,
                         xb_proof_after(context->test->seed), error);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    if (state->by == BY_ENGINE)
        return backend->queue_copy(queue, state->target, 0, state->source, 0, bytes, error);
    if (state->by == BY_READ)
        return backend->queue_digest(queue, state->source, 0, bytes, true, state->target, 0, error);
    if (state->by == BY_WRITE)
        return backend->queue_count(queue, state->target, bytes, context->test->seed, error);
    return backend->queue_kernel_copy(queue, state->target, 0, state->source, 0, bytes,
                                      state->by == BY_BULK ? XB_ACCESS_BULK : XB_ACCESS_SEQUENTIAL,
                                      context->kernels_together, error);
}

/* A kernel read all words, if their sum is that of the pattern's. It wrote all, which are numbers
 * from the seed on, if the digest of what is there is theirs. */
static enum xb_status verify_whole(struct xb_mode_context *context, struct xb_result *result,
                                   struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_pattern pattern = xb_proof_before(context->test->seed);
    const bool reads = state->by == BY_READ;
    struct xb_queue *queue = context->queues[0];
    struct xb_buffer *made = reads ? state->target : state->source, *word = NULL;
    uint64_t bytes = context->test->bytes, right = 0;
    XB_TRY(xb_workspace_buffer(context->workspace, 1, XB_MEMORY_PINNED, 8, false, &word, error));
    if (!reads)
        XB_TRY(context->device->backend->queue_digest(queue, state->target, 0, bytes, false, made,
                                                      0, error));
    XB_TRY(xb_copy_and_wait(queue, word, 0, made, 0, 8, error));
    for (uint64_t i = 0; i < bytes / 8; i++)
        right += reads ? xb_pattern_word(pattern, i) : xb_digest_word(context->test->seed + i, i);
    uint64_t is = *(const uint64_t *)word->host_address;
    xb_result_detail_text(result, "verified_by", "host, %s of all words",
                          reads ? "the sum" : "a digest");
    result->row.verified = is == right ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (is != right)
        snprintf(result->reason, sizeof result->reason,
                 "the words make %016" PRIx64 " and not %016" PRIx64 ": at least one was not %s",
                 is, right, reads ? "read" : "written");
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_queue *queue = context->queues[0];
    const struct xb_proof_side here = {queue, state->source, 0};
    const struct xb_proof_side there = {queue, state->target, 0};
    uint64_t bytes = context->test->bytes;
    struct xb_mismatch all = {0};
    struct xb_mismatch windows = {0};
    if (state->by == BY_READ || state->by == BY_WRITE)
        return verify_whole(context, result, error);
    XB_TRY(xb_proof_check(queue, state->target, bytes, xb_proof_before(context->test->seed), &all,
                          error));
    XB_TRY(xb_proof_compare(&here, &there, bytes, &windows, error));
    xb_result_detail_text(result, "verified_by", "%s", xb_proof_reader(context->device));
    xb_proof_conclude(result, &all, &windows);
    return XB_OK;
}

const struct xb_mode xb_mode_local = {
    .name = "local",
    .summary = "one copy within a GPU's own memory",
    .description =
        "Copies one buffer of the device's memory to another of the same device. No byte crosses "
        "a link: compare copies across a link with it. The bandwidth is that of the bytes copied; "
        "the memory moves twice as much, because each byte is read and written. Buffers that fit "
        "into the device's cache are copied inside it. The word of --by is the variant: 'engine' "
        "is the runtime's own copy, which may be a kernel too. 'read' and 'write' are kernels that "
        "do half of a copy: every byte is read and summed up, or written.",
    .calls = "cudaMemcpyAsync() (hipMemcpyAsync) from the GPU's memory to the GPU's memory. "
             "PyTorch: tensor.clone().",
    XB_ALL_BY_DEFAULT(XB_D2D),
    .variant_option = &xb_option_by,
    .transfers = {.by_engine = "engine", .by_kernel = "kernel"},
    .names = XB_NAMES({"engine", "local copy"}, {"kernel", "local, by a kernel"},
                      {"bulk", "local, by TMA"}, {"read", "local, read only"},
                      {"write", "local, write only"}),
    .options = XB_OPTIONS(&xb_option_by),
    .reading = XB_READING({.label = "local", .code = "XB-LOCAL", .say = xb_local_say}),
    .answer = xb_local_say,
    XB_HOOKS(struct state, buffers, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check = check,
};
