/* SPDX-License-Identifier: Apache-2.0 */
/* Were the two files measured under the same conditions? */
#include "internal.h"

#include "xferbench/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Both texts and the name must live as long as the comparison. */
static enum xb_status add(struct xb_comparison *comparison, const char *name, const char *baseline,
                          const char *candidate, bool forbids, struct xb_error *error)
{
    size_t count = comparison->difference_count;
    if (name == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the differences");
    if ((count & (count - 1)) == 0) { /* a power of two, or none yet: it is full */
        struct xb_difference *grown =
            realloc(comparison->differences, (count > 0 ? 2 * count : 1) * sizeof *grown);
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the differences");
        comparison->differences = grown;
    }
    comparison->differences[comparison->difference_count++] =
        (struct xb_difference){name, baseline, candidate, forbids};
    comparison->comparable = comparison->comparable && !forbids;
    return XB_OK;
}

static enum xb_status add_if_other(struct xb_comparison *comparison, const char *name,
                                   const char *baseline, const char *candidate, bool forbids,
                                   struct xb_error *error)
{
    if (same_text(baseline, candidate))
        return XB_OK;
    return add(comparison, name, baseline, candidate, forbids, error);
}

/* ---- backend, driver, devices ---- */

/* "580" of "580.159.04": as far as the first point. */
static bool same_major(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

static enum xb_status compare_backend(struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_record *baseline = comparison->baseline;
    const struct xb_record *candidate = comparison->candidate;
    enum xb_status status =
        add_if_other(comparison, "backend", baseline->backend, candidate->backend, true, error);
    bool both = baseline->driver != NULL && candidate->driver != NULL;
    if (status == XB_OK)
        status = add_if_other(comparison, "driver", baseline->driver, candidate->driver,
                              both && !same_major(baseline->driver, candidate->driver), error);
    return status;
}

static const struct xb_record_device *find_device(const struct xb_record_process *process,
                                                  unsigned index)
{
    for (size_t i = 0; i < process->device_count; i++)
        if (process->devices[i].index == index)
            return &process->devices[i];
    return NULL;
}

/* The first process that saw the device; NULL for none. */
static const struct xb_record_device *first_device(const struct xb_record *record, unsigned index)
{
    const struct xb_record_device *found = NULL;
    for (size_t i = 0; found == NULL && i < record->process_count; i++)
        found = find_device(&record->processes[i], index);
    return found;
}

/* Writes one property of a device; false where it is not known. */
typedef bool describe_device(const struct xb_record_device *device, char *text, size_t size);

static bool describe_model(const struct xb_record_device *device, char *text, size_t size)
{
    snprintf(text, size, "%s", device->name);
    return true;
}

/* "32 GT/s x16" */
static bool describe_link(const struct xb_record_device *device, char *text, size_t size)
{
    if (device->link_known)
        snprintf(text, size, "%g GT/s x%u", device->link_speed_gts, device->link_width);
    return device->link_known;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

/*
 * All that the processes saw, each once: what was not the same in all of them is another condition.
 * Sorted, because which process came first is chance. NULL where none saw anything.
 */
static enum xb_status texts_of_device(struct xb_comparison *comparison,
                                      const struct xb_record *record, unsigned index,
                                      describe_device *describe, const char **all,
                                      struct xb_error *error)
{
    char texts[XB_RECORD_PROCESSES][160];
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_device *device = find_device(&record->processes[i], index);
        if (device != NULL && describe(device, texts[count], sizeof texts[count]))
            count++;
    }
    qsort(texts, count, sizeof texts[0], compare_texts);
    *all = NULL;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(texts[i - 1], texts[i]) == 0)
            continue;
        *all = i == 0 ? xb_arena_print(&comparison->texts, "%s", texts[i])
                      : xb_arena_print(&comparison->texts, "%s, %s", *all, texts[i]);
        if (*all == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the differences");
    }
    return XB_OK;
}

/* What is not known of one file's device does not forbid. */
static enum xb_status compare_device_texts(struct xb_comparison *comparison, unsigned index,
                                           const char *what, describe_device *describe,
                                           struct xb_error *error)
{
    const char *before = NULL;
    const char *after = NULL;
    enum xb_status status =
        texts_of_device(comparison, comparison->baseline, index, describe, &before, error);
    if (status == XB_OK)
        status = texts_of_device(comparison, comparison->candidate, index, describe, &after, error);
    if (status == XB_OK)
        status = add_if_other(comparison,
                              xb_arena_print(&comparison->texts, "%s of device %u", what, index),
                              before, after, before != NULL && after != NULL, error);
    return status;
}

/* Devices that ran at the same time shared what is between them and the host: with one more or less
 * of them a figure is another. */
static bool any_simultaneous_in_both(const struct xb_comparison *comparison)
{
    for (size_t i = 0; i < comparison->candidate->case_count; i++) {
        const struct xb_record_case *test = &comparison->candidate->cases[i];
        if (test->simultaneous && xb_record_find(comparison->baseline, test) != NULL)
            return true;
    }
    return false;
}

static enum xb_status compare_device(struct xb_comparison *comparison, unsigned index,
                                     struct xb_error *error)
{
    const struct xb_record_device *baseline = first_device(comparison->baseline, index);
    const struct xb_record_device *candidate = first_device(comparison->candidate, index);
    if (baseline == NULL || candidate == NULL)
        return add_if_other(comparison, xb_arena_print(&comparison->texts, "device %u", index),
                            baseline != NULL ? baseline->name : NULL,
                            candidate != NULL ? candidate->name : NULL,
                            any_simultaneous_in_both(comparison), error);
    enum xb_status status = compare_device_texts(comparison, index, "model", describe_model, error);
    return status == XB_OK ? compare_device_texts(comparison, index, "link", describe_link, error)
                           : status;
}

/* Every index that either file has, once. */
static enum xb_status compare_devices(struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_record *records[] = {comparison->baseline, comparison->candidate};
    bool done[1024] = {false};
    enum xb_status status = XB_OK;
    for (size_t r = 0; r < 2; r++)
        for (size_t p = 0; p < records[r]->process_count; p++)
            for (size_t d = 0; d < records[r]->processes[p].device_count; d++) {
                unsigned index = records[r]->processes[p].devices[d].index;
                if (status != XB_OK || index >= sizeof done / sizeof done[0] || done[index])
                    continue;
                done[index] = true;
                status = compare_device(comparison, index, error);
            }
    return status;
}

/* ---- options ---- */

/*
 * Options that decide what is measured and where it goes, not how: a case says itself which mode,
 * size, variant and device it is of, and those that differ stand in one file only.
 */
static bool only_selects(const char *option)
{
    static const char *const names[] = {
        "mode",      "size",      "direction",    "device",       "backend", "latency",
        "pairs",     "quick",     "simultaneous", "host-memory",  "access",  "managed",
        "peer-path", "deadline",  "json",         "csv",          "quiet",   "help",
        "version",   "processes", "interleave",   "baseline-json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

static bool mode_takes(const struct xb_mode *mode, const char *option)
{
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        if (strcmp(mode->options[i]->name, option) == 0)
            return true;
    return false;
}

/* Whether a case that is in both files was measured by it. One that no mode takes is for all. */
static bool matters(const struct xb_comparison *comparison, const char *option)
{
    bool of_a_mode = false;
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        of_a_mode = of_a_mode || mode_takes(xb_modes[i], option);
    if (!of_a_mode)
        return true;
    for (size_t i = 0; i < comparison->candidate->case_count; i++) {
        const struct xb_record_case *test = &comparison->candidate->cases[i];
        const struct xb_mode *mode = xb_mode_find(test->mode);
        if ((mode == NULL || mode_takes(mode, option)) &&
            xb_record_find(comparison->baseline, test) != NULL)
            return true;
    }
    return false;
}

static const struct xb_record_fact *find_fact(const struct xb_record_fact *facts, size_t count,
                                              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

static const struct xb_record_fact *find_option(const struct xb_record *record, const char *name)
{
    return record != NULL ? find_fact(record->options, record->option_count, name) : NULL;
}

/* What a file has; where it lacks the option, the default, which is marked as such. */
static enum xb_status value_to_show(struct xb_comparison *comparison,
                                    const struct xb_record_fact *own,
                                    const struct xb_record_fact *by_default, const char **value,
                                    struct xb_error *error)
{
    *value = own != NULL ? own->value : NULL;
    if (own != NULL || by_default == NULL || by_default->value == NULL)
        return XB_OK;
    *value = xb_arena_print(&comparison->texts, "%s (default)", by_default->value);
    return *value != NULL ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "no memory for the differences");
}

/*
 * Compares an option that at least one file has. A program that did not have the option yet
 * measured as a newer one does by default, so the default stands in for what a file lacks. An
 * option that is in one file only and that this program does not have either is context: nobody
 * knows its default.
 */
static enum xb_status compare_option(struct xb_comparison *comparison, const char *name,
                                     struct xb_error *error)
{
    const struct xb_record_fact *by_default = find_option(comparison->request.defaults, name);
    const struct xb_record_fact *before = find_option(comparison->baseline, name);
    const struct xb_record_fact *after = find_option(comparison->candidate, name);
    const struct xb_record_fact *old = before != NULL ? before : by_default;
    const struct xb_record_fact *new = after != NULL ? after : by_default;
    bool both_known = old != NULL && new != NULL;
    const char *baseline = NULL;
    const char *candidate = NULL;
    if (only_selects(name) || (both_known && same_text(old->value, new->value)))
        return XB_OK;
    enum xb_status status = value_to_show(comparison, before, by_default, &baseline, error);
    if (status == XB_OK)
        status = value_to_show(comparison, after, by_default, &candidate, error);
    if (status != XB_OK)
        return status;
    return add(comparison, xb_arena_print(&comparison->texts, "option --%s", name), baseline,
               candidate, both_known && matters(comparison, name), error);
}

static enum xb_status compare_options(struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_record *baseline = comparison->baseline;
    const struct xb_record *candidate = comparison->candidate;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < baseline->option_count; i++)
        status = compare_option(comparison, baseline->options[i].name, error);
    for (size_t i = 0; status == XB_OK && i < candidate->option_count; i++)
        if (find_option(baseline, candidate->options[i].name) == NULL)
            status = compare_option(comparison, candidate->options[i].name, error);
    return status;
}

/* ---- the rest is context ---- */

static enum xb_status compare_facts(struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_record *baseline = comparison->baseline;
    const struct xb_record *candidate = comparison->candidate;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < baseline->fact_count; i++) {
        const struct xb_record_fact *before = &baseline->facts[i];
        const struct xb_record_fact *after =
            find_fact(candidate->facts, candidate->fact_count, before->name);
        status = add_if_other(comparison, before->name, before->value,
                              after != NULL ? after->value : NULL, false, error);
    }
    for (size_t i = 0; status == XB_OK && i < candidate->fact_count; i++) {
        const struct xb_record_fact *after = &candidate->facts[i];
        if (find_fact(baseline->facts, baseline->fact_count, after->name) == NULL)
            status = add_if_other(comparison, after->name, NULL, after->value, false, error);
    }
    return status;
}

/* Those that forbid first, else in their order. */
static void sort_differences(struct xb_comparison *comparison)
{
    size_t forbidding = 0;
    for (size_t i = 0; i < comparison->difference_count; i++) {
        struct xb_difference difference = comparison->differences[i];
        if (!difference.forbids)
            continue;
        memmove(&comparison->differences[forbidding + 1], &comparison->differences[forbidding],
                (i - forbidding) * sizeof difference);
        comparison->differences[forbidding++] = difference;
    }
}

enum xb_status xb_compare_conditions(struct xb_comparison *comparison, struct xb_error *error)
{
    comparison->comparable = true;
    enum xb_status status = compare_backend(comparison, error);
    if (status == XB_OK)
        status = compare_devices(comparison, error);
    if (status == XB_OK)
        status = compare_options(comparison, error);
    if (status == XB_OK)
        status = compare_facts(comparison, error);
    sort_differences(comparison);
    return status;
}
