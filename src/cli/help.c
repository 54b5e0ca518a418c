/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include "backends/registry.h"
#include "xferbench/version.h"

#include <string.h>

#define WIDTH 88

void xb_help_print_wrapped(FILE *stream, const char *text, int indent)
{
    int column = indent;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

void xb_help_print_option(FILE *stream, const struct xb_option *option)
{
    char left[64];
    char text[1024];
    int length = option->short_name != 0
                     ? snprintf(left, sizeof left, "  -%c, --%s", option->short_name, option->name)
                     : snprintf(left, sizeof left, "      --%s", option->name);
    if (option->argument != NULL)
        length += snprintf(left + length, sizeof left - (size_t)length, " %s", option->argument);
    size_t used = (size_t)snprintf(text, sizeof text, "%s", option->help);
    if (option->default_text != NULL)
        snprintf(text + used, sizeof text - used, " [default: %s]", option->default_text);
    if (length < 29)
        fprintf(stream, "%-30s", left);
    else
        fprintf(stream, "%s\n%30s", left, "");
    xb_help_print_wrapped(stream, text, 30);
}

void xb_help_print_options(FILE *stream, const struct xb_option *const *rows)
{
    for (size_t i = 0; rows[i] != NULL; i++)
        xb_help_print_option(stream, rows[i]);
}

void xb_help_print_directions(FILE *stream, const struct xb_mode *mode)
{
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if ((mode->directions >> d & 1u) != 0)
            fprintf(stream, " %s", xb_direction_name((enum xb_direction)(1u << d)));
    if (mode->by_default == mode->directions)
        return;
    fprintf(stream, " (by default");
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if ((mode->by_default >> d & 1u) != 0)
            fprintf(stream, " %s", xb_direction_name((enum xb_direction)(1u << d)));
    fprintf(stream, ")");
}

/* What --gate of compare and the columns of the CSV call them. */
static void print_figures(FILE *stream, const struct xb_figure *const *figures)
{
    for (size_t i = 0; figures[i] != NULL; i++) {
        fprintf(stream, "  %-27s ", figures[i]->name);
        xb_help_print_wrapped(stream, figures[i]->help, 30);
    }
}

void xb_help_print_mode(FILE *stream, const struct xb_mode *mode)
{
    fprintf(stream, "%s: %s\n\n", mode->name, mode->summary);
    xb_help_print_wrapped(stream, mode->description, 0);
    fprintf(stream, "\nDirections:");
    xb_help_print_directions(stream, mode);
    fprintf(stream, "\n");
    if (mode->options == NULL) {
        fprintf(stream, "It has no options of its own.\n");
    } else {
        fprintf(stream, "\nIts own options:\n");
        xb_help_print_options(stream, mode->options);
    }
    if (mode->figures != NULL) {
        fprintf(stream, "\nIts own figures:\n");
        print_figures(stream, mode->figures);
    }
}

void xb_version_print(FILE *stream)
{
    fprintf(stream, "xferbench %s (%s, %s)\n", XB_VERSION, XB_COMPILER, XB_BUILD_TYPE);
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++)
        fprintf(stream, "  %-5s %s%s\n", entry->name,
                entry->backend != NULL ? "built in" : "not in this build: ",
                entry->backend != NULL ? "" : entry->absent_reason);
}
