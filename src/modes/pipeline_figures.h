/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_FIGURES_H
#define XFERBENCH_MODES_PIPELINE_FIGURES_H

#include "xferbench/result.h"

/* The figures of the mode `pipeline`. */

enum xb_pipeline_stage {
    XB_PIPELINE_READ,
    XB_PIPELINE_IN,
    XB_PIPELINE_COMPUTE,
    XB_PIPELINE_OUT,
    XB_PIPELINE_STAGES
};

/* Of each stage: its rate alone, and the shares of the time that a recorded iteration tells. */
extern const struct xb_figure xb_pipeline_rates[XB_PIPELINE_STAGES];
extern const struct xb_figure xb_pipeline_busy[XB_PIPELINE_STAGES];
extern const struct xb_figure xb_pipeline_wait[XB_PIPELINE_STAGES];

/* All of them; ends with NULL. */
extern const struct xb_figure *const xb_pipeline_figures[];

/* Computes what follows from the rates and the bandwidth: gpu_busy, share_of_bound, and speed_up
 * where there is a serial_time. None of them where not all stages were timed. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_pipeline_compute(struct xb_result *result, struct xb_error *error);

#endif
