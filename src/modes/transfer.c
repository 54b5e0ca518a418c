/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <stdio.h>

/* The spot check: this many windows, the first at the start and the last at the very end. */
#define WINDOWS 16u
#define WINDOW_BYTES UINT64_C(4096)

struct xb_needs xb_transfer_needs(const struct xb_case *test, const struct xb_config *config)
{
    (void)config;
    return (struct xb_needs){.host_bytes = test->bytes, .device_bytes = test->bytes};
}

/*
 * The two patterns of a case differ in every byte. Until the first timed sample everything is
 * `before`; then prepare turns the device's buffer around, which takes the device milliseconds and
 * touches no host memory: the target of an H2D copy is wrong in every byte, and so is that of a D2H
 * copy, whose source now holds the other pattern.
 */
static struct xb_pattern before(const struct xb_case *test)
{
    return (struct xb_pattern){.seed = test->seed, .flip = 0};
}

static struct xb_pattern after(const struct xb_case *test)
{
    return (struct xb_pattern){.seed = test->seed, .flip = XB_PATTERN_POISON};
}

/* What the target holds once a timed copy has put it right. */
static struct xb_pattern expected(const struct xb_case *test)
{
    return test->direction == XB_H2D ? before(test) : after(test);
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
    status = fill(context, transfer->host, before(test), error);
    if (status == XB_OK)
        status = fill(context, transfer->device, before(test), error);
    return status;
}

enum xb_status xb_transfer_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    return fill(context, transfer->device, after(context->test), error);
}

enum xb_status xb_transfer_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    return context->device->backend->queue_copy(context->queues[0], transfer->target, 0,
                                                transfer->source, 0, context->test->bytes, error);
}

/* Checks the whole target where it lies, and notes in the record where that was. */
static enum xb_status check_target(const struct xb_mode_context *context,
                                   const struct xb_transfer *transfer, struct xb_result *result,
                                   struct xb_mismatch *mismatch, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (transfer->target == transfer->device) {
        xb_result_detail_text(result, "verified_by", "device");
        return context->device->backend->queue_check(context->queues[0], transfer->device,
                                                     test->bytes, expected(test), mismatch, error);
    }
    xb_result_detail_text(result, "verified_by", "host");
    *mismatch = xb_host_check(transfer->host->host_address, 0, test->bytes, expected(test));
    return XB_OK;
}

/* Fetches windows of the device buffer one by one and compares them with the host buffer. */
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
        uint64_t start = (bytes - window) / (WINDOWS - 1) * i; /* spread evenly */
        if (i + 1 == WINDOWS)
            start = bytes - window;
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
    struct xb_mismatch all = {0};
    struct xb_mismatch spots = {0};
    enum xb_status status = check_target(context, transfer, result, &all, error);
    if (status == XB_OK)
        status = compare_windows(context, transfer, &spots, error);
    if (status != XB_OK)
        return status;
    result->verified =
        all.wrong_bytes == 0 && spots.wrong_bytes == 0 ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (all.wrong_bytes != 0)
        snprintf(result->reason, sizeof result->reason,
                 "%llu of %llu bytes are wrong after the copy, the first at %llu",
                 (unsigned long long)all.wrong_bytes, (unsigned long long)context->test->bytes,
                 (unsigned long long)all.first_offset);
    else if (spots.wrong_bytes != 0)
        snprintf(result->reason, sizeof result->reason,
                 "the pattern is right, but the two buffers differ at byte %llu: the check itself "
                 "is broken",
                 (unsigned long long)spots.first_offset);
    return XB_OK;
}
