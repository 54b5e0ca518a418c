/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_OVERLAP_READING_H
#define XFERBENCH_MODES_OVERLAP_READING_H

#include "xferbench/mode.h"

/* Figures of a pipeline beside those of stage_figures.h. */
struct xb_overlap_times {
    const struct xb_figure *serial; /* the same work, one step after the other */
    const struct xb_figure *copies; /* both ways at once, without the kernels */
    const struct xb_figure *busy;   /* the share of the time in which the device computed */
};

/* For a line of the Reading: what overlap hides in that case, which may be NULL, and which stage
 * sets the pace. False where the same work was not timed in a row. */
bool xb_overlap_say(struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_overlap_times *times);

#endif
