/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

#include <math.h>

#define TITLE_HEIGHT 34.0

/* ---- numbers ---- */

/* One decimal at most. printf's would have the decimal point of the user's locale. */
static void write_length(FILE *stream, double length)
{
    if (!isfinite(length))
        length = 0.0;
    length = fmin(fmax(length, -1e6), 1e6);
    long tenths = lround(length * 10.0);
    const char *sign = tenths < 0 ? "-" : "";
    long size = tenths < 0 ? -tenths : tenths;
    fprintf(stream, "%s%ld", sign, size / 10);
    if (size % 10 != 0)
        fprintf(stream, ".%ld", size % 10);
}

static void write_attribute(FILE *stream, const char *name, double length)
{
    fprintf(stream, " %s=\"", name);
    write_length(stream, length);
    fputc('"', stream);
}

static void write_look(FILE *stream, const char *look)
{
    if (look[0] == '\0')
        return;
    fputs(" class=\"", stream);
    xb_markup_text(stream, look);
    fputc('"', stream);
}

/* Ends an element that holds nothing but its tip. */
static void end_element(FILE *stream, const char *name, const char *tip)
{
    if (tip == NULL) {
        fputs("/>\n", stream);
        return;
    }
    fputs("><title>", stream);
    xb_markup_short(stream, tip);
    fprintf(stream, "</title></%s>\n", name);
}

/* ---- pictures ---- */

static void write_id(FILE *stream, const char *id)
{
    if (*id == '\0')
        fputs("picture", stream);
    for (; *id != '\0'; id++) {
        bool is_kept = (*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z') ||
                       (*id >= '0' && *id <= '9') || *id == '-';
        fputc(is_kept ? *id : '-', stream);
    }
}

static void write_named(FILE *stream, const char *element, const struct xb_picture *picture,
                        const char *suffix, const char *text)
{
    fprintf(stream, "<%s id=\"", element);
    write_id(stream, picture->id);
    fprintf(stream, "-%s\">", suffix);
    xb_markup_short(stream, text);
    fprintf(stream, "</%s>\n", element);
}

/* How wide it is in its place: see xb_svg_begin(). */
static void write_size(FILE *stream, double width, double height, bool is_alone)
{
    if (is_alone) {
        write_attribute(stream, "width", width);
        write_attribute(stream, "height", height);
        return;
    }
    fputs(" style=\"width:100%;min-width:", stream);
    write_length(stream, width * 0.8);
    fputs("px;max-width:", stream);
    write_length(stream, width * 1.25);
    fputs("px\"", stream);
}

void xb_svg_begin(FILE *stream, const struct xb_picture *picture, double width, double height,
                  bool is_alone)
{
    double top = is_alone ? -TITLE_HEIGHT : 0.0;
    if (is_alone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"plot\" role=\"img\"",
          stream);
    write_size(stream, width, height - top, is_alone);
    fputs(" viewBox=\"0 ", stream);
    write_length(stream, top);
    fputc(' ', stream);
    write_length(stream, width);
    fputc(' ', stream);
    write_length(stream, height - top);
    fputs("\" aria-labelledby=\"", stream);
    write_id(stream, picture->id);
    fputs("-title ", stream);
    write_id(stream, picture->id);
    fputs("-description\">\n", stream);
    write_named(stream, "title", picture, "title", picture->title);
    write_named(stream, "desc", picture, "description", picture->description);
    if (!is_alone)
        return;
    fputs("<style type=\"text/css\">\n", stream);
    xb_plot_style(stream);
    fputs("</style>\n", stream);
    xb_svg_rectangle(stream, "paper", 0.0, top, width, height - top, NULL);
    xb_svg_text_within(stream, "strong", 8.0, top + 20.0, XB_ANCHOR_START, width - 16.0,
                       picture->title);
}

void xb_svg_end(FILE *stream)
{
    fputs("</svg>\n", stream);
}

/* ---- elements ---- */

void xb_svg_group_begin(FILE *stream, const char *look, const char *tip)
{
    fputs("<g", stream);
    write_look(stream, look);
    fputs(">\n", stream);
    if (tip == NULL)
        return;
    fputs("<title>", stream);
    xb_markup_short(stream, tip);
    fputs("</title>\n", stream);
}

void xb_svg_group_end(FILE *stream)
{
    fputs("</g>\n", stream);
}

void xb_svg_line(FILE *stream, const char *look, double x1, double y1, double x2, double y2)
{
    fputs("<line", stream);
    write_look(stream, look);
    write_attribute(stream, "x1", x1);
    write_attribute(stream, "y1", y1);
    write_attribute(stream, "x2", x2);
    write_attribute(stream, "y2", y2);
    end_element(stream, "line", NULL);
}

void xb_svg_rectangle(FILE *stream, const char *look, double x, double y, double width,
                      double height, const char *tip)
{
    fputs("<rect", stream);
    write_look(stream, look);
    write_attribute(stream, "x", x);
    write_attribute(stream, "y", y);
    write_attribute(stream, "width", fmax(width, 0.0));
    write_attribute(stream, "height", fmax(height, 0.0));
    end_element(stream, "rect", tip);
}

void xb_svg_circle(FILE *stream, const char *look, double x, double y, double radius,
                   const char *tip)
{
    fputs("<circle", stream);
    write_look(stream, look);
    write_attribute(stream, "cx", x);
    write_attribute(stream, "cy", y);
    write_attribute(stream, "r", fmax(radius, 0.0));
    end_element(stream, "circle", tip);
}

void xb_svg_marker(FILE *stream, size_t series, double x, double y, const char *tip)
{
    /* Four shapes, filled and then hollow: as paths from the marker's middle. */
    static const char *const shapes[] = {NULL, "m-3.4-3.4h6.8v6.8h-6.8z", "m0-4.6l4.4 7.6h-8.8z",
                                         "m0-4.8l4.4 4.8l-4.4 4.8l-4.4-4.8z"};
    const size_t count = sizeof shapes / sizeof *shapes;
    const char *look = series % XB_PLOT_SERIES < count ? "marker" : "marker hollow";
    if (shapes[series % count] == NULL) {
        xb_svg_circle(stream, look, x, y, 3.8, tip);
        return;
    }
    fputs("<path", stream);
    write_look(stream, look);
    fputs(" d=\"M", stream);
    write_length(stream, x);
    fputc(' ', stream);
    write_length(stream, y);
    fprintf(stream, "%s\"", shapes[series % count]);
    end_element(stream, "path", tip);
}

/* ---- paths ---- */

void xb_svg_path_begin(FILE *stream, const char *look)
{
    fputs("<path", stream);
    write_look(stream, look);
    fputs(" d=\"", stream);
}

static void write_step(FILE *stream, char step, double x, double y)
{
    fputc(step, stream);
    write_length(stream, x);
    fputc(' ', stream);
    write_length(stream, y);
}

void xb_svg_path_move(FILE *stream, double x, double y)
{
    write_step(stream, 'M', x, y);
}

void xb_svg_path_line(FILE *stream, double x, double y)
{
    write_step(stream, 'L', x, y);
}

void xb_svg_path_down(FILE *stream, double length)
{
    fputc('v', stream);
    write_length(stream, length);
}

void xb_svg_path_dot(FILE *stream, double x, double y)
{
    write_step(stream, 'M', x, y);
    fputs("h0", stream); /* the round end of a line makes it a dot */
}

void xb_svg_path_close(FILE *stream)
{
    fputc('z', stream);
}

void xb_svg_path_end(FILE *stream)
{
    fputs("\"/>\n", stream);
}

/* ---- text ---- */

static void begin_text(FILE *stream, const char *look, double x, double y, enum xb_anchor anchor)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    fputs("<text", stream);
    write_look(stream, look);
    write_attribute(stream, "x", x);
    write_attribute(stream, "y", y);
    fprintf(stream, "%s>", anchors[anchor]);
}

void xb_svg_text(FILE *stream, const char *look, double x, double y, enum xb_anchor anchor,
                 const char *text)
{
    begin_text(stream, look, x, y, anchor);
    xb_markup_short(stream, text);
    fputs("</text>\n", stream);
}

void xb_svg_text_within(FILE *stream, const char *look, double x, double y, enum xb_anchor anchor,
                        double width, const char *text)
{
    double used;
    if (text[xb_text_fitting(text, width, &used)] == '\0') {
        xb_svg_text(stream, look, x, y, anchor, text);
        return;
    }
    size_t kept = xb_text_fitting(text, width - 13.0, &used);
    while (kept > 0 && text[kept - 1] == ' ')
        kept--;
    begin_text(stream, look, x, y, anchor);
    fputs("<title>", stream);
    xb_markup_short(stream, text);
    fputs("</title>", stream);
    xb_markup_write(stream, text, kept);
    fputs(XB_ELLIPSIS "</text>\n", stream);
}
