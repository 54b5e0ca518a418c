/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"

#include "proof.h"
#include "shared_options.h"

#include "backends/verify.h"

#include <stdio.h>
#include <string.h>

#define AROUND (XB_PATTERN_POISON / 0xFF * 0x55) /* of XB_PATTERN_POISON every other bit */

const struct xb_option xb_option_call = {
    XB_CHOICES("call", "KIND", "async",
               "Which call copies: 'async' cudaMemcpyAsync (hipMemcpyAsync); 'sync' cudaMemcpy "
               "(hipMemcpy), timed by the host's clock until it returns, or, from pageable memory "
               "to the GPU, until the last byte is there. SUBMIT shows how long the call blocks.",
               "async", "sync")};

const struct xb_option xb_option_gpu_memory = {
    XB_CHOICES("gpu-memory", "FROM", "kept",
               "Where a copy to the GPU finds memory there: 'kept' memory that is used again and "
               "again; 'malloc' memory that cudaMalloc (hipMalloc) makes for each copy, once "
               "cudaFree has taken back the last; 'pool' the same by cudaMallocAsync and "
               "cudaFreeAsync, from a pool that keeps what it gets back.",
               "kept", "malloc", "pool")};

/* Whether the device's memory is made for each copy. */
static bool makes_memory(const struct xb_case *test)
{
    const struct xb_setting *setting = xb_case_find_setting(test, &xb_option_gpu_memory);
    return setting != NULL && strcmp(setting->word, "kept") != 0;
}

enum xb_status xb_transfer_check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    bool is_synchronous = xb_case_is(test, &xb_option_call, "sync");
    bool blocks = is_synchronous || xb_host_memory_of(test->variant) == XB_MEMORY_PAGEABLE;
    if (blocks && (test->direction == XB_BIDIR || test->simultaneous))
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "a %s copy blocks the calling thread until it is done: what should run "
                       "beside it would start only after it",
                       is_synchronous ? "synchronous" : "pageable");
    if (!makes_memory(test) ||
        (test->direction == XB_H2D && !test->simultaneous && xb_largest_offset(test) == 0))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "--gpu-memory malloc and pool are about copies to one GPU, without offsets");
}

static size_t way_count(const struct xb_case *test)
{
    return test->direction == XB_BIDIR ? 2 : 1;
}

/* 0 in a mode of which it is no parameter. */
static uint64_t offset_of(const struct xb_case *test, const struct xb_option *option)
{
    const struct xb_setting *setting = xb_case_find_setting(test, option);
    return setting != NULL ? setting->count : 0;
}

/* How much longer than the data a buffer is. */
static uint64_t room_beyond(const struct xb_case *test)
{
    uint64_t largest = xb_largest_offset(test);
    return largest > 0 ? largest + XB_WATCHED_BYTES : 0;
}

void xb_transfer_take(const struct xb_case *test, enum xb_memory memory, struct xb_buffers *all)
{
    all->beyond = room_beyond(test);
    for (size_t i = 0; i < way_count(test); i++) {
        size_t way = offsetof(struct xb_transfer, ways) + i * sizeof(struct xb_way);
        xb_take(all, XB_OF_CASE, memory, test->bytes, way + offsetof(struct xb_way, host));
        xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes,
                way + offsetof(struct xb_way, device));
    }
}

void xb_transfer_buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_transfer_take(test, xb_host_memory_of(test->variant), all);
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

/* What the host's memory holds round the data, whatever was prepared. No byte is that of `before`
 * or `after` at the same place, which is what a device holds there: so a copy of more than the data
 * is seen on either side. */
static struct xb_pattern around(const struct xb_way *way)
{
    return (struct xb_pattern){.seed = way->seed, .flip = AROUND};
}

/* The device's buffer holds the pattern from its start on. So the data, which begins at an offset
 * there, begins with that byte of the pattern on either side. */
static enum xb_status fill_device(struct xb_mode_context *context, const struct xb_way *way,
                                  struct xb_pattern pattern, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    uint64_t bytes = way->device_offset + context->test->bytes + transfer->margin;
    return xb_proof_fill(transfer->filler, way->device, bytes, pattern, error);
}

/* Fills the buffers of one way. */
static enum xb_status set_up_way(struct xb_mode_context *context, unsigned number,
                                 struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    struct xb_way *way = &transfer->ways[number];
    uint64_t bytes = context->test->bytes;
    bool to_device = way->direction == XB_H2D;
    way->source = to_device ? way->host : way->device;
    way->target = to_device ? way->device : way->host;
    way->host_offset = offset_of(context->test, &xb_option_host_offset);
    way->device_offset = offset_of(context->test, &xb_option_device_offset);
    way->source_offset = to_device ? way->host_offset : way->device_offset;
    way->target_offset = to_device ? way->device_offset : way->host_offset;
    way->seed = context->test->seed + ((unsigned long long)number << 39);
    unsigned char *data = (unsigned char *)way->host->host_address + way->host_offset;
    xb_host_fill(way->host->host_address, 0, way->host_offset, around(way));
    xb_host_fill(data, way->device_offset, bytes, xb_proof_before(way->seed));
    xb_host_fill(data + bytes, way->device_offset + bytes, transfer->margin, around(way));
    return fill_device(context, way, xb_proof_before(way->seed), error);
}

/* Gives the device's memory back, and makes it anew. */
static enum xb_status make_memory(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_way *way = &transfer->ways[0];
    uint64_t bytes = context->test->bytes;
    backend->buffer_free(way->device);
    way->device = way->target = NULL;
    XB_TRY(transfer->pools ? backend->queue_allocate(transfer->own, bytes, &way->device, error)
                           : backend->buffer_allocate(context->device, XB_MEMORY_DEVICE, bytes,
                                                      &way->device, error));
    way->target = way->device;
    return XB_OK;
}

enum xb_status xb_transfer_setup(struct xb_mode_context *context, size_t queues_per_way,
                                 struct xb_error *error)
{
    const struct xb_case *test = context->test;
    struct xb_transfer *transfer = context->state;
    transfer->way_count = way_count(test);
    transfer->queues_per_way = queues_per_way;
    context->bytes_moved = test->bytes * transfer->way_count;
    context->operations_per_iteration = transfer->way_count;
    transfer->margin = room_beyond(test) > 0 ? XB_WATCHED_BYTES : 0;
    transfer->makes = makes_memory(test);
    transfer->pools = xb_case_is(test, &xb_option_gpu_memory, "pool");
    if (transfer->makes) {
        context->own_device_bytes = test->bytes;
        xb_workspace_give_up_idle(context->workspace);
        XB_TRY(context->device->backend->queue_open(context->device, &transfer->own, error));
        XB_TRY(make_memory(context, error));
    }
    /* Without kernels a device fills buffers by copies to it, and those are not to choose the
     * engine of what is timed: they have a queue of their own. */
    const struct xb_device_info *info = &context->device->info;
    bool fills_elsewhere = info->engine_by_history && (info->capabilities & XB_CAP_KERNELS) == 0;
    XB_TRY(xb_borrow_queues(context, queues_per_way * transfer->way_count, error));
    transfer->filler = context->queues[0];
    if (fills_elsewhere) { /* behind all that are timed */
        size_t timed = context->share.of * context->queue_count;
        struct xb_queue **all;
        XB_TRY(xb_workspace_queues(context->workspace, timed + 1, &all, error));
        transfer->filler = all[timed];
    }
    const bool is_synchronous = xb_case_is(test, &xb_option_call, "sync");
    if (is_synchronous)
        XB_TRY(
            context->device->backend->queue_open_blocking(context->device, &transfer->own, error));
    XB_TRY(xb_borrow(context, NULL, 0, error));
    const enum xb_memory memory = transfer->ways[0].host->memory;
    context->hold = memory != XB_MEMORY_PAGEABLE;
    if (transfer->own != NULL) { /* what is submitted may wait for what is held */
        context->queues = &transfer->own;
        if (!is_synchronous) /* what is made on a queue is written on it */
            transfer->filler = transfer->own;
        context->hold = false;
        context->host_timed = true;
        /* A synchronous call knows when it is done, but for a pageable source: it is then free. */
        context->host_waits =
            !is_synchronous || (memory == XB_MEMORY_PAGEABLE && test->direction == XB_H2D);
    }
    for (unsigned i = 0; i < transfer->way_count; i++) {
        enum xb_direction direction = i == 0 ? XB_H2D : XB_D2H;
        transfer->ways[i].direction = transfer->way_count > 1 ? direction : test->direction;
        XB_TRY(set_up_way(context, i, error));
        if (transfer->way_count > 1) /* each is timed apart; a single way is the whole */
            context->spans[context->span_count++] = (struct xb_span){
                .figure = i == 0 ? &xb_figure_bandwidth_h2d : &xb_figure_bandwidth_d2h,
                .first_queue = i * queues_per_way,
                .queue_count = queues_per_way,
                .bytes = test->bytes};
    }
    return XB_OK;
}

void xb_transfer_teardown(struct xb_mode_context *context)
{
    const struct xb_transfer *transfer = context->state;
    if (transfer->makes)
        context->device->backend->buffer_free(transfer->ways[0].device);
    if (transfer->own != NULL)
        context->device->backend->queue_close(transfer->own);
}

enum xb_status xb_transfer_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_transfer *transfer = context->state;
    transfer->prepared++;
    for (size_t i = 0; i < transfer->way_count; i++) {
        const struct xb_way *way = &transfer->ways[i];
        XB_TRY(fill_device(context, way, prepared(way, transfer->prepared), error));
    }
    return XB_OK;
}

enum xb_status xb_transfer_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    if (transfer->makes)
        XB_TRY(make_memory(context, error));
    for (size_t i = 0; i < transfer->way_count; i++) {
        XB_TRY(context->device->backend->queue_copy(
            context->queues[i * transfer->queues_per_way], transfer->ways[i].target,
            transfer->ways[i].target_offset, transfer->ways[i].source,
            transfer->ways[i].source_offset, context->test->bytes, error));
    }
    return XB_OK;
}

/* What was found wrong. */
struct findings {
    struct xb_mismatch data;           /* in the target */
    struct xb_mismatch windows;        /* between target and source */
    struct xb_mismatch before, behind; /* round the target */
};

/*
 * Checks what lies round the target. It holds what was written there last: on the host by set-up,
 * and on the device by prepare.
 */
static enum xb_status check_round(const struct xb_mode_context *context, const struct xb_way *way,
                                  struct findings *found, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    uint64_t bytes = context->test->bytes;
    struct xb_pattern pattern =
        way->direction == XB_H2D ? prepared(way, transfer->prepared) : around(way);
    struct xb_proof_side side = {context->queues[0], way->target, 0};
    XB_TRY(xb_proof_check_round(&side, way->target_offset, pattern, 0, &found->before, error));
    side.offset = way->target_offset + bytes;
    return xb_proof_check_round(&side, transfer->margin, pattern, way->device_offset + bytes,
                                &found->behind, error);
}

/*
 * Checks every byte of the target where it lies. A device compares from the start of its buffer on,
 * so there what lies before the target, which is checked by now, is made right first.
 */
static enum xb_status check_data(const struct xb_mode_context *context, const struct xb_way *way,
                                 struct xb_mismatch *found, struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    struct xb_queue *queue = context->queues[0];
    uint64_t bytes = context->test->bytes;
    uint64_t first = way->device_offset;
    struct xb_mismatch here = {0};
    if (way->direction != XB_H2D) {
        const unsigned char *memory = way->target->host_address;
        here = xb_host_check(memory + way->target_offset, first, bytes, expected(transfer, way));
    } else {
        XB_TRY(first > 0 ? xb_proof_fill(transfer->filler, way->target, first,
                                         expected(transfer, way), error)
                         : XB_OK);
        XB_TRY(xb_proof_check(queue, way->target, first + bytes, expected(transfer, way), &here,
                              error));
    }
    here.first_offset -= here.wrong_bytes > 0 ? first : 0;
    xb_proof_add(found, &here);
    return XB_OK;
}

enum xb_status xb_transfer_verify(struct xb_mode_context *context, struct xb_result *result,
                                  struct xb_error *error)
{
    const struct xb_transfer *transfer = context->state;
    struct findings found = {{0}, {0}, {0}, {0}};
    for (size_t i = 0; i < transfer->way_count; i++) {
        const struct xb_way *way = &transfer->ways[i];
        const struct xb_proof_side here = {context->queues[0], way->host, way->host_offset};
        const struct xb_proof_side there = {context->queues[0], way->device, way->device_offset};
        XB_TRY(check_round(context, way, &found, error));
        XB_TRY(check_data(context, way, &found.data, error));
        XB_TRY(xb_proof_compare(&here, &there, context->test->bytes, &found.windows, error));
    }
    const char *reader = xb_proof_reader(context->device);
    if (transfer->way_count > 1) {
        xb_result_detail_text(result, "verified_by", "host and %s", reader);
        xb_host_rate_tell(context, result);
    } else {
        xb_result_detail_text(result, "verified_by", "%s",
                              context->test->direction == XB_H2D ? reader : "host");
    }
    xb_proof_conclude(result, &found.data, &found.windows);
    if (result->row.verified != XB_VERIFIED_TRUE ||
        found.before.wrong_bytes + found.behind.wrong_bytes == 0)
        return XB_OK;
    result->row.verified = XB_VERIFIED_FALSE;
    snprintf(result->reason, sizeof result->reason,
             "the copy also changed %llu bytes before its target and %llu behind it",
             (unsigned long long)found.before.wrong_bytes,
             (unsigned long long)found.behind.wrong_bytes);
    return XB_OK;
}
