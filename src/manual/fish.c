/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for fish. */
#include "manual.h"

#include "commands.h"
#include "commands/help.h"
#include "record/mode_list.h"

#define SPECIAL "\\"
#define QUOTE "\\'"

/* Without a command the program runs `run`, and its first word may be one. */
static const char head[] =
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

static void put_described(FILE *stream, const char *text)
{
    fputs(" -d '", stream);
    xb_manual_put_escaped(stream, text, SPECIAL, QUOTE);
    fputs("'\n", stream);
}

static void put_option(FILE *stream, const struct xb_command *command,
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
        fputs(xb_manual_takes_several(option) ? " -a '(__xferbench_list" : " -a '", stream);
        xb_manual_put_words(stream, words);
        fputs(xb_manual_takes_several(option) ? ")'" : "'", stream);
    }
    put_described(stream, xb_manual_brief(option, brief, sizeof brief));
}

static void put_word(FILE *stream, const char *condition, const char *word, const char *summary)
{
    fprintf(stream, "complete -c xferbench -n '%s' -a %s", condition, word);
    put_described(stream, summary);
}

static void put_operands(FILE *stream, const struct xb_command *command)
{
    if (command->operands == XB_OPERANDS_FILES)
        fprintf(stream, "complete -c xferbench -n '__xferbench_is %s' -F\n", command->name);
    if (command->operands != XB_OPERANDS_TOPIC)
        return;
    char condition[80];
    snprintf(condition, sizeof condition, "__xferbench_is %s", command->name);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_word(stream, condition, xb_commands[i]->name, xb_commands[i]->summary);
    for (size_t m = 0; xb_modes[m] != NULL; m++)
        put_word(stream, condition, xb_modes[m]->name, xb_modes[m]->summary);
    for (const struct xb_topic *topic = xb_topics; topic->name != NULL; topic++)
        put_word(stream, condition, topic->name, topic->summary);
}

void xb_manual_write_fish(FILE *stream)
{
    fputs(head, stream);
    for (size_t i = 0; xb_commands[i] != NULL; i++)
        put_word(stream, "__xferbench_is_first", xb_commands[i]->name, xb_commands[i]->summary);
    for (size_t i = 0; xb_commands[i] != NULL; i++) {
        const struct xb_option *const *rows = xb_commands[i]->rows();
        fprintf(stream, "\n# %s\n", xb_commands[i]->name);
        for (size_t o = 0; rows[o] != NULL; o++)
            put_option(stream, xb_commands[i], rows[o]);
        put_operands(stream, xb_commands[i]);
    }
}
