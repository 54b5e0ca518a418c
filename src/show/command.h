/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SHOW_COMMAND_H
#define XFERBENCH_SHOW_COMMAND_H

#include "cli/command.h"

/* `xferbench show`: 0 all files were shown, 1 one could not be, 2 the command line is wrong. */
extern const struct xb_command xb_command_show;

#endif
