/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_WARM_UP_H
#define XFERBENCH_MEASURE_WARM_UP_H

#include "measure.h"

/* If its samples never agree, a path is warmed up for this share of the time limit at most. */
#define XB_WARM_UP_MOST 0.25

/*
 * Repeats the case until its samples agree (xb_samples_agree), but for measurement->warm_up_least
 * seconds at least, or for as long as the lanes have rested from the same path's work where that is
 * less: see xb_case_same_path. Not at all where a sample of that work lasted longer than a warm-up
 * may. Finds how many iterations a sample should have. Fills
 * measurement->iterations and, where single operations are what it repeats, measurement->alone.
 * Blocks. Warns in the result where samples did not agree in time.
 */
XB_MUST_CHECK enum xb_status xb_measure_warm_up(struct xb_measurement *measurement,
                                                struct xb_error *error);

/* Notes that the case was at work on its lanes until now. */
void xb_measure_note_work(struct xb_measurement *measurement);

#endif
