/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_RECORD_OF_RUN_H
#define XFERBENCH_MEASURE_RECORD_OF_RUN_H

#include "run.h"
#include "xferbench/record.h"

/*
 * Makes the record of a run of this process, with this machine and environment as they are now. An
 * unfinished run has a record too: every case has its row. The rows are those of the run's results,
 * which are finished (xb_result_finish) and must live as long as the record: a second record of
 * the run ends the rows of the first. XB_ERR_MEMORY only; then nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_record_of_run(const struct xb_run *run, struct xb_record *record,
                                              struct xb_error *error);

/* The same, and the results belong to the record then: the run has none any more. */
XB_MUST_CHECK enum xb_status xb_record_take_run(struct xb_run *run, struct xb_record *record,
                                                struct xb_error *error);

#endif
