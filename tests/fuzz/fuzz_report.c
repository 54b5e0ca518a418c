/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the writer of reports: whatever the bytes of a file are, the page is HTML
 * that is well-formed XML too, has no element but those that pages have, and is not too large. The
 * file is in the report twice, so that what is told of several files is told too.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "check_markup.h"
#include "report/report.h"

#include <string.h>

#define SIZE_MOST ((size_t)4 << 20)

/* The file: its name is its text. */
static const uint8_t *file;
static size_t file_size;

static enum xb_status read_file(const char *path, char **text, size_t *length,
                                struct xb_error *error)
{
    (void)path;
    (void)error;
    *text = malloc(file_size + 1); /* exactly as large, so that one byte too far is seen */
    require(*text != NULL, "there is memory");
    if (file_size > 0)
        memcpy(*text, file, file_size);
    (*text)[file_size] = '\0';
    *length = file_size;
    return XB_OK;
}

static void check_page(const char *text)
{
    static const char *const elements[] = {
        "html",   "head",    "meta",    "title",  "style",      "body",    "header",  "main",
        "footer", "h1",      "h2",      "h3",     "h4",         "p",       "a",       "ul",
        "li",     "section", "article", "div",    "table",      "caption", "thead",   "tbody",
        "tr",     "th",      "td",      "figure", "figcaption", "svg",     "desc",    "g",
        "line",   "rect",    "circle",  "path",   "text",       "details", "summary", "span",
        "pre",    "ol",      "b",       "code",   NULL};
    static const char type[] = "<!DOCTYPE html>\n";
    require_at(strncmp(text, type, sizeof type - 1) == 0, "a page begins", text);
    check_markup(text + sizeof type - 1, elements);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char paths[][16] = {"one <&\">.json", "two\x1b\xff.json"};
    char *list[] = {paths[0], paths[1]};
    const struct xb_report_request request = {.paths = list, .count = 2, .read = read_file};
    struct xb_page page = {.folder = NULL};
    char *text = NULL;
    size_t length = 0;
    size_t left_out = 0;
    file = data;
    file_size = size;
    page.stream = open_memstream(&text, &length);
    require(page.stream != NULL, "there is memory");
    require(xb_report_write(&page, &request, &left_out) == XB_OK, "a page is written");
    require(fclose(page.stream) == 0, "a page is written");
    require(left_out == 0 || left_out == 2, "a file reads twice or not at all");
    require(length < SIZE_MOST, "a page is not too large");
    check_page(text);
    free(text);
    return 0;
}
