/* SPDX-License-Identifier: Apache-2.0 */
/* The cases that a line of the Reading may speak of, and how they stand to each other. */
#include "internal.h"

#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double xb_reading_ratio(const struct xb_reading *reading, const struct xb_record_case *test,
                        const struct xb_record_case *base)
{
    return xb_reading_bandwidth(reading, test) / xb_reading_bandwidth(reading, base);
}

bool xb_reading_is_placed(const struct xb_record_case *test)
{
    return !test->simultaneous && test->peer < 0 && !xb_reading_goes(test, XB_D2D);
}

bool xb_reading_has(const struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_figure *figure)
{
    struct xb_record_summary summary = xb_record_summarize(reading->record, test);
    /* Its host memory lies on the node that was chosen for the device that is spoken of. */
    bool is_near = reading->all_nodes || test->device < 0 || test->device >= XB_RUN_DEVICES ||
                   test->device != reading->device || !xb_reading_is_placed(test) ||
                   xb_record_case_node(test) == reading->nodes[test->device].node;
    return is_near && summary.status == XB_RESULT_OK && summary.verified == XB_VERIFIED_TRUE &&
           summary.ok > summary.cut && xb_reading_median(reading, test, figure) > 0;
}

bool xb_reading_usable(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return test->bytes >= XB_LARGE_BYTES && !test->latency &&
           xb_reading_has(reading, test, &xb_figure_bandwidth);
}

const struct xb_record_row *xb_reading_row(const struct xb_reading *reading,
                                           const struct xb_record_case *test)
{
    static const struct xb_record_row none = {.timer = NULL};
    for (size_t i = 0; i < reading->record->process_count; i++)
        if (xb_record_row_counts(&test->rows[i]))
            return &test->rows[i];
    return &none;
}

uint64_t xb_reading_value(const struct xb_record_case *test, const char *option)
{
    return strtoull(xb_record_parameter(test, option), NULL, 10);
}

bool xb_reading_device_timed(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const char *timer = xb_reading_row(reading, test)->timer;
    return timer != NULL && strcmp(timer, "device-event") == 0;
}

bool xb_reading_alone(const struct xb_record_case *test)
{
    return !test->simultaneous && test->device >= 0 && test->peer < 0;
}

bool xb_reading_one_way_of_any(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return xb_reading_alone(test) && (mode == NULL || !mode->only_named) &&
           (xb_reading_goes(test, XB_H2D) || xb_reading_goes(test, XB_D2H)) &&
           xb_reading_has(reading, test, xb_reading_figure(test)) &&
           xb_reading_row(reading, test)->bytes_moved == test->bytes;
}

bool xb_reading_one_way(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return !test->latency && test->bytes >= XB_LARGE_BYTES &&
           xb_reading_one_way_of_any(reading, test);
}

const struct xb_figure *xb_reading_figure(const struct xb_record_case *test)
{
    return test->latency                  ? &xb_figure_latency_host
           : test->bytes < XB_LARGE_BYTES ? &xb_figure_wall_time
                                          : &xb_figure_bandwidth;
}

double xb_reading_speed(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_reading_figure(test);
    double median = xb_reading_median(reading, test, figure);
    return figure->more_is_better ? median : (double)test->bytes / median;
}

bool xb_reading_crosses_link(const struct xb_reading *reading, const struct xb_record_case *test,
                             const void *direction)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return (direction == NULL || xb_reading_goes(test, *(const enum xb_direction *)direction)) &&
           xb_reading_one_way(reading, test) && xb_reading_device_timed(reading, test) &&
           (mode == NULL || !mode->crosses_otherwise);
}

const struct xb_record_case *xb_reading_faster(const struct xb_reading *reading,
                                               const struct xb_record_case *a,
                                               const struct xb_record_case *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    const struct xb_figure *figure = a->latency ? &xb_figure_latency_host : &xb_figure_bandwidth;
    bool b_is_more = xb_reading_median(reading, b, figure) > xb_reading_median(reading, a, figure);
    return b_is_more == figure->more_is_better ? b : a;
}

const struct xb_record_case *xb_reading_fastest(const struct xb_reading *reading,
                                                xb_reading_filter *is_one, const void *argument)
{
    const struct xb_record_case *best = NULL;
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    for (size_t i = 0; i < sized.count; i++)
        if (sized.cases[i]->device == reading->device && is_one(reading, sized.cases[i], argument))
            best = xb_reading_faster(reading, best, sized.cases[i]);
    return best;
}

static bool is_variant(const struct xb_reading *reading, const struct xb_record_case *test,
                       const char *mode, const char *variant)
{
    mode = mode != NULL ? mode : reading->mode;
    return strcmp(test->mode, mode) == 0 &&
           (variant == NULL || strcmp(test->variant, variant) == 0);
}

bool xb_is_chosen(const struct xb_reading *reading, const struct xb_record_case *test,
                  const void *choice)
{
    const struct xb_choice *is = choice;
    return is_variant(reading, test, is->mode, is->variant) && !test->simultaneous &&
           (reading->device < 0 || test->device == reading->device) &&
           (is->direction == 0 || xb_reading_goes(test, is->direction)) &&
           (is->option == NULL ||
            strcmp(xb_record_parameter(test, is->option->name), is->value) == 0) &&
           !test->latency && xb_reading_has(reading, test, &xb_figure_bandwidth) &&
           (is->figure == NULL || xb_reading_has(reading, test, is->figure));
}

/* A case of that way; what moves a part of the buffer is no way to move it. */
static bool is_way(const struct xb_reading *reading, const struct xb_record_case *test,
                   const void *argument)
{
    const struct xb_choice *way = argument;
    return xb_reading_alone(test) && xb_reading_goes(test, way->direction) &&
           is_variant(reading, test, way->mode, way->variant) &&
           xb_reading_has(reading, test,
                          test->latency ? &xb_figure_latency_host : &xb_figure_bandwidth) &&
           (test->latency || xb_reading_row(reading, test)->bytes_moved >= test->bytes);
}

const struct xb_record_case *xb_reading_best_of_any(const struct xb_reading *reading,
                                                    enum xb_direction direction, const char *mode,
                                                    const char *variant)
{
    const struct xb_choice way = {.mode = mode, .variant = variant, .direction = direction};
    return xb_reading_fastest(reading, is_way, &way);
}

bool xb_reading_next_size(struct xb_reading *reading)
{
    reading->bytes = xb_rows_size_below(reading->record, reading->bytes);
    return reading->bytes > 0;
}

struct xb_record_cases xb_reading_group(struct xb_reading *reading, xb_reading_filter *is_one,
                                        xb_cases_comparison *compare, const void *argument)
{
    const struct xb_record *record = reading->record;
    const struct xb_record_cases sized = xb_record_of_size(record, reading->bytes);
    size_t all = reading->bytes > 0 ? sized.count : record->case_count;
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        const struct xb_record_case *test = reading->bytes > 0 ? sized.cases[i] : &record->cases[i];
        if (is_one(reading, test, argument))
            reading->grouped[count++] = test;
    }
    if (compare != NULL)
        xb_cases_group(reading->grouped, count, compare, argument);
    return (struct xb_record_cases){reading->grouped, count};
}

/* All of one beyond all of the other says something from so many pairs on: 3 by 3, or 2 by 5. */
#define FEWEST 9

enum xb_reading_order xb_reading_judge_by(const struct xb_reading *reading,
                                          const struct xb_record_case *test,
                                          const struct xb_figure *figure,
                                          const struct xb_record_case *other,
                                          const struct xb_figure *other_figure)
{
    struct xb_statistics own, its;
    if (!xb_record_describe(reading->record, test, figure->name, &own) || own.n < 2 ||
        !xb_record_describe(reading->record, other, other_figure->name, &its) || its.n < 2 ||
        own.n * its.n < FEWEST)
        return XB_READING_UNKNOWN;
    bool by_interval = own.has_interval && its.has_interval;
    /* All of one must be above all of the other, and visibly so. */
    if ((by_interval ? own.ci95_low > its.ci95_high : own.min > its.max) &&
        own.median >= (1 + XB_VISIBLE) * its.median)
        return figure->more_is_better ? XB_READING_FASTER : XB_READING_SLOWER;
    if ((by_interval ? own.ci95_high < its.ci95_low : own.max < its.min) &&
        own.median <= (1 - XB_VISIBLE) * its.median)
        return figure->more_is_better ? XB_READING_SLOWER : XB_READING_FASTER;
    return by_interval ? XB_READING_ALIKE : XB_READING_UNKNOWN;
}

void xb_reading_collect(struct xb_reading *reading, double value)
{
    reading->collected = xb_grow(reading->collected, reading->collected_count, sizeof value);
    reading->collected[reading->collected_count++] = value;
}

bool xb_reading_spread(struct xb_reading *reading, struct xb_statistics *spread)
{
    size_t count = reading->collected_count;
    reading->collected_count = 0;
    if (count > 0)
        *spread = xb_statistics_of(reading->collected, count);
    return count > 0;
}
