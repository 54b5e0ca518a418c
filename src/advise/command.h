/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_ADVISE_COMMAND_H
#define XFERBENCH_ADVISE_COMMAND_H

#include "cli/command.h"

/* `xferbench advise`. */
extern const struct xb_command xb_command_advise;

/* The rows of its options, of options.c. Ends with NULL; static memory. */
const struct xb_option *const *xb_advise_rows(void);

#endif
