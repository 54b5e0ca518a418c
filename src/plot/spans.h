/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_SPANS_H
#define XFERBENCH_PLOT_SPANS_H

#include "svg.h"

#include <stdbool.h>

/* What happened when: tracks one below the other over a common time, with spans on them. */

struct xb_drawn_span {
    double begin, end; /* seconds */
    size_t track;
    size_t kind; /* index of `kinds`: its colour */
    bool is_wait;
    const char *tip; /* NULL: none */
};

struct xb_spans {
    struct xb_picture picture;
    const char *const *tracks;
    size_t track_count;
    const char *const *kinds; /* names for the legend */
    size_t kind_count;
    const struct xb_drawn_span *spans;
    size_t count;
};

/* Spans that would be narrower than a pixel are drawn together where they are of one kind, so that
 * the picture stays small however many there are. */
void xb_spans_draw(FILE *stream, const struct xb_spans *spans, bool alone);

#endif
