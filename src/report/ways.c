/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of a result as pictures show them: how a figure grows with the size of the buffer, and
 * the ways to move data side by side at the largest. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "base/units.h"
#include "fleet/internal.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

const char *xb_way_interval(struct xb_page *page, double low, double high)
{
    return isfinite(low)
               ? xb_page_print(page, "%s to %s", XB_DECIMAL_TEXT(low), XB_DECIMAL_TEXT(high))
               : NULL;
}

const char *xb_way_name(struct xb_page *page, const struct xb_report_document *document,
                        const struct xb_record_case *test)
{
    const struct xb_parameters *parameters = document->parameters;
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
        xb_words_add(&words, ", %s", xb_device_text(document->record, test, text, sizeof text));
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

struct figure {
    const struct xb_record_case *test;
    const char *name;
    struct xb_statistics value;
    size_t group, way;
};

struct way {
    const struct figure *figures; /* by rising size */
    size_t count;
    double speed; /* at its largest size: its rate, or its time below 0 */
    bool is_drawn;
    const struct xb_record_case *first; /* as the file has them */
};

struct group {
    const struct xb_record_case *first; /* of its cases: it tells what all have in common */
    const char *name, *unit;
    struct xb_plot_level levels[2]; /* what its link carries */
    size_t level_count;
    uint64_t least, largest; /* sizes */
    struct way ways[WAYS];
    size_t count;
    size_t left_out; /* cases of further ways */
};

struct ways {
    struct figure *figures;
    size_t figure_count;
    struct group groups[GROUPS];
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

static void add_case(struct ways *ways, const struct xb_record *record,
                     const struct xb_record_case *test)
{
    struct figure *figure = &ways->figures[ways->figure_count];
    size_t g = 0;
    size_t w = 0;
    if (!xb_way_value(record, test, &figure->value))
        return;
    while (g < ways->count && !same_group(ways->groups[g].first, test))
        g++;
    if (g == GROUPS) {
        ways->left_out++;
        return;
    }
    struct group *group = &ways->groups[g];
    if (g == ways->count) {
        group->first = test;
        group->least = UINT64_MAX;
        ways->count++;
    }
    while (w < group->count && xb_cases_order(group->ways[w].first, test, XB_BUT_SIZE) != 0)
        w++;
    if (w == WAYS) {
        group->left_out++;
        return;
    }
    struct way *way = &group->ways[w];
    way->first = w == group->count ? test : way->first;
    group->count += w == group->count;
    way->count++;
    group->least = test->bytes > 0 && test->bytes < group->least ? test->bytes : group->least;
    group->largest = test->bytes > group->largest ? test->bytes : group->largest;
    figure->test = test;
    figure->group = g;
    figure->way = w;
    ways->figure_count++;
}

static int by_way(const void *a, const void *b)
{
    const struct figure *left = a;
    const struct figure *right = b;
    return XB_FIRST_ORDER(XB_ORDER(left->group, right->group), XB_ORDER(left->way, right->way),
                          XB_ORDER(left->test->bytes, right->test->bytes),
                          XB_ORDER_ADDRESSES(left->test, right->test));
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
static const char *group_name(struct xb_page *page, const struct xb_record *record,
                              const struct xb_record_case *test)
{
    struct xb_words words = {.length = 0};
    size_t devices = 0;
    (void)xb_record_devices(record, &devices);
    xb_words_add(&words, "%s%.60s", xb_way_is_rate(test) ? "" : "latency, ", path_name(test));
    if (!xb_case_is_of_pairs(test) && xb_record_is_sum(test))
        xb_words_add(&words, ", sum of all devices");
    else if (!xb_case_is_of_pairs(test) && devices > 1)
        xb_words_add(&words, ", device %d", test->device);
    if (test->simultaneous && !xb_record_is_sum(test))
        xb_words_add(&words, ", beside others");
    words.text[0] = (char)toupper((unsigned char)words.text[0]);
    return xb_page_print(page, "%s", words.text);
}

/* The figure of that size; NULL: the way has none. */
static const struct figure *figure_of(const struct way *way, uint64_t bytes)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->figures[i].test->bytes == bytes)
            return &way->figures[i];
    return NULL;
}

/* What the device's link carries in the group's direction, in GB/s: raw, and of a program's data.
 * Left out is what is not known, or where data crosses no such link or not only that. Returns the
 * raw rate, or infinity. */
static double find_levels(const struct xb_record *record, struct group *group)
{
    const struct xb_record_case *test = group->first;
    const struct xb_record_device *device = xb_record_device(record, test->device);
    bool is_to = strcmp(test->direction, "h2d") == 0;
    bool is_from = strcmp(test->direction, "d2h") == 0;
    double raw = 0;
    double ceiling = 0;
    if (strcmp(test->direction, "d2d") == 0 || !xb_way_is_rate(test) || test->simultaneous ||
        test->device < 0 || xb_case_is_of_pairs(test) || device == NULL ||
        device->shares_host_memory)
        return (double)INFINITY;
    if (device->link_known)
        raw = xb_pcie_raw_rate(device->link_speed_gts, device->link_width) / 1e9 *
              (strcmp(test->direction, "bidir") == 0 ? 2 : 1);
    if (device->ceiling.known)
        ceiling = is_to     ? device->ceiling.h2d / 1e9
                  : is_from ? device->ceiling.d2h / 1e9
                            : device->ceiling.h2d / 1e9 + device->ceiling.d2h / 1e9;
    if (raw > 0)
        group->levels[group->level_count++] = (struct xb_plot_level){"raw rate", raw};
    if (ceiling > 0)
        group->levels[group->level_count++] = (struct xb_plot_level){"link's ceiling", ceiling};
    return raw > 0 ? raw : (double)INFINITY;
}

/* Says what the levels mean, and writes each group that passes; nothing where none does. Returns
 * how many cases are left out because they are of further groups. */
static size_t write_groups(struct xb_page *page, const struct xb_report_document *document,
                           bool (*passes)(const struct group *group),
                           void (*write)(struct xb_page *page, struct group *group))
{
    const struct xb_record *record = document->record;
    struct ways *ways = xb_page_new(page, 1, sizeof *ways);
    struct figure *next = ways->figures =
        xb_page_new(page, record->case_count, sizeof *ways->figures);
    bool any = false;
    bool any_level = false;
    bool any_above = false; /* the raw rate */
    for (size_t i = 0; i < record->case_count; i++)
        add_case(ways, record, &record->cases[i]);
    qsort(ways->figures, ways->figure_count, sizeof *ways->figures, by_way);
    for (size_t g = 0; g < ways->count; g++) {
        struct group *group = &ways->groups[g];
        double raw = find_levels(record, group);
        group->name = group_name(page, record, group->first);
        group->unit = xb_way_unit(group->first);
        for (size_t i = 0; i < group->count; i++) {
            struct way *way = &group->ways[i];
            way->figures = next;
            for (size_t k = 0; k < way->count; k++, next++) {
                next->name = xb_way_name(page, document, next->test);
                any_above = any_above || next->value.median > raw;
            }
            way->speed =
                xb_way_is_rate(way->first) ? next[-1].value.median : -next[-1].value.median;
        }
        any = any || passes(group);
        any_level = any_level || group->level_count > 0;
    }
    if (any && any_level)
        xb_page_remark(page,
                       "Raw rate: what the link moves, the headers of its packets included. Link's "
                       "ceiling: the most that is left for a program's data.%s",
                       any_above
                           ? " A way above the raw rate sends less than all of its data over the "
                             "link, or the link was read when it was slower."
                           : "");
    for (size_t g = 0; g < ways->count; g++)
        if (page->error.status == XB_OK && passes(&ways->groups[g]))
            write(page, &ways->groups[g]);
    return any ? ways->left_out : 0;
}

/* ---- a curve a way, a picture a direction ---- */

#define DRAWN XB_PLOT_SERIES /* ways: more could not be told apart */
#define SIZES 40             /* columns of the table */

static bool has_sizes(const struct group *group)
{
    return group->least < group->largest;
}

/* Chooses at most DRAWN: of every mode the fastest, and then the fastest of the others. */
static size_t choose(struct group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct way *way = &group->ways[i];
        bool has_faster = false; /* of the same mode */
        for (size_t k = 0; k < group->count; k++)
            has_faster = has_faster || (group->ways[k].speed > way->speed &&
                                        strcmp(group->ways[k].first->mode, way->first->mode) == 0);
        way->is_drawn = count < DRAWN && !has_faster;
        count += way->is_drawn;
    }
    for (; count < DRAWN && count < group->count; count++) {
        struct way *best = NULL;
        for (struct way *way = group->ways; way < group->ways + group->count; way++)
            if (!way->is_drawn && (best == NULL || way->speed > best->speed))
                best = way;
        best->is_drawn = true;
    }
    return count;
}

static struct xb_series series_of(struct xb_page *page, const struct way *way)
{
    struct xb_point *points = xb_page_new(page, way->count, sizeof *points);
    for (size_t i = 0; i < way->count; i++) {
        const struct xb_statistics *value = &way->figures[i].value;
        points[i] = (struct xb_point){.x = (double)way->figures[i].test->bytes,
                                      .y = value->median,
                                      .low = value->ci95_low,
                                      .high = value->ci95_high};
    }
    return (struct xb_series){xb_page_print(page, "%.190s", way->figures[0].name), points,
                              way->count};
}

static void draw_sizes(struct xb_page *page, struct group *group)
{
    struct xb_series series[DRAWN];
    const struct way *best = &group->ways[0];
    size_t place = 0;
    size_t count = choose(group);
    for (size_t i = 0; i < group->count; i++) {
        const struct way *way = &group->ways[i];
        best = way->speed > best->speed ? way : best;
        if (way->is_drawn)
            series[place++] = series_of(page, way);
    }
    const char *description = xb_page_print(
        page,
        "%s of %zu way%s by size, from %s to %s. %s is fastest at its largest size: %s %s at %s.",
        group->unit, count, count == 1 ? "" : "s", XB_SIZE_TEXT(group->least),
        XB_SIZE_TEXT(group->largest), best->figures[0].name, XB_DECIMAL_TEXT(fabs(best->speed)),
        group->unit, XB_SIZE_TEXT(best->figures[best->count - 1].test->bytes));
    struct xb_chart chart = {
        .picture = {.title = xb_page_print(page, "%.200s: %s by size", group->name, group->unit),
                    .description = xb_page_print(page, "%.1000s", description)},
        .x = {XB_SCALE_SIZE, "size of the buffer"},
        .y = {XB_SCALE_LINEAR, group->unit},
        .series = series,
        .series_count = count,
        .levels = group->levels,
        .level_count = group->level_count};
    xb_page_picture(page, xb_chart_draw, &chart);
    if (count < group->count || group->left_out > 0)
        xb_page_remark(page,
                       "Drawn are %zu of %zu%s ways: the fastest of every mode, then the fastest "
                       "of the others.",
                       count, group->count, group->left_out > 0 ? " or more" : "");
}

static void write_sizes(struct xb_page *page, struct group *group)
{
    uint64_t sizes[SIZES]; /* of all ways, rising */
    size_t count = 0;
    for (uint64_t next = group->least; count < SIZES && next < UINT64_MAX;) {
        uint64_t size = sizes[count++] = next;
        next = UINT64_MAX;
        for (size_t i = 0; i < group->count; i++)
            for (size_t k = 0; k < group->ways[i].count; k++) {
                uint64_t own = group->ways[i].figures[k].test->bytes;
                next = own > size && own < next ? own : next;
            }
    }
    draw_sizes(page, group);
    xb_page_table_begin(
        page, xb_page_print(page, "%s: median %s by size", group->name, group->unit), "Way");
    for (size_t i = 0; i < count; i++)
        xb_page_column(page, XB_SIZE_TEXT(sizes[i]), true);
    for (size_t i = 0; i < group->count; i++) {
        xb_page_cell(page, group->ways[i].figures[0].name);
        for (size_t k = 0; k < count; k++) {
            const struct figure *figure = figure_of(&group->ways[i], sizes[k]);
            xb_page_cell(page, figure != NULL ? XB_DECIMAL_TEXT(figure->value.median) : NULL);
        }
    }
    xb_page_table_end(page);
    xb_page_more(page, group->left_out, "cases, of further ways, are in the file only.");
}

void xb_write_by_size(struct xb_page *page, const struct xb_report_document *document)
{
    size_t left_out = write_groups(page, document, has_sizes, write_sizes);
    xb_page_more(page, left_out, "cases, of further devices, are in the file only.");
}

/* ---- the ways side by side, as strips ---- */

/* One way alone is in the table of all rows. */
static bool has_ways(const struct group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += figure_of(&group->ways[i], group->largest) != NULL;
    return count > 1;
}

/* The best way first. */
static int by_rate(const void *a, const void *b)
{
    return XB_ORDER(((const struct xb_strip *)b)->middle, ((const struct xb_strip *)a)->middle);
}

static int by_time(const void *a, const void *b)
{
    return by_rate(b, a);
}

static void write_ways(struct xb_page *page, struct group *group)
{
    struct xb_strip strips[WAYS];
    const char *unit = group->unit;
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct figure *figure = figure_of(&group->ways[i], group->largest);
        if (figure == NULL)
            continue;
        strips[count++] = (struct xb_strip){
            .name = xb_page_print(page, "%.190s", figure->name),
            .middle = figure->value.median,
            .low = figure->value.ci95_low,
            .high = figure->value.ci95_high,
            .look = "",
            .note = xb_page_print(page, "%s", XB_DECIMAL_TEXT(figure->value.median))};
    }
    qsort(strips, count, sizeof strips[0], xb_way_is_rate(group->first) ? by_rate : by_time);
    const struct xb_strip *best = &strips[0];
    const struct xb_strip *worst = &strips[count - 1];
    struct xb_strips picture = {
        .picture = {.title = xb_page_print(page, "%.200s: %s by mode, %s", group->name, unit,
                                           XB_SIZE_TEXT(group->largest)),
                    .description = xb_page_print(
                        page,
                        "%zu ways, the best first, each with its median and the median's 95 %% "
                        "interval. The best is %.190s with %s %s, the last is %.190s with %s %s.",
                        count, best->name, best->note, unit, worst->name, worst->note, unit)},
        .x = {XB_SCALE_LINEAR, unit},
        .x_from_zero = true,
        .strips = strips,
        .count = count,
        .levels = group->levels,
        .level_count = group->level_count};
    xb_page_picture(page, xb_strips_draw, &picture);
    xb_page_table_begin(page, picture.picture.title,
                        xb_page_print(page, "Way|#%s|#95 %% interval|#Of the best", unit));
    for (size_t i = 0; i < count; i++)
        XB_PAGE_CELLS(page, strips[i].name, strips[i].note,
                      xb_way_interval(page, strips[i].low, strips[i].high),
                      xb_page_print(page, "%.1f %%", 100 * strips[i].middle / best->middle));
    xb_page_table_end(page);
}

void xb_write_by_mode(struct xb_page *page, const struct xb_report_document *document)
{
    (void)write_groups(page, document, has_ways, write_ways);
}
