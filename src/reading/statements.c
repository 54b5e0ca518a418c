/* SPDX-License-Identifier: Apache-2.0 */
/* The list of statements: how one is made, which remedies come first, how all are printed. */
#include "internal.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void xb_reading_begin(struct xb_reading *reading, const char *label, const char *code, int device,
                      uint64_t bytes)
{
    reading->entry = (struct xb_reading_entry){
        .label = label, .code = code, .device = device, .bytes = bytes, .gain = (double)NAN};
    reading->device = device;
    reading->bytes = bytes;
    reading->words.text[reading->words.length = 0] = '\0';
    reading->lacks_figure = false;
    reading->all_nodes = false;
}

void xb_reading_number(struct xb_reading *reading, const char *name, double value, const char *unit)
{
    size_t *count = &reading->entry.number_count;
    if (!isfinite(value))
        return;
    reading->numbers = xb_grow(reading->numbers, *count, sizeof *reading->numbers);
    reading->numbers[(*count)++] = (struct xb_reading_number){
        .name = xb_arena_copy(&reading->list->texts, name), .value = value, .unit = unit};
}

void xb_reading_rests_on(struct xb_reading *reading, const struct xb_record_case *test)
{
    size_t *count = &reading->entry.case_count;
    for (size_t i = 0; i < *count; i++)
        if (reading->cases[i] == test)
            return;
    if (test == NULL)
        return;
    reading->cases = xb_grow(reading->cases, *count, sizeof(struct xb_record_case *));
    reading->cases[(*count)++] = test;
}

/* A copy that lives as long as the list. */
static void *keep_array(struct xb_reading *reading, const void *array, size_t bytes)
{
    void *kept = xb_arena_new(&reading->list->texts, bytes);
    return bytes > 0 ? memcpy(kept, array, bytes) : kept;
}

void xb_reading_keep(struct xb_reading *reading)
{
    struct xb_reading_list *list = reading->list;
    struct xb_reading_entry entry = reading->entry;
    if (reading->words.length == 0 || reading->lacks_figure)
        return;
    entry.text = xb_arena_copy(&list->texts, reading->words.text);
    entry.numbers =
        keep_array(reading, reading->numbers, entry.number_count * sizeof *reading->numbers);
    entry.cases =
        keep_array(reading, reading->cases, entry.case_count * sizeof(struct xb_record_case *));
    list->entries = xb_grow(list->entries, list->count, sizeof entry);
    list->entries[list->count++] = entry;
}

/* ---- the list, for people ---- */

#define LABEL_WIDTH 13

void xb_reading_free(struct xb_reading_list *list)
{
    free(list->entries);
    xb_arena_free(list->texts);
    *list = (struct xb_reading_list){.entries = NULL};
}

const char *xb_reading_subject(const struct xb_reading_list *list,
                               const struct xb_reading_entry *entry, char *text, size_t size)
{
    bool has_device = list->many_devices && entry->device >= 0;
    bool has_size = list->many_sizes && entry->bytes > 0;
    char device[32] = "";
    if (has_device)
        snprintf(device, sizeof device, "GPU %d%s", entry->device, has_size ? ", " : ": ");
    snprintf(text, size, "%s%s%s", device, has_size ? XB_SIZE_TEXT(entry->bytes) : "",
             has_size ? ": " : "");
    return text;
}

/* Weighs an entry's remedy: most for a large gain by little work, least if not measured. */
static double weight_of(const struct xb_reading_entry *entry)
{
    double gain = isfinite(entry->gain) && entry->gain > 1 ? log(entry->gain) : 0;
    return gain / (1 + (double)entry->effort);
}

size_t xb_reading_advice(const struct xb_reading_list *list, const struct xb_reading_entry **advice)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        double weight = weight_of(entry);
        bool is_said_better = entry->remedy == NULL; /* of another size or device */
        for (size_t k = 0; k < list->count && !is_said_better; k++) {
            const struct xb_reading_entry *other = &list->entries[k];
            double more = weight_of(other) - weight;
            is_said_better = other->remedy != NULL && strcmp(other->code, entry->code) == 0 &&
                             (more > 0 || (more == 0 && k < i));
        }
        size_t at = 0;
        while (at < count && weight_of(advice[at]) >= weight)
            at++;
        if (at == XB_MOST_ADVICE || is_said_better)
            continue;
        count += count < XB_MOST_ADVICE;
        memmove(&advice[at + 1], &advice[at],
                (count - at - 1) * sizeof(const struct xb_reading_entry *));
        advice[at] = entry;
    }
    return count;
}

void xb_reading_print(FILE *stream, const struct xb_reading_list *list)
{
    if (list->count > 0) {
        fputc('\n', stream);
        xb_heading_print(stream, XB_COLOUR_TITLE, "Reading");
    }
    XB_EACH (entry, list->entries, list->count) {
        char subject[64];
        if (entry->is_repeated)
            continue;
        xb_note_print(stream, entry->label, LABEL_WIDTH, "%s%s",
                      xb_reading_subject(list, entry, subject, sizeof subject), entry->text);
    }
}
