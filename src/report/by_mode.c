/* SPDX-License-Identifier: Apache-2.0 */
/* The ways side by side at one size: a line each, the best first; a picture a direction. */
#include "sections.h"

#include "plot/strips.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One way alone is in the table of all rows. */
static bool is_drawn(const struct xb_way_group *group)
{
    return xb_way_group_count(group, xb_way_group_largest(group)) > 1;
}

static bool speaks(const struct xb_report_document *document)
{
    return document->record != NULL && xb_ways_any(document->record, is_drawn);
}

/* A way at the size that is drawn. */
struct bar {
    const struct xb_record_case *test;
    struct xb_statistics value;
    char name[200], note[64];
};

struct drawing {
    struct bar bars[XB_WAYS];
    struct xb_strip strips[XB_WAYS];
    size_t count;
    uint64_t bytes;
    char title[256], description[1024];
};

static int by_rate(const void *a, const void *b)
{
    double left = ((const struct bar *)a)->value.median;
    double right = ((const struct bar *)b)->value.median;
    return (left < right) - (left > right);
}

static int by_time(const void *a, const void *b)
{
    return by_rate(b, a);
}

/* The best way first. */
static void collect(const struct xb_ways *ways, const struct xb_way_group *group,
                    struct drawing *drawing)
{
    bool is_rate = xb_way_is_rate(group->first);
    drawing->bytes = xb_way_group_largest(group);
    for (size_t i = 0; i < group->count; i++) {
        struct bar *bar = &drawing->bars[drawing->count];
        struct xb_words name = {.length = 0};
        bar->test = xb_way_case(&group->ways[i], drawing->bytes);
        if (bar->test == NULL || !xb_way_value(ways->record, bar->test, &bar->value))
            continue;
        xb_way_add_name(&name, ways, bar->test);
        snprintf(bar->name, sizeof bar->name, "%.190s", name.text);
        xb_way_value_text(bar->value.median, bar->note, sizeof bar->note);
        drawing->count++;
    }
    qsort(drawing->bars, drawing->count, sizeof drawing->bars[0], is_rate ? by_rate : by_time);
}

static void describe(const struct xb_ways *ways, const struct xb_way_group *group,
                     struct drawing *drawing)
{
    struct xb_words title = {.length = 0};
    char size[32];
    const struct bar *best = &drawing->bars[0];
    const struct bar *worst = &drawing->bars[drawing->count - 1];
    const char *unit = xb_way_unit(group->first);
    xb_way_group_add_name(&title, ways, group);
    snprintf(drawing->title, sizeof drawing->title, "%.200s: %s by mode, %s", title.text, unit,
             xb_size_format(drawing->bytes, size, sizeof size));
    snprintf(drawing->description, sizeof drawing->description,
             "%zu ways, the best first, each with its median and the median's 95 %% interval. The "
             "best is %.190s with %s %s, the last is %.190s with %s %s.",
             drawing->count, best->name, best->note, unit, worst->name, worst->note, unit);
}

static enum xb_status draw(struct xb_page *page, const struct xb_ways *ways,
                           const struct xb_way_group *group, struct drawing *drawing,
                           struct xb_error *error)
{
    struct xb_level levels[2];
    size_t level_count = 0;
    double raw = xb_way_group_raw(ways, group);
    double ceiling = xb_way_group_ceiling(ways, group);
    if (raw > 0)
        levels[level_count++] = (struct xb_level){XB_WAY_RAW, raw};
    if (ceiling > 0)
        levels[level_count++] = (struct xb_level){XB_WAY_CEILING, ceiling};
    for (size_t i = 0; i < drawing->count; i++) {
        const struct bar *bar = &drawing->bars[i];
        bool has_interval = bar->value.has_interval;
        drawing->strips[i] =
            (struct xb_strip){.name = bar->name,
                              .middle = bar->value.median,
                              .low = has_interval ? bar->value.ci95_low : (double)NAN,
                              .high = has_interval ? bar->value.ci95_high : (double)NAN,
                              .look = "",
                              .note = bar->note};
    }
    describe(ways, group, drawing);
    const struct xb_strips strips = {
        .picture = {.title = drawing->title, .description = drawing->description},
        .x = {XB_SCALE_LINEAR, xb_way_unit(group->first)},
        .x_from_zero = true,
        .strips = drawing->strips,
        .count = drawing->count,
        .levels = levels,
        .level_count = level_count};
    return xb_page_strips(page, &strips, error);
}

/* The numbers of the picture. */
static void write_table(struct xb_page *page, const struct xb_way_group *group,
                        const struct drawing *drawing)
{
    char low[32];
    char high[32];
    xb_page_table_begin(page, drawing->title);
    xb_page_column(page, "Way", false);
    xb_page_column(page, xb_way_unit(group->first), true);
    xb_page_column(page, "95 % interval", true);
    xb_page_column(page, "Of the best", true);
    for (size_t i = 0; i < drawing->count; i++) {
        const struct bar *bar = &drawing->bars[i];
        xb_page_cell(page, "%s", bar->name);
        xb_page_cell(page, "%s", bar->note);
        if (bar->value.has_interval)
            xb_page_cell(page, "%s to %s", xb_way_value_text(bar->value.ci95_low, low, sizeof low),
                         xb_way_value_text(bar->value.ci95_high, high, sizeof high));
        else
            xb_page_cell(page, "-");
        xb_page_cell(page, "%.1f %%", 100 * bar->value.median / drawing->bars[0].value.median);
    }
    xb_page_table_end(page);
}

static enum xb_status write_group(struct xb_page *page, const struct xb_ways *ways,
                                  const struct xb_way_group *group, struct drawing *drawing,
                                  struct xb_error *error)
{
    memset(drawing, 0, sizeof *drawing);
    if (!is_drawn(group))
        return XB_OK;
    collect(ways, group, drawing);
    enum xb_status status = draw(page, ways, group, drawing, error);
    if (status == XB_OK)
        write_table(page, group, drawing);
    return status;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    struct xb_ways ways;
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (drawing == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    enum xb_status status = xb_ways_make(document->record, &ways, error);
    if (status == XB_OK) {
        xb_ways_write_levels(page, &ways);
        for (size_t i = 0; status == XB_OK && i < ways.count; i++)
            status = write_group(page, &ways, &ways.groups[i], drawing, error);
        xb_ways_free(&ways);
    }
    free(drawing);
    return status;
}

const struct xb_section xb_section_by_mode = {
    .name = "by-mode",
    .title = "By mode",
    .speaks = speaks,
    .write = write,
};
