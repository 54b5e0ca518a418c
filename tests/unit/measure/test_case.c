/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What makes a case: the values of its parameters, and whether two cases are the same. */

#include "testing.h"

#include "base/options.h"
#include "measure/plan/case.h"
#include "record/mode_list.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a mode with a parameter of each type ---- */

static const char *const way_words[] = {"round", "square", "straight", NULL};
static const char *const pace_words[] = {"slow", "fast", NULL};
static const struct xb_option way = {.name = "way",
                                     .type = XB_OPTION_CHOICES,
                                     .argument = "WAY",
                                     .default_text = "square,round",
                                     .choices = way_words};
static const struct xb_option pace = {.name = "pace",
                                      .type = XB_OPTION_CHOICES,
                                      .argument = "PACE",
                                      .default_text = "slow",
                                      .choices = pace_words};
static const struct xb_option piece = {.name = "piece",
                                       .type = XB_OPTION_SIZE,
                                       .argument = "SIZE",
                                       .default_text = "4K",
                                       .maximum = INT64_MAX};
static const struct xb_option turns = {
    .name = "turns", .type = XB_OPTION_COUNT, .argument = "N", .default_text = "3", .maximum = 9};
static const struct xb_option load = {
    .name = "load", .type = XB_OPTION_TEXT, .argument = "TEXT", .default_text = "some"};
static const struct xb_option offset = {.name = "offset",
                                        .type = XB_OPTION_SIZES,
                                        .argument = "SIZE",
                                        .default_text = "0",
                                        .maximum = 1 << 20};
static const struct xb_option steps = {.name = "steps",
                                       .type = XB_OPTION_COUNTS,
                                       .argument = "N",
                                       .default_text = "8,4",
                                       .maximum = 64};
static const struct xb_option *const rows[] = {&way,  &pace,   &piece, &turns,
                                               &load, &offset, &steps, NULL};
static const struct xb_parameter parameters[] = {
    {&way, NULL},  {&turns, NULL},    {&pace, "quick"}, {&piece, "calm"},
    {&load, NULL}, {&offset, "list"}, {&steps, "list"}, {NULL, NULL}};
static const struct xb_mode mode = {.name = "walk", .parameters = parameters};

static const struct xb_config *parse(struct xb_config *config, const char *words)
{
    static char argument[80];
    static char *argv[] = {(char *)"run", argument, NULL};
    struct xb_error error;
    snprintf(argument, sizeof argument, "%s", words);
    if (xb_config_parse(rows, 2, argv, config, &error) != XB_OK)
        fail_msg("%s", error.message);
    return config;
}

/* "square,3,slow,some square,3,fast,some ...": the settings of every combination. */
static void expect_combinations(const char *variant, const struct xb_config *config,
                                const char *expected)
{
    struct xb_case test = {.mode = &mode, .variant = variant};
    char text[512] = "";
    for (size_t i = 0; xb_case_set(&test, i, config); i++)
        for (size_t k = 0; k < test.setting_count; k++) {
            const struct xb_setting *setting = &test.settings[k];
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s", k > 0 ? "," : i > 0 ? " " : "");
            used = strlen(text);
            if (setting->word != NULL)
                snprintf(text + used, sizeof text - used, "%s", setting->word);
            else
                snprintf(text + used, sizeof text - used, "%llu",
                         (unsigned long long)setting->count);
        }
    assert_string_equal(text, expected);
}

TEST(each_word_gives_a_combination)
{
    struct xb_config config;
    parse(&config, "--pace=fast,slow");
    expect_combinations(
        "quick", &config,
        "square,3,fast,some square,3,slow,some round,3,fast,some round,3,slow,some");
    xb_config_free(&config);
}

TEST(parameters_of_other_variants_give_none)
{
    struct xb_config config;
    parse(&config, "--pace=fast,slow");
    expect_combinations("calm", &config, "square,3,4096,some round,3,4096,some");
    expect_combinations("other", &config, "square,3,some round,3,some");
    xb_config_free(&config);
    parse(&config, "--way=straight");
    expect_combinations("other", &config, "straight,3,some");
    xb_config_free(&config);
}

/* Each size of a list and each number gives one. */
TEST(each_number_gives_a_combination)
{
    struct xb_config config;
    parse(&config, "--way=round");
    expect_combinations("list", &config, "round,3,some,0,8 round,3,some,0,4");
    xb_config_free(&config);
    parse(&config, "--offset=0,2K..4K,1");
    expect_combinations("list", &config,
                        "square,3,some,0,8 square,3,some,0,4 square,3,some,2048,8 "
                        "square,3,some,2048,4 square,3,some,4096,8 square,3,some,4096,4 "
                        "square,3,some,1,8 square,3,some,1,4 round,3,some,0,8 round,3,some,0,4 "
                        "round,3,some,2048,8 round,3,some,2048,4 round,3,some,4096,8 "
                        "round,3,some,4096,4 round,3,some,1,8 round,3,some,1,4");
    xb_config_free(&config);
}

/* Every word that there is; what is no word can be anything. */
TEST(without_a_configuration_there_is_every_word)
{
    expect_combinations("quick", NULL,
                        "round,slow round,fast square,slow square,fast straight,slow "
                        "straight,fast");
    expect_combinations("calm", NULL, "round square straight");
    expect_combinations("list", NULL, "round square straight");
}

TEST(a_mode_without_parameters_has_one_combination)
{
    static const struct xb_mode plain = {.name = "plain"};
    struct xb_case test = {.mode = &plain, .variant = "only"};
    assert_true(xb_case_set(&test, 0, NULL));
    assert_int_equal(test.setting_count, 0);
    assert_false(xb_case_set(&test, 1, NULL));
}

/* ---- looking at a case ---- */

TEST(a_setting_is_found_by_its_option)
{
    struct xb_config config;
    struct xb_case test = {.mode = &mode, .variant = "calm"};
    assert_true(xb_case_set(&test, 1, parse(&config, "--turns=7")));
    assert_string_equal(xb_case_setting(&test, &way)->word, "round");
    assert_int_equal(xb_case_setting(&test, &turns)->count, 7);
    assert_int_equal(xb_case_setting(&test, &piece)->count, 4096);
    assert_string_equal(xb_case_setting(&test, &load)->word, "some");
    xb_config_free(&config);
}

TEST(a_setting_that_the_variant_has_not_aborts)
{
    struct xb_case test = {.mode = &mode, .variant = "quick"};
    assert_true(xb_case_set(&test, 0, NULL));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        _exit(xb_case_setting(&test, &piece) != NULL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(what_goes_without_saying_is_not_said)
{
    struct xb_config config;
    struct xb_case test = {.mode = &mode,
                           .variant = "quick",
                           .direction = XB_D2D,
                           .bytes = 4096,
                           .device = 2,
                           .peer = 1};
    char text[128];
    parse(&config, "--pace=slow,fast");
    static const char *const words[] = {"", " pace fast", " way round", " way round pace fast"};
    for (size_t i = 0; i < 4; i++) {
        assert_true(xb_case_set(&test, i, &config));
        assert_string_equal(xb_case_settings_text(&test, text, sizeof text), words[i]);
    }
    assert_string_equal(xb_case_text(&test, text, sizeof text),
                        "walk quick way round pace fast d2d 4 KiB device 2 to 1");
    assert_string_equal(xb_case_settings_text(&test, text, 8), " way ro"); /* cut, not more */
    xb_config_free(&config);
}

/* Of a list of numbers too; of a single one nothing is said, because no two cases differ in it. */
TEST(numbers_that_go_without_saying_are_not_said)
{
    struct xb_config config;
    struct xb_case test = {.mode = &mode, .variant = "list"};
    char text[XB_CASE_SETTINGS_TEXT];
    static const char *const words[] = {
        " offset 64 KiB", " offset 64 KiB steps 4",   "",
        " steps 4",       " way round offset 64 KiB", " way round offset 64 KiB steps 4"};
    parse(&config, "--offset=64K,0");
    for (size_t i = 0; i < 6; i++) {
        assert_true(xb_case_set(&test, i, &config));
        assert_string_equal(xb_case_settings_text(&test, text, sizeof text), words[i]);
    }
    xb_config_free(&config);
    test.variant = "calm";
    assert_true(xb_case_set(&test, 0, parse(&config, "--turns=7")));
    assert_string_equal(xb_case_settings_text(&test, text, sizeof text), "");
    xb_config_free(&config);
}

/* 0 of a size is not in any unit, and where it is said it must not read as one. */
TEST(no_bytes_are_said_as_0)
{
    static const struct xb_option gap = {
        .name = "gap", .type = XB_OPTION_SIZES, .default_text = "64", .maximum = 64};
    const struct xb_case test = {.settings = {{.option = &gap, .count = 0}}, .setting_count = 1};
    char text[XB_CASE_SETTINGS_TEXT];
    assert_string_equal(xb_case_settings_text(&test, text, sizeof text), " gap 0");
}

TEST(cases_are_alike_that_differ_in_devices_only)
{
    struct xb_config config;
    struct xb_case one = {.mode = &mode, .variant = "quick", .direction = XB_H2D, .bytes = 8};
    assert_true(xb_case_set(&one, 0, parse(&config, "--turns=7")));
    struct xb_case other = one;
    other.device = 3;
    other.simultaneous = true;
    assert_true(xb_case_alike(&one, &other));
    assert_true(xb_case_set(&other, 1, &config));
    assert_false(xb_case_alike(&one, &other));
    other = one;
    other.settings[1].count++;
    assert_false(xb_case_alike(&one, &other));
    other = one;
    other.setting_count--;
    assert_false(xb_case_alike(&one, &other));
    other = one;
    other.variant = "calm";
    assert_false(xb_case_alike(&one, &other));
    other = one;
    other.bytes++;
    assert_false(xb_case_alike(&one, &other));
    other = one;
    other.direction = XB_D2H;
    assert_false(xb_case_alike(&one, &other));
    xb_config_free(&config);
}

/* ---- the modes that there are ---- */

/* What xb_case_set relies on. */
TEST(every_parameter_is_of_a_known_kind)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        size_t count = 0;
        const struct xb_parameter *parameter = xb_modes[m]->parameters;
        for (; parameter != NULL && parameter->option != NULL; parameter++, count++) {
            const struct xb_option *option = parameter->option;
            assert_non_null(option->default_text);
            assert_true(option->type == XB_OPTION_COUNT || option->type == XB_OPTION_SIZE ||
                        option->type == XB_OPTION_TEXT || xb_option_is_list(option));
        }
        assert_true(count <= XB_CASE_SETTINGS);
    }
}

/* `list` asks for them: --data takes any word, and which there are no list says. */
TEST(every_mode_has_its_combinations_without_a_configuration)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_option *option = xb_modes[m]->variant_option;
        struct xb_case test = {.mode = xb_modes[m],
                               .variant =
                                   option != NULL ? option->choices[0] : xb_modes[m]->variant};
        assert_true(xb_case_set(&test, 0, NULL));
        for (size_t i = 0; i < test.setting_count; i++)
            assert_non_null(test.settings[i].word);
    }
}

/* h2d and d2h are one link; sizes do not matter. */
TEST(h2d_and_d2h_are_one_path)
{
    static const struct xb_mode other_mode = {.name = "run"};
    const struct xb_case base = {
        .mode = &mode, .variant = "calm", .direction = XB_H2D, .bytes = 8, .peer = XB_NO_PEER};
    struct xb_case same = base;
    struct xb_case other[7] = {base, base, base, base, base, base, base};
    same.direction = XB_D2H;
    same.bytes = 16;
    assert_true(xb_case_same_path(&base, &same));
    other[0].mode = &other_mode;
    other[1].variant = "quick";
    other[2].direction = XB_BIDIR;
    other[3].direction = XB_D2D;
    other[4].device = 1;
    other[5].peer = 1;
    other[6].settings[other[6].setting_count++] = (struct xb_setting){.option = &turns, .count = 2};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        assert_false(xb_case_same_path(&base, &other[i]));
        assert_true(xb_case_same_path(&other[i], &other[i]));
    }
    same = other[6];
    same.settings[0].count = 3;
    assert_false(xb_case_same_path(&same, &other[6]));
}
