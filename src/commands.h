/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* All subcommands, in the order of the program's help; ends with NULL. */
extern const struct xb_command *const xb_commands[];

/* The command of that name, or NULL. */
const struct xb_command *xb_command_find(const char *name);

/* Does what the command line asks for and returns the exit code. argv is permuted. */
int xb_commands_dispatch(int argc, char **argv);
