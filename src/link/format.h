/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_FORMAT_H
#define XFERBENCH_LINK_FORMAT_H

#include "base/note.h"
#include "report.h"

/* What the formats of `xferbench link` write alike. */

/* CRITICAL, WARNING, UNKNOWN: devices that are not OK are told in this order. */
#define XB_LINK_BAD_LEVELS 3
extern const enum xb_level xb_link_bad_levels[XB_LINK_BAD_LEVELS];

/* "Gen5 x16"; "48 GT/s x16" for a rate that is no generation; "-" where either is not known. */
const char *xb_link_lanes_text(struct xb_lanes lanes, char *text, size_t size);

/* Of a verdict on a terminal. */
enum xb_colour xb_link_colour(enum xb_level level);

/* Whether reason `index` is the first of its code: a list of codes names each once. */
bool xb_link_first_of_code(const struct xb_findings *found, size_t index);

/*
 * Writes text for a line that a shell or a monitoring core may take apart: printable ASCII, without
 * quotes, the bar that begins performance data, and what else a shell gives a meaning. (NHC's die()
 * gives its message to eval between apostrophes; Nagios' illegal_macro_output_chars.)
 */
void xb_link_put_safe(FILE *stream, const char *text);

#endif
