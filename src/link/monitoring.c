/* SPDX-License-Identifier: Apache-2.0 */
/* The formats that programs read: a line for Nagios, one for LBNL NHC, and Prometheus' metrics. */
#include "report.h"

#include "base/stream.h"
#include "base/text.h"
#include "present/metrics.h"
#include "record/record.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Writes text for a line that a shell or a monitoring core may take apart: printable ASCII, without
 * quotes, the bar that begins performance data, and what else a shell gives a meaning. (NHC's die()
 * gives its message to eval between apostrophes; Nagios' illegal_macro_output_chars.) */
static void write_safe(FILE *stream, const char *text)
{
    char plain[XB_NOTE_SIZE];
    snprintf(plain, sizeof plain, "%s", text);
    xb_make_plain(plain);
    for (const char *c = plain; *c != '\0'; c++)
        if (strchr("'\"`", *c) == NULL)
            fputc(*c == '|' ? '/' : strchr("$&<>\\!", *c) != NULL ? ' ' : *c, stream);
}

/* "CRITICAL XB-LINK-WIDTH (x8 of x16 ...), XB-LINK-SPEED": the worst reason in full and only the
 * codes of the others, because some monitoring cores cut a line at 1 KiB. Brief are the codes
 * alone, or the level where there is no reason. */
static void write_findings(FILE *stream, const struct xb_findings *found, bool is_brief)
{
    const char *separator = is_brief ? "" : " ";
    if (!is_brief || found->reason_count == 0)
        fputs(xb_level_name(found->level), stream);
    for (size_t i = 0; i < found->reason_count; i++) {
        if (!xb_finding_is_first(found, i) || found->reasons[i].accepted != NULL)
            continue;
        fprintf(stream, "%s%s", separator, found->reasons[i].code);
        separator = is_brief ? " " : ", ";
        if (i > 0 || is_brief)
            continue;
        fputs(" (", stream);
        write_safe(stream, found->reasons[i].text);
        fputc(')', stream);
    }
}

/* Tells all devices and pairs that are not OK, CRITICAL ones first, and why no device was tested.
 * `separator` stands before the first, `next` before the others. */
static void write_all_bad(FILE *stream, const struct xb_link_report *report, bool is_brief,
                          const char *separator, const char *next)
{
    /* In the order of xb_level_worse. */
    static const enum xb_level levels[] = {XB_LEVEL_CRITICAL, XB_LEVEL_WARNING, XB_LEVEL_UNKNOWN};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        for (size_t j = 0; j < xb_link_subjects(report); j++) {
            const struct xb_link_subject of = xb_link_subject_at(report, j);
            if (of.found->level != levels[i])
                continue;
            fprintf(stream, "%sGPU %u ", separator, of.gpu->index);
            if (of.peer != NULL)
                fprintf(stream, "to %u ", of.peer->index);
            else
                write_safe(stream, of.gpu->pci_bdf);
            fputs(of.peer == NULL && of.gpu->pci_bdf[0] != '\0' ? " " : "", stream);
            write_findings(stream, of.found, is_brief);
            separator = next;
        }
    }
    fputs(report->nothing[0] != '\0' ? separator : "", stream);
    write_safe(stream, report->nothing);
}

/* NHC keeps the line as the reason why the node is out of service: codes are enough there. */
enum xb_status xb_link_nhc_write(FILE *stream, const struct xb_link_report *report,
                                 struct xb_error *error)
{
    if (report->level != XB_LEVEL_OK) {
        fprintf(stream, "xferbench link %s", xb_level_name(report->level));
        write_all_bad(stream, report, true, ": ", ", ");
        fputc('\n', stream);
    }
    return xb_stream_finish(stream, "the line for NHC", error);
}

/* ---- Nagios: the text ---- */

/* "Gen5 x16", or "3 of Gen5 x16, 1 of Gen4 x16" where they differ. */
static void write_lanes(FILE *stream, const struct xb_link_report *report)
{
    char texts[XB_RUN_DEVICES][64];
    size_t counts[XB_RUN_DEVICES] = {0}; /* of devices like this one, by the first of them */
    const char *separator = "";
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_lanes lanes = xb_verdict_lanes(&report->verdicts[i]);
        size_t first = 0;
        snprintf(texts[i], sizeof texts[i], "%s",
                 lanes.width > 0 ? XB_LINK_LANES(lanes) : "link not known");
        while (strcmp(texts[first], texts[i]) != 0)
            first++;
        counts[first]++;
    }
    for (size_t i = 0; i < report->device_count; i++) {
        if (counts[i] == 0)
            continue;
        fputs(separator, stream);
        if (counts[i] < report->device_count)
            fprintf(stream, "%zu of ", counts[i]);
        fputs(texts[i], stream);
        separator = ", ";
    }
}

static void write_good(FILE *stream, const struct xb_link_report *report)
{
    static const char *const names[] = {"H2D", "D2H", "peers"};
    double low[3] = {0}, high[3] = {0}; /* of the bandwidths that were measured; 0 where none was */
    bool any = false;
    for (size_t i = 0; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        for (size_t j = 0; j < 2 && of.ways[j].copies != NULL; j++) {
            size_t k = of.peer != NULL ? 2 : j;
            double value = of.ways[j].copies->measured;
            if (value <= 0)
                continue;
            low[k] = high[k] > 0 ? fmin(low[k], value) : value;
            high[k] = fmax(high[k], value);
        }
    }
    fprintf(stream, "%zu GPU%s: ", report->device_count, XB_PLURAL(report->device_count));
    write_lanes(stream, report);
    for (size_t i = 0; i < 3; i++)
        if (high[i] > 0) {
            fprintf(stream, ", %s %s", names[i], XB_LINK_RANGE(low[i], high[i], 1));
            any = true;
        }
    fputs(any ? " GB/s" : "", stream);
}

/* ---- Nagios: performance data, 'label'=value;warn;crit;min;max ---- */

/* The performance data of a report, behind a bar: without any, no bar may be written. */
struct data {
    FILE *stream;
    bool begun;
    unsigned gpu; /* that the next entries are of */
};

/* Below a limit is bad: the range "48:" says that 48 and more is good. 0 for no limit, no most. The
 * value may be a counter of 64 bits, which a double does not hold. */
static void write_entry(struct data *data, const char *name, int decimals, long double value,
                        const double limits[2], double most)
{
    fprintf(data->stream, "%s 'gpu%u_%s'=%.*Lf;", data->begun ? "" : " |", data->gpu, name,
            decimals, value);
    data->begun = true;
    for (size_t i = 0; i < 2; i++) {
        if (limits[i] > 0)
            fprintf(data->stream, "%.*f:", decimals, limits[i]);
        fputc(';', data->stream);
    }
    fputs("0;", data->stream);
    if (most > 0)
        fprintf(data->stream, "%.*f", decimals, most);
}

static void write_count(struct data *data, const char *name, uint64_t count)
{
    write_entry(data, name, 0, count, (double[2]){0}, 0);
}

static void write_gpu(struct data *data, const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    const struct xb_lanes lanes = xb_verdict_lanes(verdict);
    unsigned generation = xb_pcie_generation(lanes.speed_gts);
    /* --expect applies to the slot's link. Without it nothing is expected: what both ends can do is
     * the maximum of the entry. */
    const struct xb_link_limits none = {.width = {.value = 0}};
    const struct xb_link_limits *limits =
        verdict->bottleneck == facts->slot ? &verdict->limits : &none;
    if (lanes.width > 0) {
        const struct xb_lanes best = facts->hops[verdict->bottleneck].best;
        write_entry(data, "width", 0, lanes.width, (double[]){0, limits->width.value}, best.width);
        if (generation > 0)
            write_entry(data, "generation", 0, generation, (double[]){0, limits->generation.value},
                        xb_pcie_generation(best.speed_gts));
    }
    if (facts->replays_known)
        write_count(data, "replays", facts->replays);
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        char name[48];
        snprintf(name, sizeof name, "nvlink_%s", xb_nvlink_counters[i].key);
        if (facts->nvlinks.counted[i])
            write_count(data, name, facts->nvlinks.rises[i]);
    }
    if (!facts->errors.known)
        return;
    write_count(data, "aer_correctable", facts->errors.correctable);
    write_count(data, "aer_nonfatal", facts->errors.nonfatal);
    write_count(data, "aer_fatal", facts->errors.fatal);
}

enum xb_status xb_link_nagios_write(FILE *stream, const struct xb_link_report *report,
                                    struct xb_error *error)
{
    size_t bad_pairs = 0, bad = xb_link_count_bad(report, &bad_pairs);
    fprintf(stream, "XFERBENCH LINK %s - ", xb_level_name(report->level));
    if (report->level == XB_LEVEL_OK) {
        write_good(stream, report);
    } else {
        if (report->device_count > 0)
            fprintf(stream, "%zu of %zu GPUs", bad, report->device_count);
        if (report->device_count > 0 && report->pair_count > 0)
            fprintf(stream, ", %zu of %zu pairs", bad_pairs, report->pair_count);
        fputs(report->device_count > 0 ? ": " : "", stream);
        write_all_bad(stream, report, false, "", "; ");
    }
    struct xb_words accepted;
    fputs(xb_link_accepted_text(report, &accepted) ? "; accepted: " : "", stream);
    write_safe(stream, accepted.text);
    struct data data = {.stream = stream};
    for (size_t i = 0; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        data.gpu = of.gpu->index;
        for (size_t j = 0; j < 2 && of.ways[j].copies != NULL; j++) {
            const struct xb_link_direction *copies = of.ways[j].copies;
            char name[32];
            if (of.peer != NULL)
                snprintf(name, sizeof name, "to_gpu%u_GBps", of.peer->index);
            else
                snprintf(name, sizeof name, "%s_GBps", of.ways[j].direction);
            if (copies->measured > 0)
                write_entry(&data, name, 3, copies->measured / 1e9,
                            (double[]){copies->warning / 1e9, copies->critical / 1e9},
                            of.ways[j].ceiling / 1e9);
        }
        if (of.peer == NULL)
            write_gpu(&data, of.verdict);
    }
    fputc('\n', stream);
    return xb_stream_finish(stream, "the line for Nagios", error);
}

/* ---- Prometheus: all samples of a family stand together, so every GPU and pair tells all that it
 * has for each family in turn, of which the samples of that family are written ---- */

#define LEVELS "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."
#define REASON "1 for each code that the verdict gives as a reason."
#define LIMIT "Bandwidth below which the level is reached."

#define PREFIX "xferbench_link_" /* of all names; of pairs "peer_" follows */

static const struct {
    const char *name, *help, *help_of_pairs; /* NULL: there is no such family */
} families[] = {
    {"status", "Verdict on the link: " LEVELS, "Verdict on direct copies to a peer: " LEVELS},
    {"reason", REASON, REASON},
    {"accepted", "1 for each code that is so by design, and does not count.", NULL},
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
    {"links", NULL, "Active links between the two."}};

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

static void tell_gpu(struct metrics *metrics, const struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    put(metrics, "width_lanes", NULL, known(xb_verdict_lanes(verdict).width));
    put(metrics, "speed_transfers_per_second", NULL,
        known(xb_verdict_lanes(verdict).speed_gts * 1e9));
    XB_EACH (port, facts->ports, facts->port_count) {
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
    put(metrics, "replays", NULL, facts->replays_known ? (double)facts->replays : (double)NAN);
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        const struct xb_metric_label *kind = XB_METRIC_LABELS({"kind", xb_pcie_counters[i].key});
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
                                     {"kind", xb_nvlink_counters[j].key}),
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
        if (xb_finding_is_first(found, i) && found->reasons[i].accepted != NULL)
            put(metrics, "accepted",
                XB_METRIC_LABELS({"code", found->reasons[i].code},
                                 {"why", found->reasons[i].accepted}),
                1);
        else if (xb_finding_is_first(found, i))
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

enum xb_status xb_link_prometheus_write(FILE *stream, const struct xb_link_report *report,
                                        struct xb_error *error)
{
    xb_metric_begin(stream, PREFIX, "node_status", "The worst verdict of the node: " LEVELS);
    fprintf(stream, PREFIX "node_status %d\n", (int)report->level);
    xb_metric_begin(stream, PREFIX, "test_timestamp_seconds",
                    "When the test ended, in seconds since 1970.");
    fprintf(stream, PREFIX "test_timestamp_seconds %lld\n", (long long)time(NULL));
    const size_t count = sizeof families / sizeof families[0];
    for (size_t i = 0; i < 2 * count; i++) { /* those of GPUs, then those of pairs */
        const bool of_pairs = i >= count;
        struct metrics metrics = {.stream = stream,
                                  .prefix = of_pairs ? PREFIX "peer_" : PREFIX,
                                  .name = families[i % count].name,
                                  .help = of_pairs ? families[i % count].help_of_pairs
                                                   : families[i % count].help};
        for (size_t j = 0; metrics.help != NULL && j < xb_link_subjects(report); j++) {
            const struct xb_link_subject of = xb_link_subject_at(report, j);
            if ((of.peer != NULL) == of_pairs)
                tell(&metrics, &of);
        }
    }
    return xb_stream_finish(stream, "the metrics", error);
}
