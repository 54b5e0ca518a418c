/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PLAN_TEXT_H
#define XFERBENCH_RUN_PLAN_TEXT_H

#include "measure/run.h"

#include <stdio.h>

/* Prints a line for each mode of a plan: "pinned  registered; h2d, d2h; 4 KiB to 1 GiB (19): 38
 * cases". */
void xb_plan_print(FILE *stream, const struct xb_run *run);

#endif
