/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
#include "svg.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Longer texts are cut: a picture stays small whatever a file calls its devices. */
#define TEXT_MOST 1000
#define ELLIPSIS "\xE2\x80\xA6"
#define TITLE_HEIGHT 34.0
#define TEXT_DROP 4.5 /* from the middle of a line to the base of its letters */

/* ---- the style sheet ---- */

/*
 * The colours of series differ in lightness as well as in hue, so that they differ for the colour
 * blind too, and have a contrast of 3 or more to 1 with the paper, which is what WCAG 2.1 asks of
 * graphics (success criterion 1.4.11). Colours are written out, not as variables: programs other
 * than browsers that draw SVG know no variables.
 */

static const struct {
    const char *selector, *property, *light, *dark;
} colours[] = {
    {"", "color", "#22282e", "#dde3e8"},
    {" text", "fill", "#22282e", "#dde3e8"},
    {" .quiet", "fill", "#5a646e", "#a3adb7"},
    {" .paper,.plot .hollow", "fill", XB_PLOT_PAPER_LIGHT, XB_PLOT_PAPER_DARK},
    {" .halo", "stroke", XB_PLOT_PAPER_LIGHT, XB_PLOT_PAPER_DARK},
    {" .grid", "stroke", "#e4e8ec", "#2a3139"},
    {" .axis", "stroke", "#8a949e", "#76818c"},
    {" .level,.plot .limit", "color", "#5a646e", "#a3adb7"},
    {" .stripe", "fill", "#f5f7f9", "#1a2027"},
    {" .node", "fill", "#f5f7f9", "#1f262e"},
    {" .series-1", "color", "#0072b2", "#56b4e9"},
    {" .series-2", "color", "#d55e00", "#f0803c"},
    {" .series-3", "color", "#007a5a", "#2fc29a"},
    {" .series-4", "color", "#a8489a", "#dc96d0"},
    {" .series-5,.plot .unsure", "color", "#806400", "#e6c229"},
    {" .series-6", "color", "#454c54", "#c4ccd4"},
    {" .series-7", "color", "#8a1f4f", "#f2849e"},
    {" .series-8", "color", "#3a7fd0", "#a9c8f5"},
    {" .good", "color", "#00735a", "#2fc29a"},
    {" .bad,.plot .mark", "color", "#b3261e", "#ff8a80"},
    {" .step-1 rect", "fill", "#f0f5fa", "#1c2a38"},
    {" .step-2 rect", "fill", "#d5e4f2", "#1f3f5c"},
    {" .step-3 rect", "fill", "#aecce6", "#225580"},
    {" .step-4 rect", "fill", "#7fafd8", "#2a6aa2"},
    {" .step-5 rect", "fill", "#3274ae", "#6aa8da"},
    {" .step-6 rect", "fill", "#1c5c98", "#98c6ea"},
    {" .step-7 rect", "fill", "#0b3f78", "#c8e2f6"},
    {" .light text", "fill", "#15202b", "#f2f6fa"},
    {" .deep text", "fill", "#ffffff", "#10181f"},
};

static const char *const rules[] = {
    " text{font-variant-numeric:tabular-nums}",
    " .strong{font-weight:600}",
    " .middle{text-anchor:middle}",
    " .end{text-anchor:end}",
    " .grid,.plot .axis{stroke-width:1;fill:none}",
    " .level{stroke:currentColor;stroke-width:1.3;stroke-dasharray:7 4;fill:none}",
    " .mark{stroke:currentColor;stroke-width:1.5;stroke-dasharray:2 3;fill:none}",
    " .line{stroke:currentColor;stroke-width:2;fill:none}",
    " .line{stroke-linejoin:round;stroke-linecap:round}",
    " .series-2 .line,.plot .series-6 .line{stroke-dasharray:9 4}",
    " .series-3 .line,.plot .series-7 .line{stroke-dasharray:2 4}",
    " .series-4 .line,.plot .series-8 .line{stroke-dasharray:9 4 2 4}",
    " .whisker{stroke:currentColor;stroke-width:1.5;fill:none}",
    " .interval{stroke:currentColor;stroke-width:5;stroke-opacity:.45;fill:none}",
    " .dots{stroke:currentColor;stroke-width:3;stroke-opacity:.55;fill:none}",
    " .dots{stroke-linecap:round}",
    " .marker{fill:currentColor;stroke:currentColor;stroke-width:1.5}",
    " .span,.plot .of-line,.plot .edge-name{fill:currentColor}",
    " .band,.plot .wait{fill:currentColor;fill-opacity:.16}",
    " .wait{stroke:currentColor;stroke-width:1;stroke-dasharray:2 2}",
    " .node{stroke:currentColor;stroke-width:1.2}",
    " .edge{stroke:currentColor;stroke-width:2;fill:none}",
    " .bad .node{stroke-width:2.5}",
    " .bad .edge{stroke-width:5}",
    " .unsure .edge,.plot .unsure .node{stroke-dasharray:6 4}",
    " .halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}",
    " .bad text,.plot .unsure text,.plot .good text{fill:currentColor}",
};

static void write_colours(FILE *stream, bool is_dark)
{
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        fprintf(stream, ".plot%s{%s:%s}\n", colours[i].selector, colours[i].property,
                is_dark ? colours[i].dark : colours[i].light);
}

/* A hollow marker is a marker too, and a later rule of equal weight wins: colours come last. */
void xb_plot_style(FILE *stream)
{
    /* Fonts that systems have: none is fetched. */
    fputs(".plot text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\","
          "Arial,\"DejaVu Sans\",sans-serif}\n",
          stream);
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        fprintf(stream, ".plot%s\n", rules[i]);
    write_colours(stream, false);
    fputs("@media screen and (prefers-color-scheme:dark){\n", stream);
    write_colours(stream, true);
    fputs("}\n", stream);
}

/* ---- markup ---- */

/* At most so many bytes, but whole characters, and an ellipsis where the text goes on. */
static void write_markup(FILE *stream, const char *text, size_t bytes)
{
    static const char special[] = "&<>\"'\t\n\r";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;",
                                           "&#39;", " ",    " ",    " "};
    for (const char *end = text + bytes; text < end && *text != '\0';) {
        size_t length = xb_utf8_length(text);
        const char *found = strchr(special, *text);
        if (found != NULL)
            fputs(entities[found - special], stream);
        else if (xb_utf8_is_harmful(text))
            fputs(XB_UTF8_REPLACEMENT, stream);
        else
            fwrite(text, 1, length, stream);
        text += length > 0 ? length : 1;
    }
    fputs(*text != '\0' ? ELLIPSIS : "", stream);
}

void xb_markup_text(FILE *stream, const char *text)
{
    write_markup(stream, text, strlen(text));
}

/* How many bytes at the start of a text are at most so wide, and how wide these are: in pixels of
 * the style sheet's 13. The widths are those of DejaVu Sans, which is wider than the other fonts
 * that the style sheet names. */
static size_t fitting(const char *text, double width, double *used)
{
    static const struct {
        const char *characters;
        double width;
    } rows[] = {{"ijlI.,:;'|!", 4.6},
                {" ()[]frt/-", 5.2},
                {"mwMW%@", 12.4},
                {"ABCDEFGHJKLNOPQRSTUVXYZ", 9.2}};
    size_t bytes = 0;
    *used = 0.0;
    while (text[bytes] != '\0' && bytes < TEXT_MOST) {
        size_t length = xb_utf8_length(text + bytes);
        /* 13: such as a character of Chinese */
        double next = length > 2 ? 13.0 : length != 1 ? 9.0 : 8.2;
        for (size_t i = 0; length == 1 && i < COUNT_OF(rows); i++)
            next = strchr(rows[i].characters, text[bytes]) != NULL ? rows[i].width : next;
        if (*used + next > width)
            break;
        *used += next;
        bytes += length > 0 ? length : 1;
    }
    return bytes;
}

double xb_svg_text_width(const char *text)
{
    double width;
    (void)fitting(text, 1e9, &width);
    return width;
}

double xb_svg_widest(const char *const *texts, size_t count, double least)
{
    for (size_t i = 0; i < count; i++)
        least = fmax(least, xb_svg_text_width(texts[i]));
    return least;
}

/* One decimal at most: shorter than what printf has for it. */
void xb_svg_write(FILE *stream, const char *form, const double *lengths)
{
    for (; *form != '\0'; form++) {
        if (*form != '#') {
            fputc(*form, stream);
            continue;
        }
        double length = isfinite(*lengths) ? fmin(fmax(*lengths, -1e6), 1e6) : 0.0;
        long tenths = lround(length * 10.0);
        long size = labs(tenths);
        fprintf(stream, "%s%ld", tenths < 0 ? "-" : "", size / 10);
        if (size % 10 != 0)
            fprintf(stream, ".%ld", size % 10);
        lengths++;
    }
}

static void write_tip(FILE *stream, const char *tip)
{
    fputs("<title>", stream);
    write_markup(stream, tip, TEXT_MOST);
    fputs("</title>", stream);
}

/* Begins a tag with its name and class; returns the form of its attributes. */
static const char *begin_tag(FILE *stream, const char *look, const char *form)
{
    int name = (int)strcspn(form, " ");
    fprintf(stream, look[0] != '\0' ? "<%.*s class=\"" : "<%.*s", name, form);
    xb_markup_text(stream, look);
    fputs(look[0] != '\0' ? "\"" : "", stream);
    return form + name;
}

void xb_svg_begin(FILE *stream, const struct xb_picture *picture, double width, double height,
                  bool is_alone)
{
    double top = is_alone ? -TITLE_HEIGHT : 0.0;
    char id[200];
    snprintf(id, sizeof id, "%s", picture->id[0] != '\0' ? picture->id : "picture");
    for (char *c = id; *c != '\0'; c++)
        *c = isascii(*c) && isalnum((unsigned char)*c) ? *c : '-';
    if (is_alone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"plot\" role=\"img\"",
          stream);
    if (is_alone)
        xb_svg_form(stream, " width=\"#\" height=\"#\"", width, height - top);
    else
        xb_svg_form(stream, " style=\"width:100%;min-width:#px;max-width:#px\"", width * 0.8,
                    width * 1.25);
    xb_svg_form(stream, " viewBox=\"0 # # #\"", top, width, height - top);
    fprintf(stream, " aria-labelledby=\"%s-title %s-description\">\n<title id=\"%s-title\">", id,
            id, id);
    write_markup(stream, picture->title, TEXT_MOST);
    fprintf(stream, "</title>\n<desc id=\"%s-description\">", id);
    write_markup(stream, picture->description, TEXT_MOST);
    fputs("</desc>\n", stream);
    if (!is_alone)
        return;
    fputs("<style type=\"text/css\">\n", stream);
    xb_plot_style(stream);
    fputs("</style>\n", stream);
    xb_svg_rectangle(stream, "paper", 0.0, top, width, height - top, NULL);
    xb_svg_text(stream, "strong", 8.0, top + 15.5, width - 16.0, picture->title);
}

/* ---- elements ---- */

void xb_svg_group_begin(FILE *stream, const char *look, const char *tip)
{
    (void)begin_tag(stream, look, "g");
    fputs(">\n", stream);
    if (tip == NULL)
        return;
    write_tip(stream, tip);
    fputs("\n", stream);
}

void xb_svg_add(FILE *stream, const char *look, const char *tip, const char *form,
                const double *lengths)
{
    xb_svg_write(stream, begin_tag(stream, look, form), lengths);
    fputs(tip != NULL ? ">" : "/>\n", stream);
    if (tip == NULL)
        return;
    write_tip(stream, tip);
    fprintf(stream, "</%.*s>\n", (int)strcspn(form, " "), form);
}

const char *xb_series_look(size_t series)
{
    static const char *const looks[XB_PLOT_SERIES] = {"series-1", "series-2", "series-3",
                                                      "series-4", "series-5", "series-6",
                                                      "series-7", "series-8"};
    return looks[series % XB_PLOT_SERIES];
}

void xb_svg_marker(FILE *stream, const char *look, double x, double y, const char *tip)
{
    /* Four shapes, filled and then hollow. */
    static const char *const shapes[] = {
        "circle cx=\"#\" cy=\"#\" r=\"3.8\"", "path d=\"M# #m-3.4-3.4h6.8v6.8h-6.8z\"",
        "path d=\"M# #m0-4.6l4.4 7.6h-8.8z\"", "path d=\"M# #m0-4.8l4.4 4.8l-4.4 4.8l-4.4-4.8z\""};
    size_t series = strcmp(look, "bad") == 0 ? 1 : strcmp(look, "unsure") == 0 ? 4 : 0;
    if (strncmp(look, "series-", 7) == 0)
        series = (size_t)(look[7] - '1') % XB_PLOT_SERIES;
    const double middle[4] = {x, y}; /* clang-tidy does not see that a shape takes two */
    xb_svg_add(stream, series < COUNT_OF(shapes) ? "marker" : "marker hollow", tip,
               shapes[series % COUNT_OF(shapes)], middle);
}

void xb_svg_path_begin(FILE *stream, const char *look)
{
    fputs(begin_tag(stream, look, "path d=\""), stream);
}

void xb_svg_text(FILE *stream, const char *look, double x, double y, double width, const char *text)
{
    double used;
    size_t kept = TEXT_MOST;
    bool is_cut = text[fitting(text, width, &used)] != '\0';
    xb_svg_form(stream, begin_tag(stream, look, "text x=\"#\" y=\"#\""), x, y + TEXT_DROP);
    fputs(">", stream);
    if (is_cut) {
        write_tip(stream, text);
        kept = fitting(text, width - 13.0, &used);
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
    }
    write_markup(stream, text, kept);
    fputs("</text>\n", stream);
}
