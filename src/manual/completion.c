/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for bash, fish and zsh. */
#include "manual.h"

#include "base/note.h"
#include "commands.h"
#include "commands/help.h"
#include "record/mode_list.h"

#include <string.h>

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

/* Writes the text with a backslash before each character of `special`. Within the single quotes of
 * a shell an apostrophe is written as `quote` has it. */
static void put_escaped(FILE *stream, const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs(quote, stream);
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

/* Writes each word behind a blank. */
static void put_words(FILE *stream, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        fprintf(stream, " %s", words[i]);
}

/* ---- bash ---- */

/* What does not depend on the rows: how words are offered. */
static const char bash_head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of xferbench for bash, written by the build from the rows of its options.\n"
    "\n"
    "_xferbench_words()\n"
    "{\n"
    "    local word\n"
    "    for word in \"$@\"; do\n"
    "        [[ $word != \"$cur\"* ]] || COMPREPLY+=(\"$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# The last word of a list with commas; not those that stand in it already.\n"
    "_xferbench_list()\n"
    "{\n"
    "    local word given=\"\"\n"
    "    [[ $cur != *,* ]] || given=${cur%,*},\n"
    "    for word in \"$@\"; do\n"
    "        [[ ,$given == *,\"$word\",* || $given$word != \"$cur\"* ]] || "
    "COMPREPLY+=(\"$given$word\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_xferbench_files()\n"
    "{\n"
    "    local file\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        COMPREPLY+=(\"$file\")\n"
    "    done < <(compgen -f -- \"$cur\")\n"
    "}\n";

/* The first word may be a command. "--mode=pinned" reaches bash as three words, or as one where the
 * user took '=' out of COMP_WORDBREAKS. */
static const char bash_tail[] =
    "\n"
    "_xferbench()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=\"\" command=run front=\"\"\n"
    "    COMPREPLY=()\n"
    "    ((COMP_CWORD < 1)) || prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ $cur == \"=\" ]]; then\n"
    "        cur=\"\"\n"
    "    elif [[ $prev == \"=\" ]] && ((COMP_CWORD > 1)); then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $cur == --*=* ]]; then\n"
    "        front=${cur%%=*}= prev=${cur%%=*} cur=${cur#*=}\n"
    "    fi\n"
    "    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then\n"
    "        command=${COMP_WORDS[1]}\n"
    "    fi\n"
    "    ! declare -F \"_xferbench_of_$command\" >/dev/null || \"_xferbench_of_$command\"\n"
    "    [[ $front == \"\" ]] || COMPREPLY=(\"${COMPREPLY[@]/#/$front}\")\n"
    "}\n"
    "complete -F _xferbench xferbench\n";

/* What comes behind an option. */
static void put_bash_argument(FILE *stream, const struct xb_option *option)
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
        put_words(stream, words);
        fputc(';', stream);
    }
    fputs(" return ;;\n", stream);
}

static void put_bash_command_names(FILE *stream)
{
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        fprintf(stream, " %s", xb_commands[i]->name);
}

/* What comes where no option is meant. */
static void put_bash_operands(FILE *stream, const struct xb_command *command)
{
    switch (command->operands) {
    case XB_OPERANDS_FILES:
        fputs("        _xferbench_files\n", stream);
        break;
    case XB_OPERANDS_TOPIC:
        fputs("        _xferbench_words", stream);
        put_bash_command_names(stream);
        for (size_t m = 0; xb_modes[m] != NULL; m++)
            fprintf(stream, " %s", xb_modes[m]->name);
        for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
            fprintf(stream, " %s", topic->name);
        fputc('\n', stream);
        break;
    case XB_OPERANDS_NONE:
        fputs("        ((COMP_CWORD > 1)) || _xferbench_words", stream);
        put_bash_command_names(stream);
        fputc('\n', stream);
        break;
    }
}

static void put_bash_command(FILE *stream, const struct xb_command *command)
{
    const struct xb_option *const *rows = command->rows();
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    case $prev in\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        put_bash_argument(stream, rows[i]);
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        _xferbench_words", stream);
    for (size_t i = 0; rows[i] != NULL; i++)
        fprintf(stream, " --%s", rows[i]->name);
    fputs("\n    else\n", stream);
    put_bash_operands(stream, command);
    fputs("    fi\n}\n", stream);
}

void xb_manual_write_bash(FILE *stream)
{
    fputs(bash_head, stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_bash_command(stream, xb_commands[i]);
    fputs(bash_tail, stream);
}

/* ---- fish ---- */

/* Without a command the program runs `run`, and its first word may be one. */
static const char fish_head[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of xferbench for fish, written by the build from the rows of its options.\n"
    "\n"
    "function __xferbench_is_first\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "function __xferbench_is\n"
    "    set -l words (commandline -opc)\n"
    "    set -l command run\n"
    "    if set -q words[2]; and not string match -q -- '-*' $words[2]\n"
    "        set command $words[2]\n"
    "    end\n"
    "    test $command = $argv[1]\n"
    "end\n"
    "\n"
    "# The last word of a list with commas; not those that stand in it already.\n"
    "function __xferbench_list\n"
    "    set -l typed (commandline -ct | string replace -r -- '^--[a-z0-9-]*=' '')\n"
    "    set -l before (string match -r -- '^.*,' $typed; or echo)\n"
    "    for word in $argv\n"
    "        if not string match -q -- \"*,$word,*\" \",$before\"\n"
    "            echo $before$word\n"
    "        end\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c xferbench -f\n";

static void put_fish_described(FILE *stream, const char *text)
{
    fputs(" -d '", stream);
    put_escaped(stream, text, "\\", "\\'");
    fputs("'\n", stream);
}

static void put_fish_option(FILE *stream, const struct xb_command *command,
                            const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    char brief[100];
    fprintf(stream, "complete -c xferbench -n '__xferbench_is %s' -l %s", command->name,
            option->name);
    if (option->short_name != 0)
        fprintf(stream, " -s %c", option->short_name);
    if (option->type == XB_OPTION_FILE) {
        fputs(" -r -F", stream);
    } else if (option->type != XB_OPTION_FLAG) {
        fputs(" -x", stream);
    }
    if (words != NULL) {
        fputs(takes_several(option) ? " -a '(__xferbench_list" : " -a '", stream);
        put_words(stream, words);
        fputs(takes_several(option) ? ")'" : "'", stream);
    }
    put_fish_described(stream, brief_of(option, brief, sizeof brief));
}

static void put_fish_word(FILE *stream, const char *condition, const char *word,
                          const char *summary)
{
    fprintf(stream, "complete -c xferbench -n '%s' -a %s", condition, word);
    put_fish_described(stream, summary);
}

static void put_fish_operands(FILE *stream, const struct xb_command *command)
{
    if (command->operands == XB_OPERANDS_FILES)
        fprintf(stream, "complete -c xferbench -n '__xferbench_is %s' -F\n", command->name);
    if (command->operands != XB_OPERANDS_TOPIC)
        return;
    char condition[80];
    snprintf(condition, sizeof condition, "__xferbench_is %s", command->name);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_fish_word(stream, condition, xb_commands[i]->name, xb_commands[i]->summary);
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        put_fish_word(stream, condition, xb_modes[m]->name, xb_modes[m]->summary);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        put_fish_word(stream, condition, topic->name, topic->summary);
}

void xb_manual_write_fish(FILE *stream)
{
    fputs(fish_head, stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_fish_word(stream, "__xferbench_is_first", xb_commands[i]->name,
                      xb_commands[i]->summary);
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        const struct xb_option *const *rows = xb_commands[i]->rows();
        fprintf(stream, "\n# %s\n", xb_commands[i]->name);
        for (size_t o = 0; rows[o] != NULL; o++)
            put_fish_option(stream, xb_commands[i], rows[o]);
        put_fish_operands(stream, xb_commands[i]);
    }
}

/* ---- zsh ---- */

#define QUOTE "'\\''"

static const char zsh_head[] =
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

static const char zsh_tail[] = "\n"
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
static void put_zsh_option(FILE *stream, const struct xb_option *option)
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
    put_escaped(stream, brief_of(option, brief, sizeof brief), "[]:\\", QUOTE);
    fputc(']', stream);
    if (!is_flag) {
        fputc(':', stream);
        put_escaped(stream, option->argument, "[]:\\", QUOTE);
        fputc(':', stream);
    }
    if (option->type == XB_OPTION_FILE) {
        fputs("_files", stream);
    } else if (words != NULL) {
        fputs(takes_several(option) ? " _xferbench_list" : " compadd --", stream);
        for (size_t i = 0; words[i] != NULL; i++) {
            fputc(' ', stream);
            put_escaped(stream, words[i], ":\\", QUOTE);
        }
    }
    fputs("' \\\n", stream);
}

static void put_zsh_entry(FILE *stream, const char *name, const char *summary)
{
    fprintf(stream, "        '%s:", name);
    put_escaped(stream, summary, ":\\", QUOTE);
    fputs("'\n", stream);
}

static void put_zsh_command(FILE *stream, const struct xb_command *command)
{
    static const char *const operands[] = {[XB_OPERANDS_NONE] = "",
                                           [XB_OPERANDS_FILES] = "        '*:file:_files'",
                                           [XB_OPERANDS_TOPIC] =
                                               "        '1:topic:_xferbench_topics'"};
    const struct xb_option *const *rows = command->rows();
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    _arguments -s -S : \\\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        put_zsh_option(stream, rows[i]);
    fprintf(stream, "%s\n}\n", operands[command->operands]);
}

void xb_manual_write_zsh(FILE *stream)
{
    fputs(zsh_head, stream);
    fputs("\n_xferbench_commands()\n{\n    local -a commands=(\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_zsh_entry(stream, xb_commands[i]->name, xb_commands[i]->summary);
    fputs("    )\n    _describe command commands\n}\n"
          "\n_xferbench_topics()\n{\n    local -a topics=(\n",
          stream);
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        put_zsh_entry(stream, xb_modes[m]->name, xb_modes[m]->summary);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        put_zsh_entry(stream, topic->name, topic->summary);
    fputs("    )\n    _xferbench_commands\n    _describe topic topics\n}\n", stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_zsh_command(stream, xb_commands[i]);
    fputs(zsh_tail, stream);
}
