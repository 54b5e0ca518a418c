/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/options.h"

#include "base/memory.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MAX_ARGUMENTS 16

static const char *const modes[] = {"pageable", "pinned", "async", "double-buffer", NULL};

static const struct xb_option mode = {
    XB_CHOICE("mode", "MODE,..."),
    .short_name = 'm',
    .default_text = "pinned,async",
    .help = "Modes.",
    .choices = modes,
};
static const struct xb_option label = {
    XB_CHOICE("label", "WORD,..."),
    .short_name = 'l',
    .help = "Any words.",
};
static const struct xb_option size = {
    .name = "size",
    .short_name = 's',
    .type = XB_OPTION_SIZES,
    .argument = "SIZE,...",
    .default_text = "64K,1M",
    .help = "Sizes.",
};
static const struct xb_option chunk = {
    XB_SIZE("chunk", 4096, UINT64_C(1) << 30),
    .default_text = "1M",
    .help = "Size of a part.",
};
static const struct xb_option piece = {
    .name = "piece",
    .type = XB_OPTION_SIZES,
    .argument = "SIZE,...",
    .default_text = "0,64",
    .help = "Sizes with bounds.",
    .minimum = 0,
    .maximum = 4096,
};
static const struct xb_option blocks = {
    .name = "blocks",
    .type = XB_OPTION_COUNTS,
    .argument = "N,...",
    .default_text = "16,4",
    .help = "Numbers.",
    .minimum = 1,
    .maximum = 64,
};
static const struct xb_option samples = {
    XB_COUNT("samples", "N", 1, 1000000),
    .short_name = 'n',
    .help = "Samples.",
};
static const struct xb_option seed = {
    XB_COUNT("seed", "N", 0, UINT64_MAX),
    .default_text = "0",
    .help = "Seed.",
};
static const struct xb_option time_limit = {
    .name = "time",
    .short_name = 't',
    .type = XB_OPTION_DURATION,
    .argument = "DURATION",
    .default_text = "1.5s",
    .help = "Time limit.",
};
static const struct xb_option output = {
    XB_TEXT("output", "FILE"),
    .short_name = 'o',
    .help = "File.",
};
static const struct xb_option verbose = {
    XB_FLAG("verbose"),
    .short_name = 'v',
    .help = "More.",
};
static const struct xb_option version = {
    XB_FLAG("version"),
    .help = "Version.",
};

static const struct xb_option *const all_rows[] = {
    &mode, &label,      &size,   &chunk,   &piece,   &blocks, &samples,
    &seed, &time_limit, &output, &verbose, &version, NULL,
};

/* A command line that getopt_long may permute. */
struct command {
    int argc;
    char *argv[MAX_ARGUMENTS + 1];
};

static struct command command_of(const char *const *arguments)
{
    static char program[] = "xferbench";
    struct command command = {.argc = 1, .argv = {program}};
    for (; *arguments != NULL; arguments++) {
        assert_true(command.argc < MAX_ARGUMENTS);
        command.argv[command.argc++] = (char *)*arguments;
    }
    return command;
}

static void must_parse(const struct xb_option *const *rows, struct command *command,
                       struct xb_config *config)
{
    struct xb_error error;
    if (xb_config_parse(rows, command->argc, command->argv, config, &error) != XB_OK)
        fail_msg("%s", error.message);
}

#define PARSE(config, command, ...)                                                                \
    struct command command = command_of((const char *const[]){__VA_ARGS__, NULL});                 \
    struct xb_config config;                                                                       \
    must_parse(all_rows, &command, &config)

static void assert_words(const struct xb_value *value, size_t count, const char *const *words)
{
    assert_int_equal(value->words.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(value->words.items[i], words[i]);
}

/* They are in order, whatever the type of the option. */
static void assert_numbers(const struct xb_value *value, size_t count, const uint64_t *numbers)
{
    assert_int_equal(xb_value_length(value), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(xb_value_number(value, i), numbers[i]);
}

TEST(defaults_are_read)
{
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    must_parse(all_rows, &command, &config);
    assert_int_equal(config.count, 12);
    assert_int_equal(config.operand_count, 0);
    for (size_t i = 0; i < config.count; i++) {
        const struct xb_value *value = &config.values[i];
        assert_ptr_equal(value->option, all_rows[i]);
        assert_false(value->given);
        assert_int_equal(value->is_set, all_rows[i]->default_text != NULL);
        assert_false(value->flag);
        if (value->is_set)
            assert_string_equal(value->text, all_rows[i]->default_text);
        else
            assert_null(value->text);
    }
    assert_words(xb_config_get(&config, &mode), 2, (const char *const[]){"pinned", "async"});
    const struct xb_numbers *sizes = &xb_config_get(&config, &size)->numbers;
    assert_int_equal(sizes->count, 2);
    assert_int_equal(sizes->values[0], 65536);
    assert_int_equal(sizes->values[1], 1048576);
    assert_int_equal(xb_config_get(&config, &chunk)->count, 1048576);
    assert_int_equal(xb_config_get(&config, &seed)->count, 0);
    assert_true(xb_config_get(&config, &time_limit)->seconds == 1.5);
    assert_int_equal(xb_config_get(&config, &label)->words.count, 0);
    assert_numbers(xb_config_get(&config, &piece), 2, (const uint64_t[]){0, 64});
    assert_numbers(xb_config_get(&config, &blocks), 2, (const uint64_t[]){16, 4});
    xb_config_free(&config);
    assert_null(config.values);
    assert_int_equal(config.count, 0);
}

TEST(every_type_is_read)
{
    PARSE(config, command, "--mode=double-buffer,pageable", "--label", "b,a", "--size", "1..4",
          "--chunk=8K", "--samples=17", "--seed=18446744073709551615", "--time", "250ms",
          "--output=a,b c", "--verbose", "--piece=0,1..4,4K", "--blocks=4,64,1");
    assert_numbers(xb_config_get(&config, &piece), 5, (const uint64_t[]){0, 1, 2, 4, 4096});
    assert_numbers(xb_config_get(&config, &blocks), 3, (const uint64_t[]){4, 64, 1});
    assert_numbers(xb_config_get(&config, &chunk), 1, (const uint64_t[]){8192});
    assert_numbers(xb_config_get(&config, &samples), 1, (const uint64_t[]){17});
    assert_int_equal(xb_value_length(xb_config_get(&config, &label)), 2);
    assert_int_equal(xb_value_length(xb_config_get(&config, &output)), 1);
    assert_words(xb_config_get(&config, &mode), 2,
                 (const char *const[]){"double-buffer", "pageable"});
    assert_words(xb_config_get(&config, &label), 2, (const char *const[]){"b", "a"});
    const struct xb_numbers *sizes = &xb_config_get(&config, &size)->numbers;
    assert_int_equal(sizes->count, 3);
    assert_int_equal(sizes->values[2], 4);
    assert_int_equal(xb_config_get(&config, &chunk)->count, 8192);
    assert_int_equal(xb_config_get(&config, &samples)->count, 17);
    assert_true(xb_config_get(&config, &seed)->count == UINT64_MAX);
    assert_true(xb_config_get(&config, &time_limit)->seconds == 0.25);
    assert_string_equal(xb_config_get(&config, &output)->text, "a,b c");
    assert_string_equal(xb_config_get(&config, &time_limit)->text, "250ms");
    assert_true(xb_config_get(&config, &verbose)->flag);
    assert_true(xb_config_get(&config, &verbose)->given);
    assert_true(xb_config_get(&config, &verbose)->is_set);
    assert_false(xb_config_get(&config, &version)->flag);
    assert_true(xb_config_get(&config, &mode)->given);
    xb_config_free(&config);
}

/* As far as the last number, and no further. */
TEST(ranges_of_numbers_double)
{
    {
        PARSE(config, command, "--blocks=1..16");
        assert_numbers(xb_config_get(&config, &blocks), 5, (const uint64_t[]){1, 2, 4, 8, 16});
        xb_config_free(&config);
    }
    {
        PARSE(config, command, "--blocks=1,3..63,5..5");
        assert_numbers(xb_config_get(&config, &blocks), 7,
                       (const uint64_t[]){1, 3, 6, 12, 24, 48, 5});
        xb_config_free(&config);
    }
}

/* The largest number that there is does not overflow. */
TEST(ranges_end_where_numbers_do)
{
    struct xb_numbers counts = {NULL, 0};
    struct xb_arena *memory = NULL;
    struct xb_error error;
    assert_int_equal(xb_numbers_parse("9223372036854775808..18446744073709551615", false, 0,
                                      UINT64_MAX, &counts, &memory, &error),
                     XB_OK);
    assert_int_equal(counts.count, 1);
    assert_true(counts.values[0] == UINT64_C(1) << 63);
    assert_int_equal(xb_numbers_parse("0..4", false, 0, 8, &counts, &memory, &error), XB_ERR_USAGE);
    xb_arena_free(memory);
    assert_non_null(strstr(error.message, "cannot double from 0"));
}

TEST(short_names_are_read)
{
    PARSE(config, command, "-n5", "-vt", "2s", "-m", "async");
    assert_int_equal(xb_config_get(&config, &samples)->count, 5);
    assert_true(xb_config_get(&config, &verbose)->flag);
    assert_true(xb_config_get(&config, &time_limit)->seconds == 2.0);
    assert_words(xb_config_get(&config, &mode), 1, (const char *const[]){"async"});
    xb_config_free(&config);
}

/* A name that is the start of another must stay within reach. */
TEST(name_that_begins_another_is_read)
{
    static const struct xb_option time_zone = {
        .name = "time-zone", .type = XB_OPTION_TEXT, .argument = "NAME"};
    static const struct xb_option *const rows[] = {&time_zone, &time_limit, NULL};
    struct command command = command_of((const char *const[]){"--time=3", NULL});
    struct xb_config config;
    must_parse(rows, &command, &config);
    assert_true(xb_config_get(&config, &time_limit)->seconds == 3.0);
    assert_false(xb_config_get(&config, &time_zone)->is_set);
    xb_config_free(&config);
}

TEST(operands_are_kept)
{
    PARSE(config, command, "one", "-v", "two", "--samples", "3", "--", "--mode", "-x");
    assert_int_equal(config.operand_count, 4);
    assert_string_equal(config.operands[0], "one");
    assert_string_equal(config.operands[1], "two");
    assert_string_equal(config.operands[2], "--mode");
    assert_string_equal(config.operands[3], "-x");
    assert_true(xb_config_get(&config, &verbose)->flag);
    assert_int_equal(xb_config_get(&config, &samples)->count, 3);
    assert_false(xb_config_get(&config, &mode)->given);
    xb_config_free(&config);
}

TEST(bounds_belong_to_the_range)
{
    {
        PARSE(config, command, "--samples=1", "--chunk=4K");
        assert_int_equal(xb_config_get(&config, &samples)->count, 1);
        assert_int_equal(xb_config_get(&config, &chunk)->count, 4096);
        xb_config_free(&config);
    }
    {
        PARSE(config, command, "--samples=1000000", "--chunk=1G");
        assert_int_equal(xb_config_get(&config, &samples)->count, 1000000);
        assert_int_equal(xb_config_get(&config, &chunk)->count, 1 << 30);
        xb_config_free(&config);
    }
}

struct refusal {
    const char *arguments[MAX_ARGUMENTS];
    const char *message; /* the whole of it; a "..." at its end stands for any rest */
};

static void check_refusal(const struct refusal *refusal)
{
    struct command command = command_of(refusal->arguments);
    struct xb_value untouched;
    struct xb_config config = {.values = &untouched, .count = 77};
    struct xb_error error;
    if (xb_config_parse(all_rows, command.argc, command.argv, &config, &error) != XB_ERR_USAGE)
        fail_msg("not refused; expected: %s", refusal->message);
    assert_int_equal(error.status, XB_ERR_USAGE);
    assert_ptr_equal(config.values, &untouched);
    assert_int_equal(config.count, 77);

    size_t length = strlen(refusal->message);
    bool open = length > 3 && strcmp(refusal->message + length - 3, "...") == 0;
    if (open ? strncmp(error.message, refusal->message, length - 3) != 0
             : strcmp(error.message, refusal->message) != 0)
        fail_msg("expected: %s\nbut it says: %s", refusal->message, error.message);
}

static void check_refusals(const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_refusal(&refusals[i]);
}

TEST(unknown_options_are_refused)
{
    static const struct refusal rows[] = {
        {{"--sise"}, "unknown option --sise; did you mean --size?"},
        {{"--sise=4K"}, "unknown option --sise; did you mean --size?"},
        {{"operand", "-v", "--verbose=1", "-x", "4K"}, "option --verbose takes no argument"},
        {{"operand", "-v", "other", "--sise", "4K"}, "unknown option --sise; did you mean --size?"},
        {{"--sizes"}, "unknown option --sizes; did you mean --size?"},
        {{"--siz=4K"}, "unknown option --siz; did you mean --size?"}, /* a name is written out */
        {{"-v", "--samp", "3"}, "unknown option --samp; did you mean --samples?"},
        {{"--siz"}, "unknown option --siz; did you mean --size?"},
        {{"--verb=yes"}, "unknown option --verb; did you mean --verbose?"},
        {{"--ver"}, "unknown option --ver"},
        {{"--=4K"}, "unknown option --"},
        {{"--banana"}, "unknown option --banana"},
        {{"--sise", "--sise"}, "unknown option --sise; did you mean --size?"},
        {{"-x"}, "unknown option -x"},
        {{"-vx", "operand"}, "unknown option -x"},
        {{"-?"}, "unknown option -?"},
        {{"-:"}, "unknown option -:"},
        {{"-\xC3\xA9"}, "unknown option: '-' and the byte 0xC3"},
        {{"-\n"}, "unknown option: '-' and the byte 0x0A"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

TEST(malformed_options_are_refused)
{
    static const struct refusal rows[] = {
        {{"--size"}, "option --size needs an argument: --size SIZE,..."},
        {{"-v", "-s"}, "option --size needs an argument: --size SIZE,..."},
        {{"-vn"}, "option --samples needs an argument: --samples N"},
        {{"--verbose=yes"}, "option --verbose takes no argument"},
        {{"--verbose="}, "option --verbose takes no argument"},
        {{"--size=1K", "--size=2K"}, "option --size is given twice; give it once"},
        {{"--size=1K", "-s", "1K"}, "option --size is given twice; give it once"},
        {{"-v", "--verbose"}, "option --verbose is given twice; give it once"},
        {{"-vv"}, "option --verbose is given twice; give it once"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

TEST(bad_values_are_refused)
{
    static const struct refusal rows[] = {
        {{"--samples=0"}, "--samples: \"0\" is not a whole number from 1 to 1000000"},
        {{"--samples=1000001"}, "--samples: \"1000001\" is not a whole number from 1 to 1000000"},
        {{"--samples="}, "--samples: \"\" is not a whole number from 1 to 1000000"},
        {{"-n", "-5"}, "--samples: \"-5\" is not a whole number from 1 to 1000000"},
        {{"--samples=+5"}, "--samples: \"+5\" is not a whole number from 1 to 1000000"},
        {{"--samples= 5"}, "--samples: \" 5\" is not a whole number from 1 to 1000000"},
        {{"--samples=5 "}, "--samples: \"5 \" is not a whole number from 1 to 1000000"},
        {{"--samples=5.0"}, "--samples: \"5.0\" is not a whole number from 1 to 1000000"},
        {{"--samples=0x5"}, "--samples: \"0x5\" is not a whole number from 1 to 1000000"},
        {{"--samples=5K"}, "--samples: \"5K\" is not a whole number from 1 to 1000000"},
        {{"--samples=nan"}, "--samples: \"nan\" is not a whole number from 1 to 1000000"},
        /* 2^64 and 2^64 + 1: must not wrap to 0 and 1 */
        {{"--seed=18446744073709551616"},
         "--seed: \"18446744073709551616\" is not a whole number from 0 to 18446744073709551615"},
        {{"--samples=18446744073709551617"}, "--samples: \"18446744073709551617\" is not..."},
        {{"--chunk=4095"}, "--chunk: \"4095\" is not a size from 4 KiB to 1 GiB"},
        {{"--chunk=1048577K"}, "--chunk: \"1048577K\" is not a size from 4 KiB to 1 GiB"},
        {{"--chunk=0"}, "--chunk: size \"0\" is zero; a size is..."},
        {{"--chunk="}, "--chunk: size \"\" is not a decimal number; a size is..."},
        {{"--chunk=8K,16K"}, "--chunk: size \"8K,16K\" has an unknown suffix; a size is..."},
        {{"--size", "--mode"},
         "--size needs an argument (SIZE,...); '--mode' looks like an option"},
        {{"--size=4K,,8K"}, "--size: size list \"4K,,8K\" has an empty place; give..."},
        {{"--size=1K,2K,1K"}, "--size: size 1 KiB is named twice, again by \"1K\"; name..."},
        {{"--time=0"}, "--time: duration \"0\" is zero; a duration is..."},
        {{"--time=1h"}, "--time: duration \"1h\" has an unknown unit; a duration is..."},
        {{"--output="}, "--output: the argument FILE is empty"},
        {{"-o", ""}, "--output: the argument FILE is empty"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

#define CHOOSE "Choose from pageable, pinned, async, double-buffer"
#define PLACE " has an empty place; give words with single commas between"

TEST(bad_words_are_refused)
{
    static const struct refusal rows[] = {
        {{"--mode=pined"}, "--mode: unknown word \"pined\"; did you mean \"pinned\"? " CHOOSE},
        {{"--mode=pinned,asink"},
         "--mode: unknown word \"asink\"; did you mean \"async\"? " CHOOSE},
        {{"--mode=zzz"}, "--mode: unknown word \"zzz\". " CHOOSE},
        {{"--mode=pinned, async"},
         "--mode: unknown word \" async\"; did you mean \"async\"? " CHOOSE},
        {{"--mode="}, "--mode: \"\"" PLACE},
        {{"--mode=,"}, "--mode: \",\"" PLACE},
        {{"--mode=,async"}, "--mode: \",async\"" PLACE},
        {{"--mode=async,"}, "--mode: \"async,\"" PLACE},
        {{"--mode=async,,pinned"}, "--mode: \"async,,pinned\"" PLACE},
        {{"--mode=async,pinned,async"}, "--mode: \"async\" is named twice; name it once"},
        {{"--label=a,,b"}, "--label: \"a,,b\"" PLACE},
        {{"--label="}, "--label: \"\"" PLACE},
        {{"--label=a,b,a"}, "--label: \"a\" is named twice; name it once"},
    };
    check_refusals(rows, COUNT_OF(rows));
}

#define NUMBER " is not a whole number from 1 to 64"

TEST(bad_lists_of_numbers_are_refused)
{
    static const struct refusal rows[] = {
        {{"--blocks=0"}, "--blocks: \"0\"" NUMBER},
        {{"--blocks=4,65"}, "--blocks: \"65\"" NUMBER},
        {{"--blocks=4, 8"}, "--blocks: \" 8\"" NUMBER},
        {{"--blocks=1...4"}, "--blocks: \".4\"" NUMBER},
        {{"--blocks=1..65"}, "--blocks: \"65\"" NUMBER},
        {{"--blocks=0..4"}, "--blocks: \"0\"" NUMBER},
        {{"--blocks=18446744073709551617"}, "--blocks: \"18446744073709551617\"" NUMBER},
        {{"--blocks=..4"}, "--blocks: range \"..4\" lacks a number; name both, as in 1..16"},
        {{"--blocks=4.."}, "--blocks: range \"4..\" lacks a number; name both, as in 1..16"},
        {{"--blocks=8..4"}, "--blocks: range \"8..4\" runs backwards; put the smaller number..."},
        {{"--blocks=4K"}, "--blocks: \"4K\"" NUMBER},
        {{"--blocks="}, "--blocks: \"\" has an empty place; give numbers and ranges with..."},
        {{"--blocks=4,"}, "--blocks: \"4,\" has an empty place; give numbers and..."},
        {{"--blocks=4,8,04"}, "--blocks: 4 is named twice, again by \"04\"; name it once"},
        {{"--blocks=4,1..8"}, "--blocks: 4 is named twice, again by \"1..8\"; name it once"},
        {{"--piece=4,4097"}, "--piece: \"4097\" is not a size from 0 B to 4 KiB"},
        {{"--piece=0..4K"}, "--piece: range \"0..4K\" cannot double from 0; name 0 apart, as..."},
        {{"--piece=0,4,0"}, "--piece: size 0 B is named twice, again by \"0\"; name..."},
    };
    check_refusals(rows, COUNT_OF(rows));
}

/* What stands before a refused argument has been read already, and must be released. */
TEST(late_failure_releases_everything)
{
    static const struct refusal rows[] = {
        {{"-m", "async,pinned", "-l", "x,y", "-s", "1,2,3", "-o", "file", "--blocks=2,3",
          "--samples=0"},
         "--samples..."},
        {{"--chunk=5K", "--mode", "async,pinned,async"}, "--mode: \"async\" is named twice..."},
    };
    check_refusals(rows, COUNT_OF(rows));
}

TEST(bad_default_is_refused)
{
    static const struct xb_option wrong = {.name = "wrong",
                                           .type = XB_OPTION_COUNT,
                                           .argument = "N",
                                           .default_text = "11",
                                           .minimum = 1,
                                           .maximum = 10};
    static const struct xb_option *const rows[] = {&mode, &wrong, NULL};
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    struct xb_error error;
    assert_int_equal(xb_config_parse(rows, command.argc, command.argv, &config, &error),
                     XB_ERR_USAGE);
    assert_string_equal(error.message, "--wrong: \"11\" is not a whole number from 1 to 10");

    /* It counts only where it is used. */
    command = command_of((const char *const[]){"--wrong=10", NULL});
    must_parse(rows, &command, &config);
    assert_int_equal(xb_config_get(&config, &wrong)->count, 10);
    xb_config_free(&config);
}

/* getopt_long keeps a position of its own, also in the middle of "-vx". */
TEST(parsing_starts_anew)
{
    static const struct refusal cut_short = {{"-vxo", "operand"}, "unknown option -x"};
    for (int i = 0; i < 3; i++) {
        check_refusal(&cut_short);
        PARSE(config, command, "first", "--samples=4", "-v");
        assert_int_equal(xb_config_get(&config, &samples)->count, 4);
        assert_true(xb_config_get(&config, &verbose)->flag);
        assert_int_equal(config.operand_count, 1);
        assert_string_equal(config.operands[0], "first");
        xb_config_free(&config);
    }
}

TEST(no_rows_and_no_arguments)
{
    static const struct xb_option *const rows[] = {NULL};
    struct command command = command_of((const char *const[]){"operand", NULL});
    struct xb_config config;
    must_parse(rows, &command, &config);
    assert_int_equal(config.count, 0);
    assert_int_equal(config.operand_count, 1);
    xb_config_free(&config);

    struct command empty = {.argc = 0, .argv = {NULL}};
    must_parse(all_rows, &empty, &config);
    assert_int_equal(config.operand_count, 0);
    assert_int_equal(xb_config_get(&config, &chunk)->count, 1048576);
    xb_config_free(&config);
}

/* Texts of any length: nothing may be written past a buffer. */
TEST(long_arguments_are_safe)
{
    static char option[5000] = "--";
    static char mode_text[5000] = "--mode=";
    memset(option + 2, 'x', sizeof option - 3);
    memset(mode_text + 7, 'x', sizeof mode_text - 8);
    const struct refusal rows[] = {
        {{option}, "unknown option --xxxxxxxx..."},
        {{mode_text}, "--mode: unknown word \"xxxxxxxx..."},
    };
    check_refusals(rows, COUNT_OF(rows));
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
        command_of((const char *const[]){"--choice-with-a-long-name-07=zzz", NULL});
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
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    must_parse(all_rows, &command, &config);
    set_default(&config, &size, "4");
    set_default(&config, &mode, "async");
    set_default(&config, &time_limit, "100ms");
    set_default(&config, &chunk, "8K");
    set_default(&config, &samples, "7");
    set_default(&config, &output, "a");
    const struct xb_value *value = xb_config_get(&config, &size);
    assert_int_equal(value->numbers.count, 1);
    assert_int_equal(value->numbers.values[0], 4);
    assert_string_equal(value->text, "4");
    assert_ptr_equal(value->option, &size);
    assert_words(xb_config_get(&config, &mode), 1, (const char *const[]){"async"});
    assert_true(xb_config_get(&config, &time_limit)->seconds == 0.1);
    assert_int_equal(xb_config_get(&config, &chunk)->count, 8192);
    assert_int_equal(xb_config_get(&config, &samples)->count, 7);
    assert_string_equal(xb_config_get(&config, &output)->text, "a");
    assert_true(xb_config_get(&config, &samples)->is_set);
    for (size_t i = 0; i < config.count; i++)
        assert_false(config.values[i].given);
    set_default(&config, &size, "1K,2K"); /* the last one stands */
    assert_int_equal(xb_config_get(&config, &size)->numbers.count, 2);
    xb_config_free(&config);
}

/* However it was spelled, and also where it is the usual default. */
TEST(what_is_given_stands)
{
    PARSE(config, command, "-s", "64K,1M", "-t2s");
    set_default(&config, &size, "4");
    set_default(&config, &time_limit, "100ms");
    assert_int_equal(xb_config_get(&config, &size)->numbers.count, 2);
    assert_string_equal(xb_config_get(&config, &size)->text, "64K,1M");
    assert_true(xb_config_get(&config, &time_limit)->seconds == 2.0);
    assert_true(xb_config_get(&config, &size)->given);
    xb_config_free(&config);
}

TEST(the_first_default_goes_without_saying)
{
    static const struct xb_option several = {.default_text = "one,two"};
    static const struct xb_option one = {.default_text = "one"};
    static const struct xb_option none = {.default_text = NULL};
    assert_true(xb_option_is_usual(&several, "one"));
    assert_true(xb_option_is_usual(&one, "one"));
    static const char *const others[] = {"two", "on", "ones", "one,", "one,two", ""};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(xb_option_is_usual(&several, others[i]));
        assert_false(xb_option_is_usual(&none, others[i]));
    }
    static const struct xb_option sizes = {.type = XB_OPTION_SIZES, .default_text = "256K,4K"};
    static const struct xb_option range = {
        .type = XB_OPTION_SIZES, .default_text = "512..1M", .minimum = 512, .maximum = 1 << 20};
    assert_true(xb_option_is_usual(&sizes, "262144"));
    assert_false(xb_option_is_usual(&sizes, "4096"));
    assert_false(xb_option_is_usual(&sizes, "256K"));
    assert_true(xb_option_is_usual(&range, "512"));
    assert_false(xb_option_is_usual(&range, "1024"));
    assert_true(xb_option_is_usual(&piece, "0"));
    assert_false(xb_option_is_usual(&piece, "64"));
    assert_true(xb_option_is_usual(&blocks, "16"));
    assert_false(xb_option_is_usual(&blocks, "4"));
    assert_false(xb_option_is_usual(&blocks, "1"));
}

static const struct xb_option how = {
    XB_CHOICE("how", "HOW"),
    .default_text = "async",
    .choices = modes,
    .takes_one = true,
};
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

/* What no option is bound to stays as it was. */
TEST(fields_are_filled)
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
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    struct bound bound;
    memset(&bound, 0x5a, sizeof bound);
    must_parse(bound_rows, &command, &config);
    xb_config_fill(&config, fields, &bound);
    assert_false(bound.verbose || bound.mode_given || bound.time_given);
    assert_null(bound.output);
    assert_string_equal(bound.time_text, "1.5s");
    assert_int_equal(bound.chunk, 1048576);
    assert_true(bound.time == 1.5);
    assert_int_equal(bound.how, ASYNC);
    assert_int_equal(bound.mode.count, 2);
    assert_int_equal(bound.label.count, 0);
    assert_int_equal(bound.size.count, 2);
    assert_int_equal(bound.samples, UINT64_C(0x5a5a5a5a5a5a5a5a));
    xb_config_free(&config);

    command = command_of((const char *const[]){"-v", "-m", "async", "-t2s", "-o", "a", "-l", "b,c",
                                               "--how=pinned", "--chunk=8K", "-s4", NULL});
    must_parse(bound_rows, &command, &config);
    xb_config_fill(&config, fields, &bound);
    assert_true(bound.verbose && bound.mode_given && bound.time_given);
    assert_string_equal(bound.output, "a");
    assert_string_equal(bound.time_text, "2s");
    assert_int_equal(bound.chunk, 8192);
    assert_true(bound.time == 2);
    assert_int_equal(bound.how, PINNED);
    assert_int_equal(bound.mode.count, 1);
    assert_string_equal(bound.mode.items[0], "async");
    assert_true(xb_word_is_in(&bound.label, "b") && xb_word_is_in(&bound.label, "c"));
    assert_false(xb_word_is_in(&bound.label, "b,c") || xb_word_is_in(&bound.mode, "pinned"));
    assert_int_equal(bound.size.values[0], 4);
    xb_config_free(&config);
}

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
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    must_parse(bound_rows, &command, &config);
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
    struct command command = command_of((const char *const[]){NULL});
    struct xb_config config;
    static const struct xb_option namesake = {.name = "samples", .type = XB_OPTION_COUNT};
    must_parse(all_rows, &command, &config);
    assert_true(aborts(&config, &how, XB_BIND_TEXT));
    assert_true(aborts(&config, &namesake, XB_BIND_NUMBER));
    xb_config_free(&config);
}

/* With it set, getopt_long takes no option after the first operand. */
static int forget_posix(NO_STATE)
{
    return unsetenv("POSIXLY_CORRECT");
}
GROUP(forget_posix, NULL)
