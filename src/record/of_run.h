/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_OF_RUN_H
#define XFERBENCH_RECORD_OF_RUN_H

#include "measure/run.h"
#include "xferbench/record.h"

/*
 * Makes the record of a run of this process, with this machine and environment as they are now. An
 * unfinished run has a record too: every case has its row. Keeps nothing of *run but the names of
 * modes, figures and options, which are static. XB_ERR_MEMORY only; then nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                              struct xb_error *error);

#endif
