/* SPDX-License-Identifier: Apache-2.0 */
/* Prints docs/options.md from the rows that declare the options. */
#include "../src/cli/cli.h"

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

int main(void)
{
    const struct xb_option *const *rows = xb_run_rows();
    printf("# Options\n\n"
           "Written from the option rows by docs/options_reference.c; a test compares them.\n\n"
           "## `xferbench run` (the default command)\n\n");
    for (size_t i = 0; i < xb_run_own_row_count(); i++)
        print_row(rows[i]);
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        printf("## Mode `%s`\n\n%s.\n\n%s\n\n", xb_modes[m]->name, xb_modes[m]->summary,
               xb_modes[m]->description);
        for (size_t i = 0; xb_modes[m]->options != NULL && xb_modes[m]->options[i] != NULL; i++)
            print_row(xb_modes[m]->options[i]);
    }
    printf("## `xferbench list`\n\n");
    for (size_t i = 0; xb_list_rows[i] != NULL; i++)
        print_row(xb_list_rows[i]);
    printf("## `xferbench link`\n\n");
    for (size_t i = 0; xb_link_rows[i] != NULL; i++)
        print_row(xb_link_rows[i]);
    printf("## `xferbench compare BASELINE CANDIDATE`\n\n");
    for (size_t i = 0; xb_compare_rows[i] != NULL; i++)
        print_row(xb_compare_rows[i]);
    return 0;
}
