/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_READING_H
#define XFERBENCH_SINKS_READING_H

#include "xferbench/run.h"

#include <stdio.h>

/*
 * What the figures mean, for a person. Speaks only of rows that were measured, verified and large,
 * compares only rows of one device and size, and prints nothing where there is nothing to say.
 */

/* How much of its link's raw rate the best copy in each direction reached; a line for each device
 * whose link is known. */
void xb_link_share_print(FILE *stream, const struct xb_run *run);

/* All of it: the above, then one way against another. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_reading_print(FILE *stream, const struct xb_run *run,
                                              struct xb_error *error);

#endif
