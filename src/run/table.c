/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people: its rows, and what stands above and below them. */
#define _GNU_SOURCE
#include "table.h"

#include "base/columns.h"
#include "base/note.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "curve.h"
#include "formats.h"
#include "matrix.h"
#include "reading/list.h"
#include "record/rows.h"
#include "sweep.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

/* ---- a table ---- */

/* Pairs of devices stand in matrices; how far processes differ, only a row can say. Cases that were
 * not run are counted in a note, and have no rows. */
static bool has_row(const struct xb_record *record, const struct xb_record_case *test)
{
    return (record->is_merged || !xb_case_is_in_matrix(record, test)) &&
           !xb_case_was_not_run(record, test);
}

static enum xb_status out_of_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

static bool add_columns(FILE *stream, struct libscols_table *table,
                        const struct xb_table_layout *layout)
{
    char name[XB_TABLE_CELL];
    for (size_t i = 0; i < layout->shown_count; i++) {
        int flags = xb_table_column_is_right(layout, i) ? SCOLS_FL_RIGHT : 0;
        struct libscols_column *column =
            scols_table_new_column(table, xb_table_column_name(layout, i, name), 0, flags);
        if (column == NULL ||
            !xb_columns_paint(scols_column_get_header(column), stream, XB_COLOUR_TITLE))
            return false;
    }
    return true;
}

static enum xb_colour colour_of(const char *cell)
{
    if (strcmp(cell, "ERROR") == 0 || strcmp(cell, "NO") == 0)
        return XB_COLOUR_BAD;
    return strcmp(cell, "skipped") == 0 || strcmp(cell, "cut short") == 0 ? XB_COLOUR_WARNING
                                                                          : XB_COLOUR_NONE;
}

static bool add_row(FILE *stream, struct libscols_table *table,
                    const struct xb_table_layout *layout, const struct xb_record_case *test)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    bool ok = line != NULL;
    for (size_t i = 0; ok && i < layout->shown_count; i++) {
        char cell[XB_TABLE_CELL];
        xb_table_fill_cell(layout, i, test, cell);
        ok = scols_line_set_data(line, i, cell) == 0 &&
             xb_columns_paint(scols_line_get_cell(line, i), stream, colour_of(cell));
    }
    return ok;
}

/* Fits the table to where it is printed. NULL: no memory. */
static char *fit(FILE *stream, struct libscols_table *table, const struct xb_table_layout *layout)
{
    unsigned char turns[XB_TABLE_COLUMNS];
    const struct xb_columns columns = {.width = xb_terminal_columns(stream),
                                       .with_colours = xb_terminal_has_colours(stream),
                                       .wordy = layout->shown_count - 1,
                                       .brief = "OK",
                                       .turns = turns,
                                       .elsewhere = "JSON and CSV have all"};
    for (size_t i = 0; i < layout->shown_count; i++)
        turns[i] = xb_table_column_turn(layout, i);
    return xb_columns_fit(table, &columns);
}

/* The table of those devices that ran alone, or of those that ran together; NULL: no memory. */
static char *table_text(FILE *stream, const struct xb_table_layout *layout, bool together)
{
    const struct xb_record *record = layout->record;
    struct libscols_table *table = scols_new_table();
    bool ok = table != NULL && add_columns(stream, table, layout);
    for (size_t i = 0; ok && i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (has_row(record, test) && test->simultaneous == together)
            ok = add_row(stream, table, layout, test);
    }
    char *text = ok ? fit(stream, table, layout) : NULL;
    scols_unref_table(table);
    return text;
}

/* On a terminal the last table says where its columns are explained. */
static enum xb_status print_table(FILE *stream, const struct xb_table_layout *layout, bool together,
                                  bool says_columns, struct xb_error *error)
{
    char *text = table_text(stream, layout, together);
    if (text == NULL)
        return out_of_memory(error);
    fputs(text, stream);
    if (says_columns && xb_is_terminal(stream)) {
        bool is_whole = strstr(text, "\n\n") == NULL; /* else an empty line is there */
        fprintf(stream, "%sColumns: xferbench help columns\n", is_whole ? "\n" : "");
    }
    free(text);
    return XB_OK;
}

/* ---- which tables there are ---- */

static size_t count_rows(const struct xb_record *record, bool together)
{
    size_t count = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        count += has_row(record, test) && test->simultaneous == together;
    }
    return count;
}

/* How many devices ran at the same time, all between themselves and the host. */
static size_t most_together(const struct xb_record *record)
{
    size_t most = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        size_t count = xb_case_is_of_pairs(test) ? 0 : xb_group_size(record, test);
        most = count > most ? count : most;
    }
    return most;
}

static enum xb_status print_together(FILE *stream, const struct xb_table_layout *layout, bool first,
                                     struct xb_error *error)
{
    size_t devices = most_together(layout->record);
    if (!first)
        fputc('\n', stream);
    if (devices > 1)
        xb_heading_print(stream, XB_COLOUR_TITLE, "%zu devices at the same time", devices);
    else
        xb_heading_print(stream, XB_COLOUR_TITLE, "Devices at the same time");
    return print_table(stream, layout, true, true, error);
}

/* Whether a signal or the deadline came before all of its cases. */
static bool nothing_was_run(const struct xb_record *record)
{
    for (size_t i = 0; i < record->case_count; i++)
        if (!xb_case_was_not_run(record, &record->cases[i]))
            return false;
    return record->case_count > 0;
}

static enum xb_status print_results(FILE *stream, const struct xb_record *record,
                                    struct xb_error *error)
{
    struct xb_table_layout layout = xb_table_layout_of(record);
    bool alone = count_rows(record, false) > 0;
    bool together = count_rows(record, true) > 0;
    enum xb_status status = XB_OK;
    if (nothing_was_run(record)) {
        fputs("No case was run.\n", stream);
        return XB_OK;
    }
    if (alone || record->case_count == 0)
        status = print_table(stream, &layout, false, !together, error);
    if (status == XB_OK && together)
        status = print_together(stream, &layout, !alone, error);
    if (status == XB_OK)
        status = xb_matrix_print_nodes(stream, record, false, error);
    if (status == XB_OK)
        status = xb_matrix_print(stream, record, !alone && !together, error);
    if (status == XB_OK)
        status = xb_sweep_print(stream, record, error);
    if (status == XB_OK)
        xb_curve_print(stream, record);
    return status;
}

/* Whether any process has results. One that failed alone has no table, only notes. */
static bool has_results(const struct xb_record *record)
{
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].has_results)
            return true;
    return false;
}

static enum xb_status print_reading(FILE *stream, const struct xb_record *record,
                                    struct xb_error *error)
{
    struct xb_reading_list reading;
    enum xb_status status = xb_reading_make(record, &reading, error);
    if (status != XB_OK)
        return status;
    xb_reading_print(stream, &reading);
    xb_reading_free(&reading);
    return XB_OK;
}

static enum xb_status print_all(FILE *stream, const struct xb_record *record,
                                struct xb_error *error)
{
    enum xb_status status = XB_OK;
    bool has_rows = has_results(record);
    xb_table_header(stream, record);
    if (has_rows)
        status = print_results(stream, record, error);
    if (status == XB_OK)
        status = xb_table_notes(stream, record, error);
    if (status == XB_OK && has_rows)
        status = print_reading(stream, record, error);
    return status == XB_OK ? xb_stream_finish(stream, "the table", error) : status;
}

enum xb_status xb_table_write(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = print_all(stream, record, error);
    xb_plain_locale_leave(previous);
    return status;
}
