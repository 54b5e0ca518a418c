/* SPDX-License-Identifier: Apache-2.0 */
/* How a figure grows with the size of the buffer: a curve a way, a picture a direction. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/text.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <string.h>

#define DRAWN XB_PLOT_SERIES /* ways: more could not be told apart */
#define SIZES 40             /* columns of the table */

static bool is_drawn(const struct xb_way_group *group)
{
    return xb_way_group_smallest(group) < xb_way_group_largest(group);
}

/* ---- which ways are drawn ---- */

/* At most DRAWN: of every mode the fastest, and then the fastest of the others, in the order of the
 * group. `drawn` has a place for each way. */
static size_t choose(const struct xb_way_group *group, const double *speeds, bool *drawn)
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

/* ---- the picture ---- */

static struct xb_series series_of(struct xb_page *page, const struct xb_ways *ways,
                                  const struct xb_way *way)
{
    struct xb_point *points = xb_page_allocate(page, way->count, sizeof *points);
    for (size_t i = 0; points != NULL && i < way->count; i++) {
        struct xb_statistics value;
        if (!xb_way_value(ways->record, way->cases[i], &value))
            value.median = value.ci95_low = value.ci95_high = (double)NAN;
        points[i] = (struct xb_point){.x = (double)way->cases[i]->bytes,
                                      .y = value.median,
                                      .low = value.ci95_low,
                                      .high = value.ci95_high};
    }
    return (struct xb_series){
        .name = xb_page_print(page, "%.190s", xb_way_name(page, ways, way->cases[0])),
        .points = points,
        .count = points != NULL ? way->count : 0};
}

/* "GB/s of 8 ways by size, from 4 KiB to 1 GiB. pinned registered is fastest at its largest
 * size: 55.34 GB/s at 1 GiB." */
static const char *describe(struct xb_page *page, const struct xb_ways *ways,
                            const struct xb_way_group *group, const double *speeds, size_t drawn)
{
    char least[32];
    char most[32];
    char value[32];
    char size[32];
    const char *unit = xb_way_unit(group->first);
    size_t fastest = 0;
    for (size_t i = 1; i < group->count; i++)
        fastest = speeds[i] > speeds[fastest] ? i : fastest;
    const struct xb_way *best = &group->ways[fastest];
    const char *text = xb_page_print(
        page,
        "%s of %zu way%s by size, from %s to %s. %s is fastest at its largest size: %s %s at %s.",
        unit, drawn, drawn == 1 ? "" : "s",
        xb_size_format(xb_way_group_smallest(group), least, sizeof least),
        xb_size_format(xb_way_group_largest(group), most, sizeof most),
        xb_way_name(page, ways, best->cases[0]),
        xb_decimal_text(fabs(speeds[fastest]), value, sizeof value), unit,
        xb_size_format(best->cases[best->count - 1]->bytes, size, sizeof size));
    return xb_page_print(page, "%.1000s", text);
}

static void draw(struct xb_page *page, const struct xb_ways *ways, const struct xb_way_group *group)
{
    bool drawn[XB_WAYS];
    struct xb_series series[DRAWN];
    struct xb_plot_level levels[XB_WAY_LEVELS];
    double speeds[XB_WAYS] = {0.0};
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
    struct xb_chart chart = {
        .picture = {.title = xb_page_print(page, "%.200s: %s by size",
                                           xb_way_group_name(page, ways, group),
                                           xb_way_unit(group->first)),
                    .description = describe(page, ways, group, speeds, count)},
        .x = {XB_SCALE_SIZE, "size of the buffer"},
        .y = {XB_SCALE_LINEAR, xb_way_unit(group->first)},
        .series = series,
        .series_count = count,
        .levels = levels,
        .level_count = xb_way_group_levels(ways, group, levels)};
    xb_page_picture(page, xb_chart_draw, &chart);
    if (count < group->count || group->left_out > 0)
        xb_page_remark(page,
                       "Drawn are %zu of %zu%s ways: the fastest of every mode, then the fastest "
                       "of the others.",
                       count, group->count, group->left_out > 0 ? " or more" : "");
}

/* ---- its numbers ---- */

/* The sizes of all ways, rising; at most SIZES. */
static size_t find_sizes(const struct xb_way_group *group, uint64_t *sizes)
{
    size_t count = 0;
    for (uint64_t last = 0; count < SIZES;) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < group->count; i++)
            for (size_t k = 0; k < group->ways[i].count; k++) {
                uint64_t bytes = group->ways[i].cases[k]->bytes;
                next = bytes > last && bytes < next ? bytes : next;
            }
        if (next == UINT64_MAX)
            break;
        sizes[count++] = next;
        last = next;
    }
    return count;
}

static void write_group(struct xb_page *page, const struct xb_ways *ways,
                        const struct xb_way_group *group)
{
    uint64_t sizes[SIZES];
    size_t count = find_sizes(group, sizes);
    draw(page, ways, group);
    xb_page_table_begin(page,
                        xb_page_print(page, "%s: median %s by size",
                                      xb_way_group_name(page, ways, group),
                                      xb_way_unit(group->first)),
                        "Way");
    for (size_t i = 0; i < count; i++)
        xb_page_column(page, XB_SIZE_TEXT(sizes[i]), true);
    for (size_t i = 0; i < group->count; i++) {
        const struct xb_way *way = &group->ways[i];
        xb_page_cell(page, "%s", xb_way_name(page, ways, way->cases[0]));
        for (size_t k = 0; k < count; k++) {
            const struct xb_record_case *test = xb_way_case(way, sizes[k]);
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

static void write(struct xb_page *page, const struct xb_report_document *document)
{
    size_t left_out =
        document->record != NULL ? xb_ways_write(page, document->record, is_drawn, write_group) : 0;
    if (left_out > 0)
        xb_page_remark(page, "%zu more cases, of further devices, are in the file only.", left_out);
}

const struct xb_section xb_section_by_size = {"by-size", "By size", write};
