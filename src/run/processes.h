/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PROCESSES_H
#define XFERBENCH_RUN_PROCESSES_H

#include "xferbench/options.h"

#include <stdbool.h>

/* `run` in fresh processes: --processes, --interleave. */

/* Whether the configuration of `run` asks for more than this process. */
bool xb_processes_wanted(const struct xb_config *config);

/* Whether what it asks for can be: XB_ERR_USAGE. Also where xb_processes_wanted() is false. */
XB_MUST_CHECK enum xb_status xb_processes_check(const struct xb_config *config,
                                                struct xb_error *error);

/* Finds the program of --interleave: its path, which free() releases, or NULL where none was given.
 * XB_ERR_USAGE where there is none that can be run. */
XB_MUST_CHECK enum xb_status xb_processes_find_baseline(const struct xb_config *config, char **path,
                                                        struct xb_error *error);

/*
 * Runs the processes one after the other, merges what they write, and writes it. `deadline` is on
 * the clock of src/base/clock.h, 0 for none; `start_at`, when the first begins, on that of
 * src/base/day_time.h, 0 for at once. Opens no backend. Blocks. Returns the exit code.
 */
int xb_processes_run(const struct xb_config *config, double deadline, double start_at);

#endif
