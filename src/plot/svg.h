/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_SVG_H
#define XFERBENCH_PLOT_SVG_H

#include <stddef.h>
#include <stdio.h>

/*
 * The elements that pictures are made of, as static SVG 1.1 without scripts, links or fonts of its
 * own. Lengths are pixels of a picture that scales with its place: x to the right, y down. Every
 * text is escaped, and what XML cannot hold is replaced: names of devices, paths and messages come
 * from files and may be anything. Colours are classes of one style sheet, light and dark
 * (xb_plot_style). Nothing here blocks or allocates; a failed write shows in ferror(stream), which
 * the caller looks at once at the end.
 */

/* Text as the content of an element or of an attribute in double quotes, of XML and of HTML.
 * Control bytes and what is no UTF-8 become U+FFFD. */
void xb_markup_text(FILE *stream, const char *text);

/* The style sheet of all pictures, as CSS without its <style>: series are told apart by colour and
 * by dash or marker, in light and dark surroundings and on paper. A page has it once; a picture
 * that stands alone (xb_svg_begin_alone) brings it. */
void xb_plot_style(FILE *stream);

/* How many series have a look of their own; the next looks like the first. */
#define XB_PLOT_SERIES 8

/* What every picture has. */
struct xb_picture {
    /* Letters, digits and dashes; one of its kind in the page. */
    const char *id;
    const char *title; /* one line, also for screen readers */
    /* For screen readers: what is to be seen in it, in a sentence or two. */
    const char *description;
};

/* The place of a picture in a page: <svg role="img"> with its title and description. */
void xb_svg_begin(FILE *stream, const struct xb_picture *picture, double width, double height);
/* A file of its own: with the XML declaration and the style sheet. */
void xb_svg_begin_alone(FILE *stream, const struct xb_picture *picture, double width,
                        double height);
void xb_svg_end(FILE *stream);

enum xb_anchor { XB_ANCHOR_START, XB_ANCHOR_MIDDLE, XB_ANCHOR_END };

/* `look` is one or more classes of the style sheet, such as "axis" or "series-2". */
void xb_svg_line(FILE *stream, const char *look, double x1, double y1, double x2, double y2);
/* `tip` is what a mouse or a screen reader gets to know of it; NULL: nothing. */
void xb_svg_rectangle(FILE *stream, const char *look, double x, double y, double width,
                      double height, const char *tip);
void xb_svg_circle(FILE *stream, const char *look, double x, double y, double radius,
                   const char *tip);
/* x and y of each point, one behind the other. */
void xb_svg_polyline(FILE *stream, const char *look, const double *points, size_t count);
void xb_svg_polygon(FILE *stream, const char *look, const double *points, size_t count);
void xb_svg_text(FILE *stream, const char *look, double x, double y, enum xb_anchor anchor,
                 const char *text);

/* About how wide a text is in the style sheet's font of pictures. */
double xb_svg_text_width(const char *text);

#endif
