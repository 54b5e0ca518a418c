/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the page. */
#include "page.h"

#include "page_internal.h"
#include "plot/svg.h"

void xb_page_table_begin(struct xb_page *page, const char *caption)
{
    page->table.columns = 0;
    page->table.column = 0;
    page->table.rows = 0;
    /* It can be scrolled with the keyboard. */
    fputs("<div class=\"wide table\" tabindex=\"0\" role=\"region\" aria-label=\"", page->stream);
    xb_markup_text(page->stream, caption);
    fputs("\"><table><caption>", page->stream);
    xb_markup_text(page->stream, caption);
    fputs("</caption>\n<thead><tr>", page->stream);
}

static const char *class_of(bool is_number)
{
    return is_number ? " class=\"number\"" : "";
}

void xb_page_column(struct xb_page *page, const char *name, bool is_number)
{
    if (page->table.columns == XB_PAGE_COLUMNS)
        return;
    page->table.numbers[page->table.columns++] = is_number;
    fprintf(page->stream, "<th scope=\"col\"%s>", class_of(is_number));
    xb_markup_text(page->stream, name);
    fputs("</th>", page->stream);
}

void xb_page_cell(struct xb_page *page, const char *format, ...)
{
    const char *element = page->table.column == 0 ? "th" : "td";
    const char *scope = page->table.column == 0 ? " scope=\"row\"" : "";
    bool shown = page->table.rows < XB_PAGE_ROWS;
    va_list arguments;
    if (page->table.rows == 0 && page->table.column == 0)
        fputs("</tr></thead>\n<tbody>\n", page->stream);
    if (shown) {
        if (page->table.column == 0)
            fputs("<tr>", page->stream);
        fprintf(page->stream, "<%s%s%s>", element, scope,
                class_of(page->table.numbers[page->table.column]));
        va_start(arguments, format);
        xb_page_put(page, format, arguments);
        va_end(arguments);
        fprintf(page->stream, "</%s>", element);
    }
    if (++page->table.column < page->table.columns)
        return;
    if (shown)
        fputs("</tr>\n", page->stream);
    page->table.column = 0;
    page->table.rows++;
}

void xb_page_table_end(struct xb_page *page)
{
    fputs(page->table.rows == 0 ? "</tr></thead>\n</table></div>\n" : "</tbody>\n</table></div>\n",
          page->stream);
    if (page->table.rows > XB_PAGE_ROWS)
        xb_page_remark(page, "%zu more rows are not shown: the file has them.",
                       page->table.rows - XB_PAGE_ROWS);
}
