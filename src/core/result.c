/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
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
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail->text, sizeof detail->text, format, arguments);
    va_end(arguments);
}

const struct xb_part *xb_result_part(const struct xb_result *result, const char *name)
{
    for (size_t i = 0; i < result->part_count; i++)
        if (strcmp(result->parts[i].name, name) == 0)
            return &result->parts[i];
    return NULL;
}

enum xb_status xb_result_part_median(const struct xb_result *result, const char *name,
                                     double *seconds, struct xb_error *error)
{
    const struct xb_part *part = xb_result_part(result, name);
    struct xb_statistics statistics = {0};
    enum xb_status status = XB_OK;
    if (part != NULL && part->times.count > 0)
        status = xb_statistics_compute(part->times.values, part->times.count, &statistics, error);
    *seconds = statistics.median;
    return status;
}

double xb_result_number(const struct xb_result *result, const char *key, double otherwise)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (result->details[i].is_number && strcmp(result->details[i].key, key) == 0)
            return result->details[i].number;
    return otherwise;
}

void xb_result_free(struct xb_result *result)
{
    xb_samples_free(&result->times);
    xb_samples_free(&result->submit_times);
    xb_samples_free(&result->wall_times);
    for (size_t i = 0; i < result->part_count; i++)
        xb_samples_free(&result->parts[i].times);
}
