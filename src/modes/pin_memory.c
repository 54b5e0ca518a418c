/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* base/clock.h */
/* Page-locks memory in each of the ways, and says what that takes. */
#include "pin.h"

#include "proof.h"

#include "base/clock.h"
#include "machine/host_memory.h"
#include "measure/run.h"
#include "xferbench/result.h"
#include "xferbench/workspace.h"

/* ---- the memory ---- */

/* What a program has filled before anyone thinks of page-locking it. */
static enum xb_status make_data(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    uint64_t bytes = context->test->bytes;
    enum xb_status status = XB_OK;
    switch (state->way) {
    case XB_PIN_ALLOC:
    case XB_PIN_REGISTER:
        return XB_OK;
    case XB_PIN_USED:
        status = xb_pages_map_small(bytes, &state->used, error);
        break;
    case XB_PIN_USED_HUGE:
        status = xb_pages_map_huge(bytes, &state->used, error);
        break;
    case XB_PIN_COPY:
        return context->device->backend->buffer_allocate(context->device, XB_MEMORY_PAGEABLE, bytes,
                                                         &state->data, error);
    }
    if (status == XB_OK)
        xb_host_fill(state->used, 0, bytes, xb_proof_before(context->test->seed));
    return status;
}

static enum xb_status lock(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    uint64_t bytes = context->test->bytes;
    if (state->used != NULL)
        return backend->buffer_register(context->device, state->used, bytes, &state->pinned, error);
    return backend->buffer_allocate(
        context->device, state->way == XB_PIN_REGISTER ? XB_MEMORY_REGISTERED : XB_MEMORY_PINNED,
        bytes, &state->pinned, error);
}

/* ---- what is counted ---- */

static enum xb_status count_device(const struct xb_mode_context *context, uint64_t *free_bytes,
                                   struct xb_error *error)
{
    return context->device->backend->device_memory(context->device, free_bytes, error);
}

static enum xb_status count_after(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    struct xb_pin_counts *counts = &state->counts;
    counts->on_host = counts->on_host && xb_process_memory_read(&counts->after);
    counts->huge = counts->huge && xb_process_memory_huge(&counts->huge_after);
    return counts->on_device ? count_device(context, &counts->device_after, error) : XB_OK;
}

/* ---- sampling ---- */

static bool is_enough(const struct xb_mode_context *context, double begin)
{
    const struct xb_pin *state = context->state;
    if (state->setup_count < XB_PIN_LEAST)
        return false;
    return state->setup_count == XB_PIN_MOST ||
           xb_clock_now() - begin >= context->test->asked->time_limit;
}

/* The check that there is memory is ours, and not part of what a program pays: it is made before
 * the clock starts. Memory in use was checked for when it was made. */
static enum xb_status lock_timed(struct xb_mode_context *context, double *seconds,
                                 struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    if (state->used == NULL)
        XB_TRY(xb_host_memory_check(context->test->bytes, error));
    xb_host_memory_trust(true);
    double begin = xb_clock_now();
    enum xb_status status = lock(context, error);
    *seconds = xb_clock_now() - begin;
    xb_host_memory_trust(false);
    return status;
}

static enum xb_status take_sample(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pin *state = context->state;
    if (xb_run_should_stop(context->run))
        return XB_FAIL(error, XB_ERR_STOPPED, "page-locking was not finished");
    XB_TRY(lock_timed(context, &state->setup_times[state->setup_count], error));
    state->setup_count++;
    return state->setup_count == 1 ? count_after(context, error) : XB_OK;
}

enum xb_status xb_pin_memory(struct xb_mode_context *context, struct xb_error *error)
{
    xb_workspace_give_up_idle(context->workspace);
    struct xb_pin *state = context->state;
    struct xb_pin_counts *counts = &state->counts;
    counts->huge = xb_process_memory_huge(&counts->huge_before);
    counts->restarted = xb_process_memory_restart();
    counts->on_host = xb_process_memory_read(&counts->before);
    /* Of a device that shares the host's memory nobody can tell whose it is. */
    counts->on_device = !context->device->info.shares_host_memory;
    enum xb_status status =
        counts->on_device ? count_device(context, &counts->device_before, error) : XB_OK;
    if (status == XB_OK)
        status = make_data(context, error);
    double begin = xb_clock_now();
    if (status == XB_OK)
        status = take_sample(context, error);
    while (status == XB_OK && !is_enough(context, begin)) {
        xb_pin_undo(context);
        status = take_sample(context, error);
    }
    return status;
}

static void release(const struct xb_mode_context *context, struct xb_buffer **buffer)
{
    context->device->backend->buffer_free(*buffer);
    *buffer = NULL;
}

void xb_pin_undo(struct xb_mode_context *context)
{
    struct xb_pin *state = context->state;
    double begin = xb_clock_now();
    release(context, &state->pinned);
    state->unpin_times[state->unpin_count++] = xb_clock_now() - begin;
    context->own_buffers[0] = NULL;
}

void xb_pin_release(struct xb_mode_context *context)
{
    struct xb_pin *state = context->state;
    release(context, &state->pinned);
    release(context, &state->data);
    xb_pages_unmap(state->used, context->test->bytes);
    state->used = NULL;
}

/* ---- what it comes to ---- */

const struct xb_figure xb_figure_unpin_time = {XB_FIGURE_TIME(
    "unpin_time",
    "How long undoing the page-lock takes; includes freeing memory that was made for it")};
const struct xb_figure xb_figure_peak_host_memory = {XB_FIGURE(
    "peak_host_memory", XB_UNIT_BYTES,
    "The most memory that the process used until the data was page-locked, less what it used "
    "before the data had any: --size, or twice that if the data stays in place and is copied")};
const struct xb_figure xb_figure_peak_device_memory = {XB_FIGURE(
    "peak_device_memory", XB_UNIT_BYTES,
    "Device memory that page-locking host memory takes, without what the data takes there")};

static double more(uint64_t after, uint64_t before)
{
    return after > before ? (double)(after - before) : 0;
}

static void tell_host_memory(const struct xb_pin *state, struct xb_result *result)
{
    const struct xb_pin_counts *counts = &state->counts;
    const struct xb_process_memory *before = &counts->before;
    const struct xb_process_memory *after = &counts->after;
    if (!counts->on_host) {
        xb_result_detail_text(result, "host_memory_by", "nothing: no VmRSS in /proc/self/status");
        return;
    }
    bool has_peak = counts->restarted && after->highest > 0;
    xb_result_compute(result, &xb_figure_peak_host_memory,
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

static void tell_huge_pages(const struct xb_pin *state, struct xb_result *result)
{
    const struct xb_pin_counts *counts = &state->counts;
    uint64_t whole = result->test.bytes / XB_PIN_HUGE_PAGE * XB_PIN_HUGE_PAGE;
    if (!counts->huge)
        return;
    double huge = more(counts->huge_after, counts->huge_before);
    xb_result_detail_number(result, "huge_page_bytes", huge);
    bool wants_huge = state->way == XB_PIN_USED_HUGE || state->way == XB_PIN_REGISTER;
    if (wants_huge && huge < MOSTLY * (double)whole)
        xb_result_warn(result,
                       "the kernel gave huge pages for %.0f of %llu bytes: see "
                       "/sys/kernel/mm/transparent_hugepage/enabled",
                       huge, (unsigned long long)whole);
}

enum xb_status xb_pin_tell(const struct xb_mode_context *context, struct xb_result *result,
                           struct xb_error *error)
{
    const struct xb_pin *state = context->state;
    for (size_t i = 0; i < state->setup_count; i++)
        XB_TRY(xb_result_sample(result, &xb_figure_setup_time, state->setup_times[i], error));
    for (size_t i = 0; i < state->unpin_count; i++)
        XB_TRY(xb_result_sample(result, &xb_figure_unpin_time, state->unpin_times[i], error));
    tell_host_memory(state, result);
    tell_huge_pages(state, result);
    if (state->counts.on_device)
        xb_result_compute(result, &xb_figure_peak_device_memory,
                          more(state->counts.device_before, state->counts.device_after));
    return XB_OK;
}
