/* SPDX-License-Identifier: Apache-2.0 */
#include "taking.h"

#include "link/command.h"
#include "machine/pcie.h"
#include "run/command.h"
#include "xferbench/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A document that is dated ahead would outrank all others until that day. It counts so much
 * earlier: as older than all others, also those without a date, while several keep their order. */
#define BEFORE_ALL ((time_t)1 << 40)

static enum xb_status find_link_bytes(uint64_t *bytes, struct xb_error *error)
{
    const struct xb_option *row = xb_option_find(xb_link_rows(), "size");
    *bytes = 0;
    return row != NULL ? xb_size_parse(row->default_text, bytes, error) : XB_OK;
}

enum xb_status xb_fleet_terms_make(struct xb_fleet_terms *terms, struct xb_error *error)
{
    *terms = (struct xb_fleet_terms){.rows = xb_run_rows()};
    enum xb_status status = find_link_bytes(&terms->link_bytes, error);
    return status == XB_OK ? xb_record_of_defaults(terms->rows, &terms->defaults, error) : status;
}

void xb_fleet_terms_free(struct xb_fleet_terms *terms)
{
    xb_record_free(&terms->defaults);
}

void xb_taking_begin(struct xb_fleet_taking *taking, const char *path, size_t number)
{
    struct xb_fleet_origin *origin = &taking->origin;
    const time_t dated = origin->written;
    if (dated > taking->fleet->now + XB_FLEET_AHEAD_S)
        origin->written = dated - BEFORE_ALL;
    const struct xb_fleet_source source = {
        .path = path,
        .number = number,
        .kind = taking->kind,
        .dated = dated,
        .written = origin->written,
        .began = origin->began,
        .late_s = origin->late_s,
        .unsynchronised = origin->unsynchronised,
        .rank = origin->rank,
        .ranks = origin->ranks,
    };
    const struct xb_fleet_node node = {
        .name = origin->node,
        .hostname = origin->hostname,
        .driver = origin->driver,
        .driver_told = origin->written,
    };
    taking->source = taking->node = XB_FLEET_NONE;
    taking->status = xb_fleet_add_source(taking->fleet, &source, &taking->source, &taking->error);
    if (taking->status == XB_OK)
        taking->status = xb_fleet_add_node(taking->fleet, &node, &taking->node, &taking->error);
}

static bool is_same(const char *left, const char *right)
{
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

/* Parts of one GPU may have its UUID and its address: by these they would be taken for one, and of
 * their values one alone would count. The fleet has no GPUs but this document's. */
static void drop_what_others_have(const struct xb_fleet *fleet, struct xb_fleet_gpu *gpu)
{
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *other = &fleet->gpus[i];
        if (other->index == gpu->index)
            continue;
        if (is_same(other->uuid, gpu->uuid))
            gpu->uuid = NULL;
        if (is_same(other->pci_bdf, gpu->pci_bdf))
            gpu->pci_bdf = NULL;
    }
}

size_t xb_taking_add_gpu(struct xb_fleet_taking *taking, struct xb_fleet_gpu gpu)
{
    size_t index = XB_FLEET_NONE;
    drop_what_others_have(taking->fleet, &gpu);
    gpu.node = taking->node;
    gpu.told = taking->origin.written;
    if (taking->status == XB_OK)
        taking->status = xb_fleet_add_gpu(taking->fleet, &gpu, &index, &taking->error);
    return index;
}

void xb_taking_add_value(struct xb_fleet_taking *taking, struct xb_fleet_figure figure,
                         struct xb_fleet_value value)
{
    figure.backend = taking->origin.backend;
    figure.driver = taking->origin.driver;
    value.source = taking->source;
    if (taking->status != XB_OK || value.gpu == XB_FLEET_NONE || !(value.value > 0.0) ||
        !isfinite(value.value))
        return;
    taking->status = xb_fleet_add_figure(taking->fleet, &figure, &value.figure, &taking->error);
    if (taking->status == XB_OK)
        taking->status = xb_fleet_add_value(taking->fleet, &value, &taking->error);
}

void xb_taking_complain(struct xb_fleet_taking *taking, enum xb_fleet_fault fault, size_t gpu,
                        const char *text, const char *causes)
{
    const struct xb_fleet_complaint complaint = {.fault = fault,
                                                 .node = taking->node,
                                                 .gpu = gpu,
                                                 .text = text,
                                                 .source = taking->source,
                                                 .causes = causes};
    if (taking->status == XB_OK)
        taking->status = xb_fleet_add_complaint(taking->fleet, &complaint, &taking->error);
}

const char *xb_taking_link_text(double speed_gts, unsigned width, char *text)
{
    return speed_gts > 0.0 && width > 0 ? xb_lanes_text(speed_gts, width, text, XB_TAKING_LINK)
                                        : NULL;
}

static const char *place_of(const struct xb_taking_end *end, char *text, size_t size)
{
    if (end->pci_bdf != NULL && end->pci_bdf[0] != '\0')
        snprintf(text, size, "%.20s", end->pci_bdf);
    else
        snprintf(text, size, "%u", end->index);
    return text;
}

void xb_taking_pair_link(struct xb_fleet_figure *figure, const char *link, unsigned links,
                         const struct xb_taking_end *from, const struct xb_taking_end *to,
                         char *text)
{
    char places[2][24];
    bool known = link != NULL && link[0] != '\0';
    figure->link = text;
    figure->links = known ? links : 0;
    figure->links_known = known && (links > 0 || strcmp(link, "PCIe") == 0);
    if (figure->links > 0)
        snprintf(text, XB_TAKING_LINK, "%.20s x%u", link, links);
    else
        snprintf(text, XB_TAKING_LINK, "%.20s %s>%s", known ? link : "unknown",
                 place_of(from, places[0], sizeof places[0]),
                 place_of(to, places[1], sizeof places[1]));
}
