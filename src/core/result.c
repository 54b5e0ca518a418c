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

void xb_result_free(struct xb_result *result)
{
    xb_samples_free(&result->times);
    xb_samples_free(&result->submit_times);
    xb_samples_free(&result->wall_times);
}
