/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the page, its headings and words. */
#define _GNU_SOURCE /* text.h */
#include "page.h"

#include "base/output.h"
#include "base/text.h"
#include "xferbench/version.h"

#include <ctype.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The longest text of a paragraph or cell; what is more is cut, and said to be. */
#define TEXT 4096
#define CUT " [cut]"

/* Colours are named once, and the pictures' style sheet has its own. A table scrolls in its own
 * box, not the page. Nothing here needs escaping in XML. */
static const char style[] =
    ":root{--ink:#1b1f24;--pale:#57606a;--paper:" XB_PLOT_PAPER_LIGHT
    ";--line:#d0d7de;--link:#0550ae;"
    "--raised:#f6f8fa;--good:#116329;--bad:#b3001b;--unsure:#7a4e00}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--ink:#e6edf3;--pale:#9aa4af;--paper:" XB_PLOT_PAPER_DARK ";"
    "--line:#343b44;--link:#79b8ff;--raised:#161b22;--good:#56d364;--bad:#ff8a80;"
    "--unsure:#e3b341}}\n"
    "html{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:74rem;padding:.5rem 1rem;color:var(--ink);"
    "background:var(--paper);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.3rem 0 0}\n"
    "h2,h3{font-size:1.1rem;margin:1.1rem 0 .2rem}\n"
    "p,ul,ol{margin:.3rem 0}\n"
    "ul,ol{padding-left:1.4rem}li{margin:.25rem 0}\n"
    "a{color:var(--link)}\n"
    "code{background:var(--raised);padding:.05rem .3rem;border-radius:4px;font-size:.85em}\n"
    ".remark{color:var(--pale);font-size:.875rem}\n"
    ".good{color:var(--good)}\n.bad{color:var(--bad)}\n.unsure{color:var(--unsure)}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.6rem;"
    "margin:.6rem 0}\n"
    ".tiles p{background:var(--raised);border:1px solid var(--line);border-radius:8px;margin:0;"
    "padding:.5rem .9rem;font-size:.8rem;line-height:1.3}\n"
    ".tiles b{display:block;font-size:1.6rem;font-variant-numeric:tabular-nums}\n"
    "details{border-top:1px solid var(--line);padding:.4rem 0}\n"
    "summary{cursor:pointer}summary h2,summary h3{display:inline;font-size:1rem}\n"
    /* Pictures stand side by side where there is room for two. */
    "figure{display:inline-block;vertical-align:top;width:min(100%,35.5rem);margin:.5rem 0}\n"
    "figcaption{font-weight:600;font-size:.95rem}\n"
    ".wide{overflow-x:auto}\n"
    ".table{margin:.7rem 0}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;white-space:nowrap;color:var(--pale);padding-bottom:.2rem}\n"
    "th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top;overflow-wrap:normal;white-space:nowrap}\n"
    "thead th{background:var(--raised)}\n"
    "tbody th{font-weight:400}\n"
    ".number{text-align:right}\n"
    "td.prose,th.prose{white-space:normal;min-width:min(18rem,70vw);overflow-wrap:anywhere}\n"
    "pre{background:var(--raised);border:1px solid var(--line);border-radius:8px;margin:.5rem 0;"
    "padding:.6rem .8rem;overflow-x:auto;font-size:.8rem;line-height:1.35}\n"
    "@media "
    "(max-width:40rem){th,td,caption{white-space:normal;overflow-wrap:break-word;min-width:4rem}\n"
    "td.prose,th.prose{min-width:45vw}.number{white-space:nowrap}\n"
    ".tiles{grid-template-columns:1fr 1fr}.tiles b{font-size:1.3rem}}\n"
    "@media print{:root{--ink:#000;--pale:#444;--paper:#fff;--line:#bbb;--raised:#fff;"
    "--link:#000;--good:#116329;--bad:#b3001b;--unsure:#7a4e00}\n"
    /* On paper nobody can open what is closed. */
    "details::details-content{content-visibility:visible;display:block}\n"
    "body{max-width:none;padding:0;font-size:10pt}pre{white-space:pre-wrap;font-size:7pt}\n"
    "table{font-size:7pt}th,td{padding:.1rem .25rem}\n"
    /* A picture that is longer than the sheet would be cut in two. */
    ".wide{overflow:visible}\nfigure,tr,li{break-inside:avoid}\nfigure svg{max-height:85vh}\n"
    "h2,h3{break-after:avoid}}\n";

void xb_page_write(struct xb_page *page, const char *before, const char *text, const char *after)
{
    fputs(before, page->stream);
    xb_markup_text(page->stream, text);
    fputs(after, page->stream);
}

void xb_page_begin(struct xb_page *page, const char *title, const char *under)
{
    page->full_at = LONG_MAX;
    page->ids = xb_new(XB_PAGE_PICTURES, sizeof *page->ids);
    xb_page_write(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"generator\" content=\"xferbench " XB_VERSION "\"/>\n<title>",
        title, "</title>\n<style>\n");
    fputs(style, page->stream);
    xb_plot_style(page->stream);
    xb_page_write(page, "</style>\n</head>\n<body>\n<header>\n<h1>", title,
                  "</h1>\n<p class=\"remark\">");
    xb_page_write(page, "", under, "</p>\n</header>\n<main>\n");
}

void xb_page_end(struct xb_page *page)
{
    fputs("</main>\n<footer>\n", page->stream);
    xb_page_remark(page,
                   "Made by xferbench %s from the files that it names. The page needs no "
                   "network and no script.",
                   XB_VERSION);
    fputs("</footer>\n</body>\n</html>\n", page->stream);
    xb_arena_free(page->memory); /* of what was printed between sections */
    page->memory = NULL;
    free(page->ids);
    page->ids = NULL;
}

void xb_page_share(struct xb_page *page, size_t parts)
{
    long written = ftell(page->stream);
    long left = written < XB_PAGE_BYTES ? XB_PAGE_BYTES - written : 0;
    page->full_at = written + left / (long)parts;
}

/* Whether the share is not used up. */
static bool has_room(const struct xb_page *page)
{
    return ftell(page->stream) < page->full_at;
}

void xb_page_section_begin(struct xb_page *page, int level, bool is_closed, const char *id,
                           const char *title)
{
    page->id = xb_page_print(page, "%s", id);
    page->title = xb_page_print(page, "%s", title);
    page->left_out = 0;
    page->level = level;
    page->is_closed = is_closed;
}

/* Writes the heading of the section before anything else of it, and ends a row of tiles. */
static void begin(struct xb_page *page)
{
    int level = page->level;
    page->level = 0;
    fputs(page->has_tiles ? "</div>\n" : "", page->stream);
    page->has_tiles = false;
    if (level == 0)
        return;
    xb_page_write(page, page->is_closed ? "<details id=\"" : "<section id=\"", page->id,
                  page->is_closed ? "\"><summary>" : "\">\n");
    if (page->title[0] != '\0')
        xb_page_write(page, level == 2 ? "<h2>" : "<h3>", page->title,
                      level == 2 ? "</h2>" : "</h3>");
    fputs(page->is_closed ? "</summary>\n" : "\n", page->stream);
}

void xb_page_section_end(struct xb_page *page)
{
    if (page->left_out > 0)
        xb_page_remark(page,
                       "%zu more picture%s would stand here, but a page has %d at most, and about "
                       "1 MB. Name fewer files to see all.",
                       page->left_out, page->left_out > 1 ? "s" : "", XB_PAGE_PICTURES);
    if (page->level == 0) {
        begin(page);
        fputs(page->is_closed ? "</details>\n" : "</section>\n", page->stream);
    }
    page->level = 0;
    xb_arena_free(page->memory);
    page->memory = NULL;
}

void xb_page_words(struct xb_page *page, const char *before, const char *after, const char *format,
                   ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    begin(page);
    xb_page_write(page, before, text, length < 0 || (size_t)length >= sizeof text ? CUT : "");
    fputs(after, page->stream);
}

void xb_page_fold_begin(struct xb_page *page, const char *id, const char *name, const char *look,
                        const char *said)
{
    begin(page);
    if (id != NULL)
        fprintf(page->stream, "<details id=\"%s\"><summary><h2>", id);
    else
        fputs("<details><summary>", page->stream);
    xb_page_write(page, "", name, id != NULL ? "</h2> " : " ");
    fprintf(page->stream, look[0] != '\0' ? "<span class=\"%s\">" : "<span>", look);
    xb_page_write(page, "", said, "</span></summary>\n");
}

void xb_page_tile(struct xb_page *page, const char *look, const char *value, const char *text)
{
    if (!page->has_tiles) {
        begin(page);
        fputs("<div class=\"tiles\">\n", page->stream);
    }
    page->has_tiles = true;
    fprintf(page->stream, look[0] != '\0' ? "<p><b class=\"%s\">" : "<p><b>", look);
    xb_page_write(page, "", value, "</b> ");
    xb_page_write(page, "", text, "</p>\n");
}

FILE *xb_page_terminal_begin(struct xb_page *page)
{
    return xb_memory_text_begin(&page->terminal);
}

/* Sentences before the first table wrap as all sentences do; the rest stands as it was printed. */
void xb_page_terminal_end(struct xb_page *page, enum xb_status printed)
{
    bool is_plain = true; /* as long as lines are sentences: columns are two blanks apart */
    xb_memory_text_end(&page->terminal);
    const char *text =
        printed != XB_OK ? "" : page->terminal.text + strspn(page->terminal.text, "\n");
    const char *after = "";
    if (*text != '\0')
        begin(page);
    for (size_t line = 0; *text != '\0'; text += line + (text[line] == '\n')) {
        line = strcspn(text, "\n");
        const char *words = xb_page_print(page, "%.*s", (int)line, text);
        size_t indent = strspn(words, " ");
        bool was_plain = is_plain;
        is_plain = is_plain && line > indent && strstr(words + indent, "  ") == NULL;
        const char *before = !is_plain ? "" : indent > 0 && after[0] != '\0' ? " " : "<p>";
        if (strcmp(before, " ") != 0)
            fputs(after, page->stream);
        if (was_plain && !is_plain)
            fputs("<pre tabindex=\"0\">", page->stream);
        after = is_plain ? "</p>\n" : "";
        if (is_plain || line > 0 || !was_plain)
            xb_page_write(page, before, words + (is_plain ? indent : 0), is_plain ? "" : "\n");
    }
    fputs(is_plain ? after : "</pre>\n", page->stream);
    free(page->terminal.text);
    page->terminal = (struct xb_memory_text){.text = NULL};
}

/* ---- tables ---- */

/* Sentences wrap; anything else stands on one line, and its table scrolls. */
#define SHORT 48

static const char *class_of(bool is_number, size_t length)
{
    return is_number ? " class=\"number\"" : length > SHORT ? " class=\"prose\"" : "";
}

void xb_page_table_begin(struct xb_page *page, const char *caption, const char *columns)
{
    memset(&page->table, 0, sizeof page->table);
    begin(page);
    /* It can be scrolled with the keyboard. */
    xb_page_write(page, "<div class=\"wide table\" tabindex=\"0\" role=\"group\" aria-label=\"",
                  caption, "\"><table>");
    if (page->title == NULL || strcmp(caption, page->title) != 0)
        xb_page_write(page, "<caption>", caption, "</caption>");
    fputs("\n<thead><tr>", page->stream);
    while (*columns != '\0') {
        char name[64];
        bool is_number = *columns == '#';
        int length = (int)strcspn(columns, "|");
        snprintf(name, sizeof name, "%.*s", length - is_number, columns + is_number);
        xb_page_column(page, name, is_number);
        columns += length;
        columns += *columns == '|';
    }
}

void xb_page_column(struct xb_page *page, const char *name, bool is_number)
{
    if (page->table.columns == XB_PAGE_COLUMNS)
        return;
    page->table.numbers[page->table.columns++] = is_number;
    fprintf(page->stream, "<th scope=\"col\"%s>", class_of(is_number, 0));
    xb_page_write(page, "", name, "</th>");
}

void xb_page_cell(struct xb_page *page, const char *text)
{
    bool is_first = page->table.column == 0;
    if (is_first) {
        /* Once a row is left out, so are all below it. */
        size_t rows = page->table.rows;
        page->table.is_shown =
            page->table.left_out == 0 &&
            (rows < XB_PAGE_ROWS_LEAST || (rows < XB_PAGE_ROWS && has_room(page)));
        if (rows == 0)
            fputs("</tr></thead>\n<tbody>\n", page->stream);
    }
    if (page->table.is_shown) {
        char shown[TEXT];
        int length = snprintf(shown, sizeof shown, "%s", text != NULL ? text : "-");
        fprintf(page->stream, is_first ? "<tr><th scope=\"row\"%s>" : "<td%s>",
                class_of(page->table.numbers[page->table.column], (size_t)length));
        xb_page_write(page, "", shown, length >= (int)sizeof shown ? CUT : "");
        fputs(is_first ? "</th>" : "</td>", page->stream);
    }
    if (++page->table.column < page->table.columns)
        return;
    page->table.column = 0;
    page->table.rows++;
    if (page->table.is_shown)
        fputs("</tr>\n", page->stream);
    else
        page->table.left_out++;
}

void xb_page_cells(struct xb_page *page, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        xb_page_cell(page, texts[i]);
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

/* ---- pictures ---- */

/* "nvidia-h200-on-vm-to-the-gpu-1-gib" of the subject and the title up to a colon; of equal ones
 * the next has a number behind it. */
static const char *make_id(struct xb_page *page, const char *title)
{
    const char *subject = page->subject != NULL ? page->subject : "";
    const char *c = xb_page_print(page, "%.*s %.*s", (int)strcspn(subject, ":"), subject,
                                  (int)strcspn(title, ":"), title);
    char *id = page->ids[page->pictures];
    size_t length = 0;
    for (; *c != '\0' && length < XB_PAGE_ID - 8; c++) {
        bool is_kept = strchr("abcdefghijklmnopqrstuvwxyz0123456789", tolower(*c)) != NULL;
        if (is_kept || (length > 0 && id[length - 1] != '-'))
            id[length++] = (char)(is_kept ? tolower(*c) : '-');
    }
    while (length > 0 && id[length - 1] == '-')
        length--;
    snprintf(id + length, 2, "%s", length == 0 ? "x" : "");
    length += length == 0;
    for (size_t i = 0, again = 2; i < page->pictures; i++)
        if (strcmp(page->ids[i], id) == 0) {
            snprintf(id + length, XB_PAGE_ID - length, "-%zu", again++);
            i = SIZE_MAX; /* from the first again */
        }
    return id;
}

/* In the page its title stands above it, as text; a narrow window scrolls the picture alone. */
void xb_page_picture(struct xb_page *page, xb_draw *draw, void *picture, const char *title,
                     const char *format, ...)
{
    char description[TEXT];
    struct xb_output output = {.path = NULL};
    char path[PATH_MAX + XB_PAGE_ID];
    if (page->error.status != XB_OK)
        return;
    begin(page);
    if (page->pictures >= XB_PAGE_PICTURES || !has_room(page)) {
        page->left_out++;
        return;
    }
    XB_FORMAT(description, sizeof description, format);
    const char *id = make_id(page, title);
    *(struct xb_picture *)picture = (struct xb_picture){id, title, description};
    page->pictures++;
    xb_page_write(page, "<figure><figcaption>", title, "</figcaption>");
    xb_page_write(page, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"", title,
                  "\">\n");
    draw(page->stream, picture, false);
    fputs("</div></figure>\n", page->stream);
    if (page->folder != NULL) { /* into FOLDER/ID.svg */
        snprintf(path, sizeof path, "%s/%s.svg", page->folder, id);
        if (xb_output_find(&output, path, &page->error) == XB_OK &&
            xb_output_open(&output, 0, &page->error) == XB_OK) {
            draw(output.stream, picture, true);
            page->error.status = xb_output_commit(&output, &page->error);
        }
        xb_output_discard(&output);
    }
}
