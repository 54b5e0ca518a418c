/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_READING_H
#define XFERBENCH_MODES_PIPELINE_READING_H

#include "xferbench/mode.h"

/* Figures of a pipeline beside those of pipeline_figures.h. */
struct xb_pipeline_times {
    const struct xb_figure *serial; /* the same work, one step after the other */
    const struct xb_figure *copies; /* both ways at once, without the kernels */
    const struct xb_figure *busy;   /* the share of the time in which the device computed */
};

/* For a line of the Reading: what overlap hides in that case, which may be NULL, and which stage
 * sets the pace. False where the same work was not timed in a row. */
bool xb_pipeline_say(struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_pipeline_times *times);

#endif
