/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the page, its headings and words. */
#include "page.h"

#include "page_internal.h"
#include "plot/svg.h"
#include "xferbench/version.h"

#include <stdarg.h>
#include <string.h>

/* ---- frame ---- */

/* Colours are named once, and the pictures' style sheet has its own. A table scrolls in its own
 * box, so that a narrow window does not scroll the page. Nothing here needs escaping in XML. */
static const char style[] =
    ":root{--ink:#1b1f24;--pale:#57606a;--paper:" XB_PLOT_PAPER_LIGHT
    ";--line:#d0d7de;--link:#0550ae;"
    "--raised:#f6f8fa;--good:#116329;--bad:#b3001b;--unsure:#7a4e00}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--ink:#e6edf3;--pale:#9aa4af;--paper:" XB_PLOT_PAPER_DARK ";"
    "--line:#343b44;--link:#79b8ff;--raised:#161b22;--good:#56d364;--bad:#ff8a80;"
    "--unsure:#e3b341}}\n"
    "html{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:74rem;padding:1rem;color:var(--ink);background:var(--paper);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}\n"
    "h2{font-size:1.3rem;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid "
    "var(--line)}\n"
    "h3{font-size:1.1rem;margin:1.8rem 0 .4rem}\n"
    "h4{font-size:1rem;margin:1.2rem 0 .3rem}\n"
    "p,ul{margin:.5rem 0}\n"
    "ul{padding-left:1.4rem}\n"
    "a{color:var(--link)}\n"
    "nav ul{list-style:none;padding:0;columns:16rem auto;font-size:.875rem}\n"
    ".remark{color:var(--pale);font-size:.875rem}\n"
    ".good{color:var(--good)}\n.bad{color:var(--bad)}\n.unsure{color:var(--unsure)}\n"
    "figure{margin:1rem 0}\n"
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
    "@media "
    "(max-width:40rem){th,td,caption{white-space:normal;overflow-wrap:break-word;min-width:4rem}\n"
    "td.prose,th.prose{min-width:45vw}.number{white-space:nowrap}}\n"
    "@media print{:root{--ink:#000;--pale:#444;--paper:#fff;--line:#bbb;--raised:#fff;"
    "--link:#000;--good:#116329;--bad:#b3001b;--unsure:#7a4e00}\n"
    "body{max-width:none;padding:0;font-size:10pt}\n"
    "table{font-size:7pt}th,td{padding:.1rem .25rem}\n"
    ".wide{overflow:visible}\nfigure,tr,li{break-inside:avoid}\n"
    "h2,h3,h4{break-after:avoid}}\n";

void xb_page_begin(struct xb_page *page, const char *title)
{
    FILE *stream = page->stream;
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"generator\" content=\"xferbench " XB_VERSION "\"/>\n<title>",
          stream);
    xb_markup_text(stream, title);
    fputs("</title>\n<style>\n", stream);
    fputs(style, stream);
    xb_plot_style(stream);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", stream);
    xb_markup_text(stream, title);
    fputs("</h1>\n</header>\n<main>\n", stream);
}

void xb_page_end(struct xb_page *page)
{
    fputs("</main>\n<footer>\n", page->stream);
    xb_page_remark(page,
                   "Made by xferbench %s from the files named above. The page needs no "
                   "network and no script.",
                   XB_VERSION);
    fputs("</footer>\n</body>\n</html>\n", page->stream);
}

void xb_page_heading(struct xb_page *page, int level, const char *id, const char *text)
{
    fprintf(page->stream, "<h%d id=\"", level);
    xb_markup_text(page->stream, id);
    fputs("\">", page->stream);
    xb_markup_text(page->stream, text);
    fprintf(page->stream, "</h%d>\n", level);
}

void xb_page_section_begin(struct xb_page *page, int level, const char *id, const char *title)
{
    snprintf(page->section, sizeof page->section, "%s", id);
    snprintf(page->title, sizeof page->title, "%s", title);
    page->section_pictures = 0;
    page->left_out = 0;
    fputs("<section>\n", page->stream);
    xb_page_heading(page, level, id, title);
}

void xb_page_section_end(struct xb_page *page)
{
    if (page->left_out > 0)
        xb_page_remark(page,
                       "%zu more picture%s would stand here: a page has %d at most. Name fewer "
                       "files to see all.",
                       page->left_out, page->left_out > 1 ? "s" : "", XB_PAGE_PICTURES);
    fputs("</section>\n", page->stream);
}

void xb_page_contents_begin(struct xb_page *page)
{
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", page->stream);
}

void xb_page_contents_item(struct xb_page *page, const char *id, const char *title)
{
    fprintf(page->stream, "<li><a href=\"#%s\">", id);
    xb_markup_text(page->stream, title);
    fputs("</a></li>\n", page->stream);
}

void xb_page_contents_end(struct xb_page *page)
{
    fputs("</ul>\n</nav>\n", page->stream);
}

void xb_page_file_begin(struct xb_page *page, const char *id, const char *title)
{
    fputs("<article>\n", page->stream);
    xb_page_heading(page, 2, id, title);
}

void xb_page_file_end(struct xb_page *page)
{
    fputs("</article>\n", page->stream);
}

/* ---- words ---- */

void xb_page_put(struct xb_page *page, const char *format, va_list arguments)
{
    char text[XB_PAGE_TEXT];
    int length = vsnprintf(text, sizeof text, format, arguments);
    xb_markup_text(page->stream, text);
    if (length < 0 || (size_t)length >= sizeof text)
        fputs(XB_PAGE_CUT, page->stream);
}

void xb_page_paragraph(struct xb_page *page, const char *format, ...)
{
    va_list arguments;
    fputs("<p>", page->stream);
    va_start(arguments, format);
    xb_page_put(page, format, arguments);
    va_end(arguments);
    fputs("</p>\n", page->stream);
}

void xb_page_remark(struct xb_page *page, const char *format, ...)
{
    va_list arguments;
    fputs("<p class=\"remark\">", page->stream);
    va_start(arguments, format);
    xb_page_put(page, format, arguments);
    va_end(arguments);
    fputs("</p>\n", page->stream);
}

void xb_page_title(struct xb_page *page, const char *format, ...)
{
    va_list arguments;
    fputs("<h4>", page->stream);
    va_start(arguments, format);
    xb_page_put(page, format, arguments);
    va_end(arguments);
    fputs("</h4>\n", page->stream);
}

void xb_page_list_begin(struct xb_page *page, size_t number, const char *name, const char *subject)
{
    fprintf(page->stream, "<p><a href=\"#file-%zu\">%zu. ", number, number);
    xb_markup_text(page->stream, name);
    fputs("</a> ", page->stream);
    xb_markup_text(page->stream, subject);
    fputs("</p>\n<ul>\n", page->stream);
}

void xb_page_list_item(struct xb_page *page, const char *look, const char *text)
{
    fprintf(page->stream, look[0] != '\0' ? "<li class=\"%s\">" : "<li>%s", look);
    xb_markup_text(page->stream, text);
    fputs("</li>\n", page->stream);
}

void xb_page_list_end(struct xb_page *page)
{
    fputs("</ul>\n", page->stream);
}
