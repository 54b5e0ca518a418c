/* SPDX-License-Identifier: Apache-2.0 */
/* What the files say in short that hold a verdict or a list already. */
#define _GNU_SOURCE /* text.h */
#include "answer.h"
#include "answer_internal.h"

#include "base/json_read.h"
#include "base/text.h"
#include "compare/text.h"
#include "link/read.h"
#include "xferbench/units.h"

/* ---- link ---- */

static const char *look_of_level(enum xb_level level)
{
    return level == XB_LEVEL_OK ? "good" : level == XB_LEVEL_CRITICAL ? "bad" : "unsure";
}

/* "; host to device 55.34 GB/s, 95.3 % of what the link can carry" */
static void add_direction(struct xb_words *words, const char *what,
                          const struct xb_link_direction *direction)
{
    char text[32];
    if (!xb_rate_known(direction->measured))
        return;
    xb_words_add(words, "; %s %s GB/s", what, xb_rate_text(direction->measured, text, sizeof text));
    if (direction->share > 0)
        xb_words_add(words, ", %.1f %% of what the link can carry", 100 * direction->share);
}

static void add_link_device(struct xb_answering *answering, const struct xb_link_device *device,
                            const struct xb_verdict *verdict)
{
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "Link of device %u, %.100s: %s", device->info.index, device->info.name,
                 xb_level_name(verdict->found.level));
    if (verdict->found.reason_count > 0)
        xb_words_add(&words, " (%.60s: %.250s)", verdict->found.reasons[0].code,
                     verdict->found.reasons[0].text);
    add_direction(&words, "host to device", &verdict->h2d);
    add_direction(&words, "device to host", &verdict->d2h);
    xb_words_add(&words, ".");
    xb_answer_line(answering, &words);
}

void xb_answer_link(struct xb_answering *answering, const struct xb_link_file *file)
{
    const struct xb_link_report *report = &file->report;
    struct xb_words subject = {.length = 0};
    struct xb_words words = {.length = 0};
    xb_words_add(&subject, "%zu device%s of the backend %.60s", report->device_count,
                 report->device_count == 1 ? "" : "s",
                 report->backend != NULL ? report->backend : "none");
    xb_answer_subject(answering, &subject);
    answering->answer->look = look_of_level(report->level);
    xb_words_add(&words, "All links together: %s.", xb_level_name(report->level));
    if (report->nothing[0] != '\0')
        xb_words_add(&words, " Nothing could be tested: %.500s", report->nothing);
    if (report->device_count != 1)
        xb_answer_line(answering, &words);
    for (size_t i = 0; i < report->device_count; i++)
        add_link_device(answering, &report->devices[i], &report->verdicts[i]);
}

/* ---- compare ---- */

void xb_answer_comparison(struct xb_answering *answering, const struct xb_comparison *comparison)
{
    struct xb_words subject = {.length = 0};
    struct xb_words words = {.length = 0};
    bool refused = xb_compare_refused(comparison);
    xb_words_add(
        &subject, "%.200s against %.200s",
        comparison->candidate->path != NULL ? xb_report_file_name(comparison->candidate->path)
                                            : "?",
        comparison->baseline->path != NULL ? xb_report_file_name(comparison->baseline->path) : "?");
    xb_answer_subject(answering, &subject);
    xb_words_add(&words, "%s: %.500s", xb_compare_overall(comparison), comparison->reason);
    xb_answer_line(answering, &words);
    if (refused || comparison->overall == XB_OUTCOME_INCONCLUSIVE)
        answering->answer->look = "unsure";
    else
        answering->answer->look = comparison->overall == XB_OUTCOME_REGRESSION ? "bad" : "good";
}

/* ---- files without a reader of their own: anything may be missing ---- */

static void answer_list(struct xb_answering *answering, const cJSON *root)
{
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    const cJSON *device;
    struct xb_words subject = {.length = 0};
    xb_words_add(&subject, "%d devices", cJSON_GetArraySize(devices));
    xb_answer_subject(answering, &subject);
    cJSON_ArrayForEach(device, devices)
    {
        struct xb_words words = {.length = 0};
        xb_words_add(&words, "%.60s: %.200s", xb_report_text(device, "backend"),
                     xb_report_text(device, "name"));
        xb_answer_line(answering, &words);
    }
}

static void answer_advice(struct xb_answering *answering, const cJSON *root)
{
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(root, "source");
    struct xb_words subject = {.length = 0};
    struct xb_words words = {.length = 0};
    xb_words_add(&subject, "%.200s on host %.200s", xb_report_text(source, "device_name"),
                 xb_report_text(source, "hostname"));
    xb_answer_subject(answering, &subject);
    xb_words_add(&words, "%.2000s", xb_report_text(root, "advice"));
    xb_answer_line(answering, &words);
}

static void answer_trace(struct xb_answering *answering, const cJSON *root)
{
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(root, "otherData");
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(other, "devices");
    const cJSON *cases = cJSON_GetObjectItemCaseSensitive(other, "cases");
    const cJSON *item;
    struct xb_words subject = {.length = 0};
    cJSON_ArrayForEach(item, devices)
    {
        xb_words_add(&subject, "%s%.200s", subject.length > 0 ? ", " : "",
                     xb_report_text(item, "name"));
    }
    xb_answer_subject(answering, &subject);
    cJSON_ArrayForEach(item, cases)
    {
        struct xb_words words = {.length = 0};
        xb_words_add(&words, "One iteration of %.300s.", xb_report_text(item, "case"));
        xb_answer_line(answering, &words);
    }
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : 0.0;
}

/* "gpu17 GPU 3: link h2d 52.20 GB/s, ..." */
static void add_finding(struct xb_words *words, const cJSON *finding)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(finding, "gpu");
    xb_words_add(words, "%.200s", xb_report_text(finding, "node"));
    if (cJSON_IsObject(gpu))
        xb_words_add(words, " GPU %.0f", number_of(gpu, "index"));
    xb_words_add(words, ": %.500s", xb_report_text(finding, "text"));
}

static void answer_fleet(struct xb_answering *answering, const cJSON *root)
{
    const cJSON *findings = cJSON_GetObjectItemCaseSensitive(root, "findings");
    const cJSON *finding;
    struct xb_words subject = {.length = 0};
    struct xb_words words = {.length = 0};
    bool is_judged = number_of(root, "judged_gpus") > 0.0;
    int bad = 0;
    cJSON_ArrayForEach(finding, findings)
    {
        bad += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(finding, "is_to_drain"));
    }
    xb_words_add(&subject, "%.0f GPUs of %.0f nodes", number_of(root, "gpus"),
                 number_of(root, "nodes"));
    xb_answer_subject(answering, &subject);
    xb_words_add(&words,
                 "%.0f GPUs judged by their siblings; %d findings, %d of them a reason to take a "
                 "node out of service.",
                 number_of(root, "judged_gpus"), cJSON_GetArraySize(findings), bad);
    xb_answer_line(answering, &words);
    answering->answer->look = bad > 0 ? "bad" : is_judged ? "good" : "unsure";
    cJSON_ArrayForEach(finding, findings)
    {
        struct xb_words line = {.length = 0};
        if (answering->answer->count == XB_ANSWER_LINES)
            break;
        add_finding(&line, finding);
        xb_answer_line(answering, &line);
    }
}

void xb_answer_tree(struct xb_answering *answering, const struct xb_report_document *document)
{
    if (document->kind == XB_DOCUMENT_LIST)
        answer_list(answering, document->tree);
    else if (document->kind == XB_DOCUMENT_ADVISE)
        answer_advice(answering, document->tree);
    else if (document->kind == XB_DOCUMENT_FLEET)
        answer_fleet(answering, document->tree);
    else
        answer_trace(answering, document->tree);
}
