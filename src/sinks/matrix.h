/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_MATRIX_H
#define XFERBENCH_SINKS_MATRIX_H

#include "xferbench/run.h"

#include <stdio.h>

/*
 * The rows of pairs of devices: a matrix for each mode, variant, direction and size, with sources
 * down and destinations across. Prints nothing where there are none. `first` tells that nothing
 * stands above, so that no empty line is needed.
 */
void xb_matrix_print(FILE *stream, const struct xb_run *run, bool first);

#endif
