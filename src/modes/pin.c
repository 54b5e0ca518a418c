/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* base/clock.h */
/* What page-locking memory costs, by each way that a program has, and when that has paid. */
#include "pin.h"

#include "modes/readings/readings.h"
#include "proof.h"
#include "ring.h"
#include "transfer.h"

#include "backends/verify.h"
#include "base/clock.h"
#include "measure/run.h"

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

#define HUGE_PAGE (UINT64_C(2) << 20)

/* What the kernel and the device count. */
struct counts {
    bool has_host, has_huge;
    struct xb_process_memory host;
    uint64_t huge, free; /* in huge pages; on the device, unless it shares the host's memory */
};

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    enum xb_pin_way way;
    void *used;             /* memory of ours that is page-locked in place; NULL: none */
    struct xb_buffer *data; /* of `copy` the memory that the data stays in; NULL: none */
    struct xb_buffer *pinned;
    struct xb_buffer *pageable; /* what the references copy: `data`, or other memory like it */
    struct xb_buffer *slots;    /* of the ring */
    struct xb_ring *ring;       /* NULL: none */
    struct xb_crew *crew;
    double setup_times[XB_PIN_MOST], unpin_times[XB_PIN_MOST]; /* seconds */
    size_t setup_count, unpin_count;
    /* Right before the data had memory, from when on `highest` of the second counts if it was
     * `restarted`, and right after it was page-locked for the first time. */
    struct counts before, after;
    bool restarted;
};

static uint32_t capabilities(const struct xb_case *test)
{
    enum xb_pin_way way = xb_variant_number(test);
    return way == XB_PIN_ALLOC || way == XB_PIN_COPY ? 0 : XB_CAP_REGISTER;
}

/* The memory that is page-locked and that which is not, of which `copy` needs both and any other
 * way the second for its references: single operations have none. Host buffer 0 would be taken for
 * the case's own memory. */
static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    const struct xb_ring_plan plan = xb_ring_plan_usual(test->bytes);
    xb_transfer_buffers(test, all);
    xb_take(all, test->latency ? XB_COUNTED : XB_OF_CASE, XB_MEMORY_PAGEABLE, test->bytes,
            offsetof(struct state, pageable));
    xb_take(all, test->latency ? XB_COUNTED : XB_FIXED, XB_MEMORY_PINNED, xb_ring_bytes(&plan),
            offsetof(struct state, slots));
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (xb_variant_number(test) != XB_PIN_USED_HUGE || test->bytes >= HUGE_PAGE)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "%llu bytes are less than a huge page of 2 MiB",
                   (unsigned long long)test->bytes);
}

/* What a program has filled before anyone thinks of page-locking it. */
static enum xb_status make_data(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    uint64_t bytes = context->test->bytes;
    if (state->way == XB_PIN_COPY)
        return context->device->backend->buffer_allocate(context->device, XB_MEMORY_PAGEABLE, bytes,
                                                         &state->data, error);
    if (state->way != XB_PIN_USED && state->way != XB_PIN_USED_HUGE)
        return XB_OK;
    XB_TRY((state->way == XB_PIN_USED ? xb_pages_map_small : xb_pages_map_huge)(bytes, &state->used,
                                                                                error));
    xb_host_fill(state->used, 0, bytes, xb_proof_before(context->test->seed));
    return XB_OK;
}

static void release(const struct xb_mode_context *context, struct xb_buffer **buffer)
{
    context->device->backend->buffer_free(*buffer);
    *buffer = NULL;
}

/* Undoes the page-lock and times that. */
static void undo(struct xb_mode_context *context)
{
    struct state *state = context->state;
    double begin = xb_clock_now();
    release(context, &state->pinned);
    state->unpin_times[state->unpin_count++] = xb_clock_now() - begin;
    context->own_buffers[0] = NULL;
}

static enum xb_status count(const struct xb_mode_context *context, struct counts *counts,
                            struct xb_error *error)
{
    counts->has_host = xb_process_memory_read(&counts->host);
    counts->has_huge = xb_process_memory_huge(&counts->huge);
    if (context->device->info.shares_host_memory) /* nobody can tell whose it is */
        return XB_OK;
    return context->device->backend->device_memory(context->device, &counts->free, error);
}

/* The check that there is memory is ours, and not part of what a program pays: it is made before
 * the clock starts. Memory in use was checked for when it was made. */
static enum xb_status take_sample(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = context->test->bytes;
    enum xb_memory memory = state->way == XB_PIN_REGISTER ? XB_MEMORY_REGISTERED : XB_MEMORY_PINNED;
    if (xb_run_should_stop(context->run))
        return XB_FAIL(error, XB_ERR_STOPPED, "page-locking was not finished");
    if (state->used == NULL)
        XB_TRY(xb_host_memory_check(bytes, error));
    xb_host_memory_trust(true);
    double begin = xb_clock_now();
    enum xb_status status =
        state->used != NULL
            ? backend->buffer_register(context->device, state->used, bytes, &state->pinned, error)
            : backend->buffer_allocate(context->device, memory, bytes, &state->pinned, error);
    state->setup_times[state->setup_count++] = xb_clock_now() - begin;
    xb_host_memory_trust(false);
    return status;
}

/* Makes the memory of the data where it is there before it is page-locked, then page-locks, times
 * that, undoes it and does it again, and leaves it page-locked. */
static enum xb_status make_memory(struct xb_mode_context *context, struct xb_error *error)
{
    xb_workspace_give_up_idle(context->workspace);
    struct state *state = context->state;
    state->restarted = xb_process_memory_restart();
    XB_TRY(count(context, &state->before, error));
    XB_TRY(make_data(context, error));
    double limit = context->test->asked->time_limit;
    double begin = xb_clock_now();
    do {
        if (state->setup_count > 0)
            undo(context);
        XB_TRY(take_sample(context, error));
        if (state->setup_count == 1)
            XB_TRY(count(context, &state->after, error));
    } while (state->setup_count < XB_PIN_LEAST ||
             (state->setup_count < XB_PIN_MOST && xb_clock_now() - begin < limit));
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    uint64_t bytes = context->test->bytes;
    const struct xb_ring_plan plan = xb_ring_plan_usual(bytes);
    state->way = xb_variant_number(context->test);
    /* First of all: what the process has more of afterwards is what this took. */
    XB_TRY(make_memory(context, error));
    context->own_buffers[0] = state->pinned;
    context->own_buffers[1] = state->data;
    XB_TRY(xb_workspace_crew(context->workspace, plan.threads, &state->crew, error));
    struct xb_buffer *host = state->data != NULL ? state->data : state->pinned;
    state->transfer.ways[0].host = host;
    state->pageable = state->data;
    XB_TRY(xb_transfer_setup(context, 1, error));
    /* One clock for all, because host threads and calls that block are part of some. */
    context->host_timed = context->host_waits = true;
    context->hold = false;
    context->operations_per_iteration = xb_ring_operations(&plan, bytes);
    if (state->pageable != state->data)
        xb_host_fill(state->pageable->host_address, 0, bytes, xb_proof_before(context->test->seed));
    return state->slots == NULL ? XB_OK
                                : xb_ring_open(context, &plan, state->slots, &state->ring, error);
}

static void teardown(struct xb_mode_context *context)
{
    struct state *state = context->state;
    xb_ring_close(state->ring);
    release(context, &state->pinned);
    release(context, &state->data);
    xb_pages_unmap(state->used, context->test->bytes);
}

/* `copy` has a second place on the host, which must not hold what is to arrive either. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    if (state->data != NULL)
        xb_host_fill(state->pinned->host_address, 0, context->test->bytes,
                     context->test->direction == XB_H2D ? xb_proof_after(context->test->seed)
                                                        : xb_proof_before(context->test->seed));
    return xb_transfer_prepare(context, error);
}

/* How much a host thread copies at a time. */
#define COPY_CHUNK (UINT64_C(1) << 20)

/* Between the data and the memory that is page-locked. */
static void copy_chunk(void *argument, uint64_t item, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    const struct state *state = context->state;
    struct xb_chunk chunk = xb_chunk_at(context->test->bytes, COPY_CHUNK, item);
    char *data = (char *)state->data->host_address + chunk.offset;
    char *pinned = (char *)state->pinned->host_address + chunk.offset;
    bool to_device = context->test->direction == XB_H2D;
    (void)thread;
    memcpy(to_device ? pinned : data, to_device ? data : pinned, chunk.bytes);
}

static enum xb_status copy_on_host(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_crew_job job = {.work = copy_chunk,
                                    .argument = context,
                                    .count = xb_chunk_count(context->test->bytes, COPY_CHUNK)};
    if (job.count > 1)
        return xb_crew_run(state->crew, &job, error);
    copy_chunk(context, 0, 0); /* sooner done than another thread is awake */
    return XB_OK;
}

/* Between the device and host memory, on the first queue. */
static enum xb_status cross(const struct xb_mode_context *context, struct xb_buffer *host,
                            struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_buffer *device = state->transfer.ways[0].device;
    bool to_device = context->test->direction == XB_H2D;
    return backend->queue_copy(context->queues[0], to_device ? device : host, 0,
                               to_device ? host : device, 0, context->test->bytes, error);
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    bool to_device = context->test->direction == XB_H2D;
    if (state->data != NULL && to_device)
        XB_TRY(copy_on_host(context, error));
    XB_TRY(cross(context, state->pinned, error));
    if (state->data == NULL || to_device)
        return XB_OK;
    XB_TRY(context->device->backend->queue_wait(context->queues[0], error));
    return copy_on_host(context, error);
}

static enum xb_status submit_pageable(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    return cross(context, state->pageable, error);
}

static enum xb_status submit_ring(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_ring_copy copy = {.to_device = context->test->direction == XB_H2D,
                                      .queue = context->queues[0],
                                      .device = state->transfer.ways[0].device,
                                      .host = state->pageable->host_address,
                                      .bytes = context->test->bytes};
    return xb_ring_submit(state->ring, &copy, error);
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

/* What the ends of the intervals say may be so many times what the medians say. */
#define MOST_APART 2.0

/* Adds after how many copies it has paid, or says why there is no such number. */
static enum xb_status add_break_even(struct xb_result *result, const struct xb_figure *reference,
                                     const struct xb_figure *copies, const char *detail,
                                     struct xb_error *error)
{
    double setup = xb_result_median(result, &xb_figure_setup_time);
    double bytes = (double)result->bytes_moved;
    const struct xb_samples *samples = NULL; /* where there was no time for it */
    struct xb_statistics other;
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == reference)
            samples = &result->figures[i].samples;
    if (samples == NULL)
        return XB_OK;
    XB_TRY(xb_statistics_compute(samples->values, samples->count, &other, error));
    enum xb_pin_outcome outcome = xb_pin_judge(bytes, &result->bandwidth, &other);
    /* The least n with setup + n * own <= n * other: by the medians, and at most. */
    double gain = other.median - bytes / result->bandwidth.median;
    double least_gain = xb_pin_low_end(&other) - bytes / xb_pin_low_end(&result->bandwidth);
    double count = fmax(1, ceil(setup / gain));
    double most = fmax(1, ceil(setup / least_gain));
    if (outcome == XB_PIN_PAYS && most <= MOST_APART * count)
        xb_result_compute(result, copies, count);
    else
        xb_result_detail_text(result, detail, "%s",
                              outcome == XB_PIN_NEVER_PAYS ? "never" : "too close to tell");
    return XB_OK;
}

XB_OWN_FIGURE(TIME, unpin_time,
              "How long undoing the page-lock takes; includes freeing memory that was made for it");
const struct xb_figure xb_figure_pin_peak_host_memory = {XB_FIGURE(
    "peak_host_memory", XB_UNIT_BYTES,
    "The most memory that the process used until the data was page-locked, less what it used "
    "before the data had any: --size, or twice that if the data stays in place and is copied")};
static const struct xb_figure peak_device_memory = {XB_FIGURE(
    "peak_device_memory", XB_UNIT_BYTES,
    "Device memory that page-locking host memory takes, without what the data takes there")};

static double more(uint64_t after, uint64_t before)
{
    return after > before ? (double)(after - before) : 0;
}

static void tell_host_memory(const struct state *state, struct xb_result *result)
{
    const struct xb_process_memory *before = &state->before.host, *after = &state->after.host;
    if (!state->before.has_host || !state->after.has_host) {
        xb_result_detail_text(result, "host_memory_by", "nothing: no VmRSS in /proc/self/status");
        return;
    }
    bool has_peak = state->restarted && after->highest > 0;
    xb_result_compute(result, &xb_figure_pin_peak_host_memory,
                      more(has_peak ? after->highest : after->resident, before->resident));
    xb_result_detail_text(result, "host_memory_by", "%s",
                          has_peak ? "VmHWM" : "VmRSS after it: VmHWM cannot be restarted here");
    xb_result_detail_number(result, "rss_anon_bytes", more(after->anonymous, before->anonymous));
    xb_result_detail_number(result, "rss_file_bytes", more(after->file, before->file));
    xb_result_detail_number(result, "rss_shmem_bytes", more(after->shared, before->shared));
    xb_result_detail_number(result, "locked_bytes", more(after->locked, before->locked));
    xb_result_detail_number(result, "pinned_bytes", more(after->pinned, before->pinned));
}

/* Below this share of the huge pages that fit a way is not what its name says. */
#define MOSTLY 0.9

static void tell_huge_pages(const struct state *state, struct xb_result *result)
{
    uint64_t whole = result->test.bytes / HUGE_PAGE * HUGE_PAGE;
    if (!state->before.has_huge || !state->after.has_huge)
        return;
    double huge = more(state->after.huge, state->before.huge);
    xb_result_detail_number(result, "huge_page_bytes", huge);
    bool wants_huge = state->way == XB_PIN_USED_HUGE || state->way == XB_PIN_REGISTER;
    if (wants_huge && huge < MOSTLY * (double)whole)
        xb_result_warn(result,
                       "the kernel gave huge pages for %.0f of %llu bytes: see "
                       "/sys/kernel/mm/transparent_hugepage/enabled",
                       huge, (unsigned long long)whole);
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    XB_TRY(xb_transfer_verify(context, result, error));
    if (state->way == XB_PIN_COPY)
        xb_host_rate_tell(context, result);
    undo(context); /* so that it is timed as often as the other */
    for (size_t i = 0; i < state->setup_count; i++)
        XB_TRY(xb_result_sample(result, &xb_figure_setup_time, state->setup_times[i], error));
    for (size_t i = 0; i < state->unpin_count; i++)
        XB_TRY(xb_result_sample(result, &unpin_time, state->unpin_times[i], error));
    tell_host_memory(state, result);
    tell_huge_pages(state, result);
    if (!context->device->info.shares_host_memory)
        xb_result_compute(result, &peak_device_memory, more(state->before.free, state->after.free));
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
    .figures = XB_FIGURES(&xb_figure_setup_time, &unpin_time, &xb_figure_pin_peak_host_memory,
                          &peak_device_memory, &xb_figure_pageable_time, &xb_figure_ring_time,
                          &xb_figure_break_even_copies, &xb_figure_break_even_copies_ring,
                          &xb_figure_host_memory_rate),
    .reading = xb_pin_reading,
    .answer = xb_pin_say_cost,
    XB_HOOKS(struct state, buffers, setup, prepare, submit, verify),
    .capabilities = capabilities,
    .check = check,
    .references = XB_REFERENCES(
        {.figure = &xb_figure_pageable_time, .submit = submit_pageable, .has_interval = true},
        {.figure = &xb_figure_ring_time, .submit = submit_ring, .has_interval = true}),
    .teardown = teardown,
};
