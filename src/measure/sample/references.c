/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What is shown beside the samples of a case of one lane, and taken before them: what its mode
 * wants it to be compared with, timed in the same way, and what one iteration costs besides time.
 */
#include "measure.h"

#include "base/units.h"
#include "machine/host_memory.h"
#include "measure/engine/stage.h"
#include "record/mode_list.h"

#include <string.h>
#include <time.h>

/* How often a reference is repeated at most: the medians are compared, not their tails. Two that
 * agree are enough. */
#define MOST_SAMPLES 3u

/* One that is told apart from the case itself is so by their intervals. */
#define SAMPLES_OF_INTERVAL XB_STOP_LEAST_SAMPLES

/* Repeats a reference once: its own submit or, of a mode with stages, a part of the line. *seconds
 * is what one iteration took. */
static enum xb_status repeat(struct xb_measurement *measurement,
                             const struct xb_reference *reference, double *seconds,
                             struct xb_error *error)
{
    struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_timing *timing = &measurement->lanes[0].timing;
    if (reference->before != NULL) {
        /* Nobody waits for it: the queue's order has it done before the clock starts, and a runtime
         * may forget what a queue did once the host has waited for it. */
        XB_TRY(reference->before(context, error));
    }
    /* By the host's clock the time counts from the first call, which a hold would make part of it,
     * and an iteration would hide another's calls. */
    bool by_host = reference->clock == XB_CLOCK_OF_HOST;
    uint64_t iterations = by_host ? 1 : measurement->iterations;
    if (reference->part != NULL)
        xb_line_take(context, reference->part);
    enum xb_status status =
        xb_measure_repeat(measurement, reference->part != NULL ? xb_line_submit : reference->submit,
                          iterations, measurement->held && !by_host, seconds, error);
    if (reference->part != NULL)
        xb_line_take(context, NULL);
    double by_own = by_host                                  ? timing->wall
                    : reference->clock == XB_CLOCK_OF_DEVICE ? timing->device
                                                             : *seconds; /* that of the case */
    *seconds = by_own / (double)iterations;
    return status;
}

/* Adds what one iteration took to the reference's figure. */
static enum xb_status add(struct xb_measurement *measurement, const struct xb_reference *reference,
                          double seconds, struct xb_error *error)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    double bytes =
        (double)(reference->bytes != NULL ? reference->bytes(context) : context->bytes_moved);
    bool is_rate = strcmp(reference->figure->unit, XB_UNIT_RATE) == 0;
    if (is_rate && !(seconds > 0))
        return XB_FAIL(error, XB_ERR_RUNTIME, "%s: " XB_MEASURE_WRONG_CLOCK,
                       reference->figure->name, bytes, seconds);
    return xb_result_sample(measurement->result, reference->figure,
                            is_rate ? bytes / seconds : seconds, error);
}

static enum xb_status time_plain(struct xb_measurement *measurement,
                                 const struct xb_reference *reference, struct xb_error *error)
{
    double seconds[MOST_SAMPLES] = {0};
    for (unsigned i = 0; i < MOST_SAMPLES && !xb_measure_out_of_time(measurement); i++) {
        XB_TRY(repeat(measurement, reference, &seconds[i], error));
        XB_TRY(add(measurement, reference, seconds[i], error));
        if (i > 0 && xb_times_agree(seconds[i - 1], seconds[i]))
            return XB_OK;
    }
    return XB_OK;
}

/* Takes the samples of an interval, after one repetition that does not count: what it goes through
 * is new, and the first is slower (ring_time in bench/results/h200/pin.json). */
static enum xb_status take_samples(struct xb_measurement *measurement,
                                   const struct xb_reference *reference, struct xb_error *error)
{
    double seconds = 0;
    XB_TRY(repeat(measurement, reference, &seconds, error));
    for (unsigned i = 0; i < SAMPLES_OF_INTERVAL && !xb_measure_out_of_time(measurement); i++) {
        XB_TRY(repeat(measurement, reference, &seconds, error));
        XB_TRY(add(measurement, reference, seconds, error));
    }
    return XB_OK;
}

/* Has the mode prove that the data of the latest repetition arrived. The case's own proof is still
 * to come, so the result keeps only a failure. */
static enum xb_status prove(struct xb_measurement *measurement,
                            const struct xb_reference *reference, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_mode_context *context = &measurement->lanes[0].context;
    XB_TRY(context->test->mode->verify(context, result, error));
    if (result->row.verified != XB_VERIFIED_TRUE)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "%s: the data did not arrive as it was sent, so there is no bandwidth to "
                       "report: %s",
                       reference->figure->name, result->reason);
    result->row.verified = XB_VERIFIED_UNKNOWN;
    return XB_OK;
}

/* Times a reference with something before it, on a queue of its own. */
static enum xb_status time_after(struct xb_measurement *measurement,
                                 const struct xb_reference *reference, struct xb_error *error)
{
    struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_backend *backend = context->device->backend;
    struct xb_queue **queues = context->queues;
    struct xb_queue *own = NULL;
    XB_TRY(context->test->mode->prepare(context, error));
    XB_TRY(backend->queue_open(context->device, &own, error));
    context->queues = &own;
    enum xb_status status = take_samples(measurement, reference, error);
    context->queues = queues;
    backend->queue_close(own);
    return status != XB_OK ? status : prove(measurement, reference, error);
}

/* ---- costs ---- */

#define REPETITIONS 3
/* The kernel counts a process's memory in batches (SPLIT_RSS_COUNTING): less is no growth. */
#define LEAST_GROWTH (UINT64_C(1) << 20)

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Adds what an iteration costs, where the mode declares xb_figure_cpu_time. */
static enum xb_status measure_costs(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_mode *mode = context->test->mode;
    uint64_t least = UINT64_MAX; /* growth: one iteration may follow what left the memory out */
    bool has_growth = true;
    if (!xb_mode_declares(mode, &xb_figure_cpu_time) || context->costs_elsewhere)
        return XB_OK;
    for (unsigned i = 0; i < REPETITIONS && !xb_measure_out_of_time(measurement); i++) {
        struct xb_process_memory before, restored, after;
        bool is_read = xb_process_memory_read(&before);
        XB_TRY(xb_measure_restore(measurement, error));
        is_read = is_read && xb_process_memory_restart() && xb_process_memory_read(&restored);
        double begin = cpu_seconds();
        enum xb_status status = mode->submit(context, error);
        double seconds = cpu_seconds() - begin;
        XB_TRY(xb_queues_wait(context->queues, context->queue_count, status, error));
        XB_TRY(xb_result_sample(result, &xb_figure_cpu_time, seconds, error));
        has_growth = is_read && has_growth && xb_process_memory_read(&after) && after.highest > 0;
        if (!has_growth)
            continue;
        /* Beyond the most memory that the process had before restore and after it: what restore
         * gives back, such as a target's pages, or fetches, such as managed memory, is no growth
         * when it is where it was. */
        uint64_t most = before.resident > restored.resident ? before.resident : restored.resident;
        least = xb_lesser(least, after.highest - xb_lesser(after.highest, most));
    }
    if (has_growth && least < UINT64_MAX)
        xb_result_compute(result, &xb_figure_peak_host_memory,
                          (double)(xb_workspace_borrowed(context->workspace, true) -
                                   context->proof_host_bytes + (least > LEAST_GROWTH ? least : 0)));
    xb_result_compute(result, &xb_figure_peak_device_memory,
                      (double)(xb_workspace_borrowed(context->workspace, false) +
                               context->own_device_bytes - context->proof_device_bytes));
    return XB_OK;
}

enum xb_status xb_measure_beside(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_reference *reference = context->test->mode->references;
    for (; reference != NULL && reference->figure != NULL; reference++) {
        if ((reference->is_wanted != NULL && !reference->is_wanted(context)) ||
            xb_measure_out_of_time(measurement))
            continue;
        XB_TRY(reference->before != NULL ? time_after(measurement, reference, error)
               : reference->has_interval ? take_samples(measurement, reference, error)
                                         : time_plain(measurement, reference, error));
    }
    return measure_costs(measurement, error);
}
