/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_START_OPTIONS_H
#define XFERBENCH_CLI_START_OPTIONS_H

#include "file_name.h"
#include "machine/node.h"
#include "machine/start.h"
#include "xferbench/options.h"

/* The rows of --start-at, --barrier and --barrier-tasks. */
extern const struct xb_option xb_option_start_at, xb_option_barrier, xb_option_barrier_tasks;

/* A request, with the name that it points to. */
struct xb_start_options {
    struct xb_start_request request;
    char node[XB_NODE_NAME];
    char folder[XB_FILE_NAME];
};

/*
 * Reads them. `deadline` is on the clock of base/clock.h, 0 for none. XB_ERR_USAGE for a text that
 * is no time, for a time in the past, after the deadline or more than a day ahead, for a barrier
 * without a number of processes, and for options that do not fit together.
 */
XB_MUST_CHECK enum xb_status xb_start_options_read(const struct xb_config *config, double deadline,
                                                   struct xb_start_options *options,
                                                   struct xb_error *error);

/* Says on stderr what the program waits for, if stderr is a terminal. */
void xb_start_options_say(const struct xb_start_options *options);

#endif
