/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_COLUMNS_H
#define XFERBENCH_BASE_COLUMNS_H

#include <libsmartcols/libsmartcols.h>
#include <stddef.h>

/*
 * Prints the table to a text. If its lines are longer than XB_LINE_COLUMNS, first the space between
 * columns shrinks, then the header of the column `wordy` becomes `brief`. Returns NULL if there is
 * no memory. Release with free().
 */
char *xb_columns_fit(struct libscols_table *table, size_t wordy, const char *brief);

#endif
