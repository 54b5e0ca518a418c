/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_COLUMNS_H
#define XFERBENCH_SINKS_COLUMNS_H

#include <libsmartcols/libsmartcols.h>
#include <stddef.h>

/*
 * The table as text, as generous as lines of XB_LINE_COLUMNS have room for: where they have not,
 * blanks between columns go first, then the header of the column `wordy` becomes `brief`. NULL
 * where memory is short. Release with free().
 */
char *xb_columns_fit(struct libscols_table *table, size_t wordy, const char *brief);

#endif
