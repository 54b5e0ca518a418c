/* SPDX-License-Identifier: Apache-2.0 */
/* xferbench_manual SOURCES FOLDER DATE, a program of the build: writes the man page and the
 * completions of shells into the folder, from the rows that declare commands, options, modes and
 * columns. SOURCES has the beginnings and ends of the completions; DATE (1970-12-31) stands in the
 * page's corner. */
#include "base/stream.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "commands.h"
#include "fleet/write/formats.h"
#include "record/mode_list.h"
#include "run/request.h"
#include "xferbench/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Writes a text, between two others, so that every character of it stands for itself. An escape is
 * the character and, behind it, what is written in its place. */
static void write_escaped(FILE *stream, const char *before, const char *text, const char *after,
                          const char *const escapes[])
{
    fputs(before, stream);
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (escapes[i] != NULL && escapes[i][0] != *text)
            i++;
        if (escapes[i] != NULL)
            fputs(escapes[i] + 1, stream);
        else
            fputc(*text, stream);
    }
    fputs(after, stream);
}

/* ---- the man page, in the macros of man(7) ---- */

static void write_with(FILE *stream, const char *before, const char *text, const char *after)
{
    static const char *const escapes[] = {"\\\\e",  "-\\-",   "'\\(aq",  "`\\(ga",
                                          "^\\(ha", "~\\(ti", "\"\\(dq", NULL};
    write_escaped(stream, before, text, after, escapes);
}

/* A paragraph's text. A line that began with a dot or an apostrophe would be a macro. */
static void write_text(FILE *stream, const char *text)
{
    write_with(stream, text[0] == '.' ? "\\&" : "", text, "\n");
}

/* An indented paragraph below a name. */
static void write_entry(FILE *stream, const char *name, const char *text)
{
    write_with(stream, ".TP\n\\fB", name, "\\fR\n");
    write_text(stream, text);
}

static void write_option(FILE *stream, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    char takers[512];
    fputs(".TP\n", stream);
    if (option->short_name != 0)
        fprintf(stream, "\\fB\\-%c\\fR, ", option->short_name);
    write_with(stream, "\\fB\\-\\-", option->name, "\\fR");
    if (option->argument != NULL)
        write_with(stream, " \\fI", option->argument, "\\fR");
    fputc('\n', stream);
    write_text(stream, option->help);
    if (words != NULL) {
        fputs("Words:", stream);
        for (size_t i = 0; words[i] != NULL; i++)
            write_with(stream, i > 0 ? ", " : " ", words[i], "");
        fputs(".\n", stream);
    }
    if (option->default_text != NULL)
        write_with(stream, "Default: ", option->default_text, ".\n");
    if (xb_run_takers(option, takers, sizeof takers)[0] != '\0')
        write_with(stream, "Modes: ", takers, ".\n");
}

/* The options of every command stand there once, then each command's own. */
static void write_options(FILE *stream)
{
    static const struct xb_option *const common[] = {XB_OPTIONS_OF_ALL};
    fputs(".SH OPTIONS\n.SS \"Every command\"\n", stream);
    for (size_t i = 0; common[i] != NULL; i++)
        write_option(stream, common[i]);
    for (size_t c = 0; xb_commands[c] != NULL; c++) {
        if (xb_commands[c]->operands == XB_OPERANDS_TOPIC)
            continue;
        write_with(stream, ".SS \"xferbench ", xb_commands[c]->name, "\"\n");
        const struct xb_option *const *rows = xb_command_rows(xb_commands[c]);
        for (size_t i = 0; rows[i] != NULL; i++)
            if (xb_option_find(common, rows[i]->name) != rows[i])
                write_option(stream, rows[i]);
    }
}

static void write_modes(FILE *stream)
{
    fputs(".SH MODES\n", stream);
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const char *before = "Directions: ";
        write_entry(stream, xb_modes[m]->name, xb_modes[m]->description);
        if (xb_modes[m]->calls != NULL) {
            fputs("Calls:\n", stream);
            write_text(stream, xb_modes[m]->calls);
        }
        for (unsigned d = 0; d < XB_DIRECTIONS; d++)
            if ((xb_modes[m]->directions >> d & 1u) != 0) {
                fprintf(stream, "%s%s", before, xb_direction_name((enum xb_direction)(1u << d)));
                before = ", ";
            }
        fputs(".\n", stream);
    }
}

static void write_columns(FILE *stream, const struct xb_column_help *columns)
{
    for (; columns->name != NULL; columns++)
        write_entry(stream, columns->name, columns->help);
}

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

static void write_body(FILE *stream, const char *date)
{
    fprintf(stream,
            ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH XFERBENCH 1 %s \"xferbench %s\"\n"
            ".SH NAME\nxferbench \\- measure how fast data moves between a host and its GPUs\n"
            ".SH SYNOPSIS\n.nf\n",
            date, XB_VERSION);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        write_with(stream, "\\fBxferbench\\fR ", xb_commands[i]->synopsis,
                   " [\\fIOPTION\\fR]...\n");
    fputs(".fi\n.SH DESCRIPTION\n", stream);
    write_text(stream, xb_command_run.description);
    fputs(
        "Without a command \\fBxferbench\\fR does what \\fBxferbench run\\fR does. An option means "
        "the same in every command that has it.\n.SH COMMANDS\n",
        stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        write_entry(stream, xb_commands[i]->synopsis, xb_commands[i]->description);
    write_options(stream);
    write_modes(stream);
    fputs(".SH COLUMNS\n.SS run\n", stream);
    write_columns(stream, xb_column_helps);
    fputs(".SS fleet\n", stream);
    write_columns(stream, xb_fleet_column_helps);
    fputs(".SH \"EXIT STATUS\"\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        write_entry(stream, xb_commands[i]->name, xb_commands[i]->exits);
    fputs(".SH ENVIRONMENT\n", stream);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        write_entry(stream, variables[i][0], variables[i][1]);
    fputs(".SH EXAMPLES\n", stream);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        write_entry(stream, tasks[i][0], tasks[i][1]);
    fputs(".SH \"SEE ALSO\"\n" XB_DOCUMENTS
          "\ndocs/README.md says which page answers which question.\n",
          stream);
}

#define LONGEST 79 /* bytes of a line: mandoc -Tlint tells of longer ones */

/* How much of a line of text goes on one: up to the end of a sentence, because what formats the
 * page leaves more room behind one that ends its line; or as many words as there is room for. */
static size_t first_part(const char *line, size_t length)
{
    size_t last = 0;
    for (size_t i = 0; i < length && (i <= LONGEST || last == 0); i++) {
        if (line[i] != ' ')
            continue;
        last = i;
        bool has_dots = i >= 2 && line[i - 2] == '.'; /* "FILE... [OPTION]..." */
        if (i > 0 && line[i - 1] == '.' && !has_dots)
            return i;
    }
    return length > LONGEST && last > 0 ? last : length;
}

static void write_page(FILE *stream, const char *date)
{
    struct xb_memory_text whole = {.text = NULL};
    write_body(xb_memory_text_begin(&whole), date);
    xb_memory_text_end(&whole);
    for (const char *line = whole.text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        /* Macros stay whole. A part that begins with a dot would be one. */
        size_t part = line[0] == '.' ? length : first_part(line, length);
        for (; part < length; part = first_part(line, length)) {
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

/* ---- completion: what the shells share ---- */

/* Writes a name that can stand where `where` says, and what it is. */
typedef void name_writer(FILE *stream, const char *where, const char *name, const char *summary);

static void write_commands(FILE *stream, name_writer *write_name, const char *where)
{
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        write_name(stream, where, xb_commands[i]->name, xb_commands[i]->summary);
}

/* What else `help` tells of. */
static void write_topics(FILE *stream, name_writer *write_name, const char *where)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        write_name(stream, where, xb_modes[m]->name, xb_modes[m]->summary);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        write_name(stream, where, topic->name, topic->summary);
}

/* Whether several words can be given, with commas between. */
static bool takes_several(const struct xb_option *option)
{
    return option->argument != NULL && strchr(option->argument, ',') != NULL;
}

/* What a menu says of an option: what it says in brief, else the first sentence of its help. */
static const char *brief_of(const struct xb_option *option, char *text, size_t size)
{
    if (option->brief != NULL)
        return option->brief;
    const char *end = strstr(option->help, ". ");
    size_t length = end != NULL ? (size_t)(end - option->help) : strlen(option->help);
    length -= length > 0 && option->help[length - 1] == '.' ? 1 : 0;
    if (length >= size) { /* whole words, as many as there is room for */
        length = xb_whole_words(option->help, size - 4);
        snprintf(text, size, "%.*s...", (int)length, option->help);
    } else {
        snprintf(text, size, "%.*s", (int)length, option->help);
    }
    return text;
}

/* Writes each word behind a blank. */
static void write_words(FILE *stream, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        fprintf(stream, " %s", words[i]);
}

/* ---- bash ---- */

/* What comes behind an option. */
static void write_bash_option(FILE *stream, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    if (option->type == XB_OPTION_FLAG)
        return;
    fputs("    ", stream);
    if (option->short_name != 0)
        fprintf(stream, "-%c | ", option->short_name);
    fprintf(stream, "--%s)", option->name);
    if (option->type == XB_OPTION_FILE) {
        fputs(" _xferbench_files;", stream);
    } else if (words != NULL) {
        fprintf(stream, " _xferbench_%s", takes_several(option) ? "list" : "words");
        write_words(stream, words);
        fputc(';', stream);
    }
    fputs(" return ;;\n", stream);
}

static void write_bash_name(FILE *stream, const char *where, const char *name, const char *summary)
{
    (void)where;
    (void)summary;
    fprintf(stream, " %s", name);
}

static void write_bash_command(FILE *stream, const struct xb_command *command)
{
    const struct xb_option *const *rows = xb_command_rows(command);
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    case $prev in\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        write_bash_option(stream, rows[i]);
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        _xferbench_words", stream);
    for (size_t i = 0; rows[i] != NULL; i++)
        fprintf(stream, " --%s", rows[i]->name);
    fputs("\n    else\n        ", stream); /* what comes where no option is meant */
    if (command->operands == XB_OPERANDS_FILES) {
        fputs("_xferbench_files", stream);
    } else {
        bool is_topic = command->operands == XB_OPERANDS_TOPIC;
        fputs(is_topic ? "_xferbench_words" : "((COMP_CWORD > 1)) || _xferbench_words", stream);
        write_commands(stream, write_bash_name, NULL);
        if (is_topic)
            write_topics(stream, write_bash_name, NULL);
    }
    fputs("\n    fi\n}\n", stream);
}

/* ---- fish ---- */

static void write_fish_described(FILE *stream, const char *text)
{
    static const char *const escapes[] = {"\\\\\\", "'\\'", NULL};
    write_escaped(stream, " -d '", text, "'\n", escapes);
}

static void write_fish_name(FILE *stream, const char *where, const char *name, const char *summary)
{
    fprintf(stream, "complete -c xferbench -n '%s' -a %s", where, name);
    write_fish_described(stream, summary);
}

static void write_fish_names(FILE *stream)
{
    write_commands(stream, write_fish_name, "__xferbench_is_first");
}

static void write_fish_option(FILE *stream, const char *where, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    char brief[100];
    fprintf(stream, "complete -c xferbench -n '%s' -l %s", where, option->name);
    if (option->short_name != 0)
        fprintf(stream, " -s %c", option->short_name);
    if (option->type != XB_OPTION_FLAG)
        fputs(option->type == XB_OPTION_FILE ? " -r -F" : " -x", stream);
    if (words != NULL) {
        fputs(takes_several(option) ? " -a '(__xferbench_list" : " -a '", stream);
        write_words(stream, words);
        fputs(takes_several(option) ? ")'" : "'", stream);
    }
    write_fish_described(stream, brief_of(option, brief, sizeof brief));
}

static void write_fish_command(FILE *stream, const struct xb_command *command)
{
    const struct xb_option *const *rows = xb_command_rows(command);
    char where[80];
    snprintf(where, sizeof where, "__xferbench_is %s", command->name);
    fprintf(stream, "\n# %s\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        write_fish_option(stream, where, rows[i]);
    if (command->operands == XB_OPERANDS_FILES)
        fprintf(stream, "complete -c xferbench -n '%s' -F\n", where);
    if (command->operands != XB_OPERANDS_TOPIC)
        return;
    write_commands(stream, write_fish_name, where);
    write_topics(stream, write_fish_name, where);
}

/* ---- zsh ---- */

static const char *const zsh_word_escapes[] = {":\\:", "\\\\\\", "''\\''", NULL};

static void write_zsh_name(FILE *stream, const char *where, const char *name, const char *summary)
{
    (void)where;
    fprintf(stream, "        '%s:", name);
    write_escaped(stream, "", summary, "'\n", zsh_word_escapes);
}

static void write_zsh_names(FILE *stream)
{
    fputs("\n_xferbench_commands()\n{\n    local -a commands=(\n", stream);
    write_commands(stream, write_zsh_name, NULL);
    fputs("    )\n    _describe command commands\n}\n"
          "\n_xferbench_topics()\n{\n    local -a topics=(\n",
          stream);
    write_topics(stream, write_zsh_name, NULL);
    fputs("    )\n    _xferbench_commands\n    _describe topic topics\n}\n", stream);
}

/* "'(-m --mode)'{-m+,--mode=}'[what it is]:MODE:_files' \" */
static void write_zsh_option(FILE *stream, const struct xb_option *option)
{
    static const char *const escapes[] = {"[\\[", "]\\]", ":\\:", "\\\\\\", "''\\''", NULL};
    const char *const *words = xb_option_words(option);
    bool is_flag = option->type == XB_OPTION_FLAG;
    char brief[100];
    fputs("        ", stream);
    if (option->short_name != 0)
        fprintf(stream, "'(-%c --%s)'{-%c%s,--%s%s}'", option->short_name, option->name,
                option->short_name, is_flag ? "" : "+", option->name, is_flag ? "" : "=");
    else
        fprintf(stream, "'--%s%s", option->name, is_flag ? "" : "=");
    write_escaped(stream, "[", brief_of(option, brief, sizeof brief), "]", escapes);
    if (!is_flag)
        write_escaped(stream, ":", option->argument, ":", escapes);
    if (option->type == XB_OPTION_FILE) {
        fputs("_files", stream);
    } else if (words != NULL) {
        fputs(takes_several(option) ? " _xferbench_list" : " compadd --", stream);
        for (size_t i = 0; words[i] != NULL; i++)
            write_escaped(stream, " ", words[i], "", zsh_word_escapes);
    }
    fputs("' \\\n", stream);
}

static void write_zsh_command(FILE *stream, const struct xb_command *command)
{
    static const char *const operands[] = {[XB_OPERANDS_NONE] = "",
                                           [XB_OPERANDS_FILES] = "        '*:file:_files'",
                                           [XB_OPERANDS_TOPIC] =
                                               "        '1:topic:_xferbench_topics'"};
    const struct xb_option *const *rows = xb_command_rows(command);
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    _arguments -s -S : \\\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        write_zsh_option(stream, rows[i]);
    fprintf(stream, "%s\n}\n", operands[command->operands]);
}

/* ---- the files ---- */

static const struct file {
    const char *name;
    /* Completion: what is written in the place of the lines @NAMES@ and @COMMANDS@ of this file. */
    const char *source;
    void (*write_names)(FILE *stream);
    void (*put_command)(FILE *stream, const struct xb_command *command);
} files[] = {
    {"xferbench.1", NULL, NULL, NULL},
    {"xferbench.bash", "xferbench.bash.in", NULL, write_bash_command},
    {"_xferbench", "xferbench.zsh.in", write_zsh_names, write_zsh_command},
    {"xferbench.fish", "xferbench.fish.in", write_fish_names, write_fish_command},
};

static void write_completion(FILE *stream, FILE *source, const struct file *file)
{
    char line[256];
    while (fgets(line, sizeof line, source) != NULL) {
        if (strcmp(line, "@NAMES@\n") == 0)
            file->write_names(stream);
        else if (strcmp(line, "@COMMANDS@\n") != 0)
            fputs(line, stream);
        else
            for (size_t i = 0; xb_commands[i] != NULL; i++)
                file->put_command(stream, xb_commands[i]);
    }
}

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, mode);
    if (stream == NULL)
        fprintf(stderr, "xferbench_manual: cannot open %s: %s\n", path, strerror(errno));
    return stream;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: xferbench_manual SOURCES FOLDER DATE\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool is_page = files[i].source == NULL;
        FILE *source = is_page ? NULL : open_in(argv[1], files[i].source, "r");
        FILE *stream = open_in(argv[2], files[i].name, "w");
        if (stream == NULL || (source == NULL && !is_page))
            return 1;
        if (is_page)
            write_page(stream, argv[3]);
        else
            write_completion(stream, source, &files[i]);
        bool is_whole = ferror(stream) == 0 && (is_page || ferror(source) == 0);
        if (source != NULL)
            (void)fclose(source);
        if (fclose(stream) != 0 || !is_whole) {
            fprintf(stderr, "xferbench_manual: %s is not whole\n", files[i].name);
            return 1;
        }
    }
    return 0;
}
