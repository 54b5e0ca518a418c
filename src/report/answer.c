/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
#include "answer.h"

#include "base/note.h"
#include "base/text.h"
#include "measure/mode_list.h"
#include "record/rows.h"
#include "xferbench/record.h"
#include "xferbench/units.h"

#include <math.h>
#include <string.h>

/* An answer that is being made. */
struct making {
    struct xb_arena **texts;
    struct xb_answer *answer;
    bool failed; /* memory was short */
};

static void add_line(struct making *making, const struct xb_words *words)
{
    if (making->answer->count == XB_ANSWER_LINES)
        return;
    const char *line = xb_arena_print(making->texts, "%s", words->text);
    making->failed = making->failed || line == NULL;
    making->answer->lines[making->answer->count++] = line != NULL ? line : "";
}

static void set_subject(struct making *making, const struct xb_words *words)
{
    making->answer->subject = xb_arena_print(making->texts, "%s", words->text);
    making->failed = making->failed || making->answer->subject == NULL;
}

/* ---- results ---- */

/* "2 x NVIDIA H200 in vm-1"; devices are named once where they are of one model. */
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
        xb_words_add(words, "%s%.200s", count > 0 ? " in " : "", record->host.hostname);
}

/* Whether its bandwidth is one among others: of a copy that ran by itself. */
static bool counts(const struct xb_record_case *test)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return !test->latency && !test->simultaneous && (mode == NULL || !mode->only_named);
}

/* The fastest way in a direction; NULL: there is none. */
static const struct xb_record_case *fastest(const struct xb_record *record, const char *direction)
{
    const struct xb_record_case *best = NULL;
    double most = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        double rate = xb_record_median(record, test, xb_figure_bandwidth.name);
        if (!counts(test) || strcmp(test->direction, direction) != 0 || !(rate > most))
            continue;
        most = rate;
        best = test;
    }
    return best;
}

/* "Host to device up to 55.34 GB/s: pinned registered, 1 GiB; 95.3 % of what the link can carry."
 */
static void add_fastest(struct making *making, const struct xb_record *record,
                        const char *direction, const char *what)
{
    const struct xb_record_case *test = fastest(record, direction);
    struct xb_words words = {.length = 0};
    char text[64];
    size_t devices = 0;
    if (test == NULL)
        return;
    double rate = xb_record_median(record, test, xb_figure_bandwidth.name);
    double share = xb_record_median(record, test, xb_figure_share_of_ceiling.name);
    xb_words_add(&words, "%s up to %s GB/s: ", what, xb_rate_text(rate, text, sizeof text));
    xb_words_add(&words, "%.60s %.60s, %s", test->mode, test->variant,
                 xb_size_format(test->bytes, text, sizeof text));
    (void)xb_record_devices(record, &devices);
    if (devices > 1)
        xb_words_add(&words, ", device %s", xb_device_text(record, test, text, sizeof text));
    if (isfinite(share))
        xb_words_add(&words, "; %.1f %% of what the link can carry", 100 * share);
    xb_words_add(&words, ".");
    add_line(making, &words);
}

/* Cases that did not end as they should. */
static void add_troubles(struct making *making, const struct xb_record *record)
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
    making->answer->look = "bad";
    xb_words_add(&words, "%zu of %zu cases failed", failed, record->case_count);
    if (wrong > 0)
        xb_words_add(&words, ", %zu of them because the data was WRONG", wrong);
    xb_words_add(&words, ".");
    add_line(making, &words);
}

static void answer_record(struct making *making, const struct xb_record *record)
{
    static const char *const directions[][2] = {{"h2d", "Host to device"},
                                                {"d2h", "Device to host"},
                                                {"bidir", "Both ways at once"},
                                                {"d2d", "Between devices, or within one,"}};
    struct xb_words words = {.length = 0};
    add_devices(&words, record);
    set_subject(making, &words);
    add_troubles(making, record);
    for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
        add_fastest(making, record, directions[i][0], directions[i][1]);
}

enum xb_status xb_answer_make(const struct xb_report_document *document, struct xb_arena **texts,
                              struct xb_answer *answer, struct xb_error *error)
{
    struct making making = {.texts = texts, .answer = answer};
    *answer = (struct xb_answer){.subject = "", .look = ""};
    if (document->record != NULL)
        answer_record(&making, document->record);
    return making.failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report") : XB_OK;
}
