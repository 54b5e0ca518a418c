/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "cli/help.h"
#include "measure/mode_list.h"

/* The names of the modes that take an option, as "async, pinned". */
static void print_takers(FILE *stream, const struct xb_option *option)
{
    const char *separator = "";
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        for (size_t i = 0; xb_modes[m]->options != NULL && xb_modes[m]->options[i] != NULL; i++) {
            if (xb_modes[m]->options[i] == option) {
                fprintf(stream, "%s%s", separator, xb_modes[m]->name);
                separator = ", ";
            }
        }
    }
}

void xb_run_print_help(FILE *stream)
{
    fprintf(stream, "Modes:\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        fprintf(stream, "  %-14s", xb_modes[i]->name);
        xb_help_print_wrapped(stream, xb_modes[i]->summary, 16);
    }
    fprintf(stream, "\nOptions:\n");
    const struct xb_option *const *rows = xb_run_rows();
    for (size_t i = 0; i < xb_run_own_row_count(); i++)
        xb_help_print_option(stream, rows[i]);
    fprintf(stream, "\nOptions of modes:\n");
    for (size_t i = xb_run_own_row_count(); rows[i] != NULL; i++) {
        xb_help_print_option(stream, rows[i]);
        fprintf(stream, "%30s(", "");
        print_takers(stream, rows[i]);
        fprintf(stream, ")\n");
    }
    fprintf(stream,
            "\nExit: 0 every case is ok or was skipped for a stated reason; 1 a case failed or "
            "its data\ndid not verify; 2 the command line is wrong; 3 nothing could be "
            "tested.\n");
}
