/* SPDX-License-Identifier: Apache-2.0 */
/* The man page, in the macros of man(7). */
#include "manual.h"

#include "base/stream.h"
#include "cli/options.h"
#include "commands.h"
#include "fleet/formats.h"
#include "record/mode_list.h"
#include "run/command.h"
#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

/* Writes text so that every character stands for itself. */
static void put(FILE *stream, const char *text)
{
    static const struct {
        char character;
        const char *escape;
    } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
    for (; *text != '\0'; text++) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (*text == escapes[i].character)
                escape = escapes[i].escape;
        if (escape != NULL)
            fputs(escape, stream);
        else
            fputc(*text, stream);
    }
}

/* A paragraph's text. A line that began with a dot or an apostrophe would be a macro. */
static void put_text(FILE *stream, const char *text)
{
    fputs(text[0] == '.' ? "\\&" : "", stream);
    put(stream, text);
    fputc('\n', stream);
}

/* In bold (B) or italics (I). */
static void put_in(FILE *stream, char font, const char *text)
{
    fprintf(stream, "\\f%c", font);
    put(stream, text);
    fputs("\\fR", stream);
}

/* An indented paragraph below a name. */
static void put_entry(FILE *stream, const char *name, const char *text)
{
    fputs(".TP\n", stream);
    put_in(stream, 'B', name);
    fputc('\n', stream);
    put_text(stream, text);
}

static void put_fact(FILE *stream, const char *what, const char *text)
{
    fputs(what, stream);
    put(stream, text);
    fputs(".\n", stream);
}

static void put_option(FILE *stream, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    char takers[512];
    char name[80];
    fputs(".TP\n", stream);
    if (option->short_name != 0) {
        snprintf(name, sizeof name, "-%c", option->short_name);
        put_in(stream, 'B', name);
        fputs(", ", stream);
    }
    snprintf(name, sizeof name, "--%s", option->name);
    put_in(stream, 'B', name);
    if (option->argument != NULL) {
        fputc(' ', stream);
        put_in(stream, 'I', option->argument);
    }
    fputc('\n', stream);
    put_text(stream, option->help);
    if (words != NULL) {
        fputs("Words:", stream);
        for (size_t i = 0; words[i] != NULL; i++) {
            fputs(i > 0 ? ", " : " ", stream);
            put(stream, words[i]);
        }
        fputs(".\n", stream);
    }
    if (option->default_text != NULL)
        put_fact(stream, "Default: ", option->default_text);
    if (xb_run_takers(option, takers, sizeof takers)[0] != '\0')
        put_fact(stream, "Modes: ", takers);
}

static void put_options(FILE *stream)
{
    fputs(".SH OPTIONS\n.SS \"Every command\"\n", stream);
    put_option(stream, &xb_option_help);
    put_option(stream, &xb_option_color);
    put_option(stream, &xb_option_version);
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        if (xb_commands[i]->operands == XB_OPERANDS_TOPIC)
            continue;
        fputs(".SS \"xferbench ", stream);
        put(stream, xb_commands[i]->name);
        fputs("\"\n", stream);
        /* Its own options, without those that every command has. */
        const struct xb_option *const *rows = xb_commands[i]->rows();
        for (size_t k = 0; rows[k] != NULL; k++)
            if (rows[k] != &xb_option_help && rows[k] != &xb_option_color &&
                rows[k] != &xb_option_version)
                put_option(stream, rows[k]);
    }
}

static void put_modes(FILE *stream)
{
    fputs(".SH MODES\n", stream);
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        char directions[64] = "";
        put_entry(stream, xb_modes[m]->name, xb_modes[m]->description);
        if (xb_modes[m]->calls != NULL) {
            fputs("Calls:\n", stream);
            put_text(stream, xb_modes[m]->calls);
        }
        for (unsigned d = 0; d < XB_DIRECTIONS; d++)
            if ((xb_modes[m]->directions >> d & 1u) != 0) {
                size_t used = strlen(directions);
                snprintf(directions + used, sizeof directions - used, "%s%s", used > 0 ? ", " : "",
                         xb_direction_name((enum xb_direction)(1u << d)));
            }
        fprintf(stream, "Directions: %s.\n", directions);
    }
}

static void put_columns(FILE *stream, const struct xb_column_help *columns)
{
    for (; columns->name != NULL; columns++)
        put_entry(stream, columns->name, columns->help);
}

static void put_environment(FILE *stream)
{
    static const char *const variables[][2] = {
        {"COLUMNS", "How wide a terminal is that does not say so itself."},
        {"NO_COLOR", "With any value: no colours, unless --color always."},
        {"TERM", "dumb: no colours."},
        {"LC_ALL, LC_CTYPE, LANG", "The first that is set says whether a terminal shows UTF-8."},
        {"TMPDIR", "Where files are made that are read from disk, and removed again."},
        {"XDG_CACHE_HOME", "Kernels compiled for AMD GPUs are kept in its folder xferbench; "
                           "without it in ~/.cache/xferbench."},
        {"XFERBENCH_DEBUG", "With any value: errors name the line of the source that told them. Of "
                            "the words plan, probe, warm-up, stop in it (a comma list) each tells "
                            "on standard error what was found or decided there."},
        {"XFERBENCH_HIP_LIBRARY", "The HIP runtime to open, in place of those that are found."},
        {"XFERBENCH_NODE", "This node's name in its fleet, in place of SLURMD_NODENAME and of the "
                           "host name."},
    };
    fputs(".SH ENVIRONMENT\n", stream);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        put_entry(stream, variables[i][0], variables[i][1]);
}

static void put_examples(FILE *stream)
{
    static const char *const tasks[][2] = {
        {"What is fast here, and what should my program change?", "xferbench"},
        {"The same in a few seconds", "xferbench --quick"},
        {"From which size on does page-locked (pinned) memory pay?", "xferbench --size 4K..1G"},
        {"Is the link of each GPU what it should be?", "xferbench link"},
        {"Is the GPU faster than the CPU, copies included?",
         "xferbench advise --bytes-in 400M --gpu-time 2ms --cpu-time 50ms"},
        {"Measure before a change; after it, into another file",
         "xferbench --processes 8 --json before.json"},
        {"Did the change make anything slower?", "xferbench compare before.json after.json"},
        {"Test the links of many nodes", "srun -N500 xferbench link --json results/%h.json"},
        {"Which node is slow?", "xferbench fleet results/"},
        {"Show results to others", "xferbench report *.json --output report.html"},
    };
    fputs(".SH EXAMPLES\n", stream);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        put_entry(stream, tasks[i][0], tasks[i][1]);
}

static void put_page(FILE *stream, const char *date)
{
    fprintf(stream,
            ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH XFERBENCH 1 %s \"xferbench %s\"\n",
            date, XB_VERSION);
    fputs(".SH NAME\nxferbench \\- measure how fast data moves between a host and its GPUs\n",
          stream);
    fputs(".SH SYNOPSIS\n.nf\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        fputs("\\fBxferbench\\fR ", stream);
        put(stream, xb_commands[i]->synopsis);
        fputs(" [\\fIOPTION\\fR]...\n", stream);
    }
    fputs(".fi\n", stream);
    fputs(".SH DESCRIPTION\n", stream);
    put_text(stream, xb_command_run.description);
    fputs(
        "Without a command \\fBxferbench\\fR does what \\fBxferbench run\\fR does. An option means "
        "the same in every command that has it.\n",
        stream);
    fputs(".SH COMMANDS\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_entry(stream, xb_commands[i]->synopsis, xb_commands[i]->description);
    put_options(stream);
    put_modes(stream);
    fputs(".SH COLUMNS\n.SS run\n", stream);
    put_columns(stream, xb_column_helps);
    fputs(".SS fleet\n", stream);
    put_columns(stream, xb_fleet_column_helps);
    fputs(".SH \"EXIT STATUS\"\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_entry(stream, xb_commands[i]->name, xb_commands[i]->exits);
    put_environment(stream);
    put_examples(stream);
    fputs(".SH \"SEE ALSO\"\n" XB_DOCUMENTS
          "\ndocs/README.md says which page answers which question.\n",
          stream);
}

/* ---- lines ---- */

#define LONGEST 79 /* bytes of a line: mandoc -Tlint tells of longer ones */

/* Whether a sentence ends before the blank. What formats the page leaves more room behind one that
 * ends its line, so each does. */
static bool is_end(const char *line, const char *blank)
{
    bool has_dots = blank - line >= 2 && blank[-2] == '.'; /* "FILE... [OPTION]..." */
    return blank > line && blank[-1] == '.' && !has_dots;
}

/* How much of the line goes on one: up to the end of a sentence, or as many words as there is room
 * for. */
static size_t first_part(const char *line, size_t length)
{
    size_t last = 0;
    for (size_t i = 0; i < length && (i <= LONGEST || last == 0); i++) {
        if (line[i] != ' ')
            continue;
        last = i;
        if (is_end(line, line + i))
            return i;
    }
    return length > LONGEST && last > 0 ? last : length;
}

void xb_manual_write_page(FILE *stream, const char *date)
{
    struct xb_memory_text whole = {.text = NULL};
    put_page(xb_memory_text_begin(&whole), date);
    xb_memory_text_end(&whole);
    for (const char *line = whole.text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        /* A line of text; those of macros stay whole. One that begins with a dot would be a
         * macro. */
        bool is_text = line[0] != '.';
        while (is_text && first_part(line, length) < length) {
            size_t part = first_part(line, length);
            fprintf(stream, "%.*s\n", (int)part, line);
            line += part + 1;
            length -= part + 1;
            fputs(line[0] == '.' ? "\\&" : "", stream);
        }
        fprintf(stream, "%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(whole.text);
}
