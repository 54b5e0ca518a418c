/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define WIDTH 720.0
#define TOP 34.0
#define HEIGHT 260.0
#define HISTOGRAM 84.0 /* the longest bar */
#define GAP 14.0       /* before it */
#define SIDE 12.0      /* between the outermost places and the ends of their axis */
#define PLACE_NAMES 110.0
#define PLACE_NAMES_MOST 9

#define DOTS_FEW 120   /* so few are as large as in the legend */
#define DOTS_MOST 1500 /* more are drawn as shades */
#define DOT 2.5        /* its radius, in the legend and where they are few */
#define BINS 65        /* of the histogram */

enum kind { ORDINARY, BAD, OTHER, KINDS };

static const char *const looks[KINDS] = {"series-1", "bad", "unsure"};

struct frame {
    const struct xb_dots *dots;
    size_t out_count; /* drawn one by one */
    size_t level_count;
    double left, right, bars, bottom;
    struct xb_ruler y;
    size_t bins[KINDS][BINS]; /* from the top */
    size_t fullest;           /* of bins, all kinds together */
    struct xb_caption captions[XB_DOTS_OUT];
};

static bool is_shown(const struct frame *frame, size_t place, double value)
{
    return place < frame->dots->place_count && xb_scale_shows(frame->dots->y.scale, value);
}

static double place_of(const struct frame *frame, size_t place)
{
    double room = frame->right - frame->left - 2.0 * SIDE;
    return frame->left + SIDE + room * ((double)place + 0.5) / (double)frame->dots->place_count;
}

/* Beyond the axis: -1 below it, 1 above it. */
static int side_of(const struct frame *frame, double value)
{
    return value < frame->y.low ? -1 : value > frame->y.high ? 1 : 0;
}

/* ---- the place of everything ---- */

static void count_in_bin(struct frame *frame, enum kind kind, double value)
{
    double bin = (xb_ruler_place(&frame->y, value) - TOP) / HEIGHT * BINS;
    frame->bins[kind][(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
}

static enum kind kind_of(const struct xb_dot_out *out)
{
    return out->is_bad ? BAD : OTHER;
}

static void make_frame(struct frame *frame, const struct xb_dots *dots)
{
    struct xb_range range = XB_RANGE_NONE;
    memset(frame, 0, sizeof *frame);
    frame->dots = dots;
    frame->out_count = xb_at_most(dots->out_count, XB_DOTS_OUT);
    frame->level_count = xb_at_most(dots->level_count, XB_LEVELS_MOST);
    frame->bottom = TOP + HEIGHT;
    if (dots->y_low <= dots->y_high) {
        xb_range_add(&range, dots->y.scale, dots->y_low);
        xb_range_add(&range, dots->y.scale, dots->y_high);
    }
    frame->y = xb_ruler_make(dots->y.scale, range, false, frame->bottom, TOP);
    frame->left = xb_ruler_left_room(&frame->y);
    double names = xb_levels_room(dots->y.scale, dots->levels, frame->level_count);
    frame->bars = WIDTH - fmax(names, 32.0) - HISTOGRAM;
    frame->right = frame->bars - GAP;
    for (size_t i = 0; i < dots->count; i++)
        if (is_shown(frame, dots->dots[i].place, dots->dots[i].value))
            count_in_bin(frame, ORDINARY, dots->dots[i].value);
    for (size_t i = 0; i < dots->out_count; i++)
        if (is_shown(frame, dots->outs[i].place, dots->outs[i].value))
            count_in_bin(frame, kind_of(&dots->outs[i]), dots->outs[i].value);
    for (size_t i = 0; i < BINS; i++) {
        size_t sum = frame->bins[ORDINARY][i] + frame->bins[BAD][i] + frame->bins[OTHER][i];
        frame->fullest = sum > frame->fullest ? sum : frame->fullest;
    }
}

/* ---- shades: very many points as cells, by how many points are in each ---- */

#define SHADE_CELL 4.0 /* pixels */
#define SHADE_ROWS 66
#define SHADE_COLUMNS 180

struct shades {
    double left;
    unsigned counts[SHADE_COLUMNS][SHADE_ROWS];
};

static size_t cell_at(double distance, size_t count)
{
    double cell = fmin(fmax(distance / SHADE_CELL, 0.0), (double)(count - 1));
    return (size_t)cell;
}

static void begin_shades(struct shades *shades, const struct frame *frame)
{
    memset(shades, 0, sizeof *shades);
    /* Whole pixels are shorter to write, and cells have sharp edges. */
    shades->left = round(frame->left);
}

/* A point outside counts in the nearest cell. */
static void add_shade(struct shades *shades, const struct frame *frame, size_t place, double value)
{
    if (!is_shown(frame, place, value))
        return;
    double x = place_of(frame, place) - shades->left;
    double y = xb_ruler_place(&frame->y, value) - TOP;
    shades->counts[cell_at(x, SHADE_COLUMNS)][cell_at(y, SHADE_ROWS)]++;
}

/* Draws them in the colour of the SVG group around them. Cells of one shade above each other are
 * drawn as one line. */
static void draw_shades(FILE *stream, const struct shades *shades)
{
    static const char *const shade_looks[] = {"cells cells-1", "cells cells-2", "cells cells-3"};
    static const unsigned least[] = {1, 4, 16, UINT_MAX}; /* points of each, and of none */
    for (size_t shade = 0; shade < 3; shade++) {
        xb_svg_path_begin(stream, shade_looks[shade]);
        for (size_t column = 0; column < SHADE_COLUMNS; column++) {
            const unsigned *counts = shades->counts[column];
            double x = shades->left + SHADE_CELL * (double)column + SHADE_CELL / 2.0;
            for (size_t row = 0, end = 0; row < SHADE_ROWS; row = ++end) {
                while (end < SHADE_ROWS && counts[end] >= least[shade] &&
                       counts[end] < least[shade + 1])
                    end++;
                if (end > row)
                    xb_svg_path_add(stream, "M# #v#",
                                    (double[]){x, TOP + SHADE_CELL * (double)row,
                                               SHADE_CELL * (double)(end - row)});
            }
        }
        xb_svg_path_end(stream);
    }
}

/* Where they are few, a small pale dot is lost; where they are many, shades keep the picture small.
 */
static void draw_ordinary(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    bool is_few = dots->count <= DOTS_FEW;
    bool is_shaded = dots->count > DOTS_MOST;
    struct shades shades;
    xb_svg_group_begin(stream, looks[ORDINARY], NULL);
    begin_shades(&shades, frame);
    if (!is_few && !is_shaded)
        xb_svg_path_begin(stream, "dots");
    for (size_t i = 0; i < dots->count; i++) {
        const struct xb_dot *dot = &dots->dots[i];
        double x = place_of(frame, dot->place);
        double y = xb_ruler_place(&frame->y, dot->value);
        if (is_shaded)
            add_shade(&shades, frame, dot->place, dot->value);
        else if (is_shown(frame, dot->place, dot->value) && is_few)
            xb_svg_circle(stream, "marker", x, y, DOT, NULL);
        else if (is_shown(frame, dot->place, dot->value))
            xb_svg_path_add(stream, "M# #h0", (double[]){x, y});
    }
    if (is_shaded)
        draw_shades(stream, &shades);
    else if (!is_few)
        xb_svg_path_end(stream);
    xb_svg_group_end(stream);
}

/* ---- what stands out ---- */

/* The markers differ in shape, so that they need no colour. */
static void draw_marker(FILE *stream, enum kind kind, double x, double y, const char *tip)
{
    xb_svg_marker(stream, kind == BAD ? 1 : 4, x, y, tip);
}

/* The worst is drawn last, so that it lies above the others. */
static void draw_outs(FILE *stream, struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    struct shades shades;
    /* Those that are too many to have a marker. */
    for (int kind = BAD; kind < KINDS && frame->out_count < dots->out_count; kind++) {
        begin_shades(&shades, frame);
        for (size_t i = frame->out_count; i < dots->out_count; i++)
            if ((int)kind_of(&dots->outs[i]) == kind)
                add_shade(&shades, frame, dots->outs[i].place, dots->outs[i].value);
        xb_svg_group_begin(stream, looks[kind], NULL);
        draw_shades(stream, &shades);
        xb_svg_group_end(stream);
    }
    for (size_t i = frame->out_count; i-- > 0;) {
        const struct xb_dot_out *out = &dots->outs[i];
        int side = side_of(frame, out->value);
        double x = place_of(frame, out->place);
        double y = xb_ruler_place(&frame->y, out->value);
        double back = y + 9.0 * side;
        /* One that is not shown has its point where no name can stand. */
        frame->captions[i] = (struct xb_caption){.x = -WIDTH};
        if (!is_shown(frame, out->place, out->value))
            continue;
        frame->captions[i] = (struct xb_caption){.x = x, .y = y + 5.0 * side, .name = out->name};
        xb_svg_group_begin(stream, looks[kind_of(out)], side != 0 ? out->tip : NULL);
        if (side != 0) /* an arrow */
            xb_svg_path(stream, "marker", "M# #L# #L# #z",
                        (double[]){x - 5.0, back, x + 5.0, back, x, y});
        else
            draw_marker(stream, kind_of(out), x, y, out->tip);
        xb_svg_group_end(stream);
    }
    xb_captions_place(frame->captions, frame->out_count, frame->left + 2.0, frame->right, TOP - 2.0,
                      frame->bottom - 2.0);
    xb_captions_draw(stream, frame->captions, frame->out_count);
}

/* ---- axes ---- */

static size_t place_at(const struct frame *frame, size_t index, size_t count)
{
    return count < 2 ? 0 : index * (frame->dots->place_count - 1) / (count - 1);
}

static double name_width(const struct frame *frame, size_t place)
{
    return fmin(xb_svg_text_width(frame->dots->places[place]), PLACE_NAMES);
}

/* Where the middle of a name stands: those at the ends do not stand out. */
static double name_place(const struct frame *frame, size_t place)
{
    double half = name_width(frame, place) / 2.0;
    return fmin(fmax(place_of(frame, place), half + 4.0), frame->right - half);
}

static bool names_touch(const struct frame *frame, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        size_t one = place_at(frame, i - 1, count), other = place_at(frame, i, count);
        double needed = (name_width(frame, one) + name_width(frame, other)) / 2.0 + 14.0;
        if (name_place(frame, other) - name_place(frame, one) < needed)
            return true;
    }
    return false;
}

/* As many names as there is room for, the first and the last among them. */
static void draw_places(FILE *stream, const struct frame *frame)
{
    size_t count = frame->dots->place_count;
    count = count < PLACE_NAMES_MOST ? count : PLACE_NAMES_MOST;
    while (count > 1 && names_touch(frame, count))
        count--;
    for (size_t i = 0; i < count; i++) {
        size_t place = place_at(frame, i, count);
        double x = place_of(frame, place);
        xb_svg_line(stream, "axis", x, frame->bottom, x, frame->bottom + 4.0);
        xb_svg_text_within(stream, "quiet", name_place(frame, place), frame->bottom + 18.0,
                           XB_ANCHOR_MIDDLE, PLACE_NAMES, frame->dots->places[place]);
    }
    xb_svg_line(stream, "axis", frame->left, frame->bottom, frame->right, frame->bottom);
    xb_svg_text_within(stream, "", (frame->left + frame->right) / 2.0, frame->bottom + 38.0,
                       XB_ANCHOR_MIDDLE, frame->right - frame->left, frame->dots->places_are);
}

static void draw_histogram(FILE *stream, const struct frame *frame)
{
    char text[32];
    double end = frame->bars + HISTOGRAM, scale = HISTOGRAM / (double)frame->fullest;
    double height = HEIGHT / BINS;
    /* Bars of what stands out begin where those before them end; even one that is counted is seen.
     */
    for (int kind = 0; kind < KINDS; kind++) {
        xb_svg_group_begin(stream, looks[kind], NULL);
        xb_svg_path_begin(stream, "span");
        for (size_t row = 0; row < BINS; row++) {
            size_t before = 0;
            for (int k = ORDINARY; k < kind; k++)
                before += frame->bins[k][row];
            if (frame->bins[kind][row] == 0)
                continue;
            double x = frame->bars + (before > 0 ? fmax(scale * (double)before, 2.0) : 0.0);
            double right = x + fmax(scale * (double)frame->bins[kind][row], 2.0);
            double top = TOP + height * (double)row;
            xb_svg_path_add(stream, "M# #L# #v#L# #z",
                            (double[]){x, top, right, top, height - 0.6, x, top + height - 0.6});
        }
        xb_svg_path_end(stream);
        xb_svg_group_end(stream);
    }
    xb_svg_line(stream, "axis", frame->bars, TOP, frame->bars, frame->bottom);
    xb_svg_line(stream, "axis", frame->bars, frame->bottom, end, frame->bottom);
    snprintf(text, sizeof text, "%zu", frame->fullest);
    xb_svg_text(stream, "quiet", frame->bars, frame->bottom + 18.0, XB_ANCHOR_MIDDLE, "0");
    if (frame->fullest > 0)
        xb_svg_text(stream, "quiet", end, frame->bottom + 18.0, XB_ANCHOR_MIDDLE, text);
    xb_svg_text_within(stream, "", (frame->bars + end) / 2.0, frame->bottom + 38.0,
                       XB_ANCHOR_MIDDLE, HISTOGRAM + 40.0, frame->dots->counted);
}

/* ---- the legend, and the whole ---- */

/* Draws an item; `stream` NULL: only places it. */
static void draw_item(FILE *stream, struct xb_legend *legend, enum kind kind, bool is_band,
                      const char *name)
{
    if (!xb_legend_begin(stream, legend, is_band ? "series-3" : looks[kind], name))
        return;
    double x = legend->item_x;
    double y = legend->item_y;
    if (is_band)
        xb_svg_rectangle(stream, "band", x, y - 6.0, 24.0, 12.0, NULL);
    else if (kind == ORDINARY)
        xb_svg_circle(stream, "marker", x + 12.0, y, DOT, NULL);
    else
        draw_marker(stream, kind, x + 12.0, y, NULL);
    xb_svg_group_end(stream); /* its colour is not the name's */
    xb_svg_text_within(stream, "", x + XB_LEGEND_KEY, y + XB_TEXT_DROP, XB_ANCHOR_START,
                       legend->name_width + 1.0, name);
}

/* From `top` on; returns the middle of its last line. */
static double draw_legend(FILE *stream, const struct frame *frame, double top)
{
    struct xb_legend legend = XB_LEGEND_AT(WIDTH, top);
    const struct xb_dots *dots = frame->dots;
    const char *const names[KINDS] = {dots->dots_are, dots->bad_are, dots->others_are};
    char text[200];
    for (int kind = 0; kind < KINDS; kind++) {
        size_t count = kind == ORDINARY ? dots->count : 0;
        for (size_t i = 0; kind != ORDINARY && i < dots->out_count; i++)
            count += (int)kind_of(&dots->outs[i]) == kind;
        if (count == 0)
            continue;
        snprintf(text, sizeof text, "%.100s: %zu", names[kind], count);
        draw_item(stream, &legend, (enum kind)kind, false, text);
    }
    if (isfinite(dots->band_low))
        draw_item(stream, &legend, ORDINARY, true, dots->band_is);
    return legend.y;
}

/* Says what the picture does not show one by one, from line `y` on. Returns the line behind;
 * `stream` NULL: only that. */
static double draw_notes(FILE *stream, const struct frame *frame, double y)
{
    const struct xb_dots *dots = frame->dots;
    size_t beyond = 0;
    for (size_t i = 0; i < dots->out_count; i++)
        beyond += is_shown(frame, dots->outs[i].place, dots->outs[i].value) &&
                  side_of(frame, dots->outs[i].value) != 0;
    if (dots->count > DOTS_MOST) {
        xb_svg_note(stream, y, "Shades of a cell: 1, then 4, then 16 %.60s or more.",
                    dots->counted);
        y += XB_LINE_HEIGHT;
    }
    if (beyond > 0) {
        xb_svg_note(stream, y, "Arrows: %zu beyond the axis.", beyond);
        y += XB_LINE_HEIGHT;
    }
    if (frame->out_count < dots->out_count) {
        xb_svg_note(stream, y, "%zu more of those that stand out are drawn as cells.",
                    dots->out_count - frame->out_count);
        y += XB_LINE_HEIGHT;
    }
    return y;
}

void xb_dots_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_dots *dots = picture;
    struct frame frame;
    make_frame(&frame, dots);
    double first = frame.bottom + xb_ruler_bottom_room(dots->places_are) + XB_LINE_HEIGHT;
    double last = draw_legend(NULL, &frame, first) + XB_LINE_HEIGHT;
    xb_svg_begin(stream, &dots->picture, WIDTH, draw_notes(NULL, &frame, last), is_alone);
    xb_ruler_draw_left(stream, &frame.y, frame.left, frame.bars + HISTOGRAM, dots->y.label);
    if (xb_scale_shows(dots->y.scale, dots->band_low) &&
        xb_scale_shows(dots->y.scale, dots->band_high) && dots->band_low <= dots->band_high) {
        double top = xb_ruler_place(&frame.y, dots->band_high);
        double bottom = xb_ruler_place(&frame.y, dots->band_low);
        xb_svg_group_begin(stream, "series-3", NULL);
        xb_svg_rectangle(stream, "band", frame.left, top, frame.bars + HISTOGRAM - frame.left,
                         fmax(bottom - top, 1.0), NULL);
        xb_svg_group_end(stream);
    }
    if (dots->place_count > 0)
        draw_places(stream, &frame);
    draw_histogram(stream, &frame);
    draw_ordinary(stream, &frame);
    xb_levels_draw(stream, &frame.y, dots->levels, frame.level_count,
                   (struct xb_range){frame.left, frame.bars + HISTOGRAM}, WIDTH, TOP);
    draw_outs(stream, &frame);
    if (dots->count + dots->out_count == 0)
        xb_svg_text(stream, "quiet", (frame.left + frame.right) / 2.0, TOP + HEIGHT / 2.0,
                    XB_ANCHOR_MIDDLE, "no data");
    (void)draw_legend(stream, &frame, first);
    (void)draw_notes(stream, &frame, last + XB_TEXT_DROP);
    xb_svg_end(stream);
}
