/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between page-locked host memory and the device: a single transfer by its copy engine. */
#include "modes/readings/readings.h"
#include "shared_options.h"
#include "transfer.h"

/* Bytes of a copy to the device whose only use is to have been there. Enough that the copy engine
 * makes it: runtimes write a few KiB by other means. */
#define FORE_BYTES (UINT64_C(16) << 20)

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    struct xb_buffer *fore;      /* what is copied to the device goes there; NULL: nothing is */
};

static bool is_wanted_after_h2d(const struct xb_mode_context *context)
{
    const struct xb_case *test = context->test;
    return test->direction == XB_D2H && !test->latency && !test->simultaneous &&
           context->device->info.engine_by_history;
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
static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    XB_TRY(xb_transfer_setup(context, xb_host_memory_of(context->test->variant), 1, error));
    if (!is_wanted_after_h2d(context))
        return XB_OK;
    return xb_workspace_buffer(context->workspace, 1, XB_MEMORY_DEVICE, FORE_BYTES, &state->fore,
                               error);
}

/* A smaller loss needs no advice, however sure it is. */
#define LEAST_LOSS 0.02

static bool describe(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *figure, struct xb_statistics *statistics)
{
    return xb_record_describe(xb_reading_record(reading), test, figure->name, statistics) &&
           statistics->has_interval;
}

static bool say_after_h2d(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_statistics alone, after;
    const struct xb_record_case *test =
        xb_reading_best(reading, device, bytes, XB_D2H, "pinned", NULL);
    if (test == NULL || !describe(reading, test, &xb_figure_bandwidth, &alone) ||
        !describe(reading, test, &bandwidth_after_h2d, &after))
        return false;
    bool sure = after.ci95_high < alone.ci95_low || after.ci95_low > alone.ci95_high;
    double share = after.median / alone.median;
    xb_reading_phrase(
        reading, "Right after a copy to the GPU on the same queue, {name} back to the host is ",
        test);
    if (sure)
        xb_reading_phrase(reading, "{speed}", share);
    else
        xb_reading_add(reading, "as fast, within the noise");
    xb_reading_phrase(reading,
                      " ({+share:ratio}{rate:bandwidth_after_h2d}, alone {rate:bandwidth} GB/s).",
                      share, after.median, alone.median);
    if (sure && share < 1 - LEAST_LOSS)
        xb_reading_remedy(
            reading, XB_EFFORT_LINES, 1 / share,
            "Give each direction a stream of its own: one that copies only to the host keeps the "
            "faster rate. Or try HSA_ENABLE_SDMA=0: shaders then copy instead of the engines.");
    return true;
}

XB_SAY(say_alignment, xb_alignment_say, "pinned")

const struct xb_mode xb_mode_pinned = {
    .name = "pinned",
    .summary = "one copy of page-locked host memory: the best that the link gives",
    .description =
        "Copies one buffer of page-locked (pinned) host memory in a single operation. The device's "
        "copy engine reads or writes the memory directly, so this is the bandwidth of the link "
        "itself. Allocating and page-locking the memory is not timed. bidir is one such copy each "
        "way at the same time, with buffers of their own: the row shows the sum and each "
        "direction. With HIP, d2h is measured on a queue that never copied to the device, and once "
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
    .options = XB_OPTIONS(&xb_option_host_memory, &xb_option_host_offset, &xb_option_device_offset),
    .parameters = XB_PARAMETERS({&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL}),
    .figures = XB_FIGURES(&bandwidth_after_h2d, XB_COST_FIGURES),
    .reading = XB_READING({.label = "after h2d", .code = "XB-AFTER-H2D", .say = say_after_h2d},
                          {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment}),
    .shows_link = true,
    XB_HOOKS(struct state, xb_transfer_needs, setup, xb_transfer_prepare, xb_transfer_submit,
             xb_transfer_verify),
    .capabilities = xb_host_memory_capabilities,
    .check_variant = xb_host_memory_refuse_pageable,
    .references = XB_REFERENCES({.figure = &bandwidth_after_h2d,
                                 .submit = xb_transfer_submit,
                                 .before = submit_h2d,
                                 .is_wanted = is_wanted_after_h2d}),
};
