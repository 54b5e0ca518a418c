/* SPDX-License-Identifier: Apache-2.0 */
/* `help` and --help: on the program, a command, a mode, an option, the columns, a word. */
#include "help.h"

#include "base/plain_text.h"
#include "cli/help.h"
#include "fleet/formats.h"
#include "record/mode_list.h"
#include "run/command.h"
#include "xferbench/version.h"
#include "xferbench/words.h"

#include <string.h>
#include <strings.h>

/* ---- on the program ---- */

static void print_title(FILE *stream)
{
    xb_help_print_wrapped(stream,
                          "xferbench " XB_VERSION ": how fast data moves between a host and its "
                          "GPUs, by every strategy a program can choose, with every byte verified.",
                          0);
}

static void print_commands(FILE *stream, const struct xb_command *const *commands)
{
    size_t widest = 0;
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strlen(commands[i]->synopsis) > widest)
            widest = strlen(commands[i]->synopsis);
    fprintf(stream, "\nUsage: xferbench [COMMAND] [OPTION]...\n\nCommands:\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        char line[160];
        snprintf(line, sizeof line, "  %s", commands[i]->synopsis);
        xb_help_print_entry(stream, line, commands[i]->summary, (int)(strlen("  ") + widest + 2));
    }
}

void xb_help_print_program(FILE *stream, const struct xb_command *const *commands)
{
    print_title(stream);
    print_commands(stream, commands);
    xb_run_print_modes(stream);
    fprintf(stream, "\nOptions used most:\n");
    xb_help_print_brief_options(stream, xb_run_rows());
    fprintf(stream, "\nExample: %s\n\nMore:\n", xb_command_run.example);
    xb_help_print_entry(stream, "  xferbench help WORD",
                        "on a command, a mode, an option or a word", 26);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++) {
        char name[64];
        snprintf(name, sizeof name, "  xferbench help %s", topic->name);
        xb_help_print_entry(stream, name, topic->summary, 26);
    }
    xb_help_print_entry(stream, "  man xferbench", "the manual, where it is installed", 26);
    xb_help_print_entry(stream, "  XFERBENCH_DEBUG=1", "errors name their line of the source", 26);
}

static void print_all(FILE *stream, const struct xb_command *const *commands)
{
    print_title(stream);
    print_commands(stream, commands);
    for (size_t i = 0; commands[i] != NULL; i++) {
        fprintf(stream, "\n---- %s ----\n\n", commands[i]->name);
        if (commands[i] == &xb_command_run)
            xb_run_print_all_help(stream);
        else if (commands[i]->operands != XB_OPERANDS_TOPIC)
            xb_help_print_command(stream, commands[i]);
        else
            xb_help_print_wrapped(stream, commands[i]->description, 0);
    }
}

static void print_columns(FILE *stream, const struct xb_command *const *commands)
{
    (void)commands;
    xb_run_print_columns_help(stream);
    fprintf(stream, "\nColumns of the table of fleet\n\n");
    xb_run_print_columns(stream, xb_fleet_column_helps);
}

/* ---- on a word ---- */

/* Names with ", " between them, and what they mean: from docs/words.md. */
static const struct {
    const char *names, *text;
} words[] = {XB_WORDS};
#define WORDS (sizeof words / sizeof words[0])

static void print_word(FILE *stream, size_t index)
{
    char names[80];
    snprintf(names, sizeof names, "  %s", words[index].names);
    xb_help_print_entry(stream, names, words[index].text, 26);
}

static void print_words(FILE *stream, const struct xb_command *const *commands)
{
    (void)commands;
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
        for (const char *rest = words[i].names; *rest != '\0';) {
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

/* ---- on an option ---- */

/* The row that the user means by "--size", "-s" or "size"; NULL if the command has none. */
static const struct xb_option *find_row(const struct xb_command *command, const char *word)
{
    const struct xb_option *const *rows = command->rows();
    bool is_short = word[0] == '-' && word[1] != '-';
    const char *name = word[0] == '-' && !is_short ? word + 2 : word;
    for (size_t i = 0; rows[i] != NULL; i++)
        if (is_short ? word[1] != '\0' && word[1] == rows[i]->short_name && word[2] == '\0'
                     : strcmp(name, rows[i]->name) == 0)
            return rows[i];
    return NULL;
}

bool xb_help_print_option_named(FILE *stream, const struct xb_command *const *commands,
                                const char *word)
{
    char modes[512];
    bool found = false;
    for (size_t i = 0; commands[i] != NULL; i++) {
        const struct xb_option *row = find_row(commands[i], word);
        bool is_told = false; /* of a command before that has the very same row */
        for (size_t k = 0; k < i; k++)
            is_told = is_told || find_row(commands[k], word) == row;
        if (row == NULL || is_told)
            continue;
        fprintf(stream, "xferbench %s", commands[i]->name);
        for (size_t k = i + 1; commands[k] != NULL; k++)
            if (find_row(commands[k], word) == row)
                fprintf(stream, ", %s", commands[k]->name);
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

/* ---- which of them ---- */

/* No word of `asked` ("--help") is any of them. */
static int unknown_topic(const struct xb_command *const *commands, const char *asked,
                         const char *word)
{
    char all[WORDS][40];
    const char *names[96 + WORDS];
    size_t count = 0;
    for (size_t i = 0; commands[i] != NULL && count < 24; i++)
        names[count++] = commands[i]->name;
    for (size_t i = 0; xb_topics[i].name != NULL && count < 32; i++)
        names[count++] = xb_topics[i].name;
    for (size_t m = 0; xb_modes[m] != NULL && count < 95; m++)
        names[count++] = xb_modes[m]->name;
    for (size_t i = 0; i < WORDS; i++) {
        (void)first_name(words[i].names, all[i], sizeof all[i]);
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
static bool print_on(FILE *stream, const struct xb_command *const *commands, const char *word)
{
    const struct xb_mode *mode = xb_mode_find(word);
    if (mode != NULL) {
        xb_help_print_mode(stream, mode);
        return true;
    }
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(word, commands[i]->name) == 0) {
            xb_help_print_command(stream, commands[i]);
            return true;
        }
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        if (strcmp(word, topic->name) == 0) {
            topic->print(stream, commands);
            return true;
        }
    return xb_help_print_option_named(stream, commands, word) || print_word_named(stream, word);
}

int xb_help_answer(const char *asked, const struct xb_config *config,
                   const struct xb_command *command, const struct xb_command *const *commands)
{
    if (config->operand_count > 1) {
        xb_say("%s takes one command, mode or option; '%s' is one too many", asked,
               config->operands[1]);
        return XB_EXIT_USAGE;
    }
    if (config->operand_count == 0)
        xb_help_print_command(stdout, command);
    else if (!print_on(stdout, commands, config->operands[0]))
        return unknown_topic(commands, asked, config->operands[0]);
    return XB_EXIT_OK;
}
