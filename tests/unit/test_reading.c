/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "sink_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *reading_of(const struct node *n, char **text)
{
    *text = body(&n->run);
    assert_narrow(*text);
    char *reading = strstr(*text, "\nReading\n");
    return reading != NULL ? reading : *text + strlen(*text);
}

/* Makes a wrapped note one line again, so that a test does not depend on where it broke. */
static void unwrap(char *text)
{
    static const char turn[] = "\n               ";
    for (char *at = text; (at = strstr(at, turn)) != NULL;)
        memmove(at, at + sizeof turn - 2, strlen(at + sizeof turn - 2) + 1);
}

static void assert_read(const struct node *n, const char *part)
{
    char *text;
    char *reading = reading_of(n, &text);
    unwrap(reading);
    assert_has(reading, part);
    free(text);
}

static void assert_not_read(const struct node *n, const char *part)
{
    char *text;
    assert_lacks(reading_of(n, &text), part);
    free(text);
}

/* 63.02 GB/s: what is no single copy over the link would show more, or another share. */
static void link_share_is_of_single_copies_only(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    strcpy(n->devices[0].info.pci_bdf, "0000:0f:00.0");
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    add(n, &async, "alloc", XB_BIDIR, 60);
    add(n, &double_buffer, "alloc", XB_H2D, 60);
    add(n, &managed, "prefetch", XB_H2D, 60);
    add(n, &zero_copy, "sequential", XB_H2D, 60)->bytes_moved = 512 * MIB;
    xb_result_detail_number(add(n, &zero_copy, "strided", XB_H2D, 60), "passes", 2);
    add(n, &async, "alloc", XB_H2D, 60)->device_timer = false;
    add(n, &async, "registered", XB_H2D, 60)->test.simultaneous = true;
    add(n, &async, "registered", XB_H2D, 60)->verified = XB_VERIFIED_UNKNOWN;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 60);
    add(n, &pinned, "alloc", XB_D2H, 60)->test.peer = 1;
    struct xb_result *small = add(n, &pinned, "alloc", XB_D2H, 60);
    small->test.bytes = small->bytes_moved = 16 * MIB - 1;
    char *text = body(&n->run);
    assert_has(text, "  device 0  h2d 50 % (pinned alloc)\n");
    free(text);
    xb_result_detail_number(add(n, &zero_copy, "random", XB_D2H, 31.51), "passes", 1);
    text = body(&n->run);
    assert_has(text, "  device 0  h2d 50 % (pinned alloc), d2h 50 % (zero-copy random)\n");
    free(text);
    copy->test.latency = true;
    copy->host_latency = latency_of(1e-3);
    text = body(&n->run);
    assert_has(text, "  device 0  d2h 50 %"); /* the row itself is out */
    free(text);
}

static void reading_of_pinning(void **state)
{
    struct node *n = *state;
    struct xb_result *slow = add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &pinned, "registered", XB_H2D, 40);
    add(n, &pinned, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n,
                "  pinning      pinned alloc h2d 54.00 GB/s, 7.20 times the 7.500 of pageable\n");
    add(n, &pageable, "malloc", XB_D2H, 5)->test.device = 0;
    assert_read(n, "  pinning      pinned alloc h2d 54.00 GB/s, 7.20 times the 7.500 of pageable; "
                   "pinned "
                   "alloc d2h 55.00 GB/s, 11.0 times the 5.000 of pageable\n");
    n->results[4].verified = XB_VERIFIED_UNKNOWN;
    slow->test.device = 1;
    n->run.device_count = 2;
    assert_not_read(n, "pinning");
    slow->test.device = 0;
    assert_read(n, "  pinning      device 0: pinned alloc h2d 54.00 GB/s, 7.20 times");
    slow->test.bytes = slow->bytes_moved = 16 * MIB;
    assert_not_read(n, "pinning");
    n->results[1].test.bytes = n->results[1].bytes_moved = 16 * MIB;
    assert_read(n, "  pinning      device 0, 16 MiB: pinned registered h2d 40.00 GB/s, 5.33 times "
                   "the 7.500 of pageable\n");
    slow->test.bytes = n->results[1].test.bytes = 16 * MIB - 1;
    assert_not_read(n, "pinning");
}

static void reading_of_both_ways(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    assert_read(n, "  overlap      async alloc bidir 91.00 GB/s together\n"); /* beside nothing */
    add(n, &async, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 56);
    add(n, &pinned, "alloc", XB_H2D, 55);
    add(n, &zero_copy, "sequential", XB_H2D, 60);
    assert_read(n, "  overlap      async alloc bidir 91.00 GB/s together, 1.62 times the 56.00 of "
                   "pinned alloc d2h\n");
    both->overlap = 0.97;
    add_part(both, "h2d", 256 * MIB, (double)(256 * MIB) / 42.9e9);
    add_part(both, "d2h", 256 * MIB, (double)(256 * MIB) / 51.4e9);
    assert_read(n,
                "  overlap      async alloc bidir 91.00 GB/s together (h2d 42.90, d2h 51.40), 1.62 "
                "times the 56.00 "
                "of pinned alloc d2h; both in flight 97 % of the time\n");
    both->bytes_moved = 256 * MIB; /* then it is no sum */
    assert_not_read(n, "overlap");
}

static void reading_of_double_buffer(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_H2D, 30);
    assert_not_read(n, "overlap");
    xb_result_detail_number(row, "speed_up", 1.85);
    assert_read(n,
                "  overlap      double-buffer alloc h2d 1.85 times as fast as one step after the "
                "other\n");
    xb_result_detail_number(row, "compute_share", 0.48);
    xb_result_detail_number(row, "efficiency", 0.93);
    assert_read(n, "times as fast as one step after the other; computing "
                   "48 % of the time; 93 % of its bound\n");
}

static void reading_of_blocking(void **state)
{
    struct node *n = *state;
    struct xb_result *held = add(n, &pageable, "malloc", XB_H2D, 7.5);
    held->submit_times.count = held->wall_times.count = 0;
    add_same(&held->submit_times, 0.0343);
    add_same(&held->wall_times, 0.035);
    add(n, &async, "alloc", XB_H2D, 54);
    assert_read(n,
                "  blocking     a copy of pageable memory to the device keeps its caller for 98 % "
                "of its time, one "
                "of pinned memory for 0.1 %\n");
    /* pinned goes before async */
    struct xb_result *free_at_once = add(n, &pinned, "alloc", XB_H2D, 50);
    free_at_once->submit_times.count = 0;
    add_same(&free_at_once->submit_times, 1e-6);
    assert_read(n, "of pinned memory for less than 0.1 %\n");
    free_at_once->wall_times.count = 0;
    assert_not_read(n, "blocking");
}

static void reading_of_zero_copy(void **state)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    assert_not_read(n, "in place"); /* nothing was compared */
    xb_result_detail_number(row, "explicit_s", 0.006);
    assert_read(n, "  in place     copying the data first does not win, however often it "
                   "is read\n");
    xb_result_detail_number(row, "break_even_passes", 2);
    assert_read(n, "  in place     copying the data first wins from 2 passes over it on\n");
    row->details[1].number = 1;
    assert_read(n, "  in place     copying the data first wins from the first pass over it on\n");
    row->test.variant = "strided";
    assert_not_read(n, "in place");
}

static void reading_of_managed(void **state)
{
    struct node *n = *state;
    add(n, &managed, "fault", XB_H2D, 12.5);
    add(n, &managed, "advise", XB_H2D, 60);
    assert_not_read(n, "  managed");
    add(n, &managed, "prefetch", XB_H2D, 50);
    assert_read(n, "  managed      managed prefetch h2d 50.00 GB/s, 4.00 times the 12.50 of "
                   "fault\n");
}

static void reading_of_pairs(void **state)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 390);
    add_pair(n, "direct-write", XB_D2D, 0, 1, 400);
    assert_not_read(n, "peer");
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    assert_read(n, "  peer         d2d direct 10.0 times as fast as staged through the host\n");
    add_pair(n, "direct-read", XB_D2D, 1, 0, 390);
    add_pair(n, "staged", XB_D2D, 1, 0, 30); /* 13 */
    add_pair(n, "direct-read", XB_D2D, 0, 2, 380);
    add_pair(n, "staged", XB_D2D, 0, 2, 40); /* 9.5 */
    add_pair(n, "staged", XB_D2D, 2, 0, 1);  /* has no direct one */
    spoil(add_pair(n, "direct-read", XB_D2D, 2, 0, 500), XB_RESULT_ERROR, "wrong");
    assert_read(n,
                "  peer         d2d direct 10.0 times as fast as staged through the host (median "
                "of 3 pairs; 9.5 "
                "to 13.0)\n");
}

static void reading_of_devices_together(void **state)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    assert_read(n,
                "  all at once  pinned alloc h2d 166.5 GB/s on 4 devices together, all in flight "
                "98 % of the time; "
                "of what each has alone: device 1 74 %, device 3 74 %, device 0 "
                "76 % (the others were "
                "not measured alone)\n");
    add(n, &pinned, "alloc", XB_H2D, 100)->test.device = 1; /* far below speaks of those alone */
    assert_not_read(n, "far below");
    n->results[0].overlap = -1;
    n->results[3].share_of_alone = 0.5;
    assert_read(n, "on 4 devices together; of what each has alone: device 2 50 %, "
                   "device 1 74 %, device 3 74 %, device 0 76 %\n");
    spoil(&n->results[2], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all at once");
}

static void reading_of_ways_far_below(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 7.5);
    add(n, &managed, "fault", XB_H2D, 24.99);
    struct xb_result *half = add(n, &zero_copy, "strided", XB_H2D, 25);
    add(n, &pageable, "malloc", XB_D2H, 14.8);
    add(n, &double_buffer, "alloc", XB_H2D, 1); /* computes as well */
    add(n, &async, "alloc", XB_BIDIR, 200);
    assert_read(n,
                "  far below    h2d, less than half of 50.00 GB/s (pinned alloc): pageable malloc "
                "7.500, managed "
                "fault 24.99\n");
    assert_not_read(n, "strided");
    assert_not_read(n, "far below    d2h");
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n,
                "  far below    d2h, less than half of 55.00 GB/s (pinned alloc): pageable malloc "
                "14.80\n");
    set_bandwidth(half, 24.9);
    half->test.device = 1; /* compared with nothing of device 0 */
    n->run.device_count = 2;
    assert_not_read(n, "strided");
}

static void readings_break_between_words_not_before_units(void **state)
{
    struct node *n = *state;
    char variant[20] = "";
    for (size_t length = 1; length < sizeof variant; length++) {
        memset(variant, 'v', length);
        n->run.case_count = 0;
        xb_result_free(&n->results[0]);
        memset(&n->results[0], 0, sizeof n->results[0]);
        add(n, &double_buffer, variant, XB_H2D, 30);
        xb_result_detail_number(&n->results[0], "speed_up", 1.85);
        xb_result_detail_number(&n->results[0], "compute_share", 0.48);
        char *text;
        assert_lacks(reading_of(n, &text), "\n               %");
        free(text);
    }
}

/* Percentiles are for figures of their own: nothing is concluded from them. */
static void nothing_is_read_from_latencies(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "malloc", XB_H2D, 5);
    assert_read(n, "far below");
    for (size_t i = 0; i < 2; i++) {
        n->results[i].test.latency = true;
        n->results[i].host_latency = latency_of(5e-3);
    }
    char *text = body(&n->run);
    assert_lacks(text, "Reading");
    assert_lacks(text, "Share of");
    free(text);
}

static void reading_keeps_quiet_where_there_is_nothing(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &async, "alloc", XB_H2D, 50);
    char *text = body(&n->run);
    assert_lacks(text, "Reading");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(link_share_is_of_single_copies_only),
        NODE_TEST(reading_of_pinning),
        NODE_TEST(reading_of_both_ways),
        NODE_TEST(reading_of_double_buffer),
        NODE_TEST(reading_of_blocking),
        NODE_TEST(reading_of_zero_copy),
        NODE_TEST(reading_of_managed),
        NODE_TEST(reading_of_pairs),
        NODE_TEST(reading_of_devices_together),
        NODE_TEST(reading_of_ways_far_below),
        NODE_TEST(readings_break_between_words_not_before_units),
        NODE_TEST(nothing_is_read_from_latencies),
        NODE_TEST(reading_keeps_quiet_where_there_is_nothing),
    };
    return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
