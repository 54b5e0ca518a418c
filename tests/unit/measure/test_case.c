/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What makes a case: the values of its parameters, and whether two cases are the same. What the
 * options of a run give: tests/unit/runs/planned.txt. */

#include "base/options.h"
#include "measure/plan/case.h"
#include "record/mode_list.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a mode with a parameter of each type ---- */

static const char *const way_words[] = {"round", "square", "straight", NULL};
static const char *const pace_words[] = {"slow", "fast", NULL};
static const struct xb_option way = {
    .name = "way", .type = XB_OPTION_CHOICES, .default_text = "square,round", .choices = way_words};
static const struct xb_option pace = {
    .name = "pace", .type = XB_OPTION_CHOICES, .default_text = "slow", .choices = pace_words};
static const struct xb_option piece = {
    .name = "piece", .type = XB_OPTION_SIZE, .default_text = "4K", .maximum = INT64_MAX};
static const struct xb_option turns = {
    .name = "turns", .type = XB_OPTION_COUNT, .default_text = "3", .maximum = 9};
static const struct xb_option offset = {
    .name = "offset", .type = XB_OPTION_SIZES, .default_text = "0", .maximum = 1 << 20};
static const struct xb_parameter parameters[] = {{&way, NULL},      {&turns, NULL},
                                                 {&pace, "quick"},  {&piece, "calm"},
                                                 {&offset, "list"}, {NULL, NULL}};
static const struct xb_mode mode = {.name = "walk", .parameters = parameters};

/* Without a configuration, as `list` asks, each word is one, and of what is no word there is none;
 * a parameter of another variant gives none either. */
TEST(each_word_gives_a_combination)
{
    static const struct {
        const char *variant, *said;
    } table[] = {{"quick",
                  " way round; way round pace fast;; pace fast; way straight; way straight "
                  "pace fast;"},
                 {"list", " way round;; way straight;"}};
    for (size_t i = 0; i < 2; i++) {
        struct xb_case test = {.mode = &mode, .variant = table[i].variant};
        char said[256] = "";
        for (size_t k = 0; xb_case_set(&test, k, NULL); k++) {
            xb_case_settings_text(&test, said + strlen(said), XB_CASE_SETTINGS_TEXT);
            strcat(said, ";");
        }
        assert_string_equal(said, table[i].said);
    }
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

/* Of a list of words each is a setting, and a setting that the variant has not aborts. */
TEST(a_setting_is_found_by_its_option)
{
    struct xb_case test = {.mode = &mode, .variant = "quick"};
    int status = 0;
    assert_true(xb_case_set(&test, 1, NULL));
    assert_string_equal(xb_case_setting(&test, &way)->word, "round");
    assert_string_equal(xb_case_setting(&test, &pace)->word, "fast");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        _exit(xb_case_setting(&test, &piece) != NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* A text is cut where there is no room; 0 of a size is not in any unit, and must not read as one.
 */
TEST(a_case_has_a_text)
{
    static const struct xb_option gap = {
        .name = "gap", .type = XB_OPTION_SIZES, .default_text = "64", .maximum = 64};
    struct xb_case test = {.mode = &mode,
                           .variant = "quick",
                           .direction = XB_D2D,
                           .bytes = 4096,
                           .device = 2,
                           .peer = 1};
    char text[128];
    assert_true(xb_case_set(&test, 1, NULL));
    assert_string_equal(xb_case_text(&test, text, sizeof text),
                        "walk quick way round pace fast d2d 4 KiB device 2 to 1");
    assert_string_equal(xb_case_settings_text(&test, text, 8), " way ro");
    test = (struct xb_case){.settings = {{.option = &gap, .count = 0}}, .setting_count = 1};
    assert_string_equal(xb_case_settings_text(&test, text, sizeof text), " gap 0");
}

/* Cases are alike that differ in devices only. h2d and d2h are one path, of whatever size. */
TEST(cases_are_alike_or_of_one_path)
{
    static const struct xb_mode other_mode = {.name = "run"};
    const struct xb_setting three = {.option = &turns, .count = 3};
    const struct xb_setting four = {.option = &turns, .count = 4};
    const struct xb_case base = {.mode = &mode,
                                 .variant = "calm",
                                 .direction = XB_H2D,
                                 .bytes = 8,
                                 .peer = XB_NO_PEER,
                                 .settings = {three},
                                 .setting_count = 1};
    struct xb_case others[11];
    static const struct {
        bool alike, same_path;
    } expected[] = {{true, true},   {true, false},  {true, false},  {false, true},
                    {false, true},  {false, false}, {false, false}, {false, false},
                    {false, false}, {false, false}, {false, false}};
    for (size_t i = 0; i < 11; i++)
        others[i] = base;
    others[0].simultaneous = true;
    others[1].device = 1;
    others[2].peer = 1;
    others[3].direction = XB_D2H;
    others[4].bytes = 16;
    others[5].mode = &other_mode;
    others[6].variant = "quick";
    others[7].direction = XB_BIDIR;
    others[8].direction = XB_D2D;
    others[9].settings[0] = four;
    others[10].setting_count = 0;
    for (size_t i = 0; i < 11; i++) {
        assert_int_equal(xb_case_alike(&base, &others[i]), expected[i].alike);
        assert_int_equal(xb_case_same_path(&base, &others[i]), expected[i].same_path);
        assert_true(xb_case_same_path(&others[i], &others[i]));
    }
}

/* ---- the modes that there are ---- */

/* What xb_case_set relies on. And `list` asks for each mode's combinations without a configuration:
 * --data takes any word, and which there are no list says. */
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
        const struct xb_option *option = xb_modes[m]->variant_option;
        struct xb_case test = {.mode = xb_modes[m],
                               .variant =
                                   option != NULL ? option->choices[0] : xb_modes[m]->variant};
        assert_true(xb_case_set(&test, 0, NULL));
        for (size_t i = 0; i < test.setting_count; i++)
            assert_non_null(test.settings[i].word);
    }
}
