/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of a group side by side at its largest size, as strips. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/text.h"
#include "ways.h"
#include "xferbench/units.h"

#include <stdlib.h>

/* One way alone is in the table of all rows. */
static bool is_drawn(const struct xb_way_group *group)
{
    uint64_t bytes = xb_way_group_largest(group);
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += xb_way_case(&group->ways[i], bytes) != NULL;
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

static void write_group(struct xb_page *page, const struct xb_ways *ways,
                        const struct xb_way_group *group)
{
    struct xb_strip strips[XB_WAYS];
    struct xb_plot_level levels[XB_WAY_LEVELS];
    const char *unit = xb_way_unit(group->first);
    uint64_t bytes = xb_way_group_largest(group);
    size_t count = 0;
    char text[32];
    for (size_t i = 0; i < group->count; i++) {
        const struct xb_record_case *test = xb_way_case(&group->ways[i], bytes);
        struct xb_statistics value;
        if (test == NULL || !xb_way_value(ways->record, test, &value))
            continue;
        xb_decimal_text(value.median, text, sizeof text);
        strips[count++] =
            (struct xb_strip){.name = xb_page_print(page, "%.190s", xb_way_name(page, ways, test)),
                              .middle = value.median,
                              .low = value.ci95_low,
                              .high = value.ci95_high,
                              .look = "",
                              .note = xb_page_print(page, "%s", text)};
    }
    qsort(strips, count, sizeof strips[0], xb_way_is_rate(group->first) ? by_rate : by_time);
    const struct xb_strip *best = &strips[0];
    const struct xb_strip *worst = &strips[count - 1];
    struct xb_strips picture = {
        .picture = {.title = xb_page_print(page, "%.200s: %s by mode, %s",
                                           xb_way_group_name(page, ways, group), unit,
                                           xb_size_format(bytes, text, sizeof text)),
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
        .level_count = xb_way_group_levels(ways, group, levels)};
    xb_page_picture(page, xb_strips_draw, &picture);
    xb_page_table_begin(page, picture.picture.title, "Way");
    xb_page_column(page, unit, true);
    xb_page_column(page, "95 % interval", true);
    xb_page_column(page, "Of the best", true);
    for (size_t i = 0; i < count; i++) {
        XB_PAGE_CELLS(page, strips[i].name, strips[i].note);
        xb_way_put_interval(page, strips[i].low, strips[i].high);
        xb_page_cell(page, "%.1f %%", 100 * strips[i].middle / best->middle);
    }
    xb_page_table_end(page);
}

static void write(struct xb_page *page, const struct xb_report_document *document)
{
    if (document->record != NULL)
        (void)xb_ways_write(page, document->record, is_drawn, write_group);
}

const struct xb_section xb_section_by_mode = {"by-mode", "By mode", write};
