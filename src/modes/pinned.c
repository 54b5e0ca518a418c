/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between page-locked host memory and the device: a single transfer by its copy engine. */
#include "modes/readings/readings.h"
#include "shared_options.h"
#include "transfer.h"

#include <string.h>

/* Bytes of a copy to the device whose only use is to have been there. Enough that the copy engine
 * makes it: runtimes write a few KiB by other means. */
#define FORE_BYTES (UINT64_C(16) << 20)

const struct xb_option xb_option_gpu_memory = {
    XB_CHOICES("gpu-memory", "FROM", "kept",
               "Where a copy to the GPU finds memory there: 'kept' memory that is used again and "
               "again; 'malloc' memory that cudaMalloc (hipMalloc) makes for each copy, once "
               "cudaFree has taken back the last; 'pool' the same by cudaMallocAsync and "
               "cudaFreeAsync, from a pool that keeps what it gets back.",
               "kept", "malloc", "pool")};

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    struct xb_buffer *fore;      /* what is copied to the device goes there; NULL: nothing is */
    bool makes, pools;           /* the device's memory, anew for each copy; from a pool */
};

static bool is_wanted_after_h2d(const struct xb_mode_context *context)
{
    const struct xb_case *test = context->test;
    return test->direction == XB_D2H && !test->latency && !test->simultaneous &&
           !xb_transfer_is_synchronous(test) && context->device->info.engine_by_history;
}

/* From the buffer that the timed copy then writes to: what arrives there is proved afterwards. */
static enum xb_status submit_h2d(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t bytes = context->test->bytes < FORE_BYTES ? context->test->bytes : FORE_BYTES;
    return context->device->backend->queue_copy(context->queues[0], state->fore, 0,
                                                state->transfer.ways[0].host, 0, bytes, error);
}

XB_OWN_FIGURE(RATE, bandwidth_after_h2d,
              "Device to host right after a copy to the device on the same queue; only where the "
              "runtime chooses the copy engine by what ran before");

static bool is_memory(const struct xb_case *test, const char *value)
{
    return strcmp(xb_case_setting(test, &xb_option_gpu_memory)->word, value) == 0;
}

static uint32_t capabilities(const struct xb_case *test)
{
    return xb_host_memory_capabilities(test) | (is_memory(test, "pool") ? XB_CAP_POOL : 0);
}

static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    XB_TRY(xb_host_memory_refuse_pageable(test, error));
    if (is_memory(test, "kept") || !xb_transfer_is_synchronous(test))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "--gpu-memory malloc and pool take --call async");
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_transfer_is_synchronous(test))
        XB_TRY(xb_transfer_check_blocking(test, "synchronous", error));
    if (is_memory(test, "kept") ||
        (test->direction == XB_H2D && !test->simultaneous && xb_largest_offset(test) == 0))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "--gpu-memory malloc and pool are about copies to one GPU, without offsets");
}

/* Gives the device's memory back, and makes it anew. */
static enum xb_status make_memory(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_way *way = &state->transfer.ways[0];
    uint64_t bytes = context->test->bytes;
    backend->buffer_free(way->device);
    way->device = way->target = NULL;
    XB_TRY(state->pools ? backend->queue_allocate(state->transfer.own, bytes, &way->device, error)
                        : backend->buffer_allocate(context->device, XB_MEMORY_DEVICE, bytes,
                                                   &way->device, error));
    way->target = way->device;
    return XB_OK;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->makes)
        XB_TRY(make_memory(context, error));
    return xb_transfer_submit(context, error);
}

static void teardown(struct xb_mode_context *context)
{
    const struct state *state = context->state;
    if (state->makes)
        context->device->backend->buffer_free(state->transfer.ways[0].device);
    xb_transfer_teardown(context);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    state->pools = is_memory(context->test, "pool");
    state->makes = !is_memory(context->test, "kept");
    if (state->makes) {
        context->own_device_bytes = context->test->bytes;
        xb_workspace_give_up_idle(context->workspace);
        XB_TRY(context->device->backend->queue_open(context->device, &state->transfer.own, error));
        XB_TRY(make_memory(context, error));
    }
    XB_TRY(xb_transfer_setup(context, xb_host_memory_of(context->test->variant), 1, error));
    if (!is_wanted_after_h2d(context))
        return XB_OK;
    return xb_workspace_buffer(context->workspace, 1, XB_MEMORY_DEVICE, FORE_BYTES, &state->fore,
                               error);
}

static void say_after_h2d(struct xb_reading *reading)
{
    struct xb_statistics alone, after;
    const struct xb_record_case *test =
        xb_usual_copy(reading, xb_reading_best(reading, XB_D2H, NULL, NULL));
    if (!xb_reading_is_sure(reading, test, &xb_figure_bandwidth, &alone) ||
        !xb_reading_is_sure(reading, test, &bandwidth_after_h2d, &after))
        return;
    bool sure = after.ci95_high < alone.ci95_low || after.ci95_low > alone.ci95_high;
    double share = after.median / alone.median;
    xb_tell(reading,
            "Right after a copy to the GPU on the same queue, {name} {to} is [{speed}][{text}] "
            "({+share:ratio}{rate=bandwidth_after_h2d}, alone {rate=bandwidth} GB/s).",
            test, test, sure ? share : 0, sure ? NULL : "as fast, within the noise", share);
    if (sure && share < 1 - XB_VISIBLE)
        xb_remedy(reading, XB_EFFORT_LINES, 1 / share,
                  "Give each direction a stream of its own: one that copies only to the host keeps "
                  "the faster rate. Or try HSA_ENABLE_SDMA=0: shaders then copy instead of the "
                  "engines.");
}

#define MADE(value, words)                                                                         \
    {                                                                                              \
        NULL, &xb_option_gpu_memory, value, &xb_figure_wall_time, words,                           \
            "Allocate the GPU's memory once, and use it again: {gain} as fast. PyTorch's "         \
            "allocator does that."                                                                 \
    }
static const struct xb_made_memory made_memory[] = {
    MADE("malloc", "that is allocated for each copy"),
    MADE("pool", "that comes from a pool for each copy"),
    {.option = NULL}};

/* "The synchronous call blocks until it is done, 20.1 ms; the asynchronous one returns after
 * 2.8 us, and is done after 20.2 ms." */
static void say_call(struct xb_reading *reading)
{
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        const struct xb_record_case *async =
            xb_usual_copy(reading, xb_reading_best_of_any(reading, direction, NULL, NULL));
        const struct xb_record_case *sync = xb_twin(reading, async, &xb_option_call, "sync");
        double blocked = xb_reading_median(reading, sync, &xb_figure_submit_time);
        if (sync == async || !(blocked > 0) || reading->words.length > 0)
            continue;
        xb_tell(reading,
                "The synchronous call blocks until it is done, {duration:blocked}; {case}{case}the "
                "asynchronous one returns after {duration:submitted=submit_time}, and is done "
                "after {duration:done=wall_time}.",
                blocked, sync, async);
    }
}

const struct xb_mode xb_mode_pinned = {
    .name = "pinned",
    .summary = "one copy of page-locked host memory: the best that the link gives",
    .description =
        "Copies one buffer of page-locked (pinned) host memory in a single operation. The device's "
        "copy engine reads or writes the memory directly, so this is the bandwidth of the link "
        "itself. Allocating and page-locking the memory is not timed. bidir is one such copy each "
        "way at the same time, with buffers of their own: the row shows the sum and each "
        "direction. With --gpu-memory malloc or pool making the GPU's memory is timed too, by the "
        "host's clock until the copy is done, and with --call sync the synchronous call is. With "
        "HIP, d2h is measured on a queue that never copied to the device, and once "
        "more right after such a copy (bandwidth_after_h2d), because the runtime chooses the copy "
        "engine by what ran before.",
    .calls = "cudaMallocHost() (hipHostMalloc) for new memory, cudaHostRegister() "
             "(hipHostRegister) for memory that you have; then cudaMemcpyAsync() (hipMemcpyAsync). "
             "PyTorch: DataLoader(pin_memory=True) or tensor.pin_memory(), then tensor.to(device, "
             "non_blocking=True).",
    .directions = XB_H2D | XB_D2H | XB_BIDIR,
    .by_default = XB_H2D | XB_D2H,
    .simultaneous = true,
    .variant_option = &xb_option_host_memory,
    .names = XB_NAMES({"registered", "pinned"}, {"alloc", "pinned, allocated"},
                      {"write-combined", "pinned, write-combined"}),
    .options = XB_OPTIONS(&xb_option_host_memory, &xb_option_host_offset, &xb_option_device_offset,
                          &xb_option_gpu_memory, &xb_option_call),
    .parameters = XB_PARAMETERS({&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL},
                                {&xb_option_gpu_memory, NULL}, {&xb_option_call, NULL}),
    .figures = XB_FIGURES(&bandwidth_after_h2d, &xb_figure_host_memory_rate, XB_COST_FIGURES),
    .reading = XB_READING({.label = "after h2d", .code = "XB-AFTER-H2D", .say = say_after_h2d},
                          XB_LINE("GPU memory", "XB-GPU-MEMORY", xb_made_memory_say, made_memory),
                          {.label = "call", .code = "XB-CALL", .say = say_call},
                          XB_LINE("alignment", "XB-ALIGNMENT", xb_alignment_say, NULL)),
    .shows_link = true,
    XB_HOOKS(struct state, xb_transfer_needs, setup, xb_transfer_prepare, submit,
             xb_transfer_verify),
    .capabilities = capabilities,
    .check = check,
    .teardown = teardown,
    .check_variant = check_variant,
    .references = XB_REFERENCES({.figure = &bandwidth_after_h2d,
                                 .submit = xb_transfer_submit,
                                 .before = submit_h2d,
                                 .is_wanted = is_wanted_after_h2d}),
};
