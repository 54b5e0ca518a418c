/* SPDX-License-Identifier: Apache-2.0 */
/* The answer: what a whole run comes to, in one or two sentences. */
#include "internal.h"

#include "record/mode_list.h"

#include <string.h>

/* This share of the best is nearly the best. */
#define NEARLY 0.9
#define MOST_LETTERS 160 /* of an answer */

/* Says of a sweep from which size on a whole copy is nearly as fast as the largest. */
static bool add_from(struct xb_reading *reading, const struct xb_record_case *best)
{
    double least = NEARLY * xb_reading_speed(reading, best);
    struct xb_record_case twin = *best;
    uint64_t from = 0; /* the smallest size measured that is as fast, and all above it */
    for (; twin.bytes > 0; twin.bytes = xb_rows_size_below(reading->record, twin.bytes)) {
        const struct xb_record_case *test = xb_record_find(reading->record, &twin);
        if (test == NULL || !xb_reading_has(reading, test, &xb_figure_bandwidth))
            continue;
        double seconds = xb_reading_median(reading, test, &xb_figure_wall_time);
        if (!((double)twin.bytes / seconds >= least))
            break;
        from = twin.bytes;
    }
    if (from > 0 && twin.bytes > 0)
        xb_tell(reading, " A whole copy reaches 90 % of that from {size} on.", from);
    return from > 0 && twin.bytes > 0;
}

/* The way that is how a program copies that did nothing for its copies; NULL for none. */
static const struct xb_record_case *find_ordinary(const struct xb_reading_ways *ways)
{
    for (size_t i = 0; i < ways->count; i++) {
        const struct xb_mode *mode = xb_mode_find(ways->all[i]->mode);
        if (mode != NULL && mode->ordinary != NULL &&
            strcmp(mode->ordinary, ways->all[i]->variant) == 0)
            return ways->all[i];
    }
    return NULL;
}

/* Adds the share of the link, and what ordinary memory gives. */
static void add_rest(struct xb_reading *reading, const struct xb_reading_ways *to,
                     const struct xb_reading_ways *from)
{
    const struct xb_record_case *best = to->best != NULL ? to->best : from->best;
    const struct xb_record_case *ordinary[] = {find_ordinary(to), find_ordinary(from)};
    const struct xb_record_device *info = xb_record_device(reading->record, reading->device);
    double ceiling = to->best != NULL ? info->ceiling.h2d : info->ceiling.d2h;
    if (info->ceiling.known && xb_reading_crosses_link(reading, best, NULL) &&
        xb_reading_bandwidth(reading, best) <= ceiling) /* else the link was read wrongly */
        xb_tell(reading, ", {share} of the link", xb_reading_bandwidth(reading, best) / ceiling);
    xb_tell(reading, ".");
    /* As many as cross the link in the fixed time; a copy of so many has little of one. */
    double same = ceiling * xb_reading_median(reading, best, &xb_figure_latency_host);
    if (best->latency && info->ceiling.known && (double)best->bytes < same / 2)
        xb_tell(reading, " From about {whole} KiB on the bytes take longer.", same / 1024);
    if (best->latency || add_from(reading, best) || ordinary[0] == NULL || ordinary[1] == NULL ||
        best == ordinary[0] || from->best == ordinary[1])
        return;
    xb_tell(reading, " Pageable memory: {speed-of} and {speed-of}.", ordinary[0], ordinary[1]);
}

static void say_fastest(struct xb_reading *reading)
{
    const struct xb_reading_ways to = xb_reading_collect_ways(reading, XB_H2D);
    const struct xb_reading_ways from = xb_reading_collect_ways(reading, XB_D2H);
    const struct xb_record_case *best = to.best != NULL ? to.best : from.best;
    if (best == NULL)
        return;
    bool is_choice = to.count > 1 || from.count > 1;
    if (best->latency || is_choice)
        xb_tell(reading, best->latency ? "Fixed cost of a copy" : "Fastest");
    if (reading->list->many_sizes || best->latency || reading->bytes < XB_LARGE_BYTES)
        xb_tell(reading, "{text}{size}", reading->words.length > 0 ? " at " : "At ",
                reading->bytes);
    if (reading->list->many_devices)
        xb_tell(reading, "{text} GPU {whole}", reading->words.length > 0 ? " on" : "On",
                (double)reading->device);
    /* "pinned, 55.5 GB/s to the GPU and 55.3 back" */
    xb_tell(reading,
            reading->words.length > 0 ? ": {name}, {speed-of:unit} {to}"
                                      : "{name}: {speed-of:unit} {to}",
            best, best, best);
    if (to.best != NULL && from.best != NULL && xb_reading_is_one_method(best, from.best))
        xb_tell(reading, " and {speed-of} back", from.best);
    else if (to.best != NULL)
        xb_tell(reading, "[; {name}, {speed-of} back]", from.best, from.best);
    add_rest(reading, &to, &from);
}

/* Cases that are no copies one way: the largest rate, or the least time. */
static void say_best(struct xb_reading *reading)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, reading->bytes);
    const struct xb_record_case *best = NULL;
    const struct xb_figure *figure = NULL;
    double most = 0;
    char text[32];
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        const struct xb_mode *mode = xb_mode_find(test->mode);
        /* What the mode is about, or else what a copy is. */
        const struct xb_figure *own = mode != NULL && mode->headline != NULL && !test->latency
                                          ? mode->headline
                                          : xb_reading_figure(test);
        double median = xb_reading_median(reading, test, own);
        double speed = own->more_is_better ? median : 1 / median;
        if (test->device != reading->device || (figure != NULL && own != figure) ||
            !xb_reading_has(reading, test, own) || !(speed > most))
            continue;
        most = speed;
        best = test;
        figure = own;
    }
    if (best == NULL)
        return;
    if (best->latency || !figure->more_is_better)
        xb_tell(reading,
                "{text} at {size}: ", best->latency ? "Fixed cost of a copy" : "Least time",
                reading->bytes);
    xb_tell(reading,
            figure->more_is_better ? "{name}: {rate} GB/s {to}" : "{name}, {duration} {to}", best,
            figure->more_is_better ? most : 1 / most, best);
    xb_tell(reading, "[, GPU {text}].",
            reading->list->many_devices || best->peer >= 0
                ? xb_record_case_device(best, text, sizeof text)
                : NULL);
}

/* Why nothing can be said of a record with results; false where there is one to speak of. */
static bool say_nothing(struct xb_reading *reading)
{
    const struct xb_record *record = reading->record;
    size_t skipped = 0, failed = 0, spoilt = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        struct xb_record_summary summary = xb_record_summarize(record, &record->cases[i]);
        skipped += summary.status == XB_RESULT_SKIPPED;
        failed += summary.status == XB_RESULT_ERROR;
        spoilt += summary.status == XB_RESULT_OK &&
                  (summary.verified != XB_VERIFIED_TRUE || summary.ok == summary.cut);
    }
    xb_reading_begin(reading, "", "", -1, 0);
    xb_words_add(&reading->words,
                 "No answer: %zu skipped, %zu failed, %zu cut short or not verified, of %zu "
                 "results.",
                 skipped, failed, spoilt, record->case_count);
    return record->case_count > 0 && skipped + failed + spoilt == record->case_count;
}

/* Gets the first answer, of a mode or of none, about any device, from the largest size down; of
 * latencies first the smallest: its fixed cost. */
static bool ask(struct xb_reading *reading, const struct xb_mode *mode,
                void (*answer)(struct xb_reading *reading))
{
    const struct xb_record *record = reading->record;
    const struct xb_record_case *smallest =
        record->case_count > 0 ? record->by_size[record->case_count - 1] : NULL;
    bool is_first = smallest != NULL && smallest->latency && smallest->bytes > 0;
    bool of_pairs = mode != NULL && mode->pairs;
    uint64_t bytes = is_first ? smallest->bytes : xb_rows_size_below(record, UINT64_MAX);
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    reading->mode = mode != NULL ? mode->name : NULL;
    while (answer != NULL && bytes > 0) {
        for (size_t i = 0; i < (of_pairs ? 1 : count); i++) {
            xb_reading_begin(reading, "", "", of_pairs ? -1 : (int)devices[i].index, bytes);
            answer(reading);
            if (reading->words.length > 0 && !reading->lacks_figure)
                return true;
        }
        bytes = xb_rows_size_below(record, is_first ? UINT64_MAX : bytes);
        is_first = false;
    }
    return false;
}

/* Where several modes are no copies: what comes first under "What to do", else of any mode. */
static bool ask_modes(struct xb_reading *reading)
{
    const struct xb_reading_entry *advice[XB_MOST_ADVICE];
    if (xb_reading_advice(reading->list, advice) > 0) {
        xb_reading_begin(reading, "", "", advice[0]->device, advice[0]->bytes);
        xb_tell(reading, "{text}", advice[0]->text);
        return true;
    }
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if (ask(reading, *mode, (*mode)->answer))
            return true;
    return false;
}

/* As many whole sentences as there is room for. */
static void keep(struct xb_reading *reading, const char *before, const char *text)
{
    size_t length = strlen(text), room = MOST_LETTERS - strlen(before);
    bool is_whole = length <= room;
    for (length = is_whole ? length : room; !is_whole && length > 0; length--)
        if (strncmp(text + length - 1, ". ", 2) == 0) /* not within a number */
            break;
    if (length == 0)
        length = room;
    reading->list->answer =
        xb_arena_print(&reading->list->texts, "%s%.*s", before, (int)length, text);
}

void xb_reading_make_answer(struct xb_reading *reading)
{
    const struct xb_record *record = reading->record;
    const struct xb_reading_list *list = reading->list;
    const char *all = NULL; /* what is said of all devices or transfers at once */
    char subject[64];
    size_t same = 1; /* cases that are of the first one's mode */
    while (same < record->case_count &&
           strcmp(record->cases[same].mode, record->cases[0].mode) == 0)
        same++;
    const struct xb_mode *mode =
        same == record->case_count ? xb_mode_find(record->cases[0].mode) : NULL;
    for (size_t i = 0; all == NULL && i < list->count; i++)
        if (strcmp(list->entries[i].code, xb_reading_together.code) == 0 ||
            strcmp(list->entries[i].code, xb_reading_set.code) == 0)
            all = list->entries[i].text;
    if (mode != NULL && ask(reading, mode, mode->answer)) {
        (void)xb_reading_subject(reading->list, &reading->entry, subject, sizeof subject);
        keep(reading, subject, reading->words.text);
    } else if (all != NULL) {
        keep(reading, "", all);
    } else if (ask(reading, NULL, say_fastest) || ask_modes(reading) ||
               ask(reading, NULL, say_best) || say_nothing(reading)) {
        keep(reading, "", reading->words.text);
    }
}
