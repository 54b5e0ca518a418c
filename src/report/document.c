/* SPDX-License-Identifier: Apache-2.0 */
/* A file, as it was read, and what it says in short. */
#define _GNU_SOURCE /* timegm, strptime; text.h */
#include "report.h"

#include "base/json_read.h"
#include "base/text.h"
#include "compare/text.h"
#include "fleet/internal.h"
#include "fleet/write/formats.h"
#include "link/report.h"
#include "reading/list.h"
#include "record/record.h"
#include "trace/profile.h"

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

/* ---- what it says in short ---- */

#define SET(part, ...) (document->answer.part = xb_arena_print(document->texts, __VA_ARGS__))

/* "2 x NVIDIA H200 on vm-1"; then the answer, as in a terminal, or how many cases failed. */
static void answer_record(struct xb_report_document *document)
{
    const struct xb_record *record = document->record;
    struct xb_words words = {.length = 0};
    size_t count = 0, failed = 0, wrong = 0;
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
        xb_words_add(&words, "%s%.200s", count > 0 ? " on " : "", record->host.hostname);
    SET(subject, "%s", words.text);
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_record_summary summary = xb_record_summarize(record, &record->cases[i]);
        wrong += summary.verified == XB_VERIFIED_FALSE;
        failed += summary.status == XB_RESULT_ERROR;
    }
    if (failed > 0) {
        document->answer.look = "bad";
        document->answer.verdict = "FAILED";
        SET(line,
            wrong > 0 ? "%zu of %zu cases failed, %zu of them because the data was WRONG."
                      : "%zu of %zu cases failed.",
            failed, record->case_count, wrong);
    } else if (document->reading->answer != NULL) {
        SET(line, "%s", document->reading->answer);
    }
}

static void answer_link(struct xb_report_document *document)
{
    const struct xb_link_report *report = &document->link->report;
    struct xb_answer *answer = &document->answer;
    const char *one = report->device_count > 0 ? report->devices[0].info.name : "GPUs";
    size_t bad_pairs = 0, bad = xb_link_count_bad(report, &bad_pairs);
    const char *pairs = "";
    if (report->device_count == 1)
        SET(subject, "Link of %.200s", one);
    else
        SET(subject, "Links of %zu %.200s", report->device_count, one);
    if (report->hostname != NULL)
        SET(subject, "%s on %.200s", answer->subject, report->hostname);
    answer->verdict = xb_level_name(report->level);
    answer->look = XB_LOOK(report->level == XB_LEVEL_CRITICAL, report->level == XB_LEVEL_OK);
    if (report->pair_count > 0)
        pairs = xb_arena_print(document->texts, " and %zu of %zu pairs",
                               report->pair_count - bad_pairs, report->pair_count);
    const char *soak = "";
    if (report->soak != NULL)
        soak = xb_arena_print(document->texts,
                              report->soak->ended ? ", after a soak of %s"
                                                  : "; a soak was cut short after %s",
                              XB_SOAK_TIME(report->soak->took));
    SET(line, "%zu of %zu links to GPUs%s are as they should be%s.%s%.500s",
        report->device_count - bad, report->device_count, pairs, soak,
        report->nothing[0] != '\0' ? " Nothing could be tested: " : "", report->nothing);
}

/* A file without a reader of its own: anything may be missing. */
static void answer_fleet(struct xb_report_document *document)
{
    const cJSON *root = document->tree;
    const cJSON *findings = xb_report_member(root, "findings"), *finding;
    const int count = cJSON_GetArraySize(findings);
    const double judged = xb_report_number(root, "judged_gpus", 0.0);
    const char **bad = xb_arena_new(document->texts, (size_t)count * sizeof *bad);
    size_t nodes = 0, left_out = 0; /* to take out of service, each once */
    cJSON_ArrayForEach(finding, findings)
    {
        if (cJSON_IsTrue(xb_report_member(finding, "is_to_drain")))
            bad[nodes++] = xb_report_text(finding, "node");
    }
    nodes = xb_fleet_sort_names(bad, nodes);
    const char *list = xb_hostlist_compress(bad, nodes, document->texts, &left_out);
    /* As the table of `fleet` has them: "gpu[7-9,50]". */
    if (left_out > 0 || strlen(list) > XB_PLAIN_COLUMNS)
        list = xb_arena_copy(document->texts, XB_FLEET_NAMES(bad, nodes));
    SET(subject, "%.0f GPUs of %.0f nodes", xb_report_number(root, "gpus", 0.0),
        xb_report_number(root, "nodes", 0.0));
    const double code = xb_report_number(root, "exit_code", 3.0);
    document->answer.look = XB_LOOK(nodes > 0, code == 0.0);
    SET(verdict,
        nodes > 0     ? "%zu node%s to drain"
        : code == 0.0 ? "OK"
        : code == 1.0 ? "WARNING"
                      : "not judged",
        nodes, XB_PLURAL(nodes));
    SET(line, "%.0f GPUs judged by their siblings, %d finding%s%s%s.", judged, count,
        XB_PLURAL(count), nodes > 0 ? ". To drain: " : "", list);
}

static const char *name_of(const struct xb_record *record)
{
    return record->path != NULL ? xb_report_file_name(record->path) : "?";
}

static void answer_trace(struct xb_report_document *document)
{
    const struct xb_profiles *trace = document->trace;
    struct xb_words words = {.length = 0};
    const cJSON *item;
    XB_EACH (of, trace->items, trace->count) {
        for (size_t k = 0; k < of->count; k++) /* the first begins first */
            document->longest = fmax(
                document->longest, (double)(of->activities[k].end - of->activities[0].begin) / 1e9);
    }
    cJSON_ArrayForEach(item,
                       xb_report_member(xb_report_member(document->tree, "otherData"), "devices"))
    {
        xb_words_add(&words, "%s%.200s", words.length > 0 ? ", " : "",
                     xb_report_text(item, "name"));
    }
    SET(subject, "%s", words.text);
    SET(line, "Timelines of %zu cases.", trace->count);
}

/* ---- reading ---- */

/* What a document points to. */
struct xb_report_held {
    struct xb_record record;
    struct xb_reading_list reading;
    struct xb_parameters parameters;
    struct xb_link_file link;
    struct xb_comparison_file comparison;
    struct xb_profiles trace;
};

static enum xb_status read_trace(struct xb_profiles *trace, const struct xb_report_document *of,
                                 struct xb_error *error)
{
    XB_TRY(xb_events_read(trace, of->path, -1, of->text, of->length, error));
    if (trace->activity_count == 0)
        xb_profiles_free(trace); /* the one that stands for no case */
    xb_profiles_sort(trace);
    return XB_OK;
}

/* Reads the tree, as far as its kind has a reader, and says in short what it holds. */
static enum xb_status take(struct xb_report_document *document, struct xb_error *error)
{
    struct xb_report_held *held = document->held;
    const char *path = document->path;
    const cJSON *tree = document->tree, *item;
    enum xb_outcome outcome;
    bool is_told;
    switch (document->kind) {
    case XB_DOCUMENT_RESULT:
    case XB_DOCUMENT_PROCESSES:
        document->record = &held->record;
        document->reading = &held->reading;
        document->parameters = &held->parameters;
        XB_TRY(xb_record_of_tree(path, tree, &held->record, error));
        xb_reading_make(&held->record, &held->reading);
        held->parameters = xb_parameters_that_differ(&held->record);
        answer_record(document);
        break;
    case XB_DOCUMENT_LINK:
        document->link = &held->link;
        XB_TRY(xb_link_report_of_tree(path, tree, &held->link, error));
        answer_link(document);
        break;
    case XB_DOCUMENT_COMPARE:
        document->comparison = &held->comparison.comparison;
        XB_TRY(xb_comparison_of_tree(path, tree, &held->comparison, error));
        SET(subject, "%.200s against %.200s", name_of(&held->comparison.candidate),
            name_of(&held->comparison.baseline));
        SET(line, "%.500s", document->comparison->reason);
        document->answer.verdict = xb_compare_overall(document->comparison);
        outcome = document->comparison->overall;
        is_told = !xb_compare_refused(document->comparison) && outcome != XB_OUTCOME_INCONCLUSIVE;
        document->answer.look = XB_LOOK(is_told && outcome == XB_OUTCOME_REGRESSION, is_told);
        break;
    case XB_DOCUMENT_LIST:
        item = xb_report_member(tree, "devices");
        SET(subject, "%d devices", cJSON_GetArraySize(item));
        SET(line, "%.200s", xb_report_text(cJSON_GetArrayItem(item, 0), "name"));
        return XB_OK;
    case XB_DOCUMENT_ADVISE:
        item = xb_report_member(tree, "source");
        SET(subject, "%.200s on %.200s", xb_report_text(item, "device_name"),
            xb_report_text(item, "hostname"));
        SET(line, "%.2000s", xb_report_text(tree, "advice"));
        return XB_OK;
    case XB_DOCUMENT_FLEET:
        answer_fleet(document);
        return XB_OK;
    case XB_DOCUMENT_TRACE:
        document->trace = &held->trace;
        XB_TRY(read_trace(&held->trace, document, error));
        answer_trace(document);
        break;
    default:
        return XB_FAIL(error, XB_ERR_USAGE,
                       "%s: is not a file of results that xferbench wrote as JSON", path);
    }
    cJSON_Delete(document->tree); /* all of it was read */
    document->tree = NULL;
    return XB_OK;
}

enum xb_status xb_report_document_read(struct xb_report_document *document, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = document->path}};
    struct tm time = {.tm_sec = 0};
    document->held = xb_new(1, sizeof *document->held);
    document->kind = XB_DOCUMENT_FOREIGN;
    document->answer = (struct xb_answer){.subject = "", .look = "", .line = "It has no figures."};
    enum xb_status status =
        document->request->read(document->path, &document->text, &document->length, error);
    if (status == XB_OK) {
        document->tree = xb_json_read(&reader, document->text, document->length);
        /* "2026-11-22T23:20:51Z" */
        const char *end =
            strptime(xb_report_text(document->tree, "timestamp"), "%Y-%m-%dT%H:%M:%SZ", &time);
        document->kind = xb_document_kind_of(document->tree);
        document->date = end != NULL && *end == '\0' ? (double)timegm(&time) : (double)NAN;
        *error = reader.error;
        status = document->tree != NULL ? take(document, error) : reader.error.status;
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
    xb_profiles_free(&held->trace);
    cJSON_Delete(document->tree);
    free(document->text);
    free(held);
}
