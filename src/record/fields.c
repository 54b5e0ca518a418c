/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "base/arena.h"

#define MOST_PARAMETERS 64

/* A value as text: a text as it is, null as NULL, anything else as JSON. */
static const char *value_of(struct xb_json_reader *reader, const cJSON *item)
{
    if (cJSON_IsNull(item))
        return NULL;
    char *printed = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
    if (printed == NULL && !cJSON_IsString(item)) {
        xb_json_refuse_memory(reader);
        return NULL;
    }
    const char *kept = xb_fields_keep_text(reader, printed != NULL ? printed : item->valuestring);
    cJSON_free(printed);
    return kept;
}

void xb_record_put_fact_list(struct xb_json *json, const char *key,
                             const struct xb_record_fact *facts, size_t count)
{
    xb_json_open_object(json, key);
    for (size_t i = 0; i < count; i++)
        if (facts[i].is_text)
            xb_json_put_text(json, facts[i].name, facts[i].value);
        else
            xb_json_put_raw(json, facts[i].name, facts[i].value);
    xb_json_close(json);
}

void xb_record_put_facts(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const char *base = from;
    xb_record_put_fact_list(json, field->key,
                            *(const struct xb_record_fact *const *)(base + field->offset),
                            *(const size_t *)(base + field->count));
}

void xb_record_read_facts(struct xb_json_reader *reader, const cJSON *object,
                          const struct xb_field *field, void *to)
{
    const cJSON *item, *inner = xb_json_get_object(reader, object, field->key);
    size_t count = (size_t)cJSON_GetArraySize(inner), read = 0;
    if (count > field->most)
        xb_json_refuse(reader, field->key, "has more than %zu keys", (size_t)field->most);
    if (xb_json_failed(reader))
        return;
    struct xb_record_fact *facts = xb_arena_allocate(reader->texts, count * sizeof *facts);
    if (facts == NULL) {
        xb_json_refuse_memory(reader);
        return;
    }
    cJSON_ArrayForEach(item, inner) facts[read++] =
        (struct xb_record_fact){.name = xb_fields_keep_text(reader, item->string),
                                .value = value_of(reader, item),
                                .is_text = cJSON_IsString(item)};
    *(const struct xb_record_fact **)((char *)to + field->offset) = facts;
    *(size_t *)((char *)to + field->count) = read;
}

typedef struct xb_record_case test;
const struct xb_field xb_record_case_fields[] = {
    XB_FIELD("mode", STRING, test, mode, XB_NOT_EMPTY),
    XB_FIELD("variant", STRING, test, variant, XB_NOT_EMPTY),
    XB_FIELD("direction", STRING, test, direction, XB_NOT_EMPTY),
    XB_FIELD("bytes", UINT64, test, bytes),
    XB_FIELD("device", INDEX, test, device, .most = 1023),
    XB_FIELD("peer", INDEX, test, peer, .most = 1023),
    XB_FIELD("latency", FLAG, test, latency),
    XB_FIELD("simultaneous", FLAG, test, simultaneous),
    XB_CUSTOM("parameters", xb_record_put_facts, xb_record_read_facts,
              .offset = offsetof(test, parameters), .count = offsetof(test, parameter_count),
              .most = MOST_PARAMETERS),
    XB_FIELDS_END};
