/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

#include "testing.h"

/* ---- what is read is right ---- */

static void check_conditions(const struct xb_record *record)
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
                                           {"device 3 NUMA node", NULL},
                                           {"environment CUDA_HOME", "/usr"},
                                           {"environment HIP_EMPTY", ""}};
    static const char *const options[][2] = {{"mode", "[\"pinned\",\"peer\"]"},
                                             {"chunk", "8388608"},
                                             {"deadline", "2.5"},
                                             {"quiet", "true"},
                                             {"samples", NULL},
                                             {"backend", "hip"}};
    assert_string_equal(record->path, PATH);
    assert_string_equal(record->version, "0.1.0");
    assert_string_equal(record->compiler, "GNU");
    assert_string_equal(record->build_type, "Release");
    assert_string_equal(record->timestamp, "2026-01-02T03:04:05Z");
    assert_string_equal(record->backend, "hip");
    assert_string_equal(record->driver, "580.1");
    assert_string_equal(record->runtime, "6.1");
    assert_null(record->library);
    assert_null(record->library_named_by);
    assert_string_equal(record->host.hostname, "node1");
    assert_null(record->host.os);
    assert_string_equal(record->host.kernel, "Linux");
    assert_string_equal(record->host.cpu_model, "CPU");
    assert_int_equal(record->host.logical_cpus, 8);
    assert_int_equal(record->host.memory_bytes, 270334357504);
    assert_int_equal(record->host.numa_nodes, 2);
    assert_string_equal(record->host.node, "gpu007");
    assert_string_equal(record->host.node_named_by, "SLURMD_NODENAME");
    assert_int_equal(record->launcher.rank, 2);
    assert_int_equal(record->launcher.ranks, 4);
    assert_string_equal(record->launcher.named_by, "SLURM_PROCID");
    assert_string_equal(record->start.asked, "2026-01-02T03:04:05.000000Z");
    assert_string_equal(record->start.by, "start-at");
    assert_string_equal(record->start.began, "2026-01-02T03:04:05.250000Z");
    assert_true(record->start.late_s == 0.25);
    assert_true(record->start.clock_known);
    assert_false(record->start.synchronised);
    assert_true(record->start.clock_error_s == 16);
    assert_false(record->is_merged);
    assert_null(record->role);
    assert_null(record->program);
    assert_null(record->counterpart);
    assert_int_equal(record->asked_processes, 1);
    assert_int_equal(record->process_count, 1);
    assert_int_equal(record->fact_count, 13 + 10 + 7 + 2);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        assert_fact(record->facts, record->fact_count, facts[i][0], facts[i][1]);
    assert_int_equal(record->option_count, sizeof options / sizeof options[0]);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        assert_fact(record->options, record->option_count, options[i][0], options[i][1]);
        assert_int_equal(record->options[i].is_text, i == 5);
    }
    assert_int_equal(record->environment_count, 2);
    assert_string_equal(record->environment[0].name, "CUDA_HOME");
    assert_string_equal(record->environment[0].value, "/usr");
    assert_true(record->environment[0].is_text);
}

TEST(reads_conditions)
{
    struct xb_record record = read_tree(result_tree());
    check_conditions(&record);
    xb_record_free(&record);
    xb_record_free(&record); /* accepts a zeroed one */
}

TEST(reads_what_is_not_known)
{
    cJSON *tree = result_tree();
    put(tree, "host.node", "null");
    put(tree, "host.node_named_by", "null");
    put(tree, "launcher", "null");
    put(tree, "start.began", "null");
    put(tree, "start.late_s", "null");
    put(tree, "start.clock", "{\"synchronised\":null,\"error_s\":null}");
    struct xb_record record = read_tree(tree);
    assert_null(record.host.node);
    assert_null(record.host.node_named_by);
    assert_false(record.launcher.known);
    assert_int_equal(record.launcher.ranks, 0);
    assert_null(record.launcher.named_by);
    assert_null(record.start.began);
    assert_true(isnan(record.start.late_s));
    assert_false(record.start.clock_known);
    assert_true(isnan(record.start.clock_error_s));
    xb_record_free(&record);
}

TEST(reads_other_programs_and_runtimes)
{
    cJSON *tree = result_tree();
    put(tree, "backend.runtime_library", "\"/opt/lib.so\"");
    put(tree, "backend.runtime_override", "\"XB_LIBRARY\"");
    put(tree, "tool.build_type", "\"\""); /* CMake was not told one */
    put(tree, "tool.left_out", "[\"hwloc\",\"liblz4\"]");
    struct xb_record record = read_tree(tree);
    assert_string_equal(record.left_out, "hwloc, liblz4");
    assert_string_equal(
        xb_record_fact_find(record.facts, record.fact_count, "libraries left out")->value,
        "hwloc, liblz4");
    assert_string_equal(record.library, "/opt/lib.so");
    assert_string_equal(record.library_named_by, "XB_LIBRARY");
    assert_string_equal(record.build_type, "");
    xb_record_free(&record);
}

TEST(reads_devices)
{
    struct xb_record record = read_tree(result_tree());
    assert_int_equal(record.processes[0].device_count, 2);
    const struct xb_record_device *device = &record.processes[0].devices[0];
    assert_int_equal(device->index, 0);
    assert_string_equal(device->name, "GPU A");
    assert_string_equal(device->uuid, "U0");
    assert_string_equal(device->architecture, "sm_90");
    assert_string_equal(device->pci_bdf, "0000:01:00.0");
    assert_string_equal(device->driver, "580.1");
    assert_int_equal(device->memory_bytes, 1024);
    assert_true(device->shares_host_memory);
    assert_true(device->link_known);
    assert_figure(device->link_speed_gts, 32.0);
    assert_figure(device->link_max_speed_gts, 64.0);
    assert_int_equal(device->link_width, 16);
    assert_int_equal(device->link_max_width, 8);
    assert_string_equal(device->link_port, "0000:00:01.0");
    assert_true(device->link_under_load);
    assert_string_equal(device->ceiling_at, "0000:00:00.0");
    assert_int_equal(device->numa_node, 1);
    assert_true(device->bound);
    assert_int_equal(device->cpus, 4);
    assert_string_equal(device->numa_note, "a note");
    assert_false(device->numa_is_normal);
    assert_int_equal(device->fact_count, 3);
    assert_fact(device->facts, 3, "xnack", "on");
    assert_fact(device->facts, 3, "engines", "2");
    device = &record.processes[0].devices[1];
    assert_int_equal(device->index, 3);
    assert_string_equal(device->name, "GPU B");
    assert_null(device->uuid);
    assert_false(device->link_known);
    assert_int_equal(device->numa_node, -1);
    assert_false(device->bound);
    xb_record_free(&record);
}

TEST(reads_how_it_ended)
{
    static const struct {
        const char *value;
        bool met;
    } ends[] = {{"true", true}, {"false", false}, {"null", true}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "deadline_met", ends[i].value);
        put(tree, "interrupted", i == 1 ? "true" : "false");
        struct xb_record record = read_tree(tree);
        const struct xb_record_process *process = &record.processes[0];
        assert_int_equal(process->deadline_met, ends[i].met);
        assert_int_equal(process->interrupted, i == 1);
        assert_int_equal(process->has_deadline, i < 2);
        assert_true(process->has_results);
        assert_int_equal(record.interrupted, i == 1);
        assert_int_equal(record.has_deadline, i < 2);
        assert_int_equal(record.deadline_met, ends[i].met);
        xb_record_free(&record);
    }
}

static void check_rows(const struct xb_record *record)
{
    const struct xb_record_row *row = &record->cases[0].rows[0];
    assert_true(row->is_there);
    assert_int_equal(row->status, XB_RESULT_OK);
    assert_int_equal(row->verified, XB_VERIFIED_TRUE);
    assert_null(row->reason);
    assert_false(row->error.known);
    assert_string_equal(row->timer, "device-event");
    assert_string_equal(row->stop_reason, "converged");
    assert_false(row->is_cut);
    assert_int_equal(row->bytes_moved, 2000);
    assert_int_equal(row->time_count, 6);
    assert_figure(row->times[0], 4.0);
    assert_figure(row->times[5], 8.0);
    assert_int_equal(row->warning_count, 2);
    assert_string_equal(row->warning_texts[0], "one");
    assert_string_equal(row->warning_texts[1], "two");
    assert_int_equal(row->detail_count, 2);
    assert_string_equal(row->details[0].name, "held");
    assert_string_equal(xb_record_fact_text(&row->details[0]), "no");
    assert_string_equal(row->details[1].name, "warm_up_samples");
    assert_null(xb_record_fact_text(&row->details[1]));
    assert_figure(xb_record_fact_number(&row->details[1]), 3.0);
    row = &record->cases[2].rows[0];
    assert_int_equal(row->status, XB_RESULT_SKIPPED);
    assert_int_equal(row->verified, XB_VERIFIED_UNKNOWN);
    assert_string_equal(row->reason, "one device");
    assert_null(row->timer);
    assert_null(row->stop_reason);
    assert_int_equal(row->bytes_moved, 0);
    assert_int_equal(row->time_count, 0);
    assert_int_equal(row->figure_count, 0);
    row = &record->cases[3].rows[0];
    assert_int_equal(row->status, XB_RESULT_ERROR);
    assert_int_equal(row->verified, XB_VERIFIED_FALSE);
    assert_int_equal(row->time_count, 1); /* the evidence */
    assert_int_equal(row->figure_count, 0);
    assert_string_equal(row->error.status, "runtime");
    assert_int_equal(row->error.native_code, -7);
    assert_string_equal(row->error.native_name, "HIP_SEVEN");
    assert_string_equal(row->error.call, "hipMemcpy");
    assert_string_equal(row->error.message, "it failed");
    assert_string_equal(row->error.at, "src/a.c:12");
    assert_true(isnan(xb_record_fact_number(&row->details[0])));
}

TEST(reads_rows)
{
    struct xb_record record = read_tree(result_tree());
    assert_int_equal(record.case_count, 4);
    const struct xb_record_case *test = &record.cases[0];
    assert_string_equal(test->mode, "pinned");
    assert_string_equal(test->variant, "registered");
    assert_string_equal(test->direction, "h2d");
    assert_int_equal(test->bytes, 1000);
    assert_int_equal(test->device, 0);
    assert_int_equal(test->peer, -1);
    assert_false(test->latency);
    assert_false(test->simultaneous);
    assert_true(record.cases[1].latency);
    assert_int_equal(record.cases[2].parameter_count, 1); /* peer, staged */
    assert_string_equal(record.cases[2].parameters[0].name, "chunk");
    assert_string_equal(record.cases[2].parameters[0].value, "8388608");
    check_rows(&record);
    assert_summary(&record, 1, XB_RESULT_OK, XB_VERIFIED_TRUE, 1, NULL);
    assert_summary(&record, 2, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, 0, "one device");
    assert_summary(&record, 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, 0, "wrong");
    xb_record_free(&record);
}

TEST(names_the_device_of_a_case)
{
    static const struct xb_record_fact group = {.name = "group", .value = "all-to-one"};
    static const struct {
        int device, peer;
        bool simultaneous;
        bool of_group;
        const char *text;
    } devices[] = {
        {0, -1, false, false, "0"},   {12, 3, false, false, "12>3"}, {0, 0, false, false, "0>0"},
        {3, -1, true, false, "3"},    {-1, -1, true, false, "sum"},  {12, 3, true, true, "12>3"},
        {2, -1, true, true, "2>all"}, {-1, 2, true, true, "all>2"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        struct xb_record_case test = {.device = devices[i].device,
                                      .peer = devices[i].peer,
                                      .simultaneous = devices[i].simultaneous,
                                      .parameters = &group,
                                      .parameter_count = devices[i].of_group};
        assert_string_equal(xb_record_case_device(&test, text, sizeof text), devices[i].text);
        assert_int_equal(xb_record_is_sum(&test), i == 4 || i > 5);
    }
}

/* What may be null, or at its bound. */
TEST(takes_what_is_allowed)
{
    static const char *const rows[][2] = {
        {"backend.driver_version", "null"},
        {"tool.build_type", "\"\""},
        {"tool.left_out", "[]"},
        {"results[0].reason", "null"},
        {"devices[0].link", "null"},
        {"host.node", "null"},
        {"launcher", "null"},
        {"start.clock.synchronised", "null"},
        {"config", "{}"},
        {"devices[0].facts", "{}"},
        {"environment", "{}"},
        {"results", "[]"},
        {"results[0].bytes", "9007199254740992"},
        {"results[0].device", "null"},
        {"results[0].device", "0"},
        {"results[0].peer", "0"},
        {"devices[1].index", "63"},
        {"devices[0].link.speed_gts", "1024"},
        {"devices[0].link.speed_gts", "2.5"},
        {"devices[0].link.width", "64"},
        {"devices[0].link.width", "1"},
        {"devices[0].link.ceiling", "null"},
        {"devices[0].link.port", "null"},
        {"results[0].placements", "null"},
        {"results[0].stop_reason", "null"},
        {"results[0].figures[0].median", "1000.0000001"},
        {"results[1].figures[2].median", "1e-12"},
        {"results[1].figures[2].p99", "1e6"},
        {"results[2].verified", "true"},
        {"results[2].timer", "null"},
        {"results[3].error.native_code", "0"},
        {"results[3].error.at", "null"},
        {"results[0].details.held", "\"\""},
        {"results[0].figures[4].median", "0"},
        {"host.numa_nodes", "null"},
        {"devices[0].numa.node", "null"},
        {"devices[0].link.max_width", "64"},
        {"results[0].unknown", "{\"a\":[1]}"},
        {"unknown", "\"\\ud83d\\ude00\""},
    };
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
                                           {"variant", "\"driver\""},
                                           {"direction", "\"d2h\""},
                                           {"bytes", "1001"},
                                           {"device", "3"},
                                           {"device", "null"},
                                           {"peer", "0"},
                                           {"peer", "3"},
                                           {"simultaneous", "true"},
                                           {"parameters", "{\"chunk\":1}"},
                                           {"parameters", "{\"chunk\":null}"},
                                           {"parameters", "{\"passes\":1,\"chunk\":1}"}};

TEST(tells_cases_by_every_key)
{
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

/* A value of another kind is another one, and the order in which parameters stand says nothing. */
TEST(tells_parameters_by_name_and_value)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {{"{\"chunk\":1,\"passes\":2}", "{\"passes\":2,\"chunk\":1}", true},
                {"{\"chunk\":1,\"passes\":2}", "{\"passes\":1,\"chunk\":2}", false},
                {"{\"chunk\":1}", "{\"chunk\":\"1\"}", false},
                {"{\"chunk\":1}", "{\"chunks\":1}", false},
                {"{\"chunk\":1}", "{\"chunk\":1,\"passes\":1}", false},
                {"{\"chunk\":null}", "{\"chunk\":\"null\"}", false},
                {"{\"chunk\":null}", "{\"chunk\":null}", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *trees_of[] = {result_tree(), result_tree()};
        put(trees_of[0], "results[0].parameters", rows[i].a);
        put(trees_of[1], "results[0].parameters", rows[i].b);
        struct xb_record a = read_tree(trees_of[0]);
        struct xb_record b = read_tree(trees_of[1]);
        print_message("%s and %s\n", rows[i].a, rows[i].b);
        assert_ptr_equal(xb_record_find(&b, &a.cases[0]), rows[i].same ? &b.cases[0] : NULL);
        xb_record_free(&a);
        xb_record_free(&b);
    }
}

TEST(refuses_a_case_twice)
{
    cJSON *tree = result_tree();
    cJSON *rows = cJSON_GetObjectItem(tree, "results");
    cJSON_AddItemToArray(rows, cJSON_Duplicate(cJSON_GetArrayItem(rows, 0), true));
    refuse_tree(tree, "results[4] of process 0 is a case that it has already: pinned registered");
}

TEST(when_an_early_build_began_is_no_condition)
{
    cJSON *tree = result_tree();
    put(tree, "config.barrier", "\"meet\"");
    put(tree, "config.barrier-tasks", "2");
    struct xb_record record = read_tree(tree);
    assert_null(xb_record_option(&record, "barrier"));
    assert_null(xb_record_option(&record, "barrier-tasks"));
    assert_non_null(xb_record_option(&record, "chunk"));
    xb_record_free(&record);
}
