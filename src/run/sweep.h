/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_SWEEP_H
#define XFERBENCH_RUN_SWEEP_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * What a sweep over a mode's first parameter gave, if that is a list of sizes: a small table for
 * each direction, size and device, with the parameter's values down and the mode's variants across.
 * Prints nothing where there are fewer than three values or two variants.
 */
void xb_sweep_print(FILE *stream, const struct xb_record *record);

#endif
