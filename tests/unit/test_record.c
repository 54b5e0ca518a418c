/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- what is read is right ---- */

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
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
