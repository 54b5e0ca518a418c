/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include "note.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Gives the column `wordy` a shorter header, for values that are narrower than the long one. */
static bool shorten_header(struct libscols_table *table, size_t wordy, const char *brief)
{
    struct libscols_column *column = scols_table_get_column(table, wordy);
    struct libscols_cell *header = column != NULL ? scols_column_get_header(column) : NULL;
    return header != NULL && scols_cell_set_data(header, brief) == 0;
}

/* Prints the table with `separator` between its columns into *text; frees the text from before. */
static bool print_with(struct libscols_table *table, const char *separator, char **text)
{
    free(*text);
    *text = NULL;
    return scols_table_set_column_separator(table, separator) == 0 &&
           scols_print_table_to_string(table, text) == 0;
}

static bool is_wide(const char *text)
{
    return strcspn(text, "\n") > XB_LINE_COLUMNS;
}

char *xb_columns_fit(struct libscols_table *table, size_t wordy, const char *brief)
{
    char *text = NULL;
    /* On a narrow terminal the library would drop columns. Let the terminal wrap lines instead. */
    bool ok = scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0 &&
              print_with(table, "  ", &text);
    if (ok && is_wide(text))
        ok = print_with(table, " ", &text);
    if (ok && is_wide(text))
        ok = shorten_header(table, wordy, brief) && print_with(table, " ", &text);
    if (!ok) {
        free(text);
        text = NULL;
    }
    return text;
}
