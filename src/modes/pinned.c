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
           !xb_case_is(test, &xb_option_call, "sync") && context->device->info.engine_by_history;
}

/* From the buffer that the timed copy then writes to: what arrives there is proved afterwards. */
static enum xb_status submit_h2d(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t bytes = context->test->bytes < FORE_BYTES ? context->test->bytes : FORE_BYTES;
    return context->device->backend->queue_copy(context->queues[0], state->fore, 0,
                                                state->transfer.ways[0].host, 0, bytes, error);
}

const struct xb_figure xb_figure_bandwidth_after_h2d = {XB_FIGURE_RATE(
    "bandwidth_after_h2d",
    "Device to host right after a copy to the device on the same queue; only where the runtime "
    "chooses the copy engine by what ran before")};

static uint32_t capabilities(const struct xb_case *test)
{
    return xb_host_memory_capabilities(test) |
           (xb_case_is(test, &xb_option_gpu_memory, "pool") ? XB_CAP_POOL : 0);
}

static enum xb_status check_variant(const struct xb_case *test, struct xb_error *error)
{
    XB_TRY(xb_host_memory_refuse_pageable(test, error));
    if (xb_case_is(test, &xb_option_gpu_memory, "kept") ||
        !xb_case_is(test, &xb_option_call, "sync"))
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "--gpu-memory malloc and pool take --call async");
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    XB_TRY(xb_transfer_setup(context, 1, error));
    if (!is_wanted_after_h2d(context))
        return XB_OK;
    return xb_workspace_buffer(context->workspace, 1, XB_MEMORY_DEVICE, FORE_BYTES, false,
                               &state->fore, error);
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
    .transfers = {.by_engine = "alloc"},
    .names = XB_NAMES({"registered", "pinned"}, {"alloc", "pinned, allocated"},
                      {"write-combined", "pinned, write-combined"}),
    .options = XB_OPTIONS(&xb_option_host_memory, &xb_option_host_offset, &xb_option_device_offset,
                          &xb_option_gpu_memory, &xb_option_call),
    .parameters = XB_PARAMETERS({&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL},
                                {&xb_option_gpu_memory, NULL}, {&xb_option_call, NULL}),
    .figures =
        XB_FIGURES(&xb_figure_bandwidth_after_h2d, &xb_figure_host_memory_rate, XB_COST_FIGURES),
    .reading = xb_pinned_reading,
    .shows_link = true,
    XB_HOOKS(struct state, xb_transfer_buffers, setup, xb_transfer_prepare, xb_transfer_submit,
             xb_transfer_verify),
    .capabilities = capabilities,
    .check = xb_transfer_check,
    .teardown = xb_transfer_teardown,
    .check_variant = check_variant,
    .references = XB_REFERENCES({.figure = &xb_figure_bandwidth_after_h2d,
                                 .submit = xb_transfer_submit,
                                 .before = submit_h2d,
                                 .is_wanted = is_wanted_after_h2d}),
};
