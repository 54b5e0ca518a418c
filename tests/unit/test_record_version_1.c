/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PARTS(a, b)                                                                                \
    "{\"" a "\":{\"bytes\":100,\"median_s\":4,\"samples_s\":[2,4,5]},"                             \
    "\"" b "\":{\"bytes\":10,\"median_s\":1,\"samples_s\":[1]},\"unheard\":7}"

/* What a part is called now: with an overlap a rate, else a time. */
static void parts_become_figures(void **state)
{
    static const struct {
        const char *parts, *overlap;
        struct {
            const char *name;
            double median;
            size_t n;
        } figures[2];
    } rows[] = {
        {PARTS("h2d", "d2h"), "0.5", {{"bandwidth_h2d", 25, 3}, {"bandwidth_d2h", 10, 1}}},
        {PARTS("there", "back"), "0", {{"bandwidth_there", 25, 3}, {"bandwidth_back", 10, 1}}},
        {PARTS("h2d", "d2h"), "null", {{"in_time", 4, 3}, {"out_time", 1, 1}}},
        {PARTS("serial", "copies"), "null", {{"serial_time", 4, 3}, {"copies_time", 1, 1}}},
        {PARTS("kernel", "copy"), "null", {{"kernel_time", 4, 3}, {"copy_time", 1, 1}}},
        {PARTS("kernel", "explicit"), "null", {{"kernel_time", 4, 3}, {"explicit_time", 1, 1}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "results[0].parts", rows[i].parts);
        put(tree, "results[0].overlap", rows[i].overlap);
        struct xb_record record = read_tree(tree);
        const struct xb_record_row *row = &record.cases[0].rows[0];
        for (size_t k = 0; k < 2; k++) {
            bool is_rate = strcmp(rows[i].overlap, "null") != 0;
            const struct xb_record_figure *figure =
                xb_record_row_figure(row, rows[i].figures[k].name);
            print_message("%s\n", rows[i].figures[k].name);
            assert_non_null(figure);
            assert_string_equal(figure->unit, is_rate ? "B/s" : "s");
            assert_int_equal(figure->more_is_better, is_rate);
            assert_false(figure->gates);
            assert_figure(figure->statistics.median, rows[i].figures[k].median);
            assert_int_equal(figure->statistics.n, rows[i].figures[k].n);
            assert_int_equal(figure->sample_count, rows[i].figures[k].n);
            assert_figure(figure->samples[0], is_rate ? k == 0 ? 50 : 10 : k == 0 ? 2 : 1);
        }
        assert_int_equal(row->figure_count, 7 + (strcmp(rows[i].overlap, "null") != 0));
        xb_record_free(&record);
    }
}

static void details_become_figures(void **state)
{
    static const struct {
        const char *name, *unit;
        double value;
    } figures[] = {{"setup_time", "s", 0.5},
                   {"speed_up", "1", 1.5},
                   {"share_of_bound", "1", 0.875},
                   {"gpu_busy", "1", 0.25},
                   {"break_even_passes", "1", 0}};
    (void)state;
    cJSON *tree = result_tree();
    put(tree, "results[0].details",
        "{\"setup_s\":0.5,\"speed_up\":1.5,\"efficiency\":0.875,\"compute_share\":0.25,"
        "\"break_even_passes\":0,\"explicit_s\":1,\"overlapped_s\":2,\"serial_s\":3,"
        "\"bound_s\":4,\"chunk_bytes\":5,\"streams\":6,\"buffers\":7,\"passes\":8,"
        "\"compute_steps\":9}");
    struct xb_record record = read_tree(tree);
    const struct xb_record_row *row = &record.cases[0].rows[0];
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct xb_record_figure *figure = xb_record_row_figure(row, figures[i].name);
        print_message("%s\n", figures[i].name);
        assert_non_null(figure);
        assert_string_equal(figure->unit, figures[i].unit);
        assert_int_equal(figure->statistics.n, 0);
        assert_figure(figure->statistics.median, figures[i].value);
    }
    assert_int_equal(row->detail_count, 1); /* the others are figures, parameters, or follow */
    assert_string_equal(row->details[0].name, "compute_steps");
    xb_record_free(&record);
}

/* Of a time that was timed twice the host's is a latency, and is not there again. */
static void latencies_become_figures(void **state)
{
    (void)state;
    cJSON *tree = result_tree();
    struct xb_record record = read_tree(tree);
    const struct xb_record_row *row = &record.cases[1].rows[0];
    const struct xb_record_figure *host = xb_record_row_figure(row, "latency_host");
    const struct xb_record_figure *device = xb_record_row_figure(row, "latency_device");
    assert_true(host->gates && device->gates);
    assert_figure(host->statistics.min, 0.25);
    assert_figure(host->statistics.median, 0.75);
    assert_figure(host->statistics.p95, 1.5);
    assert_figure(host->statistics.p99, 1.75);
    assert_figure(host->statistics.max, 2.0);
    assert_figure(host->statistics.p5, (double)NAN);
    assert_int_equal(host->statistics.n, 3);
    assert_int_equal(host->sample_count, 0); /* the file has none */
    assert_figure(device->statistics.median, 0.25);
    assert_figure(device->statistics.p95, 0.475);
    assert_figure(device->statistics.p99, 0.495);
    assert_int_equal(device->sample_count, 3);
    assert_null(xb_record_row_figure(row, "bandwidth"));
    assert_null(xb_record_row_figure(row, "wall_time"));
    xb_record_free(&record);
    tree = result_tree();
    put(tree, "results[1].latency_s.device", "null");
    record = read_tree(tree);
    assert_null(xb_record_row_figure(&record.cases[1].rows[0], "latency_device"));
    xb_record_free(&record);
}

/* Those that the mode declares, of the options of the file; which variant matters. */
static void options_become_parameters(void **state)
{
    static const struct {
        const char *mode, *variant, *names;
    } rows[] = {{"pinned", "alloc", ""},
                {"async", "pinned", "chunk streams "},
                {"double-buffer", "pinned", "buffers chunk kernel-time "},
                {"peer", "direct", ""},
                {"peer", "staged", "chunk "},
                {"zero-copy", "coalesced", ""},
                {"unheard", "of", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64], names[128] = "";
        cJSON *tree = result_tree();
        put(tree, "config",
            "{\"streams\":2,\"chunk\":4096,\"kernel-time\":\"auto\",\"buffers\":3}");
        snprintf(text, sizeof text, "\"%s\"", rows[i].mode);
        put(tree, "results[0].mode", text);
        snprintf(text, sizeof text, "\"%s\"", rows[i].variant);
        put(tree, "results[0].variant", text);
        put(tree, "results[0].direction", "\"bidir\""); /* none of the others' */
        struct xb_record record = read_tree(tree);
        const struct xb_record_case *test = &record.cases[0];
        for (size_t k = 0; k < test->parameter_count; k++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
                     test->parameters[k].name);
        assert_string_equal(names, rows[i].names);
        xb_record_free(&record);
    }
}

static void knows_devices_that_share_host_memory(void **state)
{
    static const struct {
        const char *backend, *facts;
        bool shares;
    } rows[] = {{"\"hip\"", "{\"integrated\":\"yes: an APU\"}", true},
                {"\"hip\"", "{\"integrated\":\"yes\"}", true},
                {"\"hip\"", "{\"integrated\":\"no\"}", false},
                {"\"hip\"", "{\"integrated\":null}", false},
                {"\"hip\"", "{}", false},
                {"\"host\"", "{}", true},
                {"\"cuda\"", "null", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cJSON *tree = result_tree();
        put(tree, "backend.name", rows[i].backend);
        put(tree, "devices[0].facts", rows[i].facts);
        struct xb_record record = read_tree(tree);
        assert_int_equal(record.processes[0].devices[0].shares_host_memory, rows[i].shares);
        assert_true(record.processes[0].devices[0].numa_is_normal);
        xb_record_free(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_become_figures),
        cmocka_unit_test(details_become_figures),
        cmocka_unit_test(latencies_become_figures),
        cmocka_unit_test(options_become_parameters),
        cmocka_unit_test(knows_devices_that_share_host_memory),
    };
    return cmocka_run_group_tests_name("record_version_1", tests, NULL, NULL);
}
