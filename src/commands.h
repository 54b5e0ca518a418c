/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/* All subcommands, in the order of the program's help; ends with NULL. */
extern const struct xb_command *const xb_commands[];

/* What `help` tells of that is neither a command nor a mode nor an option. */
struct xb_topic {
    const char *name, *summary;
    void (*print)(FILE *stream);
};
/* Ends with a name of NULL. */
extern const struct xb_topic xb_topics[];

/* Does what the command line asks for and returns the exit code. argv is permuted. */
int xb_commands_dispatch(int argc, char **argv);
