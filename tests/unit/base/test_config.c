/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/options.h"
#include "base/text.h"
#include "rows.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 16

static const char *const modes[] = {"pageable", "pinned", "async", "double-buffer", NULL};

/* One of each type, and more where bounds or the lack of a default matter. */
static const struct xb_option mode = {XB_CHOICE("mode", "MODE,..."), .short_name = 'm',
                                      .default_text = "pinned,async", .choices = modes};
static const struct xb_option label = {XB_CHOICE("label", "WORD,..."), .short_name = 'l'};
static const struct xb_option size = {.name = "size",
                                      .short_name = 's',
                                      .type = XB_OPTION_SIZES,
                                      .argument = "SIZE,...",
                                      .default_text = "64K,1M"};
static const struct xb_option chunk = {XB_SIZE("chunk", 4096, UINT64_C(1) << 30),
                                       .default_text = "1M"};
static const struct xb_option piece = {.name = "piece",
                                       .type = XB_OPTION_SIZES,
                                       .argument = "SIZE,...",
                                       .default_text = "0,64",
                                       .minimum = 0,
                                       .maximum = 4096};
static const struct xb_option blocks = {.name = "blocks",
                                        .type = XB_OPTION_COUNTS,
                                        .argument = "N,...",
                                        .default_text = "16,4",
                                        .minimum = 1,
                                        .maximum = 64};
static const struct xb_option samples = {XB_COUNT("samples", "N", 1, 1000000), .short_name = 'n'};
static const struct xb_option seed = {XB_COUNT("seed", "N", 0, UINT64_MAX), .default_text = "0"};
static const struct xb_option time_limit = {.name = "time",
                                            .short_name = 't',
                                            .type = XB_OPTION_DURATION,
                                            .argument = "DURATION",
                                            .default_text = "1.5s"};
static const struct xb_option output = {XB_TEXT("output", "FILE"), .short_name = 'o'};
static const struct xb_option verbose = {XB_FLAG("verbose"), .short_name = 'v'};
static const struct xb_option version = {XB_FLAG("version")};

static const struct xb_option *const all_rows[] = {
    &mode, &label,      &size,   &chunk,   &piece,   &blocks, &samples,
    &seed, &time_limit, &output, &verbose, &version, NULL,
};

/* A command line that getopt_long may permute. */
struct command {
    int argc;
    char *argv[MAX_ARGUMENTS + 1];
};

static struct command command_of(const char *const *arguments, size_t count)
{
    static char program[] = "xferbench";
    struct command command = {.argc = 1, .argv = {program}};
    for (size_t i = 0; i < count && arguments[i] != NULL; i++)
        command.argv[command.argc++] = (char *)arguments[i];
    return command;
}

static struct xb_config parsed(const struct xb_option *const *rows, struct command *command)
{
    struct xb_error error;
    struct xb_config config;
    if (xb_config_parse(rows, command->argc, command->argv, &config, &error) != XB_OK)
        fail_msg("%s", error.message);
    return config;
}

#define PARSE(config, rows, ...)                                                                   \
    struct command config##_command =                                                              \
        command_of((const char *const[]){__VA_ARGS__, NULL}, MAX_ARGUMENTS);                       \
    struct xb_config config = parsed(rows, &config##_command)

static void say_value(char said[ROW_TEXT], const struct xb_value *value)
{
    enum xb_option_type type = value->option->type;
    say_also(said, "%s%s", said[0] != '\0' ? "; " : "", value->option->name);
    assert_true(value->is_set);
    if (type == XB_OPTION_CHOICES) {
        assert_int_equal(xb_value_length(value), value->words.count);
        for (size_t i = 0; i < value->words.count; i++)
            say_also(said, " %s", value->words.items[i]);
    } else if (type == XB_OPTION_DURATION)
        say_also(said, " %s", XB_NUMBER_TEXT(value->seconds));
    else if (type == XB_OPTION_TEXT) {
        assert_int_equal(xb_value_length(value), 1);
        say_also(said, " %s", value->text);
    } else if (type != XB_OPTION_FLAG)
        for (size_t i = 0; i < xb_value_length(value); i++)
            say_also(said, " %" PRIu64, xb_value_number(value, i));
}

/* What was given, or what has a default, in the rows' order; and operands. */
static void say_values(char said[ROW_TEXT], const struct xb_config *config, bool are_given)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct xb_value *value = &config->values[i];
        if (value->is_set && value->given == are_given)
            say_value(said, value);
        assert_int_equal(value->flag, value->given && value->option->type == XB_OPTION_FLAG);
        assert_int_equal(value->is_set, value->text != NULL || value->flag);
    }
    for (size_t i = 0; i < config->operand_count; i++)
        say_also(said, "%s%s",
                 i > 0             ? " "
                 : said[0] != '\0' ? "; operands "
                                   : "operands ",
                 config->operands[i]);
}

static void assert_values(const struct xb_config *config, bool are_given, const char *expected)
{
    char said[ROW_TEXT] = "";
    say_values(said, config, are_given);
    assert_string_equal(said, expected);
}

static void say_command(const struct row *row, char said[ROW_TEXT])
{
    struct command command = command_of(row->part, row->count);
    struct xb_value untouched;
    struct xb_config config = {.values = &untouched, .count = 77};
    struct xb_error error;
    enum xb_status status = xb_config_parse(all_rows, command.argc, command.argv, &config, &error);
    if (status == XB_OK) {
        say_values(said, &config, true);
        xb_config_free(&config);
        assert_null(config.values);
        assert_int_equal(config.count, 0);
        return;
    }
    assert_ptr_equal(config.values, &untouched);
    assert_int_equal(config.count, 77);
    say_refused(said, status, &error);
}

TEST_ROWS(what_is_given_is_read, say_command)
TEST_ROWS(unknown_options_are_refused, say_command)
TEST_ROWS(malformed_options_are_refused, say_command)
TEST_ROWS(bad_values_are_refused, say_command)
TEST_ROWS(bad_words_are_refused, say_command)
TEST_ROWS(bad_lists_of_numbers_are_refused, say_command)
/* What stands before a refused argument has been read already, and must be released. */
TEST_ROWS(late_failure_releases_everything, say_command)

#define DEFAULTS                                                                                   \
    "mode pinned async; size 65536 1048576; chunk 1048576; piece 0 64; blocks 16 4; seed 0; "      \
    "time 1.5"

TEST(defaults_are_read)
{
    PARSE(config, all_rows, NULL);
    assert_int_equal(config.count, 12);
    for (size_t i = 0; i < config.count; i++) {
        assert_ptr_equal(config.values[i].option, all_rows[i]);
        if (config.values[i].is_set)
            assert_string_equal(config.values[i].text, all_rows[i]->default_text);
    }
    assert_values(&config, false, DEFAULTS);
    xb_config_free(&config);
}

TEST(what_was_given_is_kept_as_it_stood)
{
    PARSE(config, all_rows, "--time", "250ms", "-s64K,1M");
    assert_string_equal(xb_config_get(&config, &time_limit)->text, "250ms");
    assert_string_equal(xb_config_get(&config, &size)->text, "64K,1M");
    xb_config_free(&config);
}

/* A name that is the start of another must stay within reach. */
TEST(name_that_begins_another_is_read)
{
    static const struct xb_option time_zone = {
        .name = "time-zone", .type = XB_OPTION_TEXT, .argument = "NAME"};
    static const struct xb_option *const rows[] = {&time_zone, &time_limit, NULL};
    PARSE(config, rows, "--time=3");
    assert_values(&config, true, "time 3");
    xb_config_free(&config);
}

TEST(bad_default_is_refused)
{
    static const struct xb_option wrong = {XB_COUNT("wrong", "N", 1, 10), .default_text = "11"};
    static const struct xb_option *const rows[] = {&mode, &wrong, NULL};
    struct command command = command_of(NULL, 0);
    struct xb_config none;
    struct xb_error error;
    assert_int_equal(xb_config_parse(rows, command.argc, command.argv, &none, &error),
                     XB_ERR_USAGE);
    assert_string_equal(error.message, "--wrong: \"11\" is not a whole number from 1 to 10");

    /* It counts only where it is used. */
    PARSE(config, rows, "--wrong=10");
    assert_values(&config, true, "wrong 10");
    xb_config_free(&config);
}

/* getopt_long keeps a position of its own, also in the middle of "-vx". */
TEST(parsing_starts_anew)
{
    for (int i = 0; i < 3; i++) {
        char said[ROW_TEXT] = "";
        say_command(&(struct row){.count = 2, .part = {"-vxo", "operand"}}, said);
        assert_string_equal(said, "refused: unknown option -x");
        PARSE(config, all_rows, "first", "--samples=4", "-v");
        assert_values(&config, true, "samples 4; verbose; operands first");
        xb_config_free(&config);
    }
}

TEST(no_rows_and_no_arguments)
{
    static const struct xb_option *const rows[] = {NULL};
    PARSE(config, rows, "operand");
    assert_int_equal(config.count, 0);
    assert_values(&config, true, "operands operand");
    xb_config_free(&config);

    struct command empty = {.argc = 0, .argv = {NULL}};
    config = parsed(all_rows, &empty);
    assert_values(&config, false, DEFAULTS);
    xb_config_free(&config);
}

/* Texts of any length: nothing may be written past a buffer. */
TEST(long_arguments_are_safe)
{
    static char option[5000] = "--";
    static char mode_text[5000] = "--mode=";
    char said[ROW_TEXT] = "";
    memset(option + 2, 'x', sizeof option - 3);
    memset(mode_text + 7, 'x', sizeof mode_text - 8);
    say_command(&(struct row){.count = 1, .part = {option}}, said);
    assert_non_null(strstr(said, "refused: unknown option --xxxxxxxx"));
    said[0] = '\0';
    say_command(&(struct row){.count = 1, .part = {mode_text}}, said);
    assert_non_null(strstr(said, "refused: --mode: unknown word \"xxxxxxxx"));
}

/* More names than a message holds. */
TEST(long_lists_are_cut)
{
    enum { COUNT = 60 };
    static char names[COUNT][48];
    static struct xb_option options[COUNT];
    static const struct xb_option *rows[COUNT + 1];
    static const char *choices[COUNT + 1];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "choice-with-a-long-name-%02d", i);
        options[i] = (struct xb_option){
            .name = names[i], .type = XB_OPTION_CHOICES, .argument = "W", .choices = choices};
        rows[i] = &options[i];
        choices[i] = names[i];
    }
    struct command command =
        command_of((const char *const[]){"--choice-with-a-long-name-07=zzz"}, 1);
    struct xb_config config;
    struct xb_error error;
    assert_int_equal(xb_config_parse(rows, command.argc, command.argv, &config, &error),
                     XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "choice-with-a-long-name-00, "));
    assert_null(strstr(error.message, "choice-with-a-long-name-59"));
}

static void set_default(struct xb_config *config, const struct xb_option *row, const char *text)
{
    struct xb_error error;
    assert_int_equal(xb_config_default(config, row, text, &error), XB_OK);
}

/* What one option puts in place of another's default: of every type, and of one that had none. */
TEST(another_default_takes_its_place)
{
    PARSE(config, all_rows, NULL);
    set_default(&config, &size, "4");
    set_default(&config, &mode, "async");
    set_default(&config, &time_limit, "100ms");
    set_default(&config, &chunk, "8K");
    set_default(&config, &samples, "7");
    set_default(&config, &output, "a");
    assert_string_equal(xb_config_get(&config, &size)->text, "4");
    assert_ptr_equal(xb_config_get(&config, &size)->option, &size);
    assert_values(&config, true, "");
    set_default(&config, &size, "1K,2K"); /* the last one stands */
    assert_values(&config, false,
                  "mode async; size 1024 2048; chunk 8192; piece 0 64; blocks 16 4; samples 7; "
                  "seed 0; time 0.1; output a");
    xb_config_free(&config);
}

/* However it was spelled, and also where it is the usual default. */
TEST(what_is_given_stands)
{
    PARSE(config, all_rows, "-s", "64K,1M", "-t2s");
    set_default(&config, &size, "4");
    set_default(&config, &time_limit, "100ms");
    assert_values(&config, true, "size 65536 1048576; time 2");
    assert_string_equal(xb_config_get(&config, &size)->text, "64K,1M");
    xb_config_free(&config);
}

static void say_usual(const struct row *row, char said[ROW_TEXT])
{
    const struct xb_option option = {.type = strcmp(row->part[0], "sizes") == 0 ? XB_OPTION_SIZES
                                             : strcmp(row->part[0], "counts") == 0
                                                 ? XB_OPTION_COUNTS
                                                 : XB_OPTION_CHOICES,
                                     .default_text = row->part[1][0] != '\0' ? row->part[1] : NULL,
                                     .maximum = 1 << 20};
    say_also(said, "%s", xb_option_is_usual(&option, row->part[2]) ? "usual" : "other");
}
TEST_ROWS(the_first_default_goes_without_saying, say_usual)

static const struct xb_option how = {XB_CHOICE("how", "HOW"), .default_text = "async",
                                     .choices = modes, .takes_one = true};
static const struct xb_option *const bound_rows[] = {
    &mode, &label,      &size,   &chunk,   &piece, &blocks, &samples,
    &seed, &time_limit, &output, &verbose, &how,   NULL,
};

struct bound {
    bool verbose, mode_given, time_given;
    const char *output, *time_text;
    uint64_t chunk, samples;
    double time;
    enum { PAGEABLE, PINNED, ASYNC } how; /* in the order of `modes` */
    struct xb_word_list mode, label;
    struct xb_numbers size;
};

/* What the command line leaves in fields that it is bound to. */
static void say_bound(const struct row *row, char said[ROW_TEXT])
{
    static const struct xb_option_field fields[] = {
        XB_BIND(struct bound, verbose, &verbose),
        XB_BIND_WHETHER(struct bound, mode_given, &mode),
        XB_BIND_WHETHER(struct bound, time_given, &time_limit),
        XB_BIND(struct bound, output, &output),
        XB_BIND(struct bound, time_text, &time_limit),
        XB_BIND(struct bound, chunk, &chunk),
        XB_BIND(struct bound, time, &time_limit),
        XB_BIND(struct bound, how, &how),
        XB_BIND(struct bound, mode, &mode),
        XB_BIND(struct bound, label, &label),
        XB_BIND(struct bound, size, &size),
        {.row = NULL}};
    struct command command = command_of(row->part, row->count);
    struct xb_config config = parsed(bound_rows, &command);
    struct bound bound;
    memset(&bound, 0x5a, sizeof bound);
    xb_config_fill(&config, fields, &bound);
    say_also(said, "%d%d%d output %s, time %s = %g, chunk %d, how %s, modes", bound.verbose,
             bound.mode_given, bound.time_given, bound.output != NULL ? bound.output : "none",
             bound.time_text, bound.time, (int)bound.chunk, modes[bound.how]);
    for (size_t i = 0; i < bound.mode.count; i++)
        say_also(said, " %s", bound.mode.items[i]);
    say_also(said, ", labels");
    for (size_t i = 0; i < bound.label.count; i++)
        say_also(said, " %s", bound.label.items[i]);
    say_also(said, ", sizes");
    for (size_t i = 0; i < bound.size.count; i++)
        say_also(said, " %" PRIu64, bound.size.values[i]);
    assert_int_equal(xb_word_is_in(&bound.label, "c"), bound.label.count > 1);
    assert_false(xb_word_is_in(&bound.label, "b,c") || xb_word_is_in(&bound.mode, "pin"));
    assert_true(bound.samples == UINT64_C(0x5a5a5a5a5a5a5a5a)); /* no option is bound to it */
    xb_config_free(&config);
}
TEST_ROWS(fields_are_filled, say_bound)

/* Whether the program ends itself where a field of that kind is filled from the row. */
static bool aborts(const struct xb_config *config, const struct xb_option *row,
                   enum xb_option_field_kind kind)
{
    const struct xb_option_field fields[] = {{.row = row, .kind = kind}, {.row = NULL}};
    struct bound room;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        xb_config_fill(config, fields, &room);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

TEST(a_field_of_another_type_aborts)
{
    static const struct {
        const struct xb_option *row;
        enum xb_option_field_kind kind; /* beside text and whether it is given */
    } rows[] = {
        {&verbose, XB_BIND_FLAG}, {&output, XB_BIND_TEXT},        {&samples, XB_BIND_NUMBER},
        {&chunk, XB_BIND_NUMBER}, {&time_limit, XB_BIND_SECONDS}, {&mode, XB_BIND_WORDS},
        {&size, XB_BIND_SIZES},   {&blocks, XB_BIND_TEXT},        {&label, XB_BIND_WORDS}};
    PARSE(config, bound_rows, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int kind = XB_BIND_FLAG; kind <= XB_BIND_GIVEN; kind++) {
            bool fits = kind == XB_BIND_GIVEN || kind == (int)rows[i].kind ||
                        (kind == XB_BIND_TEXT && rows[i].row != &verbose);
            if (aborts(&config, rows[i].row, (enum xb_option_field_kind)kind) == fits)
                fail_msg("--%s as kind %d", rows[i].row->name, kind);
        }
    assert_false(aborts(&config, &how, XB_BIND_PLACE));
    assert_false(aborts(&config, &how, XB_BIND_WORDS));
    xb_config_free(&config);
}

TEST(an_unknown_option_aborts)
{
    static const struct xb_option namesake = {.name = "samples", .type = XB_OPTION_COUNT};
    PARSE(config, all_rows, NULL);
    assert_true(aborts(&config, &how, XB_BIND_TEXT));
    assert_true(aborts(&config, &namesake, XB_BIND_NUMBER));
    xb_config_free(&config);
}

/* ---- the nearest word ---- */

static const char *const all_modes[] = {
    "pageable", "pinned", "async", "double-buffer", "zero-copy", "managed", "peer", NULL,
};
static const char *const names[] = {
    "size", "sizes-from", "direction", "device", "help", "version", NULL,
};
static const char *const directions[] = {"h2d", "d2h", "bidir", NULL};
static const char *const turned[] = {"d2h", "h2d", NULL};
static const char *const streams[] = {"stream", "streams", "screams", NULL};
static const char *const nothing[] = {NULL};
static const char *const alone[] = {"pinned", NULL};

static void say_nearest(const struct row *row, char said[ROW_TEXT])
{
    static const struct {
        const char *name;
        const char *const *candidates;
    } lists[] = {{"modes", all_modes}, {"options", names},   {"directions", directions},
                 {"turned", turned},   {"streams", streams}, {"nothing", nothing},
                 {"alone", alone}};
    size_t i = 0;
    while (strcmp(lists[i].name, row->part[0]) != 0)
        i++;
    const char *nearest = xb_nearest(row->part[1], lists[i].candidates);
    say_also(said, "%s", nearest != NULL ? nearest : "none");
}

TEST_ROWS(slips_are_near, say_nearest)
TEST_ROWS(unique_prefix_is_near, say_nearest)
TEST_ROWS(nearest_and_first_of_several_wins, say_nearest)
TEST_ROWS(others_are_not_near, say_nearest)

/* Words on both sides of the longest one that is compared. */
TEST(long_words_are_safe)
{
    char candidate[66];
    char word[5000];
    const char *const one[] = {candidate, "pinned", NULL};
    for (size_t length = 62; length <= 65; length++) {
        memset(candidate, 'a', length);
        candidate[length] = '\0';
        memset(word, 'a', length);
        word[0] = 'b';
        word[length] = '\0';
        if (length <= 64)
            assert_ptr_equal(xb_nearest(word, one), candidate);
        else
            assert_null(xb_nearest(word, one));
    }
    assert_string_equal(xb_nearest("pined", one), "pinned");
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(xb_nearest(word, one));
}

/* With it set, getopt_long takes no option after the first operand. */
static int forget_posix(NO_STATE)
{
    return unsetenv("POSIXLY_CORRECT");
}
GROUP(forget_posix, NULL)
