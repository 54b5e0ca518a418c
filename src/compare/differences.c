/* SPDX-License-Identifier: Apache-2.0 */
/* Were the two files measured under the same conditions? */
#include "internal.h"

#include "record/mode_list.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Two files that are looked at for what differs. */
struct search {
    struct xb_comparison *comparison;
    const struct xb_record *records[2]; /* baseline and candidate */
    struct xb_pairs *pairs;
    struct xb_arena **texts; /* of the comparison */
    size_t forbidding;       /* how many differences forbid a comparison: they come first */
};

enum weight { CONTEXT, FORBIDS, OF_ROWS, OF_STACK };

/* Both texts and the name must live as long as the comparison. */
static void add(struct search *search, const char *name, const char *baseline,
                const char *candidate, enum weight weight)
{
    struct xb_comparison *comparison = search->comparison;
    size_t count = comparison->difference_count;
    bool both = baseline != NULL && candidate != NULL;
    bool strict = comparison->request.strict;
    bool forbids = weight == FORBIDS || (weight == OF_STACK && strict);
    size_t place = forbids ? search->forbidding : count;
    if (same_text(baseline, candidate))
        return;
    comparison->differences =
        xb_grow(comparison->differences, count, sizeof *comparison->differences);
    struct xb_difference *difference = &comparison->differences[place];
    memmove(difference + 1, difference, (count - place) * sizeof *difference);
    *difference = (struct xb_difference){.name = name,
                                         .baseline = baseline,
                                         .candidate = candidate,
                                         .forbids = forbids,
                                         .of_rows = weight == OF_ROWS,
                                         /* People exchange the stack to see what that does. What
                                          * one file does not know is context, but where nothing may
                                          * have changed nobody can tell that it has not. */
                                         .of_stack = weight == OF_STACK && (both || strict)};
    search->forbidding += forbids;
    comparison->difference_count++;
}

/* ---- backend, driver, devices ---- */

static const struct xb_record_device *find_device(const struct xb_record_process *process,
                                                  unsigned index)
{
    for (size_t i = 0; i < process->device_count; i++)
        if (process->devices[i].index == index)
            return &process->devices[i];
    return NULL;
}

enum property { MODEL, LINK, PACKETS };

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/*
 * All that the processes saw, each once: what was not the same in all of them is another condition.
 * Sorted, because which process came first is chance. NULL where none saw anything.
 */
static const char *texts_of_device(struct search *search, const struct xb_record *record,
                                   unsigned index, enum property what)
{
    char texts[XB_RECORD_PROCESSES][160];
    const char *all = NULL;
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_device *device = find_device(&record->processes[i], index);
        char *text = texts[count];
        if (device == NULL)
            continue;
        if (what == MODEL)
            snprintf(text, sizeof texts[0], "%s", device->name);
        else if (what == LINK)
            snprintf(text, sizeof texts[0], "%g GT/s x%u", device->link_speed_gts,
                     device->link_width);
        else
            snprintf(text, sizeof texts[0], "payload %u, read request %u", device->ceiling.payload,
                     device->ceiling.read_request);
        count += what == MODEL || (what == LINK ? device->link_known : device->ceiling.known);
    }
    qsort(texts, count, sizeof texts[0], compare_texts);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(texts[i - 1], texts[i]) != 0)
            all = i == 0 ? xb_arena_copy(search->texts, texts[i])
                         : xb_arena_print(search->texts, "%s, %s", all, texts[i]);
    return all;
}

static void compare_device(struct search *search, unsigned index)
{
    const struct xb_record *const *records = search->records;
    const struct xb_record_device *first[2] = {NULL, NULL}; /* of the first process that saw it */
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; first[r] == NULL && i < records[r]->process_count; i++)
            first[r] = find_device(&records[r]->processes[i], index);
    if (first[0] == NULL || first[1] == NULL) {
        /* Devices that ran at the same time shared what is between them and the host: with one more
         * or less of them a figure is another. */
        bool forbids = false;
        for (size_t i = 0; i < search->pairs->count; i++) {
            const struct xb_pair *pair = &search->pairs->items[i];
            forbids = forbids || (pair->baseline != NULL && pair->candidate != NULL &&
                                  pair->candidate->simultaneous);
        }
        add(search, xb_arena_print(search->texts, "device %u", index),
            first[0] != NULL ? first[0]->name : NULL, first[1] != NULL ? first[1]->name : NULL,
            forbids ? FORBIDS : CONTEXT);
        return;
    }
    for (int what = MODEL; what <= PACKETS; what++) {
        static const char *const names[] = {"model", "link", "packets"};
        const char *baseline = texts_of_device(search, records[0], index, (enum property)what);
        const char *candidate = texts_of_device(search, records[1], index, (enum property)what);
        /* What is not known of one file's device does not forbid. Nor do packets: no other machine,
         * but a setting, whose effect somebody may want to compare. */
        bool forbids = what != PACKETS && baseline != NULL && candidate != NULL;
        add(search, xb_arena_print(search->texts, "%s of device %u", names[what], index), baseline,
            candidate, forbids ? FORBIDS : CONTEXT);
    }
}

/* Every index that either file has, once. */
static void compare_devices(struct search *search)
{
    const struct xb_record *const *records = search->records;
    bool done[1024] = {false};
    for (size_t r = 0; r < 2; r++)
        for (size_t p = 0; p < records[r]->process_count; p++)
            for (size_t d = 0; d < records[r]->processes[p].device_count; d++) {
                unsigned index = records[r]->processes[p].devices[d].index;
                if (index >= sizeof done / sizeof done[0] || done[index])
                    continue;
                done[index] = true;
                compare_device(search, index);
            }
}

/* ---- pairs that ran at the same time ---- */

/* Whether the record has the case of all with which this pair ran at the same time. */
static bool has_sum(const struct xb_record *record, const struct xb_record_case *pair)
{
    struct xb_record_case begins = *pair;
    struct xb_record_case ends = *pair;
    begins.peer = -1;
    ends.device = -1;
    return xb_record_find(record, &begins) != NULL || xb_record_find(record, &ends) != NULL;
}

/* With one pair more or less beside it, each has another figure. One such pair is told for all. */
static void compare_groups(struct search *search)
{
    for (size_t i = 0; i < search->pairs->count; i++) {
        const struct xb_pair *pair = &search->pairs->items[i];
        const struct xb_record_case *only = pair->candidate == NULL  ? pair->baseline
                                            : pair->baseline == NULL ? pair->candidate
                                                                     : NULL;
        if (only == NULL || !only->simultaneous || only->device < 0 || only->peer < 0 ||
            !has_sum(search->records[0], only) || !has_sum(search->records[1], only))
            continue;
        add(search,
            xb_arena_print(search->texts, "pair %d>%d at the same time", only->device, only->peer),
            pair->baseline != NULL ? "measured" : NULL, pair->candidate != NULL ? "measured" : NULL,
            FORBIDS);
        return;
    }
}

/* ---- options ---- */

/* Marks the cases of both files that were measured by an option which differs, and returns whether
 * there are any. A mode that this program does not know may have it. */
static bool mark_rows(struct search *search, const char *option, const char *baseline,
                      const char *candidate)
{
    bool any = false;
    for (size_t i = 0; i < search->pairs->count; i++) {
        struct xb_pair *pair = &search->pairs->items[i];
        if (pair->baseline == NULL || pair->candidate == NULL)
            continue;
        const struct xb_mode *mode = xb_mode_find(pair->candidate->mode);
        if (mode != NULL && xb_option_find(mode->options, option) == NULL)
            continue;
        any = true;
        /* Both may say what they were measured with, whatever the files say. */
        if (xb_record_fact_find(pair->baseline->parameters, pair->baseline->parameter_count,
                                option) != NULL &&
            xb_record_fact_find(pair->candidate->parameters, pair->candidate->parameter_count,
                                option) != NULL)
            continue;
        bool first = pair->settings == NULL;
        pair->settings = xb_arena_print(
            search->texts, "%s%smeasured with --%s %s, the baseline with %s",
            first ? "" : pair->settings, first ? "" : "; ", option,
            candidate != NULL ? candidate : "null", baseline != NULL ? baseline : "null");
    }
    return any;
}

/* What a file has; where it lacks the option, the default, which is marked as such. */
static const char *value_to_show(struct search *search, const struct xb_record_fact *own,
                                 const struct xb_record_fact *by_default)
{
    if (own != NULL)
        return own->value;
    if (by_default == NULL || by_default->value == NULL)
        return NULL;
    return xb_arena_print(search->texts, "%s (default)", by_default->value);
}

/*
 * Compares an option that at least one file has. A program that did not have the option yet
 * measured as a newer one does by default, so the default stands in for what a file lacks. An
 * option that is in one file only and that this program does not have either is context: nobody
 * knows its default.
 */
static void compare_option(struct search *search, const char *name)
{
    const struct xb_comparison_request *request = &search->comparison->request;
    const struct xb_record_fact *by_default = xb_record_option(request->defaults, name);
    const struct xb_record_fact *before = xb_record_option(search->records[0], name);
    const struct xb_record_fact *after = xb_record_option(search->records[1], name);
    const struct xb_record_fact *old = before != NULL ? before : by_default;
    const struct xb_record_fact *new = after != NULL ? after : by_default;
    bool both_known = old != NULL && new != NULL;
    const struct xb_option *row = xb_option_find(request->rows, name);
    /* A case says itself which mode, size, variant and device it is of, and those that differ stand
     * in one file only. */
    if ((row != NULL && row->selects) ||
        same_text(old != NULL ? old->value : NULL, new != NULL ? new->value : NULL))
        return;
    const char *baseline = value_to_show(search, before, by_default);
    const char *candidate = value_to_show(search, after, by_default);
    bool of_a_mode = xb_modes_take(name); /* else it is for all modes */
    bool of_rows = both_known && of_a_mode && mark_rows(search, name, baseline, candidate);
    add(search, xb_arena_print(search->texts, "option --%s", name), baseline, candidate,
        both_known && !of_a_mode ? FORBIDS
        : of_rows                ? OF_ROWS
                                 : CONTEXT);
}

/* ---- the rest is context ---- */

static void compare_facts(struct search *search)
{
    const struct xb_record *baseline = search->records[0], *candidate = search->records[1];
    for (size_t i = 0; i < baseline->fact_count; i++) {
        const struct xb_record_fact *before = &baseline->facts[i];
        const struct xb_record_fact *after =
            xb_record_fact_find(candidate->facts, candidate->fact_count, before->name);
        const char *value = after != NULL ? after->value : NULL;
        bool of_stack =
            strcmp(before->name, "kernel") == 0 || strcmp(before->name, "runtime version") == 0;
        add(search, before->name, before->value, value, of_stack ? OF_STACK : CONTEXT);
    }
    for (size_t i = 0; i < candidate->fact_count; i++) {
        const struct xb_record_fact *after = &candidate->facts[i];
        if (xb_record_fact_find(baseline->facts, baseline->fact_count, after->name) == NULL)
            add(search, after->name, NULL, after->value, CONTEXT);
    }
}

void xb_differences_find(struct xb_comparison *comparison, struct xb_pairs *pairs)
{
    const struct xb_record *baseline = comparison->baseline, *candidate = comparison->candidate;
    struct search search = {.comparison = comparison,
                            .records = {baseline, candidate},
                            .pairs = pairs,
                            .texts = &comparison->texts};
    add(&search, "backend", baseline->backend, candidate->backend, FORBIDS);
    add(&search, "driver", baseline->driver, candidate->driver, OF_STACK);
    compare_devices(&search);
    compare_groups(&search);
    for (size_t i = 0; i < baseline->option_count; i++)
        compare_option(&search, baseline->options[i].name);
    for (size_t i = 0; i < candidate->option_count; i++)
        if (xb_record_option(baseline, candidate->options[i].name) == NULL)
            compare_option(&search, candidate->options[i].name);
    compare_facts(&search);
    comparison->comparable = search.forbidding == 0;
}
