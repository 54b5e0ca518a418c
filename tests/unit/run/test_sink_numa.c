/* SPDX-License-Identifier: Apache-2.0 */
/* NUMA nodes in the table: their column, and the matrices of nodes and devices. */
#include "base/terminal.h"
#include "checks.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct xb_result *add_node(struct node *n, enum xb_direction direction, unsigned device,
                                  unsigned node, double gigabytes)
{
    struct xb_result *row = add(n, &pinned, "alloc", direction, gigabytes);
    row->test.device = device;
    row->test.has_node = true;
    row->test.node = node;
    return row;
}

/* Two nodes, and the first `known` devices say which is theirs: 0 for the first, then 1. */
static void begin(struct node *n, size_t devices, size_t known)
{
    n->run.device_count = devices;
    for (size_t i = 0; i < devices; i++)
        n->devices[i].binding = (struct xb_binding){
            .node = i < known ? (int)(i > 0) : -1, .note_is_normal = true, .cpu_count = 8};
}

NODE_TEST(one_node_is_a_row_and_no_matrix)
{
    struct node *n = *state;
    begin(n, 1, 1);
    add_node(n, XB_H2D, 0, 1, 37);
    add(n, &async, "alloc", XB_H2D, 55); /* of another mode, near */
    char *text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE NUMA GB/s 95% INTERVAL MIN MAX SUBMIT DONE N VERIFIED");
    assert_row(text,
               "pinned alloc h2d 256 MiB 1 37.00 37.00-37.00 37.00 37.00 5.00 us 5.00 ms 7 yes");
    assert_row(text,
               "async alloc h2d 256 MiB - 55.00 55.00-55.00 55.00 55.00 5.00 us 5.00 ms 7 yes");
    assert_lacks(text, "rows: NUMA nodes");
    free(text);
}

NODE_TEST(matrix_of_nodes_and_devices)
{
    struct node *n = *state;
    begin(n, 2, 2);
    add_node(n, XB_H2D, 0, 0, 55.2);
    add_node(n, XB_H2D, 0, 1, 37.5);
    add_node(n, XB_H2D, 1, 0, 38.5);
    add_node(n, XB_H2D, 1, 1, 55.3);
    spoil(add_node(n, XB_D2H, 0, 1, 50), XB_RESULT_SKIPPED, "refused");
    spoil(add_node(n, XB_D2H, 1, 1, 50), XB_RESULT_ERROR, "it lies elsewhere");
    add(n, &async, "alloc", XB_D2H, 55); /* near: in no matrix */
    char *text = body(&n->run);
    assert_has(
        text,
        "yes\n"
        "\n"
        "pinned, allocated, to the GPU, 256 MiB, GB/s (rows: NUMA nodes, columns: devices)\n"
        "             0       1\n"
        "     0  *55.20   38.50\n"
        "     1   37.50  *55.30\n"
        "\n"
        "pinned, allocated, back to the host, 256 MiB, GB/s (rows: NUMA nodes, columns: devices)\n"
        "           0     1\n"
        "     1  skip  *ERR\n"
        "* the node that the device is close to\n");
    assert_row(text,
               "pinned alloc h2d 256 MiB 1 0 37.50 37.50-37.50 37.50 37.50 5.00 us 5.00 ms 7 yes");
    assert_narrow(text);
    free(text);
}

NODE_TEST(marks_need_a_known_node)
{
    struct node *n = *state;
    begin(n, 2, 0);
    for (unsigned node = 0; node < 2; node++)
        for (unsigned device = 0; device < 2; device++)
            add_node(n, XB_H2D, device, node, 50);
    char *text = body(&n->run);
    assert_has(text, "            0      1\n"
                     "     0  50.00  50.00\n"
                     "     1  50.00  50.00\n"
                     "None is marked: the system does not say which node a device is close to.\n");
    free(text);
    begin(n, 2, 1);
    text = body(&n->run);
    assert_has(text, "     0  *50.00   50.00\n"
                     "     1   50.00   50.00\n"
                     "* the node that the device is close to; of some devices that is not known\n");
    free(text);
}

/* A part of the matrix is each parameter's own, and each of those at the same time. */
NODE_TEST(matrices_by_parameter_and_together)
{
    struct node *n = *state;
    begin(n, 2, 2);
    for (unsigned node = 0; node < 2; node++) {
        set_by(add_node(n, XB_H2D, 0, node, 50 + node), "engine");
        set_by(add_node(n, XB_H2D, 0, node, 40 + node), "kernel");
        struct xb_result *sum = add_node(n, XB_H2D, 0, node, 90 + node);
        sum->test.simultaneous = sum->test.sum = true;
        for (unsigned device = 0; device < 2; device++)
            add_node(n, XB_H2D, device, node, 45)->test.simultaneous = true;
    }
    char *text = body(&n->run);
    assert_has(
        text, "pinned, allocated, to the GPU, 256 MiB, by engine, GB/s (rows: NUMA nodes, columns: "
              "devices)\n"
              "             0\n"
              "     0  *50.00\n"
              "     1   51.00\n");
    assert_has(text, "by kernel, GB/s (rows: NUMA nodes, columns: devices)\n"
                     "             0\n"
                     "     0  *40.00\n"
                     "     1   41.00\n");
    assert_has(text,
               "pinned, allocated, to the GPU, 256 MiB, at the same time, GB/s (rows: NUMA nodes, "
               "columns: devices)\n"
               "             0       1     all\n"
               "     0  *45.00   45.00   90.00\n"
               "     1   45.00  *45.00   91.00\n");
    free(text);
}

/* What a table has of a record whose host has so many nodes, and that was asked for all. */
static char *body_of_all(const struct node *n, uint64_t nodes)
{
    struct xb_record record;
    record_of(&n->run, &record);
    record.host.numa_nodes = nodes;
    assert_true(record.option_count > 0);
    record.options[0].name = "numa";
    record.options[0].value = "[\"all\"]";
    char *text = body_of(written_record(write_all, &record));
    xb_record_free(&record);
    return text;
}

NODE_TEST(a_machine_with_one_node_has_one_cell_and_the_reason)
{
    struct node *n = *state;
    begin(n, 1, 0);
    add_node(n, XB_H2D, 0, 0, 55);
    char *text = body_of_all(n, 1);
    assert_has(text,
               "pinned, allocated, to the GPU, 256 MiB, GB/s (rows: NUMA nodes, columns: devices)\n"
               "            0\n"
               "     0  55.00\n"
               "One cell a device: this machine has one NUMA node.\n");
    free(text);
}

/* Of a node without CPUs, once. */
NODE_TEST(where_threads_ran_is_told)
{
    static const char told[] = "Threads ran on NUMA node 0: node 2 has no CPUs.\n";
    struct node *n = *state;
    begin(n, 1, 1);
    add_node(n, XB_H2D, 0, 0, 55);
    xb_result_detail_text(add_node(n, XB_H2D, 0, 2, 55), "threads_run",
                          "on NUMA node 0: node 2 has no CPUs");
    xb_result_detail_text(add_node(n, XB_D2H, 0, 2, 55), "threads_run",
                          "on NUMA node 0: node 2 has no CPUs");
    char *text = body_of_all(n, 3);
    assert_has(text, told);
    assert_lacks(strstr(text, told) + 1, "Threads ran");
    free(text);
}

/* Sixteen devices: what does not fit into a line stands below. */
NODE_TEST(wide_matrices_are_broken)
{
    struct node *n = *state;
    static struct xb_run_device devices[16];
    for (unsigned i = 0; i < 16; i++) {
        devices[i] = n->devices[0];
        devices[i].info.index = i;
        devices[i].binding = (struct xb_binding){.node = i < 8 ? 0 : 1};
    }
    n->run.devices = devices;
    n->run.device_count = 16;
    for (unsigned node = 0; node < 2; node++)
        for (unsigned i = 0; i < 16; i++)
            add_node(n, XB_H2D, i, node, i + 10 + 0.1 * node);
    char *text = body(&n->run);
    const char *matrix = strstr(text, "pinned, allocated, to the GPU, 256 MiB, GB/s");
    assert_non_null(matrix);
    const char *end = strstr(matrix, "\n* the node that");
    assert_non_null(end);
    for (const char *line = matrix; line < end;) {
        size_t length = strcspn(line, "\n");
        assert_in_range(length, 0, XB_PLAIN_COLUMNS);
        line += length + (line[length] == '\n');
    }
    assert_has(matrix,
               "             0       1       2       3       4       5       6       7       8"
               "       9      10\n"
               "     0  *10.00  *11.00  *12.00  *13.00  *14.00  *15.00  *16.00  *17.00   18.00"
               "   19.00   20.00\n"
               "     1   10.10   11.10   12.10   13.10   14.10   15.10   16.10   17.10  *18.10"
               "  *19.10  *20.10\n"
               "            11      12      13      14      15\n"
               "     0   21.00   22.00   23.00   24.00   25.00\n"
               "     1  *21.10  *22.10  *23.10  *24.10  *25.10\n");
    free(text);
}

/* The device was opened near it, or was not bound, and no row was measured so. */
NODE_TEST(rows_that_name_their_nodes_are_bound_to_these)
{
    static const struct xb_binding near[] = {
        {.node = -1, .note = "which NUMA node the device is close to is unknown"},
        {.node = 0, .bound = true, .cpu_count = 8},
    };
    struct node *n = *state;
    struct xb_record record;
    n->run.device_count = 1;
    add_node(n, XB_H2D, 0, 0, 55);
    add_node(n, XB_H2D, 0, 1, 37);
    add_node(n, XB_D2H, 0, 1, 37);
    spoil(add_node(n, XB_H2D, 0, 2, 37), XB_RESULT_SKIPPED, "refused");
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        n->devices[0].binding = near[i];
        record_of(&n->run, &record);
        const struct xb_record_device *device = &record.processes[0].devices[0];
        assert_int_equal(device->numa_node, near[i].node);
        assert_false(device->bound);
        assert_true(device->numa_is_normal);
        assert_int_equal(device->cpus, 0);
        assert_string_equal(device->numa_note, "each row bound to the node that it names: 0, 1");
        xb_record_free(&record);
    }
    add(n, &pinned, "alloc", XB_D2H, 55); /* near: what binding there was counts */
    record_of(&n->run, &record);
    assert_true(record.processes[0].devices[0].bound);
    assert_int_equal(record.processes[0].devices[0].cpus, 8);
    xb_record_free(&record);
}
