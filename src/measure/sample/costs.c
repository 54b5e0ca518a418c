/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What one iteration costs besides time. */
#include "measure.h"

#include "base/units.h"
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
    XB_TRY(xb_queues_wait(context->queues, context->queue_count, status, error));
    return xb_result_sample(measurement->result, &xb_figure_cpu_time, seconds, error);
}

/* The most memory that the process has now and had before restore: what restore gives back, such as
 * a target's pages, or fetches, such as managed memory, is no growth when it is where it was. */
static bool read_baseline(struct xb_measurement *measurement, uint64_t *resident,
                          enum xb_status *status, struct xb_error *error)
{
    struct xb_process_memory before, restored;
    bool is_read = xb_process_memory_read(&before);
    *status = xb_measure_restore(measurement, error);
    is_read = is_read && xb_process_memory_restart() && xb_process_memory_read(&restored);
    if (is_read)
        *resident = before.resident > restored.resident ? before.resident : restored.resident;
    return is_read;
}

enum xb_status xb_measure_costs(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    struct xb_process_memory after;
    uint64_t least = UINT64_MAX; /* growth: one iteration may follow what left the memory out */
    bool has_growth = true;
    if (!xb_mode_declares(context->test->mode, &xb_figure_cpu_time) || context->costs_elsewhere)
        return XB_OK;
    for (unsigned i = 0; i < REPETITIONS && !xb_measure_out_of_time(measurement); i++) {
        enum xb_status status = XB_OK;
        uint64_t resident = 0;
        has_growth = read_baseline(measurement, &resident, &status, error) && has_growth;
        XB_TRY(status);
        XB_TRY(run(measurement, error));
        has_growth = has_growth && xb_process_memory_read(&after) && after.highest > 0;
        if (has_growth)
            least = xb_lesser(least, after.highest > resident ? after.highest - resident : 0);
    }
    if (has_growth && least < UINT64_MAX)
        xb_result_compute(measurement->result, &xb_figure_peak_host_memory,
                          (double)(xb_workspace_borrowed(context->workspace, true) -
                                   context->proof_host_bytes + (least > LEAST_GROWTH ? least : 0)));
    xb_result_compute(measurement->result, &xb_figure_peak_device_memory,
                      (double)(xb_workspace_borrowed(context->workspace, false) +
                               context->own_device_bytes - context->proof_device_bytes));
    return XB_OK;
}
