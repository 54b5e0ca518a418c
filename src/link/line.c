/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The formats of one line: for Nagios, and for LBNL NHC. */
#include "base/stream.h"
#include "report.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/*
 * Writes text for a line that a shell or a monitoring core may take apart: printable ASCII, without
 * quotes, the bar that begins performance data, and what else a shell gives a meaning. (NHC's die()
 * gives its message to eval between apostrophes; Nagios' illegal_macro_output_chars.)
 */
static void put_safe(FILE *stream, const char *text)
{
    char plain[XB_NOTE_SIZE];
    snprintf(plain, sizeof plain, "%s", text);
    xb_make_plain(plain);
    for (const char *c = plain; *c != '\0'; c++) {
        if (*c == '|')
            fputc('/', stream);
        else if (strchr("'\"`", *c) != NULL)
            continue;
        else
            fputc(strchr("$&<>\\!", *c) != NULL ? ' ' : *c, stream);
    }
}

typedef void put_findings(FILE *stream, const struct xb_findings *found);

/* Tells all devices and pairs that are not OK, CRITICAL ones first, and why no device was tested.
 * `separator` stands before the first, `next` before the others. */
static void put_all_bad(FILE *stream, const struct xb_link_report *report, put_findings *put,
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
                put_safe(stream, of.gpu->pci_bdf);
            fputs(of.peer == NULL && of.gpu->pci_bdf[0] != '\0' ? " " : "", stream);
            put(stream, of.found);
            separator = next;
        }
    }
    fputs(report->nothing[0] != '\0' ? separator : "", stream);
    put_safe(stream, report->nothing);
}

/* ---- NHC ---- */

/* "XB-LINK-WIDTH XB-LINK-SPEED"; the level where there is no reason. */
static void put_codes(FILE *stream, const struct xb_findings *found)
{
    if (found->reason_count == 0)
        fputs(xb_level_name(found->level), stream);
    for (size_t i = 0; i < found->reason_count; i++)
        if (xb_finding_is_first(found, i))
            fprintf(stream, "%s%s", i > 0 ? " " : "", found->reasons[i].code);
}

/* NHC keeps the line as the reason why the node is out of service: codes are enough there. */
enum xb_status xb_link_nhc_write(FILE *stream, const struct xb_link_report *report,
                                 struct xb_error *error)
{
    if (report->level != XB_LEVEL_OK) {
        fprintf(stream, "xferbench link %s", xb_level_name(report->level));
        put_all_bad(stream, report, put_codes, ": ", ", ");
        fputc('\n', stream);
    }
    return xb_stream_finish(stream, "the line for NHC", error);
}

/* ---- Nagios: the text ---- */

/* Lowest and highest of the bandwidths that were measured; `high` is 0 where none was. */
struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    if (value <= 0)
        return;
    range->low = range->high > 0 ? fmin(range->low, value) : value;
    range->high = fmax(range->high, value);
}

static void put_range(FILE *stream, const char *name, struct range range)
{
    char text[XB_LINK_RANGE];
    if (range.high > 0)
        fprintf(stream, ", %s %s", name, xb_link_range_text(range.low, range.high, 1, text));
}

static const char *lanes_of(const struct xb_verdict *verdict, char *text, size_t size)
{
    const struct xb_lanes lanes = xb_verdict_lanes(verdict);
    if (lanes.width > 0)
        return xb_link_lanes_text(lanes, text, size);
    snprintf(text, size, "link not known");
    return text;
}

/* "Gen5 x16", or "3 of Gen5 x16, 1 of Gen4 x16" where they differ. */
static void put_lanes(FILE *stream, const struct xb_link_report *report)
{
    char own[64];
    char other[64];
    const char *separator = "";
    for (size_t i = 0; i < report->device_count; i++) {
        size_t same = 0;
        bool seen_before = false;
        lanes_of(&report->verdicts[i], own, sizeof own);
        for (size_t j = 0; j < report->device_count; j++) {
            bool equal = strcmp(own, lanes_of(&report->verdicts[j], other, sizeof other)) == 0;
            same += equal;
            seen_before = seen_before || (equal && j < i);
        }
        if (seen_before)
            continue;
        fputs(separator, stream);
        if (same < report->device_count)
            fprintf(stream, "%zu of ", same);
        fputs(own, stream);
        separator = ", ";
    }
}

static void put_good(FILE *stream, const struct xb_link_report *report)
{
    struct range ranges[3] = {0};
    for (size_t i = 0; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        for (size_t j = 0; j < 2 && of.ways[j].copies != NULL; j++)
            widen(&ranges[of.peer != NULL ? 2 : j], of.ways[j].copies->measured);
    }
    fprintf(stream, "%zu GPU%s: ", report->device_count, report->device_count == 1 ? "" : "s");
    put_lanes(stream, report);
    put_range(stream, "H2D", ranges[0]);
    put_range(stream, "D2H", ranges[1]);
    put_range(stream, "peers", ranges[2]);
    if (ranges[0].high > 0 || ranges[1].high > 0 || ranges[2].high > 0)
        fputs(" GB/s", stream);
}

/* Tells the worst reason in full and only the codes of the others: some monitoring cores cut a line
 * at 1 KiB. */
static void put_reasons(FILE *stream, const struct xb_findings *found)
{
    fputs(xb_level_name(found->level), stream);
    for (size_t i = 0; i < found->reason_count; i++) {
        if (!xb_finding_is_first(found, i))
            continue;
        fprintf(stream, "%s %s", i > 0 ? "," : "", found->reasons[i].code);
        if (i > 0)
            continue;
        fputs(" (", stream);
        put_safe(stream, found->reasons[i].text);
        fputc(')', stream);
    }
}

/* ---- Nagios: performance data, 'label'=value;warn;crit;min;max ---- */

struct entry {
    const char *name;
    double value;
    double warning, critical; /* below is bad; 0 for none */
    double most;              /* 0 for none */
    int decimals;
};

/* The performance data of a report, behind a bar: without any, no bar may be written. */
struct data {
    FILE *stream;
    bool begun;
    unsigned gpu; /* that the next entries are of */
};

/* The range "48:" says that 48 and more is good. */
static void put_at_least(FILE *stream, const struct entry *entry, double limit)
{
    if (limit > 0)
        fprintf(stream, "%.*f:", entry->decimals, limit);
    fputc(';', stream);
}

static void begin_entry(struct data *data, const char *name)
{
    fprintf(data->stream, "%s 'gpu%u_%s'=", data->begun ? "" : " |", data->gpu, name);
    data->begun = true;
}

static void put_entry(struct data *data, struct entry entry)
{
    begin_entry(data, entry.name);
    fprintf(data->stream, "%.*f;", entry.decimals, entry.value);
    put_at_least(data->stream, &entry, entry.warning);
    put_at_least(data->stream, &entry, entry.critical);
    fputs("0;", data->stream);
    if (entry.most > 0)
        fprintf(data->stream, "%.*f", entry.decimals, entry.most);
}

static void put_bandwidth(struct data *data, const struct xb_link_subject *of,
                          const struct xb_link_way *way)
{
    char name[32];
    if (of->peer != NULL)
        snprintf(name, sizeof name, "to_gpu%u_GBps", of->peer->index);
    else
        snprintf(name, sizeof name, "%s_GBps", way->direction);
    if (way->copies->measured > 0)
        put_entry(data, (struct entry){.name = name,
                                       .value = way->copies->measured / 1e9,
                                       .warning = way->copies->warning / 1e9,
                                       .critical = way->copies->critical / 1e9,
                                       .most = way->ceiling / 1e9,
                                       .decimals = 3});
}

/* --expect applies to the slot's link. Without it nothing is expected: what both ends can do is the
 * maximum of the entry. */
static double expected(const struct xb_verdict *verdict, const struct xb_limit *limit)
{
    return verdict->bottleneck == verdict->facts.slot && limit->is_set ? limit->value : 0;
}

static void put_link(struct data *data, const struct xb_verdict *verdict)
{
    const struct xb_lanes lanes = xb_verdict_lanes(verdict);
    if (lanes.width == 0)
        return;
    const struct xb_lanes best = verdict->facts.hops[verdict->bottleneck].best;
    unsigned generation = xb_pcie_generation(lanes.speed_gts);
    put_entry(data, (struct entry){.name = "width",
                                   .value = lanes.width,
                                   .critical = expected(verdict, &verdict->limits.width),
                                   .most = best.width});
    if (generation > 0)
        put_entry(data, (struct entry){.name = "generation",
                                       .value = generation,
                                       .critical = expected(verdict, &verdict->limits.generation),
                                       .most = xb_pcie_generation(best.speed_gts)});
}

static void put_count(struct data *data, const char *name, uint64_t count)
{
    begin_entry(data, name);
    fprintf(data->stream, "%" PRIu64 ";;;0;", count);
}

static void put_counters(struct data *data, const struct xb_link_facts *facts)
{
    if (facts->replays_known)
        put_count(data, "replays", facts->replays);
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        char name[48];
        snprintf(name, sizeof name, "nvlink_%s", xb_nvlink_counter_key(i));
        if (facts->nvlinks.counted[i])
            put_count(data, name, facts->nvlinks.rises[i]);
    }
    if (!facts->errors.known)
        return;
    put_count(data, "aer_correctable", facts->errors.correctable);
    put_count(data, "aer_nonfatal", facts->errors.nonfatal);
    put_count(data, "aer_fatal", facts->errors.fatal);
}

enum xb_status xb_link_nagios_write(FILE *stream, const struct xb_link_report *report,
                                    struct xb_error *error)
{
    size_t bad_pairs = 0, bad = xb_link_count_bad(report, &bad_pairs);
    fprintf(stream, "XFERBENCH LINK %s - ", xb_level_name(report->level));
    if (report->level == XB_LEVEL_OK) {
        put_good(stream, report);
    } else {
        if (report->device_count > 0)
            fprintf(stream, "%zu of %zu GPUs", bad, report->device_count);
        if (report->device_count > 0 && report->pair_count > 0)
            fprintf(stream, ", %zu of %zu pairs", bad_pairs, report->pair_count);
        fputs(report->device_count > 0 ? ": " : "", stream);
        put_all_bad(stream, report, put_reasons, "", "; ");
    }
    struct data data = {.stream = stream};
    for (size_t i = 0; i < xb_link_subjects(report); i++) {
        const struct xb_link_subject of = xb_link_subject_at(report, i);
        data.gpu = of.gpu->index;
        for (size_t j = 0; j < 2 && of.ways[j].copies != NULL; j++)
            put_bandwidth(&data, &of, &of.ways[j]);
        if (of.peer != NULL)
            continue;
        put_link(&data, of.verdict);
        put_counters(&data, &of.verdict->facts);
    }
    fputc('\n', stream);
    return xb_stream_finish(stream, "the line for Nagios", error);
}
