/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

TEST(orders_levels)
{
    static const enum xb_level order[] = {XB_LEVEL_OK, XB_LEVEL_UNKNOWN, XB_LEVEL_WARNING,
                                          XB_LEVEL_CRITICAL};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(xb_level_worse(order[i], order[j]), order[i > j ? i : j]);
    assert_string_equal(xb_level_name(XB_LEVEL_OK), "OK");
    assert_string_equal(xb_level_name(XB_LEVEL_WARNING), "WARNING");
    assert_string_equal(xb_level_name(XB_LEVEL_CRITICAL), "CRITICAL");
    assert_string_equal(xb_level_name(XB_LEVEL_UNKNOWN), "UNKNOWN");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_DEFAULT), "default");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_FILE), "file");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_COMMAND_LINE), "command line");
}

TEST(has_default_shares)
{
    assert_near(xb_default_warn_share(32.0), 0.90, 0.0);
    assert_near(xb_default_critical_share(16.0), 0.80, 0.0);
    assert_near(xb_default_warn_share(8.0), 0.85, 0.0);
    assert_near(xb_default_critical_share(8.0), 0.70, 0.0);
}

TEST(reads_expectations)
{
    static const struct {
        const char *text;
        unsigned generation, width;
    } rows[] = {{"gen5x16", 5, 16}, {"GEN4X8", 4, 8}, {"Gen1", 1, 0}, {"gen6", 6, 0},
                {"x16", 0, 16},     {"X1", 0, 1},     {"x12", 0, 12}, {"x32", 0, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_link_limits limits = {0};
        struct xb_error error;
        assert_int_equal(xb_expect_parse(rows[i].text, XB_LIMIT_FILE, &limits, &error), XB_OK);
        assert_int_equal(limits.generation.is_set, rows[i].generation > 0);
        assert_int_equal(limits.width.is_set, rows[i].width > 0);
        assert_near(limits.generation.value, rows[i].generation, 0.0);
        assert_near(limits.width.value, rows[i].width, 0.0);
        if (rows[i].width > 0)
            assert_int_equal(limits.width.source, XB_LIMIT_FILE);
    }
}

TEST(refuses_what_is_no_expectation)
{
    static const char *const texts[] = {
        "",   "gen",  "gen0",  "gen7",   "gen05",    "gen55",    "gen5x",      "gen5x0",
        "x",  "x3",   "x64",   "x016",   "gen5x160", "gen5 x16", " gen5x16",   "gen5x16 ",
        "16", "5x16", "gen-5", "gen5.0", "x16gen5",  "gen5y16",  "generation5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct xb_link_limits limits = {.width = {true, 8.0, XB_LIMIT_COMMAND_LINE}};
        struct xb_error error = {0};
        if (xb_expect_parse(texts[i], XB_LIMIT_FILE, &limits, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" passes", texts[i]);
        assert_non_null(strstr(error.message, "gen5x16"));
        assert_false(limits.generation.is_set);
        assert_near(limits.width.value, 8.0, 0.0);
    }
}
