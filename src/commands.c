/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands together: which there are, which one is meant, and help on all of them. */
#include "commands.h"

#include "advise/command.h"
#include "base/plain_text.h"
#include "cli/help.h"
#include "cli/options.h"
#include "compare/command.h"
#include "link/command.h"
#include "list/command.h"
#include "measure/mode_list.h"
#include "report/command.h"
#include "run/command.h"
#include "show/command.h"
#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

static const struct xb_command command_help;

/* In the order of the program's help. */
static const struct xb_command *const commands[] = {
    &xb_command_run,     &xb_command_list, &xb_command_link,
    &xb_command_compare, &xb_command_show, &xb_command_report,
    &xb_command_advise,  &command_help,    NULL,
};

static const struct xb_command *find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

/* Writes at most `size` names of commands and returns how many. */
static size_t list_names(const char **names, size_t size)
{
    size_t count = 0;
    for (; commands[count] != NULL && count < size; count++)
        names[count] = commands[count]->name;
    return count;
}

/* ---- help ---- */

/* The help of the program, and so that of what it does without a command. */
static void print_help(FILE *stream)
{
    fprintf(stream,
            "xferbench %s: how fast data moves between a host and its GPUs, by every strategy a\n"
            "program can choose, with every byte verified.\n\n",
            XB_VERSION);
    for (size_t i = 0; commands[i] != NULL; i++)
        fprintf(stream, "  xferbench %-21s %s\n", commands[i]->synopsis, commands[i]->summary);
    fprintf(stream, "\nExample: xferbench --mode pinned --size 1G\n\n");
    xb_command_run.print_help(stream);
}

static void print_help_of(FILE *stream, const struct xb_command *command)
{
    bool all = command == &xb_command_run || command == &command_help;
    (all ? print_help : command->print_help)(stream);
}

/* No word of `asked` ("--help") is a command or a mode. */
static int unknown_topic(const char *asked, const char *word)
{
    const char *names[64];
    size_t count = list_names(names, 32);
    for (size_t m = 0; xb_modes[m] != NULL && count + 1 < sizeof names / sizeof *names; m++)
        names[count++] = xb_modes[m]->name;
    names[count] = NULL;
    const char *nearest = xb_nearest(word, names);
    if (nearest != NULL)
        xb_say("%s: there is no command and no mode '%s'; did you mean '%s'?", asked, word,
               nearest);
    else
        xb_say("%s: there is no command and no mode '%s'; see xferbench --help for all", asked,
               word);
    return XB_EXIT_USAGE;
}

/* Help on the operands behind `asked`; without one, that of `command`. */
static int help_on(const char *asked, const struct xb_config *config,
                   const struct xb_command *command)
{
    if (config->operand_count > 1) {
        xb_say("%s takes one command or mode; '%s' is one too many", asked, config->operands[1]);
        return XB_EXIT_USAGE;
    }
    if (config->operand_count == 1) {
        const struct xb_mode *mode = xb_mode_find(config->operands[0]);
        if (mode != NULL) {
            xb_help_print_mode(stdout, mode);
            return XB_EXIT_OK;
        }
        command = find(config->operands[0]);
        if (command == NULL)
            return unknown_topic(asked, config->operands[0]);
    }
    print_help_of(stdout, command);
    return XB_EXIT_OK;
}

static const struct xb_option *const *help_rows(void)
{
    static const struct xb_option *const rows[] = {&xb_option_plain_help, &xb_option_version, NULL};
    return rows;
}

static int run_help(struct xb_config *config, char *const *words)
{
    (void)words;
    return help_on("help", config, &command_help);
}

static const struct xb_command command_help = {
    .name = "help",
    .synopsis = "help [COMMAND|MODE]",
    .summary = "the same as --help; what a mode measures",
    .rows = help_rows,
    .print_help = print_help,
    .run = run_help,
    .fail = xb_cli_fail,
};

/* ---- dispatch ---- */

/* "run, list and help" */
static void name_all(char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; commands[i] != NULL && length < size; i++) {
        const char *separator = i == 0 ? "" : commands[i + 1] != NULL ? ", " : " and ";
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", separator, commands[i]->name);
    }
}

static int unknown_command(const char *word)
{
    const char *names[33];
    char all[256];
    names[list_names(names, 32)] = NULL;
    const char *nearest = xb_nearest(word, names);
    if (nearest != NULL) {
        xb_say("there is no command '%s'; did you mean '%s'?", word, nearest);
        return XB_EXIT_USAGE;
    }
    name_all(all, sizeof all);
    xb_say("there is no command '%s'; the commands are %s (see xferbench --help)", word, all);
    return XB_EXIT_USAGE;
}

/* --help [TOPIC] and --version are answered here, whatever the command. */
static int answer(const struct xb_command *command, struct xb_config *config, char *const *words)
{
    if (xb_config_get(config, "help")->flag)
        return help_on("--help", config, command);
    if (xb_config_get(config, "version")->flag && config->operand_count == 0) {
        xb_version_print(stdout);
        return XB_EXIT_OK;
    }
    return command->run(config, words);
}

static int run(const struct xb_command *command, int argc, char **argv)
{
    struct xb_config config;
    struct xb_error error;
    char **words = calloc((size_t)argc + 1, sizeof *words); /* reading the options sorts argv */
    if (words == NULL) {
        (void)XB_FAIL(&error, XB_ERR_MEMORY, "no memory for the command line");
        return command->fail(&error);
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    int code = XB_EXIT_OK;
    if (xb_config_parse(command->rows(), argc, argv, &config, &error) == XB_OK) {
        code = answer(command, &config, words);
        xb_config_free(&config);
    } else {
        code = command->fail(&error);
    }
    free(words);
    return code;
}

int xb_commands_dispatch(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return run(&xb_command_run, argc, argv);
    const struct xb_command *command = find(argv[1]);
    return command != NULL ? run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}
