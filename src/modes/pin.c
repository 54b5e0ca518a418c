/* SPDX-License-Identifier: Apache-2.0 */
/* What page-locking memory costs, by each way that a program has, and when that has paid. */
#include "pin.h"

#include "proof.h"
#include "ring.h"
#include "shared_options.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <math.h>
#include <string.h>

const char *const xb_pin_words[] = {"alloc", "register", "used", "used-huge", "copy", NULL};

static const struct xb_option option_pin_by = {
    XB_CASES_OF(XB_OPTION_CHOICES, "pin-by", "WAY", "alloc,register,used,used-huge,copy",
                "How memory gets page-locked: 'alloc' the runtime allocates it; 'register' new "
                "memory in huge pages, touched and then registered; 'used' and 'used-huge' memory "
                "that a program has filled, registered where it lies, in pages of 4 KiB and of "
                "2 MiB; 'copy' leaves the data in ordinary memory and copies it through a "
                "page-locked buffer of its size."),
    .choices = xb_pin_words};

/* ---- cases ---- */

static uint32_t capabilities(const struct xb_case *test)
{
    enum xb_pin_way way = xb_variant_number(test);
    return way == XB_PIN_ALLOC || way == XB_PIN_COPY ? 0 : XB_CAP_REGISTER;
}

/* The memory that is page-locked and that which is not, of which `copy` needs both and any other
 * way the second for its references. */
static struct xb_needs needs(const struct xb_case *test)
{
    const struct xb_ring_plan plan = xb_ring_plan_usual(test->bytes);
    struct xb_needs needs = xb_transfer_needs(test);
    uint64_t most = INT64_MAX - xb_ring_bytes(&plan);
    uint64_t both = 2 * needs.host_bytes; /* sizes end at 63 bits */
    needs.host_bytes = (both < most ? both : most) + xb_ring_bytes(&plan);
    return needs;
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_variant_number(test) != XB_PIN_USED_HUGE || test->bytes >= XB_PIN_HUGE_PAGE)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "%llu bytes are less than a huge page of 2 MiB",
                   (unsigned long long)test->bytes);
}

/* ---- setup ---- */

/* Single operations have no references. */
static bool has_references(const struct xb_mode_context *context)
{
    return !context->test->latency;
}

/* What the references copy. Host buffer 0 would be taken for the case's own memory. */
static enum xb_status borrow_for_references(struct xb_mode_context *context,
                                            const struct xb_ring_plan *plan, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    uint64_t bytes = context->test->bytes;
    enum xb_status status = XB_OK;
    state->pageable = state->data;
    if (state->pageable == NULL) {
        status = xb_workspace_buffer(context->workspace, 1, XB_MEMORY_PAGEABLE, bytes,
                                     &state->pageable, error);
        if (status == XB_OK)
            xb_host_fill(state->pageable->host_address, 0, bytes,
                         xb_proof_before(context->test->seed));
    }
    return status == XB_OK ? xb_ring_open(context, plan, 2, &state->ring, error) : status;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    const struct xb_ring_plan plan = xb_ring_plan_usual(context->test->bytes);
    state->way = xb_variant_number(context->test);
    /* First of all: what the process has more of afterwards is what this took. */
    enum xb_status status = xb_pin_memory(context, error);
    if (status == XB_OK)
        status = xb_workspace_crew(context->workspace, plan.threads, &state->crew, error);
    if (status == XB_OK)
        status =
            xb_transfer_setup_on(context, state->data != NULL ? state->data : state->pinned, error);
    if (status == XB_OK && has_references(context))
        status = borrow_for_references(context, &plan, error);
    context->own_buffers[0] = state->pinned;
    context->own_buffers[1] = state->data;
    /* One clock for all, because host threads and calls that block are part of some. */
    context->host_timed = context->host_waits = true;
    context->hold = false;
    context->operations_per_iteration = xb_ring_operations(&plan, context->test->bytes);
    return status;
}

static void teardown(struct xb_mode_context *context)
{
    struct xb_pin *state = context->state;
    xb_ring_close(state->ring);
    xb_pin_release(context);
}

/* `copy` has a second place on the host, which must not hold what is to arrive either. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    if (state->data != NULL)
        xb_host_fill(state->pinned->host_address, 0, context->test->bytes,
                     context->test->direction == XB_H2D ? xb_proof_after(context->test->seed)
                                                        : xb_proof_before(context->test->seed));
    return xb_transfer_prepare(context, error);
}

/* ---- one iteration ---- */

/* How much a host thread copies at a time. */
#define COPY_CHUNK (UINT64_C(1) << 20)

struct host_copy {
    char *target;
    const char *source;
    uint64_t bytes;
};

static void copy_chunk(void *argument, uint64_t item, unsigned thread)
{
    const struct host_copy *copy = argument;
    struct xb_chunk chunk = xb_chunk_at(copy->bytes, COPY_CHUNK, item);
    (void)thread;
    memcpy(copy->target + chunk.offset, copy->source + chunk.offset, chunk.bytes);
}

static enum xb_status copy_on_host(const struct xb_mode_context *context, struct xb_buffer *target,
                                   const struct xb_buffer *source, struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    struct host_copy copy = {target->host_address, source->host_address, context->test->bytes};
    const struct xb_crew_job job = {
        .work = copy_chunk, .argument = &copy, .count = xb_chunk_count(copy.bytes, COPY_CHUNK)};
    if (job.count > 1)
        return xb_crew_run(state->crew, &job, error);
    copy_chunk(&copy, 0, 0); /* sooner done than another thread is awake */
    return XB_OK;
}

/* Between the device and host memory, on the first queue. */
static enum xb_status cross(const struct xb_mode_context *context, struct xb_buffer *host,
                            struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_buffer *device = state->transfer.ways[0].device;
    bool to_device = context->test->direction == XB_H2D;
    return backend->queue_copy(context->queues[0], to_device ? device : host, 0,
                               to_device ? host : device, 0, context->test->bytes, error);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    enum xb_status status = XB_OK;
    bool copies = state->data != NULL;
    bool to_device = context->test->direction == XB_H2D;
    if (copies && to_device)
        status = copy_on_host(context, state->pinned, state->data, error);
    if (status == XB_OK)
        status = cross(context, state->pinned, error);
    if (status != XB_OK || !copies || to_device)
        return status;
    status = context->device->backend->queue_wait(context->queues[0], error);
    return status == XB_OK ? copy_on_host(context, state->data, state->pinned, error) : status;
}

/* ---- what it is compared with ---- */

static enum xb_status submit_pageable(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    return cross(context, state->pageable, error);
}

static enum xb_status submit_ring(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    struct xb_buffer *device = state->transfer.ways[0].device;
    void *host = state->pageable->host_address;
    uint64_t bytes = context->test->bytes;
    return context->test->direction == XB_H2D
               ? xb_ring_to_device(state->ring, context->queues[0], device, 0, host, bytes, error)
               : xb_ring_to_host(state->ring, context->queues[0], host, device, 0, bytes, error);
}

const struct xb_figure xb_figure_pageable_time = {XB_FIGURE_TIME(
    "pageable_time", "The same bytes from or to ordinary memory by the runtime's own copy")};
const struct xb_figure xb_figure_ring_time = {XB_FIGURE_TIME(
    "ring_time",
    "The same bytes from or to ordinary memory by host threads through a page-locked ring")};
const struct xb_figure xb_figure_break_even_copies = {XB_FIGURE_NUMBER(
    "break_even_copies", "After how many copies page-locking has paid against the runtime's copies "
                         "of ordinary memory; none where it never does")};
const struct xb_figure xb_figure_break_even_copies_ring = {
    XB_FIGURE_NUMBER("break_even_copies_ring", "The same against a page-locked ring")};

static double low_end(const struct xb_statistics *s)
{
    return s->has_interval ? s->ci95_low : s->min;
}

static double high_end(const struct xb_statistics *s)
{
    return s->has_interval ? s->ci95_high : s->max;
}

enum xb_pin_outcome xb_pin_judge(double bytes, const struct xb_statistics *bandwidth,
                                 const struct xb_statistics *reference)
{
    if (bytes / low_end(bandwidth) < low_end(reference))
        return XB_PIN_PAYS;
    return bytes / high_end(bandwidth) >= high_end(reference) ? XB_PIN_NEVER_PAYS : XB_PIN_UNSURE;
}

/* NULL where there was no time for it. */
static const struct xb_samples *samples_of(const struct xb_result *result,
                                           const struct xb_figure *figure)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == figure)
            return &result->figures[i].samples;
    return NULL;
}

/* The least n with setup + n * own <= n * other, where `gain` is other - own. */
static double copies_until_paid(double setup, double gain)
{
    return fmax(1, ceil(setup / gain));
}

/* What the ends of the intervals say may be so many times what the medians say. */
#define MOST_APART 2.0

/* Adds after how many copies it has paid, or says why there is no such number. */
static enum xb_status add_break_even(struct xb_result *result, const struct xb_figure *reference,
                                     const struct xb_figure *copies, const char *detail,
                                     struct xb_error *error)
{
    double setup = 0;
    double bytes = (double)result->bytes_moved;
    const struct xb_samples *samples = samples_of(result, reference);
    struct xb_statistics other;
    if (samples == NULL)
        return XB_OK;
    XB_TRY(xb_statistics_compute(samples->values, samples->count, &other, error));
    XB_TRY(xb_result_median(result, &xb_figure_setup_time, &setup, error));
    enum xb_pin_outcome outcome = xb_pin_judge(bytes, &result->bandwidth, &other);
    double count = copies_until_paid(setup, other.median - bytes / result->bandwidth.median);
    double most = copies_until_paid(setup, low_end(&other) - bytes / low_end(&result->bandwidth));
    if (outcome == XB_PIN_PAYS && most <= MOST_APART * count)
        xb_result_compute(result, copies, count);
    else
        xb_result_detail_text(result, detail, "%s",
                              outcome == XB_PIN_NEVER_PAYS ? "never" : "too close to tell");
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    XB_TRY(xb_transfer_verify(context, result, error));
    xb_pin_undo(context); /* so that it is timed as often as the other */
    XB_TRY(xb_pin_tell(context, result, error));
    XB_TRY(add_break_even(result, &xb_figure_pageable_time, &xb_figure_break_even_copies,
                          "pays_against_pageable", error));
    return add_break_even(result, &xb_figure_ring_time, &xb_figure_break_even_copies_ring,
                          "pays_against_ring", error);
}

const struct xb_mode xb_mode_pin = {
    .name = "pin",
    .summary = "what page-locking memory costs, and after how many copies it has paid",
    .description =
        "Page-locks (pins) memory in each way of --pin-by, several times, and says how long that "
        "takes (setup_time), how long undoing it takes (unpin_time) and how much memory it needed "
        "at most. The bandwidth is that of one copy from or to such memory; 'copy' includes the "
        "copy that host threads make between it and ordinary memory. The host's clock times all "
        "until the data is there. Beside it stand the same copy of ordinary memory by the runtime "
        "(pageable_time) and through a page-locked ring that host threads feed (ring_time), and "
        "after how many copies page-locking has paid against each. Checks every byte of the copy "
        "itself, none of those two. --mode all leaves this mode out.",
    .calls = "cudaMallocHost() (hipHostMalloc) or cudaHostRegister() (hipHostRegister), once, and "
             "cudaFreeHost() (hipHostFree) or cudaHostUnregister() (hipHostUnregister) at the end.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .only_named = true,
    .variant_option = &option_pin_by,
    .names = XB_NAMES({"alloc", "pin: allocate"}, {"register", "pin: register"},
                      {"used", "pin: used memory"}, {"used-huge", "pin: used, huge pages"},
                      {"copy", "pin: copy once"}),
    .headline = &xb_figure_setup_time,
    .options = XB_OPTIONS(&option_pin_by),
    .figures =
        XB_FIGURES(&xb_figure_setup_time, &xb_figure_unpin_time, &xb_figure_peak_host_memory,
                   &xb_figure_peak_device_memory, &xb_figure_pageable_time, &xb_figure_ring_time,
                   &xb_figure_break_even_copies, &xb_figure_break_even_copies_ring),
    .reading = xb_pin_reading,
    .answer = xb_pin_say_cost,
    .state_bytes = sizeof(struct xb_pin),
    .capabilities = capabilities,
    .needs = needs,
    .check = check,
    .setup = setup,
    .references = XB_REFERENCES({.figure = &xb_figure_pageable_time,
                                 .submit = submit_pageable,
                                 .has_interval = true,
                                 .is_wanted = has_references},
                                {.figure = &xb_figure_ring_time,
                                 .submit = submit_ring,
                                 .has_interval = true,
                                 .is_wanted = has_references}),
    .prepare = prepare,
    .submit = submit,
    .verify = verify,
    .teardown = teardown,
};
