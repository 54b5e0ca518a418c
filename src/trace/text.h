/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TRACE_TEXT_H
#define XFERBENCH_TRACE_TEXT_H

#include "xferbench/result.h"

#include <stdio.h>

/*
 * Draws the timeline of a result that has one, for a terminal of 80 columns: a row a stage of the
 * mode's line, else a row a thread and a stream; time goes from left to right. XB_ERR_MEMORY only:
 * a failure of the stream shows when it is flushed.
 */
XB_MUST_CHECK enum xb_status xb_timeline_print(FILE *stream, const struct xb_result *result,
                                               struct xb_error *error);

#endif
