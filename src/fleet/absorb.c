/* SPDX-License-Identifier: Apache-2.0 */
/* Adds one fleet to another: each thread collects a document in a fleet of its own. */
#include "taking.h"

#include <stdlib.h>

/* The index in the one fleet of each item of the other. */
struct places {
    size_t *sources, *nodes, *gpus, *figures;
};

static enum xb_status add_nodes(struct xb_fleet *fleet, const struct xb_fleet *from,
                                const struct places *places, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < from->source_count && status == XB_OK; i++)
        status = xb_fleet_add_source(fleet, &from->sources[i], &places->sources[i], error);
    for (size_t i = 0; i < from->node_count && status == XB_OK; i++)
        status = xb_fleet_add_node(fleet, &from->nodes[i], &places->nodes[i], error);
    for (size_t i = 0; i < from->gpu_count && status == XB_OK; i++) {
        struct xb_fleet_gpu gpu = from->gpus[i];
        gpu.node = places->nodes[gpu.node];
        status = xb_fleet_add_gpu(fleet, &gpu, &places->gpus[i], error);
    }
    return status;
}

static enum xb_status add_values(struct xb_fleet *fleet, const struct xb_fleet *from,
                                 const struct places *places, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < from->figure_count && status == XB_OK; i++)
        status = xb_fleet_add_figure(fleet, &from->figures[i], &places->figures[i], error);
    for (size_t i = 0; i < from->value_count && status == XB_OK; i++) {
        struct xb_fleet_value value = from->values[i];
        value.figure = places->figures[value.figure];
        value.gpu = places->gpus[value.gpu];
        value.source = places->sources[value.source];
        status = xb_fleet_add_value(fleet, &value, error);
    }
    return status;
}

static enum xb_status add_complaints(struct xb_fleet *fleet, const struct xb_fleet *from,
                                     const struct places *places, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < from->complaint_count && status == XB_OK; i++) {
        struct xb_fleet_complaint complaint = from->complaints[i];
        complaint.node = places->nodes[complaint.node];
        if (complaint.gpu != XB_FLEET_NONE)
            complaint.gpu = places->gpus[complaint.gpu];
        complaint.source = places->sources[complaint.source];
        status = xb_fleet_add_complaint(fleet, &complaint, error);
    }
    return status;
}

enum xb_status xb_fleet_absorb(struct xb_fleet *fleet, const struct xb_fleet *from,
                               struct xb_error *error)
{
    size_t count = from->source_count + from->node_count + from->gpu_count + from->figure_count;
    size_t *room = calloc(count + 1, sizeof *room);
    if (room == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the nodes of a document");
    const struct places places = {
        .sources = room,
        .nodes = room + from->source_count,
        .gpus = room + from->source_count + from->node_count,
        .figures = room + from->source_count + from->node_count + from->gpu_count,
    };
    enum xb_status status = add_nodes(fleet, from, &places, error);
    if (status == XB_OK)
        status = add_values(fleet, from, &places, error);
    if (status == XB_OK)
        status = add_complaints(fleet, from, &places, error);
    free(room);
    return status;
}
