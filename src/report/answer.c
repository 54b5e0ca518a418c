/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
#include "document.h"

#include "base/json_read.h"
#include "base/terminal.h"
#include "base/text.h"
#include "compare/text.h"
#include "link/report.h"
#include "reading/list.h"
#include "xferbench/record.h"

#include <stdarg.h>
#include <string.h>

/* An answer that is being made. */
struct answering {
    struct xb_arena **texts; /* where its texts lie */
    struct xb_answer *answer;
    bool failed; /* memory was short */
};

static const char *keep(struct answering *answering, const char *format, va_list arguments)
{
    char text[XB_NOTE_SIZE];
    vsnprintf(text, sizeof text, format, arguments);
    const char *kept = xb_arena_print(answering->texts, "%s", text);
    answering->failed = answering->failed || kept == NULL;
    return kept != NULL ? kept : "";
}

/* Beyond XB_ANSWER_LINES they are left out. */
__attribute__((format(printf, 2, 3))) static void add_line(struct answering *answering,
                                                           const char *format, ...)
{
    struct xb_answer *answer = answering->answer;
    va_list arguments;
    if (answer->count == XB_ANSWER_LINES)
        return;
    va_start(arguments, format);
    answer->lines[answer->count++] = keep(answering, format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void set_subject(struct answering *answering,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    answering->answer->subject = keep(answering, format, arguments);
    va_end(arguments);
}

/* ---- results ---- */

/* "2 x NVIDIA H200 on host vm-1"; devices are named once where they are of one model. */
static void add_devices(struct xb_words *words, const struct xb_record *record)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0; i < count;) {
        size_t next = i + 1;
        while (next < count && strcmp(devices[next].name, devices[i].name) == 0)
            next++;
        xb_words_add(words, i > 0 ? ", " : "");
        if (next - i > 1)
            xb_words_add(words, "%zu x ", next - i);
        xb_words_add(words, "%.200s", devices[i].name);
        i = next;
    }
    if (record->host.hostname != NULL)
        xb_words_add(words, "%shost %.200s", count > 0 ? " on " : "", record->host.hostname);
}

/* Cases that did not end as they should. */
static void add_troubles(struct answering *answering, const struct xb_record *record)
{
    size_t failed = 0;
    size_t wrong = 0;
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_record_summary summary = xb_record_summarize(record, &record->cases[i]);
        wrong += summary.verified == XB_VERIFIED_FALSE;
        failed += summary.status == XB_RESULT_ERROR;
    }
    if (failed == 0)
        return;
    answering->answer->look = "bad";
    xb_words_add(&words, "%zu of %zu cases failed", failed, record->case_count);
    if (wrong > 0)
        xb_words_add(&words, ", %zu of them because the data was WRONG", wrong);
    xb_words_add(&words, ".");
    add_line(answering, "%s", words.text);
}

/* What a terminal shows of it: its answer, and what to do. */
static void answer_record(struct answering *answering, const struct xb_record *record,
                          const struct xb_reading_list *reading)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    struct xb_words words = {.length = 0};
    char subject[64];
    add_devices(&words, record);
    set_subject(answering, "%s", words.text);
    add_troubles(answering, record);
    if (reading->answer != NULL)
        add_line(answering, "%s", reading->answer);
    for (size_t i = 0, count = xb_reading_advice(reading, advice); i < count; i++)
        add_line(answering, "What to do: %s%s",
                 xb_reading_subject(reading, advice[i], subject, sizeof subject),
                 advice[i]->remedy);
}

/* ---- link ---- */

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

static void answer_link(struct answering *answering, const struct xb_link_file *file)
{
    const struct xb_link_report *report = &file->report;
    set_subject(answering, "%zu device%s of the backend %.60s", report->device_count,
                report->device_count == 1 ? "" : "s",
                report->backend != NULL ? report->backend : "none");
    answering->answer->look = report->level == XB_LEVEL_OK         ? "good"
                              : report->level == XB_LEVEL_CRITICAL ? "bad"
                                                                   : "unsure";
    if (report->device_count != 1)
        add_line(answering, "All links together: %s.%s%.500s", xb_level_name(report->level),
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
        add_line(answering, "%s.", words.text);
    }
}

/* ---- compare ---- */

static const char *name_of(const struct xb_record *record)
{
    return record->path != NULL ? xb_report_file_name(record->path) : "?";
}

static void answer_comparison(struct answering *answering, const struct xb_comparison *comparison)
{
    set_subject(answering, "%.200s against %.200s", name_of(comparison->candidate),
                name_of(comparison->baseline));
    add_line(answering, "%s: %.500s", xb_compare_overall(comparison), comparison->reason);
    if (xb_compare_refused(comparison) || comparison->overall == XB_OUTCOME_INCONCLUSIVE)
        answering->answer->look = "unsure";
    else
        answering->answer->look = comparison->overall == XB_OUTCOME_REGRESSION ? "bad" : "good";
}

/* ---- files without a reader of their own: anything may be missing ---- */

static void answer_trace(struct answering *answering, const cJSON *root)
{
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(root, "otherData");
    const cJSON *item;
    struct xb_words subject = {.length = 0};
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(other, "devices"))
    {
        xb_words_add(&subject, "%s%.200s", subject.length > 0 ? ", " : "",
                     xb_report_text(item, "name"));
    }
    set_subject(answering, "%s", subject.text);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(other, "cases"))
    {
        add_line(answering, "One iteration of %.300s.", xb_report_text(item, "case"));
    }
}

static void answer_fleet(struct answering *answering, const cJSON *root)
{
    const cJSON *findings = cJSON_GetObjectItemCaseSensitive(root, "findings");
    const cJSON *finding;
    double judged = xb_report_number(root, "judged_gpus", 0.0);
    int bad = 0;
    cJSON_ArrayForEach(finding, findings)
    {
        bad += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(finding, "is_to_drain"));
    }
    set_subject(answering, "%.0f GPUs of %.0f nodes", xb_report_number(root, "gpus", 0.0),
                xb_report_number(root, "nodes", 0.0));
    add_line(answering,
             "%.0f GPUs judged by their siblings; %d findings, %d of them a reason to take a node "
             "out of service.",
             judged, cJSON_GetArraySize(findings), bad);
    answering->answer->look = bad > 0 ? "bad" : judged > 0.0 ? "good" : "unsure";
    /* "gpu17 GPU 3: link h2d 52.20 GB/s, ..." */
    cJSON_ArrayForEach(finding, findings)
    {
        const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(finding, "gpu");
        char index[400] = "";
        if (cJSON_IsObject(gpu))
            snprintf(index, sizeof index, " GPU %.0f", xb_report_number(gpu, "index", 0.0));
        add_line(answering, "%.200s%s: %.500s", xb_report_text(finding, "node"), index,
                 xb_report_text(finding, "text"));
    }
}

enum xb_status xb_answer_make(const struct xb_report_document *document, struct xb_arena **texts,
                              struct xb_answer *answer, struct xb_error *error)
{
    struct answering answering = {.texts = texts, .answer = answer};
    *answer = (struct xb_answer){.subject = "", .look = ""};
    if (document->record != NULL)
        answer_record(&answering, document->record, document->reading);
    if (document->link != NULL)
        answer_link(&answering, document->link);
    if (document->comparison != NULL)
        answer_comparison(&answering, document->comparison);
    if (document->kind == XB_DOCUMENT_LIST) {
        const cJSON *devices = cJSON_GetObjectItemCaseSensitive(document->tree, "devices");
        const cJSON *device;
        set_subject(&answering, "%d devices", cJSON_GetArraySize(devices));
        cJSON_ArrayForEach(device, devices)
        {
            add_line(&answering, "%.60s: %.200s", xb_report_text(device, "backend"),
                     xb_report_text(device, "name"));
        }
    }
    if (document->kind == XB_DOCUMENT_ADVISE) {
        const cJSON *source = cJSON_GetObjectItemCaseSensitive(document->tree, "source");
        set_subject(&answering, "%.200s on host %.200s", xb_report_text(source, "device_name"),
                    xb_report_text(source, "hostname"));
        add_line(&answering, "%.2000s", xb_report_text(document->tree, "advice"));
    }
    if (document->kind == XB_DOCUMENT_FLEET)
        answer_fleet(&answering, document->tree);
    if (document->kind == XB_DOCUMENT_TRACE)
        answer_trace(&answering, document->tree);
    if (answer->count == 0)
        add_line(&answering, "It has no figures.");
    return answering.failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report") : XB_OK;
}
