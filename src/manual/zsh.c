/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for zsh. */
#include "manual.h"

#include "commands.h"
#include "commands/help.h"
#include "record/mode_list.h"

#define QUOTE "'\\''"

static const char head[] =
    "#compdef xferbench\n"
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of xferbench for zsh, written by the build from the rows of its options.\n"
    "\n"
    "# The last word of a list with commas; not those that stand in it already.\n"
    "_xferbench_list()\n"
    "{\n"
    "    local -a given\n"
    "    [[ $PREFIX != *,* ]] || given=(${(s:,:)${PREFIX%,*}})\n"
    "    compset -P '*,'\n"
    "    compadd -- ${argv:|given}\n"
    "}\n";

static const char tail[] = "\n"
                           "_xferbench()\n"
                           "{\n"
                           "    local command=run\n"
                           "    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
                           "        _xferbench_commands\n"
                           "        return\n"
                           "    fi\n"
                           "    if [[ $words[2] != -* ]]; then\n"
                           "        command=$words[2]\n"
                           "        shift words\n"
                           "        ((CURRENT--))\n"
                           "    fi\n"
                           "    (( ! $+functions[_xferbench_of_$command] )) || "
                           "_xferbench_of_$command\n"
                           "}\n"
                           "\n"
                           "_xferbench \"$@\"\n";

/* "'(-m --mode)'{-m+,--mode=}'[what it is]:MODE:_files' \" */
static void put_option(FILE *stream, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    bool is_flag = option->type == XB_OPTION_FLAG;
    char brief[100];
    fputs("        ", stream);
    if (option->short_name != 0)
        fprintf(stream, "'(-%c --%s)'{-%c%s,--%s%s}'", option->short_name, option->name,
                option->short_name, is_flag ? "" : "+", option->name, is_flag ? "" : "=");
    else
        fprintf(stream, "'--%s%s", option->name, is_flag ? "" : "=");
    fputc('[', stream);
    xb_manual_put_escaped(stream, xb_manual_brief(option, brief, sizeof brief), "[]:\\", QUOTE);
    fputc(']', stream);
    if (!is_flag) {
        fputc(':', stream);
        xb_manual_put_escaped(stream, option->argument, "[]:\\", QUOTE);
        fputc(':', stream);
    }
    if (option->type == XB_OPTION_FILE) {
        fputs("_files", stream);
    } else if (words != NULL) {
        fputs(xb_manual_takes_several(option) ? " _xferbench_list" : " compadd --", stream);
        for (size_t i = 0; words[i] != NULL; i++) {
            fputc(' ', stream);
            xb_manual_put_escaped(stream, words[i], ":\\", QUOTE);
        }
    }
    fputs("' \\\n", stream);
}

static void put_entry(FILE *stream, const char *name, const char *summary)
{
    fprintf(stream, "        '%s:", name);
    xb_manual_put_escaped(stream, summary, ":\\", QUOTE);
    fputs("'\n", stream);
}

static void put_commands(FILE *stream)
{
    fputs("\n_xferbench_commands()\n{\n    local -a commands=(\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_entry(stream, xb_commands[i]->name, xb_commands[i]->summary);
    fputs("    )\n    _describe command commands\n}\n"
          "\n_xferbench_topics()\n{\n    local -a topics=(\n",
          stream);
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        put_entry(stream, xb_modes[m]->name, xb_modes[m]->summary);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        put_entry(stream, topic->name, topic->summary);
    fputs("    )\n    _xferbench_commands\n    _describe topic topics\n}\n", stream);
}

static void put_command(FILE *stream, const struct xb_command *command)
{
    static const char *const operands[] = {[XB_OPERANDS_NONE] = "",
                                           [XB_OPERANDS_FILES] = "        '*:file:_files'",
                                           [XB_OPERANDS_TOPIC] =
                                               "        '1:topic:_xferbench_topics'"};
    const struct xb_option *const *rows = command->rows();
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    _arguments -s -S : \\\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        put_option(stream, rows[i]);
    fprintf(stream, "%s\n}\n", operands[command->operands]);
}

void xb_manual_write_zsh(FILE *stream)
{
    fputs(head, stream);
    put_commands(stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_command(stream, xb_commands[i]);
    fputs(tail, stream);
}
