/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "compare_fixture.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "testing.h"

static const cJSON *entry(const cJSON *root, const char *name)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        if (strcmp(cJSON_GetStringValue(at(item, "name")), name) == 0)
            return item;
    }
    fail_msg("no entry %s", name);
    return NULL;
}

RUN_TEST(benchmark_action_has_the_candidates_figures)
{
    struct node *n = *state;
    make_regression(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), 6); /* those that were measured */
    const cJSON *one = entry(root, "pinned registered h2d 1 GiB device 0 bandwidth");
    assert_text_at(one, "unit", "GB/s");
    assert_number_at(one, "value", 55.44 * 0.9402);
    assert_text_at(one, "range", "\xC2\xB1 0.182"); /* 3.5 thousandths */
    assert_text_at(
        one, "extra",
        "8 processes; 6.0 % slower, 99 % sure of at least 5.8 %; ratio 0.9402; REGRESSION");
    one = entry(root, "pinned new h2d 1 GiB device 0 bandwidth");
    assert_number_at(one, "value", 21);
    assert_text_at(one, "extra", "8 processes; -; only in the candidate");
    one = entry(root, "pinned loose h2d 1 GiB device 0 bandwidth");
    assert_text_at(one, "extra",
                   "8 processes; 20.0 % slower, 99 % sure of at least 19.8 %; "
                   "ratio 0.8000; REGRESSION (not counted)");
    cJSON_Delete(root);
}

RUN_TEST(benchmark_action_makes_bigger_better)
{
    struct node *n = *state;
    make_latency(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), 2);
    const cJSON *one = entry(root, "pinned alloc h2d 1 GiB device 0 latency_device");
    assert_number_at(one, "value", 1 / 2.2e-6);
    assert_text_at(one, "extra",
                   "8 processes; 0.00 %, 99 % sure of not longer; ratio 1.0000; PASS");
    one = entry(root, "pinned alloc h2d 1 GiB device 0 latency_host");
    assert_text_at(one, "extra",
                   "8 processes; 6.3 % longer, 99 % sure of at least 6.0 %; "
                   "ratio 1.0634; REGRESSION");
    assert_text_at(one, "unit", "1/s");
    assert_number_at(one, "value", 1 / 3.52e-6);
    assert_text_at(one, "range", "\xC2\xB1 994");
    cJSON_Delete(root);
}

/* A chart's units, of what is no rate; and names by the candidate's parameters. */
RUN_TEST(benchmark_action_has_any_figure)
{
    static const struct {
        bool more_is_better;
        const char *figure_unit, *unit;
        double value;
    } kinds_of_figure[] = {{true, "1", "1", 1.6437},
                           {false, "1", "1", 1 / 1.6437},
                           {true, "s", "s", 1.6437},
                           {false, "B/s", "1/GB/s", 1e9 / 1.6437}};
    struct node *n = *state;
    struct xb_gate gate = {.figure = "speed_up"};
    make_parameters(n);
    n->comparison.request.gates = (struct xb_gates){.items = &gate, .count = 1};
    for (size_t i = 0; i < sizeof kinds_of_figure / sizeof kinds_of_figure[0]; i++) {
        for (size_t p = 0; p < PROCESSES; p++) {
            struct xb_record_figure *figure = &n->candidate.figures[1][p][1];
            figure->unit = kinds_of_figure[i].figure_unit;
            figure->more_is_better = kinds_of_figure[i].more_is_better;
        }
        cJSON *root = parsed(xb_compare_benchmark_action_write, n);
        assert_int_equal(cJSON_GetArraySize(root), 3);
        entry(root, "async registered h2d 1 GiB device 0 chunk 8 MiB bandwidth");
        const cJSON *one = entry(root, "async registered h2d 1 GiB device 0 chunk 64 KiB speed_up");
        assert_text_at(one, "unit", kinds_of_figure[i].unit);
        double value = cJSON_GetNumberValue(at(one, "value"));
        assert_true(value > 0.999999 * kinds_of_figure[i].value &&
                    value < 1.000001 * kinds_of_figure[i].value);
        cJSON_Delete(root);
    }
}

RUN_TEST(benchmark_action_is_written_whatever_the_verdict)
{
    struct node *n = *state;
    make_refused(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    const cJSON *one = entry(root, "pinned alloc d2h 1 MiB device 1>2 bandwidth");
    assert_number_at(one, "value", 50);
    assert_text_at(one, "extra",
                   "8 processes; NOT COMPARABLE: GPU model of device 0, option "
                   "--chunk");
    cJSON_Delete(root);
    n->comparison.request.force = true;
    n->candidate.record.process_count = 1;
    root = parsed(xb_compare_benchmark_action_write, n);
    one = cJSON_GetArrayItem(root, 0);
    assert_text_at(one, "extra",
                   "1 process; FORCED: not comparable: GPU model of device 0, option --chunk");
    assert_null(cJSON_GetObjectItem(one, "range"));
    cJSON_Delete(root);
    make_empty(n);
    n->candidate.record.case_count = 0;
    assert_int_equal(cJSON_GetArraySize(root = parsed(xb_compare_benchmark_action_write, n)), 0);
    cJSON_Delete(root);
}

/* A chart shows entries by themselves: each says what was forced, also where the files are alike.
 */
RUN_TEST(benchmark_action_tells_of_forced_rows)
{
    static const char words[] = "FORCED: not comparable: 1 figure measured with other settings";
    struct node *n = *state;
    make_rows_apart(n);
    for (int force = 0; force < 2; force++) {
        n->comparison.request.force = force;
        cJSON *root = parsed(xb_compare_benchmark_action_write, n);
        const cJSON *one = cJSON_GetArrayItem(root, 0);
        const char *extra = cJSON_GetStringValue(at(one, "extra"));
        assert_int_equal(strstr(extra, words) != NULL, force);
        cJSON_Delete(root);
    }
}

/* A chart that was begun by another release goes on: sizes of a name have no decimal units. */
RUN_TEST(benchmark_action_names_stay)
{
    static struct xb_record_fact chunk = {.name = "chunk", .value = "64000"};
    struct node *n = *state;
    make_parameters(n);
    for (size_t i = 0; i < n->candidate.record.case_count; i++)
        n->candidate.cases[i].bytes = 4000000;
    n->candidate.cases[0].parameters = &chunk;
    n->candidate.cases[0].parameter_count = 1;
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    entry(root, "async registered h2d 4000000 B device 0 chunk 64000 B bandwidth");
    cJSON_Delete(root);
}

/* Two runs that differ in their figures alone have the same names. */
RUN_TEST(benchmark_action_names_are_the_cases)
{
    struct node *n = *state;
    make_many(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), CASES);
    for (int i = 0; i < CASES; i++)
        assert_ptr_equal(entry(root, cJSON_GetStringValue(at(cJSON_GetArrayItem(root, i), "name"))),
                         cJSON_GetArrayItem(root, i));
    cJSON_Delete(root);
    n->candidate.cases[0].simultaneous = n->candidate.cases[1].latency = true;
    n->candidate.cases[0].device = -1;
    root = parsed(xb_compare_benchmark_action_write, n);
    entry(root, "pinned registered h2d 4 KiB device sum simultaneous bandwidth");
    entry(root, "pinned registered h2d 4 KiB device 1 latency run bandwidth");
    cJSON_Delete(root);
}
