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
 * all devices, or all pairs.
 */

struct family {
    FILE *stream;
    const char *name, *help;
    bool begun;
};

struct label {
    const char *name, *value;
};

/* What samples are of: a device, or a pair, whose samples are the source's with its target as
 * "peer". */
struct subject {
    const struct xb_device_info *gpu;
    char peer[16]; /* the target's index; "" of a device */
    const struct xb_findings *found;
    const struct xb_verdict *verdict;   /* NULL of a pair */
    const struct xb_pair_verdict *pair; /* NULL of a device */
};

static void begin(struct family *family)
{
    if (!family->begun)
        fprintf(family->stream, "# HELP %s %s\n# TYPE %s gauge\n", family->name, family->help,
                family->name);
    family->begun = true;
    fputs(family->name, family->stream);
}

/* `labels` ends with one that has no name. */
static void put_sample(struct family *family, const struct subject *subject,
                       const struct label *labels, double value)
{
    char text[32];
    begin(family);
    snprintf(text, sizeof text, "%u", subject->gpu->index);
    xb_prometheus_put_label(family->stream, '{', "gpu", text);
    xb_prometheus_put_label(family->stream, ',', "pci", subject->gpu->pci_bdf);
    if (subject->peer[0] != '\0')
        xb_prometheus_put_label(family->stream, ',', "peer", subject->peer);
    for (; labels->name != NULL; labels++)
        xb_prometheus_put_label(family->stream, ',', labels->name, labels->value);
    fprintf(family->stream, "} %s\n", xb_number_text(value, text, sizeof text));
}

/* Writes no sample of what is not known: 0 stands for that. */
static void put_known(struct family *family, const struct subject *subject,
                      const struct label *labels, double value)
{
    if (value > 0)
        put_sample(family, subject, labels, value);
}

#define LABELS(...) ((const struct label[]){__VA_ARGS__, {NULL, NULL}})
#define NO_LABEL ((const struct label[]){{NULL, NULL}})
#define TO LABELS({"direction", "h2d"})
#define FROM LABELS({"direction", "d2h"})

/* ---- a function a family: what one device or pair has to say ---- */

static void put_status(struct family *family, const struct subject *subject)
{
    bool is_pair = subject->pair != NULL;
    put_sample(family, subject, is_pair ? NO_LABEL : LABELS({"name", subject->gpu->name}),
               (double)subject->found->level);
}

/* Several reasons may have one code, and a sample may not appear twice. */
static void put_reasons(struct family *family, const struct subject *subject)
{
    const struct xb_findings *found = subject->found;
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_reason_is_first(found, i))
            put_sample(family, subject, LABELS({"code", found->reasons[i].code}), 1);
}

static void put_bandwidth(struct family *family, const struct subject *subject)
{
    if (subject->pair != NULL) {
        put_known(family, subject, NO_LABEL, subject->pair->bandwidth.measured);
        return;
    }
    put_known(family, subject, TO, subject->verdict->h2d.measured);
    put_known(family, subject, FROM, subject->verdict->d2h.measured);
}

static void put_ceiling(struct family *family, const struct subject *subject)
{
    if (subject->pair != NULL) {
        put_known(family, subject, NO_LABEL, subject->pair->ceiling);
    } else if (subject->verdict->ceiling.known) {
        put_known(family, subject, TO, subject->verdict->ceiling.h2d);
        put_known(family, subject, FROM, subject->verdict->ceiling.d2h);
    }
}

static void put_limits(struct family *family, const struct subject *subject)
{
    if (subject->pair != NULL) {
        const struct xb_link_direction *copies = &subject->pair->bandwidth;
        put_known(family, subject, LABELS({"level", "warning"}), copies->warning);
        put_known(family, subject, LABELS({"level", "critical"}), copies->critical);
        return;
    }
    const struct xb_link_direction *h2d = &subject->verdict->h2d;
    const struct xb_link_direction *d2h = &subject->verdict->d2h;
    put_known(family, subject, LABELS({"direction", "h2d"}, {"level", "warning"}), h2d->warning);
    put_known(family, subject, LABELS({"direction", "h2d"}, {"level", "critical"}), h2d->critical);
    put_known(family, subject, LABELS({"direction", "d2h"}, {"level", "warning"}), d2h->warning);
    put_known(family, subject, LABELS({"direction", "d2h"}, {"level", "critical"}), d2h->critical);
}

static void put_width(struct family *family, const struct subject *subject)
{
    put_known(family, subject, NO_LABEL, xb_verdict_lanes(subject->verdict).width);
}

static void put_speed(struct family *family, const struct subject *subject)
{
    put_known(family, subject, NO_LABEL, xb_verdict_lanes(subject->verdict).speed_gts * 1e9);
}

static void put_errors(struct family *family, const struct subject *subject)
{
    const struct xb_link_facts *facts = &subject->verdict->facts;
    for (size_t i = 0; i < facts->port_count; i++) {
        const struct xb_link_port *port = &facts->ports[i];
        const char *const severities[] = {"correctable", "nonfatal", "fatal"};
        const uint64_t counts[] = {port->errors.correctable, port->errors.nonfatal,
                                   port->errors.fatal};
        char hop[32];
        snprintf(hop, sizeof hop, "%zu", port->hop);
        for (size_t j = 0; port->errors.known && j < sizeof counts / sizeof counts[0]; j++)
            put_sample(family, subject,
                       LABELS({"hop", hop}, {"end", port->is_upper ? "upper" : "lower"},
                              {"port", port->bdf}, {"severity", severities[j]}),
                       (double)counts[j]);
    }
}

static void put_replays(struct family *family, const struct subject *subject)
{
    if (subject->verdict->facts.replays_known)
        put_sample(family, subject, NO_LABEL, (double)subject->verdict->facts.replays);
}

static void put_counts(struct family *family, const struct subject *subject, const uint64_t *counts)
{
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++)
        if (subject->verdict->facts.counted[i])
            put_sample(family, subject, LABELS({"kind", xb_pcie_counter_key(i)}),
                       (double)counts[i]);
}

static void put_events(struct family *family, const struct subject *subject)
{
    put_counts(family, subject, subject->verdict->facts.rises);
}

static void put_events_since_boot(struct family *family, const struct subject *subject)
{
    put_counts(family, subject, subject->verdict->facts.since_boot);
}

static void put_nvlinks(struct family *family, const struct subject *subject)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink_seen *link = &subject->verdict->facts.nvlinks.links[i];
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        for (enum xb_nvlink_counter j = 0; j < XB_NVLINK_COUNTERS; j++)
            if (link->counted[j])
                put_sample(family, subject,
                           LABELS({"link", number}, {"kind", xb_nvlink_counter_key(j)}),
                           (double)link->rises[j]);
    }
}

static void put_peer_links(struct family *family, const struct subject *subject)
{
    put_known(family, subject, LABELS({"link", subject->pair->reach.link}),
              subject->pair->reach.links);
}

static const struct {
    bool of_pairs;
    const char *name, *help;
    void (*put)(struct family *family, const struct subject *subject);
} families[] = {
    {false, "xferbench_link_status", "Verdict on the link: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
     put_status},
    {false, "xferbench_link_reason", "1 for each code that the verdict gives as a reason.",
     put_reasons},
    {false, "xferbench_link_bandwidth_bytes_per_second", "Median of verified pinned copies.",
     put_bandwidth},
    {false, "xferbench_link_ceiling_bytes_per_second",
     "What the link that limits the path can carry of a program's data.", put_ceiling},
    {false, "xferbench_link_limit_bytes_per_second", "Bandwidth below which the level is reached.",
     put_limits},
    {false, "xferbench_link_width_lanes", "Lanes under load of the link that limits the path.",
     put_width},
    {false, "xferbench_link_speed_transfers_per_second",
     "Rate of a lane under load of the link that limits the path.", put_speed},
    {false, "xferbench_link_aer_errors",
     "PCIe errors that a port counted during the test; hop 0 is the device's own link.",
     put_errors},
    {false, "xferbench_link_replays", "PCIe packets that the device sent again during the test.",
     put_replays},
    {false, "xferbench_link_pcie_events",
     "What the device counted on its PCIe link during the test.", put_events},
    {false, "xferbench_link_pcie_events_since_boot",
     "What the device has counted on its PCIe link since boot.", put_events_since_boot},
    {false, "xferbench_link_nvlink_events", "What an NVLink counted during the test.", put_nvlinks},
    {true, "xferbench_link_peer_status",
     "Verdict on direct copies to a peer: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.", put_status},
    {true, "xferbench_link_peer_reason", "1 for each code that the verdict gives as a reason.",
     put_reasons},
    {true, "xferbench_link_peer_bandwidth_bytes_per_second", "Median of verified direct copies.",
     put_bandwidth},
    {true, "xferbench_link_peer_ceiling_bytes_per_second", "Number of links by the rate of each.",
     put_ceiling},
    {true, "xferbench_link_peer_limit_bytes_per_second",
     "Bandwidth below which the level is reached.", put_limits},
    {true, "xferbench_link_peer_links", "Active links between the two.", put_peer_links},
};

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
        for (size_t j = 0; !families[i].of_pairs && j < report->device_count; j++) {
            const struct xb_verdict *verdict = &report->verdicts[j];
            const struct subject subject = {
                .gpu = &report->devices[j].info, .found = &verdict->found, .verdict = verdict};
            families[i].put(&family, &subject);
        }
        for (size_t j = 0; families[i].of_pairs && j < report->pair_count; j++) {
            const struct xb_pair_verdict *verdict = &report->pair_verdicts[j];
            struct subject subject = {.gpu = &report->devices[report->pairs[j].from].info,
                                      .found = &verdict->found,
                                      .pair = verdict};
            snprintf(subject.peer, sizeof subject.peer, "%u",
                     report->devices[report->pairs[j].to].info.index);
            families[i].put(&family, &subject);
        }
    }
    enum xb_status status = xb_stream_finish(stream, "the metrics", error);
    xb_plain_locale_leave(previous);
    return status;
}
