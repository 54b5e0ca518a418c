/* SPDX-License-Identifier: Apache-2.0 */
/* What tables and Reading show of a record: its figures and its devices. */
#include "internal.h"

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
    enum xb_status status =
        placements->count > 0
            ? xb_statistics_compute_groups(figure->samples, placements->samples, placements->count,
                                           statistics, error)
            : xb_statistics_compute(figure->samples, figure->sample_count, statistics, error);
    if (status != XB_OK)
        return status;
    if (!statistics->has_interval)
        statistics->ci95_low = statistics->ci95_high = (double)NAN;
    return XB_OK;
}

struct xb_statistics xb_record_median_only(double median, size_t n)
{
    return (struct xb_statistics){.n = n,
                                  .median = median,
                                  .ci95_low = (double)NAN,
                                  .ci95_high = (double)NAN,
                                  .min = (double)NAN,
                                  .max = (double)NAN,
                                  .p5 = (double)NAN,
                                  .p95 = (double)NAN,
                                  .p99 = (double)NAN,
                                  .mad = (double)NAN};
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
