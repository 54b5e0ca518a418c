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
static const size_t markers[KINDS] = {0, 1, 4};

struct frame {
    const struct xb_dots *dots;
    size_t out_count; /* drawn one by one */
    size_t level_count;
    double left, right, bars, bottom;
    struct xb_ruler y;
    size_t bins[KINDS][BINS]; /* from the top */
    size_t fullest;           /* of bins, all kinds together */
    struct xb_legend_item items[KINDS + 1];
    char names[KINDS][200];
    size_t item_count;
    char notes[3][128]; /* what the picture does not show one by one */
    size_t note_count;
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

static enum kind kind_of(const struct xb_dot_out *out)
{
    return out->is_bad ? BAD : OTHER;
}

static void count_value(struct frame *frame, enum kind kind, size_t place, double value)
{
    if (!is_shown(frame, place, value))
        return;
    double bin = (xb_ruler_place(&frame->y, value) - TOP) / HEIGHT * BINS;
    frame->bins[kind][(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
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
        count_value(frame, ORDINARY, dots->dots[i].place, dots->dots[i].value);
    for (size_t i = 0; i < dots->out_count; i++)
        count_value(frame, kind_of(&dots->outs[i]), dots->outs[i].place, dots->outs[i].value);
    for (size_t i = 0; i < BINS; i++) {
        size_t sum = frame->bins[ORDINARY][i] + frame->bins[BAD][i] + frame->bins[OTHER][i];
        frame->fullest = sum > frame->fullest ? sum : frame->fullest;
    }
}

/* Makes the legend and the notes. The markers differ in shape, so that they need no colour. */
static void write_words(struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    const char *const names[KINDS] = {dots->dots_are, dots->bad_are, dots->others_are};
    size_t counts[KINDS] = {dots->count, 0, 0};
    size_t beyond = 0;
    for (size_t i = 0; i < dots->out_count; i++) {
        const struct xb_dot_out *out = &dots->outs[i];
        counts[kind_of(out)]++;
        beyond += is_shown(frame, out->place, out->value) && side_of(frame, out->value) != 0;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (counts[kind] == 0)
            continue;
        snprintf(frame->names[kind], sizeof frame->names[kind], "%.100s: %zu", names[kind],
                 counts[kind]);
        frame->items[frame->item_count++] =
            (struct xb_legend_item){.look = looks[kind],
                                    .name = frame->names[kind],
                                    .sample = kind == ORDINARY ? XB_SAMPLE_DOT : XB_SAMPLE_MARKER,
                                    .series = markers[kind],
                                    .size = DOT};
    }
    if (isfinite(dots->band_low))
        frame->items[frame->item_count++] = (struct xb_legend_item){.look = "series-3",
                                                                    .name = dots->band_is,
                                                                    .sample = XB_SAMPLE_BOX,
                                                                    .size = 24.0,
                                                                    .box = "band"};
    if (dots->count > DOTS_MOST)
        snprintf(frame->notes[frame->note_count++], sizeof frame->notes[0],
                 "Shades of a cell: 1, then 4, then 16 %.60s or more.", dots->counted);
    if (beyond > 0)
        snprintf(frame->notes[frame->note_count++], sizeof frame->notes[0],
                 "Arrows: %zu beyond the axis.", beyond);
    if (frame->out_count < dots->out_count)
        snprintf(frame->notes[frame->note_count++], sizeof frame->notes[0],
                 "%zu more of those that stand out are drawn as cells.",
                 dots->out_count - frame->out_count);
}

/* ---- values that are drawn together, or one by one ---- */

#define SHADE_CELL 4.0 /* pixels */
#define SHADE_ROWS 66
#define SHADE_COLUMNS 180

static size_t cell_at(double distance, size_t count)
{
    return (size_t)fmin(fmax(distance / SHADE_CELL, 0.0), (double)(count - 1));
}

/* Draws very many ordinary values, or those that are too many to have a marker, as cells, by how
 * many are in each. Cells of one shade above each other are drawn as one line. */
static void draw_shades(FILE *stream, const struct frame *frame, enum kind kind)
{
    static const char *const shade_looks[] = {"cells cells-1", "cells cells-2", "cells cells-3"};
    static const unsigned least[] = {1, 4, 16, UINT_MAX}; /* values of each, and of none */
    const struct xb_dots *dots = frame->dots;
    unsigned counts[SHADE_COLUMNS][SHADE_ROWS] = {{0}};
    /* Whole pixels are shorter to write, and cells have sharp edges. */
    double left = round(frame->left);
    size_t count = kind == ORDINARY ? dots->count : dots->out_count;
    for (size_t i = kind == ORDINARY ? 0 : frame->out_count; i < count; i++) {
        size_t place = kind == ORDINARY ? dots->dots[i].place : dots->outs[i].place;
        double value = kind == ORDINARY ? dots->dots[i].value : dots->outs[i].value;
        if (is_shown(frame, place, value) && (kind == ORDINARY || kind_of(&dots->outs[i]) == kind))
            counts[cell_at(place_of(frame, place) - left, SHADE_COLUMNS)]
                  [cell_at(xb_ruler_place(&frame->y, value) - TOP, SHADE_ROWS)]++;
    }
    xb_svg_group_begin(stream, looks[kind], NULL);
    for (size_t shade = 0; shade < 3; shade++) {
        xb_svg_path_begin(stream, shade_looks[shade]);
        for (size_t column = 0; column < SHADE_COLUMNS; column++)
            for (size_t row = 0, end = 0; row < SHADE_ROWS; row = ++end) {
                while (end < SHADE_ROWS && counts[column][end] >= least[shade] &&
                       counts[column][end] < least[shade + 1])
                    end++;
                if (end > row)
                    xb_svg_path_add(stream, "M# #v#",
                                    (double[]){left + SHADE_CELL * ((double)column + 0.5),
                                               TOP + SHADE_CELL * (double)row,
                                               SHADE_CELL * (double)(end - row)});
            }
        xb_svg_path_end(stream);
    }
    xb_svg_group_end(stream);
}

/* Where they are few, a small pale dot is lost; where they are many, shades keep the picture small.
 */
static void draw_ordinary(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    bool is_few = dots->count <= DOTS_FEW;
    if (dots->count > DOTS_MOST) {
        draw_shades(stream, frame, ORDINARY);
        return;
    }
    xb_svg_group_begin(stream, looks[ORDINARY], NULL);
    if (!is_few)
        xb_svg_path_begin(stream, "dots");
    for (size_t i = 0; i < dots->count; i++) {
        const struct xb_dot *dot = &dots->dots[i];
        double x = place_of(frame, dot->place);
        double y = xb_ruler_place(&frame->y, dot->value);
        if (!is_shown(frame, dot->place, dot->value))
            continue;
        if (is_few)
            xb_svg_circle(stream, "marker", x, y, DOT, NULL);
        else
            xb_svg_path_add(stream, "M# #h0", (double[]){x, y});
    }
    if (!is_few)
        xb_svg_path_end(stream);
    xb_svg_group_end(stream);
}

/* Draws what stands out. The worst is drawn last, so that it lies above the others. */
static void draw_outs(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    struct xb_caption captions[XB_DOTS_OUT];
    for (int kind = BAD; kind < KINDS && frame->out_count < dots->out_count; kind++)
        draw_shades(stream, frame, (enum kind)kind);
    for (size_t i = frame->out_count; i-- > 0;) {
        const struct xb_dot_out *out = &dots->outs[i];
        int side = side_of(frame, out->value);
        double x = place_of(frame, out->place);
        double y = xb_ruler_place(&frame->y, out->value);
        double back = y + 9.0 * side;
        /* Captions of hidden points go off the page, so that they are not placed. */
        captions[i] = (struct xb_caption){.x = -WIDTH};
        if (!is_shown(frame, out->place, out->value))
            continue;
        captions[i] = (struct xb_caption){.x = x, .y = y + 5.0 * side, .name = out->name};
        xb_svg_group_begin(stream, looks[kind_of(out)], side != 0 ? out->tip : NULL);
        if (side != 0) /* an arrow */
            xb_svg_path(stream, "marker", "M# #L# #L# #z",
                        (double[]){x - 5.0, back, x + 5.0, back, x, y});
        else
            xb_svg_marker(stream, markers[kind_of(out)], x, y, out->tip);
        xb_svg_group_end(stream);
    }
    xb_captions_place(captions, frame->out_count, frame->left + 2.0, frame->right, TOP - 2.0,
                      frame->bottom - 2.0);
    xb_captions_draw(stream, captions, frame->out_count);
}

/* Draws as many names as there is room for, the first and the last among them. Those at the ends do
 * not stand out. */
static void draw_places(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    size_t places[PLACE_NAMES_MOST];
    double widths[PLACE_NAMES_MOST], middles[PLACE_NAMES_MOST];
    size_t count = xb_at_most(dots->place_count, PLACE_NAMES_MOST);
    for (bool touch = count > 0; touch; count -= touch) {
        touch = false;
        for (size_t i = 0; i < count; i++) {
            places[i] = count < 2 ? 0 : i * (dots->place_count - 1) / (count - 1);
            widths[i] = fmin(xb_svg_text_width(dots->places[places[i]]), PLACE_NAMES);
            middles[i] = fmin(fmax(place_of(frame, places[i]), widths[i] / 2.0 + 4.0),
                              frame->right - widths[i] / 2.0);
            touch = touch || (i > 0 && middles[i] - middles[i - 1] <
                                           (widths[i - 1] + widths[i]) / 2.0 + 14.0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        double x = place_of(frame, places[i]);
        xb_svg_line(stream, "axis", x, frame->bottom, x, frame->bottom + 4.0);
        xb_svg_text_within(stream, "quiet", middles[i], frame->bottom + 18.0, XB_ANCHOR_MIDDLE,
                           PLACE_NAMES, dots->places[places[i]]);
    }
    xb_svg_line(stream, "axis", frame->left, frame->bottom, frame->right, frame->bottom);
    xb_svg_text_within(stream, "", (frame->left + frame->right) / 2.0, frame->bottom + 38.0,
                       XB_ANCHOR_MIDDLE, frame->right - frame->left, dots->places_are);
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

void xb_dots_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_dots *dots = picture;
    struct frame frame;
    make_frame(&frame, dots);
    write_words(&frame);
    double first = frame.bottom + xb_ruler_bottom_room(dots->places_are) + XB_LINE_HEIGHT;
    double last =
        xb_legend_draw(NULL, frame.items, frame.item_count, WIDTH, first) + XB_LINE_HEIGHT;
    xb_svg_begin(stream, &dots->picture, WIDTH, last + XB_LINE_HEIGHT * (double)frame.note_count,
                 is_alone);
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
    (void)xb_legend_draw(stream, frame.items, frame.item_count, WIDTH, first);
    for (size_t i = 0; i < frame.note_count; i++)
        xb_svg_note(stream, last + XB_TEXT_DROP + XB_LINE_HEIGHT * (double)i, "%s", frame.notes[i]);
    xb_svg_end(stream);
}
