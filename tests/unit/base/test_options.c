/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of all commands together: one vocabulary. */
#include "base/options.h"
#include "commands.h"
#include "testing.h"

struct row {
    const char *command;
    const struct xb_option *option;
};
static struct row rows[512];
static size_t row_count;

static void name(const struct row *row, char *text, size_t size)
{
    snprintf(text, size, "%s --%s", row->command, row->option->name);
}

static void blame(const struct row *a, const struct row *b, const char *what)
{
    char one[80], other[80];
    name(a, one, sizeof one);
    name(b, other, sizeof other);
    fail_msg("%s and %s: %s", one, other, what);
}

static int collect(NO_STATE)
{
    for (size_t c = 0; xb_commands[c] != NULL; c++) {
        const struct xb_option *const *all = xb_command_rows(xb_commands[c]);
        for (size_t i = 0; all[i] != NULL; i++) {
            if (row_count == sizeof rows / sizeof *rows)
                return 1;
            rows[row_count++] = (struct row){xb_commands[c]->name, all[i]};
        }
    }
    return row_count > 100 ? 0 : 1;
}

/* -o of one command is --output in all of them. */
TEST(a_letter_means_one_thing)
{
    for (size_t a = 0; a < row_count; a++)
        for (size_t b = 0; b < a; b++)
            if (rows[a].option->short_name != 0 &&
                rows[a].option->short_name == rows[b].option->short_name &&
                strcmp(rows[a].option->name, rows[b].option->name) != 0)
                blame(&rows[a], &rows[b], "one letter for both");
}

/* "DEV[,DEV]" and "DEV" are of one kind. */
static bool same_argument(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    size_t length = strcspn(a, "[");
    return length == strcspn(b, "[") && strncmp(a, b, length) == 0;
}

/* --output has its letter and its argument in every command that has it, and only once in each. */
TEST(a_name_means_one_thing)
{
    for (size_t a = 0; a < row_count; a++)
        for (size_t b = 0; b < a; b++) {
            if (strcmp(rows[a].option->name, rows[b].option->name) != 0)
                continue;
            if (rows[a].command == rows[b].command)
                blame(&rows[a], &rows[b], "one name twice");
            if (rows[a].option->short_name != rows[b].option->short_name)
                blame(&rows[a], &rows[b], "different letters");
            if (!same_argument(rows[a].option->argument, rows[b].option->argument))
                blame(&rows[a], &rows[b], "different arguments");
        }
}

/* Completion offers files for them, and a forgotten argument is told from a file's name. */
TEST(what_names_a_file_says_so)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].option->type == XB_OPTION_TEXT && strcmp(rows[i].option->argument, "FILE") == 0)
            fail_msg("%s --%s names a file: its type is XB_OPTION_FILE", rows[i].command,
                     rows[i].option->name);
}

/* The help and the man page of a command are made of these. */
TEST(every_command_tells_of_itself)
{
    for (size_t c = 0; xb_commands[c] != NULL; c++) {
        const struct xb_command *command = xb_commands[c];
        if (command->synopsis == NULL || command->summary == NULL || command->description == NULL ||
            command->exits == NULL)
            fail_msg("command %s lacks its synopsis, summary, description or exits", command->name);
        bool takes_words = command->synopsis != NULL && strchr(command->synopsis, ' ') != NULL;
        if (takes_words != (command->operands != XB_OPERANDS_NONE))
            fail_msg("command %s: operands and synopsis tell of different words", command->name);
    }
}

/* A row of the short help takes one line of a terminal of 80 columns. */
TEST(the_short_help_is_short)
{
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].option->brief != NULL) {
            assert_true(strlen(rows[i].option->brief) <= 50);
            count += strcmp(rows[i].command, "run") == 0;
        }
    assert_int_equal(count, 10);
}

GROUP(collect, NULL)
