/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the numbers of a figure that was read fit together. */
#include "internal.h"

#include "base/json_read.h"
#include "measure/mode_list.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-6 /* between what describes samples and the samples */

static void check_kind(struct xb_json_reader *reader, const struct xb_record_row *row,
                       const struct xb_record_figure *figure)
{
    const struct xb_figure *known = xb_figure_find(figure->name);
    if (known != NULL && strcmp(known->unit, figure->unit) != 0)
        xb_json_refuse(reader, "unit", "is not \"%s\", which that of %s is", known->unit,
                       known->name);
    if (xb_record_row_figure(row, figure->name) != NULL)
        xb_json_refuse(reader, "name", "is that of another figure of this row: %.60s",
                       figure->name);
}

/* What was computed from other figures has no spread. */
static void check_computed(struct xb_json_reader *reader, const struct xb_record_figure *figure)
{
    const struct xb_statistics *statistics = &figure->statistics;
    const double others[] = {statistics->min, statistics->max, statistics->p5,
                             statistics->p95, statistics->p99, statistics->mad};
    bool alone = !statistics->has_interval && figure->sample_count == 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        alone = alone && isnan(others[i]);
    if (!alone)
        xb_json_refuse(reader, "n", "is 0: such a figure has a median only");
}

/* Of what is known. */
static void check_order(struct xb_json_reader *reader, const struct xb_statistics *statistics)
{
    const double values[] = {statistics->min, statistics->p5,  statistics->median,
                             statistics->p95, statistics->p99, statistics->max};
    double before = 0;
    if (statistics->has_interval && !(statistics->ci95_low <= statistics->median &&
                                      statistics->median <= statistics->ci95_high))
        xb_json_refuse(reader, NULL, "the median is not within its interval");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (isnan(values[i]))
            continue;
        if (values[i] < before * (1.0 - ROUNDING))
            xb_json_refuse(reader, NULL, "min, p5, median, p95, p99 and max are not in this order");
        before = values[i];
    }
}

/* Of what stands in the file of samples: each number but for rounding. */
static void check_samples(struct xb_json_reader *reader, const struct xb_record_figure *figure)
{
    struct xb_record_figure own = *figure;
    struct xb_error no_memory; /* does not name the file */
    if (xb_json_failed(reader) || figure->sample_count == 0)
        return;
    if (figure->sample_count != figure->statistics.n)
        xb_json_refuse(reader, "samples", "are %zu, and n is %zu", figure->sample_count,
                       figure->statistics.n);
    if (xb_record_figure_describe(&own, &no_memory) != XB_OK) {
        xb_json_refuse_memory(reader);
        return;
    }
    const struct xb_statistics *a = &own.statistics;
    const struct xb_statistics *b = &figure->statistics;
    const double pairs[][2] = {
        {a->median, b->median}, {a->ci95_low, b->ci95_low}, {a->ci95_high, b->ci95_high},
        {a->min, b->min},       {a->max, b->max},           {a->p5, b->p5},
        {a->p95, b->p95},       {a->p99, b->p99},           {a->mad, b->mad}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!isnan(pairs[i][1]) && !(fabs(pairs[i][0] - pairs[i][1]) <= ROUNDING * pairs[i][0]))
            xb_json_refuse(reader, "samples",
                           "these samples do not give the %.6g that stands beside them",
                           pairs[i][1]);
}

void xb_record_check_figure(struct xb_json_reader *reader, const struct xb_record_row *row,
                            const struct xb_record_figure *figure)
{
    if (xb_json_failed(reader))
        return;
    check_kind(reader, row, figure);
    if (figure->statistics.n == 0)
        check_computed(reader, figure);
    check_order(reader, &figure->statistics);
    check_samples(reader, figure);
}
