/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a case's host memory is to lie and its threads are to run, where the memory lies in fact,
 * and the placements of a case that is measured in several. Linux takes memory from another node if
 * the one that is preferred is full, and a driver may have memory left over from before. A row near
 * the device then has a warning. A row that says of which node it is would be wrong.
 */
#include "measure.h"

#include "xferbench/workspace.h"

/* With less than this share of a buffer's pages on the node that was named there is no row: what
 * lies elsewhere could change its figures more than the samples differ. */
#define LEAST_ON_NODE 0.9

/* ---- before ---- */

enum xb_status xb_residence_bind(const struct xb_measurement *measurement, struct xb_lane *lane,
                                 struct xb_error *error)
{
    struct xb_topology *topology = measurement->run->topology;
    const struct xb_case *test = lane->context.test;
    int near = xb_pcie_numa_node(lane->where->info.pci_bdf);
    if (!test->has_node) {
        xb_topology_bind(topology, near, -1, &lane->binding);
        lane->where->binding = lane->binding;
        return XB_OK;
    }
    xb_topology_bind(topology, (int)test->node, near, &lane->binding);
    if (lane->binding.bound || lane->binding.note_is_normal)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "NUMA node %u: %s", test->node, lane->binding.note);
}

/* ---- after ---- */

static double share_on_node(const struct xb_places *places)
{
    return places->known > 0 ? (double)places->on_node / places->known : 1;
}

static enum xb_status check_buffer(const struct xb_measurement *measurement, struct xb_lane *lane,
                                   const struct xb_buffer *buffer, struct xb_error *error)
{
    struct xb_places places;
    unsigned node = lane->context.test->node;
    xb_topology_locate(measurement->run->topology, buffer->host_address, buffer->bytes, (int)node,
                       &places);
    if (places.known > 0 &&
        (lane->worst.known == 0 || share_on_node(&places) < share_on_node(&lane->worst)))
        lane->worst = places;
    if (share_on_node(&places) >= LEAST_ON_NODE)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_RUNTIME,
                   "only %.0f %% of a host buffer lies on NUMA node %u (it lies on %s): this does "
                   "not measure that node. Has it free memory?",
                   100 * share_on_node(&places), node, places.nodes);
}

/* The pages of managed memory are wherever they were touched last. */
static bool stays(const struct xb_buffer *buffer)
{
    return buffer != NULL && buffer->memory != XB_MEMORY_MANAGED;
}

/* The mode's own host memory, or else the first host buffer. */
static void locate(const struct xb_measurement *measurement, struct xb_lane *lane)
{
    const struct xb_buffer *host = lane->context.own_buffers[0];
    if (host == NULL)
        host = xb_workspace_host_buffer(lane->context.workspace,
                                        XB_SHARED_BUFFERS * lane->context.share.number);
    lane->has_places = stays(host);
    if (!lane->has_places)
        return;
    lane->is_pinned = host->memory != XB_MEMORY_PAGEABLE;
    xb_topology_locate(measurement->run->topology, host->host_address, host->bytes,
                       lane->binding.node, &lane->places);
}

enum xb_status xb_residence_check(const struct xb_measurement *measurement, struct xb_lane *lane,
                                  struct xb_error *error)
{
    const struct xb_mode_context *context = &lane->context;
    locate(measurement, lane);
    if (!context->test->has_node)
        return XB_OK;
    /* Those of other lanes may be for another node. */
    const unsigned first = XB_SHARED_BUFFERS * context->share.number;
    const unsigned lent = context->share.of > 1 ? XB_SHARED_BUFFERS : XB_WORKSPACE_BUFFERS;
    for (unsigned i = 0; i < XB_OWN_BUFFERS + lent; i++) {
        const struct xb_buffer *buffer =
            i < XB_OWN_BUFFERS
                ? context->own_buffers[i]
                : xb_workspace_host_buffer(context->workspace, first + i - XB_OWN_BUFFERS);
        if (stays(buffer))
            XB_TRY(check_buffer(measurement, lane, buffer, error));
    }
    return XB_OK;
}

/* ---- what a row says ---- */

/* Warns of what the check could not see, or let pass. */
static void doubt_node(const struct xb_measurement *measurement, const struct xb_lane *lane)
{
    struct xb_result *result = lane->result;
    if (lane->worst.known > 0)
        xb_result_detail_number(result, "host_memory_on_node", share_on_node(&lane->worst));
    if (xb_topology_node_count(measurement->run->topology) == 1)
        return;
    if (lane->worst.known == 0)
        xb_result_warn(result, "unknown whether the host memory lies on NUMA node %u",
                       result->test.node);
    else if (lane->worst.on_node < lane->worst.known)
        xb_result_warn(result, "%.0f %% of a host buffer does not lie on NUMA node %u (%s)",
                       100 - 100 * share_on_node(&lane->worst), result->test.node,
                       lane->worst.nodes);
}

/* Says on which node's CPUs the threads run where the memory's node has none. */
static void tell_threads(const struct xb_lane *lane)
{
    const struct xb_binding *binding = &lane->binding;
    if (!binding->bound || binding->cpu_node == binding->node)
        return;
    if (binding->cpu_node >= 0)
        xb_result_detail_text(lane->result, "threads_run",
                              "on NUMA node %d: node %d has no CPUs, and this one is close to the "
                              "device",
                              binding->cpu_node, binding->node);
    else
        xb_result_detail_text(lane->result, "threads_run",
                              "on any CPU: NUMA node %d has none, and none is known to be close to "
                              "the device",
                              binding->node);
}

void xb_residence_tell(const struct xb_measurement *measurement, const struct xb_lane *lane)
{
    struct xb_result *result = lane->result;
    const char *pinned_note = lane->where->info.pinned_note;
    const struct xb_binding *binding = &lane->binding;
    const struct xb_places *places = &lane->places;
    bool has_node = result->test.has_node;
    if (lane->has_places)
        xb_result_detail_text(result, "host_memory_numa_nodes", "%s", places->nodes);
    if (lane->has_places && lane->is_pinned && pinned_note != NULL)
        xb_result_detail_text(result, "pinned_memory", "%s", pinned_note);
    if (lane->has_places && !has_node && binding->bound && places->on_node < places->known)
        xb_result_warn(result, "bound to NUMA node %d, but the host buffer lies on %s",
                       binding->node, places->nodes);
    tell_threads(lane);
    if (has_node)
        doubt_node(measurement, lane);
    else if (!binding->bound && !binding->note_is_normal)
        xb_result_warn(result, "not bound to a NUMA node: %s", binding->note);
}

/* ---- placements ---- */

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
    if (measurement->run->until_deadline || context->span_count != XB_SPANS ||
        context->test->mode->pairs || context->device->info.shares_host_memory ||
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

void xb_placement_close(struct xb_measurement *measurement, size_t before)
{
    for (size_t i = 0; measurement->placements > 1 && i < measurement->row_count; i++) {
        struct xb_result *result = &measurement->result[i];
        if (result->times.count == before)
            continue;
        result->placement_samples[measurement->placement] = result->times.count - before;
        result->placement_count = measurement->placement + 1;
    }
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
