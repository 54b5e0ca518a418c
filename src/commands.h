/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMMANDS_H
#define XFERBENCH_COMMANDS_H

#include "cli/command.h"

/* Does what the command line asks for and returns the exit code. argv is permuted. */
int xb_commands_dispatch(int argc, char **argv);

#endif
