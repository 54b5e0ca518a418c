/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_COMMAND_H
#define XFERBENCH_LINK_COMMAND_H

#include "cli/command.h"

/* `xferbench link`. Its exit codes are those of Nagios plugins, enum xb_level; a usage error is
 * XB_LEVEL_UNKNOWN. */
extern const struct xb_command xb_command_link;

/* The rows of its options. */
const struct xb_option *const *xb_link_rows(void);

#endif
