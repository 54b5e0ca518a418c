/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "fleet_told_fixture.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fleet_made made;

static char *table(size_t columns, bool colours)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_fleet_table_write(stream, &made.judgement, columns, colours, &error),
                     XB_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void no_line_is_too_wide_and_all_is_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        kinds[i].make(&made);
        for (size_t columns = 40; columns <= 200; columns++) {
            char *text = table(columns, false);
            size_t width = 0;
            for (const char *c = text; *c != '\0'; c++) {
                assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
                width = *c == '\n' ? 0 : width + 1;
                if (width > columns)
                    fail_msg("%s, %zu columns:\n%s", kinds[i].name, columns, text);
                assert_false(*c == '\n' && c > text && c[-1] == ' ');
            }
            free(text);
        }
    }
}

/* A figure that this release does not know has the unit that its document names. */
static void no_unit_steers_the_terminal(void **state)
{
    (void)state;
    make_outliers(&made);
    for (size_t i = 0; i < 3; i++)
        made.figures[i].unit = "x\033[31m\xC2\x9B\n::error::forged";
    char *text = table(100, false);
    for (const char *c = text; *c != '\0'; c++)
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
    assert_has(text, " x?[31m");
    assert_null(strstr(text, "::"));
    free(text);
}

static const char *end_of_colour(const char *c)
{
    assert_int_equal(c[1], '[');
    for (c += 2; *c != 'm'; c++)
        assert_true(isdigit((unsigned char)*c) || *c == ';');
    return c;
}

static void colours_take_no_column(void **state)
{
    (void)state;
    make_outliers(&made);
    char *plain = table(100, false);
    char *coloured = table(100, true);
    size_t length = 0;
    assert_non_null(strchr(coloured, '\033'));
    assert_null(strchr(plain, '\033'));
    for (const char *c = coloured; *c != '\0'; c++) {
        if (*c == '\033')
            c = end_of_colour(c);
        else
            assert_int_equal(*c, plain[length++]);
    }
    assert_int_equal(length, strlen(plain));
    free(plain);
    free(coloured);
}

/* Each number of a wide table that a narrow one still has is there with its unit. */
static void numbers_are_not_broken(void **state)
{
    (void)state;
    make_outliers(&made);
    for (size_t columns = 40; columns <= 200; columns++) {
        char *text = table(columns, false);
        assert_has(text, "-50.0 %");
        assert_has(text, "-8.1 %");
        assert_has(text, "] 60.98 GB/s");
        assert_has(text, "^ 55.44 GB/s");
        free(text);
    }
}

static void the_answer_comes_first(void **state)
{
    static const struct {
        void (*make)(struct fleet_made *made);
        const char *answer;
    } answers[] = {
        {make_alike, "All 40 GPUs on 40 nodes are like their siblings.\n"},
        {make_outliers,
         "3 of 40 GPUs, on 3 of 40 nodes, are not as they should be. 1 of 40 expected nodes is "
         "missing.\n"},
        {make_mild, "No node needs to be drained, but not all are alike.\n"},
        {make_nothing, "No document could be read: nothing was judged.\n"},
        {make_few, "Too few siblings: nothing was judged.\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        answers[i].make(&made);
        char *text = table(200, false);
        assert_memory_equal(text, answers[i].answer, strlen(answers[i].answer));
        free(text);
    }
}

static void assert_answer(const char *answer)
{
    char *text = table(400, false);
    char flat[2000];
    size_t length = strlen(answer);
    assert_true(strlen(text) > length);
    snprintf(flat, sizeof flat, "%s", text);
    for (char *c = flat; *c != '\0'; c++)
        if (c[0] == '\n' && c[1] == ' ' && c[2] == ' ')
            memmove(c, c + 1, strlen(c));
    for (char *c = flat; (c = strstr(c, "  ")) != NULL;)
        memmove(c, c + 1, strlen(c));
    if (strncmp(flat, answer, length) != 0)
        fail_msg("%s", flat);
    free(text);
}

static void nodes_and_gpus_are_counted_apart(void **state)
{
    (void)state;
    make_outliers(&made);
    /* One GPU of one node, and another node of which no GPU is at fault. */
    made.findings[0] = made.findings[2];
    made.findings[1].code = XB_FLEET_FEWER_GPUS;
    made.findings[1].gpu = XB_FLEET_NONE;
    made.judgement.finding_count = 2;
    assert_answer("1 of 40 GPUs, on 1 of 40 nodes, and 1 more node are not like their siblings.\n");
    made.findings[0] = made.findings[1];
    made.judgement.finding_count = 1;
    assert_answer("1 of 40 nodes is not like its siblings.\n");
}

/* Nobody may take for good what nobody looked at. */
static void what_was_not_looked_at_is_in_the_answer(void **state)
{
    (void)state;
    make_alike(&made);
    made.left_out[0] = (struct xb_fleet_left_out){.what = "n.json", .why = "is no JSON"};
    made.fleet.left_out_count = made.fleet.unread_count = 1;
    assert_answer("All 40 GPUs on 40 nodes are like their siblings. 1 document could not be "
                  "read.\n");
    make_outliers(&made);
    made.judgement.finding_count = 1;
    made.judgement.judged_gpus = 0;
    assert_answer("1 of 40 expected nodes is missing. None of 40 GPUs could be judged by "
                  "siblings.\n");
    made.judgement.judged_gpus = NODES;
    made.findings[0].unsure = true;
    made.fleet.unread_count = 2;
    assert_answer("1 of 40 expected nodes is missing. 2 documents could not be read.\nFound: 1 "
                  "missing.\nThe documents that could not be read");
    made.findings[0].together = true; /* which says nothing that "unsure" does not */
    assert_answer("1 of 40 expected nodes is missing. 2 documents could not be read.\nFound: 1 "
                  "missing.\nThe documents that could not be read");
    made.findings[0].unsure = false;
    made.fleet.unread_count = 0;
    assert_answer("1 of 40 expected nodes is missing.\nFound: 1 missing.\n1 of these is what many "
                  "have");
    make_many(&made);
    for (size_t i = 0; i < FINDINGS; i++)
        made.findings[i].together = true;
    assert_answer("40 of 40 GPUs, on 40 of 40 nodes, are not as they should be, but many have "
                  "the same.\n");
}

static void some_gpus_that_could_not_be_judged_are_counted(void **state)
{
    (void)state;
    make_alike(&made);
    made.judgement.judged_gpus = 38;
    char *text = table(100, false);
    assert_has(text, "38 of 40 GPUs on 40 nodes could be judged: all are like their siblings.\n");
    free(text);
}

static void every_finding_has_its_row(void **state)
{
    (void)state;
    make_outliers(&made);
    char *text = table(200, false);
    assert_has(text, "SIBLINGS' MEDIAN");
    assert_has(text,
               "gpu003    2  0000:11:00.0  GPU-00000000-0000-0000-0000-000000000002  link h2d "
               "                 27.72 GB/s        55.44 GB/s    -50.0 %   -161.3     -  slow\n");
    assert_has(text, "gpu008  7>3");
    assert_has(text, "\nmissing: there is no document of it. Does it run? srun -w NODE xferbench "
                     "link\nfailed: ");
    assert_has(text, "\nslow: measure it again, alone.");
    assert_lacks(text, "gpu099: "); /* which would say the same of each */
    assert_has(
        text,
        "gpu005, GPU 4 0000:13:00.0: pinned h2d 1 GiB: CUDA error 719 (cudaErrorLaunchFailure)\n");
    assert_has(text, "Found: 1 missing, 1 failed, 2 slow, 1 fast.\n");
    assert_has(text, "old/n7.json: is no JSON\n");
    assert_has(text, "Not judged, because fewer than 6 GPUs measured the same under the same "
                     "conditions (number of\n  values): pinned h2d 1 KiB latency, NVIDIA H200, "
                     "Gen5 x16 (3).\n");
    free(text);
}

static void a_gpu_has_one_row_for_all_its_figures(void **state)
{
    (void)state;
    make_outliers(&made);
    made.findings[3] = made.findings[2];
    made.findings[3].figure = 1;
    made.findings[4] = made.findings[3];
    char *text = table(200, false);
    assert_has(text, "Found: 1 missing, 1 failed, 1 slow.\n");
    assert_has(text, "  -161.3    +2  slow\n");
    assert_has(text, "MORE how many others");
    free(text);
}

/* What is kept in a file has all rows; a folder of broken files does not fill the screen. */
static void long_lists_are_cut_where_that_is_told(void **state)
{
    size_t rows = 0;
    (void)state;
    make_many(&made);
    char *text = table(100, false);
    for (const char *c = strstr(text, " slow\n"); c != NULL; c = strstr(c + 1, " slow\n"))
        rows++;
    assert_int_equal(rows, FINDINGS);
    assert_has(text, "Left out: 1,234 documents\n");
    assert_has(text, "and 1,224 more: --format json\n");
    free(text);
}

static void what_many_have_is_not_drained(void **state)
{
    (void)state;
    make_many(&made);
    for (size_t i = 0; i < FINDINGS; i++)
        made.findings[i].together = i != 0;
    char *text = table(100, false);
    assert_has(text, "1 of 40 GPUs, on 1 of 40 nodes, is not like its siblings.\n");
    assert_has(text, "Drain 1 node: gpu001 (for a script: --format nodelist)\n");
    assert_has(text, "99 of these are what many have: look for one cause");
    assert_has(text, "slow, as many are\n");
    free(text);
    text = written(xb_fleet_nodelist_write, &made);
    assert_string_equal(text, "gpu001\n");
    free(text);
}

/* Who set the deadline or sent the signal is mostly not the node. */
static void what_was_cut_short_is_not_drained(void **state)
{
    (void)state;
    make_outliers(&made);
    made.findings[1].code = XB_FLEET_IS_CUT;
    assert_answer("2 of 40 GPUs, on 2 of 40 nodes, are not like their siblings. 1 of 40 expected "
                  "nodes is missing. 1 of 40 nodes was not measured to the end: measure it "
                  "again.\nFound: 1 missing, 2 slow, 1 cut-short, 1 fast.\nDrain 3 nodes: "
                  "gpu[003,008,099] (for a script: --format nodelist)\n");
    char *text = table(100, false);
    assert_has(text, "cut-short: not drained. A signal or the deadline ended it: measure again.\n");
    free(text);
    made.findings[0] = made.findings[1];
    made.judgement.finding_count = 1;
    assert_answer("1 of 40 nodes was not measured to the end: measure it again.\nFound: 1 "
                  "cut-short.\n");
    text = written(xb_fleet_nodelist_write, &made);
    assert_string_equal(text, "");
    free(text);
}

/* A list that has no room in a line would be broken, and copied in part. */
static void a_long_list_of_nodes_is_not_in_the_answer(void **state)
{
    (void)state;
    make_outliers(&made);
    char *text = table(40, false);
    assert_has(text, "gpu[003,005,008,099]");
    free(text);
    made.findings[0].node = "a-node-with-quite-a-long-name-099";
    text = table(40, false);
    assert_lacks(text, "gpu[");
    assert_has(
        text,
        "Drain 4 nodes: the same command with\n  --format nodelist names them for\n  Slurm.\n");
    free(text);
    made.findings[0].node = "no host";
    text = table(100, false);
    assert_has(text, "Drain 4 nodes: the same command with --format nodelist names them for Slurm, "
                     "but for 1 with a name\n  that no scheduler takes.\n");
    free(text);
}

static void one_long_name_leaves_the_rows_as_they_are(void **state)
{
    char name[201];
    (void)state;
    make_outliers(&made);
    memset(name, 'n', sizeof name - 1);
    snprintf(name + sizeof name - 4, 4, "-17");
    made.findings[3].node = name;
    for (size_t columns = 80; columns <= 200; columns += 20) {
        char *text = table(columns, false);
        assert_has(text, "\nNODE ");
        assert_has(text, "\ngpu003 ");
        assert_has(text, "nnnn...nnnn");
        assert_has(text, "nn-17 ");
        assert_lacks(text, "NODE gpu");
        if (columns >= 100)
            assert_has(text, " VALUE ");
        free(text);
    }
}

static void figures_of_one_name_are_told_apart(void **state)
{
    (void)state;
    make_alike(&made);
    made.figures[1] = made.figures[0];
    made.figures[1].driver = "570.1";
    char *text = table(100, false);
    assert_has(text, "link h2d, NVIDIA H200, Gen5 x16, cuda, driver 580.159.04, size=268435456\n");
    assert_has(text, "link h2d, NVIDIA H200, Gen5 x16, cuda, driver 570.1, size=268435456\n");
    assert_has(text, "pinned h2d 1 KiB latency, NVIDIA H200, Gen5 x16\n");
    free(text);
}

/* One of thousands shows, and the median is where its mark is. */
static void the_histogram_has_every_value(void **state)
{
    (void)state;
    make_alike(&made);
    made.siblings[0].bins[20] = 1000000;
    made.siblings[0].bins[40] = 1;
    char *text = table(100, false);
    assert_has(text, "  49.90 GB/s [.                  .@.                  .] 60.98 GB/s\n"
                     "                                  ^ 55.44 GB/s\n");
    free(text);
    text = table(40, false);
    assert_has(text, "  49.90 GB/s [.   @   .] 60.98 GB/s\n"
                     "                  ^ 55.44 GB/s\n");
    free(text);
}

/* A scale around the median would go below nothing where one value is tiny. */
static void the_histogram_goes_from_the_least_to_the_most(void **state)
{
    (void)state;
    make_alike(&made);
    struct xb_fleet_siblings *siblings = &made.siblings[0];
    memset(siblings->bins, 0, sizeof siblings->bins);
    siblings->bins[0] = 10;
    siblings->bins[20] = 30;
    siblings->least = 0.1e9;
    siblings->bins_from = -1e9;
    siblings->most = 55.5e9;
    char *text = table(100, false);
    assert_has(text, "  0.1000 GB/s [-                   @] 55.50 GB/s\n"
                     "                                   ^ 55.44 GB/s\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_too_wide_and_all_is_plain),
        cmocka_unit_test(no_unit_steers_the_terminal),
        cmocka_unit_test(colours_take_no_column),
        cmocka_unit_test(numbers_are_not_broken),
        cmocka_unit_test(the_answer_comes_first),
        cmocka_unit_test(nodes_and_gpus_are_counted_apart),
        cmocka_unit_test(what_was_not_looked_at_is_in_the_answer),
        cmocka_unit_test(some_gpus_that_could_not_be_judged_are_counted),
        cmocka_unit_test(every_finding_has_its_row),
        cmocka_unit_test(a_gpu_has_one_row_for_all_its_figures),
        cmocka_unit_test(long_lists_are_cut_where_that_is_told),
        cmocka_unit_test(what_many_have_is_not_drained),
        cmocka_unit_test(what_was_cut_short_is_not_drained),
        cmocka_unit_test(a_long_list_of_nodes_is_not_in_the_answer),
        cmocka_unit_test(one_long_name_leaves_the_rows_as_they_are),
        cmocka_unit_test(figures_of_one_name_are_told_apart),
        cmocka_unit_test(the_histogram_has_every_value),
        cmocka_unit_test(the_histogram_goes_from_the_least_to_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
