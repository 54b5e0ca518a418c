/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LIST_COMMAND_H
#define XFERBENCH_LIST_COMMAND_H

#include "cli/command.h"

/* `xferbench list`: what is there. */
extern const struct xb_command xb_command_list;

#endif
