/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <string.h>

/* The spot check: this many windows, the first at the start and the last at the very end. */
#define WINDOWS 16u
#define WINDOW_BYTES UINT64_C(4096)

struct xb_needs xb_transfer_needs(const struct xb_case *test, const struct xb_config *config)
{
    (void)config;
    return (struct xb_needs){.host_bytes = test->bytes, .device_bytes = test->bytes};
}

static struct xb_pattern plain(const struct xb_case *test)
{
    return (struct xb_pattern){.seed = test->seed, .flip = 0};
}

static struct xb_pattern poison(const struct xb_case *test)
{
    return (struct xb_pattern){.seed = test->seed, .flip = XB_PATTERN_POISON};
}

/* Writes the pattern to a buffer, by the CPU or by the device, and waits for it. */
static enum xb_status fill(const struct xb_mode_context *context, struct xb_buffer *buffer,
                           struct xb_pattern pattern, struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = context->test->bytes;
    if (buffer->memory != XB_MEMORY_DEVICE) {
        xb_host_fill(buffer->host_address, 0, bytes, pattern);
        return XB_OK;
    }
    enum xb_status status = backend->queue_fill(context->queues[0], buffer, bytes, pattern, error);
    if (status == XB_OK)
        status = backend->queue_wait(context->queues[0], error);
    return status;
}

enum xb_status xb_transfer_setup(struct xb_mode_context *context, enum xb_memory memory,
                                 size_t queue_count, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    struct xb_transfer *transfer = context->state;
    enum xb_status status =
        xb_workspace_host(context->workspace, memory, test->bytes, &transfer->host, error);
    if (status == XB_OK)
        status = xb_workspace_device(context->workspace, test->bytes, &transfer->device, error);
    if (status == XB_OK)
        status = xb_workspace_queues(context->workspace, queue_count, &context->queues, error);
    if (status != XB_OK)
        return status;

    bool to_device = test->direction == XB_H2D;
    transfer->source = to_device ? transfer->host : transfer->device;
    transfer->target = to_device ? transfer->device : transfer->host;
    context->queue_count = queue_count;
    context->operations_per_iteration = 1;
    context->hold = memory != XB_MEMORY_PAGEABLE;
    return fill(context, transfer->source, plain(test), error);
}

enum xb_status xb_transfer_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    return fill(context, transfer->target, poison(context->test), error);
}

enum xb_status xb_transfer_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    return context->device->backend->queue_copy(context->queues[0], transfer->target, 0,
                                                transfer->source, 0, context->test->bytes, error);
}

/* Checks the whole target and notes in the record where that was done. */
static enum xb_status check_target(const struct xb_mode_context *context,
                                   const struct xb_transfer *transfer, struct xb_result *result,
                                   struct xb_mismatch *mismatch, struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    const struct xb_case *test = context->test;
    if (transfer->target->memory == XB_MEMORY_DEVICE) {
        xb_result_detail_text(result, "verified_by", "device");
        return backend->queue_check(context->queues[0], transfer->device, test->bytes, plain(test),
                                    mismatch, error);
    }
    xb_result_detail_text(result, "verified_by", "host");
    *mismatch = xb_host_check(transfer->host->host_address, 0, test->bytes, plain(test));
    return XB_OK;
}

/* Where window `number` starts: spread evenly, the last one ends with the data. */
static uint64_t window_start(uint64_t bytes, uint64_t window, unsigned number)
{
    return (uint64_t)((double)(bytes - window) / (WINDOWS - 1) * number);
}

/*
 * Fetches windows of the device buffer one by one and compares them with the host buffer. Only
 * looks at what both sides hold now, so it must run before check_by_copying_back.
 */
static enum xb_status compare_windows(const struct xb_mode_context *context,
                                      const struct xb_transfer *transfer,
                                      struct xb_mismatch *mismatch, struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    uint64_t window = bytes < WINDOW_BYTES ? bytes : WINDOW_BYTES;
    struct xb_buffer *fetched = NULL;
    enum xb_status status =
        backend->buffer_allocate(context->device, XB_MEMORY_PINNED, WINDOW_BYTES, &fetched, error);
    for (unsigned i = 0; status == XB_OK && i < WINDOWS; i++) {
        uint64_t start = i + 1 < WINDOWS ? window_start(bytes, window, i) : bytes - window;
        status = backend->queue_copy(queue, fetched, 0, transfer->device, start, window, error);
        if (status == XB_OK)
            status = backend->queue_wait(queue, error);
        const unsigned char *there = fetched->host_address;
        const unsigned char *here = (unsigned char *)transfer->host->host_address + start;
        for (uint64_t byte = 0; status == XB_OK && byte < window; byte++)
            if (there[byte] != here[byte] && mismatch->wrong_bytes++ == 0)
                mismatch->first_offset = start + byte;
    }
    backend->buffer_free(fetched);
    return status;
}

enum xb_status xb_transfer_verify(struct xb_mode_context *context, struct xb_result *result,
                                  struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    struct xb_mismatch spots = {0};
    struct xb_mismatch all = {0};
    enum xb_status status = compare_windows(context, transfer, &spots, error);
    if (status == XB_OK)
        status = check_target(context, transfer, result, &all, error);
    if (status != XB_OK)
        return status;
    result->verified =
        all.wrong_bytes == 0 && spots.wrong_bytes == 0 ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (all.wrong_bytes != 0)
        xb_result_warn(result, "%llu of %llu bytes are wrong after the copy, the first at %llu",
                       (unsigned long long)all.wrong_bytes,
                       (unsigned long long)context->test->bytes,
                       (unsigned long long)all.first_offset);
    else if (spots.wrong_bytes != 0)
        xb_result_warn(result,
                       "the pattern is right, but the two buffers differ at byte %llu: the check "
                       "itself is broken",
                       (unsigned long long)spots.first_offset);
    return XB_OK;
}
