/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How bad something is; the numbers are those of Nagios plugins. */
enum xb_level {
    XB_LEVEL_OK = 0,
    XB_LEVEL_WARNING = 1,
    XB_LEVEL_CRITICAL = 2,
    XB_LEVEL_UNKNOWN = 3
};

/* "OK", "WARNING", "CRITICAL", "UNKNOWN". */
const char *xb_level_name(enum xb_level level);
enum xb_colour xb_level_colour(enum xb_level level);
/* The worse of two: CRITICAL, then WARNING, then UNKNOWN, then OK. UNKNOWN comes after WARNING so
 * that what could not be tested does not hide a defect that was seen. */
enum xb_level xb_level_worse(enum xb_level a, enum xb_level b);

/* What was found of a thing: a stable code, its level, and what to do. A value, without memory of
 * its own: verdicts are copied, and most are judged only to choose among them. */
struct xb_finding {
    const char *code; /* "XB-LINK-WIDTH". Static text, or the file's that a verdict was read from */
    enum xb_level level;
    char text[256];       /* "x8 of x16 at 0000:0f:00.0: reseat the card or check bifurcation" */
    const char *accepted; /* why it is so by design, and does not count; NULL: it counts */
};

#define XB_FINDINGS 16

struct xb_findings {
    enum xb_level level;                    /* the worst of those that count; OK without any */
    struct xb_finding reasons[XB_FINDINGS]; /* worst first, accepted ones last; of more than fit the
                                               last are left out */
    size_t reason_count;
};

/* Adds a finding at its place among the others. `code` is static text; `accepted` may be NULL. */
void xb_finding_put(struct xb_findings *found, const char *accepted, enum xb_level level,
                    const char *code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
#define xb_finding_add(found, ...) xb_finding_put((found), NULL, __VA_ARGS__)

/* Whether finding `index` is the first of its code: a list of codes names each once. */
bool xb_finding_is_first(const struct xb_findings *found, size_t index);
/* Whether one of these codes, which end with NULL, is there and counts. */
bool xb_finding_is_any(const struct xb_findings *found, const char *const *codes);

/* A line each; `of` begins it, behind the level in `width` columns. */
void xb_findings_print(FILE *stream, const struct xb_findings *found, int width, const char *of);
