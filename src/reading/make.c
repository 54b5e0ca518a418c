/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading of a record: who says what of what, and in which order; and the list of that. */
#include "internal.h"

#include "base/text.h"
#include "record/document.h"
#include "record/mode_list.h"

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

void xb_tell_next(struct xb_reading *reading)
{
    const struct xb_reading_entry of = reading->entry;
    if (of.code[0] == '\0') { /* an answer is one text */
        xb_tell(reading, " ");
        return;
    }
    xb_reading_keep(reading);
    xb_reading_begin(reading, of.label, of.code, of.device, of.bytes);
}

/* Chooses the node of each device whose cases are compared, because only XB-NUMA speaks of near and
 * far: where nodes were named, the device's own, else near it, else the first. */
static void choose_nodes(struct xb_reading *reading)
{
    enum { WITHIN = 1, FIRST, NEAR, OWN }; /* within the device there is no such memory */
    const struct xb_record *record = reading->record;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!xb_reading_alone(test) || test->device >= XB_RUN_DEVICES)
            continue;
        struct xb_reading_node *chosen = &reading->nodes[test->device];
        const struct xb_record_device *info = xb_record_device(record, test->device);
        int node = xb_record_case_node(test);
        int rank = !xb_reading_is_placed(test)               ? WITHIN
                   : node < 0                                ? NEAR
                   : info != NULL && node == info->numa_node ? OWN
                                                             : FIRST;
        if (rank > chosen->rank)
            *chosen = (struct xb_reading_node){rank, node};
    }
}

/* More sizes than these come from no sweep: they double. */
#define MOST_SIZES 64

/* Asks about the largest size that there is something to say of: a device, or pairs. */
static void say_of_largest(struct xb_reading *reading, const struct xb_reading_line *line,
                           int device, enum xb_direction direction)
{
    size_t before = reading->list->count, left = MOST_SIZES;
    reading->about = line->about;
    reading->direction = direction;
    reading->words.length = 0;
    reading->bytes = UINT64_MAX;
    while (reading->words.length == 0 && reading->list->count == before && left-- > 0 &&
           xb_reading_next_size(reading)) {
        xb_reading_begin(reading, line->label, line->code, device, reading->bytes);
        (device >= 0 ? line->say : line->say_of_pairs)(reading);
    }
    xb_reading_keep(reading);
}

static void say_lines(struct xb_reading *reading, const char *mode,
                      const struct xb_reading_line *line)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    reading->mode = mode;
    for (; line != NULL && line->label != NULL; line++) {
        for (size_t i = 0; i < count; i++) {
            int device = (int)devices[i].index;
            if (device >= XB_RUN_DEVICES || reading->nodes[device].rank == 0)
                continue; /* of pairs there is nothing to say here, however many there are */
            if (line->say != NULL)
                say_of_largest(reading, line, device, XB_H2D);
            if (line->say_of_sizes == NULL)
                continue;
            xb_reading_begin(reading, line->label, line->code, device, 0);
            reading->bytes = UINT64_MAX;
            line->say_of_sizes(reading);
            xb_reading_keep(reading);
        }
        if (line->say_of_pairs != NULL) {
            say_of_largest(reading, line, -1, XB_D2D);
            say_of_largest(reading, line, -1, XB_BIDIR);
        }
    }
}

const struct xb_reading_line xb_reading_first[] = {
    {.label = "link", .code = "XB-SHARE-OF-LINK", .say = xb_reading_say_link},
    {.label = "slow link", .code = "XB-SLOW-LINK", .say = xb_reading_say_slow_link},
    {.label = "both ways", .code = "XB-BOTH-WAYS", .say = xb_reading_say_both_ways},
    {.label = NULL},
};
const struct xb_reading_line xb_reading_last[] = {
    {.label = "one to all", .code = "XB-ONE-TO-ALL", .say_of_pairs = xb_reading_say_group},
    {.label = "all to one", .code = "XB-ALL-TO-ONE", .say_of_pairs = xb_reading_say_group},
    {.label = "NUMA", .code = "XB-NUMA", .say = xb_reading_say_numa},
    {.label = "slow", .code = "XB-SLOW-H2D", .say = xb_reading_say_slow},
    {.label = "slow", .code = "XB-SLOW-D2H", .say = xb_reading_say_slow},
    {.label = NULL},
};

void xb_reading_make(const struct xb_record *record, struct xb_reading_list *list)
{
    size_t devices = 0;
    size_t count = record->case_count;
    struct xb_reading reading = {.record = record,
                                 .parameters = xb_parameters_that_differ(record),
                                 .list = list,
                                 .grouped = xb_new(count, sizeof(const struct xb_record_case *))};
    (void)xb_record_devices(record, &devices);
    *list = (struct xb_reading_list){
        .many_sizes = count > 0 && record->by_size[0]->bytes != record->by_size[count - 1]->bytes,
        .many_devices = devices > 1};
    choose_nodes(&reading);
    say_lines(&reading, NULL, xb_reading_first);
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        say_lines(&reading, (*mode)->name, (*mode)->reading);
    xb_reading_say_together(&reading);
    say_lines(&reading, NULL, xb_reading_last);
    xb_reading_make_answer(&reading);
    free(reading.collected);
    free(reading.numbers);
    free(reading.cases);
    free(reading.grouped);
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
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        char subject[64];
        if (entry->is_repeated)
            continue;
        xb_note_print(stream, entry->label, LABEL_WIDTH, "%s%s",
                      xb_reading_subject(list, entry, subject, sizeof subject), entry->text);
    }
}

/* ---- in a document: docs/result.schema.json says what the keys mean ---- */

typedef struct xb_reading_entry entry;
typedef struct xb_reading_list list;

static const struct xb_field number_fields[] = {
    XB_FIELD("name", STRING, struct xb_reading_number, name),
    XB_FIELD("value", DOUBLE, struct xb_reading_number, value),
    XB_FIELD("unit", STRING, struct xb_reading_number, unit), XB_FIELDS_END};

static void write_cases(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const entry *of = from;
    xb_json_open_array(json, field->key);
    for (size_t i = 0; i < of->case_count; i++)
        xb_fields_put_object(json, NULL, xb_record_case_fields, of->cases[i]);
    xb_json_close(json);
}

static const struct xb_field entry_fields[] = {
    XB_FIELD("code", STRING, entry, code),
    XB_FIELD("label", STRING, entry, label),
    XB_FIELD("device", INDEX, entry, device),
    XB_FIELD("bytes", UINT64, entry, bytes, XB_NULL_IF_EMPTY),
    XB_FIELD("text", STRING, entry, text),
    XB_FIELD("remedy", STRING, entry, remedy, XB_NULL_IF_EMPTY),
    XB_FIELD("gain", DOUBLE, entry, gain, XB_NULL_IF_NAN),
    XB_FIELD("fine", FLAG, entry, is_fine),
    XB_FIELD("untold", FLAG, entry, is_untold),
    XB_LIST("numbers", entry, numbers, number_count, SIZE_MAX, number_fields),
    XB_CUSTOM("cases", write_cases, NULL),
    XB_FIELDS_END};

static const struct xb_field list_fields[] = {
    XB_LIST("reading", list, entries, count, SIZE_MAX, entry_fields), XB_FIELDS_END};

void xb_reading_put_of(struct xb_json *json, const struct xb_record *record)
{
    struct xb_reading_list made;
    xb_reading_make(record, &made);
    xb_fields_put(json, list_fields, &made);
    xb_reading_free(&made);
}
