/* SPDX-License-Identifier: Apache-2.0 */
/* Options that only one of two files has. */

#include "testing.h"

#include "comparison_fixture.h"

#include "base/options.h"

static struct xb_record defaults;

/* A program whose --warm-up is 0.05 by default, and whose --samples is nothing. */
static void begin_with_defaults(const char *mode)
{
    begin(8, 8);
    add_both(mode, "h2d", MIB, 1.0);
    xb_record_free(&defaults);
    defaults = make_record(1);
    set_option(&defaults, "warm-up", "0.05");
    set_option(&defaults, "samples", NULL);
    request.defaults = &defaults;
}

static int finish_defaults(void **state)
{
    xb_record_free(&defaults);
    return finish_group(state);
}

static void assert_text(const char *text, const char *expected)
{
    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text != NULL ? text : "(null)", expected);
}

/* Compares, and there is this difference only. */
static void assert_only(const char *name, const char *baseline, const char *candidate, bool forbids)
{
    compare();
    assert_int_equal(result.difference_count, 1);
    assert_string_equal(result.differences[0].name, name);
    assert_text(result.differences[0].baseline, baseline);
    assert_text(result.differences[0].candidate, candidate);
    assert_int_equal(result.differences[0].forbids, forbids);
    assert_int_equal(xb_comparison_exit_code(&result), forbids ? 4 : 0);
}

static void assert_none(void)
{
    compare();
    assert_int_equal(result.difference_count, 0);
}

TEST(the_default_stands_for_what_a_file_lacks)
{
    begin_with_defaults("pinned");
    set_option(&after, "warm-up", "0.05");
    assert_none();
    set_option(&after, "warm-up", "0.001");
    assert_only("option --warm-up", "0.05 (default)", "0.001", true);
    begin_with_defaults("pinned"); /* also where the candidate is the older one */
    set_option(&before, "warm-up", "0.001");
    assert_only("option --warm-up", "0.001", "0.05 (default)", true);
    set_option(&before, "warm-up", "0.05");
    assert_none();
}

/* An option that is off by default. */
TEST(nothing_is_a_default_too)
{
    begin_with_defaults("pinned");
    set_option(&after, "samples", NULL);
    assert_none();
    set_option(&after, "samples", "10");
    assert_only("option --samples", NULL, "10", true);
}

TEST(a_default_that_no_common_case_has_is_context)
{
    begin_with_defaults("pinned");
    set_option(&defaults, "passes", "1"); /* of zero-copy */
    set_option(&after, "passes", "2");
    assert_only("option --passes", "1 (default)", "2", false);
    begin_with_defaults("zero-copy");
    set_option(&defaults, "passes", "1");
    set_option(&after, "passes", "2");
    compare(); /* nothing is left that could be compared */
    assert_int_equal(result.difference_count, 1);
    assert_text(result.differences[0].baseline, "1 (default)");
    assert_true(result.differences[0].of_rows);
    assert_true(result.comparable);
    assert_int_equal(xb_comparison_exit_code(&result), 4);
}

/* What both files say is compared as it is said. */
TEST(defaults_change_nothing_where_both_have_it)
{
    begin_with_defaults("pinned");
    set_option(&before, "warm-up", "0.1");
    set_option(&after, "warm-up", "0.1");
    assert_none();
    set_option(&after, "warm-up", "0.05");
    assert_only("option --warm-up", "0.1", "0.05", true);
}

TEST(an_option_that_nobody_knows_is_context)
{
    begin_with_defaults("pinned");
    set_option(&after, "frobnicate", NULL); /* not given: as if it were not there */
    assert_none();
    set_option(&after, "frobnicate", "true");
    assert_only("option --frobnicate", NULL, "true", false);
    begin(8, 8); /* without defaults */
    add_passing(1);
    set_option(&after, "warm-up", "0.001");
    assert_only("option --warm-up", NULL, "0.001", false);
}

/* As a file of this program has them, so that texts can be compared. */
TEST(a_configuration_reads_as_its_file)
{
    static const struct xb_option time = {.name = "time",
                                          .type = XB_OPTION_DURATION,
                                          .argument = "TIME",
                                          .default_text = "50ms",
                                          .help = "x"};
    static const struct xb_option kinds = {.name = "kinds",
                                           .type = XB_OPTION_CHOICES,
                                           .argument = "KIND",
                                           .default_text = "a,b",
                                           .help = "x"};
    static const struct xb_option flag = {.name = "flag", .type = XB_OPTION_FLAG, .help = "x"};
    static const struct xb_option text = {
        .name = "text", .type = XB_OPTION_TEXT, .argument = "TEXT", .help = "x"};
    static const struct xb_option sizes = {.name = "sizes",
                                           .type = XB_OPTION_SIZES,
                                           .argument = "SIZE",
                                           .default_text = "0,1..4K",
                                           .help = "x",
                                           .minimum = 0,
                                           .maximum = 4096};
    static const struct xb_option counts = {.name = "counts",
                                            .type = XB_OPTION_COUNTS,
                                            .argument = "N",
                                            .default_text = "4,16,8",
                                            .help = "x",
                                            .minimum = 1,
                                            .maximum = 64};
    static const struct xb_option *const rows[] = {&time,  &kinds,  &flag, &text,
                                                   &sizes, &counts, NULL};
    static const char *const expected[] = {"0.05",
                                           "[\"a\",\"b\"]",
                                           "false",
                                           NULL,
                                           "[0,1,2,4,8,16,32,64,128,256,512,1024,2048,4096]",
                                           "[4,16,8]"};
    char name[] = "program";
    char *argv[] = {name, NULL};
    struct xb_config config;
    struct xb_error error;
    struct xb_record record;
    assert_int_equal(xb_config_parse(rows, 1, argv, &config, &error), XB_OK);
    xb_record_of_config(&config, &record);
    xb_config_free(&config);
    assert_int_equal(record.option_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(record.options[i].name, rows[i]->name);
        assert_text(record.options[i].value, expected[i]);
    }
    xb_record_free(&record);
}

GROUP(NULL, finish_defaults)
