/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "xferbench/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ---- */

static bool is_of(const struct xb_record_case *test, const struct xb_cost_source *source)
{
    if (strcmp(test->mode, source->mode) != 0 ||
        (source->direction != NULL && strcmp(test->direction, source->direction) != 0))
        return false;
    for (size_t i = 0; source->variants[i] != NULL; i++)
        if (strcmp(test->variant, source->variants[i]) == 0)
            return true;
    return false;
}

/* Whether it is a verified row of that device, alone. */
static bool counts(const struct xb_record *record, const struct xb_record_case *test, int device)
{
    struct xb_record_summary summary = xb_record_summarize(record, test);
    return test->device == device && test->peer < 0 && !test->simultaneous && test->bytes > 0 &&
           summary.status == XB_RESULT_OK && summary.verified == XB_VERIFIED_TRUE &&
           summary.ok > summary.cut;
}

static double median_of(const struct xb_record *record, const struct xb_record_case *test,
                        const struct xb_figure *figure)
{
    return xb_record_median(record, test, figure->name);
}

/* Fills in how far the ends of the interval are from the median, as factors of a time. */
static bool read_seconds(const struct xb_record *record, const struct xb_record_case *test,
                         const struct xb_figure *figure, double *seconds)
{
    struct xb_statistics found = {.n = 0};
    if (!xb_record_describe(record, test, figure->name, &found) || !(found.median > 0))
        return false;
    bool has = found.has_interval && found.ci95_low > 0;
    seconds[XB_MIDDLE] = found.median;
    seconds[XB_LOW] = has ? found.ci95_low : found.median;
    seconds[XB_HIGH] = has ? found.ci95_high : found.median;
    return true;
}

/* The bytes by the bandwidth: a high bandwidth is a low time. */
static bool read_by_rate(const struct xb_record *record, const struct xb_record_case *test,
                         double *seconds)
{
    double rates[XB_ESTIMATES];
    if (!read_seconds(record, test, &xb_figure_bandwidth, rates))
        return false;
    for (int i = 0; i < XB_ESTIMATES; i++)
        seconds[i] = (double)test->bytes / rates[XB_ESTIMATES - 1 - i];
    return true;
}

/* Of samples that are batches, the bandwidth is that of copies one behind the other, and wall_time
 * is one alone, of few samples: the interval of the first has to do for both. */
static bool read_copy(const struct xb_record *record, const struct xb_record_case *test,
                      struct xb_cost_point *point)
{
    double wall = median_of(record, test, &xb_figure_wall_time);
    double call = median_of(record, test, &xb_figure_submit_time);
    point->call = call > 0 ? call : 0;
    if (test->latency)
        return read_seconds(record, test, &xb_figure_latency_host, point->alone) &&
               read_seconds(record, test, &xb_figure_latency_device, point->behind);
    if (!read_by_rate(record, test, point->behind))
        return false;
    for (int i = 0; i < XB_ESTIMATES; i++)
        point->alone[i] =
            wall > 0 ? wall * point->behind[i] / point->behind[XB_MIDDLE] : point->behind[i];
    return true;
}

static bool read_point(const struct xb_record *record, const struct xb_record_case *test,
                       const struct xb_cost_source *source, struct xb_cost_point *point)
{
    *point = (struct xb_cost_point){.bytes = test->bytes, .test = test};
    if (!source->is_setup)
        return read_copy(record, test, point);
    if (test->latency || !read_seconds(record, test, &xb_figure_setup_time, point->alone))
        return false;
    memcpy(point->behind, point->alone, sizeof point->alone);
    return true;
}

/* Puts the point in its place. Of two of one size the faster stays. */
static void add_point(struct xb_cost *cost, const struct xb_cost_point *point)
{
    size_t at = 0;
    while (at < cost->count && cost->points[at].bytes < point->bytes)
        at++;
    if (at < cost->count && cost->points[at].bytes == point->bytes) {
        if (point->behind[XB_MIDDLE] < cost->points[at].behind[XB_MIDDLE])
            cost->points[at] = *point;
        return;
    }
    if (cost->count == XB_COST_POINTS)
        return;
    memmove(&cost->points[at + 1], &cost->points[at], (cost->count - at) * sizeof cost->points[0]);
    cost->points[at] = *point;
    cost->count++;
}

static void add_both_ways(struct xb_costs *costs, const struct xb_record *record,
                          const struct xb_record_case *test)
{
    double in = median_of(record, test, &xb_figure_bandwidth_h2d);
    double out = median_of(record, test, &xb_figure_bandwidth_d2h);
    if (!(in > 0) || !(out > 0) || (costs->both != NULL && costs->both->bytes > test->bytes))
        return;
    if (costs->both != NULL && costs->both->bytes == test->bytes &&
        costs->both_in + costs->both_out >= in + out)
        return;
    costs->both = test;
    costs->both_in = in;
    costs->both_out = out;
}

void xb_costs_add(struct xb_costs *costs, const struct xb_record *record)
{
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!counts(record, test, costs->device))
            continue;
        if (is_of(test, &xb_both_ways_source))
            add_both_ways(costs, record, test);
        for (int kind = 0; kind < XB_COSTS; kind++) {
            struct xb_cost_point point;
            if (is_of(test, &xb_cost_sources[kind]) &&
                read_point(record, test, &xb_cost_sources[kind], &point))
                add_point(&costs->costs[kind], &point);
        }
    }
}

/* ---- from points to any size ---- */

bool xb_cost_is_known(const struct xb_cost *cost, uint64_t bytes)
{
    if (bytes == 0)
        return true;
    return cost->count > 0 &&
           (bytes >= cost->points[0].bytes || cost->points[0].bytes <= XB_COST_SMALL);
}

/* The first point that is as large or larger; `count` where there is none. */
static size_t point_at(const struct xb_cost *cost, uint64_t bytes)
{
    size_t at = 0;
    while (at < cost->count && cost->points[at].bytes < bytes)
        at++;
    return at;
}

/* Which of a point's two times is asked for. */
enum which { ALONE, BEHIND };

static double seconds_of(const struct xb_cost_point *point, enum which which,
                         enum xb_estimate estimate)
{
    return which == ALONE ? point->alone[estimate] : point->behind[estimate];
}

static double cost_of(const struct xb_cost *cost, uint64_t bytes, enum which which,
                      enum xb_estimate estimate)
{
    size_t at = point_at(cost, bytes);
    if (bytes == 0)
        return 0;
    if (cost->count == 0)
        return (double)NAN;
    const struct xb_cost_point *above = &cost->points[at < cost->count ? at : at - 1];
    double seconds = seconds_of(above, which, estimate);
    if (at == cost->count)
        return seconds * (double)bytes / (double)above->bytes;
    if (at == 0 || above->bytes == bytes)
        return seconds;
    const struct xb_cost_point *below = above - 1;
    double share = (double)(bytes - below->bytes) / (double)(above->bytes - below->bytes);
    double from = seconds_of(below, which, estimate);
    return from + share * (seconds - from);
}

double xb_cost_alone(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate)
{
    return cost_of(cost, bytes, ALONE, estimate);
}

double xb_cost_behind(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate)
{
    return cost_of(cost, bytes, BEHIND, estimate);
}

double xb_cost_call(const struct xb_cost *cost, uint64_t bytes)
{
    size_t at = point_at(cost, bytes);
    if (cost->count == 0 || bytes == 0)
        return 0;
    return cost->points[at < cost->count ? at : at - 1].call;
}

const char *xb_cost_basis(const struct xb_cost *cost, uint64_t bytes, char *text, size_t size)
{
    size_t at = point_at(cost, bytes);
    const struct xb_cost_point *points = cost->points;
    char one[32];
    char other[32];
    text[0] = '\0';
    if (cost->count == 0 || bytes == 0)
        return text;
    const struct xb_record_case *test = points[at < cost->count ? at : at - 1].test;
    int length = snprintf(text, size, "%s %s %s: ", test->mode, test->variant, test->direction);
    size_t used = length > 0 && (size_t)length < size ? (size_t)length : size - 1;
    if (at == cost->count)
        snprintf(text + used, size - used, "beyond its largest, %s, by the rate there",
                 xb_size_format(points[at - 1].bytes, one, sizeof one));
    else if (points[at].bytes == bytes)
        snprintf(text + used, size - used, "row of %s", xb_size_format(bytes, one, sizeof one));
    else if (at == 0)
        snprintf(text + used, size - used, "below its smallest, %s: as long as that",
                 xb_size_format(points[0].bytes, one, sizeof one));
    else
        snprintf(text + used, size - used, "between rows of %s and %s",
                 xb_size_format(points[at - 1].bytes, one, sizeof one),
                 xb_size_format(points[at].bytes, other, sizeof other));
    return text;
}
