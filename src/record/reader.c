/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include <math.h>
#include <stdio.h>

void *xb_reader_room(struct xb_reader *reader, size_t count, size_t size)
{
    if (xb_json_failed(&reader->json))
        return NULL;
    void *room = xb_arena_allocate(&reader->record->texts, count * size);
    if (room == NULL)
        xb_json_refuse_memory(&reader->json);
    return room;
}

void xb_reader_need_numbers(struct xb_reader *reader, const cJSON *object, const char *key,
                            bool above_0, double most, const double **numbers, size_t *count)
{
    const cJSON *item;
    const cJSON *array = xb_json_get_array(&reader->json, object, key);
    double *kept = xb_reader_room(reader, (size_t)cJSON_GetArraySize(array), sizeof *kept);
    if (kept == NULL)
        return;
    size_t read = 0;
    cJSON_ArrayForEach(item, array)
    {
        double value = cJSON_GetNumberValue(item); /* NAN for what is no number */
        if (!(above_0 ? value > 0.0 : value >= 0.0) || value > most) {
            size_t length = xb_place_enter(&reader->json.place, key);
            xb_place_enter_item(&reader->json.place, read);
            xb_json_refuse(&reader->json, NULL, "must be a number %s 0 %s %g",
                           above_0 ? "above" : "from", above_0 ? "and at most" : "to", most);
            xb_place_leave(&reader->json.place, length);
            return;
        }
        kept[read++] = value;
    }
    *numbers = kept;
    *count = read;
}

/* ---- members of any kind ---- */

/* A value as text: a string as it is, null as NULL, anything else as JSON. */
static const char *text_of(struct xb_reader *reader, const cJSON *item)
{
    if (cJSON_IsNull(item) || cJSON_IsString(item))
        return cJSON_GetStringValue(item);
    char *printed = cJSON_PrintUnformatted(item);
    const char *text =
        printed != NULL ? xb_arena_print(&reader->record->texts, "%s", printed) : NULL;
    cJSON_free(printed);
    if (text == NULL)
        xb_json_refuse_memory(&reader->json);
    return text;
}

struct xb_record_fact *xb_reader_read_facts(struct xb_reader *reader, const cJSON *object,
                                            const char *key, int most, size_t *count)
{
    const cJSON *item;
    const cJSON *members = xb_json_get_object(&reader->json, object, key);
    if (cJSON_GetArraySize(members) > most)
        xb_json_refuse(&reader->json, key, "has more than %d keys", most);
    struct xb_record_fact *kept =
        xb_reader_room(reader, (size_t)cJSON_GetArraySize(members), sizeof *kept);
    if (kept == NULL)
        return NULL;
    cJSON_ArrayForEach(item, members)
    {
        kept[(*count)++] = (struct xb_record_fact){
            .name = item->string,
            .value = text_of(reader, item),
            .is_text = cJSON_IsString(item),
        };
    }
    return kept;
}
