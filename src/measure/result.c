/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/result.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *xb_result_status_name(enum xb_result_status status)
{
    switch (status) {
    case XB_RESULT_OK:
        return "ok";
    case XB_RESULT_SKIPPED:
        return "skipped";
    case XB_RESULT_ERROR:
        return "error";
    }
    return "unknown";
}

void xb_result_warn(struct xb_result *result, const char *format, ...)
{
    assert(result->warning_count < XB_RESULT_WARNINGS);
    if (result->warning_count >= XB_RESULT_WARNINGS)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->warnings[result->warning_count++], sizeof result->warnings[0], format,
              arguments);
    va_end(arguments);
}

static struct xb_detail *add_detail(struct xb_result *result, const char *key)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (strcmp(result->details[i].key, key) == 0)
            return &result->details[i];
    assert(result->detail_count < XB_RESULT_DETAILS);
    if (result->detail_count >= XB_RESULT_DETAILS)
        return NULL;
    struct xb_detail *detail = &result->details[result->detail_count++];
    memset(detail, 0, sizeof *detail);
    snprintf(detail->key, sizeof detail->key, "%s", key);
    return detail;
}

void xb_result_detail_number(struct xb_result *result, const char *key, double number)
{
    struct xb_detail *detail = add_detail(result, key);
    if (detail == NULL)
        return;
    detail->is_number = true;
    detail->number = number;
}

void xb_result_detail_text(struct xb_result *result, const char *key, const char *format, ...)
{
    struct xb_detail *detail = add_detail(result, key);
    if (detail == NULL)
        return;
    detail->is_number = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail->text, sizeof detail->text, format, arguments);
    va_end(arguments);
}

static struct xb_result_figure *find_figure(struct xb_result *result,
                                            const struct xb_figure *figure)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == figure)
            return &result->figures[i];
    return NULL;
}

static struct xb_result_figure *add_figure(struct xb_result *result, const struct xb_figure *figure)
{
    struct xb_result_figure *added = find_figure(result, figure);
    if (added != NULL)
        return added;
    assert(result->figure_count < XB_RESULT_FIGURES);
    if (result->figure_count >= XB_RESULT_FIGURES)
        return NULL;
    added = &result->figures[result->figure_count++];
    *added = (struct xb_result_figure){.figure = figure};
    return added;
}

void xb_result_compute(struct xb_result *result, const struct xb_figure *figure, double value)
{
    struct xb_result_figure *added = isfinite(value) ? add_figure(result, figure) : NULL;
    if (added != NULL)
        added->computed = value;
}

enum xb_status xb_result_sample(struct xb_result *result, const struct xb_figure *figure,
                                double value, struct xb_error *error)
{
    struct xb_result_figure *added = add_figure(result, figure);
    return added != NULL ? xb_samples_add(&added->samples, value, error) : XB_OK;
}

enum xb_status xb_result_describe(const struct xb_result *result, const double *values,
                                  struct xb_statistics *statistics, struct xb_error *error)
{
    if (result->placement_count > 0)
        return xb_statistics_compute_groups(values, result->placement_samples,
                                            result->placement_count, statistics, error);
    return xb_statistics_compute(values, result->times.count, statistics, error);
}

bool xb_result_has(const struct xb_result *result, const struct xb_figure *figure)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (result->figures[i].figure == figure)
            return true;
    return false;
}

enum xb_status xb_result_median(const struct xb_result *result, const struct xb_figure *figure,
                                double *median, struct xb_error *error)
{
    struct xb_statistics statistics;
    *median = 0;
    for (size_t i = 0; i < result->figure_count; i++) {
        const struct xb_result_figure *own = &result->figures[i];
        if (own->figure != figure)
            continue;
        *median = own->computed;
        if (own->samples.count == 0)
            return XB_OK;
        enum xb_status status =
            xb_statistics_compute(own->samples.values, own->samples.count, &statistics, error);
        if (status != XB_OK)
            return status;
        *median = statistics.median;
    }
    return XB_OK;
}

void xb_result_drop_timeline(struct xb_result *result)
{
    if (result->timeline != NULL)
        xb_timeline_free(result->timeline);
    free(result->timeline);
    result->timeline = NULL;
}

void xb_result_free(struct xb_result *result)
{
    xb_result_drop_timeline(result);
    xb_samples_free(&result->times);
    xb_samples_free(&result->submit_times);
    xb_samples_free(&result->wall_times);
    for (size_t i = 0; i < result->figure_count; i++)
        xb_samples_free(&result->figures[i].samples);
}
