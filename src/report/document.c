/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* timegm, strptime */
#include "document.h"

#include "base/json_read.h"
#include "compare/comparison.h"
#include "link/report.h"
#include "reading/list.h"
#include "trace/read.h"
#include "xferbench/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *xb_report_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *xb_report_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL ? text : "-";
}

double xb_report_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : otherwise;
}

const char *xb_report_date(double date, char *text, size_t size)
{
    time_t seconds = isfinite(date) ? (time_t)date : 0;
    struct tm utc;
    text[0] = '\0';
    if (isfinite(date) && gmtime_r(&seconds, &utc) != NULL)
        strftime(text, size, "%Y-%m-%d %H:%M UTC", &utc);
    return text;
}

/* Of "2026-11-22T23:20:51Z". */
static double date_of(const cJSON *root)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "timestamp"));
    struct tm time = {.tm_sec = 0};
    const char *end = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &time) : NULL;
    return end != NULL && *end == '\0' ? (double)timegm(&time) : (double)NAN;
}

/* What a document points to. */
struct xb_report_held {
    struct xb_record record;
    struct xb_reading_list reading;
    struct xb_link_file link;
    struct xb_comparison_file comparison;
    struct xb_trace trace;
    cJSON *tree;
};

/* Keeps the tree of what has no reader of its own, and gives a result its own. A comparison's
 * reader makes a tree again, and two of them would need twice the memory. */
static enum xb_status take(const char *text, size_t length, cJSON *root,
                           struct xb_report_document *document, struct xb_error *error)
{
    struct xb_report_held *held = document->held;
    const char *path = document->path;
    enum xb_status status = XB_OK;
    switch (document->kind) {
    case XB_DOCUMENT_LIST:
    case XB_DOCUMENT_ADVISE:
    case XB_DOCUMENT_FLEET:
    case XB_DOCUMENT_TRACE:
        held->tree = root;
        document->tree = root;
        if (document->kind == XB_DOCUMENT_TRACE)
            status = xb_trace_read(path, root, &held->trace, error);
        if (document->kind == XB_DOCUMENT_TRACE && status == XB_OK)
            document->trace = &held->trace;
        return status;
    case XB_DOCUMENT_RESULT:
    case XB_DOCUMENT_PROCESSES:
        status = xb_record_of_tree(path, root, &held->record, error);
        cJSON_Delete(root);
        XB_TRY(status);
        xb_reading_make(&held->record, &held->reading);
        document->record = &held->record;
        document->reading = &held->reading;
        return XB_OK;
    case XB_DOCUMENT_LINK:
        status = xb_link_report_of_tree(path, root, &held->link, error);
        document->link = status == XB_OK ? &held->link : NULL;
        cJSON_Delete(root);
        return status;
    case XB_DOCUMENT_COMPARE:
        cJSON_Delete(root);
        status = xb_comparison_parse(path, text, length, &held->comparison, error);
        document->comparison = status == XB_OK ? &held->comparison.comparison : NULL;
        return status;
    default:
        cJSON_Delete(root);
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: is not a file that a command of xferbench wrote as JSON", path);
    }
}

enum xb_status xb_report_document_parse(const char *path, const char *text, size_t length,
                                        struct xb_report_document *document, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    *document =
        (struct xb_report_document){.path = path, .held = calloc(1, sizeof *document->held)};
    if (document->held == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "%s: no memory to read it", path);
    cJSON *root = xb_json_read(&reader, text, length);
    enum xb_status status = reader.error.status;
    if (root == NULL) {
        *error = reader.error;
    } else {
        document->kind = xb_document_kind_of(root);
        document->date = date_of(root);
        status = take(text, length, root, document, error);
    }
    if (status != XB_OK)
        xb_report_document_free(document);
    return status;
}

void xb_report_document_free(struct xb_report_document *document)
{
    struct xb_report_held *held = document->held;
    if (document->reading != NULL)
        xb_reading_free(&held->reading);
    if (document->record != NULL)
        xb_record_free(&held->record);
    if (document->link != NULL)
        xb_link_file_free(&held->link);
    if (document->comparison != NULL)
        xb_comparison_file_free(&held->comparison);
    if (document->trace != NULL)
        xb_trace_free(&held->trace);
    if (held != NULL)
        cJSON_Delete(held->tree);
    free(held);
    *document = (struct xb_report_document){.path = NULL};
}
