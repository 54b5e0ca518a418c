/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_OPTIONS_H
#define XFERBENCH_CLI_OPTIONS_H

#include "command.h"
#include "measure/run.h"
#include "xferbench/options.h"

/* The rows of options that several commands have. */

extern const struct xb_option xb_option_help, xb_option_color, xb_option_version;
/* The end of every command's rows. */
#define XB_OPTIONS_OF_ALL &xb_option_help, &xb_option_color, &xb_option_version, NULL
/* Tells base/terminal.h what --color says. */
XB_MUST_CHECK enum xb_status xb_option_color_apply(const struct xb_config *config,
                                                   struct xb_error *error);
/* Where the report of a command goes that writes one. */
extern const struct xb_option xb_option_output;
/* When measuring ends; src/run/deadline.h keeps it. */
extern const struct xb_option xb_option_deadline;
/* The row of --alpha, and its value: XB_ERR_USAGE unless that is above 0 and below 0.5. */
extern const struct xb_option xb_option_alpha;
XB_MUST_CHECK enum xb_status xb_option_alpha_read(const struct xb_config *config, double *alpha,
                                                  struct xb_error *error);
/* Which backend measures. Its help names those that there are: each rows() that has it calls
 * xb_option_backend_describe, which writes that. */
extern const struct xb_option xb_option_backend;
void xb_option_backend_describe(void);

extern const struct xb_option xb_option_start_at;

/*
 * Reads the option. *at is on the clock of base/day_time.h; 0: the option is not given. `deadline`
 * is on the clock of base/clock.h, 0 for none. XB_ERR_USAGE for a text that is no time, and for a
 * time in the past, after the deadline or more than a day ahead.
 */
XB_MUST_CHECK enum xb_status xb_start_at_read(const struct xb_config *config, double deadline,
                                              double *at, struct xb_error *error);

/* Says on stderr what the program waits for, if stderr is a terminal. */
void xb_start_at_say(double at);

/*
 * Opens the backend the user named, or with "auto" the first that is automatic and can run, into
 * run->backend, driver and probe. Where none can, prints what each looked for to stderr and returns
 * XB_EXIT_NOTHING; XB_EXIT_USAGE for a name that is no backend's.
 */
enum xb_exit xb_backend_choose(const char *name, struct xb_run *run);

/* Prints the lines of a probe, indented. */
void xb_probe_print(FILE *stream, const struct xb_probe *probe);

#endif
