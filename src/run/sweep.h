/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_SWEEP_H
#define XFERBENCH_RUN_SWEEP_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * What a sweep over a parameter gave that is a list of numbers: small tables of bandwidths with the
 * parameter's values down. Across stand the mode's variants, or where there is one only, the values
 * of another parameter, or else the directions; what else differs has tables of its own. Prints
 * nothing where there are fewer than three values or two columns.
 */
void xb_sweep_print(FILE *stream, const struct xb_record *record);

#endif
