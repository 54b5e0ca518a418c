/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/prometheus.h"
#include "base/stream.h"
#include "format.h"

#include "base/text.h"

#include <time.h>

/*
 * The text exposition format (Prometheus documentation, "Exposition formats"): a family of samples
 * begins with its HELP and TYPE, once, and all its samples stand together. So every GPU and pair
 * tells all that it has for each family in turn, of which the samples of that family are written.
 */

enum kind {
    STATUS,
    REASON,
    BANDWIDTH,
    CEILING,
    LIMIT,
    WIDTH,
    SPEED,
    AER,
    REPLAYS,
    EVENTS,
    SINCE_BOOT,
    NVLINK,
    PEER_LINKS
};

struct family {
    enum kind kind;
    bool of_pairs;
    const char *name, *help; /* "xferbench_link_", of pairs also "peer_", stands before it */
};

static const struct family families[] = {
    {STATUS, false, "status", "Verdict on the link: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."},
    {REASON, false, "reason", "1 for each code that the verdict gives as a reason."},
    {BANDWIDTH, false, "bandwidth_bytes_per_second", "Median of verified pinned copies."},
    {CEILING, false, "ceiling_bytes_per_second",
     "What the link that limits the path can carry of a program's data."},
    {LIMIT, false, "limit_bytes_per_second", "Bandwidth below which the level is reached."},
    {WIDTH, false, "width_lanes", "Lanes under load of the link that limits the path."},
    {SPEED, false, "speed_transfers_per_second",
     "Rate of a lane under load of the link that limits the path."},
    {AER, false, "aer_errors",
     "PCIe errors that a port counted during the test; hop 0 is the device's own link."},
    {REPLAYS, false, "replays", "PCIe packets that the device sent again during the test."},
    {EVENTS, false, "pcie_events", "What the device counted on its PCIe link during the test."},
    {SINCE_BOOT, false, "pcie_events_since_boot",
     "What the device has counted on its PCIe link since boot."},
    {NVLINK, false, "nvlink_events", "What an NVLink counted during the test."},
    {STATUS, true, "status",
     "Verdict on direct copies to a peer: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."},
    {REASON, true, "reason", "1 for each code that the verdict gives as a reason."},
    {BANDWIDTH, true, "bandwidth_bytes_per_second", "Median of verified direct copies."},
    {CEILING, true, "ceiling_bytes_per_second", "Number of links by the rate of each."},
    {LIMIT, true, "limit_bytes_per_second", "Bandwidth below which the level is reached."},
    {PEER_LINKS, true, "links", "Active links between the two."},
};

/* Where samples go: those of one family. */
struct metrics {
    FILE *stream;
    const struct family *family;
    const struct xb_link_subject *of; /* that they are of */
    bool has_begun;                   /* the family */
};

#define PREFIX(of_pairs) "xferbench_link_", (of_pairs) ? "peer_" : ""

static void begin(FILE *stream, const struct family *family)
{
    fprintf(stream, "# HELP %s%s%s %s\n# TYPE %s%s%s gauge\n", PREFIX(family->of_pairs),
            family->name, family->help, PREFIX(family->of_pairs), family->name);
}

static void put_index(struct metrics *metrics, char before, const char *name, unsigned index)
{
    char text[16];
    snprintf(text, sizeof text, "%u", index);
    xb_prometheus_put_label(metrics->stream, before, name, text);
}

struct label {
    const char *name, *value; /* without a value it is left out */
};

/* `labels` ends with one that has no name. The samples of a pair are its source's. */
static void put(struct metrics *metrics, enum kind kind, const struct label *labels, double value)
{
    const struct xb_link_subject *of = metrics->of;
    char text[32];
    if (kind != metrics->family->kind)
        return;
    if (!metrics->has_begun)
        begin(metrics->stream, metrics->family);
    metrics->has_begun = true;
    fprintf(metrics->stream, "%s%s%s", PREFIX(metrics->family->of_pairs), metrics->family->name);
    put_index(metrics, '{', "gpu", of->gpu->index);
    xb_prometheus_put_label(metrics->stream, ',', "pci", of->gpu->pci_bdf);
    if (of->peer != NULL)
        put_index(metrics, ',', "peer", of->peer->index);
    for (; labels->name != NULL; labels++)
        if (labels->value != NULL)
            xb_prometheus_put_label(metrics->stream, ',', labels->name, labels->value);
    fprintf(metrics->stream, "} %s\n", xb_number_text(value, text, sizeof text));
}

/* Writes no sample of what is not known: 0 stands for that. */
static void put_known(struct metrics *metrics, enum kind kind, const struct label *labels,
                      double value)
{
    if (value > 0)
        put(metrics, kind, labels, value);
}

#define LABELS(...) ((const struct label[]){__VA_ARGS__, {NULL, NULL}})
#define NO_LABEL ((const struct label[]){{NULL, NULL}})

static void tell_ports(struct metrics *metrics, const struct xb_link_facts *facts)
{
    for (size_t i = 0; i < facts->port_count; i++) {
        const struct xb_link_port *port = &facts->ports[i];
        const char *const severities[] = {"correctable", "nonfatal", "fatal"};
        const uint64_t counts[] = {port->errors.correctable, port->errors.nonfatal,
                                   port->errors.fatal};
        char hop[32];
        snprintf(hop, sizeof hop, "%zu", port->hop);
        for (size_t j = 0; port->errors.known && j < sizeof counts / sizeof counts[0]; j++)
            put(metrics, AER,
                LABELS({"hop", hop}, {"end", port->is_upper ? "upper" : "lower"},
                       {"port", port->bdf}, {"severity", severities[j]}),
                (double)counts[j]);
    }
}

static void tell_nvlinks(struct metrics *metrics, const struct xb_nvlink_facts *facts)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        for (enum xb_nvlink_counter j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (facts->links[i].counted[j])
                put(metrics, NVLINK, LABELS({"link", number}, {"kind", xb_nvlink_counter_key(j)}),
                    (double)facts->links[i].rises[j]);
    }
}

static void tell_gpu(struct metrics *metrics, const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    put_known(metrics, WIDTH, NO_LABEL, xb_verdict_lanes(verdict).width);
    put_known(metrics, SPEED, NO_LABEL, xb_verdict_lanes(verdict).speed_gts * 1e9);
    tell_ports(metrics, facts);
    if (facts->replays_known)
        put(metrics, REPLAYS, NO_LABEL, (double)facts->replays);
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        const struct label *kind = LABELS({"kind", xb_pcie_counter_key(i)});
        if (!facts->counted[i])
            continue;
        put(metrics, EVENTS, kind, (double)facts->rises[i]);
        put(metrics, SINCE_BOOT, kind, (double)facts->since_boot[i]);
    }
    tell_nvlinks(metrics, &facts->nvlinks);
}

/* Several reasons may have one code, and a sample may not appear twice. */
static void tell(struct metrics *metrics, const struct xb_link_subject *of)
{
    const struct xb_findings *found = of->found;
    metrics->of = of;
    put(metrics, STATUS, LABELS({"name", of->peer == NULL ? of->gpu->name : NULL}),
        (double)found->level);
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_reason_is_first(found, i))
            put(metrics, REASON, LABELS({"code", found->reasons[i].code}), 1);
    for (size_t i = 0; i < 2 && of->ways[i].copies != NULL; i++) {
        const struct xb_link_direction *copies = of->ways[i].copies;
        const struct label direction = {"direction", of->ways[i].direction};
        put_known(metrics, BANDWIDTH, LABELS(direction), copies->measured);
        put_known(metrics, CEILING, LABELS(direction), of->ways[i].ceiling);
        put_known(metrics, LIMIT, LABELS(direction, {"level", "warning"}), copies->warning);
        put_known(metrics, LIMIT, LABELS(direction, {"level", "critical"}), copies->critical);
    }
    if (of->pair != NULL)
        put_known(metrics, PEER_LINKS, LABELS({"link", of->pair->reach.link}),
                  of->pair->reach.links);
    else
        tell_gpu(metrics, of->verdict);
}

static void put_node(FILE *stream, struct family family, long long value)
{
    begin(stream, &family);
    fprintf(stream, "xferbench_link_%s %lld\n", family.name, value);
}

enum xb_status xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report,
                                        struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    put_node(stream,
             (struct family){.name = "node_status",
                             .help = "The worst verdict of the node: 0 OK, 1 WARNING, 2 CRITICAL, "
                                     "3 UNKNOWN."},
             (long long)report->level);
    put_node(stream,
             (struct family){.name = "test_timestamp_seconds",
                             .help = "When the test ended, in seconds since 1970."},
             (long long)time(NULL));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct metrics metrics = {.stream = stream, .family = &families[i]};
        for (size_t j = 0; j < xb_link_subjects(report); j++) {
            const struct xb_link_subject of = xb_link_subject_at(report, j);
            if ((of.peer != NULL) == families[i].of_pairs)
                tell(&metrics, &of);
        }
    }
    enum xb_status status = xb_stream_finish(stream, "the metrics", error);
    xb_plain_locale_leave(previous);
    return status;
}
