/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_ADVISE_COMMAND_H
#define XFERBENCH_ADVISE_COMMAND_H

#include "cli/command.h"

/* `xferbench advise`. */
extern const struct xb_command xb_command_advise;

#endif
