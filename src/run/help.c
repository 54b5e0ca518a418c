/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "cli/help.h"
#include "record/mode_list.h"

#include <string.h>

static bool takes(const struct xb_mode *mode, const struct xb_option *option)
{
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        if (mode->options[i] == option)
            return true;
    return false;
}

const char *xb_run_takers(const struct xb_option *option, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t m = 0; xb_modes[m] != NULL && used < size; m++)
        if (takes(xb_modes[m], option))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     xb_modes[m]->name);
    return text;
}

static void print_modes(FILE *stream)
{
    fprintf(stream, "\nModes:\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        char name[64];
        snprintf(name, sizeof name, "  %s", xb_modes[i]->name);
        xb_help_print_entry(stream, name, xb_modes[i]->summary, 16);
    }
}

static void print_own_options(FILE *stream)
{
    const struct xb_option *const *rows = xb_run_rows();
    fprintf(stream, "\nOptions:\n");
    for (size_t i = 0; i < xb_run_own_row_count(); i++)
        xb_help_print_option(stream, rows[i]);
}

void xb_run_print_help(FILE *stream)
{
    xb_help_print_beginning(stream, &xb_command_run);
    print_modes(stream);
    print_own_options(stream);
    fprintf(stream, "\nOptions of modes: ");
    xb_help_print_wrapped(stream,
                          "`xferbench help MODE` has those of a mode, `xferbench help all` has "
                          "all.",
                          (int)strlen("Options of modes: "));
    xb_help_print_exits(stream, &xb_command_run);
}

void xb_run_print_all_help(FILE *stream)
{
    const struct xb_option *const *rows = xb_run_rows();
    xb_help_print_beginning(stream, &xb_command_run);
    print_modes(stream);
    print_own_options(stream);
    fprintf(stream, "\nOptions of modes:\n");
    for (size_t i = xb_run_own_row_count(); rows[i] != NULL; i++) {
        char takers[512];
        char text[600];
        xb_help_print_option(stream, rows[i]);
        snprintf(text, sizeof text, "(%s)", xb_run_takers(rows[i], takers, sizeof takers));
        xb_help_print_entry(stream, "", text, 30);
    }
    xb_help_print_exits(stream, &xb_command_run);
}
