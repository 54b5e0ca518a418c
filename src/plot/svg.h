/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The elements that pictures are made of, as static SVG 1.1 without scripts, links or fonts of its
 * own. Lengths are pixels of a picture that scales with its place: x to the right, y down; they are
 * written with one decimal, and what is no number becomes 0. Every text is escaped, and what XML
 * cannot hold is replaced: names of devices, paths and messages come from files and may be
 * anything. Colours are classes of one style sheet, light and dark (xb_plot_style). Nothing here
 * blocks or allocates; a failed write shows in ferror(stream), which the caller looks at once at
 * the end.
 */

/* Writes a text as the content of an element or of an attribute in double quotes. Control bytes,
 * characters that are invisible or change the direction of writing, and what is no UTF-8 become
 * U+FFFD; a tab and the end of a line become a space. */
void xb_markup_text(FILE *stream, const char *text);

/* About how wide a text is in the style sheet's font of pictures; rather too wide. And the widest
 * of several, `least` at least. */
double xb_svg_text_width(const char *text);
double xb_svg_widest(const char *const *texts, size_t count, double least);

/* What a page must have behind its pictures: hollow markers are of it. */
#define XB_PLOT_PAPER_LIGHT "#ffffff"
#define XB_PLOT_PAPER_DARK "#14181d"

/* The style sheet of all pictures, as CSS without its <style>: series are told apart by colour and
 * by dash and marker, in light and dark surroundings; paper is light. All of it is below the class
 * "plot". A page has it once; a picture that stands alone brings it. */
void xb_plot_style(FILE *stream);

/* How many series have a look of their own; the next looks like the first. Their classes are
 * "series-1" to "series-8". */
#define XB_PLOT_SERIES 8
const char *xb_series_look(size_t series); /* from 0 */

/* What every picture has. */
struct xb_picture {
    const char *id;    /* letters, digits and dashes; one of its kind in the page */
    const char *title; /* one line, also for screen readers */
    const char
        *description; /* for screen readers: what is to be seen in it, in a sentence or two */
};

/*
 * Begins <svg role="img"> with its title and description. In a page it is as wide as its place, but
 * for 0.8 to 1.25 times its width: below that its texts are too small to read, so the page must let
 * it scroll (overflow-x: auto around it). Alone it is a file with the XML declaration, the style
 * sheet, paper behind it, and the title above it.
 */
void xb_svg_begin(FILE *stream, const struct xb_picture *picture, double width, double height,
                  bool is_alone);
#define xb_svg_end(stream) ((void)fputs("</svg>\n", (stream)))

/* `look` is one or more classes of the style sheet, such as "axis" or "series-2". `tip` is what a
 * mouse gets to know of an element; NULL: nothing. */

void xb_svg_group_begin(FILE *stream, const char *look, const char *tip);
#define xb_svg_group_end(stream) ((void)fputs("</g>\n", (stream)))
/* Writes a form such as " x=\"#\"", in which each # is the next of the lengths. */
void xb_svg_write(FILE *stream, const char *form, const double *lengths);
#define xb_svg_form(stream, form, ...) xb_svg_write((stream), (form), (double[]){__VA_ARGS__})
/* Adds an element: the form is its name and attributes. */
void xb_svg_add(FILE *stream, const char *look, const char *tip, const char *form,
                const double *lengths);
#define xb_svg_line(stream, look, x1, y1, x2, y2)                                                  \
    xb_svg_add((stream), (look), NULL, "line x1=\"#\" y1=\"#\" x2=\"#\" y2=\"#\"",                 \
               (double[]){(x1), (y1), (x2), (y2)})
#define xb_svg_rectangle(stream, look, x, y, width, height, tip)                                   \
    xb_svg_add((stream), (look), (tip), "rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"",           \
               (double[]){(x), (y), fmax((width), 0.0), fmax((height), 0.0)})
#define xb_svg_path(stream, look, steps, ...)                                                      \
    xb_svg_add((stream), (look), NULL, "path d=\"" steps "\"", (double[]){__VA_ARGS__})
/* The marker of a look, in the colour of the group that it is in: series, and what is "bad" or
 * "unsure", differ in shape too, so that they need no colour. */
void xb_svg_marker(FILE *stream, const char *look, double x, double y, const char *tip);

/* A path that is not written at once: begin, then steps such as "M# #L# #z", in which each # is the
 * next of the lengths, then end. "M# #h0" is a dot, because lines have round ends. */
void xb_svg_path_begin(FILE *stream, const char *look);
#define xb_svg_path_end(stream) ((void)fputs("\"/>\n", (stream)))

/* Its class "middle" or "end" says what stands at x, else it begins there; `y` is the middle of its
 * line. A wider text is cut at a whole character, with an ellipsis behind it; its tip has all. */
void xb_svg_text(FILE *stream, const char *look, double x, double y, double width,
                 const char *text);
