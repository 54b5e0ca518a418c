/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include "base/text.h"
#include "xferbench/version.h"

#include <string.h>

/* Where the text behind names begins; in a narrow window names have lines of their own. */
#define TEXT_COLUMN 30
#define NARROW_COLUMN 8
#define NARROW 72

void xb_help_print_entry(FILE *stream, int column, const char *text, const char *name, ...)
{
    char left[256];
    XB_FORMAT(left, sizeof left, name);
    size_t width = xb_terminal_columns(stream);
    bool narrow = width < NARROW && (size_t)column + strlen(text) > width;
    int indent = narrow && column > NARROW_COLUMN ? NARROW_COLUMN : column;
    if ((int)strlen(left) < indent)
        fprintf(stream, "%-*s", indent, left);
    else
        fprintf(stream, "%s\n%*s", left, indent, "");
    xb_help_print_wrapped(stream, text, indent);
}

/* With its name and argument: long names stand below each other. */
static void print_option(FILE *stream, const struct xb_option *option, const char *text)
{
    struct xb_words left = {.length = 0};
    if (option->short_name != 0)
        xb_words_add(&left, "  -%c, --%s", option->short_name, option->name);
    else
        xb_words_add(&left, "      --%s", option->name);
    if (option->argument != NULL)
        xb_words_add(&left, " %s", option->argument);
    xb_help_print_entry(stream, TEXT_COLUMN, text, "%s", left.text);
}

void xb_help_print_option(FILE *stream, const struct xb_option *option)
{
    struct xb_words text = {.length = 0};
    xb_words_add(&text, "%s", option->help);
    if (option->default_text != NULL)
        xb_words_add(&text, " [default: %s]", option->default_text);
    print_option(stream, option, text.text);
}

void xb_help_print_brief_options(FILE *stream, const struct xb_option *const *rows)
{
    for (size_t i = 0; rows[i] != NULL; i++)
        if (rows[i]->brief != NULL)
            print_option(stream, rows[i], rows[i]->brief);
}

void xb_help_print_options(FILE *stream, const struct xb_option *const *rows)
{
    for (size_t i = 0; rows[i] != NULL; i++)
        xb_help_print_option(stream, rows[i]);
}

void xb_help_print_beginning(FILE *stream, const struct xb_command *command)
{
    fprintf(stream, "Usage: xferbench %s [OPTION]...\n\n", command->synopsis);
    xb_help_print_wrapped(stream, command->description, 0);
    if (command->example != NULL)
        fprintf(stream, "\nExample: %s\n", command->example);
}

void xb_help_print_exits(FILE *stream, const struct xb_command *command)
{
    fprintf(stream, "\nExit: ");
    xb_help_print_wrapped(stream, command->exits, (int)strlen("Exit: "));
    fputc('\n', stream);
    xb_help_print_wrapped(stream, XB_DOCUMENTS, 0);
}

void xb_help_print_command(FILE *stream, const struct xb_command *command)
{
    if (command->print_help != NULL) {
        command->print_help(stream);
        return;
    }
    xb_help_print_beginning(stream, command);
    fprintf(stream, "\nOptions:\n");
    xb_help_print_options(stream, xb_command_rows(command));
    xb_help_print_exits(stream, command);
}

static void add_names(struct xb_words *words, unsigned directions)
{
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if ((directions >> d & 1u) != 0)
            xb_words_add(words, " %s", xb_direction_name((enum xb_direction)(1u << d)));
}

void xb_help_add_directions(struct xb_words *words, const struct xb_mode *mode)
{
    add_names(words, mode->directions);
    if (mode->by_default == mode->directions)
        return;
    xb_words_add(words, " (by default");
    add_names(words, mode->by_default);
    xb_words_add(words, ")");
}
