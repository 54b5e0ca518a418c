/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_REASONS_H
#define XFERBENCH_LINK_REASONS_H

#include <stdbool.h>
#include <stddef.h>

/* How bad something is, and why. */

/* The levels and their numbers are those of Nagios plugins. */
enum xb_level {
    XB_LEVEL_OK = 0,
    XB_LEVEL_WARNING = 1,
    XB_LEVEL_CRITICAL = 2,
    XB_LEVEL_UNKNOWN = 3
};

/* "OK", "WARNING", "CRITICAL", "UNKNOWN". */
const char *xb_level_name(enum xb_level level);
/* The worse of two: CRITICAL, then WARNING, then UNKNOWN, then OK. UNKNOWN comes after WARNING so
 * that what could not be tested does not hide a defect that was seen. */
enum xb_level xb_level_worse(enum xb_level a, enum xb_level b);

/* A reason: a stable code, its level, and what to do. */
struct xb_reason {
    const char *code; /* "XB-LINK-WIDTH"; documented in docs/link.md. Static text, or the file's
                         that a verdict was read from */
    enum xb_level level;
    char text[256]; /* "x8 of x16 at 0000:0f:00.0: reseat the card or check bifurcation" */
};

#define XB_VERDICT_REASONS 16

/* What was found of a device, or of a pair. */
struct xb_findings {
    enum xb_level level;                          /* the worst of the reasons'; OK without any */
    struct xb_reason reasons[XB_VERDICT_REASONS]; /* worst first; of more than fit the least bad
                                                     are left out */
    size_t reason_count;
};

/* Adds a reason at its place among the others. `code` is static text. */
void xb_reason_add(struct xb_findings *found, enum xb_level level, const char *code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether reason `index` is the first of its code: a list of codes names each once. */
bool xb_reason_is_first(const struct xb_findings *found, size_t index);

#endif
