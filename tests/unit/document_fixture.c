/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- documents ---- */

#define HEAD                                                                                       \
    "{\"schema\":\"xferbench.result\",\"schema_version\":2,\"interrupted\":false,"                 \
    "\"deadline_met\":true,\"timestamp\":\"2026-01-02T03:04:05Z\","                                \
    "\"tool\":{\"name\":\"xferbench\",\"version\":\"0.1.0\",\"compiler\":\"GNU\","                 \
    "\"build_type\":\"Release\"},"                                                                 \
    "\"host\":{\"hostname\":\"node1\",\"os\":null,\"kernel\":\"Linux\",\"cpu_model\":\"CPU\","     \
    "\"logical_cpus\":8,\"memory_bytes\":270334357504,\"numa_nodes\":2,"                           \
    "\"node\":\"gpu007\",\"node_named_by\":\"SLURMD_NODENAME\"},"                                  \
    "\"start\":{\"asked\":\"2026-01-02T03:04:05.000000Z\",\"by\":\"start-at\","                    \
    "\"began\":\"2026-01-02T03:04:05.250000Z\",\"late_s\":0.25,"                                   \
    "\"clock\":{\"synchronised\":false,\"error_s\":16}},"                                          \
    "\"launcher\":{\"rank\":2,\"ranks\":4,\"named_by\":\"SLURM_PROCID\"},"                         \
    "\"backend\":{\"name\":\"hip\",\"runtime_version\":\"6.1\",\"driver_version\":\"580.1\","      \
    "\"runtime_library\":null,\"runtime_override\":null},"                                         \
    "\"devices\":[{\"index\":0,\"name\":\"GPU A\",\"uuid\":\"U0\",\"architecture\":\"sm_90\","     \
    "\"pci_bdf\":\"0000:01:00.0\",\"memory_bytes\":1024,\"driver\":\"580.1\","                     \
    "\"shares_host_memory\":true,"                                                                 \
    "\"link\":{\"speed_gts\":32,\"width\":16,\"max_speed_gts\":64,\"max_width\":8,"                \
    "\"port\":\"0000:00:01.0\",\"read\":\"while data moved\","                                     \
    "\"ceiling\":{\"at\":\"0000:00:00.0\",\"speed_gts\":16,\"width\":8,\"payload_bytes\":256,"     \
    "\"read_request_bytes\":4096,\"h2d_bytes_per_second\":1.5e10,"                                 \
    "\"d2h_bytes_per_second\":1.25e10}},"                                                          \
    "\"numa\":{\"node\":1,\"bound\":true,\"as_expected\":false,\"cpus\":4,\"note\":\"a note\"},"   \
    "\"facts\":{\"xnack\":\"on\",\"integrated\":\"yes: an APU\",\"engines\":2}},"                  \
    "{\"index\":3,\"name\":\"GPU B\",\"uuid\":null,\"architecture\":null,\"pci_bdf\":null,"        \
    "\"memory_bytes\":0,\"shares_host_memory\":true,\"driver\":null,\"link\":null,"                \
    "\"numa\":{\"node\":null,\"bound\":false,\"as_expected\":true,\"cpus\":0,\"note\":null},"      \
    "\"facts\":{}}],"                                                                              \
    "\"environment\":{\"CUDA_HOME\":\"/usr\",\"HIP_EMPTY\":\"\"},"                                 \
    "\"config\":{\"mode\":[\"pinned\",\"peer\"],\"chunk\":8388608,\"deadline\":2.5,"               \
    "\"quiet\":true,\"samples\":null,\"backend\":\"hip\"},\"results\":["
#define ROW(mode, variant, latency, parameters)                                                    \
    "{\"mode\":\"" mode "\",\"variant\":\"" variant "\",\"direction\":\"h2d\",\"bytes\":1000,"     \
    "\"device\":0,\"peer\":null,\"latency\":" latency ",\"simultaneous\":false,"                   \
    "\"parameters\":" parameters ","
#define OK(bytes, samples, placements)                                                             \
    "\"status\":\"ok\",\"reason\":null,\"error\":null,\"verified\":true,"                          \
    "\"timer\":\"device-event\",\"stop_reason\":\"converged\",\"bytes_moved\":" bytes ","          \
    "\"samples_s\":" samples ",\"placements\":" placements ",\"figures\":["
#define SPREAD(low, high, min, max, p5, p95, p99, mad)                                             \
    "\"ci95_low\":" low ",\"ci95_high\":" high ",\"min\":" min ",\"max\":" max ",\"p5\":" p5       \
    ",\"p95\":" p95 ",\"p99\":" p99 ",\"mad\":" mad
#define UNKNOWN SPREAD("null", "null", "null", "null", "null", "null", "null", "null")
#define FIRST(name, unit, more, gates, median, spread, n, samples)                                 \
    "{\"name\":\"" name "\",\"unit\":\"" unit "\",\"more_is_better\":" more ",\"gates\":" gates    \
    ",\"median\":" median "," spread ",\"n\":" n ",\"samples\":" samples "}"
#define NEXT(name, unit, more, gates, median, spread, n, samples)                                  \
    "," FIRST(name, unit, more, gates, median, spread, n, samples)
#define COMPUTED(name, unit, more, median)                                                         \
    NEXT(name, unit, more, "false", median, UNKNOWN, "0", "[]")

/* Both ways at once, so that it has everything. */
#define COPY                                                                                       \
    ROW("pinned", "registered", "false", "{}")                                                     \
    OK("2000", "[4,1,2,2,1,8]", "[1,1,1,1,1,1]")                                                   \
    FIRST("bandwidth", "B/s", "true", "true", "1000",                                              \
          SPREAD("250", "2000", "250", "2000", "312.5", "2000", "2000", "625"), "6",               \
          "[500,2000,1000,1000,2000,250]")                                                         \
    NEXT("submit_time", "s", "false", "false", "0.5", UNKNOWN, "6", "[]")                          \
    NEXT("wall_time", "s", "false", "false", "3.5",                                                \
         SPREAD("1", "6", "1", "6", "1.25", "5.75", "5.95", "1.5"), "6", "[6,2,3,4,5,1]")          \
    NEXT("bandwidth_h2d", "B/s", "true", "false", "500",                                           \
         SPREAD("125", "1000", "125", "1000", "156.25", "1000", "1000", "312.5"), "6",             \
         "[250,1000,500,500,1000,125]")                                                            \
    COMPUTED("overlap", "1", "true", "0.75")                                                       \
    COMPUTED("share_of_alone", "1", "true", "0.5")                                                 \
    COMPUTED("setup_time", "s", "false", "0.125")                                                  \
    "],\"warnings\":[\"one\",\"two\"],\"details\":{\"held\":\"no\",\"warm_up_samples\":3}},"
/* Single operations. */
#define LATENCY                                                                                    \
    ROW("pinned", "registered", "true", "{}")                                                      \
    OK("1000", "[0.5,0.25,0.125]", "null")                                                         \
    FIRST("latency_host", "s", "false", "true", "0.75",                                            \
          SPREAD("null", "null", "0.25", "2", "null", "1.5", "1.75", "null"), "3", "[]")           \
    NEXT("latency_device", "s", "false", "true", "0.25",                                           \
         SPREAD("null", "null", "0.125", "0.5", "0.1375", "0.475", "0.495", "0.125"), "3",         \
         "[0.5,0.25,0.125]")                                                                       \
    NEXT("submit_time", "s", "false", "false", "0.5", UNKNOWN, "3", "[]")                          \
    "],\"warnings\":[],\"details\":{}},"
#define SKIPPED                                                                                    \
    ROW("peer", "staged", "false", "{\"chunk\":8388608}")                                          \
    "\"status\":\"skipped\",\"reason\":\"one device\",\"error\":null,\"verified\":null,"           \
    "\"timer\":null,\"bytes_moved\":null,\"samples_s\":[],\"placements\":null,\"figures\":[],"     \
    "\"stop_reason\":null,\"warnings\":[],\"details\":{}},"
#define FAILED                                                                                     \
    ROW("managed", "registered", "false", "{}")                                                    \
    "\"status\":\"error\",\"reason\":\"wrong\",\"verified\":false,\"timer\":\"host-clock\","       \
    "\"error\":{\"status\":\"runtime\",\"native_code\":-7,\"native_name\":\"HIP_SEVEN\","          \
    "\"call\":\"hipMemcpy\",\"message\":\"it failed\",\"at\":\"src/a.c:12\"},"                     \
    "\"bytes_moved\":1000,\"samples_s\":[0.5],\"placements\":null,\"figures\":[],"                 \
    "\"stop_reason\":\"fixed\",\"warnings\":[\"w\"],\"details\":{\"held\":null}}"

const char result_text[] = HEAD COPY LATENCY SKIPPED FAILED "]}";

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
    char figure[300];
    cJSON *tree = result_tree();
    snprintf(figure, sizeof figure,
             FIRST("bandwidth", "B/s", "true", "true", "%s", UNKNOWN, "6", "[]"), median);
    put(tree, "results[0].figures[0]", figure);
    return tree;
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
    if (item != NULL && value != NULL && parent != NULL &&
        cJSON_IsObject(parent)) { /* it has lost its key */
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

void assert_figure(double is, double should)
{
    if (isnan(should) ? !isnan(is) : isnan(is))
        fail_msg("%.17g is not %.17g", is, should);
    if (fabs(is - should) > 1e-9 * fabs(should))
        fail_msg("%.17g is not %.17g", is, should);
}

static void assert_same_if_known(double is, double should)
{
    if (!isnan(should))
        assert_figure(is, should);
}

void assert_same_figure(const struct xb_record_figure *is, const struct xb_record_figure *should)
{
    const struct xb_statistics *a = &is->statistics;
    const struct xb_statistics *b = &should->statistics;
    print_message("%s\n", should->name);
    assert_string_equal(is->name, should->name);
    assert_string_equal(is->unit, should->unit);
    assert_int_equal(is->more_is_better, should->more_is_better);
    assert_int_equal(is->gates, should->gates);
    assert_int_equal(a->n, b->n);
    assert_figure(a->median, b->median);
    assert_same_if_known(a->ci95_low, b->ci95_low);
    assert_same_if_known(a->ci95_high, b->ci95_high);
    assert_same_if_known(a->min, b->min);
    assert_same_if_known(a->max, b->max);
    assert_same_if_known(a->p5, b->p5);
    assert_same_if_known(a->p95, b->p95);
    assert_same_if_known(a->p99, b->p99);
    assert_same_if_known(a->mad, b->mad);
    if (should->sample_count > 0)
        assert_int_equal(is->sample_count, should->sample_count);
    for (size_t i = 0; i < should->sample_count; i++)
        assert_figure(is->samples[i], should->samples[i]);
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
