/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "majority.h"

#include <stdlib.h>
#include <string.h>

/* Finds the backend that a node's driver belongs to: the node has values of it with that driver. */
static enum xb_status find_backends(const struct xb_fleet *fleet, const char ***backends,
                                    struct xb_error *error)
{
    *backends = calloc(fleet->node_count + 1, sizeof **backends);
    if (*backends == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        const struct xb_fleet_figure *figure = &fleet->figures[value->figure];
        size_t node = fleet->gpus[value->gpu].node;
        const char *driver = fleet->nodes[node].driver;
        if (driver != NULL && figure->driver != NULL && figure->backend != NULL &&
            strcmp(driver, figure->driver) == 0)
            (*backends)[node] = figure->backend;
    }
    return XB_OK;
}

static enum xb_status name_group(struct xb_judging *judging, const struct xb_vote *votes,
                                 const struct xb_majority *most, struct xb_error *error)
{
    size_t nodes = most->end - most->begin;
    size_t agree = most->last - most->first;
    enum xb_status status = XB_OK;
    if (!most->judged)
        return XB_OK;
    if (!most->found)
        return xb_fleet_add_note(judging, error,
                                 "Drivers differ (backend %.32s): at most %zu of %zu nodes have "
                                 "the same, %.64s.",
                                 votes[most->begin].group, agree, nodes, votes[most->first].text);
    for (size_t i = most->begin; status == XB_OK && i < most->end; i++) {
        if (i >= most->first && i < most->last)
            continue;
        const char *node = judging->fleet->nodes[votes[i].item].name;
        struct xb_fleet_finding finding =
            xb_fleet_plain_finding(XB_FLEET_OTHER_DRIVER, node, XB_FLEET_NONE);
        finding.together = xb_fleet_is_together(nodes - agree, nodes);
        status = xb_fleet_add_finding(judging, &finding, error,
                                      "driver %.64s; %zu of %zu nodes have %.64s", votes[i].text,
                                      agree, nodes, votes[most->first].text);
    }
    return status;
}

enum xb_status xb_fleet_name_drivers(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char **backends = NULL;
    struct xb_vote *votes = calloc(fleet->node_count + 1, sizeof *votes);
    size_t count = 0;
    enum xb_status status =
        votes != NULL ? find_backends(fleet, &backends, error) : xb_fleet_no_memory(error);
    for (size_t i = 0; status == XB_OK && i < fleet->node_count; i++)
        if (backends[i] != NULL)
            votes[count++] =
                (struct xb_vote){.group = backends[i], .text = fleet->nodes[i].driver, .item = i};
    xb_votes_sort(votes, count);
    for (size_t begin = 0; status == XB_OK && begin < count;) {
        struct xb_majority most = xb_votes_count(votes, count, begin);
        status = name_group(judging, votes, &most, error);
        begin = most.end;
    }
    free(backends);
    free(votes);
    return status;
}
