/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading as a list: printed, and in a document. */
#include "list.h"

#include "base/memory.h"
#include "base/terminal.h"
#include "base/units.h"
#include "record/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    char device[32] = "", bytes[32] = "";
    if (list->many_devices && entry->device >= 0)
        snprintf(device, sizeof device, "GPU %d", entry->device);
    if (list->many_sizes && entry->bytes > 0)
        xb_size_format(entry->bytes, bytes, sizeof bytes);
    bool any = device[0] != '\0' || bytes[0] != '\0';
    bool both = device[0] != '\0' && bytes[0] != '\0';
    snprintf(text, size, "%s%s%s%s", device, both ? ", " : "", bytes, any ? ": " : "");
    return text;
}

double xb_reading_weight(const struct xb_reading_entry *entry)
{
    double gain = isfinite(entry->gain) && entry->gain > 1 ? log(entry->gain) : 0;
    return gain / (1 + (double)entry->effort);
}

/* Whether it has no remedy, or another size or device has the same one with a larger gain. */
static bool is_said_better(const struct xb_reading_list *list, const struct xb_reading_entry *entry)
{
    for (const struct xb_reading_entry *other = list->entries; other < list->entries + list->count;
         other++) {
        double more = xb_reading_weight(other) - xb_reading_weight(entry);
        if (entry->remedy != NULL && other->remedy != NULL &&
            strcmp(other->code, entry->code) == 0 && (more > 0 || (more == 0 && other < entry)))
            return true;
    }
    return entry->remedy == NULL;
}

size_t xb_reading_advice(const struct xb_reading_list *list, const struct xb_reading_entry **advice)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct xb_reading_entry *entry = &list->entries[i];
        size_t at = 0;
        while (at < count && xb_reading_weight(advice[at]) >= xb_reading_weight(entry))
            at++;
        if (at == XB_MOST_ADVICE || is_said_better(list, entry))
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
