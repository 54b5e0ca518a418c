/* SPDX-License-Identifier: Apache-2.0 */
/* The warnings and details by which a reader can judge a row. */
#include "measure.h"
#include "record/mode_list.h"

/* A row whose confidence interval reaches this far to either side of the median gets a warning. */
#define WIDE_INTERVAL 0.05
/* If less than this share of the time was spent together, a sum tells mostly of the time when one
 * of them ran alone. */
#define LEAST_OVERLAP 0.8

/* Warns of a runtime that someone named: it can be anything that has the runtime's functions. */
static void add_runtime(const struct xb_probe *probe, struct xb_result *result)
{
    if (probe->runtime_override[0] != '\0')
        xb_result_warn(result,
                       "measured with %.150s, which %s names in place of the installed "
                       "runtime",
                       probe->runtime_library, probe->runtime_override);
}

/* Of several placements: that the case has no one bandwidth is no noise. */
static void add_placements(struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    if (!bandwidth->has_interval)
        xb_result_warn(result,
                       "%zu places for the host's memory are too few for a confidence interval "
                       "(it takes %u)",
                       result->placement_count, XB_STOP_LEAST_SAMPLES);
    else if (bandwidth->ci95_high - bandwidth->ci95_low > 2 * WIDE_INTERVAL * bandwidth->median)
        xb_result_warn(result,
                       "it depends on where the host's memory lies: %zu places gave %.1f to %.1f "
                       "GB/s, and a process gets one of them",
                       result->placement_count, bandwidth->ci95_low / 1e9,
                       bandwidth->ci95_high / 1e9);
}

static void add_precision(struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    bool single = xb_case_is_single(&result->test);
    if (single && result->times.count < XB_STOP_LATENCY_SAMPLES)
        xb_result_warn(result, "too few operations for a 99th percentile: %zu (it takes %u)",
                       result->times.count, XB_STOP_LATENCY_SAMPLES);
    else if (single)
        return;
    else if (result->placement_count > 0)
        add_placements(result);
    else if (!bandwidth->has_interval)
        xb_result_warn(result, "too few samples for a confidence interval: %zu (it takes %u)",
                       bandwidth->n, XB_STOP_LEAST_SAMPLES);
    else if (bandwidth->ci95_high - bandwidth->ci95_low > 2 * WIDE_INTERVAL * bandwidth->median)
        xb_result_warn(result, "noisy: the median is known only to within %.0f %%",
                       50 * (bandwidth->ci95_high - bandwidth->ci95_low) / bandwidth->median);
}

enum xb_status xb_measure_add_remarks(const struct xb_measurement *measurement,
                                      struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    xb_result_detail_number(result, "iterations_per_sample", (double)measurement->iterations);
    xb_result_detail_text(result, "held", measurement->held ? "yes" : "no");
    add_runtime(&measurement->run->probe, result);
    for (size_t i = 0; i < measurement->lane_count; i++) {
        xb_residence_tell(measurement, &measurement->lanes[i]);
        if (measurement->lanes[i].result != result)
            add_runtime(&measurement->run->probe, measurement->lanes[i].result);
    }
    /* Warn of both ways, or several devices, that did not work at the same time: their sum is then
     * no bandwidth that the paths have. */
    double overlap = 0;
    XB_TRY(xb_result_median(result, &xb_figure_overlap, &overlap, error));
    if (xb_result_has(result, &xb_figure_overlap) && overlap < LEAST_OVERLAP)
        xb_result_warn(result,
                       "the copies overlapped for only %.0f %% of the time: this sum is too low",
                       100 * overlap);
    add_precision(result);
    if (result->stop_reason == XB_STOP_INTERRUPTED)
        xb_result_warn(result, "interrupted after %zu samples", result->times.count);
    else if (result->stop_reason == XB_STOP_DEADLINE)
        xb_result_warn(result, "the deadline came after %zu samples", result->times.count);
    return XB_OK;
}
