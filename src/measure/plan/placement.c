/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/sample/measure.h"

#include "xferbench/workspace.h"

/* The least samples of a placement that the time limit gives. */
#define LEAST_SAMPLES 3u

void xb_placements_open(struct xb_measurement *measurement)
{
    struct xb_error error;
    uint64_t fixed = measurement->run->asked.samples;
    unsigned wanted = XB_PLACEMENTS;
    /* Only copies both ways at once are known to depend on where the host's memory lies, and only
     * those that cross a link. */
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    if (context->span_count != XB_SPANS || context->test->mode->pairs ||
        context->device->info.shares_host_memory ||
        xb_workspace_host_buffer(context->workspace, 0) == NULL)
        wanted = 1;
    else if (fixed > 0 && fixed < XB_PLACEMENTS)
        wanted = (unsigned)fixed;
    measurement->placements = wanted;
    for (size_t i = 0; i < measurement->lane_count; i++)
        measurement->placements = xb_workspace_spread(measurement->lanes[i].context.workspace,
                                                      measurement->placements, &error);
    if (measurement->placements < wanted)
        xb_result_warn(measurement->result,
                       "host memory lies in only %u of %u places: there was no memory for more "
                       "(%.150s)",
                       measurement->placements, wanted, error.message);
}

bool xb_placement_is_full(const struct xb_measurement *measurement, uint64_t fixed, size_t taken,
                          double elapsed)
{
    uint64_t count = measurement->placements;
    uint64_t index = measurement->placement;
    if (fixed > 0)
        return taken >= fixed * (index + 1) / count - fixed * index / count;
    if (index > 0)
        return taken >= measurement->result->placement_samples[0];
    return taken >= LEAST_SAMPLES && elapsed >= measurement->run->asked.time_limit / (double)count;
}

static void close_one(const struct xb_measurement *measurement, struct xb_result *result,
                      size_t before)
{
    if (result->times.count == before)
        return;
    result->placement_samples[measurement->placement] = result->times.count - before;
    result->placement_count = measurement->placement + 1;
}

void xb_placement_close(struct xb_measurement *measurement, size_t before)
{
    if (measurement->placements == 1)
        return;
    close_one(measurement, measurement->result, before);
    for (size_t i = 0; i < measurement->lane_count; i++)
        close_one(measurement, measurement->lanes[i].result, before);
}

enum xb_status xb_placements_compare(struct xb_result *result, struct xb_error *error)
{
    double most = 0;
    double least = 0;
    const double *times = result->times.values;
    for (size_t i = 0; i < result->placement_count; times += result->placement_samples[i], i++) {
        struct xb_statistics of_placement;
        XB_TRY(xb_statistics_compute(times, result->placement_samples[i], &of_placement, error));
        double rate = (double)result->bytes_moved / of_placement.median;
        most = i == 0 || rate > most ? rate : most;
        least = i == 0 || rate < least ? rate : least;
    }
    if (result->placement_count > 1)
        xb_result_compute(result, &xb_figure_between_placements,
                          (most - least) / result->bandwidth.median);
    return XB_OK;
}
