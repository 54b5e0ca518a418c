/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"

#include "proof.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

static size_t way_count(const struct xb_case *test)
{
    return test->direction == XB_BIDIR ? 2 : 1;
}

struct xb_needs xb_transfer_needs(const struct xb_case *test, const struct xb_config *config)
{
    (void)config;
    uint64_t ways = way_count(test);
    /* Sizes end at 63 bits: twice that does not wrap around. */
    return (struct xb_needs){.host_bytes = ways * test->bytes, .device_bytes = ways * test->bytes};
}

/*
 * What the device's buffer holds once it was prepared so many times. At first both ends hold
 * `before`. Then prepare writes `after` to the device's buffer, which takes the device milliseconds
 * and touches no host memory. That makes every byte of an H2D copy's target wrong, and of a D2H
 * copy's too, because its source now holds the other pattern. The host then has that one, so the
 * next time the source of a D2H copy has to hold `before` again.
 */
static struct xb_pattern prepared(const struct xb_way *way, unsigned times)
{
    return way->direction == XB_D2H && times % 2 == 0 ? xb_proof_before(way->seed)
                                                      : xb_proof_after(way->seed);
}

/* What the target must hold after a timed copy. */
static struct xb_pattern expected(const struct xb_transfer *transfer, const struct xb_way *way)
{
    return way->direction == XB_H2D ? xb_proof_before(way->seed)
                                    : prepared(way, transfer->prepared);
}

/* Borrows the buffers of one way and fills them. */
static enum xb_status set_up_way(struct xb_mode_context *context, unsigned number,
                                 enum xb_memory memory, struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    struct xb_way *way = &transfer->ways[number];
    uint64_t bytes = context->test->bytes;
    enum xb_status status =
        xb_workspace_buffer(context->workspace, number, memory, bytes, &way->host, error);
    if (status != XB_OK)
        return status;
    status = xb_workspace_buffer(context->workspace, number, XB_MEMORY_DEVICE, bytes, &way->device,
                                 error);
    if (status != XB_OK)
        return status;
    bool to_device = way->direction == XB_H2D;
    way->source = to_device ? way->host : way->device;
    way->target = to_device ? way->device : way->host;
    way->seed = context->test->seed + ((unsigned long long)number << 39);
    status = xb_proof_fill(transfer->filler, way->host, bytes, xb_proof_before(way->seed), error);
    if (status != XB_OK)
        return status;
    return xb_proof_fill(transfer->filler, way->device, bytes, xb_proof_before(way->seed), error);
}

/* Has each of two ways timed apart. A single way is the whole. */
static void set_spans(struct xb_mode_context *context, const struct xb_transfer *transfer)
{
    for (size_t i = 0; transfer->way_count > 1 && i < transfer->way_count; i++)
        context->spans[context->span_count++] = (struct xb_span){
            .figure = transfer->ways[i].direction == XB_H2D ? &xb_figure_bandwidth_h2d
                                                            : &xb_figure_bandwidth_d2h,
            .first_queue = i * transfer->queues_per_way,
            .queue_count = transfer->queues_per_way,
            .bytes = context->test->bytes};
}

/* Without kernels a device fills buffers by copies to it, and those are not to choose the engine of
 * what is timed. */
static bool fills_elsewhere(const struct xb_device_info *info)
{
    return info->engine_by_history && (info->capabilities & XB_CAP_KERNELS) == 0;
}

/* Borrows the queues that are timed, and where it has to be another, one to fill buffers on. */
static enum xb_status borrow_queues(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    size_t filler = fills_elsewhere(&context->device->info) ? context->queue_count : 0;
    size_t count = filler > 0 ? filler + 1 : context->queue_count;
    enum xb_status status = xb_workspace_queues(context->workspace, count, &context->queues, error);
    if (status == XB_OK)
        transfer->filler = context->queues[filler];
    return status;
}

enum xb_status xb_transfer_setup(struct xb_mode_context *context, enum xb_memory memory,
                                 size_t queues_per_way, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    struct xb_transfer *transfer = context->state;
    transfer->way_count = way_count(test);
    transfer->queues_per_way = queues_per_way;
    context->queue_count = queues_per_way * transfer->way_count;
    context->bytes_moved = test->bytes * transfer->way_count;
    context->operations_per_iteration = transfer->way_count;
    context->hold = memory != XB_MEMORY_PAGEABLE;
    enum xb_status status = borrow_queues(context, error);
    if (status != XB_OK)
        return status;
    for (unsigned i = 0; i < transfer->way_count; i++) {
        transfer->ways[i].direction = test->direction != XB_BIDIR ? test->direction
                                      : i == 0                    ? XB_H2D
                                                                  : XB_D2H;
        status = set_up_way(context, i, memory, error);
        if (status != XB_OK)
            return status;
    }
    set_spans(context, transfer);
    return XB_OK;
}

enum xb_status xb_transfer_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    transfer->prepared++;
    for (size_t i = 0; i < transfer->way_count; i++) {
        const struct xb_way *way = &transfer->ways[i];
        enum xb_status status = xb_proof_fill(transfer->filler, way->device, context->test->bytes,
                                              prepared(way, transfer->prepared), error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_transfer_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    for (size_t i = 0; i < transfer->way_count; i++) {
        enum xb_status status = context->device->backend->queue_copy(
            context->queues[i * transfer->queues_per_way], transfer->ways[i].target, 0,
            transfer->ways[i].source, 0, context->test->bytes, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_transfer_verify(struct xb_mode_context *context, struct xb_result *result,
                                  struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    struct xb_mismatch all = {0};
    struct xb_mismatch windows = {0};
    for (size_t i = 0; i < transfer->way_count; i++) {
        const struct xb_way *way = &transfer->ways[i];
        const struct xb_proof_side here = {queue, way->host};
        const struct xb_proof_side there = {queue, way->device};
        enum xb_status status =
            xb_proof_check(queue, way->target, bytes, expected(transfer, way), &all, error);
        if (status != XB_OK)
            return status;
        status = xb_proof_compare(&here, &there, bytes, &windows, error);
        if (status != XB_OK)
            return status;
    }
    const char *reader = xb_proof_reader(context->device);
    if (transfer->way_count > 1)
        xb_result_detail_text(result, "verified_by", "host and %s", reader);
    else
        xb_result_detail_text(result, "verified_by", "%s",
                              context->test->direction == XB_H2D ? reader : "host");
    xb_proof_conclude(result, &all, &windows);
    return XB_OK;
}
