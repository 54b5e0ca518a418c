/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that read or write the host's memory in place, across the link, without a copy. */
#include "shared_options.h"
#include "transfer.h"

#include "backends/verify.h"
#include "reading/reading.h"

#include <math.h>
#include <string.h>

static const struct xb_option option_passes = {
    XB_COUNTS("passes", "1", 1, 1000,
              "How often a kernel goes through all of the memory in one iteration: a number, a "
              "list (1,2,4) or a range that doubles (1..16).")};

static const struct xb_option option_in_place = {
    XB_CHOICES("in-place", "MEMORY", "mapped",
               "Which memory of the host kernels reach in place: 'mapped' page-locked and mapped "
               "memory; 'malloc' ordinary memory, where the GPU can (HMM or ATS, see list).",
               "mapped", "malloc")};

static bool is_ordinary(const struct xb_case *test)
{
    return xb_case_is(test, &option_in_place, "malloc");
}

static uint32_t capabilities(const struct xb_case *test)
{
    return xb_access_capabilities(test) | (is_ordinary(test) ? XB_CAP_PAGEABLE : XB_CAP_MAPPED);
}

struct state {
    struct xb_transfer transfer;        /* first: the shared hooks find it there */
    struct xb_buffer *staged[XB_SPANS]; /* on the device: each explicit way's other end */
    enum xb_access access;
    uint64_t passes;
};

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_transfer_take(test, is_ordinary(test) ? XB_MEMORY_PAGEABLE : XB_MEMORY_MAPPED, all);
    size_t ways = all->count / 2;
    for (size_t i = 0; i < ways; i++)
        xb_take(all, XB_OF_CASE, XB_MEMORY_DEVICE, test->bytes,
                offsetof(struct state, staged) + i * sizeof(struct xb_buffer *));
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_transfer *transfer = &state->transfer;
    state->access = (enum xb_access)xb_variant_number(context->test);
    state->passes = xb_case_setting(context->test, &option_passes)->count;
    XB_TRY(xb_transfer_setup(context, 1, error));
    context->one_iteration = is_ordinary(context->test);
    context->bytes_moved *= state->passes;
    for (size_t i = 0; i < context->span_count; i++)
        context->spans[i].bytes *= state->passes;
    /* The explicit way has a copy more. */
    context->operations_per_iteration = transfer->way_count * (state->passes + 1);
    return XB_OK;
}

/* Ordinary memory may have moved to the GPU, which touched it: the CPU fetches every page. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_transfer *transfer = &((struct state *)context->state)->transfer;
    (void)error;
    for (size_t way = 0; is_ordinary(context->test) && way < transfer->way_count; way++)
        (void)xb_host_read_pages(transfer->ways[way].host->host_address, context->test->bytes);
    return XB_OK;
}

/* Enqueues one kernel a pass, which copies from `source` to `target`. */
static enum xb_status run_passes(struct xb_mode_context *context, size_t way,
                                 struct xb_buffer *target, struct xb_buffer *source,
                                 struct xb_error *error)
{
    const struct state *state = context->state;
    for (uint64_t i = 0; i < state->passes; i++) {
        XB_TRY(context->device->backend->queue_kernel_copy(
            context->queues[way], target, 0, source, 0, context->test->bytes, state->access,
            (unsigned)state->transfer.way_count * context->kernels_together, error));
    }
    return XB_OK;
}

/* The explicit way: the copy engine moves the data once, and the same kernels work on the device's
 * own memory. Or one part of that. */
static enum xb_status submit_parts(struct xb_mode_context *context, bool copies, bool computes,
                                   struct xb_error *error)
{
    const struct state *state = context->state;
    for (size_t i = 0; i < state->transfer.way_count; i++) {
        const struct xb_way *way = &state->transfer.ways[i];
        struct xb_buffer *staged = state->staged[i];
        bool to_device = way->direction == XB_H2D;
        if (computes && !to_device)
            XB_TRY(run_passes(context, i, staged, way->device, error));
        if (copies)
            XB_TRY(context->device->backend->queue_copy(
                context->queues[i], to_device ? staged : way->host, 0,
                to_device ? way->host : staged, 0, context->test->bytes, error));
        if (computes && to_device)
            XB_TRY(run_passes(context, i, way->device, staged, error));
    }
    return XB_OK;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    for (size_t way = 0; way < state->transfer.way_count; way++)
        XB_TRY(run_passes(context, way, state->transfer.ways[way].target,
                          state->transfer.ways[way].source, error));
    return XB_OK;
}

XB_SUBMIT(submit_copy, submit_parts, true, false)
XB_SUBMIT(submit_kernel, submit_parts, false, true)
XB_SUBMIT(submit_explicit, submit_parts, true, true)

XB_OWN_FIGURE(TIME, copy_time, "The explicit way's copy alone");
XB_OWN_FIGURE(TIME, kernel_time, "The explicit way's kernels alone, on the device's own memory");
XB_OWN_FIGURE(TIME, explicit_time,
              "The explicit way: one copy, and the same kernels on the device's own memory");
XB_OWN_FIGURE(NUMBER, break_even_passes,
              "The fewest passes over the data with which copying it first is faster; 0 for never");

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    double copying = xb_result_median(result, &copy_time);
    double local = xb_result_median(result, &kernel_time);
    double passes = (double)state->passes;
    double pass = (double)result->bytes_moved / result->bandwidth.median / passes;
    /* From how many passes n on copying first is faster: copy + n * local < n * in place. */
    double gain = pass - local / passes;
    /* A latency case has no such times, nor has one cut short. */
    if (copying > 0 && local > 0 && xb_result_median(result, &explicit_time) > 0)
        xb_result_compute(result, &break_even_passes, gain > 0 ? floor(copying / gain) + 1 : 0);
    return xb_transfer_verify(context, result, error);
}

static void say_in_place(struct xb_reading *reading)
{
    const struct xb_record_case *test = xb_reading_best_of_any(reading, XB_H2D, NULL, "sequential");
    double passes = xb_reading_median(reading, test, &break_even_passes);
    /* Without the explicit way's time nothing was compared. Between 0 for never and 1 lies the
     * median of processes that contradict each other. */
    if (!(xb_reading_median(reading, test, &explicit_time) > 0) || (passes > 0 && passes < 1))
        return;
    xb_tell(reading,
            passes > 1 ? "Copy first if the kernel reads the data {whole:*} times or more: that is "
                         "faster than reading it in place."
            : passes >= 1
                ? "{+whole:*}Copy first: faster even if the kernel reads the data only once."
                : "{+whole:*}Read in place: copying first is not faster, however often the kernel "
                  "reads the data.",
            passes >= 1 ? ceil(passes) : 0, break_even_passes.name);
    xb_tell(reading,
            reading->bytes < XB_LARGE_BYTES ? " Starting the extra copy is not counted.{case}"
                                            : "{case}",
            test);
    if (passes >= 1 && passes <= 2)
        xb_remedy(reading, XB_EFFORT_LINES, (double)NAN,
                  "Copy data to the GPU before kernels read it ({call}) instead of letting them "
                  "read mapped host memory.",
                  XB_CALL_COPY_ASYNC);
}

static void say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow)
{
    struct xb_reading_gain gain;
    if (strcmp(slow->variant, "sequential") != 0 &&
        xb_reading_try(reading, slow, (struct xb_reading_way){"zero-copy", "sequential"}, &gain))
        xb_remedy(reading, XB_EFFORT_LINES, gain.most,
                  "Let kernels read and write mapped host memory in order: {text}.", gain.words);
}

const struct xb_mode xb_mode_zero_copy = {
    .name = "zero-copy",
    .summary = "kernels that read or write mapped host memory in place",
    .description =
        "A kernel goes through a buffer of page-locked host memory that is mapped into the "
        "device's address space: h2d reads it and writes device memory, d2h reads device memory "
        "and writes it. Every word crosses the link once a pass, by the device's cores and not by "
        "its copy engine. bidir is one such kernel each way at the same time, each with half of "
        "the cores and buffers of its own. Beside it the explicit way is timed: one copy, then "
        "the same kernels on the device's own memory. Both tell from how many passes copying is "
        "faster. The word of --access is the variant.",
    .calls = "cudaHostAlloc() with cudaHostAllocMapped (hipHostMalloc, hipHostMallocMapped) or "
             "cudaHostRegister() with cudaHostRegisterMapped; the kernel takes the pointer of "
             "cudaHostGetDevicePointer().",
    .directions = XB_H2D | XB_D2H | XB_BIDIR,
    .by_default = XB_H2D | XB_D2H,
    .simultaneous = true,
    .variant_option = &xb_option_access,
    .transfers = {.by_kernel = "sequential"},
    .names = XB_NAMES({"sequential", "zero-copy"}, {"strided", "zero-copy, strided"},
                      {"random", "zero-copy, random"}, {"bulk", "zero-copy, by TMA"}),
    .options = XB_OPTIONS(&xb_option_access, &option_passes, &option_in_place),
    .parameters = XB_PARAMETERS({&option_passes, NULL}, {&option_in_place, NULL}),
    .figures = XB_FIGURES(&copy_time, &kernel_time, &explicit_time, &break_even_passes),
    .reading = XB_READING({.label = "in place", .code = "XB-IN-PLACE", .say = say_in_place}),
    .say_first_thing = say_first_thing,
    XB_HOOKS(struct state, buffers, setup, xb_transfer_prepare, submit, verify),
    .restore = restore,
    .capabilities = capabilities,
    .references = XB_REFERENCES({.figure = &copy_time, .submit = submit_copy},
                                {.figure = &kernel_time, .submit = submit_kernel},
                                {.figure = &explicit_time, .submit = submit_explicit}),
};
