/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_COMMAND_H
#define XFERBENCH_COMPARE_COMMAND_H

#include "cli/command.h"

#include <stdio.h>

/* `xferbench compare`: 0 no regression, 1 regression, 2 no verdict for an error, 3 inconclusive, 4
 * not comparable. */
extern const struct xb_command xb_command_compare;

/* The rows of its options, of options.c. */
const struct xb_option *const *xb_compare_rows(void);

#endif
