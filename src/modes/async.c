/* SPDX-License-Identifier: Apache-2.0 */
/* One buffer of page-locked host memory moved in chunks that are spread over several queues. */
#include "shared_options.h"
#include "transfer.h"

#include "xferbench/result.h"

static const struct xb_option option_streams = {
    .name = "streams",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .default_text = "2",
    .help = "How many queues (CUDA and HIP call them streams) take the chunks in turn.",
    .minimum = 1,
    .maximum = 64,
};

static const struct xb_option option_chunk = {
    .name = "chunk",
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .default_text = "16M",
    .help = "How much one operation moves; the last chunk may be shorter.",
    .minimum = 1,
    .maximum = INT64_MAX,
};

/* More would be seconds of enqueuing that nothing can interrupt. */
#define MAX_OPERATIONS UINT64_C(1000000)

/* Rounded up without adding first: the sum could overflow. */
static uint64_t chunk_count(uint64_t bytes, uint64_t chunk)
{
    return bytes / chunk + (bytes % chunk != 0);
}

static enum xb_status check(const struct xb_case *test, const struct xb_config *config,
                            const struct xb_device_info *device, struct xb_error *error)
{
    (void)device;
    uint64_t chunk = xb_config_get(config, "chunk")->count;
    uint64_t count = chunk_count(test->bytes, chunk);
    if (count > MAX_OPERATIONS)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%llu bytes in chunks of %llu are %llu operations an iteration, and at most "
                       "%llu are enqueued; take a larger --chunk",
                       (unsigned long long)test->bytes, (unsigned long long)chunk,
                       (unsigned long long)count, (unsigned long long)MAX_OPERATIONS);
    return XB_OK;
}

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    uint64_t chunk;
};

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    state->chunk = xb_config_get(context->config, "chunk")->count;
    enum xb_status status =
        xb_transfer_setup(context, xb_host_memory_of(context->test->variant),
                          xb_config_get(context->config, "streams")->count, error);
    context->operations_per_iteration = chunk_count(context->test->bytes, state->chunk);
    return status;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_transfer *transfer = &state->transfer;
    uint64_t bytes = context->test->bytes;
    size_t queue = 0;
    for (uint64_t offset = 0; offset < bytes; offset += state->chunk) {
        uint64_t part = bytes - offset < state->chunk ? bytes - offset : state->chunk;
        enum xb_status status =
            context->device->backend->queue_copy(context->queues[queue], transfer->target, offset,
                                                 transfer->source, offset, part, error);
        if (status != XB_OK)
            return status;
        queue = (queue + 1) % context->queue_count;
    }
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    xb_result_detail_number(result, "streams", (double)context->queue_count);
    xb_result_detail_number(result, "chunk_bytes", (double)state->chunk);
    return xb_transfer_verify(context, result, error);
}

static const struct xb_option *const options[] = {&xb_option_host_memory, &option_streams,
                                                  &option_chunk, NULL};

const struct xb_mode xb_mode_async = {
    .name = "async",
    .summary = "page-locked host memory in chunks over several streams",
    .description =
        "Copies one buffer of page-locked host memory in chunks of --chunk, dealt in turn to "
        "--streams queues, all in one direction. The time runs from the first chunk's start to the "
        "last chunk's end on the device. Copies in one direction share one link, so this shows "
        "what "
        "chunking costs, not a gain; compare it with pinned.",
    .directions = XB_H2D | XB_D2H,
    .variant_option = &xb_option_host_memory,
    .options = options,
    .state_bytes = sizeof(struct state),
    .capabilities = xb_host_memory_capabilities,
    .needs = xb_transfer_needs,
    .check = check,
    .setup = setup,
    .prepare = xb_transfer_prepare,
    .submit = submit,
    .verify = verify,
};
