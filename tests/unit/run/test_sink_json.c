/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"
#include "sink_fixture.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

RUN_TEST(json_says_what_ran_where)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    assert_text_at(root, "schema", "xferbench.result");
    assert_number_at(root, "schema_version", 2);
    assert_text_at(root, "tool.name", "xferbench");
    assert_true(strlen(cJSON_GetStringValue(at(root, "timestamp"))) == 20);
    assert_true(cJSON_IsFalse(at(root, "interrupted")));
    assert_true(cJSON_GetNumberValue(at(root, "host.logical_cpus")) >= 1);
    assert_true(cJSON_GetNumberValue(at(root, "host.memory_bytes")) >= 1 << 20);
    assert_true(strncmp(cJSON_GetStringValue(at(root, "host.kernel")), "Linux ", 6) == 0);
    assert_text_at(root, "backend.runtime_version", "13.0");
    assert_text_at(root, "devices.0.pci_bdf", "0000:0f:00.0");
    assert_text_at(root, "devices.0.driver", "580.159.04");
    assert_number_at(root, "devices.0.link.max_speed_gts", 32);
    assert_text_at(root, "devices.0.link.port", "0000:0f:00.0");
    assert_text_at(root, "devices.0.link.read", "right after transfers");
    assert_true(cJSON_IsTrue(at(root, "devices.0.numa.bound")));
    assert_null_at(root, "devices.0.numa.note");
    assert_text_at(root, "devices.1.name", "Test\xe2\x84\xa2 \xEF\xBF\xBD");
    assert_null_at(root, "devices.1.uuid");
    assert_null_at(root, "devices.1.link");
    assert_null_at(root, "devices.1.numa.node");
    assert_null_at(root, "backend.runtime_library");
    assert_null_at(root, "backend.runtime_override");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices.0.facts")), 0);
    cJSON_Delete(root);
    strcpy(f->run.probe.runtime_library, "/lib/libamdhip64.so.6");
    strcpy(f->run.probe.runtime_override, "SOME_VARIABLE");
    xb_device_fact(&f->devices[0].info, "xnack", "%s", "off");
    root = parsed(&f->run);
    assert_text_at(root, "backend.runtime_library", "/lib/libamdhip64.so.6");
    assert_text_at(root, "backend.runtime_override", "SOME_VARIABLE");
    assert_text_at(root, "devices.0.facts.xnack", "off");
    cJSON_Delete(root);
    f->devices[0].link.port[0] = '\0';
    root = parsed(&f->run);
    assert_null_at(root, "devices.0.link.port");
    cJSON_Delete(root);
}

RUN_TEST(json_types_every_option)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    assert_true(cJSON_IsTrue(at(root, "config.quiet")));
    assert_text_at(root, "config.json", "out \xEF\xBF\xBD.json");
    assert_number_at(root, "config.samples", 20);
    assert_number_at(root, "config.size.0", 4096);
    assert_number_at(root, "config.time-limit", 0.1);
    assert_text_at(root, "config.mode.1", "async");
    assert_null_at(root, "config.csv");
    assert_null_at(root, "config.streams");
    assert_int_equal(cJSON_GetArraySize(at(root, "config")), OPTION_COUNT);
    cJSON_Delete(root);
    char *text = written(write_indented, &f->run);
    assert_non_null(strstr(text, "\"chunk\":\t9007199254740993"));
    assert_non_null(strstr(text, "[4096,9007199254740993]"));
    free(text);
}

RUN_TEST(json_rows_measured)
{
    struct fixture *f = *state;
    const struct xb_result *ok = &f->results[ROW_OK];
    double rates[20];
    cJSON *root = parsed(&f->run);
    assert_int_equal(cJSON_GetArraySize(at(root, "results")), ROW_COUNT);
    const cJSON *row = at(root, "results.0");
    assert_text_at(row, "status", "ok");
    assert_text_at(row, "direction", "h2d");
    assert_number_at(row, "bytes", (double)GIB);
    assert_number_at(row, "bytes_moved", (double)GIB);
    assert_number_at(row, "device", 0);
    assert_null_at(row, "peer");
    assert_true(cJSON_IsFalse(at(row, "latency")));
    assert_true(cJSON_IsFalse(at(row, "simultaneous")));
    assert_int_equal(cJSON_GetArraySize(at(row, "parameters")), 0);
    assert_int_equal(cJSON_GetArraySize(at(row, "figures")), 3);
    assert_null_at(row, "reason");
    assert_null_at(row, "error");
    assert_text_at(row, "timer", "device-event");
    assert_int_equal(cJSON_GetArraySize(at(row, "samples_s")), 20);
    assert_number_at(row, "samples_s.1", ok->times.values[1]);
    assert_number_at(row, "samples_s.19", ok->times.values[19]);
    const cJSON *bandwidth = figure_at(row, "bandwidth");
    assert_text_at(bandwidth, "unit", "B/s");
    assert_true(cJSON_IsTrue(at(bandwidth, "more_is_better")));
    assert_true(cJSON_IsTrue(at(bandwidth, "gates")));
    for (size_t i = 0; i < 20; i++)
        rates[i] = (double)GIB / ok->times.values[i];
    assert_number_at(bandwidth, "median", xb_median_of(rates, 20));
    assert_number_at(bandwidth, "n", 20);
    assert_int_equal(cJSON_GetArraySize(at(bandwidth, "samples")), 20);
    assert_number_at(bandwidth, "samples.19", (double)GIB / ok->times.values[19]);
    assert_number_at(figure_at(row, "submit_time"), "n", 20);
    assert_true(cJSON_IsFalse(at(figure_at(row, "submit_time"), "gates")));
    assert_number_at(row, "details.batch", 0.1);
    assert_text_at(row, "details.nodes", "0,1");
    assert_text_at(row, "stop_reason", "converged");
    assert_true(cJSON_IsTrue(at(row, "verified")));
    row = at(root, "results.1");
    assert_text_at(row, "timer", "host-clock");
    assert_number_at(figure_at(row, "submit_time"), "median",
                     f->results[ROW_FEW].submit_times.values[1]);
    assert_number_at(figure_at(row, "wall_time"), "median",
                     f->results[ROW_FEW].wall_times.values[1]);
    assert_null_at(figure_at(row, "bandwidth"), "ci95_low");
    assert_null_at(figure_at(row, "bandwidth"), "ci95_high");
    assert_text_at(row, "warnings.1", NASTY_UTF8);
    cJSON_Delete(root);
}

RUN_TEST(json_rows_not_measured)
{
    static const char *const nulls[] = {"timer", "verified", "stop_reason", "bytes_moved"};
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        assert_null_at(at(root, "results.2"), nulls[i]);
        assert_null_at(at(root, "results.3"), nulls[i]);
    }
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.samples_s")), 0);
    assert_true(cJSON_IsArray(at(root, "results.2.figures")));
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.figures")), 0);
    assert_text_at(root, "results.2.status", "skipped");
    assert_text_at(root, "results.2.reason", NASTY_UTF8);
    assert_null_at(root, "results.2.error");
    assert_text_at(root, "results.3.status", "error");
    assert_text_at(root, "results.3.error.status", "runtime");
    assert_number_at(root, "results.3.error.native_code", 719);
    assert_text_at(root, "results.3.error.call", "cudaMemcpyAsync");
    assert_text_at(root, "results.3.error.at", "src/backends/cuda/queue.c:42");
    cJSON_Delete(root);
}

RUN_TEST(json_gives_wrong_data_no_bandwidth)
{
    struct fixture *f = *state;
    cJSON *root = parsed(&f->run);
    const cJSON *row = at(root, "results.4");
    assert_text_at(row, "status", "error");
    assert_true(cJSON_IsFalse(at(row, "verified")));
    assert_int_equal(cJSON_GetArraySize(at(row, "figures")), 0);
    assert_int_equal(cJSON_GetArraySize(at(row, "samples_s")), 8);
    assert_text_at(row, "timer", "device-event");
    assert_text_at(row, "stop_reason", "time-limit");
    cJSON_Delete(root);
}

/* What the case has of each, sorted by name. */
RUN_TEST(json_rows_have_their_parameters)
{
    static const struct xb_option samples = {.name = "samples", .type = XB_OPTION_COUNT};
    static const struct xb_option chunk = {.name = "chunk", .type = XB_OPTION_SIZE};
    static const struct xb_option way = {.name = "way", .type = XB_OPTION_CHOICES};
    static const struct xb_option pace = {.name = "pace", .type = XB_OPTION_TEXT};
    struct fixture *f = *state;
    struct xb_case *test = &f->results[ROW_OK].test;
    test->settings[0] = (struct xb_setting){.option = &way, .word = "round \xfe"};
    test->settings[1] = (struct xb_setting){.option = &samples, .count = 20};
    test->settings[2] = (struct xb_setting){.option = &chunk, .count = ODD_BYTES};
    test->settings[3] = (struct xb_setting){.option = &pace, .word = "auto"};
    test->setting_count = 4;
    cJSON *root = parsed(&f->run);
    const cJSON *own = at(root, "results.0.parameters");
    assert_int_equal(cJSON_GetArraySize(own), 4);
    assert_string_equal(own->child->string, "chunk");
    assert_number_at(own, "chunk", (double)ODD_BYTES);
    assert_text_at(own, "pace", "auto");
    assert_number_at(own, "samples", 20);
    assert_text_at(own, "way", "round \xef\xbf\xbd");
    assert_int_equal(cJSON_GetArraySize(at(root, "results.1.parameters")), 0);
    cJSON_Delete(root);
}

RUN_TEST(json_marks_an_interrupted_run)
{
    struct fixture *f = *state;
    f->run.interrupted = true;
    cJSON *root = parsed(&f->run);
    assert_true(cJSON_IsTrue(at(root, "interrupted")));
    cJSON_Delete(root);
}

RUN_TEST(json_records_the_steering_variables_only)
{
    static char *variables[] = {(char *)"PATH=/bin",
                                (char *)"CUDA_VISIBLE_DEVICES=1,0",
                                (char *)"CUDA_VISIBLE_DEVICES=later",
                                (char *)"CUDA_Visible_Devices=another",
                                (char *)"HSA_XNACK=a\xff=b",
                                (char *)"HIP_LAUNCH_BLOCKING=",
                                (char *)"ZE_VISIBLE_DEVICES=0",
                                (char *)"VISIBLE_DEVICES_X=0",
                                (char *)"MY_CUDA_X=1",
                                (char *)"NVIDIA_API_KEY=s3cret",
                                (char *)"CUDA_NOT_A_VARIABLE",
                                NULL};
    struct fixture *f = *state;
    char **kept = environ;
    environ = variables;
    cJSON *root = parsed(&f->run);
    environ = kept;
    assert_int_equal(cJSON_GetArraySize(at(root, "environment")), 3);
    assert_text_at(root, "environment.CUDA_VISIBLE_DEVICES", "1,0");
    assert_text_at(root, "environment.HSA_XNACK", "a\xEF\xBF\xBD=b");
    assert_text_at(root, "environment.HIP_LAUNCH_BLOCKING", "");
    cJSON_Delete(root);
}

RUN_TEST(json_survives_every_failed_allocation)
{
    struct fixture *f = *state;
    assert_true(fail_every_allocation(write_json, &f->run) > 3); /* else no hook was used */
}
