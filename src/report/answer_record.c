/* SPDX-License-Identifier: Apache-2.0 */
/* What a result says in short: how fast it goes at best, and what did not go as it should. */
#define _GNU_SOURCE /* text.h */
#include "answer.h"
#include "answer_internal.h"

#include "base/text.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "ways.h"
#include "xferbench/record.h"
#include "xferbench/units.h"

#include <math.h>
#include <string.h>

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

/* Which cases are spoken of. */
enum choice {
    PLAIN, /* of modes whose bandwidths stand side by side, alone */
    NAMED, /* of modes that ask something else too */
    SINGLE /* of single operations: their latency */
};

static bool is_chosen(const struct xb_record_case *test, enum choice choice)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    bool only_named = mode != NULL && mode->only_named;
    return !test->simultaneous && test->latency == (choice == SINGLE) &&
           (choice != PLAIN || !only_named);
}

/* Where data goes, and how that is called; `pairs`: from device to device. */
struct path {
    const char *direction;
    bool pairs;
    const char *name;
};

/* The fastest way; NULL: there is none. */
static const struct xb_record_case *fastest(const struct xb_record *record, const struct path *path,
                                            enum choice choice)
{
    const struct xb_record_case *best = NULL;
    double most = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
        double value = xb_record_median(record, test, figure->name);
        double speed = choice == SINGLE ? 1 / value : value;
        if (!is_chosen(test, choice) || strcmp(test->direction, path->direction) != 0 ||
            xb_case_is_of_pairs(test) != path->pairs || !(speed > most))
            continue;
        most = speed;
        best = test;
    }
    return best;
}

/* "up to 55.34 GB/s", "1.25 us at best" */
static void add_value(struct xb_words *words, const struct xb_record *record,
                      const struct xb_record_case *test)
{
    char text[64];
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double value = xb_record_median(record, test, figure->name);
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        xb_words_add(words, "%s at best", xb_duration_format(value, text, sizeof text));
    else
        xb_words_add(words, "up to %s GB/s", xb_rate_text(value, text, sizeof text));
}

/* "Host to device: up to 55.34 GB/s by pinned registered, 1 GiB; 95.3 % of what the link can
 * carry." */
static void add_fastest(struct xb_answering *answering, const struct xb_record *record,
                        const struct path *path, enum choice choice)
{
    const struct xb_record_case *test = fastest(record, path, choice);
    struct xb_words words = {.length = 0};
    char text[64];
    size_t devices = 0;
    if (test == NULL)
        return;
    const struct xb_ways ways = {.record = record, .parameters = xb_parameters_that_differ(record)};
    double share = xb_record_median(record, test, xb_figure_share_of_ceiling.name);
    double bandwidth = xb_record_median(record, test, xb_figure_bandwidth.name);
    double raw = 1e9 * xb_case_raw_rate(record, test);
    xb_words_add(&words, "%s%s: ", path->name, choice == SINGLE ? ", one operation" : "");
    add_value(&words, record, test);
    xb_words_add(&words, " by ");
    xb_way_add_case(&words, &ways, test);
    xb_words_add(&words, ", %s", xb_size_format(test->bytes, text, sizeof text));
    (void)xb_record_devices(record, &devices);
    if (devices > 1)
        xb_words_add(&words, ", device %s", xb_device_text(record, test, text, sizeof text));
    if (isfinite(share))
        xb_words_add(&words, "; %.1f %% of what the link can carry", 100 * share);
    else if (raw > 0 && bandwidth > raw)
        xb_words_add(&words, "; more than the raw rate of the link, %s GB/s",
                     xb_rate_text(raw, text, sizeof text));
    xb_words_add(&words, ".");
    xb_answer_line(answering, &words);
}

/* Cases that did not end as they should. */
static void add_troubles(struct xb_answering *answering, const struct xb_record *record)
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
    xb_answer_line(answering, &words);
}

void xb_answer_record(struct xb_answering *answering, const struct xb_record *record)
{
    static const struct path paths[] = {{"h2d", false, "Host to device"},
                                        {"d2h", false, "Device to host"},
                                        {"bidir", false, "Both ways at once"},
                                        {"d2d", true, "From device to device"},
                                        {"bidir", true, "Between two devices, both ways at once"},
                                        {"d2d", false, "Within a device"}};
    struct xb_words words = {.length = 0};
    add_devices(&words, record);
    xb_answer_subject(answering, &words);
    add_troubles(answering, record);
    /* What the record is about: the others only where there is no such case. */
    const size_t before = answering->answer->count;
    for (int choice = PLAIN; choice <= SINGLE && answering->answer->count == before; choice++)
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
            add_fastest(answering, record, &paths[i], (enum choice)choice);
}
