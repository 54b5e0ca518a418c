/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_COMMAND_H
#define XFERBENCH_COMPARE_COMMAND_H

#include "cli/command.h"

/* `xferbench compare`: 0 no regression, 1 regression, 2 no verdict for an error, 3 inconclusive, 4
 * not comparable. */
extern const struct xb_command xb_command_compare;

#endif
