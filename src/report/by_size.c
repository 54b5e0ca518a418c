/* SPDX-License-Identifier: Apache-2.0 */
/* How a figure grows with the size of the buffer: a curve a way, a picture a direction. */
#include "sections.h"

#include "plot/chart.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN XB_PLOT_SERIES /* ways: more could not be told apart */
#define SIZES 40             /* columns of the table */

static bool is_drawn(const struct xb_way_group *group)
{
    return xb_way_group_smallest(group) < xb_way_group_largest(group);
}

static bool speaks(const struct xb_report_document *document)
{
    return document->record != NULL && xb_ways_any(document->record, is_drawn);
}

/* ---- which ways are drawn ---- */

/* The way's value at its largest size; 0 for none. */
static double end_of(const struct xb_ways *ways, const struct xb_way *way)
{
    struct xb_statistics value;
    return xb_way_value(ways->record, way->cases[way->count - 1], &value) ? value.median : 0;
}

/* Whether one way is faster than the other, each at its largest size. */
static bool is_faster(const struct xb_ways *ways, const struct xb_way *way,
                      const struct xb_way *other)
{
    double own = end_of(ways, way);
    double its = end_of(ways, other);
    return xb_way_is_rate(way->cases[0]) ? own > its : own < its;
}

/* Whether another way of the same mode is faster. */
static bool has_faster(const struct xb_ways *ways, const struct xb_way_group *group, size_t index)
{
    const struct xb_way *way = &group->ways[index];
    for (size_t i = 0; i < group->count; i++)
        if (i != index && strcmp(group->ways[i].cases[0]->mode, way->cases[0]->mode) == 0 &&
            is_faster(ways, &group->ways[i], way))
            return true;
    return false;
}

/* At most DRAWN: of every mode the fastest, and then the fastest of the others, in the order of the
 * group. `drawn` has a place for each way. */
static size_t choose(const struct xb_ways *ways, const struct xb_way_group *group, bool *drawn)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        drawn[i] = count < DRAWN && !has_faster(ways, group, i);
        count += drawn[i];
    }
    while (count < DRAWN) {
        size_t best = group->count;
        for (size_t i = 0; i < group->count; i++)
            if (!drawn[i] &&
                (best == group->count || is_faster(ways, &group->ways[i], &group->ways[best])))
                best = i;
        if (best == group->count)
            break;
        drawn[best] = true;
        count++;
    }
    return count;
}

/* ---- the picture ---- */

struct drawing {
    struct xb_series series[DRAWN];
    char names[DRAWN][200];
    struct xb_point *points; /* of all */
    struct xb_level levels[2];
    size_t level_count;
    char title[256], description[1024];
};

static void draw_way(const struct xb_ways *ways, const struct xb_way *way, struct xb_series *series,
                     struct xb_point *points)
{
    for (size_t i = 0; i < way->count; i++) {
        struct xb_statistics value;
        if (!xb_way_value(ways->record, way->cases[i], &value))
            value.median = (double)NAN;
        points[i] = (struct xb_point){.x = (double)way->cases[i]->bytes,
                                      .y = value.median,
                                      .low = value.has_interval ? value.ci95_low : (double)NAN,
                                      .high = value.has_interval ? value.ci95_high : (double)NAN};
    }
    series->points = points;
    series->count = way->count;
}

static void add_level(struct drawing *drawing, const char *name, double at)
{
    if (at > 0)
        drawing->levels[drawing->level_count++] = (struct xb_level){name, at};
}

/* "GB/s of 8 ways by size, from 4 KiB to 1 GiB. pinned registered is fastest at its largest
 * size: 55.34 GB/s at 1 GiB." */
static void describe(const struct xb_ways *ways, const struct xb_way_group *group, size_t drawn,
                     struct drawing *drawing)
{
    struct xb_words words = {.length = 0};
    char least[32];
    char most[32];
    const struct xb_way *best = &group->ways[0];
    for (size_t i = 1; i < group->count; i++)
        if (is_faster(ways, &group->ways[i], best))
            best = &group->ways[i];
    xb_words_add(&words, "%s of %zu way%s by size, from %s to %s. ", xb_way_unit(group->first),
                 drawn, drawn == 1 ? "" : "s",
                 xb_size_format(xb_way_group_smallest(group), least, sizeof least),
                 xb_size_format(xb_way_group_largest(group), most, sizeof most));
    xb_way_add_name(&words, ways, best->cases[0]);
    xb_words_add(&words, " is fastest at its largest size: %s %s at %s.",
                 xb_way_value_text(end_of(ways, best), least, sizeof least),
                 xb_way_unit(group->first),
                 xb_size_format(best->cases[best->count - 1]->bytes, most, sizeof most));
    snprintf(drawing->description, sizeof drawing->description, "%.1000s", words.text);
}

static enum xb_status draw(struct xb_page *page, const struct xb_ways *ways,
                           const struct xb_way_group *group, struct drawing *drawing,
                           struct xb_error *error)
{
    bool drawn[XB_WAYS];
    size_t count = choose(ways, group, drawn);
    size_t series = 0;
    size_t points = 0;
    struct xb_words title = {.length = 0};
    for (size_t i = 0; i < group->count; i++)
        points += drawn[i] ? group->ways[i].count : 0;
    drawing->points = calloc(points + 1, sizeof *drawing->points);
    if (drawing->points == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    points = 0;
    for (size_t i = 0; i < group->count; i++) {
        struct xb_words name = {.length = 0};
        if (!drawn[i])
            continue;
        xb_way_add_name(&name, ways, group->ways[i].cases[0]);
        snprintf(drawing->names[series], sizeof drawing->names[series], "%.190s", name.text);
        drawing->series[series].name = drawing->names[series];
        draw_way(ways, &group->ways[i], &drawing->series[series], drawing->points + points);
        points += drawing->series[series++].count;
    }
    add_level(drawing, XB_WAY_RAW, xb_way_group_raw(ways, group));
    add_level(drawing, XB_WAY_CEILING, xb_way_group_ceiling(ways, group));
    xb_way_group_add_name(&title, ways, group);
    snprintf(drawing->title, sizeof drawing->title, "%.200s: %s by size", title.text,
             xb_way_unit(group->first));
    describe(ways, group, count, drawing);
    const struct xb_chart chart = {
        .picture = {.title = drawing->title, .description = drawing->description},
        .x = {XB_SCALE_SIZE, "size of the buffer"},
        .y = {XB_SCALE_LINEAR, xb_way_unit(group->first)},
        .series = drawing->series,
        .series_count = series,
        .levels = drawing->levels,
        .level_count = drawing->level_count};
    enum xb_status status = xb_page_chart(page, &chart, error);
    if (status == XB_OK && (count < group->count || group->left_out > 0))
        xb_page_remark(page,
                       "Drawn are %zu of %zu%s ways: the fastest of every mode, then the fastest "
                       "of the others.",
                       count, group->count, group->left_out > 0 ? " or more" : "");
    return status;
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

static void write_way(struct xb_page *page, const struct xb_ways *ways, const struct xb_way *way,
                      const uint64_t *sizes, size_t size_count)
{
    struct xb_words name = {.length = 0};
    char text[32];
    xb_way_add_name(&name, ways, way->cases[0]);
    xb_page_cell(page, "%s", name.text);
    for (size_t i = 0; i < size_count; i++) {
        const struct xb_record_case *test = xb_way_case(way, sizes[i]);
        struct xb_statistics value;
        bool has = test != NULL && xb_way_value(ways->record, test, &value);
        xb_page_cell(page, "%s", has ? xb_way_value_text(value.median, text, sizeof text) : "-");
    }
}

static void write_table(struct xb_page *page, const struct xb_ways *ways,
                        const struct xb_way_group *group)
{
    struct xb_words caption = {.length = 0};
    uint64_t sizes[SIZES];
    size_t count = find_sizes(group, sizes);
    char text[32];
    xb_way_group_add_name(&caption, ways, group);
    xb_words_add(&caption, ": median %s by size", xb_way_unit(group->first));
    xb_page_table_begin(page, caption.text);
    xb_page_column(page, "Way", false);
    for (size_t i = 0; i < count; i++)
        xb_page_column(page, xb_size_format(sizes[i], text, sizeof text), true);
    for (size_t i = 0; i < group->count; i++)
        write_way(page, ways, &group->ways[i], sizes, count);
    xb_page_table_end(page);
    if (group->left_out > 0)
        xb_page_remark(page, "%zu more cases, of further ways, are in the file only.",
                       group->left_out);
}

static enum xb_status write_group(struct xb_page *page, const struct xb_ways *ways,
                                  const struct xb_way_group *group, struct xb_error *error)
{
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (drawing == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    enum xb_status status = draw(page, ways, group, drawing, error);
    if (status == XB_OK)
        write_table(page, ways, group);
    free(drawing->points);
    free(drawing);
    return status;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    struct xb_ways ways;
    enum xb_status status = xb_ways_make(document->record, &ways, error);
    if (status != XB_OK)
        return status;
    xb_ways_write_levels(page, &ways);
    for (size_t i = 0; status == XB_OK && i < ways.count; i++)
        if (is_drawn(&ways.groups[i]))
            status = write_group(page, &ways, &ways.groups[i], error);
    if (ways.left_out > 0)
        xb_page_remark(page, "%zu more cases, of further devices, are in the file only.",
                       ways.left_out);
    xb_ways_free(&ways);
    return status;
}

const struct xb_section xb_section_by_size = {
    .name = "by-size",
    .title = "By size",
    .speaks = speaks,
    .write = write,
};
