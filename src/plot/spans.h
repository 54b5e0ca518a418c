/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_SPANS_H
#define XFERBENCH_PLOT_SPANS_H

#include "svg.h"

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

/* As many of each are drawn; the picture says how many tracks more there are, and what is of a kind
 * beyond is drawn as of the last. */
#define XB_SPANS_TRACKS 64
#define XB_SPANS_KINDS XB_PLOT_SERIES

/*
 * Spans that would be narrower than a pixel are drawn together, as the kind that covers most of
 * the pixel, so that the picture stays small however many there are. The axis begins at 0 with the
 * first beginning. A span is left out where it has no track, ends before it begins, or is not
 * finite.
 */
void xb_spans_draw(FILE *stream, const void *picture, bool is_alone);

#endif
