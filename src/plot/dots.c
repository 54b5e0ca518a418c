/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>

#define TOP 34.0
#define HEIGHT 260.0
#define HISTOGRAM 50.0 /* the longest bar */
#define GAP 10.0       /* before it */
#define BEHIND 16.0    /* it */

#define DOTS_MOST 1500 /* of more that are near each other, one is drawn */
#define BINS 65        /* of the histogram */
#define POINT 6.0      /* half of what a marker takes */

enum kind { ORDINARY, BAD, OTHER, KINDS };

static const char *const looks[KINDS] = {"series-1", "bad", "unsure"};

struct drawing {
    const struct xb_dots *dots;
    size_t marked;            /* drawn one by one */
    size_t bins[KINDS][BINS]; /* from the top */
    struct xb_frame frame;
};

static bool is_shown(const struct drawing *drawing, const struct xb_dot *dot)
{
    return dot->place < drawing->dots->place_count &&
           xb_scale_shows(drawing->dots->y.scale, dot->value);
}

/* Beyond the axis: -1 below it, 1 above it. */
static int side_of(const struct drawing *drawing, double value)
{
    return value < drawing->frame.y.low ? -1 : value > drawing->frame.y.high ? 1 : 0;
}

static enum kind kind_of(const struct xb_dots *dots, size_t index)
{
    return index >= dots->out_count ? ORDINARY : dots->dots[index].is_bad ? BAD : OTHER;
}

#define CELL 4.0 /* pixels: of very many values, each cell has one dot */
#define CELLS 110

/* Draws ordinary values, or those that are too many to have a marker, as dots. */
static void draw_dots(FILE *stream, const struct drawing *drawing, enum kind kind)
{
    const struct xb_dots *dots = drawing->dots;
    bool seen[CELLS][CELLS] = {{false}};
    xb_svg_group_begin(stream, looks[kind], NULL);
    xb_svg_path_begin(stream, "dots");
    for (size_t i = drawing->marked; i < dots->count; i++) {
        const struct xb_dot *dot = &dots->dots[i];
        if (!is_shown(drawing, dot) || kind_of(dots, i) != kind)
            continue;
        double x = XB_X(&drawing->frame, (double)dot->place);
        double y = XB_Y(&drawing->frame, dot->value);
        if (dots->count - dots->out_count > DOTS_MOST || kind != ORDINARY) {
            size_t column = (size_t)(x / CELL), row = (size_t)(y / CELL);
            if (seen[column][row])
                continue;
            seen[column][row] = true;
            x = CELL * ((double)column + 0.5);
            y = CELL * ((double)row + 0.5);
        }
        xb_svg_form(stream, "M# #h0", x, y);
    }
    xb_svg_path_end(stream);
    xb_svg_group_end(stream);
}

/* Draws the levels, then what stands out with names beside it. The worst is drawn last, so that it
 * lies above the others. */
static void draw_outs(FILE *stream, const struct drawing *drawing)
{
    const struct xb_dots *dots = drawing->dots;
    const struct xb_frame *frame = &drawing->frame;
    struct xb_caption captions[XB_DOTS_OUT];
    struct xb_box taken[XB_DOTS_OUT + XB_LEVELS_MOST + XB_CAPTIONS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < dots->level_count && i < XB_LEVELS_MOST; i++) {
        double at = dots->levels[i].at, y = XB_Y(frame, at);
        if (!xb_scale_shows(frame->y.scale, at) || side_of(drawing, at) != 0)
            continue;
        xb_svg_line(stream, "level", frame->left, y, frame->width - BEHIND, y);
        /* Names stand above the right ends, so that no line goes through them. */
        xb_svg_text(stream, "quiet halo end", frame->right - 2.0, y - 8.5,
                    frame->right - frame->left, dots->levels[i].name);
        taken[count++] =
            (struct xb_box){frame->right - xb_svg_text_width(dots->levels[i].name) - 6.0,
                            frame->right, y - 15.0, y};
    }
    for (int kind = BAD; kind < KINDS && drawing->marked < dots->out_count; kind++)
        draw_dots(stream, drawing, (enum kind)kind);
    for (size_t i = drawing->marked; i-- > 0;) {
        const struct xb_dot *out = &dots->dots[i];
        const char *look = looks[kind_of(dots, i)];
        int side = side_of(drawing, out->value);
        double x = XB_X(frame, (double)out->place);
        double y = XB_Y(frame, out->value);
        double back = y + 9.0 * side, middle = y + 5.0 * side;
        captions[i] = (struct xb_caption){.x = x, .y = middle, .name = NULL};
        if (!is_shown(drawing, out))
            continue;
        captions[i].name = out->name;
        taken[count++] = (struct xb_box){x - POINT, x + POINT, middle - POINT, middle + POINT};
        xb_svg_group_begin(stream, look, side != 0 ? out->tip : NULL);
        if (side != 0) /* an arrow */
            xb_svg_path(stream, "marker", "M# #L# #L# #z", x - 5.0, back, x + 5.0, back, x, y);
        else
            xb_svg_marker(stream, look, x, y, out->tip);
        xb_svg_group_end(stream);
    }
    const struct xb_box field = {frame->left + 2.0, frame->right, TOP - 2.0, frame->bottom - 2.0};
    xb_captions_draw(stream, captions, drawing->marked, &field, taken, count);
}

static void draw_histogram(FILE *stream, const struct drawing *drawing)
{
    const double bars = drawing->frame.right + GAP, end = bars + HISTOGRAM;
    const double bottom = drawing->frame.bottom;
    const double height = HEIGHT / BINS;
    size_t before[BINS] = {0}; /* of kinds that are drawn */
    size_t fullest = 0;        /* of bins, all kinds together */
    char text[32];
    for (size_t i = 0; i < BINS; i++) {
        size_t sum = drawing->bins[ORDINARY][i] + drawing->bins[BAD][i] + drawing->bins[OTHER][i];
        fullest = sum > fullest ? sum : fullest;
    }
    const double scale = HISTOGRAM / (double)fullest;
    /* Bars of what stands out begin where those before them end; even one that is counted is seen.
     */
    for (int kind = 0; kind < KINDS; kind++) {
        xb_svg_group_begin(stream, looks[kind], NULL);
        for (size_t row = 0; row < BINS; row++) {
            size_t count = drawing->bins[kind][row];
            double x = bars + (before[row] > 0 ? fmax(scale * (double)before[row], 2.0) : 0.0);
            if (count > 0)
                xb_svg_rectangle(stream, "span", x, TOP + height * (double)row,
                                 fmax(scale * (double)count, 2.0), height - 0.6, NULL);
            before[row] += count;
        }
        xb_svg_group_end(stream);
    }
    xb_svg_line(stream, "axis", bars, TOP, bars, bottom);
    xb_svg_line(stream, "axis", bars, bottom, end, bottom);
    snprintf(text, sizeof text, "%zu", fullest);
    xb_svg_text(stream, "quiet middle", bars, bottom + 13.5, BEHIND, "0");
    if (fullest > 0)
        xb_svg_text(stream, "quiet middle", end, bottom + 13.5, HISTOGRAM, text);
    xb_svg_text(stream, "middle", (bars + end) / 2.0, bottom + 33.5, HISTOGRAM + 30.0,
                drawing->dots->counted);
}

void xb_dots_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_dots *dots = picture;
    struct drawing drawing = {.dots = dots,
                              .marked = xb_at_most(dots->out_count, XB_DOTS_OUT),
                              .frame = {.picture = &dots->picture,
                                        .width = XB_PLOT_WIDTH,
                                        .top = TOP,
                                        .bottom = TOP + HEIGHT,
                                        .x_label = dots->places_are,
                                        .y_label = dots->y.label,
                                        .is_empty = dots->count == 0}};
    struct xb_frame *frame = &drawing.frame;
    struct xb_range range = XB_RANGE_NONE;
    size_t counts[KINDS] = {0}, beyond = 0;
    char names[KINDS][200]; /* for the legend */
    xb_range_span(&range, dots->y.scale, dots->y_low, dots->y_high);
    frame->y = xb_ruler_make(dots->y.scale, range, false, frame->bottom, frame->top);
    frame->left = xb_ruler_left_room(&frame->y);
    frame->right = frame->width - BEHIND - HISTOGRAM - GAP;
    frame->x = (struct xb_ruler){XB_SCALE_NAMES,
                                 -0.5,
                                 (double)dots->place_count - 0.5,
                                 frame->left + XB_PLOT_SIDE,
                                 frame->right - XB_PLOT_SIDE,
                                 dots->places};
    for (size_t i = 0; i < dots->count; i++) {
        const struct xb_dot *dot = &dots->dots[i];
        double bin = (XB_Y(frame, dot->value) - TOP) / HEIGHT * BINS;
        counts[kind_of(dots, i)]++;
        if (!is_shown(&drawing, dot))
            continue;
        drawing.bins[kind_of(dots, i)][(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
        beyond += i < dots->out_count && side_of(&drawing, dot->value) != 0;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(names[kind], sizeof names[kind], "%.100s: %zu", dots->are[kind], counts[kind]);
        if (counts[kind] > 0)
            xb_frame_item(frame, kind == ORDINARY ? "dot" : "marker", looks[kind], names[kind]);
    }
    if (isfinite(dots->band_low))
        xb_frame_item(frame, "band", "series-3", dots->band_is);
    if (counts[ORDINARY] > DOTS_MOST)
        xb_frame_note(frame, "Of %.60s near each other one is drawn.", dots->counted);
    if (beyond > 0)
        xb_frame_note(frame, "Arrows: %zu beyond the axis.", beyond);
    if (drawing.marked < dots->out_count)
        xb_frame_note(frame, "%zu more of those that stand out have no marker.",
                      dots->out_count - drawing.marked);
    xb_frame_begin(stream, frame, is_alone);
    if (xb_scale_spans(dots->y.scale, dots->band_low, dots->band_high)) {
        double top = XB_Y(frame, dots->band_high);
        double bottom = XB_Y(frame, dots->band_low);
        xb_svg_group_begin(stream, "series-3", NULL);
        xb_svg_rectangle(stream, "band", frame->left, top, frame->width - BEHIND - frame->left,
                         fmax(bottom - top, 1.0), NULL);
        xb_svg_group_end(stream);
    }
    draw_histogram(stream, &drawing);
    draw_dots(stream, &drawing, ORDINARY);
    draw_outs(stream, &drawing);
    xb_frame_end(stream, frame);
}
