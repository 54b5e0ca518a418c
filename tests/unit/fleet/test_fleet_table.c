/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "fleet_told_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct fleet_made made;

static size_t table_columns;
static bool is_verbose;

static enum xb_status write_table(FILE *stream, const struct xb_fleet_judgement *judgement,
                                  struct xb_error *error)
{
    return xb_fleet_table_write(stream, judgement, table_columns, is_verbose, error);
}

static char *table(size_t columns, bool verbose)
{
    table_columns = columns;
    is_verbose = verbose;
    return written(write_table, &made);
}

TEST(no_line_is_too_wide_and_all_is_plain)
{
    for (size_t i = 0; i < KINDS; i++) {
        kinds[i].make(&made);
        for (size_t columns = 40; columns <= 200; columns++) {
            char *text = table(columns, columns % 2 > 0);
            size_t width = 0;
            for (const char *c = text; *c != '\0'; c++) {
                assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
                width = *c == '\n' ? 0 : width + 1;
                if (width > columns)
                    fail_msg("%s, %zu columns:\n%s", kinds[i].name, columns, text);
                assert_false(*c == '\n' && c > text && c[-1] == ' ');
            }
        }
    }
}

/* A figure that this release does not know has the unit that its document names. */
TEST(no_unit_steers_the_terminal)
{
    make_outliers(&made);
    for (size_t i = 0; i < 3; i++)
        made.figures[i].unit = "x\033[31m\xC2\x9B\n::error::forged";
    char *text = table(100, true);
    for (const char *c = text; *c != '\0'; c++)
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
    assert_has(text, " x?[31m");
    assert_null(strstr(text, "::"));
}

/* Each number of a wide table that a narrow one still has is there with its unit. */
TEST(numbers_are_not_broken)
{
    make_outliers(&made);
    for (size_t columns = 40; columns <= 200; columns++) {
        char *text = table(columns, true);
        assert_has(text, "-50.0 %");
        assert_has(text, "-8.1 %");
        assert_has(text, "] 60.98 GB/s");
        assert_has(text, "^ 55.44 GB/s");
    }
}

/* What is before the rows, in one line each. */
static void assert_answer(const char *answer)
{
    char *text = table(400, false);
    char flat[2000];
    snprintf(flat, sizeof flat, "%s\n\n", text);
    strstr(flat, "\n\n")[1] = '\0';
    for (char *c = flat; (c = strstr(c, "\n  ")) != NULL;)
        memmove(c, c + 2, strlen(c + 1));
    assert_string_equal(flat, answer);
}

TEST(the_answer_comes_first)
{
    static const struct {
        void (*make)(struct fleet_made *made);
        const char *answer;
    } answers[] = {
        {make_alike, "All 40 GPUs on 40 nodes are like their siblings.\n"},
        {make_mild, "1 of 40 nodes is faster than the others: gpu010, 4.0 % above the "
                    "others.\n1 of 40 nodes has another driver than most: gpu004.\nDrain: no "
                    "node.\n"},
        {make_nothing, "No file could be read: nothing was judged.\n"},
        {make_few, "Too few siblings: nothing was judged.\nTo judge a value fleet needs at least 5 "
                   "others with the same figure, model, link, driver and options. Give it the "
                   "files of more nodes.\n"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        answers[i].make(&made);
        assert_answer(answers[i].answer);
    }
}

/* Nobody may take for good what nobody looked at. */
TEST(what_was_not_looked_at_is_in_the_answer)
{
    make_alike(&made);
    made.judgement.judged_gpus = 38;
    made.left_out[0] = (struct xb_fleet_left_out){.what = "n.json", .why = "is no JSON"};
    made.fleet.left_out_count = made.fleet.unread_count = 1;
    assert_answer("38 GPUs on 40 nodes are like their siblings.\n38 of 40 GPUs could be judged by "
                  "their siblings.\n1 file could not be read (below).\n");
    make_outliers(&made);
    made.judgement.finding_count = 1;
    made.judgement.judged_gpus = 0;
    assert_answer("1 of 40 nodes has no result file: gpu099.\nNone of 40 GPUs could be judged by "
                  "their siblings.\nDrain: gpu099 (for a script: --format nodelist)\n");
    made.judgement.judged_gpus = NODES;
    made.findings[0].unsure = true;
    made.findings[0].together = true; /* which says nothing that "unsure" does not */
    made.fleet.unread_count = 2;
    assert_answer("1 of 40 nodes has no result file: gpu099.\n2 files could not be read "
                  "(below).\nMissing nodes may have written the files that could not be read: look "
                  "at them before you drain any.\nDrain: no node.\n");
    made.findings[0].unsure = false;
    made.fleet.unread_count = 0;
    assert_answer("1 of 40 nodes has no result file, too many for single faults: look for one "
                  "cause (a setting, the launcher, a deadline) before you drain any for it.\n"
                  "Drain: no node.\n");
}

TEST(every_finding_has_its_row)
{
    make_outliers(&made);
    char *text = table(100, false);
    assert_string_equal(
        text,
        "1 of 40 nodes has measurements that failed: gpu005.\n"
        "2 of 40 nodes are slow: gpu[003,008], up to 50.0 % below the others.\n"
        "1 of 40 nodes has no result file: gpu099.\n"
        "1 of 40 nodes is faster than the others: gpu010, 4.0 % off the others.\n"
        "Drain: gpu[003,005,008,099] (for a script: --format nodelist)\n"
        "\n"
        "NODE    GPU  FIGURE                         VALUE      MEDIAN  DEVIATION  MORE  "
        "REASON\n"
        "gpu005    4  -                                  -           -          -     -  "
        "failed\n"
        "gpu003    2  link h2d                  27.72 GB/s  55.44 GB/s    -50.0 %     -  "
        "slow\n"
        "gpu008  7>3  link peer                 50.95 GB/s  55.44 GB/s     -8.1 %     -  "
        "slow\n"
        "gpu010    1  pinned h2d 1 KiB latency     3.18 us     3.31 us     -4.0 %     -  "
        "fast\n"
        "\n"
        "missing: does it run? srun -w NODE xferbench link\n"
        "failed: a measurement ended with an error (below).\n"
        "slow: measure it again, alone. If it stays slow: xferbench link on the node.\n"
        "fast: not drained. Is something different about it?\n"
        "\n"
        "gpu005, GPU 4 0000:13:00.0: pinned h2d 1 GiB: CUDA error 719 (cudaErrorLaunchFailure)\n"
        "\n"
        "Not judged: 1 figure that fewer than 6 GPUs measured alike: --verbose.\n"
        "\n"
        "Note: 2 nodes say that their clock follows no other: who began when is not known.\n"
        "\n"
        "Left out: 1 file\n"
        "old/n7.json: is no JSON\n");
    text = table(200, true);
    assert_has(text,
               "gpu003    2  0000:11:00.0  GPU-00000000-0000-0000-0000-000000000002  link h2d "
               "                 27.72 GB/s  55.44 GB/s    -50.0 %   -161.3     -  slow\n");
    assert_has(text, "\ngpu099    -  -  ");
    assert_has(text, "alike (number of values): pinned h2d 1 KiB\n  latency, NVIDIA H200, Gen5 x16 "
                     "(3).\n");
}

/* gpu003 has eight GPUs, and findings about those of the list. */
static void make_node(const size_t *gpus, size_t count)
{
    make_outliers(&made);
    for (size_t i = 0; i < 8; i++) {
        made.gpus[i].node = &made.nodes[2];
        made.gpus[i].index = (unsigned)i;
    }
    for (size_t i = 0; i < count; i++) {
        made.findings[1 + i] = made.findings[2];
        made.findings[1 + i].gpu = &made.gpus[gpus[i]];
        made.findings[1 + i].deviation = -0.08 + 0.001 * (double)i;
    }
    made.judgement.finding_count = 1 + count;
}

/* GPUs of a node that are off alike in one figure, with all their figures. One that differs has its
 * own. */
TEST(a_node_has_one_row)
{
    static const size_t some[] = {5, 2, 6, 7}, all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    make_node(some, 4);
    made.findings[1].deviation = -0.5;
    made.findings[5] = made.findings[4]; /* of the same GPU */
    made.findings[5].figure = &made.figures[1];
    made.judgement.finding_count = 6;
    char *text = table(100, false);
    assert_has(text, "1 of 40 nodes is slow: gpu003, GPUs 2, 5-7, up to 50.0 % below the others.");
    assert_has(text, "\ngpu003       5  link h2d  27.72 GB/s  55.44 GB/s    -50.0 %     -  "
                     "slow\ngpu003  2, 6-7  link h2d  27.72 GB/s  55.44 GB/s     -7.9 %    "
                     "+3  slow\n");
    make_node(all, 8);
    text = table(100, false);
    assert_has(text, "1 of 40 nodes is slow: gpu003, all 8 GPUs, up to 8.0 % below the others.\n");
    assert_has(text, "\ngpu003  all 8  link h2d  27.72 GB/s  55.44 GB/s     -8.0 %    +7  "
                     "slow\n");
    made.gpus[7].is_gone = true;
    made.judgement.finding_count = 8;
    text = table(100, false);
    assert_has(text, "\ngpu003  all 7  ");
    for (size_t i = 1; i < 3; i++) {
        made.findings[i].code = XB_FLEET_LINK_WARNING;
        made.findings[i].figure = NULL;
    }
    made.judgement.finding_count = 3;
    text = table(100, false);
    assert_has(text, "\ngpu003  0-1  -  "); /* without a figure too */
}

/* A row says what it shows of all its GPUs: also where another figure of one is worse. */
TEST(gpus_that_are_off_in_different_figures_have_rows_of_their_own)
{
    static const size_t some[] = {1, 4};
    make_node(some, 2);
    made.findings[2].figure = &made.figures[1];
    char *text = table(100, false);
    assert_has(text, "\ngpu003    1  link h2d  ");
    assert_has(text, "\ngpu003    4  link peer  ");
    assert_has(text, "is slow: gpu003, GPUs 1, 4, up to 8.0 % below the others.\n");
    made.findings[3] = made.findings[2];
    made.findings[3].figure = &made.figures[0];
    made.judgement.finding_count = 4;
    text = table(100, false);
    assert_has(text, "\ngpu003  1, 4  link h2d  27.72 GB/s  55.44 GB/s     -8.0 %    +2  slow\n");
}

/* There the address and the UUID of each are asked for. */
TEST(verbose_has_a_row_for_each_gpu)
{
    static const size_t some[] = {1, 4};
    make_node(some, 2);
    char *text = table(200, true);
    assert_has(text, "\ngpu003    1  0000:10:00.0  ");
    assert_has(text, "\ngpu003    4  0000:13:00.0  ");
    assert_has(text, "is slow: gpu003, GPUs 1, 4, up to 8.0 % below the others.\n");
}

/* An index beyond those that a row can list. */
TEST(gpus_that_cannot_be_listed_are_counted)
{
    static const size_t some[] = {1, 4};
    make_node(some, 2);
    made.gpus[4].index = 64;
    char *text = table(100, false);
    assert_has(text, "\ngpu003  2 of 8  link h2d");
    assert_has(text, "is slow: gpu003, 2 of 8 GPUs, up to 8.0 % below the others.\n");
}

/* What is kept in a file has all rows; a folder of broken files does not fill the screen. */
TEST(long_lists_are_cut_where_that_is_told)
{
    size_t rows = 0;
    make_many(&made);
    char *text = table(100, false);
    for (const char *c = strstr(text, " slow\n"); c != NULL; c = strstr(c + 1, " slow\n"))
        rows++;
    assert_int_equal(rows, FINDINGS);
    assert_has(text, "Left out: 1,234 files\n");
    assert_has(text, "and 1,224 more: --format json\n");
}

TEST(what_many_have_is_not_drained)
{
    make_many(&made);
    for (size_t i = 0; i < FINDINGS; i++)
        made.findings[i].together = i != 0;
    char *text = table(100, false);
    assert_has(text, "1 of 40 nodes is slow: gpu001, 50.0 % below the others.\n");
    assert_has(text, "\n40 of 40 nodes are slow, too many for single faults: look for one cause");
    assert_has(text, "\nDrain: gpu001 (for a script: --format nodelist)\n");
    assert_has(text, "slow, as many are\n");
    text = written(xb_fleet_nodelist_write, &made);
    assert_string_equal(text, "gpu001\n");
}

/* Who set the deadline or sent the signal is mostly not the node. */
TEST(what_was_cut_short_is_not_drained)
{
    make_outliers(&made);
    made.findings[0] = made.findings[1];
    made.findings[0].code = XB_FLEET_CUT;
    made.judgement.finding_count = 1;
    assert_answer("1 of 40 nodes was not measured to the end: gpu005.\nDrain: no node.\n");
    char *text = table(100, false);
    assert_has(text, "cut-short: not drained. A signal or the deadline ended it: measure again.\n");
    text = written(xb_fleet_nodelist_write, &made);
    assert_string_equal(text, "");
}

/* A list that has no room in a line would be broken, and copied in part. */
TEST(a_long_list_of_nodes_is_not_in_the_answer)
{
    make_outliers(&made);
    char *text = table(40, false);
    assert_has(text, "gpu[003,005,008,099]");
    made.gone.name = "a-node-with-quite-a-long-name-099";
    text = table(40, false);
    assert_has(text, "\nDrain: 4 nodes, which --format nodelist\n  names for Slurm.\n");
    made.gone.name = "no host";
    text = table(100, false);
    assert_has(text, "\nDrain: 4 nodes, which --format nodelist names for Slurm, but for 1 with a "
                     "name that no scheduler\n  takes.\n");
}

TEST(one_long_name_leaves_the_rows_as_they_are)
{
    char name[201];
    make_outliers(&made);
    memset(name, 'n', sizeof name - 1);
    snprintf(name + sizeof name - 4, 4, "-17");
    made.nodes[7].name = name;
    for (size_t columns = 80; columns <= 200; columns += 20) {
        char *text = table(columns, false);
        assert_has(text, "\nNODE ");
        assert_has(text, "\ngpu003 ");
        assert_has(text, "nnnn...nnnn");
        assert_has(text, "nn-17 ");
        assert_lacks(text, "NODE gpu");
        if (columns >= 100)
            assert_has(text, " VALUE ");
    }
}

TEST(figures_of_one_name_are_told_apart)
{
    make_alike(&made);
    made.figures[1] = made.figures[0];
    made.figures[1].driver = "570.1";
    char *text = table(100, true);
    assert_has(text, "link h2d, NVIDIA H200, Gen5 x16, cuda, driver 580.159.04, size=268435456\n");
    assert_has(text, "link h2d, NVIDIA H200, Gen5 x16, cuda, driver 570.1, size=268435456\n");
    assert_has(text, "pinned h2d 1 KiB latency, NVIDIA H200, Gen5 x16\n");
}

/* One of thousands shows, and the median is where its mark is. */
TEST(the_histogram_has_every_value)
{
    make_alike(&made);
    made.siblings[0].bins[20] = 1000000;
    made.siblings[0].bins[40] = 1;
    char *text = table(100, true);
    assert_has(text, "  49.90 GB/s [.                  .@.                  .] 60.98 GB/s\n"
                     "                                  ^ 55.44 GB/s\n");
    text = table(40, true);
    assert_has(text, "  49.90 GB/s [.   @   .] 60.98 GB/s\n"
                     "                  ^ 55.44 GB/s\n");
}

/* A scale around the median would go below nothing where one value is tiny. */
TEST(the_histogram_goes_from_the_least_to_the_most)
{
    make_alike(&made);
    struct xb_fleet_siblings *siblings = &made.siblings[0];
    memset(siblings->bins, 0, sizeof siblings->bins);
    siblings->bins[0] = 10;
    siblings->bins[20] = 30;
    siblings->least = 0.1e9;
    siblings->bins_from = -1e9;
    siblings->most = 55.5e9;
    char *text = table(100, true);
    assert_has(text, "  0.1000 GB/s [-                   @] 55.50 GB/s\n"
                     "                                   ^ 55.44 GB/s\n");
}

static int set_locale(NO_STATE)
{
    return setenv("LC_ALL", "C", 1);
}
GROUP(set_locale, NULL)
