/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two processes measured the same thing on the same thing. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

static const struct xb_record_fact *find(const struct xb_record_fact *facts, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

/* NULL is a value too: not known. */
static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* "hostname is another one (node1, then node2)"; `kind` stands before the values. */
static const char *tell(char *text, size_t size, const char *what, const char *kind,
                        const char *first, const char *other)
{
    snprintf(text, size, "%.60s is another one (%s%.50s, then %.50s)", what, kind,
             first != NULL ? first : "not known", other != NULL ? other : "not known");
    return text;
}

/* ---- options ---- */

/* The first option of `a` that `b` has not. */
static const char *lacking(const struct xb_record *a, const struct xb_record *b)
{
    for (size_t i = 0; i < a->option_count; i++)
        if (find(b->options, b->option_count, a->options[i].name) == NULL)
            return a->options[i].name;
    return NULL;
}

/* What is left of a deadline differs from process to process. */
static bool may_differ(const char *option)
{
    return strcmp(option, "deadline") == 0;
}

static const char *other_option(const struct xb_record *first, const struct xb_record *other,
                                char *text, size_t size)
{
    const char *missing = lacking(first, other);
    const char *new = lacking(other, first);
    char what[64];
    if (missing != NULL || new != NULL) {
        snprintf(text, size, "option %.50s is %s", missing != NULL ? missing : new,
                 missing != NULL ? "missing" : "new");
        return text;
    }
    for (size_t i = 0; i < first->option_count; i++) {
        const struct xb_record_fact *option = &first->options[i];
        const struct xb_record_fact *own = find(other->options, other->option_count, option->name);
        if (own == NULL || may_differ(own->name) || same(option->value, own->value))
            continue;
        snprintf(what, sizeof what, "option %.50s", own->name);
        return tell(text, size, what, "", option->value, own->value);
    }
    return NULL;
}

/* ---- machine ---- */

static const char *other_fact(const struct xb_record *first, const struct xb_record *other,
                              const char *name, const char *what, const char *kind, char *text,
                              size_t size)
{
    const struct xb_record_fact *a = find(first->facts, first->fact_count, name);
    const struct xb_record_fact *b = find(other->facts, other->fact_count, name);
    const char *before = a != NULL ? a->value : NULL;
    const char *after = b != NULL ? b->value : NULL;
    return same(before, after) ? NULL : tell(text, size, what, kind, before, after);
}

/* Whose devices stand for the record's: the first that has results, as in its facts. */
static const struct xb_record_process *speaker(const struct xb_record *record)
{
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].has_results)
            return &record->processes[i];
    return NULL;
}

static const struct xb_record_device *device_at(const struct xb_record_process *process,
                                                unsigned index)
{
    for (size_t i = 0; process != NULL && i < process->device_count; i++)
        if (process->devices[i].index == index)
            return &process->devices[i];
    return NULL;
}

/* One of the same model is another one all the same: its place and its state are its own. */
static const char *other_device(const struct xb_record *first, const struct xb_record *other,
                                unsigned index, char *text, size_t size)
{
    static const char *const kinds[] = {"UUID", "PCI address"};
    const struct xb_record_device *a = device_at(speaker(first), index);
    const struct xb_record_device *b = device_at(speaker(other), index);
    const char *difference = NULL;
    char what[32];
    snprintf(what, sizeof what, "device %u", index);
    if (a == NULL || b == NULL) {
        snprintf(text, size, "%s is %s", what, b == NULL ? "missing" : "new");
        return text;
    }
    if (strcmp(a->name, b->name) != 0)
        return tell(text, size, what, "", a->name, b->name);
    for (size_t i = 0; difference == NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        char name[64], kind[32];
        snprintf(name, sizeof name, "%s %s", what, kinds[i]);
        snprintf(kind, sizeof kind, "%s ", kinds[i]);
        difference = other_fact(first, other, name, what, kind, text, size);
    }
    return difference;
}

static const char *other_devices(const struct xb_record *first, const struct xb_record *other,
                                 char *text, size_t size)
{
    const struct xb_record_process *sides[] = {speaker(first), speaker(other)};
    const char *difference = NULL;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0;
             difference == NULL && sides[side] != NULL && i < sides[side]->device_count; i++)
            difference = other_device(first, other, sides[side]->devices[i].index, text, size);
    return difference;
}

const char *xb_record_other_condition(const struct xb_record *first, const struct xb_record *other,
                                      char *text, size_t size)
{
    if (strcmp(first->backend, other->backend) != 0)
        return tell(text, size, "the backend", "", first->backend, other->backend);
    if (!same(first->driver, other->driver))
        return tell(text, size, "the driver", "", first->driver, other->driver);
    const char *difference = other_option(first, other, text, size);
    if (difference == NULL)
        difference = other_fact(first, other, "hostname", "hostname", "", text, size);
    return difference != NULL ? difference : other_devices(first, other, text, size);
}
