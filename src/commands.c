/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands together: which there are, help on all of them, which one is meant, and what is
 * said where none is. */
#include "commands.h"

#include "backends/registry.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "fleet/write/formats.h"
#include "record/mode_list.h"
#include "run/request.h"
#include "xferbench/version.h"
#include "xferbench/words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct xb_command command_help;

const struct xb_command *const xb_commands[] = {
    &xb_command_run,
    &xb_command_list,
    &xb_command_link,
    &xb_command_compare,
    &xb_command_fleet,
    &xb_command_show,
    &xb_command_report,
    &xb_command_advise,
    &xb_command_explain,
    &command_help,
    NULL,
};

static const struct xb_command *command_find(const char *name)
{
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        if (strcmp(name, xb_commands[i]->name) == 0)
            return xb_commands[i];
    return NULL;
}

/* The names of all commands, and room for more; returns how many there are. */
#define MOST_NAMES 96
static size_t command_names(const char *names[MOST_NAMES])
{
    size_t count = 0;
    for (; xb_commands[count] != NULL && count < 24; count++)
        names[count] = xb_commands[count]->name;
    names[count] = NULL;
    return count;
}

/* The row that the user means by "--size", "-s" or "size"; NULL if the command has none. */
static const struct xb_option *find_row(const struct xb_command *command, const char *word)
{
    const struct xb_option *const *rows = xb_command_rows(command);
    bool is_short = word[0] == '-' && word[1] != '-';
    const char *name = word[0] == '-' && !is_short ? word + 2 : word;
    for (size_t i = 0; rows[i] != NULL; i++)
        if (is_short ? word[1] != '\0' && word[1] == rows[i]->short_name && word[2] == '\0'
                     : strcmp(name, rows[i]->name) == 0)
            return rows[i];
    return NULL;
}

/* ---- help on the program ---- */

/* What it is, and its commands. */
static void print_overview(FILE *stream)
{
    size_t widest = 0;
    xb_help_print_wrapped(stream,
                          "xferbench " XB_VERSION ": how fast data moves between a host and its "
                          "GPUs, by every strategy a program can choose, with every byte verified.",
                          0);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        if (strlen(xb_commands[i]->synopsis) > widest)
            widest = strlen(xb_commands[i]->synopsis);
    fprintf(stream, "\nUsage: xferbench [COMMAND] [OPTION]...\n\nCommands:\n");
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        xb_help_print_entry(stream, (int)(strlen("  ") + widest + 2), xb_commands[i]->summary,
                            "  %s", xb_commands[i]->synopsis);
}

static void print_program(FILE *stream)
{
    print_overview(stream);
    xb_run_print_modes(stream);
    fprintf(stream, "\nOptions used most:\n");
    xb_help_print_brief_options(stream, xb_run_rows());
    fprintf(stream, "\nExample: %s\n\nMore:\n", xb_command_run.example);
    xb_help_print_entry(stream, 26, "on a command, a mode, an option or a word",
                        "  xferbench help WORD");
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        xb_help_print_entry(stream, 26, topic->summary, "  xferbench help %s", topic->name);
    xb_help_print_entry(stream, 26, "the manual, where it is installed", "  man xferbench");
    xb_help_print_entry(stream, 26, "errors name their line of the source", "  XFERBENCH_DEBUG=1");
}

static void print_all(FILE *stream)
{
    print_overview(stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        fprintf(stream, "\n---- %s ----\n\n", xb_commands[i]->name);
        if (xb_commands[i] == &xb_command_run)
            xb_run_print_help(stream, true);
        else if (xb_commands[i]->operands != XB_OPERANDS_TOPIC)
            xb_help_print_command(stream, xb_commands[i]);
        else
            xb_help_print_wrapped(stream, xb_commands[i]->description, 0);
    }
}

static void print_columns(FILE *stream)
{
    xb_run_print_columns_help(stream);
    fprintf(stream, "\nColumns of the table of fleet\n\n");
    xb_run_print_columns(stream, xb_fleet_column_helps);
}

/* ---- help on a word ---- */

/* Names with ", " between them, and what they mean: from docs/words.md. */
static const struct {
    const char *names, *text;
} glossary[] = {XB_WORDS};
#define WORDS (sizeof glossary / sizeof glossary[0])

static void print_word(FILE *stream, size_t index)
{
    xb_help_print_entry(stream, 26, glossary[index].text, "  %s", glossary[index].names);
}

static void print_words(FILE *stream)
{
    for (size_t i = 0; i < WORDS; i++)
        print_word(stream, i);
}

/* Copies the first of the names; returns what stands behind it, "" for nothing. */
static const char *first_name(const char *names, char *name, size_t size)
{
    size_t length = strcspn(names, ",");
    snprintf(name, size, "%.*s", (int)length, names);
    return names + length + strspn(names + length, ", ");
}

static bool print_word_named(FILE *stream, const char *word)
{
    char name[40];
    for (size_t i = 0; i < WORDS; i++)
        for (const char *rest = glossary[i].names; *rest != '\0';) {
            rest = first_name(rest, name, sizeof name);
            if (strcasecmp(name, word) == 0) {
                print_word(stream, i);
                return true;
            }
        }
    return false;
}

const struct xb_topic xb_topics[] = {
    {"words", "what the words of the output mean; help ring: one of them", print_words},
    {"columns", "what the columns of the tables are", print_columns},
    {"all", "every command and every option", print_all},
    {NULL, NULL, NULL},
};

/* ---- help on what is asked for ---- */

static void print_mode(FILE *stream, const struct xb_mode *mode)
{
    struct xb_words directions = {.length = 0};
    fprintf(stream, "%s: ", mode->name);
    xb_help_print_wrapped(stream, mode->summary, (int)strlen(mode->name) + 2);
    fputc('\n', stream);
    xb_help_print_wrapped(stream, mode->description, 0);
    if (mode->calls != NULL) {
        fprintf(stream, "\nCalls: ");
        xb_help_print_wrapped(stream, mode->calls, (int)strlen("Calls: "));
    }
    xb_help_add_directions(&directions, mode);
    fprintf(stream, "\nDirections:%s\n", directions.text);
    bool own = mode->options != NULL;
    fputs(own ? "\nIts own options:\n" : "It has no options of its own.\n", stream);
    if (own)
        xb_help_print_options(stream, mode->options);
    /* What --gate of compare and the columns of the CSV call them. */
    if (mode->figures != NULL)
        fprintf(stream, "\nIts own figures:\n");
    for (size_t i = 0; mode->figures != NULL && mode->figures[i] != NULL; i++)
        xb_help_print_entry(stream, 30, mode->figures[i]->help, "  %s", mode->figures[i]->name);
}

/* Help on the option that `word` names ("--size", "-s", "size"), in each command that has it. False
 * if there is none. */
static bool print_option_named(FILE *stream, const char *word)
{
    char modes[512];
    bool found = false;
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        const struct xb_option *row = find_row(xb_commands[i], word);
        bool is_told = false; /* of a command before that has the very same row */
        for (size_t k = 0; k < i; k++)
            is_told = is_told || find_row(xb_commands[k], word) == row;
        if (row == NULL || is_told)
            continue;
        fprintf(stream, "xferbench %s", xb_commands[i]->name);
        for (size_t k = i + 1; xb_commands[k] != NULL; k++)
            if (find_row(xb_commands[k], word) == row)
                fprintf(stream, ", %s", xb_commands[k]->name);
        if (xb_run_takers(row, modes, sizeof modes)[0] != '\0') {
            fprintf(stream, ", modes ");
            xb_help_print_wrapped(stream, modes, 2);
        } else {
            fputc('\n', stream);
        }
        xb_help_print_option(stream, row);
        found = true;
    }
    return found;
}

/* No word of `asked` ("--help") is any of them. */
static int unknown_topic(const char *asked, const char *word)
{
    char all[WORDS][40];
    const char *names[MOST_NAMES + WORDS];
    size_t count = command_names(names);
    for (size_t i = 0; xb_topics[i].name != NULL && count < 32; i++)
        names[count++] = xb_topics[i].name;
    for (size_t m = 0; xb_modes[m] != NULL && count < MOST_NAMES - 1; m++)
        names[count++] = xb_modes[m]->name;
    for (size_t i = 0; i < WORDS; i++) {
        (void)first_name(glossary[i].names, all[i], sizeof all[i]);
        names[count++] = all[i];
    }
    names[count] = NULL;
    const char *nearest = xb_nearest(word, names);
    xb_say("%s: there is no command, mode or word '%s'; %s%s%s", asked, word,
           nearest != NULL ? "did you mean '" : "see xferbench --help",
           nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return XB_EXIT_USAGE;
}

/* Prints help on the word. False if there is nothing of that name. */
static bool print_on(FILE *stream, const char *word)
{
    const struct xb_mode *mode = xb_mode_find(word);
    if (mode != NULL) {
        print_mode(stream, mode);
        return true;
    }
    const struct xb_command *command = command_find(word);
    if (command != NULL) {
        xb_help_print_command(stream, command);
        return true;
    }
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        if (strcmp(word, topic->name) == 0) {
            topic->print(stream);
            return true;
        }
    return print_option_named(stream, word) || print_word_named(stream, word);
}

/* Help on the operand of `config`; without one, on `command`. `asked` is what the user wrote for
 * help ("--help"). Returns the exit code. */
static int answer_help(const char *asked, const struct xb_config *config,
                       const struct xb_command *command)
{
    if (config->operand_count > 1) {
        xb_say("%s takes one command, mode or option; '%s' is one too many", asked,
               config->operands[1]);
        return XB_EXIT_USAGE;
    }
    if (config->operand_count == 0)
        xb_help_print_command(stdout, command);
    else if (!print_on(stdout, config->operands[0]))
        return unknown_topic(asked, config->operands[0]);
    return XB_EXIT_OK;
}

static const struct xb_option *const help_rows[] = {XB_OPTIONS_OF_ALL};

static int run_help(struct xb_config *config, char *const *words)
{
    (void)words;
    return answer_help("help", config, &command_help);
}

static const struct xb_command command_help = {
    .name = "help",
    .synopsis = "help [WORD]",
    .summary = "on a command, a mode, an option or a word",
    .description =
        "Prints help on the program, or on a command, a mode, an option or a word: help "
        "link, help pinned, help --size, help ring. `help words` tells what the words "
        "mean, `help columns` what the columns of the tables are, `help all` everything. "
        "--help does the same.",
    .exits = "0 there is help; 2 there is none on that.",
    .example = "xferbench help pinned",
    .operands = XB_OPERANDS_TOPIC,
    .options = help_rows,
    .print_help = print_program,
    .run = run_help,
    .fail = xb_cli_fail,
};

/* ---- what is no command ---- */

/* Names of modes and of options are no commands: says what to write instead. */
static int unknown_command(const char *word)
{
    const struct xb_option *option = xb_option_find(xb_run_rows(), word);
    const char *mode = xb_nearest(word, xb_option_words(xb_option_find(xb_run_rows(), "mode")));
    const char *names[MOST_NAMES];
    size_t count = command_names(names);
    const char *command = xb_nearest(word, names);
    if (xb_mode_find(word) != NULL)
        xb_say("'%s' is a mode: xferbench --mode %s", word, word);
    else if (option != NULL)
        xb_say("'%s' is an option: xferbench --%s%s%s", word, word,
               option->argument != NULL ? " " : "",
               option->argument != NULL ? option->argument : "");
    else if (command != NULL)
        xb_say("there is no command '%s'; did you mean '%s'?", word, command);
    else if (mode != NULL)
        xb_say("there is no command '%s'; did you mean the mode '%s': xferbench --mode %s?", word,
               mode, mode);
    else {
        struct xb_words all = {.length = 0};
        for (size_t i = 0; i < count; i++)
            xb_words_add(&all, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
        xb_say("there is no command '%s'; the commands are %s (see xferbench --help)", word,
               all.text);
    }
    return XB_EXIT_USAGE;
}

/* XB_ERR_USAGE if a command that takes options only has anything else. */
static enum xb_status refuse_operands(const struct xb_command *command,
                                      const struct xb_config *config, struct xb_error *error)
{
    if (command->operands != XB_OPERANDS_NONE || config->operand_count == 0)
        return XB_OK;
    const char *word = config->operands[0];
    if (xb_mode_find(word) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "'%s' is a mode: xferbench --mode %s", word, word);
    if (command_find(word) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "'%s' is a command, and comes first: xferbench %s",
                       word, word);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "'%.80s' belongs to no option: an option takes one word, and %s takes only "
                   "options; see xferbench help %s",
                   word, command->name, command->name);
}

/* ---- dispatch ---- */

/* What --version prints: "xferbench 0.1.0" with what is built in. */
static void print_version(FILE *stream)
{
    fprintf(stream, "xferbench %s (%s, %s)\n", XB_VERSION, XB_COMPILER, XB_BUILD_TYPE);
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++)
        xb_note_print(stream, entry->name, 6, "%s%s",
                      entry->backend != NULL ? "built in" : "not in this build: ",
                      entry->backend != NULL ? "" : entry->absent_reason);
}

/* --help [TOPIC] and --version are answered here, whatever the command. */
static int answer(const struct xb_command *command, bool is_named, struct xb_config *config,
                  char *const *words)
{
    struct xb_error error;
    if (xb_config_get(config, &xb_option_help)->flag)
        return answer_help("--help", config, is_named ? command : &command_help);
    if (xb_config_get(config, &xb_option_version)->flag && config->operand_count == 0) {
        print_version(stdout);
        return XB_EXIT_OK;
    }
    if (command->operands == XB_OPERANDS_NONE && config->operand_count == 1 &&
        strcmp(config->operands[0], command_help.name) == 0) { /* "link help" */
        xb_help_print_command(stdout, command);
        return XB_EXIT_OK;
    }
    if (refuse_operands(command, config, &error) != XB_OK)
        return command->fail(&error);
    return command->run(config, words);
}

/* `is_named`: by its own name, and not because the user named none. */
static int run(const struct xb_command *command, bool is_named, int argc, char **argv)
{
    struct xb_config config;
    struct xb_error error;
    xb_memory_end_with(command->fail);
    char **words = xb_new((size_t)argc + 1, sizeof *words); /* reading the options sorts argv */
    memcpy(words, argv, (size_t)argc * sizeof *words);
    int code = XB_EXIT_OK;
    if (xb_config_parse(xb_command_rows(command), argc, argv, &config, &error) == XB_OK) {
        xb_terminal_want_colours((enum xb_colours)xb_config_get(&config, &xb_option_color)->place);
        code = answer(command, is_named, &config, words);
        xb_config_free(&config);
    } else {
        code = command->fail(&error);
    }
    free(words);
    return code;
}

/* Runs what is meant by a command line that begins with an option, or is empty. */
static int run_unnamed(int argc, char **argv)
{
    const char *name = argc > 1 && strncmp(argv[1], "--", 2) == 0 ? argv[1] + 2 : "";
    bool is_mode = xb_mode_find(name) != NULL;
    if (xb_option_find(xb_run_rows(), name) != NULL || (!is_mode && command_find(name) == NULL))
        return run(&xb_command_run, false, argc, argv);
    xb_say("'%s' is a %s, not an option: xferbench %s%s", name, is_mode ? "mode" : "command",
           is_mode ? "--mode " : "", name);
    return XB_EXIT_USAGE;
}

int xb_commands_dispatch(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return run_unnamed(argc, argv);
    const struct xb_command *command = command_find(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    /* `help --size` asks about the option; its own are none to ask about. */
    if (command == &command_help && argc == 3 && argv[2][0] == '-' &&
        find_row(command, argv[2]) == NULL && print_option_named(stdout, argv[2]))
        return XB_EXIT_OK;
    return run(command, true, argc - 1, argv + 1);
}
