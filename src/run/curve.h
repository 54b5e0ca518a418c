/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_CURVE_H
#define XFERBENCH_RUN_CURVE_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * What a sweep over sizes gave, drawn: a line for each series of cases that differ in nothing but
 * their size, with a block of a height between 0 and the highest bandwidth of all for each step of
 * the size, which doubles from one to the next. Sizes that are further apart are joined by a line.
 * Only of series with three sizes or more.
 */

/* Draws on a terminal that shows UTF-8; nothing else has any use for it. */
void xb_curve_print(FILE *stream, const struct xb_record *record);

/* Draws in UTF-8, in so many columns. */
void xb_curve_draw(FILE *stream, const struct xb_record *record, size_t columns);

#endif
