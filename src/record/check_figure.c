/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the numbers of a figure that was read fit together. */
#include "fields.h"
#include "internal.h"
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

static double number_of(const struct xb_record_figure *figure, const struct xb_field *field)
{
    return *(const double *)((const char *)figure + field->offset);
}

/* What was computed from other figures has no spread. */
static void check_computed(struct xb_json_reader *reader, const struct xb_record_figure *figure)
{
    bool alone = figure->sample_count == 0;
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++)
        if (field->kind == XB_FIELD_DOUBLE && strcmp(field->key, "median") != 0)
            alone = alone && isnan(number_of(figure, field));
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
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++) {
        if (field->kind != XB_FIELD_DOUBLE || isnan(number_of(figure, field)))
            continue;
        double is = number_of(&own, field), told = number_of(figure, field);
        if (!(fabs(is - told) <= ROUNDING * is))
            xb_json_refuse(reader, "samples",
                           "these samples do not give the %.6g that stands beside them", told);
    }
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
