/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/text.h"
#include "checks.h"
#include "list/command.h"
#include "measure/run.h"
#include "record/mode_list.h"
#include "schema_check.h"
#include "sink_fixture.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- text ---- */

TEST(utf8_is_told_from_other_bytes)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"", 0},
                 {"a", 1},
                 {"\x7f", 1},
                 {"\xc3\xa4", 2},
                 {"\x80", 0},
                 {"\xc1\xbf", 0},
                 {"\xc3", 0},
                 {"\xe2\x82\xac", 3},
                 {"\xe0\x9f\xbf", 0},
                 {"\xed\xa0\x80", 0},
                 {"\xee\x80\x80", 3},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\xf0\x8f\xbf\xbf", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xf5\x80\x80\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xf0\x9f\x98z", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(xb_utf8_length(cases[i].text), cases[i].length);
}

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

/* ---- the list ---- */

TEST(list_names_directions)
{
    static const struct xb_inventory none;
    struct xb_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_list_json_write(stream, &none, &error), XB_OK);
    fclose(stream);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        const cJSON *mode = cJSON_GetArrayItem(at(root, "modes"), (int)i);
        unsigned all = 0;
        unsigned some = 0;
        for (unsigned d = 0; d < XB_DIRECTIONS; d++) {
            const cJSON *name;
            const char *direction = xb_direction_name((enum xb_direction)(1u << d));
            cJSON_ArrayForEach(name, at(mode, "directions")) all |=
                strcmp(name->valuestring, direction) == 0 ? 1u << d : 0;
            cJSON_ArrayForEach(name, at(mode, "default_directions")) some |=
                strcmp(name->valuestring, direction) == 0 ? 1u << d : 0;
        }
        assert_int_equal(all, xb_modes[i]->directions);
        assert_int_equal(some, xb_modes[i]->by_default);
    }
    cJSON_Delete(root);
    free(text);
}

TEST(the_schema_of_a_list_describes_what_its_tables_write)
{
    assert_schema_describes("list.schema.json", "device", xb_list_device_fields);
    assert_schema_describes("list.schema.json", "backend", xb_list_probe_fields);
}

/* ---- all sinks ---- */

RUN_TEST(sinks_report_a_full_disk)
{
    static const sink sinks[] = {write_indented, xb_csv_write, write_all};
    const struct fixture *f = *state;
    struct xb_record record;
    struct xb_error error;
    record_of(&f->run, &record);
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(sinks[i](full, &record, &error), XB_ERR_SYSTEM);
        assert_int_equal(error.native_code, ENOSPC);
        fclose(full);
    }
    xb_record_free(&record);
}

/* A row of every kind that is measured for bandwidth. */
static void make_example(struct node *n)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    n->run.device_count = NODE_DEVICES;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    strcpy(n->devices[0].info.pci_bdf, "0000:0f:00.0");
    struct xb_result *row = add(n, &pageable, "driver", XB_H2D, 7.7);
    row->submit_times.count = row->wall_times.count = 0;
    add_same(&row->submit_times, 0.0341);
    add_same(&row->wall_times, 0.0349);
    add(n, &pageable, "driver", XB_D2H, 14.8);
    add(n, &pinned, "alloc", XB_H2D, 55.4);
    add(n, &pinned, "alloc", XB_D2H, 55.3);
    add(n, &async, "alloc", XB_H2D, 54.8);
    row = add(n, &async, "alloc", XB_BIDIR, 91);
    set_computed(row, &xb_figure_overlap, 0.97);
    add_figure(row, &xb_figure_bandwidth_h2d, 46.2e9);
    add_figure(row, &xb_figure_bandwidth_d2h, 45.6e9);
    row = add(n, &double_buffer, "alloc", XB_BIDIR, 60.1);
    add_figure(row, xb_figure_find("serial_time"), 0.0165);
    add_figure(row, xb_figure_find("kernel_time"), 0.0049);
    set_computed(row, xb_figure_find("speed_up"), 1.85);
    set_computed(row, xb_figure_find("share_of_bound"), 0.93);
    set_computed(row, xb_figure_find("gpu_busy"), 0.55);
    row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    add_figure(row, xb_figure_find("explicit_time"), 0.0049);
    set_computed(row, xb_figure_find("break_even_passes"), 2);
    add(n, &managed, "fault", XB_H2D, 11.3);
    add(n, &managed, "prefetch", XB_H2D, 50);
    add_together(n, XB_H2D, 166.5, rates, shares);
    for (unsigned from = 0; from < NODE_DEVICES; from++) {
        for (int to = 0; to < NODE_DEVICES; to++) {
            if ((int)from == to)
                continue;
            set_link(add_pair(n, "direct-read", XB_D2D, from, to, 393 + 0.3 * to), "NVLink", 18,
                     26.5625e9);
            add_pair(n, "staged", XB_D2D, from, to, 37 + 0.2 * to);
            if ((int)from < to)
                set_computed(add_pair(n, "direct-read", XB_BIDIR, from, to, 779),
                             &xb_figure_overlap, 0.99);
        }
    }
    spoil(&n->results[n->run.case_count - 1], XB_RESULT_ERROR, "17 bytes are wrong");
    spoil(add(n, &managed, "advise", XB_H2D, 1), XB_RESULT_SKIPPED, "the deadline came");
    n->run.deadline = 60;
}

static void make_latency_example(struct node *n)
{
    n->run.device_count = 2;
    add_latency(n, &pageable, XB_H2D);
    add_latency(n, &pinned, XB_H2D);
    set_latency(add_latency(n, &pinned, XB_D2H), 6.6e-6, 0);
    for (unsigned from = 0; from < 2; from++) {
        struct xb_result *row = add_latency(n, &peer, XB_D2D);
        row->test.variant = "direct-read";
        row->test.device = from;
        row->test.peer = 1 - (int)from;
    }
    spoil(add_latency(n, &async, XB_H2D), XB_RESULT_ERROR, "17 bytes are wrong");
}

static int write_one(const char *directory, const char *name, sink write, const struct xb_run *run)
{
    char path[512];
    struct xb_record record;
    struct xb_error error;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    int status = xb_record_of_run(run, &record, &error) != XB_OK;
    if (status == 0) {
        status = write(file, &record, &error) != XB_OK;
        xb_record_free(&record);
    }
    return fclose(file) != 0 ? 1 : status;
}

/* `test_sinks DIRECTORY` writes runs as above as JSON, to be held against the schema, and as tables
 * to be looked at. */
static int write_examples(const char *directory)
{
    void *first = NULL, *second = NULL, *third = NULL;
    if (setup(&first) != 0 || node_setup(&second) != 0 || node_setup(&third) != 0)
        return 1;
    const struct fixture *rows = first;
    struct node *node = second;
    struct node *latencies = third;
    make_example(node);
    make_latency_example(latencies);
    int status = write_one(directory, "rows.json", write_indented, &rows->run) |
                 write_one(directory, "node.json", write_indented, &node->run) |
                 write_one(directory, "latencies.json", write_indented, &latencies->run) |
                 write_one(directory, "rows.txt", write_all, &rows->run) |
                 write_one(directory, "node.txt", write_all, &node->run) |
                 write_one(directory, "latencies.txt", write_all, &latencies->run);
    teardown(&first);
    node_teardown(&second);
    node_teardown(&third);
    return status;
}

int main(int argc, char **argv)
{
    return argc == 2 ? write_examples(argv[1]) : run_topic("sinks");
}
