/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "finish.h"
#include "link_facts.h"

#include "text.h"

#include <inttypes.h>
#include <string.h>

/* ---- the text ---- */

/* Lowest and highest bandwidth of the devices that have one. */
struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    if (!xb_link_known(value))
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

static const char *lanes_of(const struct xb_link_report *report, size_t device, char *text,
                            size_t size)
{
    const struct xb_pcie_seen *seen = xb_link_bottleneck(report, device);
    if (seen == NULL)
        snprintf(text, size, "link not known");
    else
        xb_link_lanes(seen->speed_gts, seen->width, text, size);
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
        lanes_of(report, i, own, sizeof own);
        for (size_t j = 0; j < report->device_count; j++) {
            bool equal = strcmp(own, lanes_of(report, j, other, sizeof other)) == 0;
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
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_link_attempt *attempt = xb_link_judged(report, i);
        if (attempt == NULL)
            continue;
        widen(&h2d, attempt->h2d);
        widen(&d2h, attempt->d2h);
    }
    fprintf(stream, "%zu GPU%s: ", report->device_count, report->device_count == 1 ? "" : "s");
    put_lanes(stream, report);
    put_range(stream, "H2D", h2d);
    put_range(stream, "D2H", d2h);
    if (h2d.high > 0 || d2h.high > 0)
        fputs(" GB/s", stream);
}

/* The worst reason in full, of the others the codes: some cores cut a line at 1 KiB. */
static void put_bad(FILE *stream, const struct xb_link_report *report, size_t device)
{
    const struct xb_device_info *info = &report->devices[device].info;
    const struct xb_verdict *verdict = &report->verdicts[device];
    fprintf(stream, "GPU %u ", info->index);
    if (info->pci_bdf[0] != '\0') {
        xb_link_put_safe(stream, info->pci_bdf);
        fputc(' ', stream);
    }
    fputs(xb_level_name(verdict->level), stream);
    for (size_t i = 0; i < verdict->reason_count && i < XB_VERDICT_REASONS; i++) {
        if (!xb_link_first_of_code(verdict, i))
            continue;
        fprintf(stream, "%s %s", i > 0 ? "," : "", verdict->reasons[i].code);
        if (i > 0)
            continue;
        fputs(" (", stream);
        xb_link_put_safe(stream, verdict->reasons[i].text);
        fputc(')', stream);
    }
}

static void put_all_bad(FILE *stream, const struct xb_link_report *report)
{
    const char *separator = "";
    size_t count = 0;
    for (size_t i = 0; i < report->device_count; i++)
        count += report->verdicts[i].level != XB_LEVEL_OK;
    if (report->device_count > 0)
        fprintf(stream, "%zu of %zu GPUs: ", count, report->device_count);
    for (size_t i = 0; i < XB_LINK_BAD_LEVELS; i++) {
        for (size_t j = 0; j < report->device_count; j++) {
            if (report->verdicts[j].level != xb_link_bad_levels[i])
                continue;
            fputs(separator, stream);
            put_bad(stream, report, j);
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
    double warning, critical; /* bad below it; 0 for none */
    double most;              /* 0 for none */
    int decimals;
};

/* Below is bad: a range "48:" is what is good. */
static void put_at_least(FILE *stream, const struct entry *entry, double limit)
{
    if (xb_link_known(limit))
        fprintf(stream, "%.*f:", entry->decimals, limit);
    fputc(';', stream);
}

static void put_entry(FILE *stream, unsigned gpu, struct entry entry)
{
    fprintf(stream, " 'gpu%u_%s'=%.*f;", gpu, entry.name, entry.decimals, entry.value);
    put_at_least(stream, &entry, entry.warning);
    put_at_least(stream, &entry, entry.critical);
    fputs("0;", stream);
    if (xb_link_known(entry.most))
        fprintf(stream, "%.*f", entry.decimals, entry.most);
}

static void put_bandwidths(FILE *stream, const struct xb_link_report *report, size_t device)
{
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    const struct xb_verdict *verdict = &report->verdicts[device];
    unsigned gpu = report->devices[device].info.index;
    if (attempt != NULL && xb_link_known(attempt->h2d))
        put_entry(stream, gpu,
                  (struct entry){.name = "h2d_GBps",
                                 .value = attempt->h2d / 1e9,
                                 .warning = verdict->warn_h2d / 1e9,
                                 .critical = verdict->min_h2d / 1e9,
                                 .most = verdict->ceiling.h2d / 1e9,
                                 .decimals = 3});
    if (attempt != NULL && xb_link_known(attempt->d2h))
        put_entry(stream, gpu,
                  (struct entry){.name = "d2h_GBps",
                                 .value = attempt->d2h / 1e9,
                                 .warning = verdict->warn_d2h / 1e9,
                                 .critical = verdict->min_d2h / 1e9,
                                 .most = verdict->ceiling.d2h / 1e9,
                                 .decimals = 3});
}

/* What is expected is expected of the link at the slot. Nothing is where nobody said so: what both
 * ends can do is the maximum of the entry. */
static double expected(const struct xb_link_attempt *attempt, size_t hop,
                       const struct xb_limit *limit)
{
    bool at_slot = !attempt->at_rest.hops[hop].on_package;
    for (size_t i = 0; i < hop; i++)
        at_slot = at_slot && attempt->at_rest.hops[i].on_package;
    return at_slot && limit->is_set ? limit->value : 0;
}

static void put_link(FILE *stream, const struct xb_link_report *report, size_t device)
{
    const struct xb_pcie_seen *seen = xb_link_bottleneck(report, device);
    const struct xb_link_limits *limits = &report->limits[device];
    size_t hop = report->verdicts[device].bottleneck;
    unsigned gpu = report->devices[device].info.index;
    if (seen == NULL)
        return;
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    unsigned generation = xb_pcie_generation(seen->speed_gts);
    put_entry(stream, gpu,
              (struct entry){.name = "width",
                             .value = seen->width,
                             .critical = expected(attempt, hop, &limits->width),
                             .most = xb_link_best_width(attempt, hop)});
    if (generation > 0)
        put_entry(stream, gpu,
                  (struct entry){.name = "generation",
                                 .value = generation,
                                 .critical = expected(attempt, hop, &limits->generation),
                                 .most = xb_pcie_generation(xb_link_best_speed(attempt, hop))});
}

static void put_count(FILE *stream, unsigned gpu, const char *name, uint64_t count)
{
    fprintf(stream, " 'gpu%u_%s'=%" PRIu64 ";;;0;", gpu, name, count);
}

static void put_counters(FILE *stream, const struct xb_link_device *device)
{
    struct xb_pcie_aer errors = xb_link_errors(device);
    uint64_t replays;
    if (xb_link_replays(device, &replays))
        put_count(stream, device->info.index, "replays", replays);
    if (!errors.known)
        return;
    put_count(stream, device->info.index, "aer_correctable", errors.correctable);
    put_count(stream, device->info.index, "aer_nonfatal", errors.nonfatal);
    put_count(stream, device->info.index, "aer_fatal", errors.fatal);
}

/* Whether a device has any performance data. A bar with nothing behind it is no line. */
static bool has_data(const struct xb_link_report *report, size_t device)
{
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    uint64_t replays;
    return (attempt != NULL && (xb_link_known(attempt->h2d) || xb_link_known(attempt->d2h))) ||
           xb_link_bottleneck(report, device) != NULL ||
           xb_link_replays(&report->devices[device], &replays) ||
           xb_link_errors(&report->devices[device]).known;
}

static void put_data(FILE *stream, const struct xb_link_report *report)
{
    bool any = false;
    for (size_t i = 0; i < report->device_count; i++)
        any = any || has_data(report, i);
    if (any)
        fputs(" |", stream);
    for (size_t i = 0; i < report->device_count; i++) {
        put_bandwidths(stream, report, i);
        put_link(stream, report, i);
        put_counters(stream, &report->devices[i]);
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
    enum xb_status status = xb_sink_finish(stream, "the line for Nagios", error);
    xb_plain_locale_leave(previous);
    return status;
}
