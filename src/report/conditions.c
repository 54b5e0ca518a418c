/* SPDX-License-Identifier: Apache-2.0 */
/* Under which conditions all results were taken: what is the same in all of them, what differs. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/options.h"
#include "base/text.h"
#include "machine/pcie.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#define CONDITIONS 400 /* of all files together: more are counted */
#define VALUES 12      /* of one condition: more are counted */
#define RANGES 24      /* of files with one value: more are counted */

/* A condition with its values, or a value with the ranges of files that have it: "1 to 3, 7". */
struct entry {
    const char *text;
    struct entry *values;
    size_t files; /* that tell the condition */
    size_t first[RANGES], last[RANGES];
    size_t count, left_out; /* values, or ranges */
};

struct state {
    struct entry all;                          /* its values are the conditions */
    size_t files;                              /* results */
    const struct xb_report_document *document; /* that is taken */
};

/* The value with that text; NULL where there is no room for it. */
static struct entry *find(const struct state *state, struct entry *entry, size_t most,
                          const char *text)
{
    struct xb_arena **texts = state->document->texts;
    char kept[400];
    size_t at = 0;
    snprintf(kept, sizeof kept, "%s", text);
    while (at < entry->count && strcmp(entry->values[at].text, kept) != 0)
        at++;
    entry->left_out += at == most;
    if (entry->values == NULL)
        entry->values = xb_arena_new(texts, most * sizeof *entry->values);
    if (at == entry->count && at < most)
        entry->values[entry->count++].text = xb_arena_copy(texts, kept);
    return at < most ? &entry->values[at] : NULL;
}

/* Adds what the file that is taken says of a condition; NULL: it is not known. */
static __attribute__((format(printf, 3, 4))) void take(struct state *state, const char *text,
                                                       const char *format, ...)
{
    const size_t number = state->document->number;
    char name[200];
    XB_FORMAT(name, sizeof name, format);
    struct entry *condition = find(state, &state->all, CONDITIONS, name);
    if (condition == NULL)
        return;
    condition->files++;
    struct entry *value = find(state, condition, VALUES, text != NULL ? text : "not known");
    if (value == NULL)
        return;
    bool is_next = value->count > 0 && value->last[value->count - 1] + 1 == number;
    if (!is_next && value->count == RANGES) {
        value->left_out++;
        return;
    }
    if (!is_next)
        value->first[value->count++] = number;
    value->last[value->count - 1] = number;
}

static void take_document(void *own, const struct xb_report_document *document,
                          struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct state *state = own;
    size_t devices = 0;
    char value[64];
    (void)error;
    if (record == NULL)
        return;
    state->document = document;
    state->files++;
    take(state, record->backend, "backend");
    take(state, record->driver, "driver version");
    const struct xb_record_device *device = xb_record_devices(record, &devices);
    for (size_t i = 0; i < devices; i++, device++) {
        const bool is_known = device->pci_bdf != NULL && device->link_known;
        struct xb_words link = {.length = 0}; /* "PCIe Gen5 x16, at best Gen5 x16" */
        xb_lanes_text(device->link_speed_gts, device->link_width, value, sizeof value);
        if (device->pci_bdf == NULL)
            xb_words_add(&link, "none: not a PCI device");
        else if (is_known)
            xb_words_add(&link, "PCIe %s", value);
        xb_lanes_text(device->link_max_speed_gts, device->link_max_width, value, sizeof value);
        if (is_known && device->link_max_width > 0)
            xb_words_add(&link, ", at best %s", value);
        take(state, device->name, "device %u model", device->index);
        take(state, link.length > 0 ? link.text : NULL, "device %u link", device->index);
    }
    XB_EACH (fact, record->facts, record->fact_count) {
        /* Memory in bytes is said in GiB. */
        const size_t length = strlen(fact->name), cut = sizeof " in bytes" - 1;
        bool is_memory = length > cut && strcmp(fact->name + length - cut, " in bytes") == 0;
        double gib = is_memory && fact->value != NULL ? strtod(fact->value, NULL) / 0x1p30 : 0.0;
        snprintf(value, sizeof value, "%.1f GiB", gib);
        if (fact->value != NULL)
            take(state, is_memory ? value : fact->value, "%.*s",
                 (int)(is_memory ? length - cut : length), fact->name);
    }
    XB_EACH (option, record->options, record->option_count) {
        const struct xb_option *row = xb_option_find(document->request->rows, option->name);
        /* Options that are as they are by default go without saying. Those that choose what is
         * measured, or where results go, do not matter: the rows tell. */
        if ((row == NULL || !row->selects) &&
            !xb_fact_is_default(document->request->defaults, option))
            take(state, option->value, "option --%.100s", option->name);
    }
}

static bool finish(void *own)
{
    return ((const struct state *)own)->all.count > 0;
}

static bool is_common(const struct state *state, const struct entry *condition)
{
    return condition->count == 1 && condition->left_out == 0 && condition->files == state->files;
}

/* A row for each value, with the files that have it. */
static void write_values(struct xb_page *page, const struct entry *condition)
{
    XB_EACH (value, condition->values, condition->count) {
        struct xb_words files = {.length = 0}; /* "1 to 3, 7" */
        for (size_t r = 0; r < value->count; r++) {
            const size_t first = value->first[r], last = value->last[r];
            xb_words_add(&files, "%s%zu", r > 0 ? ", " : "", first);
            if (last > first)
                xb_words_add(&files, "%s%zu", last == first + 1 ? ", " : " to ", last);
        }
        if (value->left_out > 0)
            xb_words_add(&files, " and %zu more", value->left_out);
        XB_PAGE_CELLS(page, condition->text, value->text, files.text);
    }
    if (condition->left_out > 0)
        XB_PAGE_CELLS(page, condition->text, "others",
                      xb_page_print(page, "%zu files", condition->left_out));
}

static void write(struct xb_page *page, void *own)
{
    const struct state *state = own;
    const struct entry *all = state->all.values;
    size_t common = 0;
    xb_page_remark(page, "Options stand here where they are not as by default.");
    xb_page_table_begin(page, state->files > 1 ? "The same in all results" : "Conditions",
                        "Condition|Value");
    for (size_t i = 0; i < state->all.count; i++)
        if (is_common(state, &all[i])) {
            XB_PAGE_CELLS(page, all[i].text, all[i].values[0].text);
            common++;
        }
    xb_page_table_end(page);
    if (common < state->all.count) {
        xb_page_table_begin(page, "Different, or not told by all results",
                            "Condition|Value|In files");
        for (size_t i = 0; i < state->all.count; i++)
            if (!is_common(state, &all[i]))
                write_values(page, &all[i]);
        xb_page_table_end(page);
    }
    xb_page_more(page, state->all.left_out, "conditions are in the files only.");
}

const struct xb_common_section xb_section_conditions = {
    "conditions", "Conditions", sizeof(struct state), take_document, finish, write, NULL};
