/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "format.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* ---- the text ---- */

/* Lowest and highest bandwidth of the devices that have one. */
struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    if (value <= 0)
        return;
    range->low = range->high > 0 && range->low < value ? range->low : value;
    range->high = range->high > value ? range->high : value;
}

static void put_range(FILE *stream, const char *name, struct range range)
{
    char low[32];
    char high[32];
    snprintf(low, sizeof low, "%.1f", range.low / 1e9);
    snprintf(high, sizeof high, "%.1f", range.high / 1e9);
    if (range.high > 0 && strcmp(low, high) == 0)
        fprintf(stream, ", %s %s", name, low);
    else if (range.high > 0)
        fprintf(stream, ", %s %s to %s", name, low, high);
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
    struct range h2d = {0};
    struct range d2h = {0};
    struct range peers = {0};
    for (size_t i = 0; i < report->device_count; i++) {
        widen(&h2d, report->verdicts[i].h2d.measured);
        widen(&d2h, report->verdicts[i].d2h.measured);
    }
    for (size_t i = 0; i < report->pair_count; i++)
        widen(&peers, report->pair_verdicts[i].bandwidth.measured);
    fprintf(stream, "%zu GPU%s: ", report->device_count, report->device_count == 1 ? "" : "s");
    put_lanes(stream, report);
    put_range(stream, "H2D", h2d);
    put_range(stream, "D2H", d2h);
    put_range(stream, "peers", peers);
    if (h2d.high > 0 || d2h.high > 0 || peers.high > 0)
        fputs(" GB/s", stream);
}

/* Tells the worst reason in full and only the codes of the others: some monitoring cores cut a line
 * at 1 KiB. */
static void put_findings(FILE *stream, const struct xb_findings *found)
{
    fputs(xb_level_name(found->level), stream);
    for (size_t i = 0; i < found->reason_count; i++) {
        if (!xb_link_first_of_code(found, i))
            continue;
        fprintf(stream, "%s %s", i > 0 ? "," : "", found->reasons[i].code);
        if (i > 0)
            continue;
        fputs(" (", stream);
        xb_link_put_safe(stream, found->reasons[i].text);
        fputc(')', stream);
    }
}

static void put_bad(FILE *stream, const struct xb_link_report *report, size_t device)
{
    const struct xb_device_info *info = &report->devices[device].info;
    fprintf(stream, "GPU %u ", info->index);
    if (info->pci_bdf[0] != '\0') {
        xb_link_put_safe(stream, info->pci_bdf);
        fputc(' ', stream);
    }
    put_findings(stream, &report->verdicts[device].found);
}

static void put_bad_pair(FILE *stream, const struct xb_link_report *report, size_t pair)
{
    fprintf(stream, "GPU %u to %u ", report->devices[report->pairs[pair].from].info.index,
            report->devices[report->pairs[pair].to].info.index);
    put_findings(stream, &report->pair_verdicts[pair].found);
}

/* "1 of 8 GPUs, 2 of 56 pairs: " */
static void put_counts(FILE *stream, const struct xb_link_report *report)
{
    size_t count = 0;
    size_t pair_count = 0;
    for (size_t i = 0; i < report->device_count; i++)
        count += report->verdicts[i].found.level != XB_LEVEL_OK;
    for (size_t i = 0; i < report->pair_count; i++)
        pair_count += report->pair_verdicts[i].found.level != XB_LEVEL_OK;
    if (report->device_count == 0)
        return;
    fprintf(stream, "%zu of %zu GPUs", count, report->device_count);
    if (report->pair_count > 0)
        fprintf(stream, ", %zu of %zu pairs", pair_count, report->pair_count);
    fputs(": ", stream);
}

static void put_all_bad(FILE *stream, const struct xb_link_report *report)
{
    const char *separator = "";
    put_counts(stream, report);
    for (size_t i = 0; i < XB_LINK_BAD_LEVELS; i++) {
        for (size_t j = 0; j < report->device_count; j++) {
            if (report->verdicts[j].found.level != xb_link_bad_levels[i])
                continue;
            fputs(separator, stream);
            put_bad(stream, report, j);
            separator = "; ";
        }
        for (size_t j = 0; j < report->pair_count; j++) {
            if (report->pair_verdicts[j].found.level != xb_link_bad_levels[i])
                continue;
            fputs(separator, stream);
            put_bad_pair(stream, report, j);
            separator = "; ";
        }
    }
    if (report->nothing[0] != '\0')
        fputs(separator, stream);
    xb_link_put_safe(stream, report->nothing);
}

/* ---- performance data: 'label'=value;warn;crit;min;max ---- */

struct entry {
    const char *name;
    double value;
    double warning, critical; /* below is bad; 0 for none */
    double most;              /* 0 for none */
    int decimals;
};

/* The range "48:" says that 48 and more is good. */
static void put_at_least(FILE *stream, const struct entry *entry, double limit)
{
    if (limit > 0)
        fprintf(stream, "%.*f:", entry->decimals, limit);
    fputc(';', stream);
}

static void put_entry(FILE *stream, unsigned gpu, struct entry entry)
{
    fprintf(stream, " 'gpu%u_%s'=%.*f;", gpu, entry.name, entry.decimals, entry.value);
    put_at_least(stream, &entry, entry.warning);
    put_at_least(stream, &entry, entry.critical);
    fputs("0;", stream);
    if (entry.most > 0)
        fprintf(stream, "%.*f", entry.decimals, entry.most);
}

static void put_bandwidth(FILE *stream, unsigned gpu, const char *name,
                          const struct xb_link_direction *direction, double ceiling)
{
    if (direction->measured > 0)
        put_entry(stream, gpu,
                  (struct entry){.name = name,
                                 .value = direction->measured / 1e9,
                                 .warning = direction->warning / 1e9,
                                 .critical = direction->critical / 1e9,
                                 .most = ceiling / 1e9,
                                 .decimals = 3});
}

/* --expect applies to the slot's link. Without it nothing is expected: what both ends can do is the
 * maximum of the entry. */
static double expected(const struct xb_verdict *verdict, const struct xb_limit *limit)
{
    return verdict->bottleneck == verdict->facts.slot && limit->is_set ? limit->value : 0;
}

static void put_link(FILE *stream, unsigned gpu, const struct xb_verdict *verdict)
{
    const struct xb_lanes lanes = xb_verdict_lanes(verdict);
    if (lanes.width == 0)
        return;
    const struct xb_lanes best = verdict->facts.hops[verdict->bottleneck].best;
    unsigned generation = xb_pcie_generation(lanes.speed_gts);
    put_entry(stream, gpu,
              (struct entry){.name = "width",
                             .value = lanes.width,
                             .critical = expected(verdict, &verdict->limits.width),
                             .most = best.width});
    if (generation > 0)
        put_entry(stream, gpu,
                  (struct entry){.name = "generation",
                                 .value = generation,
                                 .critical = expected(verdict, &verdict->limits.generation),
                                 .most = xb_pcie_generation(best.speed_gts)});
}

static void put_count(FILE *stream, unsigned gpu, const char *name, uint64_t count)
{
    fprintf(stream, " 'gpu%u_%s'=%" PRIu64 ";;;0;", gpu, name, count);
}

static void put_counters(FILE *stream, unsigned gpu, const struct xb_link_facts *facts)
{
    if (facts->replays_known)
        put_count(stream, gpu, "replays", facts->replays);
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++) {
        char name[48];
        snprintf(name, sizeof name, "nvlink_%s", xb_nvlink_counter_key(i));
        if (facts->nvlinks.counted[i])
            put_count(stream, gpu, name, facts->nvlinks.rises[i]);
    }
    if (!facts->errors.known)
        return;
    put_count(stream, gpu, "aer_correctable", facts->errors.correctable);
    put_count(stream, gpu, "aer_nonfatal", facts->errors.nonfatal);
    put_count(stream, gpu, "aer_fatal", facts->errors.fatal);
}

/* Whether a device has any performance data: without any, no bar may be written. */
static bool has_data(const struct xb_verdict *verdict)
{
    return verdict->h2d.measured > 0 || verdict->d2h.measured > 0 ||
           xb_verdict_lanes(verdict).width > 0 || verdict->facts.replays_known ||
           xb_nvlink_facts_known(&verdict->facts.nvlinks) || verdict->facts.errors.known;
}

static void put_data(FILE *stream, const struct xb_link_report *report)
{
    bool any = false;
    for (size_t i = 0; i < report->device_count; i++)
        any = any || has_data(&report->verdicts[i]);
    for (size_t i = 0; i < report->pair_count; i++)
        any = any || report->pair_verdicts[i].bandwidth.measured > 0;
    if (any)
        fputs(" |", stream);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_verdict *verdict = &report->verdicts[i];
        unsigned gpu = report->devices[i].info.index;
        put_bandwidth(stream, gpu, "h2d_GBps", &verdict->h2d, verdict->ceiling.h2d);
        put_bandwidth(stream, gpu, "d2h_GBps", &verdict->d2h, verdict->ceiling.d2h);
        put_link(stream, gpu, verdict);
        put_counters(stream, gpu, &verdict->facts);
    }
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        char name[32];
        snprintf(name, sizeof name, "to_gpu%u_GBps",
                 report->devices[report->pairs[i].to].info.index);
        put_bandwidth(stream, report->devices[report->pairs[i].from].info.index, name,
                      &verdict->bandwidth, verdict->ceiling);
    }
}

enum xb_status xb_link_nagios_write(FILE *stream, const struct xb_link_report *report,
                                    struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    fprintf(stream, "XFERBENCH LINK %s - ", xb_level_name(report->level));
    if (report->level == XB_LEVEL_OK)
        put_good(stream, report);
    else
        put_all_bad(stream, report);
    put_data(stream, report);
    fputc('\n', stream);
    enum xb_status status = xb_stream_finish(stream, "the line for Nagios", error);
    xb_plain_locale_leave(previous);
    return status;
}
