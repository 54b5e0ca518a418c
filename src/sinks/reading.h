/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_READING_H
#define XFERBENCH_SINKS_READING_H

#include "xferbench/run.h"

#include <stdio.h>

/*
 * What the figures mean, in a line for each device whose link is known: how much of its raw rate
 * the best copy in each direction reached. Prints nothing where there is nothing to say.
 */
void xb_reading_print(FILE *stream, const struct xb_run *run);

#endif
