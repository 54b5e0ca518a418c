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

/* The same run as files of version 1 and of version 2 have it. */
#define HEAD(version, shares, link, expected)                                                      \
    "{\"schema\":\"xferbench.result\",\"schema_version\":" version ",\"interrupted\":false,"       \
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
    "\"pci_bdf\":\"0000:01:00.0\",\"memory_bytes\":1024,\"driver\":\"580.1\"," shares              \
    "\"link\":{\"speed_gts\":32,\"width\":16,\"max_speed_gts\":64,\"max_width\":8,"                \
    "\"port\":\"0000:00:01.0\"" link "},"                                                          \
    "\"numa\":{\"node\":1,\"bound\":true,\"cpus\":4,\"note\":\"a note\"" expected "},"             \
    "\"facts\":{\"xnack\":\"on\",\"integrated\":\"yes: an APU\",\"engines\":2}},"                  \
    "{\"index\":3,\"name\":\"GPU B\"," shares "\"link\":null,\"numa\":null}],"                     \
    "\"environment\":{\"CUDA_HOME\":\"/usr\",\"HIP_EMPTY\":\"\"},"                                 \
    "\"config\":{\"mode\":[\"pinned\",\"peer\"],\"chunk\":8388608,\"deadline\":2.5,"               \
    "\"quiet\":true,\"samples\":null,\"backend\":\"hip\"},"                                        \
    "\"results\":["
#define CEILING                                                                                    \
    ",\"read\":\"while data moved\",\"ceiling\":{\"at\":\"0000:00:00.0\",\"speed_gts\":16,"        \
    "\"width\":8,\"payload_bytes\":256,\"read_request_bytes\":4096,"                               \
    "\"h2d_bytes_per_second\":1.5e10,\"d2h_bytes_per_second\":1.25e10}"
#define ROW(mode, variant, latency)                                                                \
    "{\"mode\":\"" mode "\",\"variant\":\"" variant "\",\"direction\":\"h2d\",\"bytes\":1000,"     \
    "\"device\":0,\"peer\":null,\"latency\":" latency ",\"simultaneous\":false,"
#define OK                                                                                         \
    "\"status\":\"ok\",\"reason\":null,\"error\":null,\"verified\":true,"                          \
    "\"timer\":\"device-event\",\"stop_reason\":\"converged\","
#define SKIPPED                                                                                    \
    "\"status\":\"skipped\",\"reason\":\"one device\",\"error\":null,\"verified\":null,"           \
    "\"timer\":null,\"bytes_moved\":null,\"samples_s\":[],\"stop_reason\":null,"                   \
    "\"warnings\":[],\"details\":{}"
#define FAILED                                                                                     \
    "\"status\":\"error\",\"reason\":\"wrong\",\"verified\":false,\"timer\":\"host-clock\","       \
    "\"error\":{\"status\":\"runtime\",\"native_code\":-7,\"native_name\":\"HIP_SEVEN\","          \
    "\"call\":\"hipMemcpy\",\"message\":\"it failed\",\"at\":\"src/a.c:12\"},"                     \
    "\"bytes_moved\":1000,\"samples_s\":[0.5],\"stop_reason\":\"fixed\",\"warnings\":[\"w\"]"

const char result_text[] = HEAD("1", "", "", "")
    /* both ways at once, so that it has everything */
    ROW("pinned", "registered", "false") OK
    "\"bytes_moved\":2000,\"samples_s\":[4,1,2,2,1,8],"
    "\"bandwidth_bytes_per_second\":{\"median\":1000,\"ci95_low\":250,\"ci95_high\":2000},"
    "\"latency_s\":null,\"overlap\":0.75,\"share_of_alone\":0.5,"
    "\"parts\":{\"h2d\":{\"bytes\":1000,\"median_s\":2,\"samples_s\":[4,1,2,2,1,8]}},"
    "\"submit_s\":{\"median\":0.5,\"n\":6},\"wall_s\":{\"median\":3.5,\"n\":6},"
    "\"warnings\":[\"one\",\"two\"],"
    "\"details\":{\"setup_s\":0.125,\"held\":\"no\",\"streams\":2,\"warm_up_samples\":3}},"
    /* single operations */
    ROW("pinned", "registered", "true") OK
    "\"bytes_moved\":1000,\"samples_s\":[0.5,0.25,0.125],"
    "\"latency_s\":{\"host\":{\"min\":0.25,\"p50\":0.75,\"p95\":1.5,\"p99\":1.75,\"max\":2,"
    "\"n\":3},\"device\":{\"min\":0.125,\"p50\":0.25,\"p95\":0.475,\"p99\":0.495,\"max\":0.5,"
    "\"n\":3}},\"submit_s\":{\"median\":0.5,\"n\":3},\"wall_s\":{\"median\":0.75,\"n\":3}}," ROW(
        "peer", "staged", "false") SKIPPED "}," ROW("managed", "registered", "false") FAILED
    ",\"details\":{\"held\":null}}]}";

#define KIND(name, unit, more, gates)                                                              \
    "{\"name\":\"" name "\",\"unit\":\"" unit "\",\"more_is_better\":" more ",\"gates\":" gates ","
#define SPREAD(low, high, min, max, p5, p95, p99, mad)                                             \
    "\"ci95_low\":" low ",\"ci95_high\":" high ",\"min\":" min ",\"max\":" max ",\"p5\":" p5       \
    ",\"p95\":" p95 ",\"p99\":" p99 ",\"mad\":" mad ","
#define UNKNOWN SPREAD("null", "null", "null", "null", "null", "null", "null", "null")
#define COMPUTED(name, unit, more, median)                                                         \
    KIND(name, unit, more, "false") UNKNOWN "\"median\":" median ",\"n\":0,\"samples\":[]}"

const char result_2_text[] =
    HEAD("2", "\"shares_host_memory\":true,", CEILING, ",\"as_expected\":false")
        ROW("pinned", "registered", "false") OK
    "\"parameters\":{},\"bytes_moved\":2000,\"samples_s\":[4,1,2,2,1,8],\"placements\":[1,1,1,1,1,"
    "1],\"figures\":"
    "[" KIND("bandwidth", "B/s", "true", "true") "\"median\":1000," SPREAD(
        "250", "2000", "250", "2000", "312.5", "2000", "2000",
        "625") "\"n\":6,\"samples\":[500,2000,1000,1000,2000,250]}," KIND("submit_"
                                                                          "time",
                                                                          "s", "false", "false")
        UNKNOWN "\"median\":0.5,\"n\":6,\"samples\":[]}," KIND("wall_time", "s", "false", "false") "\"median\":3.5," SPREAD("1", "6", "1", "6", "1.25", "5.75", "5.95", "1.5") "\"n\":6,\"samples\":[6,2,3,4,5,1]}," KIND(
            "bandwidth_h2d", "B/s", "true",
            "false") "\"median\":500," SPREAD("125", "1000", "125", "1000", "156.25", "1000",
                                              "1000",
                                              "312.5") "\"n\":6,\"samples\":[250,"
                                                       "1000,500,500,1000,125]}"
                                                       "," COMPUTED("overlap", "1", "true", "0.75") "," COMPUTED(
                                                           "share_of_alone", "1", "true",
                                                           "0.5") "," COMPUTED("setup_time", "s",
                                                                               "false",
                                                                               "0.125") "],"
                                                                                        "\"warnings"
                                                                                        "\":["
                                                                                        "\"one\","
                                                                                        "\"two\"],"
                                                                                        "\"details"
                                                                                        "\":{"
                                                                                        "\"held\":"
                                                                                        "\"no\","
                                                                                        "\"warm_up_"
                                                                                        "samples\":"
                                                                                        "3}}," ROW(
                                                                                            "pinne"
                                                                                            "d",
                                                                                            "regist"
                                                                                            "ered",
                                                                                            "true")
                                                                                            OK
    "\"parameters\":{},\"bytes_moved\":1000,\"samples_s\":[0.5,0.25,0.125],\"figures\":[" KIND(
        "latency_host", "s", "false",
        "true") "\"median\":0.75," SPREAD("null", "null", "0.25", "2", "null", "1.5", "1.75",
                                          "null") "\"n\":3,\"samples\":[]}"
                                                  "," KIND(
                                                      "latency_device", "s", "false",
                                                      "true") "\"median"
                                                              "\":0."
                                                              "25"
                                                              "," SPREAD("null", "null", "0.125",
                                                                         "0.5", "0.1375", "0.475",
                                                                         "0.495",
                                                                         "0.125") "\"n\":3,"
                                                                                  "\"samples\":[0."
                                                                                  "5,0.25,0.125]}"
                                                                                  "," KIND("submit_"
                                                                                           "time",
                                                                                           "s",
                                                                                           "false",
                                                                                           "false")
                                                                                      UNKNOWN
    "\"median\":0.5,\"n\":3,\"samples\":[]}]}," ROW(
        "peer", "staged", "false") "\"parameters\":{\"chunk\":8388608},\"figures\":[]," SKIPPED
                                   "}," ROW("managed", "registered",
                                            "false") "\"parameters\":{},\"figures\":[]," FAILED
                                                     ",\"details\":{\"held\":null}}]}";

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

cJSON *result_2_tree(void)
{
    return tree_of(result_2_text);
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
