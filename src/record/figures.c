/* SPDX-License-Identifier: Apache-2.0 */
/* A record's figures, as they are made, checked and shown; and its devices. */
#include "document.h"
#include "making.h"
#include "record/mode_list.h"

#include <math.h>
#include <string.h>

/* ---- a figure is made ---- */

struct xb_record_figure xb_record_figure_of(const struct xb_figure *figure)
{
    return (struct xb_record_figure){.name = figure->name,
                                     .unit = figure->unit,
                                     .more_is_better = figure->more_is_better,
                                     .gates = figure->gates};
}

enum xb_status xb_record_figure_describe(struct xb_record_figure *figure, struct xb_error *error)
{
    struct xb_statistics *statistics = &figure->statistics;
    const struct xb_record_placements *placements = &figure->placements;
    XB_TRY(placements->count > 0
               ? xb_statistics_compute_groups(figure->samples, placements->samples,
                                              placements->count, statistics, error)
               : xb_statistics_compute(figure->samples, figure->sample_count, statistics, error));
    if (!statistics->has_interval)
        statistics->ci95_low = statistics->ci95_high = (double)NAN;
    return XB_OK;
}

struct xb_statistics xb_record_median_only(double median, size_t n)
{
    struct xb_statistics statistics = {.n = n, .median = median};
    statistics.ci95_low = statistics.ci95_high = statistics.min = statistics.max = (double)NAN;
    statistics.p5 = statistics.p95 = statistics.p99 = statistics.mad = (double)NAN;
    return statistics;
}

/* ---- whether the numbers of one that was read fit together ---- */

#define ROUNDING 1e-6 /* between what describes samples and the samples */

static double number_of(const struct xb_record_figure *figure, const struct xb_field *field)
{
    return *(const double *)((const char *)figure + field->offset);
}

void xb_record_check_figure(struct xb_json_reader *reader, const struct xb_record_row *row,
                            const struct xb_record_figure *figure)
{
    if (xb_json_failed(reader))
        return;
    const struct xb_figure *known = xb_figure_find(figure->name);
    const struct xb_statistics *told = &figure->statistics;
    if (known != NULL && strcmp(known->unit, figure->unit) != 0)
        xb_json_refuse(reader, "unit", "is not \"%s\", which that of %s is", known->unit,
                       known->name);
    if (xb_record_row_figure(row, figure->name) != NULL)
        xb_json_refuse(reader, "name", "is that of another figure of this row: %.60s",
                       figure->name);
    /* What was computed from other figures has no spread. */
    bool alone = figure->sample_count == 0;
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++)
        if (field->kind == XB_FIELD_DOUBLE && strcmp(field->key, "median") != 0)
            alone = alone && isnan(number_of(figure, field));
    if (told->n == 0 && !alone)
        xb_json_refuse(reader, "n", "is 0: such a figure has a median only");
    if (told->has_interval && !(told->ci95_low <= told->median && told->median <= told->ci95_high))
        xb_json_refuse(reader, NULL, "the median is not within its interval");
    const double values[] = {told->min, told->p5, told->median, told->p95, told->p99, told->max};
    double before = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (isnan(values[i]))
            continue;
        if (values[i] < before * (1.0 - ROUNDING))
            xb_json_refuse(reader, NULL, "min, p5, median, p95, p99 and max are not in this order");
        before = values[i];
    }
    if (xb_json_failed(reader) || figure->sample_count == 0)
        return;
    /* Its samples give each number but for rounding. */
    struct xb_record_figure own = *figure;
    struct xb_error no_memory;
    if (figure->sample_count != told->n)
        xb_json_refuse(reader, "samples", "are %zu, and n is %zu", figure->sample_count, told->n);
    if (xb_record_figure_describe(&own, &no_memory) != XB_OK)
        xb_memory_end(figure->sample_count * sizeof *figure->samples);
    for (const struct xb_field *field = xb_record_figure_fields; field->key != NULL; field++) {
        if (field->kind != XB_FIELD_DOUBLE || isnan(number_of(figure, field)))
            continue;
        double is = number_of(&own, field), beside = number_of(figure, field);
        if (!(fabs(is - beside) <= ROUNDING * is))
            xb_json_refuse(reader, "samples",
                           "these samples do not give the %.6g that stands beside them", beside);
    }
}

/* ---- what there is ---- */

const struct xb_record_figure *xb_record_row_figure(const struct xb_record_row *row,
                                                    const char *name)
{
    for (size_t i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].name, name) == 0)
            return &row->figures[i];
    return NULL;
}

bool xb_record_row_counts(const struct xb_record_row *row)
{
    return row->is_there && row->status == XB_RESULT_OK && !row->is_cut;
}

size_t xb_record_medians(const struct xb_record *record, const struct xb_record_case *test,
                         const char *figure, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        const struct xb_record_figure *own =
            xb_record_row_counts(row) ? xb_record_row_figure(row, figure) : NULL;
        if (own != NULL)
            values[count++] = own->statistics.median;
    }
    return count;
}

bool xb_record_describe(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure, struct xb_statistics *statistics)
{
    double medians[XB_RECORD_PROCESSES];
    size_t count = 0;
    if (!record->is_merged && record->process_count == 1) {
        const struct xb_record_figure *own =
            test->rows[0].is_there ? xb_record_row_figure(&test->rows[0], figure) : NULL;
        if (own != NULL)
            *statistics = own->statistics;
        return own != NULL;
    }
    count = xb_record_medians(record, test, figure, medians);
    if (count == 0)
        return false;
    *statistics = xb_statistics_of(medians, count);
    statistics->p99 = (double)NAN; /* so few processes have none */
    return true;
}

double xb_record_median(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure)
{
    struct xb_statistics statistics;
    return xb_record_describe(record, test, figure, &statistics) ? statistics.median : (double)NAN;
}

/* ---- devices ---- */

const struct xb_record_device *xb_record_devices(const struct xb_record *record, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_process *process = &record->processes[i];
        if (process->has_results) {
            *count = process->device_count;
            return process->devices;
        }
    }
    return NULL;
}

const struct xb_record_device *xb_record_device(const struct xb_record *record, int index)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0; i < count; i++)
        if (index >= 0 && devices[i].index == (unsigned)index)
            return &devices[i];
    return NULL;
}
