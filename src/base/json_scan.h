/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_JSON_SCAN_H
#define XFERBENCH_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* Finds where a JSON object ends, by its brackets and texts, byte by byte. It parses nothing. */

#define XB_JSON_DEEPEST 32 /* json_read.c takes no deeper nesting */

struct xb_json_scan {
    char open[XB_JSON_DEEPEST]; /* the open brackets */
    size_t depth;
    bool in_text, escaped;
    bool is_whole;   /* the object has ended */
    const char *why; /* why it cannot be JSON, static text; NULL: it still can */
};

/* Takes bytes until the object ends or cannot be JSON; returns how many. Zero the scan first. The
 * first byte that is no blank should be a bracket. */
size_t xb_json_scan_take(struct xb_json_scan *scan, const char *bytes, size_t length);

/* Whether JSON allows an object after `text`, which is everything taken so far and does not end
 * within a string. */
bool xb_json_scan_may_open(const struct xb_json_scan *scan, const char *text, size_t length);

#endif
