/* SPDX-License-Identifier: Apache-2.0 */
/* The Reading in a document: docs/result.schema.json says what the keys mean. */
#include "list.h"

#include "record/fields.h"

static void put_number(struct xb_json *json, const struct xb_reading_number *number)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "name", number->name);
    xb_json_put_number(json, "value", number->value);
    xb_json_put_text(json, "unit", number->unit);
    xb_json_close(json);
}

static void put_entry(struct xb_json *json, const struct xb_reading_entry *entry)
{
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "code", entry->code);
    xb_json_put_text(json, "label", entry->label);
    xb_json_put_index(json, "device", entry->device);
    xb_json_put_known_whole(json, "bytes", entry->bytes > 0, entry->bytes);
    xb_json_put_text(json, "text", entry->text);
    xb_json_open_array(json, "numbers");
    for (size_t i = 0; i < entry->number_count; i++)
        put_number(json, &entry->numbers[i]);
    xb_json_close(json);
    xb_json_open_array(json, "cases");
    for (size_t i = 0; i < entry->case_count; i++) {
        xb_json_open_object(json, NULL);
        xb_fields_put(json, xb_record_case_fields, entry->cases[i]);
        xb_json_close(json);
    }
    xb_json_close(json);
    xb_json_close(json);
}

void xb_reading_put(struct xb_json *json, const struct xb_reading_list *list)
{
    xb_json_open_array(json, "reading");
    for (size_t i = 0; i < list->count; i++)
        put_entry(json, &list->entries[i]);
    xb_json_close(json);
}

void xb_reading_put_of(struct xb_json *json, const struct xb_record *record)
{
    struct xb_reading_list list;
    struct xb_error error;
    if (xb_reading_make(record, &list, &error) != XB_OK) {
        xb_json_fail(json, &error);
        return;
    }
    xb_reading_put(json, &list);
    xb_reading_free(&list);
}
