/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include "../core/plain_text.h"

#include "xferbench/interrupt.h"
#include "xferbench/version.h"

#include <ctype.h>
#include <string.h>

#define WIDTH 88

/* Prints `text` wrapped at WIDTH, every line behind `indent` spaces; the first is there already. */
static void print_wrapped(FILE *stream, const char *text, int indent)
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

static void print_row(FILE *stream, const struct xb_option *option)
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
    print_wrapped(stream, text, 30);
}

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

void xb_help_print(FILE *stream)
{
    fprintf(stream,
            "xferbench %s: how fast data moves between a host and its GPUs, by every strategy a\n"
            "program can choose, with every byte verified.\n\n",
            XB_VERSION);
    for (size_t i = 0; i < XB_COMMANDS; i++)
        fprintf(stream, "  xferbench %-21s %s\n", xb_commands[i].synopsis, xb_commands[i].summary);
    fprintf(stream, "\nExample: xferbench --mode pinned --size 1G\n\nModes:\n");
    for (size_t i = 0; xb_modes[i] != NULL; i++) {
        fprintf(stream, "  %-14s", xb_modes[i]->name);
        print_wrapped(stream, xb_modes[i]->summary, 16);
    }
    fprintf(stream, "\nOptions:\n");
    const struct xb_option *const *rows = xb_run_rows();
    for (size_t i = 0; i < xb_run_own_row_count(); i++)
        print_row(stream, rows[i]);
    fprintf(stream, "\nOptions of modes:\n");
    for (size_t i = xb_run_own_row_count(); rows[i] != NULL; i++) {
        print_row(stream, rows[i]);
        fprintf(stream, "%30s(", "");
        print_takers(stream, rows[i]);
        fprintf(stream, ")\n");
    }
    fprintf(stream,
            "\nExit: 0 every case is ok or was skipped for a stated reason; 1 a case failed or "
            "its data\ndid not verify; 2 the command line is wrong; 3 nothing could be "
            "tested.\n");
}

void xb_help_print_list(FILE *stream)
{
    fprintf(stream, "xferbench list [OPTION]...: backends with what each looked for, devices and "
                    "modes with\ntheir capabilities.\n\nOptions:\n");
    for (size_t i = 0; xb_list_rows[i] != NULL; i++)
        print_row(stream, xb_list_rows[i]);
}

void xb_help_print_link(FILE *stream)
{
    fprintf(stream,
            "xferbench link [OPTION]...: is the PCIe link of every GPU what it should be? Copies "
            "both\nways, reads every hop under load, and judges. One answer, and an exit code.\n\n"
            "Options:\n");
    for (size_t i = 0; xb_link_rows[i] != NULL; i++)
        print_row(stream, xb_link_rows[i]);
    fprintf(stream,
            "\nExit: 0 OK; 1 WARNING; 2 CRITICAL; 3 UNKNOWN: it could not be tested, or the "
            "command\nline is wrong. Codes of reasons: docs/link.md.\n");
}

void xb_help_print_compare(FILE *stream)
{
    fprintf(stream,
            "xferbench compare BASELINE CANDIDATE [OPTION]...: did anything get slower? The files "
            "are\nthose of `xferbench --processes 8 --json FILE`: processes are compared, not the "
            "samples\nwithin one.\n\nOptions:\n");
    for (size_t i = 0; xb_compare_rows[i] != NULL; i++)
        print_row(stream, xb_compare_rows[i]);
    fprintf(stream,
            "\nExit: 0 no regression; 1 regression; 2 the command line is wrong, or a file cannot "
            "be read\nor is not one of xferbench; 3 inconclusive; 4 not comparable. "
            "docs/compare.md tells how.\n");
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

void xb_help_print_mode(FILE *stream, const struct xb_mode *mode)
{
    fprintf(stream, "%s: %s\n\n", mode->name, mode->summary);
    print_wrapped(stream, mode->description, 0);
    fprintf(stream, "\nDirections:");
    xb_help_print_directions(stream, mode);
    fprintf(stream, "\n");
    if (mode->options == NULL) {
        fprintf(stream, "It has no options of its own.\n");
        return;
    }
    fprintf(stream, "\nIts own options:\n");
    for (size_t i = 0; mode->options[i] != NULL; i++)
        print_row(stream, mode->options[i]);
}

void xb_version_print(FILE *stream)
{
    fprintf(stream, "xferbench %s (%s, %s)\n", XB_VERSION, XB_COMPILER, XB_BUILD_TYPE);
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++)
        fprintf(stream, "  %-5s %s%s\n", entry->name,
                entry->backend != NULL ? "built in" : "not in this build: ",
                entry->backend != NULL ? "" : entry->absent_reason);
}

/* No word of `asked` ("--help") is a command or a mode. */
static int unknown_topic(const char *asked, const char *word)
{
    const char *names[64];
    size_t count = xb_command_names(names);
    for (size_t m = 0; xb_modes[m] != NULL && count + 1 < 64; m++)
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

/* Help on the words behind `asked`; without one, what `print` prints. */
static int help_on(const char *asked, char *const *words, size_t count, void (*print)(FILE *))
{
    if (count > 1) {
        xb_say("%s takes one command or mode; '%s' is one too many", asked, words[1]);
        return XB_EXIT_USAGE;
    }
    const struct xb_mode *mode = count > 0 ? xb_mode_find(words[0]) : NULL;
    if (mode != NULL) {
        xb_help_print_mode(stdout, mode);
        return XB_EXIT_OK;
    }
    const struct xb_command *command = count > 0 ? xb_command_find(words[0]) : NULL;
    if (count > 0 && command == NULL)
        return unknown_topic(asked, words[0]);
    (command != NULL ? command->print_help : print)(stdout);
    return XB_EXIT_OK;
}

bool xb_help_answer(const struct xb_config *config, void (*print)(FILE *), int *code)
{
    *code = XB_EXIT_OK;
    if (xb_config_get(config, "help")->flag) {
        *code = help_on("--help", config->operands, config->operand_count, print);
        return true;
    }
    if (xb_config_get(config, "version")->flag && config->operand_count == 0) {
        xb_version_print(stdout);
        return true;
    }
    return false;
}

int xb_command_help(int argc, char **argv)
{
    static const struct xb_option *const rows[] = {&xb_option_plain_help, &xb_option_version, NULL};
    struct xb_config config;
    struct xb_error error;
    int code = XB_EXIT_OK;
    if (xb_config_parse(rows, argc, argv, &config, &error) != XB_OK)
        return xb_cli_fail(&error);
    if (!xb_help_answer(&config, xb_help_print, &code))
        code = help_on("help", config.operands, config.operand_count, xb_help_print);
    xb_config_free(&config);
    return code;
}

int xb_cli_fail(const struct xb_error *error)
{
    char text[1024];
    xb_say("%s", xb_error_text(error, text, sizeof text));
    if (error->status == XB_ERR_STOPPED && xb_interrupt_signal() != 0)
        return 128 + xb_interrupt_signal();
    return error->status == XB_ERR_USAGE ? XB_EXIT_USAGE : XB_EXIT_FAILED;
}

enum xb_status xb_cli_refuse_operands(const struct xb_config *config, struct xb_error *error)
{
    if (config->operand_count == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "'%s' is not an option: what to do is said by --mode, --size and the like; see "
                   "xferbench --help",
                   config->operands[0]);
}
