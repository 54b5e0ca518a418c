/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands together: which there are, which one is meant, and what is said where none is. */
#include "commands.h"

#include "base/memory.h"
#include "base/plain_text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/options.h"
#include "commands/help.h"
#include "record/mode_list.h"
#include "run/command.h"

#include <stdlib.h>
#include <string.h>

static const struct xb_command command_help;

const struct xb_command *const xb_commands[] = {
    &xb_command_run,    &xb_command_list,
    &xb_command_link,   &xb_command_compare,
    &xb_command_fleet,  &xb_command_show,
    &xb_command_report, &xb_command_advise,
    &command_help,      NULL,
};

const struct xb_command *xb_command_find(const char *name)
{
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        if (strcmp(name, xb_commands[i]->name) == 0)
            return xb_commands[i];
    return NULL;
}

/* ---- what is no command ---- */

/* "run, list and help" */
static void name_all(char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; xb_commands[i] != NULL && length < size; i++) {
        const char *separator = i == 0 ? "" : xb_commands[i + 1] != NULL ? ", " : " and ";
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", separator, xb_commands[i]->name);
    }
}

static const char *nearest_command(const char *word)
{
    const char *names[33];
    size_t count = 0;
    for (; xb_commands[count] != NULL && count + 1 < sizeof names / sizeof *names; count++)
        names[count] = xb_commands[count]->name;
    names[count] = NULL;
    return xb_nearest(word, names);
}

/* Names of modes and of options are no commands: says what to write instead. */
static int unknown_command(const char *word)
{
    const struct xb_option *option = xb_option_find(xb_run_rows(), word);
    const char *mode = xb_nearest(word, xb_option_words(xb_option_find(xb_run_rows(), "mode")));
    char all[256];
    if (xb_mode_find(word) != NULL)
        xb_say("'%s' is a mode: xferbench --mode %s", word, word);
    else if (option != NULL)
        xb_say("'%s' is an option: xferbench --%s%s%s", word, word,
               option->argument != NULL ? " " : "",
               option->argument != NULL ? option->argument : "");
    else if (nearest_command(word) != NULL)
        xb_say("there is no command '%s'; did you mean '%s'?", word, nearest_command(word));
    else if (mode != NULL)
        xb_say("there is no command '%s'; did you mean the mode '%s': xferbench --mode %s?", word,
               mode, mode);
    else {
        name_all(all, sizeof all);
        xb_say("there is no command '%s'; the commands are %s (see xferbench --help)", word, all);
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
    if (xb_command_find(word) != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "'%s' is a command, and comes first: xferbench %s",
                       word, word);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "'%.80s' belongs to no option: an option takes one word, and %s takes only "
                   "options; see xferbench help %s",
                   word, command->name, command->name);
}

/* ---- help ---- */

static const struct xb_option *const *help_rows(void)
{
    static const struct xb_option *const rows[] = {XB_OPTIONS_OF_ALL};
    return rows;
}

static int run_help(struct xb_config *config, char *const *words)
{
    (void)words;
    return xb_help_answer("help", config, &command_help, xb_commands);
}

static void print_help(FILE *stream)
{
    xb_help_print_program(stream, xb_commands);
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
    .rows = help_rows,
    .print_help = print_help,
    .run = run_help,
    .fail = xb_cli_fail,
};

/* ---- dispatch ---- */

/* Whether the only operand is "help", behind a command that takes none. */
static bool asks_for_help(const struct xb_command *command, const struct xb_config *config)
{
    return command->operands == XB_OPERANDS_NONE && config->operand_count == 1 &&
           strcmp(config->operands[0], command_help.name) == 0;
}

/* --help [TOPIC] and --version are answered here, whatever the command. */
static int answer(const struct xb_command *command, bool is_named, struct xb_config *config,
                  char *const *words)
{
    struct xb_error error;
    if (xb_config_get(config, &xb_option_help)->flag)
        return xb_help_answer("--help", config, is_named ? command : &command_help, xb_commands);
    if (xb_config_get(config, &xb_option_version)->flag && config->operand_count == 0) {
        xb_version_print(stdout);
        return XB_EXIT_OK;
    }
    if (asks_for_help(command, config)) {
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
    if (xb_config_parse(command->rows(), argc, argv, &config, &error) == XB_OK) {
        xb_option_color_apply(&config);
        code = answer(command, is_named, &config, words);
        xb_config_free(&config);
    } else {
        code = command->fail(&error);
    }
    free(words);
    return code;
}

/* Whether the word is an option of the command: "--help", "-h". */
static bool is_option_of(const struct xb_command *command, const char *word)
{
    const struct xb_option *const *rows = command->rows();
    for (size_t i = 0; rows[i] != NULL; i++)
        if ((word[1] == '-' && strcmp(word + 2, rows[i]->name) == 0) ||
            (word[1] != '-' && word[1] == rows[i]->short_name))
            return true;
    return false;
}

/* Runs what is meant by a command line that begins with an option, or is empty. */
static int run_unnamed(int argc, char **argv)
{
    const char *name = argc > 1 && strncmp(argv[1], "--", 2) == 0 ? argv[1] + 2 : "";
    bool is_mode = xb_mode_find(name) != NULL;
    if (xb_option_find(xb_run_rows(), name) != NULL || (!is_mode && xb_command_find(name) == NULL))
        return run(&xb_command_run, false, argc, argv);
    xb_say("'%s' is a %s, not an option: xferbench %s%s", name, is_mode ? "mode" : "command",
           is_mode ? "--mode " : "", name);
    return XB_EXIT_USAGE;
}

int xb_commands_dispatch(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return run_unnamed(argc, argv);
    const struct xb_command *command = xb_command_find(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    /* `help --size` asks about the option; its own are none to ask about. */
    if (command == &command_help && argc == 3 && argv[2][0] == '-' &&
        !is_option_of(command, argv[2]) && xb_help_print_option_named(stdout, xb_commands, argv[2]))
        return XB_EXIT_OK;
    return run(command, true, argc - 1, argv + 1);
}
