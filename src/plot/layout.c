/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* text.h */
#include "layout.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- rulers ---- */

#define BETWEEN_TEXTS 14.0
#define BETWEEN_LINES 38.0 /* of a ruler that stands */

bool xb_range_is_empty(struct xb_range range)
{
    return range.low > range.high;
}

void xb_range_add(struct xb_range *range, enum xb_scale scale, double value)
{
    if (!xb_scale_shows(scale, value))
        return;
    bool is_first = xb_range_is_empty(*range);
    range->low = is_first ? value : fmin(range->low, value);
    range->high = is_first ? value : fmax(range->high, value);
}

void xb_range_span(struct xb_range *range, enum xb_scale scale, double low, double high)
{
    if (!xb_scale_spans(scale, low, high))
        return;
    xb_range_add(range, scale, low);
    xb_range_add(range, scale, high);
}

struct xb_ruler xb_ruler_make(enum xb_scale scale, struct xb_range range, bool from_zero,
                              double from, double to)
{
    const double margin = 0.04;
    struct xb_ruler ruler = {scale, range.low, range.high, from, to};
    if (xb_range_is_empty(range)) {
        ruler.low = scale == XB_SCALE_SIZE ? 1.0 : 0.0;
        ruler.high = scale == XB_SCALE_DATE ? 86400.0 : 10.0;
        return ruler;
    }
    /* An axis of one value reaches an octave, an hour, or a tenth of it to both sides. */
    if (scale == XB_SCALE_SIZE) {
        double octave = ruler.high / ruler.low < 1.0 + 1e-9 ? 2.0 : 1.0;
        double factor = octave * pow(octave * octave * ruler.high / ruler.low, margin);
        ruler.low /= factor;
        ruler.high *= factor;
        return ruler;
    }
    bool at_zero = from_zero && scale == XB_SCALE_LINEAR && range.low >= 0.0;
    if (at_zero)
        ruler.low = 0.0;
    double middle = ruler.low / 2.0 + ruler.high / 2.0;
    double least = scale == XB_SCALE_DATE ? 3600.0
                   : middle == 0.0        ? 1.0
                                          : fmax(fabs(middle) * 0.1, 1e-90);
    if (ruler.high - ruler.low < least * 1e-6) {
        ruler.low = at_zero ? 0.0 : middle - least;
        ruler.high = middle + least;
    }
    double room = (ruler.high - ruler.low) * margin;
    ruler.low -= at_zero ? 0.0 : room;
    ruler.high += room;
    return ruler;
}

double xb_ruler_place(const struct xb_ruler *ruler, double value)
{
    double share = ruler->scale == XB_SCALE_SIZE
                       ? log(value / ruler->low) / log(ruler->high / ruler->low)
                       : (value - ruler->low) / (ruler->high - ruler->low);
    return ruler->from + fmin(fmax(share, 0.0), 1.0) * (ruler->to - ruler->from);
}

static double tick_width(const struct xb_ruler *ruler, double tick)
{
    return xb_svg_text_width(XB_TICK_TEXT(ruler->scale, tick));
}

/* The ticks of a ruler that lies, so few that their texts do not touch. Returns how many. */
static size_t ticks_across(const struct xb_ruler *ruler, double *ticks)
{
    size_t count = 0;
    for (size_t most = XB_TICKS_MOST; most > 0; most--) {
        count = xb_axis_ticks(ruler->scale, ruler->low, ruler->high, ticks, most);
        bool touch_each_other = false;
        for (size_t i = 1; i < count; i++) {
            double apart = xb_ruler_place(ruler, ticks[i]) - xb_ruler_place(ruler, ticks[i - 1]);
            double needed = (tick_width(ruler, ticks[i]) + tick_width(ruler, ticks[i - 1])) / 2.0;
            touch_each_other = touch_each_other || apart < needed + BETWEEN_TEXTS;
        }
        if (count > 0 && !touch_each_other)
            return count;
    }
    return count < 1 ? 0 : 1; /* one text touches no other */
}

/* And of one that stands. */
static size_t ticks_up(const struct xb_ruler *ruler, double *ticks)
{
    double room = fabs(ruler->to - ruler->from) / BETWEEN_LINES;
    size_t most = room < 2.0 ? 2 : room > XB_TICKS_MOST ? XB_TICKS_MOST : (size_t)room;
    return xb_axis_ticks(ruler->scale, ruler->low, ruler->high, ticks, most);
}

double xb_ruler_left_room(const struct xb_ruler *ruler)
{
    double ticks[XB_TICKS_MOST];
    double widest = 20.0;
    size_t count = ticks_up(ruler, ticks);
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, tick_width(ruler, ticks[i]));
    return widest + 16.0;
}

static void draw_rulers(FILE *stream, const struct xb_frame *frame)
{
    const struct xb_ruler *x = &frame->x, *y = &frame->y;
    const double bottom = frame->bottom;
    double ticks[XB_TICKS_MOST];
    size_t count = frame->y_label != NULL ? ticks_up(y, ticks) : 0;
    for (size_t i = 0; i < count; i++) {
        double at = xb_ruler_place(y, ticks[i]);
        xb_svg_line(stream, "grid", frame->left, at, frame->right, at);
        xb_svg_text(stream, "quiet", frame->left - 8.0, at + XB_TEXT_DROP, XB_ANCHOR_END,
                    XB_TICK_TEXT(y->scale, ticks[i]));
    }
    if (frame->y_label != NULL)
        xb_svg_text_within(stream, "quiet", 4.0, frame->top - 12.0, XB_ANCHOR_START,
                           frame->width - 8.0, frame->y_label);
    if (frame->x_label == NULL)
        return;
    count = ticks_across(x, ticks);
    for (size_t i = 0; i < count; i++) {
        double at = xb_ruler_place(x, ticks[i]), half = tick_width(x, ticks[i]) / 2.0;
        xb_svg_line(stream, "grid", at, frame->top, at, bottom);
        xb_svg_line(stream, "axis", at, bottom, at, bottom + 4.0);
        xb_svg_text(stream, "quiet", fmin(fmax(at, half), frame->width - half), bottom + 18.0,
                    XB_ANCHOR_MIDDLE, XB_TICK_TEXT(x->scale, ticks[i]));
    }
    xb_svg_line(stream, "axis", x->from, bottom, x->to, bottom);
    xb_svg_text_within(stream, "quiet", (x->from + x->to) / 2.0, bottom + 38.0, XB_ANCHOR_MIDDLE,
                       x->to - x->from, frame->x_label);
}

size_t xb_at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* Each pass moves every two neighbours that are too near apart by half of what lacks. */
void xb_spread(double *places, size_t count, double apart, double low, double high)
{
    for (int pass = 0; pass < 50; pass++) {
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++) {
                double lacks = apart - fabs(places[i] - places[k]);
                if (lacks <= 0.0)
                    continue;
                double move = places[i] < places[k] ? -lacks / 2.0 : lacks / 2.0;
                places[i] += move;
                places[k] -= move;
            }
        for (size_t i = 0; i < count; i++)
            places[i] = fmin(fmax(places[i], low), high);
    }
}

/* ---- frames ---- */

#define EDGE 8.0
#define SAMPLE 30.0 /* how wide the sample before a name is */
#define BETWEEN_ITEMS 18.0

void xb_frame_item(struct xb_frame *frame, const char *sample, const char *look, const char *name)
{
    assert(frame->item_count < XB_LEGEND_MOST);
    frame->items[frame->item_count++] = (struct xb_legend_item){sample, look, name};
}

/* Draws the legend in rows as wide as the picture, or only places it where `stream` is NULL.
 * Returns the middle of the last row. */
static double draw_legend(FILE *stream, const struct xb_frame *frame)
{
    double x = EDGE, top = frame->legend_top;
    for (size_t i = 0; i < frame->item_count; i++) {
        const struct xb_legend_item *item = &frame->items[i];
        double name = fmin(xb_svg_text_width(item->name), frame->width - 2.0 * EDGE - SAMPLE);
        if (x > EDGE && x + (SAMPLE + name) > frame->width - EDGE) {
            x = EDGE;
            top += XB_LINE_HEIGHT + 2.0;
        }
        double left = x, middle = x + 12.0;
        x += SAMPLE + name + BETWEEN_ITEMS;
        if (stream == NULL)
            continue;
        bool is_line = strcmp(item->sample, "line") == 0;
        xb_svg_group_begin(stream, item->look, NULL);
        if (is_line)
            xb_svg_path(stream, "line", "M# #L# #", (double[]){left, top, left + 24.0, top});
        if (is_line || strcmp(item->sample, "marker") == 0)
            xb_svg_marker(stream, item->look, middle, top, NULL);
        else if (strcmp(item->sample, "dot") == 0)
            xb_svg_circle(stream, "marker", middle, top, 2.5, NULL);
        else
            xb_svg_rectangle(stream, item->sample, left, top - 6.0,
                             strcmp(item->sample, "band") == 0 ? 24.0 : 22.0, 12.0, NULL);
        if (!frame->is_coloured)
            xb_svg_group_end(stream);
        xb_svg_text_within(stream, "", left + SAMPLE, top + XB_TEXT_DROP, XB_ANCHOR_START, name,
                           item->name);
        if (frame->is_coloured)
            xb_svg_group_end(stream);
    }
    return top;
}

void xb_frame_note(struct xb_frame *frame, const char *format, ...)
{
    assert(frame->note_count < sizeof frame->notes / sizeof frame->notes[0]);
    XB_FORMAT(frame->notes[frame->note_count], sizeof frame->notes[0], format);
    frame->note_count++;
}

void xb_frame_more(struct xb_frame *frame, size_t count, const char *what)
{
    if (count > 0)
        xb_frame_note(frame, "%zu more %s not drawn", count, what);
}

void xb_frame_begin(FILE *stream, struct xb_frame *frame, bool is_alone)
{
    double below = frame->bottom + (frame->x_label != NULL ? 46.0 : fmax(frame->foot, 8.0));
    frame->legend_top = below + XB_LINE_HEIGHT / 2.0;
    if (frame->item_count > 0)
        below = draw_legend(NULL, frame) + XB_LINE_HEIGHT - 4.0;
    frame->notes_top = below + XB_LINE_HEIGHT / 2.0 + XB_TEXT_DROP;
    xb_svg_begin(stream, frame->picture, frame->width,
                 below + XB_LINE_HEIGHT * (double)frame->note_count, is_alone);
    for (double y = frame->top; frame->row > 0.0 && y + 1.0 < frame->bottom; y += 2.0 * frame->row)
        xb_svg_rectangle(stream, "stripe", 0.0, y, frame->width,
                         fmin(frame->row, frame->bottom - y), NULL);
    draw_rulers(stream, frame);
    if (frame->is_empty)
        xb_svg_text(stream, "quiet", (frame->left + frame->right) / 2.0,
                    (frame->top + frame->bottom) / 2.0, XB_ANCHOR_MIDDLE, "no data");
}

void xb_frame_end(FILE *stream, const struct xb_frame *frame)
{
    (void)draw_legend(stream, frame);
    for (size_t i = 0; i < frame->note_count; i++)
        xb_svg_text_within(stream, "quiet", 8.0, frame->notes_top + XB_LINE_HEIGHT * (double)i,
                           XB_ANCHOR_START, frame->width - 16.0, frame->notes[i]);
    xb_svg_end(stream);
}

/* ---- names beside points ---- */

#define NAMES_MOST 190.0 /* pixels: what is wider is cut */
#define BESIDE 9.0       /* from a point to its name */
#define POINT 6.0        /* half of what a point takes */
#define LINE 14.0        /* what a name takes in height */
#define STEPS 6          /* lines of text that a name may be away from its point */

struct box {
    double left, right, top, bottom;
};

static double width_of(const struct xb_caption *caption)
{
    return fmin(xb_svg_text_width(caption->name), NAMES_MOST);
}

static struct box box_of_name(const struct xb_caption *caption)
{
    return (struct box){caption->text_x, caption->text_x + width_of(caption),
                        caption->text_y - LINE / 2.0, caption->text_y + LINE / 2.0};
}

/* Whether the box touches no point and no name that is placed. */
static bool has_room(const struct xb_caption *captions, size_t count, const struct box *box)
{
    for (size_t i = 0; i < count; i++)
        for (int is_name = 0; is_name <= captions[i].is_placed; is_name++) {
            double x = captions[i].x;
            double y = captions[i].y;
            struct box other = {x - POINT, x + POINT, y - POINT, y + POINT};
            if (is_name)
                other = box_of_name(&captions[i]);
            if (box->left < other.right && other.left < box->right && box->top < other.bottom &&
                other.top < box->bottom)
                return false;
        }
    return true;
}

size_t xb_captions_place(struct xb_caption *captions, size_t count, double left, double right,
                         double top, double bottom)
{
    size_t placed = 0;
    for (size_t i = 0; i < count; i++)
        captions[i].is_placed = false;
    for (size_t i = 0; i < count && placed < XB_CAPTIONS_MOST; i++) {
        struct xb_caption *caption = &captions[i];
        /* Right of its point, then left of it; then further up and down. */
        for (int at = 0; caption->name != NULL && at < 4 * STEPS + 2 && !caption->is_placed; at++) {
            int step = at / 2;
            int lines = (step + 1) / 2;
            double away = (step % 2 == 0 ? -LINE : LINE) * lines;
            caption->text_x =
                at % 2 == 0 ? caption->x + BESIDE : caption->x - BESIDE - width_of(caption);
            caption->text_y = caption->y + away;
            struct box box = box_of_name(caption);
            caption->is_placed = box.left >= left && box.right <= right && box.top >= top &&
                                 box.bottom <= bottom && has_room(captions, count, &box);
        }
        placed += caption->is_placed;
    }
    return placed;
}

void xb_captions_draw(FILE *stream, const struct xb_caption *captions, size_t count)
{
    /* All lines lie below all names. */
    for (size_t k = 0; k < 2 * count; k++) {
        const struct xb_caption *caption = &captions[k < count ? k : k - count];
        if (!caption->is_placed)
            continue;
        const struct box box = box_of_name(caption);
        if (k >= count) {
            xb_svg_rectangle(stream, "paper", box.left - 1.0, box.top, width_of(caption) + 2.0,
                             LINE, NULL);
            xb_svg_text_within(stream, "", box.left, caption->text_y + XB_TEXT_DROP,
                               XB_ANCHOR_START, width_of(caption) + 1.0, caption->name);
        } else if (fabs(caption->text_y - caption->y) > LINE / 2.0) {
            xb_svg_line(stream, "axis", caption->x, caption->y,
                        box.left > caption->x ? box.left - 2.0 : box.right + 2.0, caption->text_y);
        }
    }
}
