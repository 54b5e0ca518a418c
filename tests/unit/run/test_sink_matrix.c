/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "record/mode_list.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

NODE_TEST(table_of_latencies)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    set_latency(add_latency(n, &async, XB_D2H), 6.6e-6, 0);
    spoil(add_latency(n, &pageable, XB_H2D), XB_RESULT_ERROR, "wrong");
    spoil(add_latency(n, &managed, XB_H2D), XB_RESULT_SKIPPED, "cannot");
    char *text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE HOST P50 P95 P99 DEVICE P50 P95 P99 N VERIFIED");
    assert_row(text, "pinned alloc h2d 4 B 6.60 us 13.2 us 19.8 us 1.50 us 3.00 us 4.50 us 101 "
                     "yes");
    assert_row(text, "async alloc d2h 4 B 6.60 us 13.2 us 19.8 us - - - 101 yes");
    assert_row(text, "pageable alloc h2d 4 B ERROR - - - - - 101 NO");
    assert_row(text, "managed alloc h2d 4 B skipped - - - - - - -");
    assert_narrow(text);
    free(text);
    n->run.device_count = 2;
    text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV HOST P50 P95 P99 DEVICE P50 P95 P99 N VERIFIED");
    assert_narrow(text);
    free(text);
}

/* By the device's clock, where that of a copy stands. */
NODE_TEST(table_of_a_latency_of_its_own)
{
    struct node *n = *state;
    const struct xb_mode *loads = xb_mode_find("loads");
    struct xb_result *row = add_latency(n, &pinned, XB_H2D);
    row = add_latency(n, loads, XB_H2D);
    add_figure(row, loads->latency, 1.175e-6);
    spoil(add_latency(n, loads, XB_D2D), XB_RESULT_ERROR, "wrong");
    char *text = body(&n->run);
    assert_row(text, "pinned alloc h2d 4 B 6.60 us 13.2 us 19.8 us 1.50 us 3.00 us 4.50 us 101 "
                     "yes");
    assert_row(text, "loads alloc h2d 4 B - - - 1.18 us 1.18 us 1.18 us 7 yes");
    assert_row(text, "loads alloc d2d 4 B ERROR - - - - - 101 NO");
    free(text);
}

NODE_TEST(table_of_devices_together)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0.75, 0.76};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    add_together(n, XB_D2H, 135.8, rates, shares);
    add(n, &pinned, "alloc", XB_H2D, 55)->test.device = 3;
    add(n, &async, "alloc", XB_H2D, 33)->test.simultaneous = true; /* of no group */
    spoil(&n->results[0], XB_RESULT_ERROR, "the sum is wrong");
    spoil(&n->results[6], XB_RESULT_SKIPPED, "no memory");
    char *text = body(&n->run);
    assert_has(text, "\n\n4 GPUs at the same time\nMODE ");
    assert_row(text, "pinned alloc h2d 256 MiB sum ERROR - - - - - 7 NO");
    assert_row(text, "pinned alloc h2d 256 MiB 2 41.50 41.50-41.50 41.50 41.50 5.00 us 5.00 ms 7 "
                     "yes");
    assert_row(text, "pinned alloc d2h 256 MiB sum 135.8 135.8-135.8 135.8 135.8 - - 7 yes");
    assert_row(text,
               "async alloc h2d 256 MiB 0 33.00 33.00-33.00 33.00 33.00 5.00 us 5.00 ms 7 yes");
    /* Those alone come first. */
    assert_row(text, "pinned alloc h2d 256 MiB 3 55.00 55.00-55.00 55.00 55.00 5.00 us 5.00 ms 7 "
                     "yes");
    assert_true(strstr(text, "55.00") < strstr(text, "4 GPUs at the same time"));
    assert_has(text, "  ERROR    pinned alloc h2d 256 MiB sum of 4: the sum is wrong\n");
    assert_has(text, "  skipped  pinned alloc d2h 256 MiB GPU 0 (with 3 others): no memory\n");
    assert_narrow(text);
    free(text);
}

/* All modes of a default run on several devices: as wide as usual rows get. */
NODE_TEST(table_of_many_columns_is_narrow)
{
    struct node *n = *state;
    n->run.device_count = 2;
    add(n, &double_buffer, "alloc", XB_BIDIR, 60.1);
    add(n, &zero_copy, "sequential", XB_H2D, 51)->bandwidth.n = 127;
    add(n, &pinned, "alloc", XB_H2D, 0)->row.status = XB_RESULT_SKIPPED;
    char *text = body(&n->run);
    assert_row(text, "MODE VARIANT DIR SIZE DEV GB/s 95% INTERVAL MIN MAX SUBMIT DONE N OK");
    assert_narrow(text);
    free(text);
}

NODE_TEST(matrix_of_pairs)
{
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    for (unsigned from = 0; from < NODE_DEVICES; from++)
        for (int to = 0; to < NODE_DEVICES; to++)
            if ((int)from != to)
                set_link(add_pair(n, "direct-read", XB_D2D, from, to, 390 + from + 0.1 * to),
                         "NVLink", 18, 26.5625e9);
    spoil(&n->results[0], XB_RESULT_ERROR, "17 bytes are wrong");
    spoil(&n->results[1], XB_RESULT_SKIPPED, "not in reach");
    n->results[1].row.detail_count = 0;
    n->results[11].test.bytes = GIB; /* 3>2 stands in a matrix of its own */
    char *text = body(&n->run);
    assert_has(text,
               "peer, direct read, one way, 256 MiB, GB/s (rows: from, columns: to; NVLink 18 x "
               "26.6 GB/s)\n"
               "            0      1      2      3\n"
               "     0      -    ERR   skip  390.3\n"
               "     1  391.0      -  391.2  391.3\n"
               "     2  392.0  392.1      -  392.3\n"
               "     3  393.0  393.1      -      -\n"
               "\n"
               "peer, direct read, one way, 1 GiB, GB/s (");
    assert_has(text, "            2      3\n"
                     "     2      -      -\n"
                     "     3  393.2      -\n");
    assert_has(text, "  ERROR    peer direct-read d2d 256 MiB 0>1: 17 bytes are wrong\n");
    assert_has(text, "  skipped  peer direct-read d2d 256 MiB 0>2: not in reach\n");
    assert_lacks(text, "VERIFIED"); /* no rows but pairs: no main table */
    assert_lacks(text, "links between");
    free(text);
}

NODE_TEST(matrix_of_both_ways_and_of_links)
{
    struct node *n = *state;
    n->run.device_count = 3;
    set_link(add_pair(n, "direct-write", XB_BIDIR, 0, 1, 779), "NVLink", 2, 25e9);
    set_link(add_pair(n, "direct-write", XB_BIDIR, 0, 2, 0.0561), "PCIe", 0, 0);
    set_link(add_pair(n, "direct-write", XB_BIDIR, 1, 2, 50.4), "NVLink", 1, 0);
    add_pair(n, "staged", XB_D2D, 0, 1, 37.5); /* not over the link between the two */
    set_link(add_pair(n, "direct-write", XB_D2D, 1, 0, 400), "NVLink", 2, 25e9);
    add(n, &pinned, "alloc", XB_H2D, 55);
    char *text = body(&n->run);
    assert_has(text,
               "yes\n"
               "\n"
               "peer, direct write, both ways, 256 MiB, GB/s together (between the "
               "two)\n"
               "              0        1        2\n"
               "     0        -    779.0  0.05610\n"
               "     1        -        -    50.40\n"
               "     2        -        -        -\n"
               "\n"
               "peer, through the host, one way, 256 MiB, GB/s (rows: from, columns: to)\n"
               "            0      1\n"
               "     0      -  37.50\n"
               "     1      -      -\n"
               "\n"
               "peer, direct write, one way, 256 MiB, GB/s (rows: from, columns: to; NVLink 2 x "
               "25.0 GB/s)\n"
               "            0      1\n"
               "     0      -      -\n"
               "     1  400.0      -\n"
               "\n"
               "links between the devices, number x GB/s each way (rows: from, columns: "
               "to)\n"
               "                      0                1                2\n"
               "     0                -  NVLink 2 x 25.0             PCIe\n"
               "     1  NVLink 2 x 25.0                -         NVLink 1\n"
               "     2                -                -                -\n");
    assert_lacks(text, "peer staged d2d"); /* not in the main table */
    free(text);
}

/* What goes without saying stands in no title, and what does not stands in each. */
NODE_TEST(matrices_by_engine_and_by_kernel)
{
    struct node *n = *state;
    n->run.device_count = 2;
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 396), "engine");
    set_by(add_pair(n, "direct-read", XB_D2D, 1, 0, 397), "engine");
    char *text = body(&n->run);
    assert_has(text, "peer, direct read, one way, 256 MiB, GB/s (");
    free(text);
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 391), "kernel");
    set_by(add_pair(n, "direct-read", XB_D2D, 1, 0, 392), "kernel");
    spoil(set_by(add_pair(n, "staged", XB_D2D, 1, 0, 40), "kernel"), XB_RESULT_SKIPPED, "no cores");
    text = body(&n->run);
    assert_has(text,
               "peer, direct read, one way, 256 MiB, by engine, GB/s (rows: from, columns: to)\n"
               "            0      1\n"
               "     0      -  396.0\n"
               "     1  397.0      -\n"
               "\n"
               "peer, direct read, one way, 256 MiB, by kernel, GB/s (rows: from, columns: to)\n"
               "            0      1\n"
               "     0      -  391.0\n"
               "     1  392.0      -\n");
    assert_has(text, "  skipped  peer staged d2d 256 MiB by kernel 1>0: no cores\n");
    free(text);
    for (size_t i = 0; i < n->run.case_count; i++)
        set_by(&n->results[i], "kernel");
    text = body(&n->run);
    assert_has(text, "peer, direct read, one way, 256 MiB, by kernel, GB/s (");
    free(text);
}

NODE_TEST(matrix_of_groups)
{
    struct node *n = *state;
    n->run.device_count = 3;
    set_link(add_pair(n, "direct-read", XB_D2D, 0, 1, 400), "NVLink", 18, 26.5625e9);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 0, 390, 195, 0.49);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 2, 392, 196, 0.49);
    add_group(n, "direct-read", XB_GROUP_ALL_TO_ONE, 1, 380, 190, 0.48);
    for (size_t i = 1; i < n->run.case_count; i++)
        if (!n->results[i].test.sum)
            set_link(&n->results[i], "NVLink", 18, 26.5625e9);
    spoil(&n->results[4], XB_RESULT_ERROR, "the sum is wrong");
    char *text = body(&n->run);
    assert_has(text, "peer, direct read, one way, 256 MiB, GB/s (rows");
    assert_has(text,
               "\npeer, direct read, one way, 256 MiB, group one-to-all, at the same time, GB/s "
               "(rows: from, columns:\n  to; NVLink 18 x 26.6 GB/s)\n"
               "            0      1      2    all\n"
               "     0      -  195.0  195.0  390.0\n"
               "     1      -      -      -      -\n"
               "     2  196.0  196.0      -    ERR\n");
    assert_has(text,
               "\npeer, direct read, one way, 256 MiB, group all-to-one, at the same time, GB/s "
               "(rows: from, columns:\n  to; NVLink 18 x 26.6 GB/s)\n"
               "            0      1      2\n"
               "     0      -  190.0      -\n"
               "     1      -      -      -\n"
               "     2      -  190.0      -\n"
               "   all      -  380.0      -\n");
    assert_has(text, "  ERROR    peer direct-read d2d 256 MiB group one-to-all 2>all: the sum is "
                     "wrong\n");
    assert_lacks(text, "VERIFIED"); /* no rows */
    assert_lacks(text, "links between");
    free(text);
}

/* Two devices are no group: one row says so. */
NODE_TEST(row_of_no_group)
{
    struct node *n = *state;
    n->run.device_count = 1; /* so that the group has nobody else */
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 0, 390, 195, 0);
    spoil(&n->results[0], XB_RESULT_SKIPPED, "two are no group");
    char *text = body(&n->run);
    assert_row(text, "peer direct-read d2d 256 MiB 0>all skipped - - - - - - -");
    assert_lacks(text, "(rows: from");
    free(text);
}

/* A file may say any number of links. */
NODE_TEST(link_of_many_digits_is_cut)
{
    struct node *n = *state;
    n->run.device_count = 2;
    set_link(add_pair(n, "direct-read", XB_D2D, 0, 1, 400), "NVLink", 1e300, 26.5625e9);
    char *text = body(&n->run);
    assert_has(text, "NVLink\n  1000000000");
    free(text);
}

NODE_TEST(matrix_of_latencies)
{
    struct node *n = *state;
    n->run.device_count = 2;
    struct xb_result *there = add_pair(n, "direct-read", XB_D2D, 0, 1, 0.001);
    struct xb_result *back = add_pair(n, "direct-read", XB_D2D, 1, 0, 0.001);
    there->test.bytes = back->test.bytes = 4;
    set_latency(there, 12.34e-6, 0);
    set_latency(back, 0.828e-6, 0);
    char *text = body(&n->run);
    assert_string_equal(text,
                        "Fixed cost of a copy at 4 B: peer direct read, 12.3 us one way, GPU 0>1.\n"
                        "peer, direct read, one way, 4 B, host latency p50 in us (rows: from, "
                        "columns: to)\n"
                        "             0       1\n"
                        "     0       -   12.34\n"
                        "     1  0.8280       -\n");
    spoil(back, XB_RESULT_ERROR, "wrong");
    free(text);
    text = body(&n->run);
    assert_has(text, "     1    ERR      -\n");
    free(text);
}

NODE_TEST(matrix_of_a_latency_of_its_own)
{
    struct node *n = *state;
    const struct xb_mode *mode = xb_mode_find("peer-loads");
    n->run.device_count = 2;
    for (unsigned from = 0; from < 2; from++) {
        struct xb_result *row = add_latency(n, mode, XB_D2D);
        row->test.device = from;
        row->test.peer = 1 - (int)from;
        row->test.bytes = 2 * MIB;
        add_figure(row, mode->latency, 828e-9 + 1e-9 * from);
        set_link(row, "NVLink", 18, 26.5625e9);
    }
    char *text = body(&n->run);
    assert_string_equal(text,
                        "A load from another GPU's memory takes 829 ns (median of 2 pairs).\n"
                        "peer-loads alloc, one way, 2 MiB, latency p50 in us (rows: from, columns: "
                        "to; NVLink 18 x 26.6 GB/s)\n"
                        "             0       1\n"
                        "     0       -  0.8280\n"
                        "     1  0.8290       -\n");
    free(text);
}
