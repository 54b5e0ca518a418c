/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "report.h"

#include "base/stream.h"
#include "base/text.h"
#include "present/metrics.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* All samples of a family stand together: so every GPU and pair tells all that it has for each
 * family in turn, of which the samples of that family are written. */

#define LEVELS "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."
#define REASON "1 for each code that the verdict gives as a reason."
#define LIMIT "Bandwidth below which the level is reached."

#define PREFIX "xferbench_link_" /* of all names; of pairs "peer_" follows */

static const struct {
    const char *name, *help, *help_of_pairs; /* NULL: there is no such family */
} families[] = {
    {"status", "Verdict on the link: " LEVELS, "Verdict on direct copies to a peer: " LEVELS},
    {"reason", REASON, REASON},
    {"bandwidth_bytes_per_second", "Median of verified pinned copies.",
     "Median of verified direct copies."},
    {"ceiling_bytes_per_second",
     "What the link that limits the path can carry of a program's data.",
     "Number of links by the rate of each."},
    {"limit_bytes_per_second", LIMIT, LIMIT},
    {"width_lanes", "Lanes under load of the link that limits the path.", NULL},
    {"speed_transfers_per_second", "Rate of a lane under load of the link that limits the path.",
     NULL},
    {"aer_errors",
     "PCIe errors that a port counted during the test; hop 0 is the device's own link.", NULL},
    {"replays", "PCIe packets that the device sent again during the test.", NULL},
    {"pcie_events", "What the device counted on its PCIe link during the test.", NULL},
    {"pcie_events_since_boot", "What the device has counted on its PCIe link since boot.", NULL},
    {"nvlink_events", "What an NVLink counted during the test.", NULL},
    {"links", NULL, "Active links between the two."},
};

/* Where samples go: those of one family. */
struct metrics {
    FILE *stream;
    const char *prefix, *name, *help; /* of the family */
    const struct xb_link_subject *of; /* that they are of */
    bool has_begun;                   /* the family */
};

/* Writes a sample if it is of the family. What is not known is NAN, and has no sample. The samples
 * of a pair are its source's. */
static void put(struct metrics *metrics, const char *family, const struct xb_metric_label *labels,
                double value)
{
    if (strcmp(family, metrics->name) != 0 || isnan(value))
        return;
    const struct xb_link_subject *of = metrics->of;
    struct xb_metric_label all[8] = {
        {"gpu", XB_METRIC_NUMBER(of->gpu->index)},
        {"pci", of->gpu->pci_bdf},
        {"peer", of->peer != NULL ? XB_METRIC_NUMBER(of->peer->index) : NULL}};
    for (size_t i = 3; labels != NULL && labels->name != NULL; i++) {
        assert(i + 1 < sizeof all / sizeof all[0]);
        all[i] = *labels++;
    }
    if (!metrics->has_begun)
        xb_metric_begin(metrics->stream, metrics->prefix, metrics->name, metrics->help);
    metrics->has_begun = true;
    fprintf(metrics->stream, "%s%s", metrics->prefix, family);
    xb_metric_put_labels(metrics->stream, all);
    fprintf(metrics->stream, " %s\n", XB_NUMBER_TEXT(value));
}

/* 0 stands for what is not known. */
static double known(double value)
{
    return value > 0 ? value : (double)NAN;
}

static void tell_ports(struct metrics *metrics, const struct xb_link_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++) {
        const struct xb_link_port *port = &facts->ports[i];
        const char *const severities[] = {"correctable", "nonfatal", "fatal"};
        const uint64_t counts[] = {port->errors.correctable, port->errors.nonfatal,
                                   port->errors.fatal};
        for (size_t j = 0; port->errors.known && j < sizeof counts / sizeof counts[0]; j++)
            put(metrics, "aer_errors",
                XB_METRIC_LABELS({"hop", XB_METRIC_NUMBER(port->hop)},
                                 {"end", port->is_upper ? "upper" : "lower"}, {"port", port->bdf},
                                 {"severity", severities[j]}),
                (double)counts[j]);
    }
}

static void tell_gpu(struct metrics *metrics, const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    put(metrics, "width_lanes", NULL, known(xb_verdict_lanes(verdict).width));
    put(metrics, "speed_transfers_per_second", NULL,
        known(xb_verdict_lanes(verdict).speed_gts * 1e9));
    tell_ports(metrics, facts);
    put(metrics, "replays", NULL, facts->replays_known ? (double)facts->replays : (double)NAN);
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        const struct xb_metric_label *kind = XB_METRIC_LABELS({"kind", xb_pcie_counter_key(i)});
        if (!facts->counted[i])
            continue;
        put(metrics, "pcie_events", kind, (double)facts->rises[i]);
        put(metrics, "pcie_events_since_boot", kind, (double)facts->since_boot[i]);
    }
    for (size_t i = 0; i < XB_NVLINKS; i++)
        for (enum xb_nvlink_counter j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (facts->nvlinks.links[i].counted[j])
                put(metrics, "nvlink_events",
                    XB_METRIC_LABELS({"link", XB_METRIC_NUMBER(i)},
                                     {"kind", xb_nvlink_counter_key(j)}),
                    (double)facts->nvlinks.links[i].rises[j]);
}

/* Several reasons may have one code, and a sample may not appear twice. */
static void tell(struct metrics *metrics, const struct xb_link_subject *of)
{
    const struct xb_findings *found = of->found;
    metrics->of = of;
    put(metrics, "status", XB_METRIC_LABELS({"name", of->peer == NULL ? of->gpu->name : NULL}),
        (double)found->level);
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_finding_is_first(found, i))
            put(metrics, "reason", XB_METRIC_LABELS({"code", found->reasons[i].code}), 1);
    for (size_t i = 0; i < 2 && of->ways[i].copies != NULL; i++) {
        const struct xb_link_direction *copies = of->ways[i].copies;
        const struct xb_metric_label direction = {"direction", of->ways[i].direction};
        put(metrics, "bandwidth_bytes_per_second", XB_METRIC_LABELS(direction),
            known(copies->measured));
        put(metrics, "ceiling_bytes_per_second", XB_METRIC_LABELS(direction),
            known(of->ways[i].ceiling));
        put(metrics, "limit_bytes_per_second", XB_METRIC_LABELS(direction, {"level", "warning"}),
            known(copies->warning));
        put(metrics, "limit_bytes_per_second", XB_METRIC_LABELS(direction, {"level", "critical"}),
            known(copies->critical));
    }
    if (of->pair != NULL)
        put(metrics, "links", XB_METRIC_LABELS({"link", of->pair->reach.link}),
            known(of->pair->reach.links));
    else
        tell_gpu(metrics, of->verdict);
}

static void put_node(FILE *stream, const char *name, const char *help, long long value)
{
    xb_metric_begin(stream, PREFIX, name, help);
    fprintf(stream, PREFIX "%s %lld\n", name, value);
}

static void put_families(FILE *stream, const struct xb_link_report *report, bool of_pairs)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct metrics metrics = {.stream = stream,
                                  .prefix = of_pairs ? PREFIX "peer_" : PREFIX,
                                  .name = families[i].name,
                                  .help = of_pairs ? families[i].help_of_pairs : families[i].help};
        for (size_t j = 0; metrics.help != NULL && j < xb_link_subjects(report); j++) {
            const struct xb_link_subject of = xb_link_subject_at(report, j);
            if ((of.peer != NULL) == of_pairs)
                tell(&metrics, &of);
        }
    }
}

enum xb_status xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report,
                                        struct xb_error *error)
{
    put_node(stream, "node_status", "The worst verdict of the node: " LEVELS,
             (long long)report->level);
    put_node(stream, "test_timestamp_seconds", "When the test ended, in seconds since 1970.",
             (long long)time(NULL));
    put_families(stream, report, false);
    put_families(stream, report, true);
    return xb_stream_finish(stream, "the metrics", error);
}
