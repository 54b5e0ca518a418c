/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include "cases.h"

/* Whether the first name of the path, or one of several with "+" between them, is the key. */
static bool names_key(const char *path, const char *key)
{
    size_t length = strlen(key);
    while (strncmp(path, key, length) != 0 || strchr("+.=", path[length]) == NULL) {
        path += strcspn(path, "+.=");
        if (*path++ != '+')
            return false;
    }
    return true;
}

static void set_value(const struct xb_field *field, char *at, const char *value)
{
    bool is_null = strcmp(value, "null") == 0;
    bool is_text = field->kind == XB_FIELD_TEXT || field->kind == XB_FIELD_ADDRESS;
    double number = is_null || is_text ? 0 : number_of(value);
    if (field->kind == XB_FIELD_FLAG)
        *(bool *)at = number > 0;
    else if (field->kind == XB_FIELD_MAYBE)
        *(int *)(void *)at = is_null ? 0 : number > 0 ? 1 : 2;
    else if (field->kind == XB_FIELD_UNSIGNED)
        *(unsigned *)(void *)at = (unsigned)number;
    else if (field->kind == XB_FIELD_COUNTER || field->kind == XB_FIELD_SIZE)
        *(uint64_t *)(void *)at = (uint64_t)number;
    else if (field->kind == XB_FIELD_DOUBLE)
        *(double *)(void *)at = number;
    else if (is_text)
        snprintf(at, field->size, "%s", is_null ? "" : value);
    else
        fail_case("%s cannot be set", field->key);
}

static void set_items(const struct xb_field *field, char *of, const char *path)
{
    char list[40];
    size_t length = strcspn(path, ".=");
    snprintf(list, sizeof list, "%.*s", (int)length, path);
    size_t count = list[0] == '*' ? *(size_t *)(void *)(of + field->count) : field->most;
    for (size_t i = 0; i < count; i++)
        if (list_has(list, i))
            set_field(field->fields, of + field->offset + i * field->size, path + length + 1);
}

void set_field(const struct xb_field *fields, void *of, const char *assignment)
{
    const char *rest = assignment + strcspn(assignment, ".=");
    char *object = of;
    bool is_found = false;
    if (*rest == '\0')
        fail_case("%s has no value", assignment);
    for (const struct xb_field *field = fields; field->key != NULL; field++) {
        if (!names_key(assignment, field->key))
            continue;
        is_found = true;
        if (field->kind == XB_FIELD_ITEMS)
            set_items(field, object, rest + 1);
        else if (*rest == '.')
            set_field(field->fields, object + field->offset, rest + 1);
        else if (field->kind != XB_FIELD_OBJECT)
            set_value(field, object + field->offset, rest + 1);
        if (field->known > 0 && *rest == '=')
            object[field->known - 1] = strcmp(rest, "=null") != 0;
    }
    if (!is_found)
        fail_case("nothing is called %s", assignment);
}

void set_fields(const struct xb_field *fields, void *of, char **words)
{
    for (; *words != NULL; words++)
        set_field(fields, of, *words);
}
