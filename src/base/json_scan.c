/* SPDX-License-Identifier: Apache-2.0 */
#include "json_scan.h"

#include <string.h>

static const char other_bracket[] = "its brackets do not match";
static const char too_deep[] = "nested deeper than 32 levels";

static void open_bracket(struct xb_json_scan *scan, char bracket)
{
    if (scan->depth == XB_JSON_DEEPEST)
        scan->why = too_deep;
    else
        scan->open[scan->depth++] = bracket;
}

static void close_bracket(struct xb_json_scan *scan, char bracket)
{
    if (scan->depth == 0 || scan->open[--scan->depth] != (bracket == '}' ? '{' : '['))
        scan->why = other_bracket;
    else
        scan->is_whole = scan->depth == 0;
}

/* Goes to the next byte that matters: most do not. */
static size_t skip(struct xb_json_scan *scan, const char *bytes, size_t i, size_t length)
{
    static const bool ends_text[256] = {['"'] = true, ['\\'] = true};
    static const bool ends_rest[256] = {
        ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
    const bool *ends = scan->in_text ? ends_text : ends_rest;
    while (i < length && !ends[(unsigned char)bytes[i]])
        i++;
    return i;
}

static void take_byte(struct xb_json_scan *scan, char c)
{
    if (c == '"')
        scan->in_text = !scan->in_text;
    else if (scan->in_text)
        scan->escaped = c == '\\';
    else if (c == '{' || c == '[')
        open_bracket(scan, c);
    else if (c == '}' || c == ']')
        close_bracket(scan, c);
}

size_t xb_json_scan_take(struct xb_json_scan *scan, const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && !scan->is_whole && scan->why == NULL) {
        if (scan->escaped) {
            scan->escaped = false;
            i++;
            continue;
        }
        i = skip(scan, bytes, i, length);
        if (i < length)
            take_byte(scan, bytes[i++]);
    }
    return i;
}

bool xb_json_scan_may_open(const struct xb_json_scan *scan, const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    char last = length > 0 ? text[length - 1] : '{';
    return last == '[' || last == ':' ||
           (last == ',' && scan->depth > 0 && scan->open[scan->depth - 1] == '[');
}
