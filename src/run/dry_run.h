/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_DRY_RUN_H
#define XFERBENCH_RUN_DRY_RUN_H

#include "measure/run.h"

/*
 * --dry-run: prints what a planned run would measure, how long that takes, how much memory, and
 * which files it would write. Opens no device, allocates nothing, writes no file. Returns the exit
 * code, after saying on stderr what is wrong: XB_EXIT_NOTHING where every case will be skipped,
 * XB_EXIT_USAGE where a file cannot be written.
 */
int xb_dry_run(const struct xb_run *run);

#endif
