/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "schema_check.h"

#include "checks.h"

/* What "#/$defs/NAME" refers to; the node itself where it is no reference. */
static const cJSON *resolve(const cJSON *schema, const cJSON *node)
{
    static const char prefix[] = "#/$defs/";
    const char *to = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(node, "$ref"));
    if (to == NULL)
        return node;
    assert_memory_equal(to, prefix, strlen(prefix));
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(schema, "$defs"),
                                            to + strlen(prefix));
}

/* Whether the node's type, or one of its types or values, is that word. */
static bool has_type(const cJSON *node, const char *word)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(node, "type"), *item;
    if (cJSON_IsString(type))
        return strcmp(type->valuestring, word) == 0;
    cJSON_ArrayForEach(item, type)
    {
        if (strcmp(item->valuestring, word) == 0)
            return true;
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(node, "enum"))
    {
        if (strcmp(cJSON_IsNull(item) ? "null" : "string", word) == 0)
            return true;
    }
    return false;
}

/* Whether it is what another schema describes, by whose own test. */
static bool is_elsewhere(const cJSON *node)
{
    const char *to = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(node, "$ref"));
    return to != NULL && to[0] != '#';
}

/* Of "oneOf": [X, null] gives X, and *null true. */
static const cJSON *without_null(const cJSON *schema, const cJSON *node, bool *null)
{
    const cJSON *item, *found = resolve(schema, node);
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(found, "oneOf");
    *null = has_type(found, "null");
    cJSON_ArrayForEach(item, choices)
    {
        const cJSON *choice = resolve(schema, item);
        if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(choice, "type")) &&
            has_type(choice, "null"))
            *null = true;
        else
            found = choice;
    }
    return found;
}

static const char *type_of(const struct xb_field *field)
{
    switch (field->kind) {
    case XB_FIELD_FLAG:
    case XB_FIELD_MAYBE:
        return "boolean";
    case XB_FIELD_DOUBLE:
        return "number";
    case XB_FIELD_TEXT:
    case XB_FIELD_ADDRESS:
    case XB_FIELD_STRING:
        return "string";
    case XB_FIELD_OBJECT:
        return "object";
    case XB_FIELD_ITEMS:
    case XB_FIELD_LIST:
    case XB_FIELD_NUMBERS:
        return "array";
    case XB_FIELD_WORD:
    case XB_FIELD_CUSTOM:
        return NULL; /* an enum, and what the table does not tell */
    default:
        return "integer";
    }
}

static bool is_required(const cJSON *object, const char *key)
{
    const cJSON *item, *required = cJSON_GetObjectItemCaseSensitive(object, "required");
    cJSON_ArrayForEach(item, required)
    {
        if (strcmp(item->valuestring, key) == 0)
            return true;
    }
    return false;
}

static void check(const cJSON *schema, const cJSON *object, const struct xb_field *fields)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(object, "properties");
    for (const struct xb_field *field = fields; field->key != NULL; field++) {
        bool null = false;
        const cJSON *node = cJSON_GetObjectItemCaseSensitive(properties, field->key);
        bool is_added = (field->flags & XB_FIELD_ADDED) != 0;
        if (node == NULL || is_required(object, field->key) == is_added)
            fail_msg("the schema %s %s", is_added ? "requires" : "does not require", field->key);
        if (is_elsewhere(node))
            continue;
        node = without_null(schema, node, &null);
        if (field->kind != XB_FIELD_CUSTOM && null != xb_field_may_be_null(field))
            fail_msg("%s: the schema %s null", field->key, null ? "allows" : "forbids");
        if (type_of(field) != NULL && !has_type(node, type_of(field)))
            fail_msg("%s is no %s in the schema", field->key, type_of(field));
        if (has_type(node, "array"))
            node = resolve(schema, cJSON_GetObjectItemCaseSensitive(node, "items"));
        if (field->fields != NULL)
            check(schema, node, field->fields);
    }
}

/* Of "properties/findings/items": goes from key to key. */
static const cJSON *find_object(const cJSON *schema, const char *definition)
{
    char keys[200], *rest = NULL;
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(schema, "$defs"), definition);
    if (found != NULL)
        return found;
    (void)snprintf(keys, sizeof keys, "%s", definition != NULL ? definition : "");
    found = schema;
    for (char *key = strtok_r(keys, "/", &rest); key != NULL; key = strtok_r(NULL, "/", &rest)) {
        bool null = false;
        found = without_null(schema, cJSON_GetObjectItemCaseSensitive(found, key), &null);
    }
    return found;
}

void assert_schema_describes(const char *file, const char *definition,
                             const struct xb_field *fields)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s%s", DOCS, file);
    char *text = file_text(path);
    cJSON *schema = cJSON_Parse(text);
    const cJSON *object = find_object(schema, definition);
    assert_non_null(object);
    check(schema, object, fields);
    cJSON_Delete(schema);
    free(text);
}
