/* SPDX-License-Identifier: Apache-2.0 */
/* A file, as it was read, and what it says in short. */
#define _GNU_SOURCE /* timegm, strptime; text.h */
#include "report.h"

#include "base/json_read.h"
#include "base/text.h"
#include "compare/text.h"
#include "link/report.h"
#include "reading/list.h"
#include "record/record.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *xb_report_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const cJSON *xb_report_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *xb_report_text(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(xb_report_member(object, key));
    return text != NULL ? text : "-";
}

double xb_report_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *number = xb_report_member(object, key);
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

/* What a document points to. */
struct xb_report_held {
    char *text;
    struct xb_record record;
    struct xb_reading_list reading;
    struct xb_parameters parameters;
    struct xb_link_file link;
    struct xb_comparison_file comparison;
    struct xb_trace trace;
    cJSON *tree;
};

/* Keeps the tree of what has no reader of its own, and gives the others theirs. On failure they
 * hold nothing. */
static enum xb_status take(cJSON *root, struct xb_report_document *document, struct xb_error *error)
{
    struct xb_report_held *held = document->held;
    const char *path = document->path;
    enum xb_status status = XB_OK;
    switch (document->kind) {
    case XB_DOCUMENT_TRACE:
        document->trace = &held->trace;
        status = xb_trace_read(path, root, &held->trace, error);
        __attribute__((fallthrough));
    case XB_DOCUMENT_LIST:
    case XB_DOCUMENT_ADVISE:
    case XB_DOCUMENT_FLEET:
        document->tree = held->tree = root;
        return status;
    case XB_DOCUMENT_RESULT:
    case XB_DOCUMENT_PROCESSES:
        document->record = &held->record;
        document->reading = &held->reading;
        document->parameters = &held->parameters;
        status = xb_record_of_tree(path, root, &held->record, error);
        if (status != XB_OK)
            break;
        xb_reading_make(&held->record, &held->reading);
        held->parameters = xb_parameters_that_differ(&held->record);
        break;
    case XB_DOCUMENT_LINK:
        document->link = &held->link;
        status = xb_link_report_of_tree(path, root, &held->link, error);
        break;
    case XB_DOCUMENT_COMPARE:
        document->comparison = &held->comparison.comparison;
        break;
    default:
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "%s: is not a file that a command of xferbench wrote as JSON", path);
    }
    cJSON_Delete(root);
    /* A comparison's reader makes a tree again, and two of them would need twice the memory. */
    return document->comparison == NULL
               ? status
               : xb_comparison_parse(path, document->text, document->length, &held->comparison,
                                     error);
}

enum xb_status xb_report_document_read(const struct xb_report_request *request, size_t index,
                                       struct xb_report_document *document, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = request->paths[index]}};
    struct tm time = {.tm_sec = 0};
    *document = (struct xb_report_document){.number = index + 1,
                                            .path = request->paths[index],
                                            .request = request,
                                            .held = xb_new(1, sizeof *document->held)};
    enum xb_status status =
        request->read(document->path, &document->held->text, &document->length, error);
    document->text = document->held->text;
    if (status == XB_OK) {
        cJSON *root = xb_json_read(&reader, document->text, document->length);
        /* "2026-11-22T23:20:51Z" */
        const char *end = strptime(xb_report_text(root, "timestamp"), "%Y-%m-%dT%H:%M:%SZ", &time);
        document->kind = xb_document_kind_of(root);
        document->date = end != NULL && *end == '\0' ? (double)timegm(&time) : (double)NAN;
        *error = reader.error;
        status = root != NULL ? take(root, document, error) : reader.error.status;
    }
    if (status != XB_OK)
        xb_report_document_free(document);
    return status;
}

void xb_report_document_free(struct xb_report_document *document)
{
    struct xb_report_held *held = document->held;
    xb_reading_free(&held->reading);
    xb_record_free(&held->record);
    xb_link_file_free(&held->link);
    xb_comparison_file_free(&held->comparison);
    xb_trace_free(&held->trace);
    cJSON_Delete(held->tree);
    free(held->text);
    free(held);
    *document = (struct xb_report_document){.path = NULL};
}

/* ---- what it says in short ---- */

/* Beyond XB_ANSWER_LINES they are left out. */
__attribute__((format(printf, 2, 3))) static void add_line(struct xb_answer *answer,
                                                           const char *format, ...)
{
    char text[XB_NOTE_SIZE];
    XB_FORMAT(text, sizeof text, format);
    if (answer->count < XB_ANSWER_LINES)
        answer->lines[answer->count++] = xb_arena_copy(answer->texts, text);
}

#define SET_SUBJECT(answer, ...) ((answer)->subject = xb_arena_print((answer)->texts, __VA_ARGS__))

/* "2 x NVIDIA H200 on host vm-1"; devices are named once where they are of one model. Then what a
 * terminal shows of it: cases that failed, its answer, and what to do. */
static void answer_record(struct xb_answer *answer, const struct xb_record *record,
                          const struct xb_reading_list *reading)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    struct xb_words words = {.length = 0};
    char text[64] = "";
    size_t count = 0;
    size_t failed = 0;
    size_t wrong = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0, next = 0; i < count; i = next) {
        while (next < count && strcmp(devices[next].name, devices[i].name) == 0)
            next++;
        xb_words_add(&words, i > 0 ? ", " : "");
        if (next - i > 1)
            xb_words_add(&words, "%zu x ", next - i);
        xb_words_add(&words, "%.200s", devices[i].name);
    }
    if (record->host.hostname != NULL)
        xb_words_add(&words, "%shost %.200s", count > 0 ? " on " : "", record->host.hostname);
    SET_SUBJECT(answer, "%s", words.text);
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_record_summary summary = xb_record_summarize(record, &record->cases[i]);
        wrong += summary.verified == XB_VERIFIED_FALSE;
        failed += summary.status == XB_RESULT_ERROR;
    }
    if (wrong > 0)
        snprintf(text, sizeof text, ", %zu of them because the data was WRONG", wrong);
    if (failed > 0) {
        answer->look = "bad";
        add_line(answer, "%zu of %zu cases failed%s.", failed, record->case_count, text);
    }
    if (reading->answer != NULL)
        add_line(answer, "%s", reading->answer);
    count = xb_reading_advice(reading, advice);
    for (size_t i = 0; i < count; i++)
        add_line(answer, "What to do: %s%s",
                 xb_reading_subject(reading, advice[i], text, sizeof text), advice[i]->remedy);
}

/* "; host to device 55.34 GB/s, 95.3 % of what the link can carry" */
static void add_direction(struct xb_words *words, const char *what,
                          const struct xb_link_direction *direction)
{
    if (!xb_rate_known(direction->measured))
        return;
    xb_words_add(words, "; %s %s GB/s", what, XB_RATE_TEXT(direction->measured));
    if (direction->share > 0)
        xb_words_add(words, ", %.1f %% of what the link can carry", 100 * direction->share);
}

static void answer_link(struct xb_answer *answer, const struct xb_link_file *file)
{
    const struct xb_link_report *report = &file->report;
    SET_SUBJECT(answer, "%zu device%s of the backend %.60s", report->device_count,
                report->device_count == 1 ? "" : "s",
                report->backend != NULL ? report->backend : "none");
    answer->look = report->level == XB_LEVEL_OK         ? "good"
                   : report->level == XB_LEVEL_CRITICAL ? "bad"
                                                        : "unsure";
    if (report->device_count != 1)
        add_line(answer, "All links together: %s.%s%.500s", xb_level_name(report->level),
                 report->nothing[0] != '\0' ? " Nothing could be tested: " : "", report->nothing);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_device_info *info = &report->devices[i].info;
        const struct xb_verdict *verdict = &report->verdicts[i];
        struct xb_words words = {.length = 0};
        xb_words_add(&words, "Link of device %u, %.100s: %s", info->index, info->name,
                     xb_level_name(verdict->found.level));
        if (verdict->found.reason_count > 0)
            xb_words_add(&words, " (%.60s: %.250s)", verdict->found.reasons[0].code,
                         verdict->found.reasons[0].text);
        add_direction(&words, "host to device", &verdict->h2d);
        add_direction(&words, "device to host", &verdict->d2h);
        add_line(answer, "%s.", words.text);
    }
}

/* Files without a reader of their own: anything may be missing. */

static void answer_trace(struct xb_answer *answer, const cJSON *root)
{
    const cJSON *other = xb_report_member(root, "otherData");
    const cJSON *item;
    struct xb_words subject = {.length = 0};
    cJSON_ArrayForEach(item, xb_report_member(other, "devices"))
    {
        xb_words_add(&subject, "%s%.200s", subject.length > 0 ? ", " : "",
                     xb_report_text(item, "name"));
    }
    SET_SUBJECT(answer, "%s", subject.text);
    cJSON_ArrayForEach(item, xb_report_member(other, "cases"))
    {
        add_line(answer, "One iteration of %.300s.", xb_report_text(item, "case"));
    }
}

static void answer_fleet(struct xb_answer *answer, const cJSON *root)
{
    const cJSON *findings = xb_report_member(root, "findings");
    const cJSON *finding;
    double judged = xb_report_number(root, "judged_gpus", 0.0);
    int bad = 0;
    cJSON_ArrayForEach(finding, findings)
    {
        bad += cJSON_IsTrue(xb_report_member(finding, "is_to_drain"));
    }
    SET_SUBJECT(answer, "%.0f GPUs of %.0f nodes", xb_report_number(root, "gpus", 0.0),
                xb_report_number(root, "nodes", 0.0));
    add_line(answer,
             "%.0f GPUs judged by their siblings; %d findings, %d of them a reason to take a node "
             "out of service.",
             judged, cJSON_GetArraySize(findings), bad);
    answer->look = bad > 0 ? "bad" : judged > 0.0 ? "good" : "unsure";
    /* "gpu17 GPU 3: link h2d 52.20 GB/s, ..." */
    cJSON_ArrayForEach(finding, findings)
    {
        const cJSON *gpu = xb_report_member(finding, "gpu");
        char index[400] = "";
        if (cJSON_IsObject(gpu))
            snprintf(index, sizeof index, " GPU %.0f", xb_report_number(gpu, "index", 0.0));
        add_line(answer, "%.200s%s: %.500s", xb_report_text(finding, "node"), index,
                 xb_report_text(finding, "text"));
    }
}

static const char *name_of(const struct xb_record *record)
{
    return record->path != NULL ? xb_report_file_name(record->path) : "?";
}

struct xb_answer xb_answer_make(const struct xb_report_document *document, struct xb_arena **texts)
{
    const struct xb_comparison *comparison = document->comparison;
    struct xb_answer answer = {.texts = texts, .subject = "", .look = ""};
    const cJSON *device;
    if (document->record != NULL)
        answer_record(&answer, document->record, document->reading);
    if (document->link != NULL)
        answer_link(&answer, document->link);
    if (comparison != NULL) {
        bool is_open =
            xb_compare_refused(comparison) || comparison->overall == XB_OUTCOME_INCONCLUSIVE;
        SET_SUBJECT(&answer, "%.200s against %.200s", name_of(comparison->candidate),
                    name_of(comparison->baseline));
        add_line(&answer, "%s: %.500s", xb_compare_overall(comparison), comparison->reason);
        answer.look = is_open                                        ? "unsure"
                      : comparison->overall == XB_OUTCOME_REGRESSION ? "bad"
                                                                     : "good";
    }
    if (document->kind == XB_DOCUMENT_LIST) {
        const cJSON *devices = xb_report_member(document->tree, "devices");
        SET_SUBJECT(&answer, "%d devices", cJSON_GetArraySize(devices));
        cJSON_ArrayForEach(device, devices)
        {
            add_line(&answer, "%.60s: %.200s", xb_report_text(device, "backend"),
                     xb_report_text(device, "name"));
        }
    }
    if (document->kind == XB_DOCUMENT_ADVISE) {
        const cJSON *source = xb_report_member(document->tree, "source");
        SET_SUBJECT(&answer, "%.200s on host %.200s", xb_report_text(source, "device_name"),
                    xb_report_text(source, "hostname"));
        add_line(&answer, "%.2000s", xb_report_text(document->tree, "advice"));
    }
    if (document->kind == XB_DOCUMENT_FLEET)
        answer_fleet(&answer, document->tree);
    if (document->kind == XB_DOCUMENT_TRACE)
        answer_trace(&answer, document->tree);
    if (answer.count == 0)
        add_line(&answer, "It has no figures.");
    return answer;
}
