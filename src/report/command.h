/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_COMMAND_H
#define XFERBENCH_REPORT_COMMAND_H

#include "cli/command.h"

/* `xferbench report`: 0 the page shows all files, 1 one could not be read or the page could not be
 * written, 2 the command line is wrong. */
extern const struct xb_command xb_command_report;

#endif
