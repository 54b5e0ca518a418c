/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_MATRIX_H
#define XFERBENCH_RUN_MATRIX_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * The cases of pairs of devices: a matrix for each mode, variant, direction, size and parameters,
 * with sources down and destinations across. Prints nothing where there are none. `first` tells
 * that nothing stands above, so that no empty line is needed. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_matrix_print(FILE *stream, const struct xb_record *record,
                                             bool first, struct xb_error *error);

/*
 * The cases of several NUMA nodes, or of all there are: a matrix for each mode, variant, direction,
 * size and parameters, with nodes down and devices across, and what to know of them below. A
 * device's own node is marked. Prints nothing where one node or none was named. The same `first`.
 */
XB_MUST_CHECK enum xb_status xb_matrix_print_nodes(FILE *stream, const struct xb_record *record,
                                                   bool first, struct xb_error *error);

#endif
