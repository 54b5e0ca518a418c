/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>

#define TOP 34.0
#define HEIGHT 260.0
#define HISTOGRAM 50.0 /* the longest bar */
#define GAP 10.0       /* before it */
#define BEHIND 16.0    /* it */
#define SIDE 12.0      /* between the outermost places and the ends of their axis */
#define PLACE_NAMES 110.0
#define PLACE_NAMES_MOST 9
#define PLACES 46.0 /* their names below the field, and what they are */

#define DOTS_MOST 1500 /* of more that are near each other, one is drawn */
#define BINS 65        /* of the histogram */

enum kind { ORDINARY, BAD, OTHER, KINDS };

static const char *const looks[KINDS] = {"series-1", "bad", "unsure"};

struct drawing {
    const struct xb_dots *dots;
    size_t marked;            /* drawn one by one */
    double bars;              /* where the histogram begins */
    size_t bins[KINDS][BINS]; /* from the top */
    size_t fullest;           /* of bins, all kinds together */
    char names[KINDS][200];   /* for the legend */
    struct xb_frame frame;
};

static bool is_shown(const struct drawing *drawing, const struct xb_dot *dot)
{
    return dot->place < drawing->dots->place_count &&
           xb_scale_shows(drawing->dots->y.scale, dot->value);
}

static double place_of(const struct drawing *drawing, size_t place)
{
    double room = drawing->frame.right - drawing->frame.left - 2.0 * SIDE;
    return drawing->frame.left + SIDE +
           room * ((double)place + 0.5) / (double)drawing->dots->place_count;
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

/* Places the axis, counts what is there, and makes the legend and the notes of that. */
static void prepare(struct drawing *drawing)
{
    const struct xb_dots *dots = drawing->dots;
    struct xb_frame *frame = &drawing->frame;
    struct xb_range range = XB_RANGE_NONE;
    size_t counts[KINDS] = {0}, beyond = 0;
    xb_range_span(&range, dots->y.scale, dots->y_low, dots->y_high);
    frame->y = xb_ruler_make(dots->y.scale, range, false, frame->bottom, frame->top);
    frame->left = xb_ruler_left_room(&frame->y);
    drawing->bars = frame->width - BEHIND - HISTOGRAM;
    frame->right = drawing->bars - GAP;
    for (size_t i = 0; i < dots->count; i++) {
        const struct xb_dot *dot = &dots->dots[i];
        double bin = (xb_ruler_place(&frame->y, dot->value) - TOP) / HEIGHT * BINS;
        counts[kind_of(dots, i)]++;
        if (!is_shown(drawing, dot))
            continue;
        drawing->bins[kind_of(dots, i)][(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
        beyond += i < dots->out_count && side_of(drawing, dot->value) != 0;
    }
    for (size_t i = 0; i < BINS; i++) {
        size_t sum = drawing->bins[ORDINARY][i] + drawing->bins[BAD][i] + drawing->bins[OTHER][i];
        drawing->fullest = sum > drawing->fullest ? sum : drawing->fullest;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(drawing->names[kind], sizeof drawing->names[kind], "%.100s: %zu", dots->are[kind],
                 counts[kind]);
        if (counts[kind] > 0)
            xb_frame_item(frame, kind == ORDINARY ? "dot" : "marker", looks[kind],
                          drawing->names[kind]);
    }
    if (isfinite(dots->band_low))
        xb_frame_item(frame, "band", "series-3", dots->band_is);
    if (counts[ORDINARY] > DOTS_MOST)
        xb_frame_note(frame, "Of %.60s near each other one is drawn.", dots->counted);
    if (beyond > 0)
        xb_frame_note(frame, "Arrows: %zu beyond the axis.", beyond);
    if (drawing->marked < dots->out_count)
        xb_frame_note(frame, "%zu more of those that stand out have no marker.",
                      dots->out_count - drawing->marked);
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
        double x = place_of(drawing, dot->place);
        double y = xb_ruler_place(&drawing->frame.y, dot->value);
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

#define OBSTACLES 64

/* Draws what stands out. The worst is drawn last, so that it lies above the others. */
static void draw_outs(FILE *stream, const struct drawing *drawing)
{
    const struct xb_dots *dots = drawing->dots;
    struct xb_caption captions[XB_DOTS_OUT + OBSTACLES];
    size_t count = drawing->marked;
    for (int kind = BAD; kind < KINDS && drawing->marked < dots->out_count; kind++)
        draw_dots(stream, drawing, (enum kind)kind);
    for (size_t i = drawing->marked; i-- > 0;) {
        const struct xb_dot *out = &dots->dots[i];
        const char *look = looks[kind_of(dots, i)];
        int side = side_of(drawing, out->value);
        double x = place_of(drawing, out->place);
        double y = xb_ruler_place(&drawing->frame.y, out->value);
        double back = y + 9.0 * side;
        /* Captions of hidden points go off the page, so that they are not placed. */
        captions[i] = (struct xb_caption){.x = -XB_PLOT_WIDTH};
        if (!is_shown(drawing, out))
            continue;
        captions[i] = (struct xb_caption){.x = x, .y = y + 5.0 * side, .name = out->name};
        xb_svg_group_begin(stream, look, side != 0 ? out->tip : NULL);
        if (side != 0) /* an arrow */
            xb_svg_path(stream, "marker", "M# #L# #L# #z", x - 5.0, back, x + 5.0, back, x, y);
        else
            xb_svg_marker(stream, look, x, y, out->tip);
        xb_svg_group_end(stream);
    }
    /* No name may cover that of a level, which is as points without names. */
    for (size_t i = 0; i < dots->level_count; i++)
        for (double x = drawing->frame.right, width = xb_svg_text_width(dots->levels[i].name);
             x > drawing->frame.right - width && count < XB_DOTS_OUT + OBSTACLES; x -= 10.0)
            captions[count++] = (struct xb_caption){
                .x = x, .y = xb_ruler_place(&drawing->frame.y, dots->levels[i].at) - 8.0};
    xb_captions_place(captions, count, drawing->frame.left + 2.0, drawing->frame.right, TOP - 2.0,
                      drawing->frame.bottom - 2.0);
    xb_captions_draw(stream, captions, count);
}

/* Draws as many names as there is room for, the first and the last among them. Those at the ends do
 * not stand out. */
static void draw_places(FILE *stream, const struct drawing *drawing)
{
    const struct xb_dots *dots = drawing->dots;
    const double left = drawing->frame.left, right = drawing->frame.right;
    const double bottom = drawing->frame.bottom;
    size_t places[PLACE_NAMES_MOST];
    double widths[PLACE_NAMES_MOST], middles[PLACE_NAMES_MOST];
    size_t count = xb_at_most(dots->place_count, PLACE_NAMES_MOST);
    for (bool touch = count > 0; touch; count -= touch) {
        touch = false;
        for (size_t i = 0; i < count; i++) {
            places[i] = count < 2 ? 0 : i * (dots->place_count - 1) / (count - 1);
            widths[i] = fmin(xb_svg_text_width(dots->places[places[i]]), PLACE_NAMES);
            middles[i] = fmin(fmax(place_of(drawing, places[i]), widths[i] / 2.0 + 4.0),
                              right - widths[i] / 2.0);
            touch = touch || (i > 0 && middles[i] - middles[i - 1] <
                                           (widths[i - 1] + widths[i]) / 2.0 + 14.0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        double x = place_of(drawing, places[i]);
        xb_svg_line(stream, "axis", x, bottom, x, bottom + 4.0);
        xb_svg_text_within(stream, "quiet", middles[i], bottom + 13.5, XB_ANCHOR_MIDDLE,
                           PLACE_NAMES, dots->places[places[i]]);
    }
    xb_svg_line(stream, "axis", left, bottom, right, bottom);
    xb_svg_text_within(stream, "", (left + right) / 2.0, bottom + 33.5, XB_ANCHOR_MIDDLE,
                       right - left, dots->places_are);
}

static void draw_histogram(FILE *stream, const struct drawing *drawing)
{
    const double bottom = drawing->frame.bottom, end = drawing->bars + HISTOGRAM;
    const double scale = HISTOGRAM / (double)drawing->fullest, height = HEIGHT / BINS;
    size_t before[BINS] = {0}; /* of kinds that are drawn */
    char text[32];
    /* Bars of what stands out begin where those before them end; even one that is counted is seen.
     */
    for (int kind = 0; kind < KINDS; kind++) {
        xb_svg_group_begin(stream, looks[kind], NULL);
        xb_svg_path_begin(stream, "span");
        for (size_t row = 0; row < BINS; row++) {
            size_t count = drawing->bins[kind][row];
            double x = drawing->bars;
            if (before[row] > 0)
                x += fmax(scale * (double)before[row], 2.0);
            double right = x + fmax(scale * (double)count, 2.0), top = TOP + height * (double)row;
            if (count > 0)
                xb_svg_form(stream, "M# #L# #v#L# #z", x, top, right, top, height - 0.6, x,
                            top + height - 0.6);
            before[row] += count;
        }
        xb_svg_path_end(stream);
        xb_svg_group_end(stream);
    }
    xb_svg_line(stream, "axis", drawing->bars, TOP, drawing->bars, bottom);
    xb_svg_line(stream, "axis", drawing->bars, bottom, end, bottom);
    snprintf(text, sizeof text, "%zu", drawing->fullest);
    xb_svg_text(stream, "quiet", drawing->bars, bottom + 13.5, XB_ANCHOR_MIDDLE, "0");
    if (drawing->fullest > 0)
        xb_svg_text(stream, "quiet", end, bottom + 13.5, XB_ANCHOR_MIDDLE, text);
    xb_svg_text_within(stream, "", (drawing->bars + end) / 2.0, bottom + 33.5, XB_ANCHOR_MIDDLE,
                       HISTOGRAM + 30.0, drawing->dots->counted);
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
                                        .foot = PLACES,
                                        .y_label = dots->y.label,
                                        .is_empty = dots->count == 0}};
    struct xb_frame *frame = &drawing.frame;
    prepare(&drawing);
    xb_frame_begin(stream, frame, is_alone);
    if (xb_scale_spans(dots->y.scale, dots->band_low, dots->band_high)) {
        double top = xb_ruler_place(&frame->y, dots->band_high);
        double bottom = xb_ruler_place(&frame->y, dots->band_low);
        xb_svg_group_begin(stream, "series-3", NULL);
        xb_svg_rectangle(stream, "band", frame->left, top, frame->width - BEHIND - frame->left,
                         fmax(bottom - top, 1.0), NULL);
        xb_svg_group_end(stream);
    }
    if (dots->place_count > 0)
        draw_places(stream, &drawing);
    draw_histogram(stream, &drawing);
    draw_dots(stream, &drawing, ORDINARY);
    for (size_t i = 0; i < dots->level_count && i < XB_LEVELS_MOST; i++) {
        double at = dots->levels[i].at, y = xb_ruler_place(&frame->y, at);
        if (!xb_scale_shows(frame->y.scale, at) || at < frame->y.low || at > frame->y.high)
            continue;
        xb_svg_line(stream, "level", frame->left, y, frame->width - BEHIND, y);
        /* Names stand above the right ends, so that no line goes through them. */
        xb_svg_text_within(stream, "quiet halo", frame->right - 2.0, y - 8.5, XB_ANCHOR_END,
                           frame->right - frame->left, dots->levels[i].name);
    }
    draw_outs(stream, &drawing);
    xb_frame_end(stream, frame);
}
