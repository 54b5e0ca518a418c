/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What one iteration costs besides time. */
#include "measure.h"

#include "machine/host_memory.h"
#include "record/mode_list.h"

#include <time.h>

#define REPETITIONS 3
/* The kernel counts a process's memory in batches (SPLIT_RSS_COUNTING): less is no growth. */
#define LEAST_GROWTH (UINT64_C(1) << 20)

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* One iteration, and the wait for its end. Adds the CPU time of its calls. */
static enum xb_status run(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_mode_context *context = &measurement->lanes[0].context;
    double before = cpu_seconds();
    enum xb_status status = context->test->mode->submit(context, error);
    double seconds = cpu_seconds() - before;
    for (size_t i = 0; i < context->queue_count;
         i++) { /* also for what a failed one has enqueued */
        struct xb_error other;
        const struct xb_backend *backend = context->queues[i]->device->backend;
        enum xb_status waited =
            backend->queue_wait(context->queues[i], status == XB_OK ? error : &other);
        status = status == XB_OK ? waited : status;
    }
    XB_TRY(status);
    return xb_result_sample(measurement->result, &xb_figure_cpu_time, seconds, error);
}

enum xb_status xb_measure_costs(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    struct xb_process_memory before, after;
    uint64_t growth = 0;
    bool has_growth = true;
    if (!xb_mode_declares(context->test->mode, &xb_figure_cpu_time))
        return XB_OK;
    for (unsigned i = 0; i < REPETITIONS && !xb_measure_out_of_time(measurement); i++) {
        /* What restore gives back, such as a target's pages, is no growth when it is there again.
         */
        has_growth = has_growth && xb_process_memory_read(&before);
        XB_TRY(xb_measure_restore(measurement, error));
        has_growth = has_growth && xb_process_memory_restart();
        XB_TRY(run(measurement, error));
        has_growth = has_growth && xb_process_memory_read(&after) && after.highest > 0;
        const uint64_t least = growth > LEAST_GROWTH ? growth : LEAST_GROWTH;
        if (has_growth && after.highest > before.resident + least)
            growth = after.highest - before.resident;
    }
    if (has_growth)
        xb_result_compute(measurement->result, &xb_figure_peak_host_memory,
                          (double)(xb_workspace_borrowed(context->workspace, true) -
                                   context->proof_host_bytes + growth));
    xb_result_compute(
        measurement->result, &xb_figure_peak_device_memory,
        (double)(xb_workspace_borrowed(context->workspace, false) - context->proof_device_bytes));
    return XB_OK;
}
