/* SPDX-License-Identifier: Apache-2.0 */
/* The warnings and details by which a reader can judge a row. */
#include "measure.h"
#include "mode_list.h"

#include "xferbench/workspace.h"

#include <stdio.h>
#include <string.h>

/* A row whose confidence interval reaches this far to either side of the median gets a warning. */
#define WIDE_INTERVAL 0.05
/* If less than this share of the time was spent together, a sum tells mostly of the time when one
 * of them ran alone. */
#define LEAST_OVERLAP 0.8

/* Says where the host buffer lies. It may not be where the thread is bound to: if that node is
 * full, Linux takes memory from another. */
static void add_host_memory(const struct xb_measurement *measurement, const struct xb_lane *lane)
{
    struct xb_result *result = lane->result;
    const struct xb_run_device *where = lane->where;
    const struct xb_buffer *host = xb_workspace_host_buffer(lane->context.workspace);
    char nodes[64];
    char bound_to[16];
    /* The pages of managed memory are wherever they were touched last. */
    if (host == NULL || host->memory == XB_MEMORY_MANAGED)
        return;
    xb_topology_locate(measurement->run->topology, host->host_address, host->bytes, nodes,
                       sizeof nodes);
    xb_result_detail_text(result, "host_memory_numa_nodes", "%s", nodes);
    if (host->memory != XB_MEMORY_PAGEABLE && where->info.pinned_note != NULL)
        xb_result_detail_text(result, "pinned_memory", "%s", where->info.pinned_note);
    snprintf(bound_to, sizeof bound_to, "%d", where->binding.node);
    if (where->binding.bound && nodes[0] != '\0' && strcmp(nodes, bound_to) != 0)
        xb_result_warn(result, "bound to NUMA node %s, but the host buffer lies on %s", bound_to,
                       nodes);
}

static void add_lane(const struct xb_measurement *measurement, const struct xb_lane *lane)
{
    add_host_memory(measurement, lane);
    if (!lane->where->binding.bound && !lane->where->binding.note_is_normal)
        xb_result_warn(lane->result, "not bound to a NUMA node: %s", lane->where->binding.note);
}

/* Warns of a runtime that someone named: it can be anything that has the runtime's functions. */
static void add_runtime(const struct xb_probe *probe, struct xb_result *result)
{
    if (probe->runtime_override[0] != '\0')
        xb_result_warn(result, "by %.150s, which %s names in place of the installed runtime",
                       probe->runtime_library, probe->runtime_override);
}

/* Warns of both ways, or several devices, that did not work at the same time: their sum is then no
 * bandwidth that the paths have. */
static enum xb_status add_overlap(struct xb_result *result, struct xb_error *error)
{
    double overlap = 0;
    enum xb_status status = xb_result_median(result, &xb_figure_overlap, &overlap, error);
    if (status != XB_OK)
        return status;
    if (xb_result_has(result, &xb_figure_overlap) && overlap < LEAST_OVERLAP)
        xb_result_warn(result,
                       "only %.0f %% of the time was spent with all of it in flight together: the "
                       "sum is less than what the paths carry at the same time",
                       100 * overlap);
    return XB_OK;
}

/* Of several placements: that the case has no one bandwidth is no noise. */
static void add_placements(struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    if (!bandwidth->has_interval)
        xb_result_warn(result,
                       "%zu places for the host's memory are too few for a confidence interval "
                       "(%u make one)",
                       result->placement_count, XB_STOP_LEAST_SAMPLES);
    else if (bandwidth->ci95_high - bandwidth->ci95_low > 2 * WIDE_INTERVAL * bandwidth->median)
        xb_result_warn(result,
                       "it depends on where the host's memory lies: %zu places gave %.1f to %.1f "
                       "GB/s, and a process with one of them has one of these",
                       result->placement_count, bandwidth->ci95_low / 1e9,
                       bandwidth->ci95_high / 1e9);
}

static void add_precision(struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    bool single = xb_case_is_single(&result->test);
    if (single && result->times.count < XB_STOP_LATENCY_SAMPLES)
        xb_result_warn(result, "%zu operations are too few for a 99th percentile (%u make one)",
                       result->times.count, XB_STOP_LATENCY_SAMPLES);
    else if (single)
        return;
    else if (result->placement_count > 0)
        add_placements(result);
    else if (!bandwidth->has_interval)
        xb_result_warn(result, "%zu samples are too few for a confidence interval (%u make one)",
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
        add_lane(measurement, &measurement->lanes[i]);
        if (measurement->lanes[i].result != result)
            add_runtime(&measurement->run->probe, measurement->lanes[i].result);
    }
    enum xb_status status = add_overlap(result, error);
    if (status != XB_OK)
        return status;
    add_precision(result);
    if (result->stop_reason == XB_STOP_INTERRUPTED)
        xb_result_warn(result, "interrupted after %zu samples", result->times.count);
    else if (result->stop_reason == XB_STOP_DEADLINE)
        xb_result_warn(result, "the deadline came after %zu samples", result->times.count);
    return XB_OK;
}
