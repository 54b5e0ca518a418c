/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a result, with the columns of the terminal's table. */
#include "sections.h"

#include "run/table.h"

static bool speaks(const struct xb_report_document *document)
{
    return document->record != NULL && document->record->case_count > 0;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_record *record = document->record;
    const struct xb_table_layout layout = xb_table_layout_of(record);
    char text[XB_TABLE_CELL];
    (void)error;
    xb_page_table_begin(page, "All rows");
    for (size_t i = 0; i < layout.shown_count; i++)
        xb_page_column(page, xb_table_column_name(&layout, i, text),
                       xb_table_column_is_right(&layout, i));
    for (size_t row = 0; row < record->case_count; row++)
        for (size_t i = 0; i < layout.shown_count; i++) {
            xb_table_fill_cell(&layout, i, &record->cases[row], text);
            xb_page_cell(page, "%s", text);
        }
    xb_page_table_end(page);
    return XB_OK;
}

const struct xb_section xb_section_numbers = {
    .name = "numbers",
    .title = "All rows",
    .speaks = speaks,
    .write = write,
};
