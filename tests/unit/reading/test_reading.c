/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strtok_r */
#include "reading_fixture.h"
#include "run/formats.h"

#include "base/file_text.h"
#include "base/stream.h"
#include "reading/reading.h"
#include "record/making.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- any mode ---- */

static const struct xb_figure hops = {
    .name = "hops", .unit = XB_UNIT_RATIO, .help = "What only this mode knows"};
static const struct xb_figure *const visitor_figures[] = {&hops, NULL};

static void say_hops(struct xb_reading *reading)
{
    const struct xb_record_case *test = xb_reading_best(reading, XB_H2D, NULL, NULL);
    if (test != NULL)
        xb_tell(reading, "[{name} took {whole=hops} hops.]", test);
}

static const struct xb_reading_line visitor_lines[] = {
    {.label = "visiting", .code = "XB-VISITING", .say = say_hops}, {.label = NULL}};

/* A mode that nothing else knows; tests/CMakeLists.txt adds it to this program's list. */
extern const struct xb_mode xb_mode_visitor;
const struct xb_mode xb_mode_visitor = {.name = "visitor",
                                        .variant = "only",
                                        .directions = XB_H2D,
                                        .figures = visitor_figures,
                                        .reading = visitor_lines};

NODE_TEST(a_mode_of_its_own_has_its_line_and_the_general_ones)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &xb_mode_visitor, "only", XB_H2D, 10);
    assert_not_read(n, "Reading");
    set_figure(row, "hops", 3);
    assert_read(n, "\nReading\n  visiting     Visitor took 3 hops.\n");
    add(n, &pinned, "alloc", XB_H2D, 50);
    assert_read(n, "  slow         Visitor reaches 20 % of pinned allocated to the GPU.\n");
}

/* A file of a newer program may have such a mode. */
NODE_TEST(a_mode_that_is_not_known_has_the_general_lines)
{
    static const struct xb_mode stranger = {.name = "stranger"};
    struct node *n = *state;
    struct xb_result *both = add(n, &stranger, "word", XB_BIDIR, 80);
    set_figure(both, "bandwidth_h2d", 40e9);
    set_figure(both, "bandwidth_d2h", 40e9);
    add(n, &stranger, "word", XB_H2D, 50);
    assert_read(
        n, "  both ways    Both ways at once, stranger word moves 80.0 GB/s, 1.6 times the best "
           "single way (stranger word to the GPU). 40.0 GB/s go to the GPU, 40.0 back.\n");
}

/* ---- several processes ---- */

#define PROCESSES 7 /* which have an interval */
#define MIDDLE 3

/* Records of one process each as one of several; it borrows their rows. */
static void merge(struct xb_record records[PROCESSES], struct xb_record *merged)
{
    *merged = records[0];
    merged->is_merged = true;
    merged->process_count = merged->asked_processes = PROCESSES;
    merged->processes = calloc(PROCESSES, sizeof *merged->processes);
    merged->cases = calloc(records[0].case_count, sizeof *merged->cases);
    assert_non_null(merged->processes);
    assert_non_null(merged->cases);
    for (size_t p = 0; p < PROCESSES; p++)
        merged->processes[p] = records[p].processes[0];
    for (size_t i = 0; i < merged->case_count; i++) {
        struct xb_record_case *test = &merged->cases[i];
        *test = records[0].cases[i];
        test->rows = calloc(PROCESSES, sizeof *test->rows);
        assert_non_null(test->rows);
        for (size_t p = 0; p < PROCESSES; p++)
            test->rows[p] = records[p].cases[i].rows[0];
    }
    xb_record_make_index(merged);
}

static void free_merged(struct xb_record *merged)
{
    for (size_t i = 0; i < merged->case_count; i++)
        free(merged->cases[i].rows);
    free(merged->cases);
    free(merged->index);
    free(merged->by_size);
    free(merged->processes);
}

/* Of the seven the middle one has the medians; it says alone what they say together. */
NODE_TEST(several_processes_are_read_as_one)
{
    static const double factors[PROCESSES] = {1.1, 1.05, 1.02, 1, 0.98, 0.95, 0.9};
    static const double shares[] = {0.76, 0.74, 0.75, 0.74};
    static const double rates[] = {41, 42, 41.5, 42};
    struct node *n = *state;
    struct xb_record records[PROCESSES];
    struct xb_record merged;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    struct xb_result *slow = add(n, &pageable, "driver", XB_H2D, 7.5);
    struct xb_result *fast = add(n, &pinned, "alloc", XB_H2D, 50);
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    struct xb_result *piped = add(n, &double_buffer, "alloc", XB_BIDIR, 80);
    struct xb_result *placed = add(n, &zero_copy, "sequential", XB_H2D, 40);
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    set_figure(placed, "explicit_time", 1);
    for (size_t p = 0; p < PROCESSES; p++) {
        set_bandwidth(slow, 7.5 * factors[p]);
        set_bandwidth(fast, 50 * factors[p]);
        set_figure(both, "overlap", 0.9 * factors[p]);
        set_figure(piped, "speed_up", 2 * factors[p]);
        set_figure(placed, "break_even_passes", (double)p + 1);
        record_copy_of(&n->run, &records[p]);
    }
    merge(records, &merged);
    char *together = text_of(&merged);
    char *alone = text_of(&records[MIDDLE]);
    assert_string_equal(together, alone);
    unwrap(together);
    static const char *const parts[] = {"  link  ",    "  pinning  ", "  blocking  ",
                                        "  both ways", "  pipeline ", "reads the data 4 times",
                                        "  peer  ",    "all at once", "  slow  "};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_has(together, parts[i]);
    free(together);
    free(alone);
    free_merged(&merged);
    for (size_t p = 0; p < PROCESSES; p++)
        xb_record_free(&records[p]);
}

/* One that failed takes the case out; one that was cut short only leaves the others to speak. */
NODE_TEST(processes_that_did_not_finish)
{
    struct node *n = *state;
    struct xb_record records[PROCESSES];
    struct xb_record merged;
    struct xb_result *slow = add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &pinned, "alloc", XB_H2D, 50);
    for (size_t p = 0; p < PROCESSES; p++)
        if (p != 1)
            record_copy_of(&n->run, &records[p]);
    set_bandwidth(slow, 1);
    slow->stop_reason = XB_STOP_DEADLINE;
    record_of(&n->run, &records[1]);
    merge(records, &merged);
    char *text = text_of(&merged);
    assert_has(text, "Pageable reaches 15 % of pinned allocated to the GPU.");
    free(text);
    merged.cases[0].rows[2].status = XB_RESULT_ERROR;
    text = text_of(&merged);
    assert_lacks(text, "Reading");
    free(text);
    free_merged(&merged);
    for (size_t p = 0; p < PROCESSES; p++)
        xb_record_free(&records[p]);
}

/* ---- the text ---- */

NODE_TEST(readings_break_between_words_not_before_units)
{
    struct node *n = *state;
    char variant[20] = "";
    for (size_t length = 1; length < sizeof variant; length++) {
        memset(variant, 'v', length);
        n->run.case_count = 0;
        xb_result_free(&n->results[0]);
        memset(&n->results[0], 0, sizeof n->results[0]);
        struct xb_result *row = add(n, &double_buffer, variant, XB_BIDIR, 30);
        set_figure(row, "speed_up", 1.85);
        set_figure(row, "gpu_busy", 0.48);
        char *text = printed(n);
        assert_lacks(text, "\n               %");
        free(text);
    }
}

/* Single operations are compared by what they take. */
NODE_TEST(latencies_are_compared)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "driver", XB_H2D, 5);
    assert_read(n, "slow");
    for (size_t i = 0; i < 2; i++)
        set_latency(&n->results[i], 5e-3, 5e-3);
    assert_answered(n, "Fixed cost of a copy at 256 MiB: pinned allocated, 5.00 ms to the GPU.");
    assert_said(n, "pinning",
                "Pinned allocated is as fast as pageable to the GPU, within the noise.");
}

NODE_TEST(reading_keeps_quiet_where_there_is_nothing)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &async, "alloc", XB_H2D, 50);
    char *text = printed(n);
    assert_string_equal(text, "");
    free(text);
}

/* A file may name its modes as it likes: that must not reach a terminal as it is. */
NODE_TEST(names_are_printed_as_plain_text)
{
    static const struct xb_mode nasty = {.name = "\x1b[31mred"};
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    add(n, &nasty, "a\x07", XB_H2D, 50);
    add(n, &pageable, "driver", XB_H2D, 5);
    char *text = printed(n);
    assert_has(text, "The link gives 79.3 %");
    assert_has(text, "Pageable reaches 10 % of ?[31mred a? to the GPU.\n");
    assert_null(strpbrk(text, "\x1b\x07"));
    free(text);
}

/* ---- the README ---- */

/* The README shows what is printed for a file that is there: a sample that was edited by hand, or
 * sentences that changed since, are found. */
TEST(readme_shows_what_is_printed)
{
    struct xb_record record = {0};
    struct xb_error error;
    char *readme = NULL;
    size_t length = 0;
    char *rest = NULL;
    assert_int_equal(xb_record_read(SOURCE "/bench/results/h200/all-1g-7.json", &record, &error),
                     XB_OK);
    assert_int_equal(
        xb_file_text_read(SOURCE "/README.md", 1 << 20, false, &readme, &length, &error), XB_OK);
    struct xb_memory_text printed = {.text = NULL};
    setenv("LC_ALL", "C.UTF-8", 1); /* bars are drawn in it */
    (void)xb_memory_text_begin(&printed);
    assert_int_equal(xb_table_write(printed.stream, &record,
                                    &(struct xb_table_view){false, false, false}, &error),
                     XB_OK);
    xb_memory_text_end(&printed);
    char *text = printed.text;
    for (char *part = strtok_r(text, "\n", &rest); part != NULL;
         part = strtok_r(NULL, "\n", &rest)) {
        char line[400];
        snprintf(line, sizeof line, "\n    %s\n", part);
        assert_has(readme, line);
    }
    free(text);
    free(readme);
    xb_record_free(&record);
}
