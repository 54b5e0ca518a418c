/* SPDX-License-Identifier: Apache-2.0 */
/* What a load takes: from the host's memory and from the device's own. */
#include "loads.h"
#include "modes/readings/readings.h"
#include "proof.h"
#include "shared_options.h"

#include <stdio.h>

const struct xb_figure xb_figure_load_latency = {
    XB_FIGURE_TIME("load_latency", "One load by one thread; each load waits for the one before"),
    .gates = true};

enum xb_status xb_chase_check_size(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (test->bytes >= XB_CHASE_LEAST_BYTES)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%s goes through %s or more, so that no sample loads a line twice",
                   test->mode->name, XB_SIZE_TEXT(XB_CHASE_LEAST_BYTES));
}

void xb_chase_buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_take(all, XB_OF_CASE, test->direction == XB_H2D ? XB_MEMORY_MAPPED : XB_MEMORY_DEVICE,
            test->bytes, offsetof(struct xb_chase, chain));
}

/* Follows the chain from where it stands. */
static enum xb_status follow(struct xb_chase *chase, uint64_t loads, struct xb_error *error)
{
    XB_TRY(chase->reader->device->backend->queue_chase(
        chase->reader, chase->chain, chase->cursor, loads,
        (unsigned)(chase->loads / XB_CHASE_LOADS), chase->access == XB_ACCESS_BULK, error));
    chase->loads += loads;
    return XB_OK;
}

enum xb_status xb_chase_submit(struct xb_mode_context *context, struct xb_error *error)
{
    return follow(context->state, XB_CHASE_LOADS, error);
}

enum xb_status xb_chase_setup(struct xb_mode_context *context, struct xb_workspace *reader,
                              struct xb_error *error)
{
    struct xb_chase *chase = context->state;
    struct xb_queue **queues = NULL;
    uint64_t bytes = context->test->bytes;
    const uint64_t one = sizeof(uint64_t);
    chase->access = (enum xb_access)xb_variant_number(context->test);
    XB_TRY(xb_workspace_queues(reader, 1, &context->queues, error));
    chase->reader = context->queues[0];
    context->queue_count = 1;
    context->operations_per_iteration = 1;
    context->bytes_moved = XB_CHASE_LOADS * sizeof(uint64_t);
    context->hold = true;
    XB_TRY(xb_borrow(context, NULL, 0, error));
    /* Next to nothing, which nobody counts. */
    XB_TRY(xb_workspace_buffer(reader, 1, XB_MEMORY_DEVICE, one, false, &chase->cursor, error));
    XB_TRY(xb_workspace_buffer(reader, 1, XB_MEMORY_PINNED, one, false, &chase->word, error));
    XB_TRY(xb_workspace_queues(context->workspace, 1, &queues, error));
    const struct xb_backend *backend = queues[0]->device->backend;
    XB_TRY(backend->queue_chain(queues[0], chase->chain, bytes, chase->access, error));
    XB_TRY(backend->queue_wait(queues[0], error));
    /* Only copies reach the cursor. */
    *(uint64_t *)chase->word->host_address = xb_chain_offset(chase->access, bytes, 0);
    XB_TRY(xb_copy_and_wait(chase->reader, chase->cursor, 0, chase->word, 0, one, error));
    /* By default a sample goes round once: without a load more a kernel that does nothing would end
     * where it must. */
    XB_TRY(follow(chase, 1, error));
    return backend->queue_wait(chase->reader, error);
}

enum xb_status xb_chase_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    (void)context;
    (void)error;
    return XB_OK;
}

enum xb_status xb_chase_verify(struct xb_mode_context *context, struct xb_result *result,
                               struct xb_error *error)
{
    const struct xb_chase *chase = context->state;
    for (size_t i = 0; i < result->times.count; i++) {
        double latency = result->times.values[i] / (double)XB_CHASE_LOADS;
        XB_TRY(xb_result_sample(result, &xb_figure_load_latency, latency, error));
    }
    xb_result_detail_number(result, "loads_per_sample", (double)XB_CHASE_LOADS);
    xb_result_detail_text(result, "verified_by", "the end of the chain");
    XB_TRY(
        xb_copy_and_wait(chase->reader, chase->word, 0, chase->cursor, 0, sizeof(uint64_t), error));
    uint64_t end = *(const uint64_t *)chase->word->host_address;
    uint64_t right = xb_chain_offset(chase->access, context->test->bytes, chase->loads);
    result->row.verified = end == right ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (end != right)
        snprintf(result->reason, sizeof result->reason,
                 "the chain ended at byte %llu and not at %llu: at least one of %llu loads "
                 "brought a wrong word",
                 (unsigned long long)end, (unsigned long long)right,
                 (unsigned long long)chase->loads);
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_chase_setup(context, context->workspace, error);
}

const struct xb_mode xb_mode_loads = {
    .name = "loads",
    .summary = "the latency of a load from the host's memory and from the GPU's own",
    .description =
        "One thread follows a chain through memory: each load brings the address of the next and "
        "waits for the one before. h2d goes through page-locked host memory that is mapped into "
        "the device's address space, d2d through the device's own. A sample is 16384 loads, each "
        "of a line of 128 bytes; the figure is the time of one. --size says how much memory the "
        "chain goes through: by default 2 MiB, which most devices' caches hold if it is their own "
        "memory. Sequential loads seldom have to look up where a page lies, random ones in much "
        "memory nearly always. The word of --access is the variant. --mode all has this mode only "
        "with --latency.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2D),
    .names = XB_NAMES({"random", "loads, random"}, {"sequential", "loads in order"},
                      {"bulk", "loads by TMA"}),
    .options = XB_OPTIONS(&xb_option_access),
    .reading = XB_READING({.label = "loads", .code = "XB-LOADS", .say = xb_loads_say}),
    .answer = xb_loads_say,
    XB_HOOKS(struct xb_chase, xb_chase_buffers, setup, xb_chase_prepare, xb_chase_submit,
             xb_chase_verify),
    .capabilities = xb_mapped_capabilities,
    .check = xb_chase_check_size,
    XB_CHASE_MODE,
};
