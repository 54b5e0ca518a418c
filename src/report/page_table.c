/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the page. */
#include "page.h"

#include "page_internal.h"
#include "plot/svg.h"

#include <string.h>

void xb_page_table_begin(struct xb_page *page, const char *caption)
{
    page->table.columns = 0;
    page->table.column = 0;
    page->table.rows = 0;
    page->table.left_out = 0;
    /* It can be scrolled with the keyboard. */
    fputs("<div class=\"wide table\" tabindex=\"0\" role=\"group\" aria-label=\"", page->stream);
    xb_markup_text(page->stream, caption);
    fputs("\"><table>", page->stream);
    if (strcmp(caption, page->title) != 0) {
        fputs("<caption>", page->stream);
        xb_markup_text(page->stream, caption);
        fputs("</caption>", page->stream);
    }
    fputs("\n<thead><tr>", page->stream);
}

/* Sentences wrap; everything else stands on one line, and the table scrolls where it is too wide.
 */
#define SHORT 48

static const char *class_of(bool is_number, size_t length)
{
    return is_number ? " class=\"number\"" : length > SHORT ? " class=\"prose\"" : "";
}

void xb_page_column(struct xb_page *page, const char *name, bool is_number)
{
    if (page->table.columns == XB_PAGE_COLUMNS)
        return;
    page->table.numbers[page->table.columns++] = is_number;
    fprintf(page->stream, "<th scope=\"col\"%s>", class_of(is_number, 0));
    xb_markup_text(page->stream, name);
    fputs("</th>", page->stream);
}

static void put_cell(struct xb_page *page, const char *format, va_list arguments)
{
    bool is_first = page->table.column == 0;
    const char *element = is_first ? "th" : "td";
    char text[XB_PAGE_TEXT];
    int length = vsnprintf(text, sizeof text, format, arguments);
    size_t shown = length > 0 ? (size_t)length : 0;
    if (is_first)
        fputs("<tr>", page->stream);
    fprintf(page->stream, "<%s%s%s>", element, is_first ? " scope=\"row\"" : "",
            class_of(page->table.numbers[page->table.column], shown));
    xb_markup_text(page->stream, text);
    fprintf(page->stream, "%s</%s>", shown >= sizeof text ? XB_PAGE_CUT : "", element);
}

static bool has_room(const struct xb_page *page)
{
    size_t rows = page->table.rows;
    return rows < XB_PAGE_ROWS_LEAST || (rows < XB_PAGE_ROWS && xb_page_has_room(page));
}

void xb_page_cell(struct xb_page *page, const char *format, ...)
{
    va_list arguments;
    if (page->table.column == 0) {
        /* Once a row is left out, so are all below it. */
        page->table.is_shown = page->table.left_out == 0 && has_room(page);
        if (page->table.rows == 0)
            fputs("</tr></thead>\n<tbody>\n", page->stream);
    }
    va_start(arguments, format);
    if (page->table.is_shown)
        put_cell(page, format, arguments);
    va_end(arguments);
    if (++page->table.column < page->table.columns)
        return;
    page->table.column = 0;
    page->table.rows++;
    if (page->table.is_shown)
        fputs("</tr>\n", page->stream);
    else
        page->table.left_out++;
}

void xb_page_table_end(struct xb_page *page)
{
    fputs(page->table.rows == 0 ? "</tr></thead>\n</table></div>\n" : "</tbody>\n</table></div>\n",
          page->stream);
    if (page->table.left_out > 0)
        xb_page_remark(page, "%zu more row%s not shown: the file has %s.", page->table.left_out,
                       page->table.left_out > 1 ? "s are" : " is",
                       page->table.left_out > 1 ? "them" : "it");
}
