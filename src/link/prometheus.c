/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/prometheus.h"
#include "base/stream.h"
#include "format.h"

#include "base/text.h"

#include <time.h>

/*
 * The text exposition format (Prometheus documentation, "Exposition formats"): a family of samples
 * begins with its HELP and TYPE, once, and all its samples stand together. So each family goes over
 * all devices.
 */

struct family {
    FILE *stream;
    const char *name, *help;
    bool begun;
};

struct label {
    const char *name, *value;
};

static void begin(struct family *family)
{
    if (!family->begun)
        fprintf(family->stream, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help,
                family->name);
    family->begun = true;
    fputs(family->name, family->stream);
}

/* A sample of a device. `labels` ends with one that has no name. */
static void put_sample(struct family *family, const struct xb_device_info *gpu,
                       const struct label *labels, double value)
{
    char text[32];
    begin(family);
    snprintf(text, sizeof text, "%u", gpu->index);
    xb_prometheus_put_label(family->stream, '{', "gpu", text);
    xb_prometheus_put_label(family->stream, ',', "pci", gpu->pci_bdf);
    for (; labels->name != NULL; labels++)
        xb_prometheus_put_label(family->stream, ',', labels->name, labels->value);
    fprintf(family->stream, "} %s\n", xb_number_text(value, text, sizeof text));
}

/* Writes no sample of what is not known: 0 stands for that. */
static void put_known(struct family *family, const struct xb_device_info *gpu,
                      const struct label *labels, double value)
{
    if (value > 0)
        put_sample(family, gpu, labels, value);
}

#define LABELS(...) ((const struct label[]){__VA_ARGS__, {NULL, NULL}})
#define NO_LABEL ((const struct label[]){{NULL, NULL}})
#define TO LABELS({"direction", "h2d"})
#define FROM LABELS({"direction", "d2h"})

/* ---- a function a family: what one device has to say ---- */

static void put_status(struct family *family, const struct xb_device_info *gpu,
                       const struct xb_verdict *verdict)
{
    put_sample(family, gpu, LABELS({"name", gpu->name}), (double)verdict->found.level);
}

/* Several reasons may have one code, and a sample may not appear twice. */
static void put_reasons(struct family *family, const struct xb_device_info *gpu,
                        const struct xb_verdict *verdict)
{
    for (size_t i = 0; i < verdict->found.reason_count; i++)
        if (xb_link_first_of_code(&verdict->found, i))
            put_sample(family, gpu, LABELS({"code", verdict->found.reasons[i].code}), 1);
}

static void put_bandwidth(struct family *family, const struct xb_device_info *gpu,
                          const struct xb_verdict *verdict)
{
    put_known(family, gpu, TO, verdict->h2d.measured);
    put_known(family, gpu, FROM, verdict->d2h.measured);
}

static void put_ceiling(struct family *family, const struct xb_device_info *gpu,
                        const struct xb_verdict *verdict)
{
    if (!verdict->ceiling.known)
        return;
    put_known(family, gpu, TO, verdict->ceiling.h2d);
    put_known(family, gpu, FROM, verdict->ceiling.d2h);
}

static void put_limits(struct family *family, const struct xb_device_info *gpu,
                       const struct xb_verdict *verdict)
{
    const struct xb_link_direction *h2d = &verdict->h2d;
    const struct xb_link_direction *d2h = &verdict->d2h;
    put_known(family, gpu, LABELS({"direction", "h2d"}, {"level", "warning"}), h2d->warning);
    put_known(family, gpu, LABELS({"direction", "h2d"}, {"level", "critical"}), h2d->critical);
    put_known(family, gpu, LABELS({"direction", "d2h"}, {"level", "warning"}), d2h->warning);
    put_known(family, gpu, LABELS({"direction", "d2h"}, {"level", "critical"}), d2h->critical);
}

static void put_width(struct family *family, const struct xb_device_info *gpu,
                      const struct xb_verdict *verdict)
{
    put_known(family, gpu, NO_LABEL, xb_verdict_lanes(verdict).width);
}

static void put_speed(struct family *family, const struct xb_device_info *gpu,
                      const struct xb_verdict *verdict)
{
    put_known(family, gpu, NO_LABEL, xb_verdict_lanes(verdict).speed_gts * 1e9);
}

static void put_port_errors(struct family *family, const struct xb_device_info *gpu,
                            const struct xb_link_port *port)
{
    const struct {
        const char *severity;
        uint64_t count;
    } kinds[] = {{"correctable", port->errors.correctable},
                 {"nonfatal", port->errors.nonfatal},
                 {"fatal", port->errors.fatal}};
    char hop[32];
    snprintf(hop, sizeof hop, "%zu", port->hop);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        put_sample(family, gpu,
                   LABELS({"hop", hop}, {"end", port->is_upper ? "upper" : "lower"},
                          {"port", port->bdf}, {"severity", kinds[i].severity}),
                   (double)kinds[i].count);
}

static void put_errors(struct family *family, const struct xb_device_info *gpu,
                       const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    for (size_t i = 0; i < facts->port_count; i++)
        if (facts->ports[i].errors.known)
            put_port_errors(family, gpu, &facts->ports[i]);
}

static void put_replays(struct family *family, const struct xb_device_info *gpu,
                        const struct xb_verdict *verdict)
{
    if (verdict->facts.replays_known)
        put_sample(family, gpu, NO_LABEL, (double)verdict->facts.replays);
}

static void put_counts(struct family *family, const struct xb_device_info *gpu,
                       const struct xb_link_facts *facts, const uint64_t *counts)
{
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++)
        if (facts->counted[i])
            put_sample(family, gpu, LABELS({"kind", xb_pcie_counter_key(i)}), (double)counts[i]);
}

static void put_events(struct family *family, const struct xb_device_info *gpu,
                       const struct xb_verdict *verdict)
{
    put_counts(family, gpu, &verdict->facts, verdict->facts.rises);
}

static void put_events_since_boot(struct family *family, const struct xb_device_info *gpu,
                                  const struct xb_verdict *verdict)
{
    put_counts(family, gpu, &verdict->facts, verdict->facts.since_boot);
}

static void put_nvlinks(struct family *family, const struct xb_device_info *gpu,
                        const struct xb_verdict *verdict)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink_seen *link = &verdict->facts.nvlinks.links[i];
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        for (enum xb_nvlink_counter j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (link->counted[j])
                put_sample(family, gpu,
                           LABELS({"link", number}, {"kind", xb_nvlink_counter_key(j)}),
                           (double)link->rises[j]);
    }
}

static const struct {
    const char *name, *help;
    void (*put)(struct family *family, const struct xb_device_info *gpu,
                const struct xb_verdict *verdict);
} families[] = {
    {"xferbench_link_status", "Verdict on the link: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
     put_status},
    {"xferbench_link_reason", "1 for each code that the verdict gives as a reason.", put_reasons},
    {"xferbench_link_bandwidth_bytes_per_second", "Median of verified pinned copies.",
     put_bandwidth},
    {"xferbench_link_ceiling_bytes_per_second",
     "What the link that limits the path can carry of a program's data.", put_ceiling},
    {"xferbench_link_limit_bytes_per_second", "Bandwidth below which the level is reached.",
     put_limits},
    {"xferbench_link_width_lanes", "Lanes under load of the link that limits the path.", put_width},
    {"xferbench_link_speed_transfers_per_second",
     "Rate of a lane under load of the link that limits the path.", put_speed},
    {"xferbench_link_aer_errors",
     "PCIe errors that a port counted during the test; hop 0 is the device's own link.",
     put_errors},
    {"xferbench_link_replays", "PCIe packets that the device sent again during the test.",
     put_replays},
    {"xferbench_link_pcie_events", "What the device counted on its PCIe link during the test.",
     put_events},
    {"xferbench_link_pcie_events_since_boot",
     "What the device has counted on its PCIe link since boot.", put_events_since_boot},
    {"xferbench_link_nvlink_events", "What an NVLink counted during the test.", put_nvlinks},
};

/* ---- the same of a pair: its samples are the source's, with the target as "peer" ---- */

struct pair {
    const struct xb_device_info *from;
    char peer[16]; /* the target's index */
    const struct xb_pair_verdict *verdict;
};

static void put_pair_status(struct family *family, const struct pair *pair)
{
    put_sample(family, pair->from, LABELS({"peer", pair->peer}),
               (double)pair->verdict->found.level);
}

static void put_pair_reasons(struct family *family, const struct pair *pair)
{
    const struct xb_findings *found = &pair->verdict->found;
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_link_first_of_code(found, i))
            put_sample(family, pair->from,
                       LABELS({"peer", pair->peer}, {"code", found->reasons[i].code}), 1);
}

static void put_pair_bandwidth(struct family *family, const struct pair *pair)
{
    put_known(family, pair->from, LABELS({"peer", pair->peer}), pair->verdict->bandwidth.measured);
}

static void put_pair_ceiling(struct family *family, const struct pair *pair)
{
    put_known(family, pair->from, LABELS({"peer", pair->peer}), pair->verdict->ceiling);
}

static void put_pair_limits(struct family *family, const struct pair *pair)
{
    const struct xb_link_direction *bandwidth = &pair->verdict->bandwidth;
    put_known(family, pair->from, LABELS({"peer", pair->peer}, {"level", "warning"}),
              bandwidth->warning);
    put_known(family, pair->from, LABELS({"peer", pair->peer}, {"level", "critical"}),
              bandwidth->critical);
}

static void put_pair_links(struct family *family, const struct pair *pair)
{
    put_known(family, pair->from, LABELS({"peer", pair->peer}, {"link", pair->verdict->reach.link}),
              pair->verdict->reach.links);
}

static const struct {
    const char *name, *help;
    void (*put)(struct family *family, const struct pair *pair);
} pair_families[] = {
    {"xferbench_link_peer_status",
     "Verdict on direct copies to a peer: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
     put_pair_status},
    {"xferbench_link_peer_reason", "1 for each code that the verdict gives as a reason.",
     put_pair_reasons},
    {"xferbench_link_peer_bandwidth_bytes_per_second", "Median of verified direct copies.",
     put_pair_bandwidth},
    {"xferbench_link_peer_ceiling_bytes_per_second", "Number of links by the rate of each.",
     put_pair_ceiling},
    {"xferbench_link_peer_limit_bytes_per_second", "Bandwidth below which the level is reached.",
     put_pair_limits},
    {"xferbench_link_peer_links", "Active links between the two.", put_pair_links},
};

static void put_pairs(FILE *stream, const struct xb_link_report *report)
{
    for (size_t i = 0; i < sizeof pair_families / sizeof pair_families[0]; i++) {
        struct family family = {
            .stream = stream, .name = pair_families[i].name, .help = pair_families[i].help};
        for (size_t j = 0; j < report->pair_count; j++) {
            struct pair pair = {.from = &report->devices[report->pairs[j].from].info,
                                .verdict = &report->pair_verdicts[j]};
            snprintf(pair.peer, sizeof pair.peer, "%u",
                     report->devices[report->pairs[j].to].info.index);
            pair_families[i].put(&family, &pair);
        }
    }
}

static void put_node(FILE *stream, const char *name, const char *help, long long value)
{
    struct family family = {.stream = stream, .name = name, .help = help};
    begin(&family);
    fprintf(stream, " %lld\n", value);
}

enum xb_status xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report,
                                        struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    put_node(stream, "xferbench_link_node_status",
             "The worst verdict of the node: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
             (long long)report->level);
    put_node(stream, "xferbench_link_test_timestamp_seconds",
             "When the test ended, in seconds since 1970.", (long long)time(NULL));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct family family = {
            .stream = stream, .name = families[i].name, .help = families[i].help};
        for (size_t j = 0; j < report->device_count; j++)
            families[i].put(&family, &report->devices[j].info, &report->verdicts[j]);
    }
    put_pairs(stream, report);
    enum xb_status status = xb_stream_finish(stream, "the metrics", error);
    xb_plain_locale_leave(previous);
    return status;
}
