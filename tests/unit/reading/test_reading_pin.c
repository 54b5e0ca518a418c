/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of page-locking. */
#include "reading_fixture.h"

#include "record/making.h"
#include "record/mode_list.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

extern const struct xb_mode xb_mode_pin;

/* At 50 GB/s a copy of 256 MiB takes 5.37 ms. */
#define RATE 50.0

static struct xb_result *add_way(struct node *n, const char *variant, enum xb_direction direction,
                                 double setup, double multiple)
{
    struct xb_result *row = add(n, &xb_mode_pin, variant, direction, RATE);
    add_figure(row, xb_figure_find("setup_time"), setup);
    set_computed(row, xb_figure_find("peak_host_memory"), multiple * 256 * (double)MIB);
    return row;
}

/* The references in seconds, and the copies until it has paid; 0: never, or not to be told. */
static void compare(struct xb_result *row, double pageable_time, double copies, double ring_time,
                    double copies_ring)
{
    add_figure(row, xb_figure_find("pageable_time"), pageable_time);
    add_figure(row, xb_figure_find("ring_time"), ring_time);
    if (copies > 0)
        set_computed(row, xb_figure_find("break_even_copies"), copies);
    if (copies_ring > 0)
        set_computed(row, xb_figure_find("break_even_copies_ring"), copies_ring);
}

#define COST "pinning cost"
#define MEMORY "pin memory"

NODE_TEST(the_soonest_and_the_latest_are_told)
{
    struct node *n = *state;
    compare(add_way(n, "register", XB_H2D, 0.020, 1), 0.037, 1, 0.006, 32);
    compare(add_way(n, "used-huge", XB_H2D, 0.006, 1), 0.037, 1, 0.005, 0);
    compare(add_way(n, "used", XB_H2D, 0.009, 0), 0.037, 1, 0.005, 0);
    compare(add_way(n, "alloc", XB_H2D, 0.130, 1), 0.037, 5, 0.006, 206);
    compare(add_way(n, "copy", XB_H2D, 0.140, 2.004), 0.037, 5, 0.006, 0);
    compare(add_way(n, "alloc", XB_D2H, 0.500, 1), 0.037, 5, 0.006, 206); /* the other way */
    assert_said(n, COST,
                "Quickest way to pin new memory: cudaHostRegister(), 20.0 ms. It pays "
                "off after 1 pageable copy, and after 32 copies through a ring. Slowest: "
                "cudaMallocHost(), 130 ms. Quickest way to pin memory in use: cudaHostRegister() "
                "on huge pages, 6.00 ms. It pays off after 1 pageable copy, and never "
                "against a ring. Slowest: cudaHostRegister(), 9.00 ms.");
    assert_answered(n,
                    "Quickest way to pin new memory: cudaHostRegister(), 20.0 "
                    "ms. It pays off after 1 pageable copy, and after 32 copies through a ring.");
    assert_advised(n, "XB-PIN-COST",
                   "Pin memory that you copy: 6.9 times as fast. cudaHostRegister() "
                   "takes 9.00 ms once for 256 MiB, which pays off after 1 copy.");
    /* The memory of `used` nobody counted. */
    assert_said(n, MEMORY,
                "Host memory at the peak, as a multiple of the data: alloc 1.00, "
                "register 1.00, used-huge 1.00, copy 2.00.");
    assert_rests_on(n, "XB-PIN-COST", 4);
    assert_number(n, "XB-PIN-COST", "new_best_setup_time", 0.020);
    assert_number(n, "XB-PIN-COST", "new_best_break_even_copies", 1);
    assert_number(n, "XB-PIN-COST", "new_worst_setup_time", 0.130);
    assert_number(n, "XB-PIN-COST", "new_worst_break_even_copies", 5);
    assert_number(n, "XB-PIN-COST", "new_worst_break_even_copies_ring", 206);
    assert_number(n, "XB-PIN-COST", "used_best_setup_time", 0.006);
    assert_number(n, "XB-PIN-COST", "used_worst_setup_time", 0.009);
    assert_rests_on(n, "XB-PIN-MEMORY", 4);
    assert_number(n, "XB-PIN-MEMORY", "used_huge_multiple", 1);
    assert_number(n, "XB-PIN-MEMORY", "copy_multiple", 2.004);
}

/* The backend host allocates and touches; nothing is locked. */
NODE_TEST(what_locks_nothing_is_not_ranked)
{
    struct node *n = *state;
    add_way(n, "register", XB_H2D, 0.020, 1);
    xb_result_detail_text(add_way(n, "used", XB_H2D, 35e-9, 1), "pinned_memory", "not locked");
    assert_said(n, COST, "Time to pin new memory: cudaHostRegister(), 20.0 ms.");
}

/* Counts that are off by some MiB. */
NODE_TEST(the_memory_of_little_data_is_not_told)
{
    struct node *n = *state;
    struct xb_result *row = add_way(n, "alloc", XB_H2D, 0.020, 1);
    row->test.bytes = row->bytes_moved = 255 * MIB;
    set_bandwidth(row, RATE);
    assert_said(n, COST, "Time to pin new memory: cudaMallocHost(), 20.0 ms.");
    assert_said(n, MEMORY, "");
}

/* A ring that is now a little faster and now a little slower than the copy. */
NODE_TEST(what_is_within_the_noise_is_not_decided)
{
    struct node *n = *state;
    struct xb_error error;
    struct xb_result *row = add_way(n, "alloc", XB_D2H, 0.130, 1);
    assert_int_equal(xb_result_sample(row, xb_figure_find("ring_time"), 0.0053, &error), XB_OK);
    assert_int_equal(xb_result_sample(row, xb_figure_find("ring_time"), 0.0055, &error), XB_OK);
    assert_said(n, COST,
                "Time to pin new memory: cudaMallocHost(), 130 ms. It pays off "
                "perhaps against a ring (too close to tell).");
}

/* A run of single operations has no references; one whose memory nobody counts has no peak. */
NODE_TEST(what_was_not_measured_is_not_told)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &xb_mode_pin, "used", XB_H2D, RATE);
    assert_said(n, COST, "");
    assert_said(n, MEMORY, "");
    add_figure(row, xb_figure_find("setup_time"), 0.010);
    assert_said(n, COST, "Time to pin memory in use: cudaHostRegister(), 10.0 ms.");
    row->test.bytes = row->bytes_moved = 4096; /* a small one is told of too */
    set_bandwidth(row, RATE);
    assert_said(n, COST, "Time to pin memory in use: cudaHostRegister(), 10.0 ms.");
}

#define PROCESSES 3

/* What a run has now, as each of several processes; it borrows all but one list of rows. */
static char *read_merged(struct xb_record records[PROCESSES])
{
    struct xb_record merged = records[0];
    struct xb_record_process processes[PROCESSES];
    struct xb_record_row rows[PROCESSES];
    struct xb_record_case test = records[0].cases[0];
    for (size_t i = 0; i < PROCESSES; i++) {
        processes[i] = records[i].processes[0];
        rows[i] = records[i].cases[0].rows[0];
    }
    test.rows = rows;
    merged.is_merged = true;
    merged.process_count = merged.asked_processes = PROCESSES;
    merged.processes = processes;
    merged.cases = &test;
    xb_record_make_index(&merged);
    char *text = text_of(&merged);
    free(merged.index);
    free(merged.by_size);
    unwrap(text);
    return text;
}

/* One of three processes has a figure, or all have. */
NODE_TEST(what_one_process_says_is_not_told)
{
    struct node *n = *state;
    struct xb_record records[PROCESSES];
    struct xb_result *row = add_way(n, "alloc", XB_H2D, 0.130, 1);
    compare(row, 0.037, 5, 0.0055, 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        if (i == PROCESSES - 1)
            set_computed(row, xb_figure_find("break_even_copies_ring"), 1000);
        record_copy_of(&n->run, &records[i]);
    }
    char *text = read_merged(records);
    assert_has(
        text,
        " It pays off after 5 pageable copies, and perhaps against a ring (too close to tell).");
    free(text);
    for (size_t i = 0; i < PROCESSES; i++)
        xb_record_free(&records[i]);
}
