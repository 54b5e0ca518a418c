/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* glob, asprintf */
#include "xferbench/error.h"
#include "xferbench/record.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PATH "folder/some.json"

/* ---- allocations that fail: this program is linked with --wrap for these ---- */

static size_t allocations; /* so far */
static size_t failing;     /* which one fails, counted from 1; 0: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails(void)
{
    bool this_one = ++allocations == failing;
    if (this_one)
        errno = ENOMEM;
    return this_one;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

/* ---- documents ---- */

#define ROW(mode, latency)                                                                         \
    "{\"mode\":\"" mode "\",\"variant\":\"registered\",\"direction\":\"h2d\",\"bytes\":1000,"      \
    "\"device\":0,\"peer\":null,\"latency\":" latency ",\"simultaneous\":false,"                   \
    "\"timer\":\"device-event\",\"error\":null,"
#define OK "\"status\":\"ok\",\"reason\":null,\"verified\":true,"

static const char result_text[] =
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

static cJSON *result_tree(void)
{
    return tree_of(result_text);
}

/* A file of processes; takes the documents, of which NULL stands for none. */
static cJSON *merge(int asked, size_t count, cJSON *const *documents)
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

/* Puts a value, as JSON or what is none, in another's place, or a key where there is none; NULL
 * takes it away. */
static void put(cJSON *root, const char *where, const char *value)
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

/* Takes the tree. */
static enum xb_status parse_tree(cJSON *tree, struct xb_record *record, struct xb_error *error)
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

static struct xb_record read_tree(cJSON *tree)
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

static void refuse_tree(cJSON *tree, const char *expected)
{
    struct xb_record record;
    struct xb_error error;
    enum xb_status status = parse_tree(tree, &record, &error);
    assert_refused(status, &record, &error, expected);
}

static void refuse_text(const char *text, size_t length, const char *expected)
{
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    enum xb_status status = xb_record_parse(PATH, text, length, &record, &error);
    assert_refused(status, &record, &error, expected);
}

static void assert_figure(double is, double should)
{
    if (fabs(is - should) > 1e-9 * fabs(should))
        fail_msg("%.17g is not %.17g", is, should);
}

/* ---- what is read is right ---- */

static void assert_fact(const struct xb_record_fact *facts, size_t count, const char *name,
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

static void reads_conditions(void **state)
{
    static const char *const facts[][2] = {{"hostname", "node1"},
                                           {"operating system", NULL},
                                           {"kernel", "Linux"},
                                           {"CPU model", "CPU"},
                                           {"logical CPUs", "8"},
                                           {"memory in bytes", "270334357504"},
                                           {"NUMA nodes", "2"},
                                           {"xferbench version", "0.1.0"},
                                           {"compiler", "GNU"},
                                           {"build type", "Release"},
                                           {"runtime version", "6.1"},
                                           {"runtime library", NULL},
                                           {"runtime named by", NULL},
                                           {"device 0 PCI address", "0000:01:00.0"},
                                           {"device 0 UUID", "U0"},
                                           {"device 0 architecture", "sm_90"},
                                           {"device 0 memory in bytes", "1024"},
                                           {"device 0 link port", "0000:00:01.0"},
                                           {"device 0 NUMA node", "1"},
                                           {"device 0 bound to its NUMA node", "true"},
                                           {"device 0 xnack", "on"},
                                           {"device 0 engines", "2"},
                                           {"device 3 UUID", NULL},
                                           {"device 3 link port", NULL},
                                           {"environment CUDA_HOME", "/usr"}};
    static const char *const options[][2] = {{"mode", "[\"pinned\",\"peer\"]"},
                                             {"chunk", "8388608"},
                                             {"deadline", "2.5"},
                                             {"quiet", "true"},
                                             {"samples", NULL},
                                             {"backend", "hip"}};
    (void)state;
    struct xb_record record = read_tree(result_tree());
    assert_string_equal(record.path, PATH);
    assert_string_equal(record.backend, "hip");
    assert_string_equal(record.driver, "580.1");
    assert_false(record.is_merged);
    assert_int_equal(record.asked_processes, 1);
    assert_int_equal(record.process_count, 1);
    assert_int_equal(record.fact_count, 13 + 9 + 7 + 1);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        assert_fact(record.facts, record.fact_count, facts[i][0], facts[i][1]);
    assert_int_equal(record.option_count, sizeof options / sizeof options[0]);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_fact(record.options, record.option_count, options[i][0], options[i][1]);
    xb_record_free(&record);
    xb_record_free(&record); /* accepts a zeroed one */
}

static void reads_devices_and_how_it_ended(void **state)
{
    static const struct {
        const char *value;
        bool met;
    } ends[] = {{"true", true}, {"false", false}, {"null", true}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "deadline_met", ends[i].value);
        put(tree, "interrupted", i == 1 ? "true" : "false");
        struct xb_record record = read_tree(tree);
        const struct xb_record_process *process = &record.processes[0];
        assert_int_equal(process->deadline_met, ends[i].met);
        assert_int_equal(process->interrupted, i == 1);
        assert_int_equal(process->device_count, 2);
        assert_int_equal(process->devices[0].index, 0);
        assert_string_equal(process->devices[0].name, "GPU A");
        assert_true(process->devices[0].link_known);
        assert_figure(process->devices[0].link_speed_gts, 32.0);
        assert_int_equal(process->devices[0].link_width, 16);
        assert_int_equal(process->devices[1].index, 3);
        assert_string_equal(process->devices[1].name, "GPU B");
        assert_false(process->devices[1].link_known);
        xb_record_free(&record);
    }
}

static void assert_value(const struct xb_record_value *value, double median, double low,
                         double high)
{
    assert_true(value->is_set);
    assert_figure(value->median, median);
    assert_int_equal(value->has_interval, high > 0.0);
    if (high > 0.0) {
        assert_figure(value->low, low);
        assert_figure(value->high, high);
    }
}

static void assert_summary(const struct xb_record *record, size_t index,
                           enum xb_result_status status, enum xb_verified verified, size_t ok,
                           const char *reason)
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

static void reads_rows(void **state)
{
    (void)state;
    struct xb_record record = read_tree(result_tree());
    assert_int_equal(record.case_count, 4);
    const struct xb_record_case *test = &record.cases[0];
    assert_string_equal(test->mode, "pinned");
    assert_string_equal(test->variant, "registered");
    assert_string_equal(test->direction, "h2d");
    assert_int_equal(test->bytes, 1000);
    assert_int_equal(test->device, 0);
    assert_int_equal(test->peer, -1);
    assert_false(test->latency || test->simultaneous);
    assert_true(test->rows[0].is_there);
    assert_int_equal(test->rows[0].verified, XB_VERIFIED_TRUE);
    assert_string_equal(test->rows[0].timer, "device-event");
    assert_null(test->rows[0].reason);
    assert_value(&test->rows[0].values[XB_METRIC_BANDWIDTH], 1000.0, 250.0, 2000.0);
    assert_false(test->rows[0].values[XB_METRIC_HOST_LATENCY].is_set);
    assert_false(test->rows[0].values[XB_METRIC_DEVICE_LATENCY].is_set);
    test = &record.cases[1];
    assert_true(test->latency);
    assert_false(test->rows[0].values[XB_METRIC_BANDWIDTH].is_set);
    assert_value(&test->rows[0].values[XB_METRIC_HOST_LATENCY], 0.75, 0.0, 0.0);
    assert_value(&test->rows[0].values[XB_METRIC_DEVICE_LATENCY], 0.25, 0.0, 0.0);
    test = &record.cases[2];
    assert_int_equal(test->rows[0].status, XB_RESULT_SKIPPED);
    assert_int_equal(test->rows[0].verified, XB_VERIFIED_UNKNOWN);
    assert_string_equal(test->rows[0].reason, "one device");
    assert_null(test->rows[0].timer);
    test = &record.cases[3];
    assert_int_equal(test->rows[0].status, XB_RESULT_ERROR);
    assert_int_equal(test->rows[0].verified, XB_VERIFIED_FALSE);
    assert_summary(&record, 1, XB_RESULT_OK, XB_VERIFIED_TRUE, 1, NULL);
    assert_summary(&record, 2, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_summary(&record, 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, 0, "wrong");
    xb_record_free(&record);
}

static void names_what_it_has(void **state)
{
    static const struct {
        int device, peer;
        const char *text;
    } devices[] = {{0, -1, "0"}, {12, 3, "12>3"}, {-1, -1, "sum"}, {0, 0, "0>0"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        struct xb_record_case test = {.device = devices[i].device, .peer = devices[i].peer};
        assert_string_equal(xb_record_case_device(&test, text, sizeof text), devices[i].text);
    }
    assert_string_equal(xb_metric_name(XB_METRIC_BANDWIDTH), "bandwidth");
    assert_string_equal(xb_metric_name(XB_METRIC_HOST_LATENCY), "host latency");
    assert_string_equal(xb_metric_name(XB_METRIC_DEVICE_LATENCY), "device latency");
    assert_true(xb_metric_more_is_better(XB_METRIC_BANDWIDTH));
    assert_false(xb_metric_more_is_better(XB_METRIC_HOST_LATENCY));
    assert_false(xb_metric_more_is_better(XB_METRIC_DEVICE_LATENCY));
}

/* What may be missing, or null, or at its bound. */
static void takes_what_is_allowed(void **state)
{
    static const char *const rows[][2] = {
        {"backend.driver_version", "null"},
        {"backend.driver_version", NULL},
        {"results[0].reason", NULL},
        {"devices[0].link", "null"},
        {"devices[0].facts", NULL},
        {"devices[0].facts", "null"},
        {"devices[0].numa", NULL},
        {"environment", NULL},
        {"environment", "null"},
        {"host", NULL},
        {"tool", NULL},
        {"config", "{}"},
        {"results", "[]"},
        {"results[0].bytes", "9007199254740992"},
        {"results[0].device", "null"},
        {"results[0].device", "1023"},
        {"results[0].peer", "1023"},
        {"devices[0].index", "63"},
        {"devices[0].link.speed_gts", "1024"},
        {"devices[0].link.speed_gts", "2.5"},
        {"devices[0].link.width", "64"},
        {"devices[0].link.width", "1"},
        {"results[1].latency_s.device", "null"},
        {"results[1].latency_s.host.p50", "1e6"},
        {"results[1].latency_s.host.p50", "1e-12"},
        {"results[0].bandwidth_bytes_per_second.median", "1000.0000001"},
        {"results[0].bandwidth_bytes_per_second.ci95_low", "1000"},
        {"results[0].bandwidth_bytes_per_second.ci95_high", "1000"},
        {"results[2].verified", "true"},
        {"results[2].timer", "null"},
        {"results[2].samples_s", "5"}, /* not looked at in a row that is not ok */
        {"results[0].unknown", "{\"a\":[1]}"},
        {"unknown", "\"\\ud83d\\ude00\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct xb_record record;
        struct xb_error error;
        cJSON *tree = result_tree();
        put(tree, rows[i][0], rows[i][1]);
        if (parse_tree(tree, &record, &error) != XB_OK)
            fail_msg("%s = %s: %s", rows[i][0], rows[i][1], error.message);
        xb_record_free(&record);
    }
}

/* ---- cases ---- */

/* Each key that makes a case, and another value of it. */
static const char *const case_keys[][2] = {{"mode", "\"pageable\""},
                                           {"variant", "\"malloc\""},
                                           {"direction", "\"d2h\""},
                                           {"bytes", "1001"},
                                           {"device", "3"},
                                           {"device", "null"},
                                           {"peer", "0"},
                                           {"peer", "3"},
                                           {"simultaneous", "true"}};

static void tells_cases_by_every_key(void **state)
{
    (void)state;
    struct xb_record plain = read_tree(result_tree());
    for (size_t i = 0; i < sizeof case_keys / sizeof case_keys[0]; i++) {
        char where[64];
        cJSON *tree = result_tree();
        cJSON *rows = cJSON_GetObjectItem(tree, "results");
        cJSON_AddItemToArray(rows, cJSON_Duplicate(cJSON_GetArrayItem(rows, 0), true));
        snprintf(where, sizeof where, "results[4].%s", case_keys[i][0]);
        put(tree, where, case_keys[i][1]);
        struct xb_record record = read_tree(tree);
        assert_int_equal(record.case_count, 5);
        for (size_t k = 0; k < 5; k++)
            assert_ptr_equal(xb_record_find(&record, &record.cases[k]), &record.cases[k]);
        for (size_t k = 0; k < 4; k++) { /* across records */
            assert_ptr_equal(xb_record_find(&plain, &record.cases[k]), &plain.cases[k]);
            assert_ptr_equal(xb_record_find(&record, &plain.cases[k]), &record.cases[k]);
        }
        assert_null(xb_record_find(&plain, &record.cases[4]));
        xb_record_free(&record);
    }
    struct xb_record none = {.case_count = 0};
    assert_null(xb_record_find(&none, &plain.cases[0]));
    xb_record_free(&plain);
}

static void refuses_a_case_twice(void **state)
{
    (void)state;
    cJSON *tree = result_tree();
    cJSON *rows = cJSON_GetObjectItem(tree, "results");
    cJSON_AddItemToArray(rows, cJSON_Duplicate(cJSON_GetArrayItem(rows, 0), true));
    refuse_tree(tree, "results[4] of process 0 is a case that it has already: pinned registered");
}

/* ---- several processes ---- */

/* The case of the document's first row, `factor` times as fast as there. */
static cJSON *process_tree(int factor)
{
    char text[64];
    cJSON *tree = result_tree();
    snprintf(text, sizeof text, "%d", 2000 * factor);
    put(tree, "results[0].bytes_moved", text);
    snprintf(text, sizeof text, "{\"median\":%d,\"ci95_low\":null,\"ci95_high\":null}",
             1000 * factor);
    put(tree, "results[0].bandwidth_bytes_per_second", text);
    return tree;
}

static void reads_processes(void **state)
{
    double medians[XB_RECORD_PROCESSES] = {0};
    (void)state;
    cJSON *documents[] = {NULL, process_tree(3), process_tree(1), NULL, process_tree(2)};
    put(documents[1], "config.deadline", "1.5"); /* what is left of it differs */
    put(documents[2], "interrupted", "true");
    put(documents[4], "deadline_met", "false");
    put(documents[4], "results[2].status", "\"error\"");
    struct xb_record record = read_tree(merge(7, 5, documents));
    assert_true(record.is_merged);
    assert_int_equal(record.asked_processes, 7);
    assert_int_equal(record.process_count, 5);
    assert_string_equal(record.driver, "580.1");
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(record.processes[i].interrupted, i == 2);
        assert_int_equal(record.processes[i].deadline_met, i != 4);
        assert_int_equal(record.processes[i].device_count, i == 0 || i == 3 ? 0 : 2);
    }
    assert_int_equal(record.case_count, 4);
    assert_fact(record.options, record.option_count, "deadline", "1.5"); /* the first one's */
    const struct xb_record_case *test = &record.cases[0];
    assert_int_equal(xb_record_medians(&record, test, XB_METRIC_BANDWIDTH, medians), 3);
    assert_figure(medians[0], 3000.0);
    assert_figure(medians[1], 1000.0);
    assert_figure(medians[2], 2000.0);
    assert_int_equal(xb_record_medians(&record, test, XB_METRIC_HOST_LATENCY, medians), 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(test->rows[i].is_there, i != 0 && i != 3);
    assert_summary(&record, 0, XB_RESULT_OK, XB_VERIFIED_TRUE, 3, NULL); /* of those with results */
    assert_summary(&record, 2, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_int_equal(record.cases[2].rows[1].status, XB_RESULT_SKIPPED);
    assert_int_equal(record.cases[2].rows[4].status, XB_RESULT_ERROR);
    xb_record_free(&record);
}

/* Of a process without a document the file says whether its run was cut short, and it itself why it
 * has none. */
static void reads_how_a_process_ended(void **state)
{
    (void)state;
    cJSON *documents[] = {process_tree(1), NULL};
    cJSON *tree = merge(2, 2, documents);
    put(tree, "interrupted", "true");
    put(tree, "deadline_met", "false");
    put(tree, "processes[1].failure", "\"it was ended by SIGSEGV\"");
    struct xb_record record = read_tree(tree);
    assert_false(record.processes[0].interrupted); /* it says so itself */
    assert_true(record.processes[0].deadline_met);
    assert_null(record.processes[0].failure);
    assert_true(record.processes[1].interrupted);
    assert_false(record.processes[1].deadline_met);
    assert_string_equal(record.processes[1].failure, "it was ended by SIGSEGV");
    xb_record_free(&record);
    cJSON *others[] = {process_tree(1), NULL};
    tree = merge(2, 2, others);
    put(tree, "interrupted", "5");
    refuse_tree(tree, "interrupted: must be true or false");
}

/* Their rows in another order, and some that only one has. */
static void brings_rows_of_processes_together(void **state)
{
    static const char *const modes[] = {"pinned", "pinned", "peer", "managed", "zero-copy"};
    double medians[XB_RECORD_PROCESSES];
    (void)state;
    cJSON *documents[] = {process_tree(1), process_tree(2)};
    cJSON *rows = cJSON_GetObjectItem(documents[1], "results");
    cJSON *first = cJSON_DetachItemFromArray(rows, 0);
    cJSON *only = cJSON_Duplicate(first, true);
    cJSON_ReplaceItemInObject(only, "mode", cJSON_CreateString("zero-copy"));
    cJSON_InsertItemInArray(rows, 0, only);
    cJSON_AddItemToArray(rows, first);
    cJSON_DeleteItemFromArray(rows, 2); /* peer */
    struct xb_record record = read_tree(merge(2, 2, documents));
    assert_int_equal(record.case_count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct xb_record_case *test = &record.cases[i];
        assert_string_equal(test->mode, modes[i]);
        assert_int_equal(test->latency, i == 1);
        assert_int_equal(test->rows[0].is_there, i != 4);
        assert_int_equal(test->rows[1].is_there, i != 2);
        assert_ptr_equal(xb_record_find(&record, test), test);
    }
    assert_summary(&record, 1, XB_RESULT_OK, XB_VERIFIED_TRUE, 2, NULL);
    assert_summary(&record, 2, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_summary(&record, 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, 0, "wrong");
    assert_summary(&record, 4, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 1,
                   "process 0 has no such row");
    assert_int_equal(xb_record_medians(&record, &record.cases[0], XB_METRIC_BANDWIDTH, medians), 2);
    assert_figure(medians[0], 1000.0);
    assert_figure(medians[1], 2000.0);
    assert_int_equal(xb_record_medians(&record, &record.cases[4], XB_METRIC_BANDWIDTH, medians), 1);
    assert_figure(medians[0], 2000.0);
    xb_record_free(&record);
}

#define OTHER ": measured under other conditions: "

static void refuses_processes_that_do_not_belong_together(void **state)
{
    static const char *const rows[][3] = {
        {"config", "1", ".config: must be an object"},
        {"config", NULL, ".config: is missing"},
        {"backend", NULL, ".backend: is missing"},
        {"environment", "[]", ".environment: must be an object"},
        {"schema_version", "2", ".schema_version: 2 was written by a newer xferbench"},
        {"schema", "\"xferbench.processes\"", ".schema: \"xferbench.processes\" is not"},
        {"results[1].bytes", "0", ".results[1].bytes: must be a whole number"},
        {"backend.name", "\"cuda\"", OTHER "the backend is another one (hip, then cuda)"},
        {"backend.driver_version", "\"470.1\"",
         OTHER "the driver is another one (580.1, then 470.1)"},
        {"config.chunk", "1", OTHER "option chunk is another one (8388608, then 1)"},
        {"config.chunk", "null", OTHER "option chunk is another one (8388608, then not known)"},
        {"config.samples", "1", OTHER "option samples is another one (not known, then 1)"},
        {"config.mode", "[\"pinned\"]", OTHER "option mode is another one ("},
        {"config.mode", "\"[\\\"pinned\\\",\\\"peer\\\"] \"", OTHER "option mode is"},
        {"config.other", "1", OTHER "option other is new"},
        {"config.chunk", NULL, OTHER "option chunk is missing"},
        {"host.hostname", "\"node2\"", OTHER "hostname is another one (node1, then node2)"},
        {"host", NULL, OTHER "hostname is another one (node1, then not known)"},
        {"devices[0].name", "\"GPU C\"", OTHER "device 0 is another one (GPU A, then GPU C)"},
        {"devices[1].name", "\"GPU C\"", OTHER "device 3 is another one (GPU B, then GPU C)"},
        {"devices[0].uuid", "\"U1\"", OTHER "device 0 is another one (UUID U0, then U1)"},
        {"devices[1].uuid", "\"U1\"", OTHER "device 3 is another one (UUID not known, then U1)"},
        {"devices[0].pci_bdf", "\"0000:02:00.0\"",
         OTHER "device 0 is another one (PCI address 0000:01:00.0, then 0000:02:00.0)"},
        {"devices[1]", NULL, OTHER "device 3 is missing"},
        {"devices[1].index", "4", OTHER "device 3 is missing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char expected[200];
        cJSON *documents[] = {result_tree(), NULL, result_tree()};
        put(documents[2], rows[i][0], rows[i][1]);
        snprintf(expected, sizeof expected, PATH ": processes[2].document%s", rows[i][2]);
        refuse_tree(merge(3, 3, documents), expected);
    }
    cJSON *documents[] = {result_tree(), result_tree()};
    put(documents[0], "devices[1]", NULL);
    refuse_tree(merge(2, 2, documents), OTHER "device 3 is new");
}

/* A value as long as one likes is cut, and the message stays whole. */
static void tells_what_differs_shortly(void **state)
{
    char name[3000], text[XB_RECORD_DIFFERENCE];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[0] = name[sizeof name - 2] = '"';
    name[sizeof name - 1] = '\0';
    cJSON *long_name = result_tree();
    put(long_name, "devices[0].name", name);
    struct xb_record first = read_tree(result_tree());
    struct xb_record other = read_tree(long_name);
    assert_null(xb_record_other_condition(&first, &first, text, sizeof text));
    assert_ptr_equal(xb_record_other_condition(&first, &other, text, sizeof text), text);
    assert_int_equal(strlen(text), strlen("device 0 is another one (GPU A, then )") + 50);
    xb_record_free(&first);
    xb_record_free(&other);
}

/* ---- rows that were cut short, and warnings ---- */

/* Both rows that have figures end by that; NULL: they do not say by what. */
static void end_rows(cJSON *document, const char *reason)
{
    if (reason == NULL)
        return;
    put(document, "results[0].stop_reason", reason);
    put(document, "results[1].stop_reason", reason);
}

static void leaves_out_rows_that_were_cut_short(void **state)
{
    static const char *const reasons[] = {"\"interrupted\"", "\"deadline\"", "\"converged\"",
                                          "\"time-limit\"",  "\"fixed\"",    NULL};
    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        double medians[XB_RECORD_PROCESSES];
        char text[XB_RECORD_CUT];
        bool cut = i < 2;
        cJSON *documents[] = {process_tree(1), NULL, process_tree(2), process_tree(3)};
        end_rows(documents[2], reasons[i]);
        end_rows(documents[3], reasons[i]);
        struct xb_record record = read_tree(merge(4, 4, documents));
        for (size_t row = 0; row < 2; row++) {
            const struct xb_record_case *test = &record.cases[row];
            enum xb_metric metric = row == 0 ? XB_METRIC_BANDWIDTH : XB_METRIC_HOST_LATENCY;
            assert_int_equal(xb_record_medians(&record, test, metric, medians), cut ? 1 : 3);
            assert_summary(&record, row, XB_RESULT_OK, XB_VERIFIED_TRUE, 3, NULL);
            assert_int_equal(xb_record_summarize(&record, test).cut, cut ? 2 : 0);
            const char *found = xb_record_cut_text(&record, test, text, sizeof text);
            assert_string_equal(found != NULL ? found : "-",
                                cut ? "cut short in processes 2 and 3: not counted" : "-");
        }
        xb_record_free(&record);
    }
}

/* As many as there can be fit the text. */
static void names_all_processes_that_were_cut_short(void **state)
{
    char text[XB_RECORD_CUT];
    cJSON *documents[XB_RECORD_PROCESSES];
    (void)state;
    for (size_t i = 0; i < XB_RECORD_PROCESSES; i++) {
        documents[i] = result_tree();
        put(documents[i], "results[0].stop_reason", "\"deadline\"");
    }
    struct xb_record record = read_tree(merge(100, 100, documents));
    assert_non_null(xb_record_cut_text(&record, &record.cases[0], text, sizeof text));
    assert_non_null(strstr(text, "cut short in processes 0, 1, 2, "));
    assert_non_null(strstr(text, ", 98 and 99: not counted"));
    xb_record_free(&record);
}

static void groups_warnings(void **state)
{
    static const struct {
        const char *a, *b;
        bool alike;
    } pairs[] = {{"noisy: 31 %", "noisy: 4 %", true},
                 {"3 samples are few", "4 samples are few", true},
                 {"3 samples are few", "3 samples", false},
                 {"at 3 x", "at 4 y", true},
                 {"at 3 x", "at: y", false},
                 {"same", "same", true},
                 {"same", "samer", false}};
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_int_equal(xb_record_like_warnings(pairs[i].a, pairs[i].b), pairs[i].alike);
        assert_int_equal(xb_record_like_warnings(pairs[i].b, pairs[i].a), pairs[i].alike);
    }
    cJSON *documents[] = {result_tree(), NULL, result_tree(), result_tree()};
    put(documents[0], "results[0].warnings", "[\"noisy: 31 %\",\"noisy: 32 %\",\"one\"]");
    put(documents[2], "results[0].warnings", "[\"two\",\"noisy: 5 %\"]");
    struct xb_record record = read_tree(merge(4, 4, documents));
    assert_int_equal(xb_record_warnings(&record, &record.cases[0], warnings), 3);
    assert_string_equal(warnings[0].text, "noisy: 31 %");
    assert_int_equal(warnings[0].processes, 2);
    assert_string_equal(warnings[1].text, "one");
    assert_int_equal(warnings[1].processes, 1);
    assert_string_equal(warnings[2].text, "two");
    assert_int_equal(xb_record_warnings(&record, &record.cases[1], warnings), 0);
    xb_record_free(&record);
}

static void refuses_warnings_that_are_none(void **state)
{
    static const char *const values[] = {"null",
                                         "\"noisy\"",
                                         "{}",
                                         "[1]",
                                         "[\"\"]",
                                         "[\"a\",null]",
                                         "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "results[2].warnings", values[i]);
        refuse_tree(tree, "results[2].warnings: ");
    }
    cJSON *tree = result_tree();
    put(tree, "results[0].stop_reason", "1");
    refuse_tree(tree, "results[0].stop_reason: must be a text");
}

static void refuses_files_of_processes_that_are_wrong(void **state)
{
    static const char *const rows[][3] = {
        {"asked", NULL, "asked: is missing"},
        {"asked", "0", "asked: must be a whole number from 1 to 100"},
        {"asked", "101", "asked: must be a whole number from 1 to 100"},
        {"asked", "1.5", "asked: must be"},
        {"asked", "1", "processes: are more than the 1 asked for"},
        {"processes", NULL, "processes: is missing"},
        {"processes", "{}", "processes: must be an array"},
        {"processes", "[]", "processes: must be 1 to 100"},
        {"processes", "[{\"document\":null},{\"document\":null}]", "none of them has results"},
        {"processes[1]", "1", "processes[1]: must be an object"},
        {"processes[1].document", NULL, "processes[1].document: is missing"},
        {"processes[1].document", "[]", "processes[1].document: is not a result file of xferbench"},
        {"schema_version", NULL, "schema_version: is missing"},
        {"schema_version", "2", "schema_version: 2 was written by a newer xferbench"},
        {"schema_version", "0", "schema_version: must be a whole number from 1"},
        {"schema", "\"xferbench.process\"", "schema: \"xferbench.process\" is not"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *documents[] = {result_tree(), result_tree()};
        cJSON *tree = merge(2, 2, documents);
        put(tree, rows[i][0], rows[i][1]);
        refuse_tree(tree, rows[i][2]);
    }
    cJSON *documents[101] = {result_tree()};
    refuse_tree(merge(100, 101, documents), "processes: must be 1 to 100");
    documents[0] = result_tree();
    struct xb_record record = read_tree(merge(100, 100, documents));
    assert_int_equal(record.process_count, 100);
    xb_record_free(&record);
}

/* ---- one value that is wrong ---- */

enum kind {
    TEXT,         /* not empty */
    TEXT_OR_NONE, /* the same, null or not there */
    FLAG,         /* true or false */
    FLAG_OR_NULL, /* or null, but there */
    WHOLE,        /* above 0 */
    INDEX,        /* from 0, or null */
    FROM_ZERO,    /* from 0 */
    NUMBER,       /* above 0 */
    OBJECT,       /* there */
    OBJECT_OR_NONE /* null or not there */,
    LINK, /* an object or null, but there */
    ARRAY,
    KINDS
};

/* What is wrong for each kind; "" takes the key away. */
#define MOST_BAD 16
static const char *const bad_values[KINDS][MOST_BAD] = {
    [TEXT] = {"", "null", "1", "true", "\"\"", "[]", "{}", "[\"pinned\"]"},
    [TEXT_OR_NONE] = {"1", "true", "\"\"", "[]", "{}"},
    [FLAG] = {"", "null", "1", "0", "\"true\"", "[]", "{}"},
    [FLAG_OR_NULL] = {"", "1", "0", "\"true\"", "[]", "{}"},
    [WHOLE] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-1", "0.5", "1.5", "1e300",
               "-1e300"},
    [INDEX] = {"", "\"1\"", "true", "[]", "{}", "-1", "0.5", "1024", "1e300", "-1e300"},
    [FROM_ZERO] = {"", "null", "\"1\"", "true", "[]", "{}", "-1", "0.5", "64", "1e300"},
    [NUMBER] = {"", "null", "\"1\"", "true", "[]", "[1]", "{}", "0", "-0.0", "-1", "1e300",
                "-1e300"},
    [OBJECT] = {"", "null", "1", "\"x\"", "[]", "[{}]", "true"},
    [OBJECT_OR_NONE] = {"1", "\"x\"", "[]", "[{}]", "true"},
    [LINK] = {"", "1", "\"x\"", "[]", "[{}]", "true"},
    [ARRAY] = {"", "null", "1", "\"x\"", "{}", "true"},
};

static const struct {
    const char *where;
    enum kind kind;
    const char *also; /* wrong as well; NULL for none */
} fields[] = {
    {"schema", TEXT, "\"xferbench.link\""},
    {"schema_version", WHOLE, "2"},
    {"interrupted", FLAG, NULL},
    {"deadline_met", FLAG_OR_NULL, NULL},
    {"tool", OBJECT_OR_NONE, NULL},
    {"host", OBJECT_OR_NONE, NULL},
    {"environment", OBJECT_OR_NONE, NULL},
    {"backend", OBJECT, NULL},
    {"backend.name", TEXT, NULL},
    {"backend.driver_version", TEXT_OR_NONE, NULL},
    {"config", OBJECT, NULL},
    {"devices", ARRAY, "[]"},
    {"devices[0].index", FROM_ZERO, NULL},
    {"devices[1].index", FROM_ZERO, "0"},
    {"devices[1].name", TEXT, NULL},
    {"devices[0].link", LINK, NULL},
    {"devices[0].link.speed_gts", NUMBER, "1025"},
    {"devices[0].link.width", WHOLE, "65"},
    {"devices[0].facts", OBJECT_OR_NONE, NULL},
    {"devices[0].numa", OBJECT_OR_NONE, NULL},
    {"results", ARRAY, NULL},
    {"results[0].mode", TEXT, NULL},
    {"results[0].variant", TEXT, NULL},
    {"results[0].direction", TEXT, NULL},
    {"results[2].mode", TEXT, NULL},
    {"results[0].bytes", WHOLE, "9007199254740994"},
    {"results[0].device", INDEX, NULL},
    {"results[0].peer", INDEX, NULL},
    {"results[3].peer", INDEX, NULL},
    {"results[0].latency", FLAG, NULL},
    {"results[0].simultaneous", FLAG, NULL},
    {"results[0].status", TEXT, "\"fine\""},
    {"results[2].status", TEXT, "\"OK\""},
    {"results[0].verified", FLAG_OR_NULL, "null"},
    {"results[0].verified", FLAG_OR_NULL, "false"},
    {"results[2].verified", FLAG_OR_NULL, NULL},
    {"results[0].reason", TEXT_OR_NONE, NULL},
    {"results[2].reason", TEXT_OR_NONE, NULL},
    {"results[0].timer", TEXT, NULL},
    {"results[1].timer", TEXT, NULL},
    {"results[0].bytes_moved", WHOLE, "9007199254740994"},
    {"results[0].samples_s", ARRAY, "[]"},
    {"results[1].samples_s", ARRAY, "[]"},
    {"results[0].bandwidth_bytes_per_second", OBJECT, NULL},
    {"results[0].bandwidth_bytes_per_second.median", NUMBER, "1.1e15"},
    {"results[0].bandwidth_bytes_per_second.ci95_low", NUMBER, "1.1e15"},
    {"results[0].bandwidth_bytes_per_second.ci95_high", NUMBER, "1.1e15"},
    {"results[1].latency_s", OBJECT, NULL},
    {"results[1].latency_s.host", LINK, NULL},
    {"results[1].latency_s.device", LINK, NULL},
    {"results[1].latency_s.host.p50", NUMBER, "1.1e6"},
    {"results[1].latency_s.device.p50", NUMBER, "1.1e6"},
};

static void refuse_value(const char *where, const char *value)
{
    char expected[160];
    cJSON *tree = result_tree();
    print_message("%s = %s\n", where, value);
    put(tree, where, *value != '\0' ? value : NULL);
    snprintf(expected, sizeof expected, PATH ": %s: ", where);
    refuse_tree(tree, expected);
}

static void refuses_every_value_that_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *const *values = bad_values[fields[i].kind];
        for (size_t k = 0; k < MOST_BAD && values[k] != NULL; k++)
            refuse_value(fields[i].where, values[k]);
        if (fields[i].also != NULL)
            refuse_value(fields[i].where, fields[i].also);
    }
}

/* Numbers that no double holds, and words for them that JSON does not have, wherever they stand. */
static void refuses_numbers_that_are_none(void **state)
{
    static const char *const words[] = {"NaN",  "nan",  "Infinity", "-Infinity", "inf",
                                        "0x10", "+1",   ".5",       "1e",        "1.2.3",
                                        "--1",  "1,,2", "True",     "'1'",       "undefined"};
    static const char *const places[] = {"schema_version", "results[0].samples_s[2]",
                                         "results[0].bandwidth_bytes_per_second.median",
                                         "host.logical_cpus", "config.chunk"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            cJSON *tree = result_tree();
            put(tree, places[i], words[k]);
            refuse_tree(tree, ": line 1, column ");
        }
        char expected[160];
        snprintf(expected, sizeof expected, PATH ": %s: the number is too large to hold",
                 places[i]);
        for (int negative = 0; negative < 2; negative++) {
            cJSON *tree = result_tree();
            put(tree, places[i], negative ? "-1e999" : "1e999");
            refuse_tree(tree, expected);
        }
    }
}

/* ---- figures that contradict each other ---- */

static void refuses_rows_that_contradict_themselves(void **state)
{
    static const char *const rows[][3] = {
        {"results[0].bandwidth_bytes_per_second.median", "1000.01", "samples_s: these samples do"},
        {"results[0].bandwidth_bytes_per_second.median", "999.99", "samples_s: these samples do"},
        {"results[0].bytes_moved", "2001", "results[0].samples_s: these samples do not give"},
        {"results[0].samples_s[5]", "1.9", "the median 1000 B/s that stands beside them"},
        {"results[0].samples_s[5]", "-8", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "0", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "null", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "\"8\"", "results[0].samples_s: these"},
        {"results[0].samples_s[5]", "1.1e6", "results[0].samples_s: these"},
        {"results[0].bandwidth_bytes_per_second.ci95_low", "1001",
         "results[0].bandwidth_bytes_per_second: the median is not within its interval"},
        {"results[0].bandwidth_bytes_per_second.ci95_high", "999", "not within its interval"},
        {"results[1].latency_s.device.p50", "0.26", "results[1].samples_s: these samples do not"},
        {"results[1].samples_s[1]", "0.3", "the median 0.25 s that stands beside them"},
        {"results[1].latency_s.host", "null", "has no percentiles by the host's clock"},
        {"results[2].status", "\"ok\"", "results[2].verified: is not true in a row that is ok"},
        {"devices[1].index", "0", "devices[1].index: is that of devices[0] too"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *tree = result_tree();
        print_message("%s = %s\n", rows[i][0], rows[i][1]);
        put(tree, rows[i][0], rows[i][1]);
        refuse_tree(tree, rows[i][2]);
    }
}

/* ---- what is no such file at all ---- */

static void refuses_what_is_not_ours(void **state)
{
    static const char *const rows[][2] = {
        {"", "line 1, column 1: the file ends here: it was cut, or is empty"},
        {" \n\n ", "the file ends here"},
        {"null", "is not a result file of xferbench"},
        {"5", "is not a result file of xferbench"},
        {"\"xferbench.result\"", "is not a result file of xferbench"},
        {"[{\"schema\":\"xferbench.result\"}]", "is not a result file of xferbench"},
        {"{}", "schema: is missing: this is not a result file of xferbench"},
        {"{\"schema\":1}", "schema: is missing"},
        {"{\"Schema\":\"xferbench.result\"}", "schema: is missing"},
        {"{\"schema\":\"other\"}", "schema: \"other\" is not \"xferbench.result\""},
        {"{\"schema\":\"xferbench.result\"}", "schema_version: is missing"},
        {"{\"schema\":\"xferbench.result\",\"schema_version\":7}",
         "schema_version: 7 was written by a newer xferbench than this one, which reads 1"},
        {"{\"schema\":\"xferbench.result\",\"schema\":\"xferbench.result\"}",
         "schema: is there twice"},
        {"{\"schema\":\"x\",\"sch\\u0065ma\":\"y\"}", "schema: is there twice"},
        {"{\"a\":[1,{\"b\":1,\"c\":2,\"b\":3}]}", "a[1].b: is there twice"},
        {"{\"\":1,\"\":1}", "is there twice"},
        {"\n{\n  \"a\": x\n}", "line 3, column 8: this is not JSON"},
        {"{\"a\":1}}", "line 1, column 8: this is not JSON"},
        {"{\"a\":1} // c", "line 1, column 9: this is not JSON"},
        {"{'a':1}", "line 1, column 3: this is not JSON"},
        {"{\"a\":\"\\u0000\"}", "line 1, column 7: a character is NUL"},
        {"{\"a\\u0000\":1}", "line 1, column 4: a character is NUL"},
        {"{\"a\":\"\x1b[2J\"}", "line 1, column 7: a control character within a text"},
        {"{\"a\":\"b\nc\"}", "line 1, column 8: a control character within a text"},
        {"{\"a\":\"\\ud800\"}", "line 1, column 7: this is not JSON"},
        {"{\"a\":\"\\x\"}", "this is not JSON"},
        {"{\"a\":\"\\", "line 1, column 6: this text does not end"},
        {"{\"a\":\"b\\\"", "line 1, column 6: this text does not end"},
        {"{\"schema\":\"\\u001b]0;x\\u0007\\u00e4\"}", "schema: \"?]0;x???\" is not"},
        {"{\"k\\u001b[2J\":1e999}", "k?[2J: the number is too large to hold"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s\n", rows[i][0]);
        refuse_text(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    }
    refuse_text("{\"a\":1}\0", 8, "line 1, column 8: a character is NUL: this is no text");
    refuse_text("{\n\"a\0\":1}", 9, "line 2, column 3: a character is NUL: this is no text");
}

/* An escaped backslash before "u0000" is no NUL. */
static void takes_texts_that_look_wrong(void **state)
{
    (void)state;
    cJSON *tree = result_tree();
    put(tree, "host.hostname", "\"a\\\\u0000[[[[{{{{\\\"]\\\\\"");
    put(tree, "host.kernel", "\"\\t\\u00e4\\ud83d\\ude00\"");
    struct xb_record record = read_tree(tree);
    assert_fact(record.facts, record.fact_count, "hostname", "a\\u0000[[[[{{{{\"]\\");
    assert_fact(record.facts, record.fact_count, "kernel", "\t\xc3\xa4\xf0\x9f\x98\x80");
    xb_record_free(&record);
}

/* Cut at every byte but the last. */
static void refuses_every_beginning(void **state)
{
    (void)state;
    for (size_t length = 0; length + 1 < sizeof result_text; length++) {
        char *text = malloc(length + 1);
        assert_non_null(text);
        memcpy(text, result_text, length);
        text[length] = '\0';
        refuse_text(text, length, ": line 1, column ");
        free(text);
    }
}

/* ---- much of something ---- */

/* `count` times `piece`, between two others. */
static char *repeated(const char *begin, const char *piece, size_t count, const char *end,
                      size_t *length)
{
    size_t step = strlen(piece);
    *length = strlen(begin) + count * step + strlen(end);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    char *at = stpcpy(text, begin);
    for (size_t i = 0; i < count; i++, at += step)
        memcpy(at, piece, step);
    memcpy(at, end, strlen(end) + 1);
    return text;
}

static void refuses_too_much(void **state)
{
    static const struct {
        const char *begin, *piece;
        size_t count;
        const char *end, *expected;
    } rows[] = {
        {"", "[", 10000, "", "line 1, column 33: nested deeper than 32 levels"},
        {"", "[", 33, "]", "line 1, column 33: nested deeper than 32 levels"},
        {"", "[", 32, "", "the file ends here"},
        {"", "{\"a\":", 10000, "", "nested deeper than 32 levels"},
        {"\n", "[{\"a\":", 10000, "", "line 2, column 97: nested deeper than 32 levels"},
        {"", "]", 100000, "", "line 1, column 1: this is not JSON"},
        {"[1", ",1", 4194304, "]", "more than 4194304 values"},
        {"[1", ",1", 4194303, "]", "is not a result file of xferbench"},
        {"{\"a\":\"", "x", 60 << 20, "\"}", "schema: is missing"},
        {"{\"a\":\"", "x", 60 << 20, "", "column 6: this text does not end: the file was cut"},
        {"{\"", "x", 20 << 20, "\":1e999}", "xxx: the number is too large to hold"},
        {"", "\n", 1 << 20, "x", "line 1048577, column 1: this is not JSON"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = 0;
        char *text = repeated(rows[i].begin, rows[i].piece, rows[i].count, rows[i].end, &length);
        print_message("%.20s %zu times\n", rows[i].piece, rows[i].count);
        refuse_text(text, length, rows[i].expected);
        free(text);
    }
}

/* An object with `count` keys that differ, or an array of `count` such objects. */
static cJSON *many(size_t count, bool array, const char *item)
{
    cJSON *made = array ? cJSON_CreateArray() : cJSON_CreateObject();
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        assert_true(asprintf(&text, item, i) > 0);
        if (array) {
            cJSON_AddItemToArray(made, cJSON_CreateRaw(text));
        } else {
            char key[32];
            snprintf(key, sizeof key, "k%zu", i);
            cJSON_AddItemToObject(made, key, cJSON_CreateRaw(text));
        }
        free(text);
    }
    return made;
}

static void bounds_lists(void **state)
{
    static const struct {
        const char *where;
        size_t most;
        bool array;
        const char *item;
    } rows[] = {
        {"config", 512, false, "1"},
        {"environment", 1024, false, "\"x\""},
        {"devices[0].facts", 64, false, "1"},
        {"devices", 64, true, "{\"index\":%zu,\"name\":\"a\",\"link\":null}"},
        {"results", 10000, true,
         "{\"mode\":\"a\",\"variant\":\"b\",\"direction\":\"h2d\",\"bytes\":1%zu,\"device\":0,"
         "\"peer\":null,\"latency\":false,\"simultaneous\":false,\"status\":\"skipped\","
         "\"verified\":null}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t more = 0; more < 2; more++) {
            cJSON *tree = result_tree();
            cJSON *list = many(rows[i].most + more, rows[i].array, rows[i].item);
            char *text = cJSON_PrintUnformatted(list);
            char expected[64];
            put(tree, rows[i].where, text);
            cJSON_free(text);
            cJSON_Delete(list);
            snprintf(expected, sizeof expected, PATH ": %s: ", rows[i].where);
            if (more == 1) {
                refuse_tree(tree, expected);
                continue;
            }
            struct xb_record record = read_tree(tree);
            xb_record_free(&record);
        }
}

/* Every case takes a row of every process: 100 times 10000 that differ would take gigabytes. */
static void bounds_cases_of_all_processes(void **state)
{
    (void)state;
    cJSON *documents[3];
    for (size_t i = 0; i < 3; i++) {
        char item[256];
        documents[i] = result_tree();
        snprintf(item, sizeof item,
                 "{\"mode\":\"a%zu\",\"variant\":\"b\",\"direction\":\"h2d\",\"bytes\":1%%zu,"
                 "\"device\":0,\"peer\":null,\"latency\":false,\"simultaneous\":false,"
                 "\"status\":\"skipped\",\"verified\":null}",
                 i);
        cJSON *list = many(i == 2 ? 1 : 5000, true, item);
        cJSON_ReplaceItemInObject(documents[i], "results", list);
    }
    cJSON *less = merge(
        3, 2,
        (cJSON *[]){cJSON_Duplicate(documents[0], true), cJSON_Duplicate(documents[1], true)});
    struct xb_record record = read_tree(less);
    assert_int_equal(record.case_count, 10000);
    xb_record_free(&record);
    refuse_tree(merge(3, 3, documents), "processes: have more than 10000 cases in all");
}

static void cuts_places_that_are_long(void **state)
{
    char key[200];
    char text[32 * sizeof key];
    size_t length = 0;
    (void)state;
    memset(key, 'k', sizeof key);
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "{\"%.*s\":", (int)sizeof key, key);
    length += (size_t)sprintf(text + length, "1e999");
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "}");
    refuse_text(text, length, "kkk.kkk");
    refuse_text(text, length, ": the number is too large to hold");
}

/* ---- no memory ---- */

static void *hooked_malloc(size_t size)
{
    return __wrap_malloc(size);
}

/* Whichever allocation fails: the reader says so, and the sanitizer finds nothing left. */
static void survives_having_no_memory(void **state)
{
    cJSON_Hooks hooks = {hooked_malloc, free};
    struct xb_error error;
    struct xb_record record;
    enum xb_status status = XB_ERR_MEMORY;
    (void)state;
    cJSON *documents[] = {result_tree(), result_tree()};
    cJSON *tree = merge(2, 2, documents);
    char *text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    size_t length = strlen(text);
    cJSON_InitHooks(&hooks);
    size_t which = 1;
    for (; status != XB_OK; which++) {
        memset(&error, 0, sizeof error);
        allocations = 0;
        failing = which;
        status = xb_record_parse(PATH, text, length, &record, &error);
        failing = 0;
        if (status == XB_OK)
            break;
        assert_int_equal(status, XB_ERR_MEMORY);
        assert_non_null(strstr(error.message, "no memory"));
        assert_non_null(strstr(error.message, PATH));
        assert_null(record.tree);
    }
    assert_true(which > 500); /* the tree alone has as many */
    xb_record_free(&record);
    cJSON_InitHooks(NULL);
    cJSON_free(text);
}

/* ---- files ---- */

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of what the file has, not as the reader computes it. */
static double median_rate(const cJSON *row)
{
    static double rates[65536];
    const cJSON *sample;
    size_t n = 0;
    double bytes = cJSON_GetObjectItem(row, "bytes_moved")->valuedouble;
    cJSON_ArrayForEach(sample, cJSON_GetObjectItem(row, "samples_s"))
    {
        assert_true(n < sizeof rates / sizeof rates[0]);
        rates[n++] = bytes / sample->valuedouble;
    }
    qsort(rates, n, sizeof rates[0], by_value);
    return (rates[(n - 1) / 2] + rates[n / 2]) / 2.0;
}

static int index_of(const cJSON *row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(row, key);
    return cJSON_IsNull(item) ? -1 : item->valueint;
}

static struct xb_record_case case_of(const cJSON *row)
{
    return (struct xb_record_case){
        .mode = cJSON_GetObjectItem(row, "mode")->valuestring,
        .variant = cJSON_GetObjectItem(row, "variant")->valuestring,
        .direction = cJSON_GetObjectItem(row, "direction")->valuestring,
        .bytes = (uint64_t)cJSON_GetObjectItem(row, "bytes")->valuedouble,
        .device = index_of(row, "device"),
        .peer = index_of(row, "peer"),
        .latency = cJSON_IsTrue(cJSON_GetObjectItem(row, "latency")),
        .simultaneous = cJSON_IsTrue(cJSON_GetObjectItem(row, "simultaneous"))};
}

static void check_row(const struct xb_record *record, size_t process, const cJSON *row)
{
    struct xb_record_case named = case_of(row);
    const struct xb_record_case *test = xb_record_find(record, &named);
    assert_non_null(test);
    const struct xb_record_row *read = &test->rows[process];
    bool ok = strcmp(cJSON_GetObjectItem(row, "status")->valuestring, "ok") == 0;
    assert_true(read->is_there);
    assert_int_equal(read->status == XB_RESULT_OK, ok);
    if (ok && named.latency) {
        const cJSON *host = cJSON_GetObjectItem(cJSON_GetObjectItem(row, "latency_s"), "host");
        assert_figure(read->values[XB_METRIC_HOST_LATENCY].median,
                      cJSON_GetObjectItem(host, "p50")->valuedouble);
    } else if (ok) {
        assert_figure(read->values[XB_METRIC_BANDWIDTH].median, median_rate(row));
    }
}

/* `document` may be null: of a process that failed. */
static void check_process(const struct xb_record *record, size_t process, const cJSON *document)
{
    const cJSON *row;
    int there = 0;
    for (size_t i = 0; i < record->case_count; i++)
        there += record->cases[i].rows[process].is_there;
    assert_int_equal(there, cJSON_GetArraySize(cJSON_GetObjectItem(document, "results")));
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(document, "results"))
        check_row(record, process, row);
}

static void check_record(const struct xb_record *record, const cJSON *tree)
{
    const cJSON *members = cJSON_GetObjectItem(tree, "processes");
    size_t count = members != NULL ? (size_t)cJSON_GetArraySize(members) : 1;
    assert_int_equal(record->process_count, count);
    for (size_t i = 0; i < count; i++)
        check_process(record, i,
                      members != NULL
                          ? cJSON_GetObjectItem(cJSON_GetArrayItem(members, (int)i), "document")
                          : tree);
}

/* Not of bench/hold_depth.c, nor of `xferbench link`. */
static bool is_ours(const cJSON *tree)
{
    const cJSON *schema = cJSON_GetObjectItem(tree, "schema");
    return schema != NULL && (strcmp(schema->valuestring, "xferbench.result") == 0 ||
                              strcmp(schema->valuestring, "xferbench.processes") == 0);
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

static void check_file(const char *path)
{
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    char *text = file_text(path);
    cJSON *tree = cJSON_Parse(text);
    print_message("%s\n", path);
    enum xb_status status = xb_record_read(path, &record, &error);
    if (is_ours(tree)) {
        if (status != XB_OK)
            fail_msg("%s", error.message);
        assert_string_equal(record.path, path);
        check_record(&record, tree);
        xb_record_free(&record);
    } else {
        assert_int_equal(status, XB_ERR_USAGE);
        assert_non_null(strstr(error.message, "this is not a result file of xferbench"));
    }
    cJSON_Delete(tree);
    free(text);
}

/* RESULTS is bench/results. */
static void reads_what_was_measured(void **state)
{
    glob_t found;
    (void)state;
    assert_int_equal(glob(RESULTS "/*/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

static void names_the_file_that_cannot_be_read(void **state)
{
    struct xb_record record = {.case_count = 0};
    struct xb_error error;
    (void)state;
    assert_int_equal(xb_record_read(RESULTS "/none.json", &record, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, RESULTS "/none.json: "));
    assert_int_equal(xb_record_read(RESULTS, &record, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, RESULTS ": is a directory"));
    assert_int_equal(xb_record_read("/dev/null", &record, &error), XB_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_conditions),
        cmocka_unit_test(reads_devices_and_how_it_ended),
        cmocka_unit_test(reads_rows),
        cmocka_unit_test(names_what_it_has),
        cmocka_unit_test(takes_what_is_allowed),
        cmocka_unit_test(tells_cases_by_every_key),
        cmocka_unit_test(refuses_a_case_twice),
        cmocka_unit_test(reads_processes),
        cmocka_unit_test(reads_how_a_process_ended),
        cmocka_unit_test(brings_rows_of_processes_together),
        cmocka_unit_test(refuses_processes_that_do_not_belong_together),
        cmocka_unit_test(tells_what_differs_shortly),
        cmocka_unit_test(leaves_out_rows_that_were_cut_short),
        cmocka_unit_test(names_all_processes_that_were_cut_short),
        cmocka_unit_test(groups_warnings),
        cmocka_unit_test(refuses_warnings_that_are_none),
        cmocka_unit_test(refuses_files_of_processes_that_are_wrong),
        cmocka_unit_test(refuses_every_value_that_is_wrong),
        cmocka_unit_test(refuses_numbers_that_are_none),
        cmocka_unit_test(refuses_rows_that_contradict_themselves),
        cmocka_unit_test(refuses_what_is_not_ours),
        cmocka_unit_test(takes_texts_that_look_wrong),
        cmocka_unit_test(refuses_every_beginning),
        cmocka_unit_test(refuses_too_much),
        cmocka_unit_test(bounds_lists),
        cmocka_unit_test(bounds_cases_of_all_processes),
        cmocka_unit_test(cuts_places_that_are_long),
        cmocka_unit_test(survives_having_no_memory),
        cmocka_unit_test(reads_what_was_measured),
        cmocka_unit_test(names_the_file_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
