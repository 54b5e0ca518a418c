/* SPDX-License-Identifier: Apache-2.0 */
/* The table, the matrices and the CSV of several processes. */
#include "checks.h"
#include "record/making.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define PROCESSES 3

/* A node measured in three processes; what they measured can be changed in between. */
struct several {
    struct xb_record parts[PROCESSES];
    struct xb_record_process processes[PROCESSES];
    struct xb_record record; /* of all: it borrows everything else from the parts */
};

/* Adds what the node's run has now as the next process. */
static void add_process(struct several *several, const struct node *n)
{
    struct xb_record *record = &several->record;
    size_t index = record->process_count++;
    assert_true(index < PROCESSES);
    record_copy_of(&n->run, &several->parts[index]);
    several->processes[index] = several->parts[index].processes[0];
    if (index == 0) {
        *record = several->parts[0];
        record->is_merged = true;
        record->asked_processes = PROCESSES;
        record->processes = several->processes;
        record->cases = calloc(record->case_count, sizeof *record->cases);
        assert_non_null(record->cases);
        for (size_t i = 0; i < record->case_count; i++) {
            record->cases[i] = several->parts[0].cases[i];
            record->cases[i].rows = calloc(PROCESSES, sizeof *record->cases[i].rows);
            assert_non_null(record->cases[i].rows);
        }
        xb_record_make_index(record); /* of its own cases */
    }
    for (size_t i = 0; i < record->case_count; i++)
        record->cases[i].rows[index] = several->parts[index].cases[i].rows[0];
}

/* One that ended without results. */
static void add_failed_process(struct several *several, const char *why)
{
    several->processes[several->record.process_count++] =
        (struct xb_record_process){.failure = why};
}

static void release(struct several *several)
{
    for (size_t i = 0; i < several->record.case_count; i++)
        free(several->record.cases[i].rows);
    free(several->record.cases);
    free(several->record.index);
    free(several->record.by_size);
    for (size_t i = 0; i < PROCESSES; i++)
        xb_record_free(&several->parts[i]);
}

static char *table_of(const struct several *several)
{
    char *text = written_record(write_all, &several->record);
    assert_narrow(text);
    return text;
}

/* ---- rows ---- */

NODE_TEST(rows_are_over_the_medians_of_the_processes)
{
    static const double rates[] = {50, 40, 55};
    struct node *n = *state;
    struct several several = {0};
    add(n, &pinned, "alloc", XB_H2D, 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        set_bandwidth(&n->results[0], rates[i]);
        add_process(&several, n);
    }
    char *text = table_of(&several);
    assert_line(text, "3 of 3 processes have results");
    assert_has(text, "\n\nGPU 0: H200, 1.0 GiB\n  link     none: not a PCI device\n");
    assert_row(text, "MODE VARIANT DIR SIZE GB/s 95% INTERVAL MIN MAX SPREAD N VERIFIED");
    assert_row(text, "pinned alloc h2d 256 MiB 50.00 - 40.00 55.00 30.0% 3 yes");
    assert_lacks(text, "SUBMIT");
    assert_lacks(text, "  role ");
    assert_lacks(text, "Notes");
    free(text);
    release(&several);
}

NODE_TEST(rows_of_single_operations)
{
    static const double times[] = {6e-6, 5e-6, 8e-6};
    struct node *n = *state;
    struct several several = {0};
    add_latency(n, &pinned, XB_H2D);
    for (size_t i = 0; i < PROCESSES; i++) {
        set_latency(&n->results[0], times[i], 1.5e-6);
        add_process(&several, n);
    }
    char *text = table_of(&several);
    assert_row(text, "MODE VARIANT DIR SIZE HOST P50 MIN MAX SPREAD DEVICE P50 N VERIFIED");
    assert_row(text, "pinned alloc h2d 4 B 6.00 us 5.00 us 8.00 us 50.0% 1.50 us 3 yes");
    assert_lacks(text, "P99");
    free(text);
    release(&several);
}

/* A row that was cut short does not count: its figure stands beside no full one. */
NODE_TEST(rows_that_were_cut_short)
{
    struct node *n = *state;
    struct several several = {0};
    struct xb_result *row = add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pinned, "alloc", XB_D2H, 30)->stop_reason = XB_STOP_DEADLINE;
    add_process(&several, n);
    add_process(&several, n);
    set_bandwidth(row, 10);
    row->stop_reason = XB_STOP_DEADLINE;
    add_process(&several, n);
    several.record.has_deadline = true;
    several.record.deadline_met = false;
    char *text = table_of(&several);
    assert_row(text, "pinned alloc h2d 256 MiB 50.00 - 50.00 50.00 0.0% 2 yes");
    assert_row(text, "pinned alloc d2h 256 MiB cut short - - - - 0 yes");
    assert_line(text, "  STOPPED  the deadline came: 3 of 3 processes were begun");
    assert_line(text, "  warning  pinned alloc h2d 256 MiB: cut short in process 2: not counted");
    assert_line(text, "  warning  pinned alloc d2h 256 MiB: cut short in processes 0, 1 and 2: not "
                      "counted");
    free(text);
    release(&several);
}

NODE_TEST(pairs_have_rows_and_a_matrix)
{
    static const double rates[] = {390, 380, 391};
    struct node *n = *state;
    struct several several = {0};
    n->run.device_count = 2;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 0);
    spoil(add_pair(n, "direct-read", XB_D2D, 1, 0, 1), XB_RESULT_SKIPPED, "not in reach");
    for (size_t i = 0; i < PROCESSES; i++) {
        set_bandwidth(&n->results[0], rates[i]);
        set_link(&n->results[0], "NVLink", 18, 26.5625e9);
        add_process(&several, n);
    }
    char *text = table_of(&several);
    assert_row(text, "peer direct-read d2d 256 MiB 0>1 390.0 - 380.0 391.0 2.8% 3 yes");
    assert_row(text, "peer direct-read d2d 256 MiB 1>0 skipped - - - - 0 -");
    assert_has(
        text, "\n\npeer, direct read, one way, 256 MiB, GB/s (rows: from, columns: to; NVLink 18 x "
              "26.6 GB/s)\n"
              "            0      1\n"
              "     0      -  390.0\n"
              "     1   skip      -\n");
    assert_line(text, "  skipped  peer direct-read d2d 256 MiB 1>0: not in reach");
    free(text);
    release(&several);
}

/* ---- what is said of the processes ---- */

NODE_TEST(processes_that_failed_are_told)
{
    struct node *n = *state;
    struct several several = {0};
    add(n, &pinned, "alloc", XB_H2D, 50);
    add_process(&several, n);
    add_failed_process(&several, "SIGSEGV ended it");
    several.record.interrupted = true;
    several.record.role = "baseline";
    several.record.program = "old/xferbench";
    several.record.counterpart = "xferbench";
    several.record.version = "9.8.7";
    char *text = table_of(&several);
    assert_has(text, "xferbench 9.8.7, backend cuda");
    assert_line(text, "  role     baseline: old/xferbench, in turn with xferbench");
    assert_line(text, "1 of 3 processes have results");
    assert_line(text, "  STOPPED  interrupted by a signal: 2 of 3 processes were begun");
    assert_line(text, "  FAILED   process 2 of 3: SIGSEGV ended it");
    assert_row(text, "pinned alloc h2d 256 MiB 50.00 - 50.00 50.00 - 1 yes");
    several.record.program = NULL; /* of a file, which does not say */
    free(text);
    text = table_of(&several);
    assert_line(text, "  role     baseline, in turn with xferbench");
    free(text);
    release(&several);
}

TEST(nothing_but_failures_has_no_table)
{
    struct several several = {.record = {.is_merged = true, .asked_processes = 2}};
    several.record.processes = several.processes;
    add_failed_process(&several, "it printed nothing");
    char *text = table_of(&several);
    assert_line(text, "0 of 2 processes have results");
    assert_has(text, "\n\nNotes\n  FAILED   process 1 of 2: it printed nothing\n");
    assert_lacks(text, "MODE");
    assert_lacks(text, "GPU");
    free(text);
}

/* Once for cases of the same trouble, and in how many processes; alike is enough for warnings. */
NODE_TEST(notes_count_processes)
{
    struct node *n = *state;
    struct several several = {0};
    struct xb_result *row = add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pinned, "alloc", XB_D2H, 50);
    add_process(&several, n);
    xb_result_warn(row, "noisy: only to within %d %%", 31);
    xb_result_warn(&n->results[1], "noisy: only to within %d %%", 7);
    add_process(&several, n);
    row->row.warning_count = 0;
    xb_result_warn(row, "noisy: only to within %d %%", 32);
    spoil(row, XB_RESULT_ERROR, "17 bytes are wrong");
    add_process(&several, n);
    char *text = table_of(&several);
    assert_row(text, "pinned alloc h2d 256 MiB 50.00 - 50.00 50.00 0.0% 2 NO");
    assert_line(text,
                "  ERROR    pinned alloc h2d 256 MiB in 1 of 3 processes: 17 bytes are wrong");
    assert_line(text,
                "  noisy    pinned alloc h2d 256 MiB and 1 more row in 2 of 3 processes: only to "
                "within 7 to 32 %");
    free(text);
    release(&several);
}

/* ---- CSV ---- */

NODE_TEST(csv_is_over_the_medians)
{
    static const double rates[] = {50, 40, 55};
    struct node *n = *state;
    struct several several = {0};
    add(n, &pinned, "alloc", XB_H2D, 0);
    xb_result_warn(&n->results[0], "noisy");
    for (size_t i = 0; i < PROCESSES; i++) {
        set_bandwidth(&n->results[0], rates[i]);
        add_process(&several, n);
    }
    char *text = written_record(xb_csv_write, &several.record);
    assert_has(text, "\r\npinned,alloc,h2d,268435456,0,,ok,,device-event,50000000000,,,40000000000,"
                     "55000000000,41000000000,54500000000,5000000000,3,5e-06,"
                     "0.005,converged,true,noisy,268435456,false,,,false,,,,,,,cuda,"
                     "H200,,");
    free(text);
    release(&several);
}
