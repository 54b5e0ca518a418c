/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_COMMAND_H
#define XFERBENCH_RUN_COMMAND_H

#include "cli/command.h"

/* `xferbench run`, which is also what the program does without a command. */
extern const struct xb_command xb_command_run;

/* The rows of its options, of options.c: its own and those of every mode, each once. Ends with
 * NULL; static memory. */
const struct xb_option *const *xb_run_rows(void);
/* Which of them belong to `run` itself: the first so many. */
size_t xb_run_own_row_count(void);

/* Prints the modes, the options and the exit codes (help.c). */
void xb_run_print_help(FILE *stream);

#endif
