/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_SWEEP_H
#define XFERBENCH_RUN_SWEEP_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * What sweeps over a parameter gave that is a list of numbers: small tables with the values of a
 * mode's first such parameter that has three or more down, and across the mode's variants; of one
 * variant another such parameter's values, or the directions. Prints nothing where there are fewer
 * than three values down or two ways across. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_sweep_print(FILE *stream, const struct xb_record *record,
                                            struct xb_error *error);

#endif
