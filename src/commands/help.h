/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* Help of all subcommands together. `commands` is the list of them and ends with NULL. */

/* Prints the help of the program: one screen. */
void xb_help_print_program(FILE *stream, const struct xb_command *const *commands);

/* What `help` tells of that is neither a command nor a mode nor an option. */
struct xb_topic {
    const char *name, *summary;
    void (*print)(FILE *stream, const struct xb_command *const *commands);
};
/* Ends with a name of NULL. */
extern const struct xb_topic xb_topics[];

/* Prints help on the operands of `config`; without one, that of `command`. `asked` is what the user
 * wrote for help ("--help"). Returns the exit code. */
int xb_help_answer(const char *asked, const struct xb_config *config,
                   const struct xb_command *command, const struct xb_command *const *commands);

/* Prints help on the option that `word` names ("--size", "-s", "size") in any command. False if
 * there is none. */
bool xb_help_print_option_named(FILE *stream, const struct xb_command *const *commands,
                                const char *word);
