/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that read or write the host's memory in place, across the link, without a copy. */
#include "transfer.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <math.h>
#include <string.h>

static const char *const access_words[] = {"sequential", "strided", "random", NULL};

static const struct xb_option option_access = {
    .name = "access",
    .type = XB_OPTION_CHOICES,
    .argument = "ORDER[,ORDER]",
    .default_text = "sequential",
    .help = "In which order a kernel's threads go through the host's memory, by words of 8 bytes: "
            "'sequential', 'strided' (neighbouring threads a page of 4 KiB apart) or 'random'. "
            "One case is run for each.",
    .choices = access_words,
};

static const struct xb_option option_passes = {
    .name = "passes",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .default_text = "1",
    .help = "How often a kernel goes through all of the memory in one iteration.",
    .minimum = 1,
    .maximum = 1000,
};

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    struct xb_buffer *staged;    /* what an explicit copy would put beside the device's buffer */
    enum xb_access access;
    uint64_t passes;
};

static enum xb_access access_of(const char *variant)
{
    if (strcmp(variant, "strided") == 0)
        return XB_ACCESS_STRIDED;
    return strcmp(variant, "random") == 0 ? XB_ACCESS_RANDOM : XB_ACCESS_SEQUENTIAL;
}

static uint32_t capabilities(const char *variant)
{
    (void)variant;
    return XB_CAP_KERNELS | XB_CAP_MAPPED;
}

static struct xb_needs needs(const struct xb_case *test, const struct xb_config *config)
{
    (void)config;
    return (struct xb_needs){.host_bytes = test->bytes, .device_bytes = 2 * test->bytes};
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    uint64_t bytes = context->test->bytes;
    state->access = access_of(context->test->variant);
    state->passes = xb_config_get(context->config, "passes")->count;
    enum xb_status status = xb_transfer_setup(context, XB_MEMORY_MAPPED, 1, error);
    if (status == XB_OK)
        status = xb_workspace_buffer(context->workspace, 1, XB_MEMORY_DEVICE, bytes, &state->staged,
                                     error);
    context->bytes_moved = bytes * state->passes;
    context->operations_per_iteration = state->passes + 1; /* the explicit way has a copy more */
    return status;
}

/* Kernels that go from `source` to `target`, one a pass. */
static enum xb_status run_passes(struct xb_mode_context *context, struct xb_buffer *target,
                                 struct xb_buffer *source, struct xb_error *error)
{
    const struct state *state = context->state;
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; status == XB_OK && i < state->passes; i++)
        status = context->device->backend->queue_kernel_copy(
            context->queues[0], target, 0, source, 0, context->test->bytes, state->access, error);
    return status;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_way *way = &((struct state *)context->state)->transfer.ways[0];
    return run_passes(context, way->target, way->source, error);
}

/* The explicit way: the copy engine moves the data once, and the same kernels stay on the device.
 */
static enum xb_status submit_copy(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_way *way = &state->transfer.ways[0];
    bool to_device = way->direction == XB_H2D;
    return context->device->backend->queue_copy(
        context->queues[0], to_device ? state->staged : way->host, 0,
        to_device ? way->host : state->staged, 0, context->test->bytes, error);
}

static enum xb_status submit_kernel(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_way *way = &state->transfer.ways[0];
    return way->direction == XB_H2D ? run_passes(context, way->device, state->staged, error)
                                    : run_passes(context, state->staged, way->device, error);
}

static enum xb_status submit_explicit(struct xb_mode_context *context, struct xb_error *error)
{
    bool to_device = context->test->direction == XB_H2D;
    enum xb_status status = to_device ? submit_copy(context, error) : submit_kernel(context, error);
    if (status == XB_OK)
        status = to_device ? submit_kernel(context, error) : submit_copy(context, error);
    return status;
}

static const struct xb_reference references[] = {
    {"copy", submit_copy, 1},
    {"kernel", submit_kernel, 0},
    {"explicit", submit_explicit, 1},
    {NULL, NULL, 0},
};

/* From how many passes on one copy and local kernels take less: copy + n * local < n * in place. */
static enum xb_status compare_with_copying(const struct state *state, struct xb_result *result,
                                           struct xb_error *error)
{
    double copy = 0;
    double kernel = 0;
    double explicit_way = 0;
    double passes = (double)state->passes;
    double in_place = (double)result->bytes_moved / result->bandwidth.median / passes;
    enum xb_status status = xb_result_part_median(result, "copy", &copy, error);
    if (status == XB_OK)
        status = xb_result_part_median(result, "kernel", &kernel, error);
    if (status == XB_OK)
        status = xb_result_part_median(result, "explicit", &explicit_way, error);
    if (status != XB_OK || !(copy > 0) || !(kernel > 0) || !(explicit_way > 0))
        return status; /* not compared: latency, or no time for it */
    double gain = in_place - kernel / passes;
    xb_result_detail_number(result, "explicit_s", explicit_way);
    if (gain > 0)
        xb_result_detail_number(result, "break_even_passes", floor(copy / gain) + 1);
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    xb_result_detail_number(result, "passes", (double)state->passes);
    enum xb_status status = compare_with_copying(state, result, error);
    if (status == XB_OK)
        status = xb_transfer_verify(context, result, error);
    return status;
}

static const struct xb_option *const options[] = {&option_access, &option_passes, NULL};

const struct xb_mode xb_mode_zero_copy = {
    .name = "zero-copy",
    .summary = "kernels that read or write mapped host memory in place",
    .description =
        "A kernel goes through a buffer of page-locked host memory that is mapped into the "
        "device's address space: h2d reads it and writes device memory, d2h reads device memory "
        "and writes it. Every word crosses the link once a pass, by the device's cores and not by "
        "its copy engine. Beside it the explicit way is timed, one copy and the same kernels on "
        "the device's own memory, and from both the number of passes from which on copying wins. "
        "The word of --access is the variant.",
    .directions = XB_H2D | XB_D2H,
    .by_default = XB_H2D | XB_D2H,
    .variant_option = &option_access,
    .options = options,
    .state_bytes = sizeof(struct state),
    .capabilities = capabilities,
    .needs = needs,
    .setup = setup,
    .references = references,
    .prepare = xb_transfer_prepare,
    .submit = submit,
    .verify = verify,
};
