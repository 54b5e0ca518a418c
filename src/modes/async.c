/* SPDX-License-Identifier: Apache-2.0 */
/* One buffer of host memory moved in chunks, spread over several queues, one way or both. */
#include "modes/readings/readings.h"
#include "shared_options.h"
#include "transfer.h"

static const struct xb_option option_streams = {
    XB_COUNTS("streams", "2", 1, 64,
              "How many queues (streams in CUDA and HIP) take the chunks in turn; for bidir, this "
              "many each way. A number, a list (1,2,4) or a range that doubles (1..16).")};

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    uint64_t chunk;
};

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    return xb_chunk_check(test, &xb_option_chunk, 2, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    state->chunk = xb_case_setting(context->test, &xb_option_chunk)->count;
    enum xb_status status =
        xb_transfer_setup(context, xb_case_setting(context->test, &option_streams)->count, error);
    context->operations_per_iteration =
        state->transfer.way_count * xb_chunk_count(context->test->bytes, state->chunk);
    return status;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_transfer *transfer = &state->transfer;
    uint64_t bytes = context->test->bytes;
    for (uint64_t i = 0; i < xb_chunk_count(bytes, state->chunk); i++) {
        struct xb_chunk chunk = xb_chunk_at(bytes, state->chunk, i);
        size_t stream = i % transfer->queues_per_way;
        for (size_t way = 0; way < transfer->way_count; way++) {
            const struct xb_way *by = &transfer->ways[way];
            XB_TRY(context->device->backend->queue_copy(
                context->queues[way * transfer->queues_per_way + stream], by->target,
                by->target_offset + chunk.offset, by->source, by->source_offset + chunk.offset,
                chunk.bytes, error));
        }
    }
    return XB_OK;
}

const struct xb_mode xb_mode_async = {
    .name = "async",
    .summary = "host memory in chunks over several streams, one way or both ways at once",
    .description = "Copies one buffer in chunks of --chunk, dealt in turn to --streams queues. The "
                   "time runs from the first chunk's start to the last chunk's end on the device. "
                   "Copies in one direction share one link, so one way shows what chunking costs, "
                   "not a gain; compare it with pinned. bidir moves a second buffer the other way "
                   "at the same time: the row shows the sum, each direction, and the share of the "
                   "time in which both ways moved data. With --host-memory pageable the calls "
                   "block until the data is moved: compare the times under SUBMIT and DONE.",
    .calls = "cudaMemcpyAsync() (hipMemcpyAsync) of a chunk, in turn on two streams of "
             "cudaStreamCreate(), from pinned memory. PyTorch: tensor.to(device, "
             "non_blocking=True) within torch.cuda.stream(...).",
    .directions = XB_H2D | XB_D2H | XB_BIDIR,
    .by_default = XB_H2D | XB_D2H,
    .simultaneous = true,
    .variant_option = &xb_option_host_memory,
    .names = XB_NAMES({"registered", "async"}, {"pageable", "async, pageable"},
                      {"alloc", "async, allocated"}, {"write-combined", "async, write-combined"}),
    .options = XB_OPTIONS(&xb_option_host_memory, &option_streams, &xb_option_chunk,
                          &xb_option_host_offset, &xb_option_device_offset),
    .parameters = XB_PARAMETERS({&xb_option_chunk, NULL}, {&option_streams, NULL},
                                {&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL}),
    .reading = XB_READING(XB_LINE("chunk", "XB-CHUNK", xb_parameter_say, &xb_option_chunk),
                          XB_LINE("streams", "XB-STREAMS", xb_parameter_say, &option_streams),
                          XB_LINE("alignment", "XB-ALIGNMENT", xb_alignment_say, NULL)),
    .say_first_thing = xb_pinning_advise,
    .figures = XB_FIGURES(&xb_figure_host_memory_rate, XB_COST_FIGURES),
    XB_HOOKS(struct state, xb_transfer_buffers, setup, xb_transfer_prepare, submit,
             xb_transfer_verify),
    .capabilities = xb_host_memory_capabilities,
    .check_options = check_options,
    .check = xb_transfer_check,
};
