/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands, each declared once. */
#include "cli.h"

#include <string.h>

const struct xb_command xb_commands[XB_COMMANDS] = {
    {"run", "[run] [OPTION]...", "measure", xb_command_run, xb_help_print},
    {"list", "list [--json FILE]", "show backends, devices and modes", xb_command_list,
     xb_help_print_list},
    {"link", "link [OPTION]...", "is each GPU's PCIe link what it should be?", xb_command_link,
     xb_help_print_link},
    {"compare", "compare OLD NEW", "did anything get slower between two JSON files?",
     xb_command_compare, xb_help_print_compare},
    {"help", "help [COMMAND|MODE]", "the same as --help; what a mode measures", xb_command_help,
     xb_help_print},
};

const struct xb_command *xb_command_find(const char *name)
{
    for (size_t i = 0; i < XB_COMMANDS; i++)
        if (strcmp(name, xb_commands[i].name) == 0)
            return &xb_commands[i];
    return NULL;
}

size_t xb_command_names(const char **names)
{
    for (size_t i = 0; i < XB_COMMANDS; i++)
        names[i] = xb_commands[i].name;
    return XB_COMMANDS;
}
