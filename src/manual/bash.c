/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for bash. */
#include "manual.h"

#include "commands.h"
#include "commands/help.h"
#include "record/mode_list.h"

/* What does not depend on the rows: how words are offered. */
static const char head[] =
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
static const char tail[] =
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

static void put_names(FILE *stream, const struct xb_option *option)
{
    if (option->short_name != 0)
        fprintf(stream, "-%c | ", option->short_name);
    fprintf(stream, "--%s", option->name);
}

/* What comes behind an option. */
static void put_argument(FILE *stream, const struct xb_option *option)
{
    const char *const *words = xb_option_words(option);
    if (option->type == XB_OPTION_FLAG)
        return;
    fputs("    ", stream);
    put_names(stream, option);
    fputc(')', stream);
    if (option->type == XB_OPTION_FILE) {
        fputs(" _xferbench_files;", stream);
    } else if (words != NULL) {
        fprintf(stream, " _xferbench_%s", xb_manual_takes_several(option) ? "list" : "words");
        xb_manual_put_words(stream, words);
        fputc(';', stream);
    }
    fputs(" return ;;\n", stream);
}

static void put_command_names(FILE *stream)
{
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        fprintf(stream, " %s", xb_commands[i]->name);
}

/* What comes where no option is meant. */
static void put_operands(FILE *stream, const struct xb_command *command)
{
    switch (command->operands) {
    case XB_OPERANDS_FILES:
        fputs("        _xferbench_files\n", stream);
        break;
    case XB_OPERANDS_TOPIC:
        fputs("        _xferbench_words", stream);
        put_command_names(stream);
        for (size_t m = 0; xb_modes[m] != NULL; m++)
            fprintf(stream, " %s", xb_modes[m]->name);
        for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
            fprintf(stream, " %s", topic->name);
        fputc('\n', stream);
        break;
    case XB_OPERANDS_NONE:
        fputs("        ((COMP_CWORD > 1)) || _xferbench_words", stream);
        put_command_names(stream);
        fputc('\n', stream);
        break;
    }
}

static void put_command(FILE *stream, const struct xb_command *command)
{
    const struct xb_option *const *rows = command->rows();
    fprintf(stream, "\n_xferbench_of_%s()\n{\n    case $prev in\n", command->name);
    for (size_t i = 0; rows[i] != NULL; i++)
        put_argument(stream, rows[i]);
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        _xferbench_words", stream);
    for (size_t i = 0; rows[i] != NULL; i++)
        fprintf(stream, " --%s", rows[i]->name);
    fputs("\n    else\n", stream);
    put_operands(stream, command);
    fputs("    fi\n}\n", stream);
}

void xb_manual_write_bash(FILE *stream)
{
    fputs(head, stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_command(stream, xb_commands[i]);
    fputs(tail, stream);
}
