/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_OVERVIEW_H
#define XFERBENCH_RUN_OVERVIEW_H

#include "reading/list.h"
#include "xferbench/record.h"

#include <stdio.h>

/* The parts of what a run prints unasked; table.c puts them together. */

/* In one line: on what, by which driver, on which node; more only of what is not as it should be.
 */
void xb_overview_header(FILE *stream, const struct xb_record *record);

/* The results as bars, the fastest first; of several sizes, devices or values of a parameter as a
 * small matrix, and of one method as its curve. `told`: for each case whether it stands elsewhere;
 * `only_sweeps`: nothing of one value. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_overview_bars(FILE *stream, const struct xb_record *record,
                                              const bool *told, bool only_sweeps,
                                              struct xb_error *error);

/* What the reader's program should change, at most three things; what is fine. */
void xb_overview_advice(FILE *stream, const struct xb_reading_list *list);

#endif
