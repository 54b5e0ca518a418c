/* SPDX-License-Identifier: Apache-2.0 */
/* What is written and no command line can show: tests/golden/ has the rest. */
#define _GNU_SOURCE
#include "base/text.h"
#include "checks.h"
#include "compare/comparison.h"
#include "fleet/write/formats.h"
#include "link/report.h"
#include "list/command.h"
#include "measure/run.h"
#include "record/making.h"
#include "run/formats.h"
#include "schema_check.h"

#include <math.h>

/* ---- numbers ---- */

TEST(numbers_read_back_exactly)
{
    const double values[] = {0,      0.1,    0.3, nextafter(0.3, 1),     1.0 / 3, 55.3e9,
                             1e-300, 5e-324, -1,  1.7976931348623157e308};
    char text[32];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_true(strtod(xb_number_text(values[i], text, sizeof text), NULL) == values[i]);
    assert_string_equal(xb_number_text(0.1, text, sizeof text), "0.1");
    assert_string_equal(xb_number_text(55300000000.0, text, sizeof text), "55300000000");
}

/* A text that begins like one is kept from being a formula; a number is none. */
TEST(csv_texts_are_no_commands_and_numbers_may_be_negative)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_csv_line line = {.stream = open_memstream(&text, &length)};
    xb_csv_put_number(&line, true, -1.5);
    xb_csv_put(&line, "-1.5");
    xb_csv_put(&line, "::a:b ###[c]");
    xb_csv_end(&line);
    fclose(line.stream);
    assert_string_equal(text, "-1.5,'-1.5,:\\x3Aa:b #\\x23#[c]\r\n");
    free(text);
}

/* ---- schemas ---- */

TEST(the_schemas_describe_what_the_tables_write)
{
    static const char fleet[] = "fleet.schema.json";
    assert_schema_describes("list.schema.json", "device", xb_list_device_fields);
    assert_schema_describes("list.schema.json", "backend", xb_list_probe_fields);
    assert_schema_describes(fleet, NULL, xb_fleet_fields);
    assert_schema_describes(fleet, "properties/findings/items", xb_fleet_finding_fields);
    assert_schema_describes(fleet, "properties/findings/items/properties/gpu", xb_fleet_gpu_fields);
    assert_schema_describes(fleet, "properties/siblings/items", xb_fleet_siblings_fields);
    assert_schema_describes(fleet, "properties/siblings/items/properties/figure",
                            xb_fleet_figure_fields);
}

/* ---- documents ---- */

static void read_link(const char *name, struct xb_link_file *file)
{
    struct xb_error error;
    cJSON *tree = golden_base(name);
    assert_int_equal(xb_link_report_of_tree(name, tree, file, &error), XB_OK);
    cJSON_Delete(tree);
}

/* Counts past the arrays' ends come from another process, which may have died while it wrote. */
TEST(counts_of_attempts_and_hops_are_not_believed)
{
    static xb_link_writer *const writers[] = {xb_link_table_write, xb_link_nagios_write,
                                              xb_link_nhc_write, xb_link_prometheus_write,
                                              xb_link_json_write};
    const struct xb_link_limits none = {0};
    struct xb_link_file file;
    struct xb_error error;
    read_link("link/critical", &file);
    for (size_t i = 0; i < file.report.device_count; i++) {
        struct xb_link_device *device = &file.report.devices[i];
        for (size_t j = 0; j < XB_LINK_ATTEMPTS; j++) {
            device->attempts[j] = device->attempts[0];
            device->attempts[j].at_rest.count = device->attempts[j].after.count = 1000;
            device->attempts[j].load.count = 1000;
        }
        device->attempt_count = 1000;
        xb_verdict_of_device(device, &none, &file.report.verdicts[i]);
        assert_true(file.report.verdicts[i].best < XB_LINK_ATTEMPTS);
        assert_int_equal(file.report.verdicts[i].facts.hop_count, XB_PCIE_HOPS);
    }
    FILE *null = fopen("/dev/null", "w");
    assert_non_null(null);
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        assert_int_equal(writers[i](null, &file.report, &error), XB_OK);
    fclose(null);
    xb_link_file_free(&file);
}

/* A run of nothing but this device and these results; the record is the caller's. */
static struct xb_record_device recorded(struct xb_run_device *device, struct xb_result *results,
                                        size_t count, struct xb_record *record)
{
    static const struct xb_backend backend = {.name = "cuda"};
    struct xb_config config = {.count = 0};
    const struct xb_run run = {.backend = &backend,
                               .asked.config = &config,
                               .devices = device,
                               .device_count = 1,
                               .results = results,
                               .case_count = count};
    struct xb_error error;
    assert_int_equal(xb_record_of_run(&run, record, &error), XB_OK);
    return record->processes[0].devices[0];
}

/* No mode that --numa binds has a row beside it that it does not bind; a later one may. */
TEST(rows_that_are_near_count_as_bound_beside_those_that_name_a_node)
{
    static const struct xb_mode pinned = {.name = "pinned"};
    struct xb_run_device device = {.binding = {.bound = true, .cpu_count = 8}};
    struct xb_result results[] = {
        {.test = {.mode = &pinned, .variant = "alloc", .direction = XB_H2D, .has_node = true}},
        {.test = {.mode = &pinned, .variant = "alloc", .direction = XB_D2H}}};
    struct xb_record record;
    results[0].test.peer = results[1].test.peer = XB_NO_PEER;
    struct xb_record_device one = recorded(&device, results, 1, &record);
    assert_false(one.bound);
    assert_string_equal(one.numa_note, "each row bound to the node that it names: 0");
    xb_record_free(&record);
    struct xb_record_device both = recorded(&device, results, 2, &record);
    assert_true(both.bound);
    assert_int_equal(both.cpus, 8);
    xb_record_free(&record);
}

/* As on GH200, whose copies cross NVLink-C2C. */
TEST(only_a_device_whose_copies_cross_its_link_has_a_ceiling)
{
    struct xb_link_file file;
    struct xb_record record;
    read_link("link/healthy", &file);
    const struct xb_link_attempt *attempt = &file.report.devices[0].attempts[0];
    struct xb_run_device device = {.path = attempt->at_rest, .load = attempt->load};
    for (int i = 0; i < 3; i++) {
        device.info.coherent_with_host = i == 1;
        device.info.shares_host_memory = i == 2;
        assert_int_equal(recorded(&device, NULL, 0, &record).ceiling.known, i == 0);
        xb_record_free(&record);
    }
    xb_link_file_free(&file);
}

/* ---- without memory for a part of a document nothing of it is written ---- */

static enum xb_status write_record(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_result_json_write(stream, what, XB_JSON_INDENTED, error);
}

static enum xb_status write_link(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_link_json_write(stream, what, error);
}

static enum xb_status write_comparison(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_compare_json_write(stream, what, error);
}

static enum xb_status write_benchmark_action(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_compare_benchmark_action_write(stream, what, error);
}

static enum xb_status write_fleet(FILE *stream, const void *what, struct xb_error *error)
{
    return xb_fleet_json_write(stream, what, error);
}

TEST(json_survives_every_failed_allocation)
{
    struct xb_record record;
    struct xb_error error;
    struct xb_link_file link;
    struct xb_comparison_file compared;
    cJSON *tree = golden_base("run/rows");
    assert_int_equal(xb_record_of_tree("rows", tree, &record, &error), XB_OK);
    cJSON_Delete(tree);
    assert_true(fail_every_allocation(write_record, &record) > 3); /* else no hook was used */
    read_link("link/peers", &link);
    assert_true(fail_every_allocation(write_link, &link.report) > 3);
    xb_link_file_free(&link);
    tree = golden_base("compare/pass");
    assert_int_equal(xb_comparison_of_tree("pass", tree, &compared, &error), XB_OK);
    cJSON_Delete(tree);
    assert_true(fail_every_allocation(write_comparison, &compared.comparison) > 1);
    compared.comparison.candidate = &record;
    assert_true(fail_every_allocation(write_benchmark_action, &compared.comparison) > 1);
    xb_comparison_file_free(&compared);
    xb_record_free(&record);
    struct xb_fleet_figure figure = {.name = "link h2d", .unit = XB_UNIT_RATE};
    struct xb_fleet_node node = {.name = "gpu1"};
    struct xb_fleet_source source = {.path = "a.json"};
    struct xb_fleet_siblings siblings = {.figure = &figure};
    struct xb_fleet_finding finding = {.node = &node, .figure = &figure, .text = "it is slow"};
    const struct xb_fleet fleet = {.sources = &source, .source_count = 1, .figure_count = 1};
    const struct xb_fleet_judgement judgement = {.fleet = &fleet,
                                                 .findings = &finding,
                                                 .finding_count = 1,
                                                 .siblings = &siblings,
                                                 .sibling_count = 1};
    assert_true(fail_every_allocation(write_fleet, &judgement) > 1);
}
