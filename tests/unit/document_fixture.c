/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- documents ---- */

#define ROW(mode, latency)                                                                         \
    "{\"mode\":\"" mode "\",\"variant\":\"registered\",\"direction\":\"h2d\",\"bytes\":1000,"      \
    "\"device\":0,\"peer\":null,\"latency\":" latency ",\"simultaneous\":false,"                   \
    "\"timer\":\"device-event\",\"error\":null,"
#define OK "\"status\":\"ok\",\"reason\":null,\"verified\":true,"

const char result_text[] =
    "{\"schema\":\"xferbench.result\",\"schema_version\":1,\"interrupted\":false,"
    "\"deadline_met\":true,"
    "\"tool\":{\"name\":\"xferbench\",\"version\":\"0.1.0\",\"compiler\":\"GNU\","
    "\"build_type\":\"Release\"},"
    "\"host\":{\"hostname\":\"node1\",\"os\":null,\"kernel\":\"Linux\",\"cpu_model\":\"CPU\","
    "\"logical_cpus\":8,\"memory_bytes\":270334357504,\"numa_nodes\":2},"
    "\"backend\":{\"name\":\"hip\",\"runtime_version\":\"6.1\",\"driver_version\":\"580.1\","
    "\"runtime_library\":null,\"runtime_override\":null},"
    "\"devices\":[{\"index\":0,\"name\":\"GPU A\",\"uuid\":\"U0\",\"architecture\":\"sm_90\","
    "\"pci_bdf\":\"0000:01:00.0\",\"memory_bytes\":1024,\"driver\":null,"
    "\"link\":{\"speed_gts\":32,\"width\":16,\"port\":\"0000:00:01.0\"},"
    "\"numa\":{\"node\":1,\"bound\":true},\"facts\":{\"xnack\":\"on\",\"engines\":2}},"
    "{\"index\":3,\"name\":\"GPU B\",\"link\":null,\"numa\":null}],"
    "\"environment\":{\"CUDA_HOME\":\"/usr\"},"
    "\"config\":{\"mode\":[\"pinned\",\"peer\"],\"chunk\":8388608,\"deadline\":2.5,"
    "\"quiet\":true,\"samples\":null,\"backend\":\"hip\"},"
    "\"results\":[" ROW("pinned", "false") OK
    "\"bytes_moved\":2000,\"samples_s\":[4,1,2,2,1,8],"
    "\"bandwidth_bytes_per_second\":{\"median\":1000,\"ci95_low\":250,\"ci95_high\":2000}}," ROW(
        "pinned", "true") OK
    "\"bytes_moved\":1000,\"samples_s\":[0.5,0.25,0.125],"
    "\"latency_s\":{\"host\":{\"p50\":0.75},\"device\":{\"p50\":0.25}}}," ROW(
        "peer", "false") "\"status\":\"skipped\",\"reason\":\"one "
                         "device\",\"verified\":null}," ROW("managed",
                                                            "false") "\"status\":\"error\","
                                                                     "\"reason\":\"wrong\","
                                                                     "\"verified\":false}]}";

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
    cJSON *root =
        tree_of("{\"schema\":\"xferbench.processes\",\"schema_version\":1,\"processes\":[]}");
    cJSON_AddNumberToObject(root, "asked", asked);
    for (size_t i = 0; i < count; i++) {
        cJSON *member = cJSON_CreateObject();
        cJSON_AddItemToObject(member, "document",
                              documents[i] != NULL ? documents[i] : cJSON_CreateNull());
        cJSON_AddItemToArray(cJSON_GetObjectItem(root, "processes"), member);
    }
    return root;
}

/* The item at "results[0].latency_s.host"; *parent has it. NULL where it is not there. */
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

void put(cJSON *root, const char *where, const char *value)
{
    cJSON *parent = NULL;
    char key[64];
    cJSON *item = find(root, where, &parent, key);
    assert_non_null(parent);
    if (item == NULL)
        assert_true(cJSON_AddItemToObject(parent, key, cJSON_CreateRaw(value)));
    else if (value == NULL)
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, item));
    else
        assert_true(cJSON_ReplaceItemViaPointer(parent, item, cJSON_CreateRaw(value)));
    if (item != NULL && value != NULL && cJSON_IsObject(parent)) { /* it has lost its key */
        cJSON *raw = parent->child;
        while (raw != NULL && raw->string != NULL)
            raw = raw->next;
        if (raw != NULL)
            raw->string = strdup(key);
    }
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
    assert_null(record->tree);
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

void assert_figure(double is, double should)
{
    if (fabs(is - should) > 1e-9 * fabs(should))
        fail_msg("%.17g is not %.17g", is, should);
}

/* ---- what is read is right ---- */

void assert_fact(const struct xb_record_fact *facts, size_t count, const char *name,
                 const char *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0) {
            if (value == NULL)
                assert_null(facts[i].value);
            else
                assert_string_equal(facts[i].value, value);
            return;
        }
    fail_msg("%s is not there", name);
}

void assert_summary(const struct xb_record *record, size_t index, enum xb_result_status status,
                    enum xb_verified verified, size_t ok, const char *reason)
{
    char text[XB_RECORD_REASON];
    const struct xb_record_case *test = &record->cases[index];
    struct xb_record_summary summary = xb_record_summarize(record, test);
    const char *found = xb_record_reason(test, &summary, text, sizeof text);
    assert_int_equal(summary.status, status);
    assert_int_equal(summary.verified, verified);
    assert_int_equal(summary.ok, ok);
    assert_string_equal(found != NULL ? found : "-", reason != NULL ? reason : "-");
}
