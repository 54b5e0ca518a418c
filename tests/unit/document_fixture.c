/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"

#include "base/file_text.h"

#include <cjson/cJSON.h>

/* ---- documents ---- */

const char *result_text;

/* From record/result.json, as one line. */
__attribute__((constructor)) static void read_result(void)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_error error;
    if (xb_file_text_read(SOURCE "/tests/unit/record/result.json", 1 << 20, false, &text, &length,
                          &error) != XB_OK)
        abort();
    cJSON_Minify(text);
    result_text = text;
}

static cJSON *tree_of(const char *text)
{
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    return tree;
}

cJSON *result_tree(void)
{
    return tree_of(result_text);
}

cJSON *merge(int asked, size_t count, cJSON *const *documents)
{
    cJSON *root = tree_of("{\"schema\":\"xferbench.processes\",\"schema_version\":2,"
                          "\"role\":null,\"program\":null,\"interleaved_with\":null,"
                          "\"interrupted\":false,\"deadline_met\":null,\"start\":{\"asked\":null,"
                          "\"by\":null,\"began\":null,\"late_s\":null,"
                          "\"clock\":{\"synchronised\":null,\"error_s\":null}},"
                          "\"processes\":[]}");
    static const char *const keys[] = {"timestamp", "host", "launcher", "backend"};
    size_t first = 0;
    while (first + 1 < count && documents[first] == NULL)
        first++;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        cJSON_AddItemToObject(
            root, keys[i], cJSON_Duplicate(cJSON_GetObjectItem(documents[first], keys[i]), true));
    cJSON_AddNumberToObject(root, "asked", asked);
    for (size_t i = 0; i < count; i++) {
        cJSON *member = cJSON_CreateObject();
        cJSON_AddNullToObject(member, "failure");
        cJSON_AddItemToObject(member, "document",
                              documents[i] != NULL ? documents[i] : cJSON_CreateNull());
        cJSON_AddItemToArray(cJSON_GetObjectItem(root, "processes"), member);
    }
    return root;
}

/* The item at "results[0].figures[2].n"; *parent has it. NULL where it is not there. */
static cJSON *find(cJSON *root, const char *where, cJSON **parent, char key[64])
{
    cJSON *item = root;
    *parent = NULL;
    while (*where != '\0') {
        where += *where == '.';
        *parent = item;
        if (*where == '[') {
            item = cJSON_GetArrayItem(item, atoi(where + 1));
            where = strchr(where, ']') + 1;
            continue;
        }
        size_t length = strcspn(where, ".[");
        snprintf(key, 64, "%.*s", (int)length, where);
        item = cJSON_GetObjectItemCaseSensitive(item, key);
        where += length;
    }
    return item;
}

cJSON *result_of_bandwidth(const char *median)
{
    static const char *const unknown[] = {"ci95_low", "ci95_high", "min", "max",
                                          "p5",       "p95",       "p99", "mad"};
    char where[64];
    cJSON *tree = result_tree();
    put(tree, "results[0].figures[0].median", median);
    put(tree, "results[0].figures[0].samples", "[]");
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        snprintf(where, sizeof where, "results[0].figures[0].%s", unknown[i]);
        put(tree, where, "null");
    }
    return tree;
}

void put_parts(cJSON *root, const struct row *row, size_t from)
{
    for (size_t i = from; i < row->count; i += 2)
        put(root, row->part[i], row->part[i + 1]);
}

void put(cJSON *root, const char *where, const char *value)
{
    cJSON *parent = NULL;
    char key[64];
    cJSON *item = find(root, where, &parent, key);
    assert_non_null(parent);
    bool is_missing = value == NULL || strcmp(value, "missing") == 0;
    if (item == NULL)
        assert_true(cJSON_AddItemToObject(parent, key, cJSON_CreateRaw(value)));
    else if (is_missing)
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, item));
    else if (cJSON_IsArray(parent))
        assert_true(cJSON_ReplaceItemViaPointer(parent, item, cJSON_CreateRaw(value)));
    else
        assert_true(cJSON_ReplaceItemInObjectCaseSensitive(parent, key, cJSON_CreateRaw(value)));
}

enum xb_status parse_tree(cJSON *tree, struct xb_record *record, struct xb_error *error)
{
    char *text = cJSON_PrintUnformatted(tree);
    assert_non_null(text);
    cJSON_Delete(tree);
    memset(error, 0, sizeof *error);
    enum xb_status status = xb_record_parse(PATH, text, strlen(text), record, error);
    memset(text, 'x', strlen(text)); /* the record must not refer to it */
    cJSON_free(text);
    return status;
}

struct xb_record read_tree(cJSON *tree)
{
    struct xb_record record;
    struct xb_error error;
    if (parse_tree(tree, &record, &error) != XB_OK)
        fail_msg("%s", error.message);
    return record;
}

static void assert_refused(enum xb_status status, struct xb_record *record,
                           const struct xb_error *error, const char *expected)
{
    if (status == XB_OK || error->status != status)
        fail_msg("read, though wrong: %s", expected);
    assert_int_equal(status, XB_ERR_USAGE);
    if (strstr(error->message, expected) == NULL)
        fail_msg("expected \"%s\" in: %s", expected, error->message);
    assert_memory_equal(error->message, PATH ": ", strlen(PATH ": "));
    assert_null(record->path); /* nothing is left to free */
    assert_null(record->texts);
    xb_record_free(record);
}

void refuse_tree(cJSON *tree, const char *expected)
{
    struct xb_record record;
    struct xb_error error;
    enum xb_status status = parse_tree(tree, &record, &error);
    assert_refused(status, &record, &error, expected);
}

void refuse_text(const char *text, size_t length, const char *expected)
{
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    enum xb_status status = xb_record_parse(PATH, text, length, &record, &error);
    assert_refused(status, &record, &error, expected);
}
