/* SPDX-License-Identifier: Apache-2.0 */
/* What a record's cases tell. */
#include "internal.h"

#include <stdio.h>

const char *xb_metric_name(enum xb_metric metric)
{
    switch (metric) {
    case XB_METRIC_BANDWIDTH:
        return "bandwidth";
    case XB_METRIC_HOST_LATENCY:
        return "host latency";
    case XB_METRIC_DEVICE_LATENCY:
        return "device latency";
    case XB_METRICS:
        break;
    }
    return "unknown";
}

bool xb_metric_more_is_better(enum xb_metric metric)
{
    return metric == XB_METRIC_BANDWIDTH;
}

bool xb_record_case_is_fine(const struct xb_record *record, const struct xb_record_case *test)
{
    for (size_t i = 0; i < record->process_count; i++)
        if (!test->rows[i].is_there || test->rows[i].status != XB_RESULT_OK)
            return false;
    return true;
}

size_t xb_record_medians(const struct xb_record *record, const struct xb_record_case *test,
                         enum xb_metric metric, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++)
        if (test->rows[i].values[metric].is_set)
            values[count++] = test->rows[i].values[metric].median;
    return count;
}

const char *xb_record_case_device(const struct xb_record_case *test, char *text, size_t size)
{
    if (test->device < 0)
        snprintf(text, size, "sum");
    else if (test->peer >= 0)
        snprintf(text, size, "%d>%d", test->device, test->peer);
    else
        snprintf(text, size, "%d", test->device);
    return text;
}
