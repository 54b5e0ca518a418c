/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

/* ---- what a file says of a figure ---- */

TEST(reads_all_of_a_figure)
{
    struct xb_record record = read_tree(result_tree());
    const struct xb_record_row *row = &record.cases[0].rows[0];
    const struct xb_record_figure *figure = xb_record_row_figure(row, "wall_time");
    assert_ptr_equal(figure, &row->figures[2]);
    assert_string_equal(figure->unit, "s");
    assert_false(figure->more_is_better);
    assert_false(figure->gates);
    assert_int_equal(figure->statistics.n, 6);
    assert_figure(figure->statistics.median, 3.5);
    assert_true(figure->statistics.has_interval);
    assert_figure(figure->statistics.ci95_low, 1.0);
    assert_figure(figure->statistics.ci95_high, 6.0);
    assert_figure(figure->statistics.min, 1.0);
    assert_figure(figure->statistics.max, 6.0);
    assert_figure(figure->statistics.p5, 1.25);
    assert_figure(figure->statistics.p95, 5.75);
    assert_figure(figure->statistics.p99, 5.95);
    assert_figure(figure->statistics.mad, 1.5);
    assert_int_equal(figure->sample_count, 6);
    assert_figure(figure->samples[0], 6.0); /* in the order taken */
    assert_figure(figure->samples[5], 1.0);
    figure = xb_record_row_figure(row, "bandwidth");
    assert_string_equal(figure->unit, "B/s");
    assert_true(figure->more_is_better);
    assert_true(figure->gates);
    xb_record_free(&record);
}

TEST(reads_what_is_known_of_a_figure)
{
    struct xb_record record = read_tree(result_tree());
    const struct xb_record_row *row = &record.cases[0].rows[0];
    const struct xb_record_figure *computed = xb_record_row_figure(row, "overlap");
    assert_int_equal(computed->statistics.n, 0);
    assert_figure(computed->statistics.median, 0.75);
    assert_false(computed->statistics.has_interval);
    assert_figure(computed->statistics.max, (double)NAN);
    assert_figure(computed->statistics.p99, (double)NAN);
    assert_int_equal(computed->sample_count, 0);
    const struct xb_record_figure *described =
        xb_record_row_figure(&record.cases[1].rows[0], "latency_host");
    assert_int_equal(described->statistics.n, 3);
    assert_int_equal(described->sample_count, 0);
    assert_figure(described->statistics.p95, 1.5);
    assert_figure(described->statistics.p99, 1.75);
    assert_figure(described->statistics.mad, (double)NAN);
    assert_null(xb_record_row_figure(row, "latency_host"));
    assert_null(xb_record_row_figure(&record.cases[2].rows[0], "bandwidth"));
    xb_record_free(&record);
}

/* A mode of another program may have figures that this one does not know: the file says what they
 * are. One that another program judges by is above 0. */
TEST(reads_figures_that_nobody_knows)
{
    cJSON *tree = result_tree();
    put(tree, "results[0].figures[4].name", "\"hop_count\"");
    put(tree, "results[0].figures[4].unit", "\"hops\"");
    put(tree, "results[0].figures[4].median", "0");
    struct xb_record record = read_tree(tree);
    const struct xb_record_figure *figure =
        xb_record_row_figure(&record.cases[0].rows[0], "hop_count");
    assert_string_equal(figure->unit, "hops");
    assert_true(figure->more_is_better);
    assert_figure(figure->statistics.median, 0.0);
    xb_record_free(&record);
    tree = result_tree();
    put(tree, "results[0].figures[4].gates", "true");
    put(tree, "results[0].figures[4].median", "0");
    refuse_tree(tree, "results[0].figures[4].median: must be a number above 0");
}

/* ---- a figure of a case ---- */

TEST(describes_what_one_process_measured)
{
    struct xb_statistics statistics;
    struct xb_record record = read_tree(result_tree());
    assert_true(xb_record_describe(&record, &record.cases[0], "bandwidth", &statistics));
    assert_int_equal(statistics.n, 6);
    assert_figure(statistics.ci95_low, 250.0);
    assert_figure(statistics.mad, 625.0);
    assert_figure(xb_record_median(&record, &record.cases[0], "bandwidth"), 1000.0);
    assert_figure(xb_record_median(&record, &record.cases[1], "latency_device"), 0.25);
    assert_false(xb_record_describe(&record, &record.cases[0], "gpu_busy", &statistics));
    assert_false(xb_record_describe(&record, &record.cases[2], "bandwidth", &statistics));
    assert_figure(xb_record_median(&record, &record.cases[2], "bandwidth"), (double)NAN);
    xb_record_free(&record);
}

/* Its own figure stands alone also where the row was cut short: the table marks it. */
TEST(describes_one_process_that_was_cut_short)
{
    cJSON *tree = result_tree();
    put(tree, "results[0].stop_reason", "\"deadline\"");
    struct xb_record record = read_tree(tree);
    assert_true(record.cases[0].rows[0].is_cut);
    assert_figure(xb_record_median(&record, &record.cases[0], "bandwidth"), 1000.0);
    xb_record_free(&record);
}

/* The case of the first row, `overlap` of which is its number. */
static cJSON *process_tree(const char *overlap)
{
    cJSON *tree = result_tree();
    put(tree, "results[0].figures[4].median", overlap);
    return tree;
}

TEST(describes_several_processes_by_their_medians)
{
    struct xb_statistics statistics;
    cJSON *documents[] = {process_tree("0.5"),   NULL,
                          process_tree("0.25"),  process_tree("0.75"),
                          process_tree("0.875"), process_tree("0.125")};
    put(documents[3], "results[0].stop_reason", "\"interrupted\""); /* not counted */
    put(documents[4], "results[0].status", "\"error\"");            /* nor this */
    put(documents[4], "results[0].figures", "[]");
    struct xb_record record = read_tree(merge(6, 6, documents));
    assert_true(xb_record_describe(&record, &record.cases[0], "overlap", &statistics));
    assert_int_equal(statistics.n, 3);
    assert_figure(statistics.median, 0.25);
    assert_figure(statistics.min, 0.125);
    assert_figure(statistics.max, 0.5);
    assert_false(statistics.has_interval);
    assert_figure(xb_record_median(&record, &record.cases[0], "overlap"), 0.25);
    assert_false(xb_record_describe(&record, &record.cases[2], "bandwidth", &statistics));
    xb_record_free(&record);
}

/* It is one of several that were asked for: the medians of the processes have no interval. */
TEST(describes_one_process_of_several)
{
    struct xb_statistics statistics;
    cJSON *documents[] = {process_tree("0.5")};
    struct xb_record record = read_tree(merge(5, 1, documents));
    assert_true(xb_record_describe(&record, &record.cases[0], "bandwidth", &statistics));
    assert_int_equal(statistics.n, 1);
    assert_figure(statistics.median, 1000.0);
    assert_false(statistics.has_interval);
    xb_record_free(&record);
}

/* ---- devices ---- */

TEST(tells_devices_of_the_first_process_with_results)
{
    size_t count = 1;
    cJSON *documents[] = {NULL, result_tree()};
    struct xb_record record = read_tree(merge(2, 2, documents));
    assert_ptr_equal(xb_record_devices(&record, &count), record.processes[1].devices);
    assert_int_equal(count, 2);
    assert_ptr_equal(xb_record_device(&record, 0), &record.processes[1].devices[0]);
    assert_ptr_equal(xb_record_device(&record, 3), &record.processes[1].devices[1]);
    assert_null(xb_record_device(&record, 1));
    assert_null(xb_record_device(&record, -1)); /* of a sum */
    xb_record_free(&record);
    assert_null(xb_record_devices(&record, &count));
    assert_int_equal(count, 0);
    assert_null(xb_record_device(&record, 0));
}
