/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_MARKUP_H
#define XFERBENCH_PLOT_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/* Texts of files, made harmless for XML and HTML, and how wide they are. */

#define XB_ELLIPSIS "\xE2\x80\xA6"

/* Writes a text as the content of an element or of an attribute in double quotes. Control bytes,
 * characters that are invisible or change the direction of writing, and what is no UTF-8 become
 * U+FFFD; a tab and the end of a line become a space. */
void xb_markup_text(FILE *stream, const char *text);
/* The same for at most so many bytes, but whole characters. */
void xb_markup_write(FILE *stream, const char *text, size_t bytes);
/* The same for a text that is cut where it is very long, and then ends with an ellipsis. */
void xb_markup_short(FILE *stream, const char *text);

/* About how wide a text is in the style sheet's font of pictures; rather too wide. */
double xb_svg_text_width(const char *text);
/* How many bytes at the start of a text are at most so wide, and how wide these are. */
size_t xb_text_fitting(const char *text, double width, double *used);

#endif
