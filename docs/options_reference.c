/* SPDX-License-Identifier: Apache-2.0 */
/* Prints docs/options.md from the rows that declare the options and the figures. */
#include "commands.h"
#include "record/mode_list.h"
#include "run/request.h"

#include <stdbool.h>
#include <stdio.h>

static void print_row(const struct xb_option *option)
{
    printf("### `");
    if (option->short_name != 0)
        printf("-%c`, `", option->short_name);
    printf("--%s", option->name);
    if (option->argument != NULL)
        printf(" %s", option->argument);
    printf("`\n\n%s\n", option->help);
    if (option->default_text != NULL)
        printf("\nDefault: `%s`.\n", option->default_text);
    if (option->choices != NULL) {
        printf("\nWords:");
        for (size_t i = 0; option->choices[i] != NULL; i++)
            printf(" `%s`", option->choices[i]);
        printf(".\n");
    }
    printf("\n");
}

/* One line a letter, each once. */
static void print_letters(void)
{
    bool told[128] = {false};
    printf("## Letters\n\nA letter means the same in every command that has it.\n\n"
           "| letter | option |\n|---|---|\n");
    for (size_t c = 0; xb_commands[c] != NULL; c++) {
        const struct xb_option *const *rows = xb_command_rows(xb_commands[c]);
        for (size_t i = 0; rows[i] != NULL; i++) {
            unsigned char letter = (unsigned char)rows[i]->short_name;
            if (letter == 0 || letter >= sizeof told || told[letter])
                continue;
            told[letter] = true;
            printf("| `-%c` | `--%s` |\n", letter, rows[i]->name);
        }
    }
    printf("\n");
}

static void print_rows(const struct xb_option *const *rows)
{
    for (size_t i = 0; rows[i] != NULL; i++)
        print_row(rows[i]);
}

static void print_figures(const struct xb_figure *const *figures)
{
    printf("| figure | unit | more is better | what it is |\n|---|---|---|---|\n");
    for (size_t i = 0; figures[i] != NULL; i++)
        printf("| `%s` | %s | %s | %s%s |\n", figures[i]->name, figures[i]->unit,
               figures[i]->more_is_better ? "yes" : "no", figures[i]->help,
               figures[i]->gates ? "; gates" : "");
    printf("\n");
}

static void print_mode(const struct xb_mode *mode)
{
    printf("## Mode `%s`\n\n%s.\n\n%s\n\n", mode->name, mode->summary, mode->description);
    if (mode->calls != NULL)
        printf("Calls: %s\n\n", mode->calls);
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        print_row(mode->options[i]);
    if (mode->figures != NULL)
        print_figures(mode->figures);
}

int main(void)
{
    const struct xb_option *const *rows = xb_run_rows();
    printf("# Options and figures\n\n"
           "Written from the rows that declare them by docs/options_reference.c; a test compares "
           "them.\n\n");
    print_letters();
    printf("## `xferbench run` (the default command)\n\n");
    for (size_t i = 0; rows[i] != NULL && !xb_modes_take(rows[i]->name); i++)
        print_row(rows[i]);
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        print_mode(xb_modes[m]);
    printf(
        "## Figures of every mode\n\n"
        "Figures marked \"gates\" are those that `compare` judges without being asked. Units: B/s "
        "bytes per\nsecond, s seconds, B bytes, 1 shares from 0 to 1, factors and counts.\n\n");
    print_figures(xb_runner_figures);
    for (size_t i = 1; xb_commands[i] != NULL; i++) {
        printf("## `xferbench %s`\n\n", xb_commands[i]->synopsis);
        print_rows(xb_command_rows(xb_commands[i]));
    }
    return 0;
}
