/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_COMMAND_H
#define XFERBENCH_FLEET_COMMAND_H

#include "cli/command.h"
#include "run/command.h"

/* `xferbench fleet`: 0 nothing was named, 1 something was or a document could not be read, 2 none
 * could be or the command line is wrong, 3 too few siblings to judge. */
extern const struct xb_command xb_command_fleet;

/* The columns of its table; the last one's name is NULL. */
extern const struct xb_column_help xb_fleet_column_helps[];

#endif
