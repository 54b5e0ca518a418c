/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of a result as pictures show them: how a figure grows with the size of the buffer, and
 * the ways to move data side by side at the largest. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a case says ---- */

bool xb_way_is_rate(const struct xb_record_case *test)
{
    return strcmp(xb_mode_main_figure(test->mode, test->latency)->unit, XB_UNIT_SECONDS) != 0;
}

bool xb_way_value(const struct xb_record *record, const struct xb_record_case *test,
                  struct xb_statistics *value)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double unit = xb_way_is_rate(test) ? 1e9 : 1e-6;
    if (!xb_record_describe(record, test, figure->name, value) || !(value->median > 0))
        return false;
    value->median /= unit;
    value->ci95_low = value->has_interval ? value->ci95_low / unit : (double)NAN;
    value->ci95_high = value->has_interval ? value->ci95_high / unit : (double)NAN;
    return true;
}

const char *xb_way_unit(const struct xb_record_case *test)
{
    return xb_way_is_rate(test) ? "GB/s" : "us";
}

void xb_way_put_interval(struct xb_page *page, double low, double high)
{
    xb_page_cell_if(page, isfinite(low), "%s to %s", XB_DECIMAL_TEXT(low), XB_DECIMAL_TEXT(high));
}

const char *xb_way_name(struct xb_page *page, const struct xb_record *record,
                        const struct xb_parameters *parameters, const struct xb_record_case *test)
{
    struct xb_words words = {.length = 0};
    char text[64];
    xb_words_add(&words, "%.60s %.60s", test->mode, test->variant);
    for (size_t i = 0; i < parameters->count; i++) {
        const char *name = parameters->names[i];
        const char *value = xb_parameter_text(test, name, text, sizeof text);
        if (value != NULL && xb_parameter_differs(parameters, test, name))
            xb_words_add(&words, ", %.60s %.60s", name, value);
    }
    if (xb_case_is_of_pairs(test))
        xb_words_add(&words, ", %s", xb_device_text(record, test, text, sizeof text));
    return xb_page_print(page, "%s", words.text);
}

/* ---- groups ---- */

/*
 * A group is what stands in one picture (a direction of a device, or of the pairs), a way is one of
 * its curves: cases that differ in nothing but their size. Only cases with a figure are in it.
 * However many cases a file has, there are not more than so many.
 */
#define GROUPS 12
#define WAYS 40 /* in a group */

struct way {
    const struct xb_record_case **cases; /* by rising size */
    size_t count;
};

struct group {
    const struct xb_record_case *first; /* of its cases: it tells what all have in common */
    struct way ways[WAYS];
    size_t count;
    size_t left_out; /* cases of further ways */
};

struct ways {
    const struct xb_record *record;
    struct xb_parameters parameters; /* that tell ways apart */
    struct group *groups;
    size_t count;
    size_t left_out; /* cases of further groups */
};

static bool same_group(const struct xb_record_case *a, const struct xb_record_case *b)
{
    bool pairs = xb_case_is_of_pairs(a);
    return strcmp(a->direction, b->direction) == 0 && a->simultaneous == b->simultaneous &&
           pairs == xb_case_is_of_pairs(b) && (pairs || a->device == b->device) &&
           xb_way_is_rate(a) == xb_way_is_rate(b);
}

static void add_case(struct ways *ways, const struct xb_record_case *test)
{
    size_t at = 0;
    while (at < ways->count && !same_group(ways->groups[at].first, test))
        at++;
    if (at == GROUPS) {
        ways->left_out++;
        return;
    }
    struct group *group = &ways->groups[at];
    group->first = at < ways->count ? group->first : test;
    ways->count += at == ways->count;
    at = 0;
    while (at < group->count && xb_cases_order(group->ways[at].cases[0], test, XB_BUT_SIZE) != 0)
        at++;
    if (at == WAYS) {
        group->left_out++;
        return;
    }
    struct way *way = &group->ways[at];
    group->count += at == group->count;
    way->cases = xb_grow(way->cases, way->count, sizeof(void *));
    way->cases[way->count++] = test;
}

static int by_size(const void *a, const void *b)
{
    uint64_t left = (*(const struct xb_record_case *const *)a)->bytes;
    uint64_t right = (*(const struct xb_record_case *const *)b)->bytes;
    return (left > right) - (left < right);
}

static const char *name_of(struct xb_page *page, const struct ways *ways,
                           const struct xb_record_case *test)
{
    return xb_way_name(page, ways->record, &ways->parameters, test);
}

/* "host to device" */
static const char *path_name(const struct xb_record_case *test)
{
    static const struct {
        const char *direction, *alone, *between; /* between: from device to device */
    } names[] = {{"h2d", "host to device", "host to device"},
                 {"d2h", "device to host", "device to host"},
                 {"bidir", "both ways at once", "both ways at once between devices"},
                 {"d2d", "within the device", "from device to device"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(test->direction, names[i].direction) == 0)
            return xb_case_is_of_pairs(test) ? names[i].between : names[i].alone;
    return test->direction;
}

/* "Host to device", "Both ways at once, device 1", "Latency, host to device". */
static const char *group_name(struct xb_page *page, const struct ways *ways,
                              const struct group *group)
{
    const struct xb_record_case *test = group->first;
    struct xb_words words = {.length = 0};
    size_t devices = 0;
    (void)xb_record_devices(ways->record, &devices);
    xb_words_add(&words, "%s%.60s", xb_way_is_rate(test) ? "" : "latency, ", path_name(test));
    if (!xb_case_is_of_pairs(test)) {
        if (xb_record_is_sum(test))
            xb_words_add(&words, ", sum of all devices");
        else if (devices > 1)
            xb_words_add(&words, ", device %d", test->device);
    }
    if (test->simultaneous && !xb_record_is_sum(test))
        xb_words_add(&words, ", beside others");
    words.text[0] = (char)toupper((unsigned char)words.text[0]);
    return xb_page_print(page, "%s", words.text);
}

static uint64_t largest_of(const struct group *group)
{
    uint64_t most = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t bytes = group->ways[i].cases[group->ways[i].count - 1]->bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The smallest size above `bytes` of any way; UINT64_MAX: there is none. */
static uint64_t next_size(const struct group *group, uint64_t bytes)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = 0; k < group->ways[i].count; k++) {
            uint64_t own = group->ways[i].cases[k]->bytes;
            next = own > bytes && own < next ? own : next;
        }
    return next;
}

/* The case of that size; NULL: the way has none. */
static const struct xb_record_case *case_of(const struct way *way, uint64_t bytes)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->cases[i]->bytes == bytes)
            return way->cases[i];
    return NULL;
}

/* ---- the link ---- */

/* The device over whose link all of the case's data goes; NULL: there is none. */
static const struct xb_record_device *device_of(const struct xb_record *record,
                                                const struct xb_record_case *test)
{
    bool host = strcmp(test->direction, "d2d") != 0;
    if (!host || !xb_way_is_rate(test) || test->simultaneous || test->device < 0 ||
        xb_case_is_of_pairs(test))
        return NULL;
    const struct xb_record_device *device = xb_record_device(record, test->device);
    return device != NULL && !device->shares_host_memory ? device : NULL;
}

/* The raw rate of the link that the case's data takes, in GB/s, of both ways together where it goes
 * both; 0: not known. */
static double raw_rate_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_record_device *device = device_of(record, test);
    if (device == NULL || !device->link_known)
        return 0;
    double each = xb_pcie_raw_rate(device->link_speed_gts, device->link_width) / 1e9;
    return strcmp(test->direction, "bidir") == 0 ? 2 * each : each;
}

/* What the link of the group's device carries in its direction, in GB/s: raw, and of a program's
 * data. Those that are not known, and of data that crosses no such link or not only that, are left
 * out. Returns how many levels there are. */
#define LEVELS 2

static size_t levels_of(const struct ways *ways, const struct group *group,
                        struct xb_plot_level *levels)
{
    const struct xb_record_device *device = device_of(ways->record, group->first);
    const char *direction = group->first->direction;
    double raw = raw_rate_of(ways->record, group->first);
    double ceiling = 0;
    size_t count = 0;
    if (device != NULL && device->ceiling.known) {
        double to = device->ceiling.h2d / 1e9;
        double from = device->ceiling.d2h / 1e9;
        ceiling = strcmp(direction, "h2d") == 0   ? to
                  : strcmp(direction, "d2h") == 0 ? from
                                                  : to + from;
    }
    if (raw > 0)
        levels[count++] = (struct xb_plot_level){"raw rate", raw};
    if (ceiling > 0)
        levels[count++] = (struct xb_plot_level){"link's ceiling", ceiling};
    return count;
}

/* Says what the levels mean, where any group has one, and what to think of a way above the raw
 * rate. */
static void write_levels(struct xb_page *page, const struct ways *ways)
{
    struct xb_plot_level levels[LEVELS];
    bool any = false;
    bool any_above = false;
    for (size_t g = 0; g < ways->count; g++) {
        const struct group *group = &ways->groups[g];
        any = any || levels_of(ways, group, levels) > 0;
        for (size_t i = 0; i < group->count; i++)
            for (size_t k = 0; !any_above && k < group->ways[i].count; k++) {
                const struct xb_record_case *test = group->ways[i].cases[k];
                struct xb_statistics value;
                double raw = raw_rate_of(ways->record, test);
                any_above =
                    raw > 0 && xb_way_value(ways->record, test, &value) && value.median > raw;
            }
    }
    if (!any)
        return;
    xb_page_remark(page,
                   "Raw rate: what the link moves, the headers of its packets included. Link's "
                   "ceiling: the most that is left for a program's data.%s",
                   any_above ? " A way above the raw rate sends less than all of its data over the "
                               "link, or the link was read when it was slower."
                             : "");
}

/* Says what the levels mean, and writes each group that passes; nothing where none does. Returns
 * how many cases are left out because they are of further groups. */
static size_t write_groups(struct xb_page *page, const struct xb_record *record,
                           bool (*passes)(const struct group *group),
                           void (*write)(struct xb_page *page, const struct ways *ways,
                                         const struct group *group))
{
    struct ways ways = {.record = record,
                        .parameters = xb_parameters_that_differ(record),
                        .groups = xb_page_new(page, GROUPS, sizeof *ways.groups)};
    struct xb_statistics value;
    bool any = false;
    for (size_t i = 0; i < record->case_count; i++)
        if (xb_way_value(record, &record->cases[i], &value))
            add_case(&ways, &record->cases[i]);
    for (size_t g = 0; g < ways.count; g++) {
        struct group *group = &ways.groups[g];
        for (size_t i = 0; i < group->count; i++)
            qsort(group->ways[i].cases, group->ways[i].count, sizeof(void *), by_size);
        any = any || passes(group);
    }
    if (any)
        write_levels(page, &ways);
    for (size_t g = 0; g < ways.count; g++) {
        struct group *group = &ways.groups[g];
        if (page->error.status == XB_OK && passes(group))
            write(page, &ways, group);
        for (size_t i = 0; i < group->count; i++)
            free(group->ways[i].cases);
    }
    return any ? ways.left_out : 0;
}

/* ---- a curve a way, a picture a direction ---- */

#define DRAWN XB_PLOT_SERIES /* ways: more could not be told apart */
#define SIZES 40             /* columns of the table */

static bool has_sizes(const struct group *group)
{
    return next_size(group, 0) < largest_of(group);
}

/* At most DRAWN: of every mode the fastest, and then the fastest of the others, in the order of the
 * group. `drawn` has a place for each way. */
static size_t choose(const struct group *group, const double *speeds, bool *drawn)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const char *mode = group->ways[i].cases[0]->mode;
        bool has_faster = false; /* of the same mode */
        for (size_t k = 0; k < group->count; k++)
            has_faster = has_faster || (speeds[k] > speeds[i] &&
                                        strcmp(group->ways[k].cases[0]->mode, mode) == 0);
        drawn[i] = count < DRAWN && !has_faster;
        count += drawn[i];
    }
    while (count < DRAWN) {
        size_t best = group->count;
        for (size_t i = 0; i < group->count; i++)
            if (!drawn[i] && (best == group->count || speeds[i] > speeds[best]))
                best = i;
        if (best == group->count)
            break;
        drawn[best] = true;
        count++;
    }
    return count;
}

static struct xb_series series_of(struct xb_page *page, const struct ways *ways,
                                  const struct way *way)
{
    struct xb_point *points = xb_page_new(page, way->count, sizeof *points);
    for (size_t i = 0; i < way->count; i++) {
        struct xb_statistics value;
        if (!xb_way_value(ways->record, way->cases[i], &value))
            value.median = value.ci95_low = value.ci95_high = (double)NAN;
        points[i] = (struct xb_point){.x = (double)way->cases[i]->bytes,
                                      .y = value.median,
                                      .low = value.ci95_low,
                                      .high = value.ci95_high};
    }
    return (struct xb_series){.name =
                                  xb_page_print(page, "%.190s", name_of(page, ways, way->cases[0])),
                              .points = points,
                              .count = way->count};
}

/* "GB/s of 8 ways by size, from 4 KiB to 1 GiB. pinned registered is fastest at its largest
 * size: 55.34 GB/s at 1 GiB." */
static const char *describe(struct xb_page *page, const struct ways *ways,
                            const struct group *group, const double *speeds, size_t drawn)
{
    const char *unit = xb_way_unit(group->first);
    size_t fastest = 0;
    for (size_t i = 1; i < group->count; i++)
        fastest = speeds[i] > speeds[fastest] ? i : fastest;
    const struct way *best = &group->ways[fastest];
    const char *text = xb_page_print(
        page,
        "%s of %zu way%s by size, from %s to %s. %s is fastest at its largest size: %s %s at %s.",
        unit, drawn, drawn == 1 ? "" : "s", XB_SIZE_TEXT(next_size(group, 0)),
        XB_SIZE_TEXT(largest_of(group)), name_of(page, ways, best->cases[0]),
        XB_DECIMAL_TEXT(fabs(speeds[fastest])), unit,
        XB_SIZE_TEXT(best->cases[best->count - 1]->bytes));
    return xb_page_print(page, "%.1000s", text);
}

static void draw_sizes(struct xb_page *page, const struct ways *ways, const struct group *group)
{
    bool drawn[WAYS];
    struct xb_series series[DRAWN];
    struct xb_plot_level levels[LEVELS];
    double speeds[WAYS] = {0.0};
    size_t place = 0;
    /* How fast each way is at its largest size: its rate, or its time below 0. */
    for (size_t i = 0; i < group->count; i++) {
        const struct xb_record_case *test = group->ways[i].cases[group->ways[i].count - 1];
        struct xb_statistics value;
        double median = xb_way_value(ways->record, test, &value) ? value.median : 0;
        speeds[i] = xb_way_is_rate(test) ? median : -median;
    }
    size_t count = choose(group, speeds, drawn);
    for (size_t i = 0; i < group->count; i++)
        if (drawn[i])
            series[place++] = series_of(page, ways, &group->ways[i]);
    struct xb_chart chart = {.picture = {.title = xb_page_print(page, "%.200s: %s by size",
                                                                group_name(page, ways, group),
                                                                xb_way_unit(group->first)),
                                         .description = describe(page, ways, group, speeds, count)},
                             .x = {XB_SCALE_SIZE, "size of the buffer"},
                             .y = {XB_SCALE_LINEAR, xb_way_unit(group->first)},
                             .series = series,
                             .series_count = count,
                             .levels = levels,
                             .level_count = levels_of(ways, group, levels)};
    xb_page_picture(page, xb_chart_draw, &chart);
    if (count < group->count || group->left_out > 0)
        xb_page_remark(page,
                       "Drawn are %zu of %zu%s ways: the fastest of every mode, then the fastest "
                       "of the others.",
                       count, group->count, group->left_out > 0 ? " or more" : "");
}

static void write_sizes(struct xb_page *page, const struct ways *ways, const struct group *group)
{
    uint64_t sizes[SIZES]; /* of all ways, rising */
    size_t count = 0;
    for (uint64_t next = next_size(group, 0); next < UINT64_MAX && count < SIZES;
         next = next_size(group, next))
        sizes[count++] = next;
    draw_sizes(page, ways, group);
    xb_page_table_begin(page,
                        xb_page_print(page, "%s: median %s by size", group_name(page, ways, group),
                                      xb_way_unit(group->first)),
                        "Way");
    for (size_t i = 0; i < count; i++)
        xb_page_column(page, XB_SIZE_TEXT(sizes[i]), true);
    for (size_t i = 0; i < group->count; i++) {
        const struct way *way = &group->ways[i];
        XB_PAGE_CELLS(page, name_of(page, ways, way->cases[0]));
        for (size_t k = 0; k < count; k++) {
            const struct xb_record_case *test = case_of(way, sizes[k]);
            struct xb_statistics value;
            bool has = test != NULL && xb_way_value(ways->record, test, &value);
            xb_page_cell(page, "%s", has ? XB_DECIMAL_TEXT(value.median) : "-");
        }
    }
    xb_page_table_end(page);
    if (group->left_out > 0)
        xb_page_remark(page, "%zu more cases, of further ways, are in the file only.",
                       group->left_out);
}

static void write_by_size(struct xb_page *page, const struct xb_report_document *document)
{
    size_t left_out =
        document->record != NULL ? write_groups(page, document->record, has_sizes, write_sizes) : 0;
    if (left_out > 0)
        xb_page_remark(page, "%zu more cases, of further devices, are in the file only.", left_out);
}

/* ---- the ways side by side, as strips ---- */

/* One way alone is in the table of all rows. */
static bool has_ways(const struct group *group)
{
    uint64_t bytes = largest_of(group);
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += case_of(&group->ways[i], bytes) != NULL;
    return count > 1;
}

/* The best way first. */
static int by_rate(const void *a, const void *b)
{
    double left = ((const struct xb_strip *)a)->middle;
    double right = ((const struct xb_strip *)b)->middle;
    return (left < right) - (left > right);
}

static int by_time(const void *a, const void *b)
{
    return by_rate(b, a);
}

static void write_ways(struct xb_page *page, const struct ways *ways, const struct group *group)
{
    struct xb_strip strips[WAYS];
    struct xb_plot_level levels[LEVELS];
    const char *unit = xb_way_unit(group->first);
    uint64_t bytes = largest_of(group);
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct xb_record_case *test = case_of(&group->ways[i], bytes);
        struct xb_statistics value;
        if (test == NULL || !xb_way_value(ways->record, test, &value))
            continue;
        strips[count++] =
            (struct xb_strip){.name = xb_page_print(page, "%.190s", name_of(page, ways, test)),
                              .middle = value.median,
                              .low = value.ci95_low,
                              .high = value.ci95_high,
                              .look = "",
                              .note = xb_page_print(page, "%s", XB_DECIMAL_TEXT(value.median))};
    }
    qsort(strips, count, sizeof strips[0], xb_way_is_rate(group->first) ? by_rate : by_time);
    const struct xb_strip *best = &strips[0];
    const struct xb_strip *worst = &strips[count - 1];
    struct xb_strips picture = {
        .picture = {.title =
                        xb_page_print(page, "%.200s: %s by mode, %s", group_name(page, ways, group),
                                      unit, XB_SIZE_TEXT(bytes)),
                    .description = xb_page_print(
                        page,
                        "%zu ways, the best first, each with its median and the median's 95 %% "
                        "interval. The best is %.190s with %s %s, the last is %.190s with %s %s.",
                        count, best->name, best->note, unit, worst->name, worst->note, unit)},
        .x = {XB_SCALE_LINEAR, unit},
        .x_from_zero = true,
        .strips = strips,
        .count = count,
        .levels = levels,
        .level_count = levels_of(ways, group, levels)};
    xb_page_picture(page, xb_strips_draw, &picture);
    xb_page_table_begin(page, picture.picture.title,
                        xb_page_print(page, "Way|#%s|#95 %% interval|#Of the best", unit));
    for (size_t i = 0; i < count; i++) {
        XB_PAGE_CELLS(page, strips[i].name, strips[i].note);
        xb_way_put_interval(page, strips[i].low, strips[i].high);
        xb_page_cell(page, "%.1f %%", 100 * strips[i].middle / best->middle);
    }
    xb_page_table_end(page);
}

static void write_by_mode(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->record != NULL)
        (void)write_groups(page, document->record, has_ways, write_ways);
}

const struct xb_section xb_sections_of_ways[] = {
    {"by-size", "By size", write_by_size},
    {"by-mode", "By mode", write_by_mode},
    {.name = NULL},
};
