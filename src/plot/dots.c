/* SPDX-License-Identifier: Apache-2.0 */
#include "dots.h"

#include "captions.h"
#include "layout.h"
#include "ruler.h"
#include "shades.h"

#include <math.h>
#include <string.h>

#define WIDTH 720.0
#define TOP 34.0
#define HEIGHT 260.0
#define HISTOGRAM 84.0 /* the longest bar */
#define GAP 14.0       /* before it */
#define LEVEL_NAMES 150.0
#define SIDE 12.0 /* between the outermost places and the ends of their axis */
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

static size_t level_count(const struct xb_dots *dots)
{
    return dots->level_count < XB_LEVELS_MOST ? dots->level_count : XB_LEVELS_MOST;
}

static double right_room(const struct xb_dots *dots)
{
    double widest = 20.0;
    for (size_t i = 0; i < level_count(dots); i++)
        widest = fmax(widest, xb_svg_text_width(dots->levels[i].name));
    return fmin(widest, LEVEL_NAMES) + 12.0;
}

static void count_in_bin(struct frame *frame, enum kind kind, double value)
{
    double bin = (xb_ruler_place(&frame->y, value) - TOP) / HEIGHT * BINS;
    frame->bins[kind][(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
}

static enum kind kind_of(const struct xb_dot_out *out)
{
    return out->is_bad ? BAD : OTHER;
}

static void count_all(struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    for (size_t i = 0; i < dots->count; i++)
        if (is_shown(frame, dots->dots[i].place, dots->dots[i].value))
            count_in_bin(frame, ORDINARY, dots->dots[i].value);
    for (size_t i = 0; i < dots->out_count; i++)
        if (is_shown(frame, dots->outs[i].place, dots->outs[i].value))
            count_in_bin(frame, kind_of(&dots->outs[i]), dots->outs[i].value);
    for (size_t i = 0; i < BINS; i++) {
        size_t sum = 0;
        for (int kind = 0; kind < KINDS; kind++)
            sum += frame->bins[kind][i];
        frame->fullest = sum > frame->fullest ? sum : frame->fullest;
    }
}

static void make_frame(struct frame *frame, const struct xb_dots *dots)
{
    struct xb_range range = XB_RANGE_NONE;
    memset(frame, 0, sizeof *frame);
    frame->dots = dots;
    frame->out_count = dots->out_count < XB_DOTS_OUT ? dots->out_count : XB_DOTS_OUT;
    frame->bottom = TOP + HEIGHT;
    if (dots->y_low <= dots->y_high) {
        xb_range_add(&range, dots->y.scale, dots->y_low);
        xb_range_add(&range, dots->y.scale, dots->y_high);
    }
    frame->y = xb_ruler_make(dots->y.scale, range, false, frame->bottom, TOP);
    frame->left = xb_ruler_left_room(&frame->y);
    frame->bars = WIDTH - right_room(dots) - HISTOGRAM;
    frame->right = frame->bars - GAP;
    count_all(frame);
}

/* ---- what is ordinary ---- */

static void draw_band(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    if (!xb_scale_shows(dots->y.scale, dots->band_low) ||
        !xb_scale_shows(dots->y.scale, dots->band_high) || dots->band_low > dots->band_high)
        return;
    double top = xb_ruler_place(&frame->y, dots->band_high);
    double bottom = xb_ruler_place(&frame->y, dots->band_low);
    xb_svg_group_begin(stream, "series-3", NULL);
    xb_svg_rectangle(stream, "band", frame->left, top, frame->bars + HISTOGRAM - frame->left,
                     fmax(bottom - top, 1.0), NULL);
    xb_svg_group_end(stream);
}

/* Where they are few, a small pale dot is lost. */
static void draw_few(FILE *stream, const struct frame *frame)
{
    for (size_t i = 0; i < frame->dots->count; i++) {
        const struct xb_dot *dot = &frame->dots->dots[i];
        if (is_shown(frame, dot->place, dot->value))
            xb_svg_circle(stream, "marker", place_of(frame, dot->place),
                          xb_ruler_place(&frame->y, dot->value), DOT, NULL);
    }
}

static void draw_dots(FILE *stream, const struct frame *frame)
{
    xb_svg_path_begin(stream, "dots");
    for (size_t i = 0; i < frame->dots->count; i++) {
        const struct xb_dot *dot = &frame->dots->dots[i];
        if (is_shown(frame, dot->place, dot->value))
            xb_svg_path_dot(stream, place_of(frame, dot->place),
                            xb_ruler_place(&frame->y, dot->value));
    }
    xb_svg_path_end(stream);
}

static void add_shade(struct xb_shades *shades, const struct frame *frame, size_t place,
                      double value)
{
    if (is_shown(frame, place, value))
        xb_shades_add(shades, place_of(frame, place), xb_ruler_place(&frame->y, value));
}

static void draw_ordinary(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    struct xb_shades shades;
    xb_svg_group_begin(stream, looks[ORDINARY], NULL);
    if (dots->count <= DOTS_FEW) {
        draw_few(stream, frame);
    } else if (dots->count <= DOTS_MOST) {
        draw_dots(stream, frame);
    } else {
        xb_shades_begin(&shades, frame->left, TOP);
        for (size_t i = 0; i < dots->count; i++)
            add_shade(&shades, frame, dots->dots[i].place, dots->dots[i].value);
        xb_shades_draw(stream, &shades);
    }
    xb_svg_group_end(stream);
}

/* ---- what stands out ---- */

/* Those that are too many to have a marker. */
static void draw_further(FILE *stream, const struct frame *frame, enum kind kind)
{
    struct xb_shades shades;
    xb_shades_begin(&shades, frame->left, TOP);
    for (size_t i = frame->out_count; i < frame->dots->out_count; i++) {
        const struct xb_dot_out *out = &frame->dots->outs[i];
        if (kind_of(out) == kind)
            add_shade(&shades, frame, out->place, out->value);
    }
    xb_svg_group_begin(stream, looks[kind], NULL);
    xb_shades_draw(stream, &shades);
    xb_svg_group_end(stream);
}

/* The markers differ in shape, so that they need no colour. */
static void draw_marker(FILE *stream, enum kind kind, double x, double y, const char *tip)
{
    xb_svg_marker(stream, kind == BAD ? 1 : 4, x, y, tip);
}

static void draw_arrow(FILE *stream, int side, double x, double y)
{
    double along = side > 0 ? 9.0 : -9.0;
    xb_svg_path_begin(stream, "marker");
    xb_svg_path_move(stream, x - 5.0, y + along);
    xb_svg_path_line(stream, x + 5.0, y + along);
    xb_svg_path_line(stream, x, y);
    xb_svg_path_close(stream);
    xb_svg_path_end(stream);
}

static void draw_out(FILE *stream, struct frame *frame, size_t index)
{
    const struct xb_dot_out *out = &frame->dots->outs[index];
    struct xb_caption *caption = &frame->captions[index];
    int side = side_of(frame, out->value);
    double x = place_of(frame, out->place);
    double y = xb_ruler_place(&frame->y, out->value);
    *caption = (struct xb_caption){.x = x, .y = y + 5.0 * side, .name = out->name};
    xb_svg_group_begin(stream, looks[kind_of(out)], side != 0 ? out->tip : NULL);
    if (side != 0)
        draw_arrow(stream, side, x, y);
    else
        draw_marker(stream, kind_of(out), x, y, out->tip);
    xb_svg_group_end(stream);
}

/* The worst is drawn last, so that it lies above the others. */
static void draw_outs(FILE *stream, struct frame *frame)
{
    if (frame->out_count < frame->dots->out_count)
        for (int kind = BAD; kind < KINDS; kind++)
            draw_further(stream, frame, (enum kind)kind);
    /* One that is not shown has its point where no name can stand. */
    for (size_t i = 0; i < frame->out_count; i++)
        frame->captions[i] = (struct xb_caption){.x = -WIDTH};
    for (size_t i = frame->out_count; i-- > 0;)
        if (is_shown(frame, frame->dots->outs[i].place, frame->dots->outs[i].value))
            draw_out(stream, frame, i);
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
        size_t one = place_at(frame, i - 1, count);
        size_t other = place_at(frame, i, count);
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

static void draw_levels(FILE *stream, const struct frame *frame)
{
    const struct xb_dots *dots = frame->dots;
    double places[XB_LEVELS_MOST];
    const char *names[XB_LEVELS_MOST];
    double end = frame->bars + HISTOGRAM;
    size_t count = 0;
    for (size_t i = 0; i < level_count(dots); i++) {
        double at = dots->levels[i].at;
        if (!xb_scale_shows(dots->y.scale, at) || side_of(frame, at) != 0)
            continue;
        places[count] = xb_ruler_place(&frame->y, at);
        xb_svg_line(stream, "level", frame->left, places[count], end, places[count]);
        names[count++] = dots->levels[i].name;
    }
    xb_spread(places, count, XB_LINE_HEIGHT - 2.0, TOP, frame->bottom);
    for (size_t i = 0; i < count; i++)
        xb_svg_text_within(stream, "quiet", end + 6.0, places[i] + XB_TEXT_DROP, XB_ANCHOR_START,
                           WIDTH - end - 6.0, names[i]);
}

/* ---- the histogram ---- */

/* Bars of what stands out begin where those before them end; even one that is counted is seen. */
static void draw_bars(FILE *stream, const struct frame *frame, enum kind kind)
{
    double height = HEIGHT / BINS;
    xb_svg_group_begin(stream, looks[kind], NULL);
    xb_svg_path_begin(stream, "span");
    for (size_t row = 0; row < BINS; row++) {
        size_t before = 0;
        for (int k = ORDINARY; k < (int)kind; k++)
            before += frame->bins[k][row];
        if (frame->bins[kind][row] == 0)
            continue;
        double scale = HISTOGRAM / (double)frame->fullest;
        double x = frame->bars + (before > 0 ? fmax(scale * (double)before, 2.0) : 0.0);
        double end = x + fmax(scale * (double)frame->bins[kind][row], 2.0);
        double top = TOP + height * (double)row;
        xb_svg_path_move(stream, x, top);
        xb_svg_path_line(stream, end, top);
        xb_svg_path_down(stream, height - 0.6);
        xb_svg_path_line(stream, x, top + height - 0.6);
        xb_svg_path_close(stream);
    }
    xb_svg_path_end(stream);
    xb_svg_group_end(stream);
}

static void draw_histogram(FILE *stream, const struct frame *frame)
{
    char text[32];
    double end = frame->bars + HISTOGRAM;
    for (int kind = 0; kind < KINDS; kind++)
        draw_bars(stream, frame, (enum kind)kind);
    xb_svg_line(stream, "axis", frame->bars, TOP, frame->bars, frame->bottom);
    xb_svg_line(stream, "axis", frame->bars, frame->bottom, end, frame->bottom);
    snprintf(text, sizeof text, "%zu", frame->fullest);
    xb_svg_text(stream, "quiet", frame->bars, frame->bottom + 18.0, XB_ANCHOR_MIDDLE, "0");
    if (frame->fullest > 0)
        xb_svg_text(stream, "quiet", end, frame->bottom + 18.0, XB_ANCHOR_MIDDLE, text);
    xb_svg_text_within(stream, "", (frame->bars + end) / 2.0, frame->bottom + 38.0,
                       XB_ANCHOR_MIDDLE, HISTOGRAM + 40.0, frame->dots->counted);
}

/* ---- the legend ---- */

/* Places an item; `stream` NULL: only that. Returns where its sample begins. */
static void draw_item(FILE *stream, struct xb_legend *legend, enum kind kind, bool is_band,
                      const char *name)
{
    double x;
    double y;
    double width = xb_legend_place(legend, name, &x, &y);
    if (stream == NULL)
        return;
    xb_svg_group_begin(stream, is_band ? "series-3" : looks[kind], NULL);
    if (is_band)
        xb_svg_rectangle(stream, "band", x, y - 6.0, 24.0, 12.0, NULL);
    else if (kind == ORDINARY)
        xb_svg_circle(stream, "marker", x + 12.0, y, DOT, NULL);
    else
        draw_marker(stream, kind, x + 12.0, y, NULL);
    xb_svg_group_end(stream);
    xb_svg_text_within(stream, "", x + XB_LEGEND_KEY, y + XB_TEXT_DROP, XB_ANCHOR_START,
                       width + 1.0, name);
}

static size_t count_of(const struct xb_dots *dots, enum kind kind)
{
    size_t count = kind == ORDINARY ? dots->count : 0;
    for (size_t i = 0; kind != ORDINARY && i < dots->out_count; i++)
        count += kind_of(&dots->outs[i]) == kind;
    return count;
}

static void draw_legend(FILE *stream, const struct frame *frame, struct xb_legend *legend)
{
    const struct xb_dots *dots = frame->dots;
    const char *const names[KINDS] = {dots->dots_are, dots->bad_are, dots->others_are};
    char text[200];
    for (int kind = 0; kind < KINDS; kind++) {
        size_t count = count_of(dots, (enum kind)kind);
        if (count == 0)
            continue;
        snprintf(text, sizeof text, "%.100s: %zu", names[kind], count);
        draw_item(stream, legend, (enum kind)kind, false, text);
    }
    if (isfinite(dots->band_low))
        draw_item(stream, legend, ORDINARY, true, dots->band_is);
}

/* What the picture does not show one by one. */
static size_t notes_of(const struct frame *frame, char notes[3][200])
{
    const struct xb_dots *dots = frame->dots;
    size_t count = 0;
    size_t beyond = 0;
    for (size_t i = 0; i < dots->out_count; i++)
        beyond += is_shown(frame, dots->outs[i].place, dots->outs[i].value) &&
                  side_of(frame, dots->outs[i].value) != 0;
    if (dots->count > DOTS_MOST)
        snprintf(notes[count++], sizeof notes[0],
                 "Shades of a cell: 1, then 4, then 16 %.60s or more.", dots->counted);
    if (beyond > 0)
        snprintf(notes[count++], sizeof notes[0], "Arrows: %zu beyond the axis.", beyond);
    if (frame->out_count < dots->out_count)
        snprintf(notes[count++], sizeof notes[0],
                 "%zu more of those that stand out are drawn as cells.",
                 dots->out_count - frame->out_count);
    return count;
}

void xb_dots_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_dots *dots = picture;
    struct frame frame;
    char notes[3][200];
    make_frame(&frame, dots);
    double first = frame.bottom + xb_ruler_bottom_room(dots->places_are) + XB_LINE_HEIGHT;
    struct xb_legend legend = {8.0, WIDTH - 8.0, 8.0, first};
    size_t note_count = notes_of(&frame, notes);
    draw_legend(NULL, &frame, &legend);
    double last = legend.y + XB_LINE_HEIGHT;

    xb_svg_begin(stream, &dots->picture, WIDTH, last + XB_LINE_HEIGHT * (double)note_count,
                 is_alone);
    xb_ruler_draw_left(stream, &frame.y, frame.left, frame.bars + HISTOGRAM, dots->y.label);
    draw_band(stream, &frame);
    if (dots->place_count > 0)
        draw_places(stream, &frame);
    draw_histogram(stream, &frame);
    draw_ordinary(stream, &frame);
    draw_levels(stream, &frame);
    draw_outs(stream, &frame);
    if (dots->count + dots->out_count == 0)
        xb_svg_text(stream, "quiet", (frame.left + frame.right) / 2.0, TOP + HEIGHT / 2.0,
                    XB_ANCHOR_MIDDLE, "no data");
    legend = (struct xb_legend){8.0, WIDTH - 8.0, 8.0, first};
    draw_legend(stream, &frame, &legend);
    for (size_t i = 0; i < note_count; i++)
        xb_svg_text(stream, "quiet", 8.0, last + XB_LINE_HEIGHT * (double)i + XB_TEXT_DROP,
                    XB_ANCHOR_START, notes[i]);
    xb_svg_end(stream);
}
