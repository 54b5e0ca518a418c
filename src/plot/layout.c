/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* timegm; text.h */
#include "layout.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- axes: what values they can show, and where their ticks are ---- */

/* Multiples of `step` from low to high; none where there would be more than `most`. The slack is
 * for ends that are multiples themselves, but for rounding. */
static size_t multiples(double step, double low, double high, double *ticks, size_t most)
{
    double first = ceil(low / step - 1e-9);
    double last = floor(high / step + 1e-9);
    if (last - first + 1.0 > (double)most || fabs(first) > 1e15)
        return 0;
    size_t count = 0;
    for (double k = first; k <= last && count < most; k++)
        ticks[count++] = k * step;
    return count;
}

/* Steps of 1, 2 and 5 times a power of ten: the smallest that makes few enough ticks. */
static size_t linear_ticks(double low, double high, double *ticks, size_t most)
{
    static const double factors[] = {1e0, 2e0, 5e0, 1e1, 2e1, 5e1, 1e2, 2e2, 5e2, 1e3, 2e3, 5e3};
    double power = pow(10.0, floor(log10((high - low) / (double)most)));
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < COUNT_OF(factors); i++)
        count = multiples(power * factors[i], low, high, ticks, most);
    return count;
}

/* Powers of two whose exponents are multiples of 1, 2, 4, 5 or of tens: 4 KiB, 64 KiB, 1 MiB. Sizes
 * that lie between two powers have linear ticks: 1.2 MiB, 1.4 MiB. */
static size_t size_ticks(double low, double high, double *ticks, size_t most)
{
    static const double steps[] = {1.0, 2.0, 4.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        size_t count = multiples(steps[i], log2(low), log2(high), ticks, most);
        for (size_t k = 0; k < count; k++)
            ticks[k] = exp2(ticks[k]);
        if (count >= 2)
            return count;
    }
    double unit = exp2(floor(log2(low) / 10.0) * 10.0);
    size_t count = linear_ticks(low / unit, high / unit, ticks, most);
    for (size_t k = 0; k < count; k++)
        ticks[k] *= unit;
    return count;
}

/* Evenly spread, the first and the last among them. */
static size_t name_ticks(double low, double high, double *ticks, size_t most)
{
    double first = ceil(low), steps = fmin(floor(high) - first, (double)most - 1.0);
    size_t count = 0;
    for (; (double)count <= steps; count++)
        ticks[count] = first + floor((double)count * (floor(high) - first) / fmax(steps, 1.0));
    return count;
}

/* ---- dates in UTC, by the calendar of today for all years ---- */

#define DAY 86400.0

static struct tm date_of(double seconds)
{
    time_t whole = (time_t)floor(seconds);
    struct tm date = {.tm_sec = 0};
    (void)gmtime_r(&whole, &date);
    return date;
}

/* When a month begins, counted from the year 0. */
static double month_begin(double month)
{
    struct tm first = {.tm_year = -1900, .tm_mon = (int)month, .tm_mday = 1};
    return (double)timegm(&first);
}

/* The month of a time: a half more where that is not its beginning. */
static double month_of(double seconds)
{
    struct tm date = date_of(seconds);
    double month = 12.0 * (date.tm_year + 1900) + date.tm_mon;
    return month + (seconds > month_begin(month) ? 0.5 : 0.0);
}

/* Even steps in seconds, then in months: the first days of these. */
static size_t date_ticks(double low, double high, double *ticks, size_t most)
{
    static const double even[] = {1.0,     5.0,     15.0,    60.0,      300.0,     900.0,    3600.0,
                                  10800.0, 21600.0, 43200.0, 1.0 * DAY, 2.0 * DAY, 7.0 * DAY};
    static const double months[] = {1.0,   3.0,    6.0,    12.0,   24.0,    60.0,    120.0,  240.0,
                                    600.0, 1200.0, 2400.0, 6000.0, 12000.0, 24000.0, 60000.0};
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < COUNT_OF(even); i++)
        count = multiples(even[i], low, high, ticks, most);
    if (count > 0)
        return count;
    for (size_t i = 0; count == 0 && i < COUNT_OF(months); i++)
        count = multiples(months[i], month_of(low), month_of(high), ticks, most);
    for (size_t k = 0; k < count; k++)
        ticks[k] = month_begin(ticks[k]);
    return count;
}

bool xb_scale_shows(enum xb_scale scale, double value)
{
    static const struct xb_range shown[] = {[XB_SCALE_LINEAR] = {-XB_PLOT_LARGE, XB_PLOT_LARGE},
                                            [XB_SCALE_SIZE] = {1.0 / XB_PLOT_LARGE, XB_PLOT_LARGE},
                                            /* from 0001-01-01 00:00:00 to 9999-12-31 23:59:59 */
                                            [XB_SCALE_DATE] = {-62135596800.0, 253402300799.0},
                                            [XB_SCALE_NAMES] = {-1.0, XB_PLOT_LARGE}};
    return value >= shown[scale].low && value <= shown[scale].high;
}

bool xb_scale_spans(enum xb_scale scale, double low, double high)
{
    return xb_scale_shows(scale, low) && xb_scale_shows(scale, high) && low <= high;
}

size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most)
{
    static size_t (*const ticks_of[])(double, double, double *,
                                      size_t) = {[XB_SCALE_LINEAR] = linear_ticks,
                                                 [XB_SCALE_SIZE] = size_ticks,
                                                 [XB_SCALE_DATE] = date_ticks,
                                                 [XB_SCALE_NAMES] = name_ticks};
    if (!xb_scale_spans(scale, low, high) || low == high || most == 0)
        return 0;
    return ticks_of[scale](low, high, ticks, most);
}

const char *xb_tick_text(const struct xb_ruler *ruler, double tick, char *text, size_t size)
{
    const enum xb_scale scale = ruler->scale;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (ruler->names != NULL)
        return ruler->names[(size_t)tick];
    if (!xb_scale_shows(scale, tick)) {
        snprintf(text, size, "-");
    } else if (scale == XB_SCALE_SIZE) {
        size_t unit = 0;
        for (; tick >= 1024.0 && unit + 1 < COUNT_OF(units); unit++)
            tick /= 1024.0;
        snprintf(text, size, "%.4g %s", tick, units[unit]);
    } else if (scale == XB_SCALE_DATE) {
        /* The date at midnight, else the day and the time. */
        struct tm date = date_of(tick);
        if (date.tm_hour + date.tm_min + date.tm_sec == 0)
            snprintf(text, size, "%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1,
                     date.tm_mday);
        else
            strftime(text, size, date.tm_sec == 0 ? "%m-%d %H:%M" : "%m-%d %H:%M:%S", &date);
    } else {
        /* Ten digits: what rounding leaves at the end of 0.1 + 0.2 goes, and what differs shows. */
        snprintf(text, size, "%.10g", tick == 0.0 ? 0.0 : tick);
    }
    return text;
}

/* ---- rulers ---- */

#define BETWEEN_TEXTS 14.0
#define NAMES_WIDTH 110.0  /* at a tick: a longer one is cut */
#define BETWEEN_LINES 38.0 /* of a ruler that stands */

void xb_range_add(struct xb_range *range, enum xb_scale scale, double value)
{
    if (!xb_scale_shows(scale, value))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
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
    const bool is_size = scale == XB_SCALE_SIZE, is_date = scale == XB_SCALE_DATE;
    if (xb_range_is_empty(range))
        return (struct xb_ruler){scale, is_size ? 1.0 : 0.0, is_date ? DAY : 10.0, from, to, NULL};
    bool at_zero = from_zero && scale == XB_SCALE_LINEAR && range.low >= 0.0;
    double low = is_size ? log2(range.low) : at_zero ? 0.0 : range.low;
    double high = is_size ? log2(range.high) : range.high, middle = low / 2.0 + high / 2.0;
    /* An axis of one value reaches an octave, an hour, or a tenth of it to both sides. */
    double least = is_size || middle == 0.0 ? 1.0 : fmax(fabs(middle) * 0.1, 1e-90);
    if (is_date)
        least = 3600.0;
    if (high - low < least * 1e-6) {
        low = at_zero ? 0.0 : middle - least;
        high = middle + least;
    }
    double room = (high - low) * 0.04;
    low -= at_zero ? 0.0 : room;
    high += room;
    return (struct xb_ruler){
        scale, is_size ? exp2(low) : low, is_size ? exp2(high) : high, from, to, NULL};
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
    double width = xb_svg_text_width(XB_TICK_TEXT(ruler, tick));
    return ruler->names != NULL ? fmin(width, NAMES_WIDTH) : width;
}

/* The middle of the text at a tick of a ruler that lies: names end with the field. */
static double text_place(const struct xb_ruler *ruler, double tick)
{
    double half = tick_width(ruler, tick) / 2.0, at = fmax(xb_ruler_place(ruler, tick), half);
    return ruler->names == NULL ? at : fmin(at, ruler->to + XB_PLOT_SIDE - half);
}

/* The ticks of a ruler that stands, or lies: of that so few that their texts do not touch. */
static size_t ticks_of(const struct xb_ruler *ruler, bool stands, double *ticks)
{
    double room = stands ? fabs(ruler->to - ruler->from) / BETWEEN_LINES : XB_TICKS_MOST;
    size_t count = 0;
    for (size_t most = (size_t)fmin(fmax(room, 2.0), XB_TICKS_MOST); most > 0; most--) {
        count = xb_axis_ticks(ruler->scale, ruler->low, ruler->high, ticks, most);
        bool has_room = count > 0;
        for (size_t i = 1; i < count && !stands; i++) {
            double apart = text_place(ruler, ticks[i]) - text_place(ruler, ticks[i - 1]);
            double needed = (tick_width(ruler, ticks[i]) + tick_width(ruler, ticks[i - 1])) / 2.0;
            has_room = has_room && apart >= needed + BETWEEN_TEXTS;
        }
        if (has_room)
            return count;
    }
    return count < 1 ? 0 : 1; /* one text touches no other */
}

double xb_ruler_left_room(const struct xb_ruler *ruler)
{
    double ticks[XB_TICKS_MOST];
    double widest = 20.0;
    size_t count = ticks_of(ruler, true, ticks);
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, tick_width(ruler, ticks[i]));
    return widest + 16.0;
}

static void draw_rulers(FILE *stream, const struct xb_frame *frame)
{
    const struct xb_ruler *x = &frame->x, *y = &frame->y;
    const double bottom = frame->bottom;
    double ticks[XB_TICKS_MOST];
    size_t count = frame->y_label != NULL ? ticks_of(y, true, ticks) : 0;
    for (size_t i = 0; i < count; i++) {
        double at = xb_ruler_place(y, ticks[i]);
        xb_svg_line(stream, "grid", frame->left, at, frame->right, at);
        xb_svg_text(stream, "quiet end", frame->left - 8.0, at, frame->left - 8.0,
                    XB_TICK_TEXT(y, ticks[i]));
    }
    if (frame->y_label != NULL)
        xb_svg_text(stream, "quiet", 4.0, frame->top - 16.5, frame->width - 8.0, frame->y_label);
    if (frame->x_label == NULL)
        return;
    count = ticks_of(x, false, ticks);
    for (size_t i = 0; i < count; i++) {
        double at = xb_ruler_place(x, ticks[i]);
        double width = tick_width(x, ticks[i]), most = frame->width - width / 2.0;
        xb_svg_line(stream, "grid", at, frame->top, at, bottom);
        xb_svg_line(stream, "axis", at, bottom, at, bottom + 4.0);
        xb_svg_text(stream, "quiet middle", fmin(text_place(x, ticks[i]), most), bottom + 13.5,
                    width, XB_TICK_TEXT(x, ticks[i]));
    }
    xb_svg_line(stream, "axis", frame->left, bottom, frame->right, bottom);
    xb_svg_text(stream, "quiet middle", (frame->left + frame->right) / 2.0, bottom + 33.5,
                frame->right - frame->left, frame->x_label);
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
    const double room = frame->width - 2.0 * EDGE - SAMPLE;
    double width = fmin(xb_svg_text_width(name), room);
    if (frame->legend_x + width > room) {
        frame->legend_x = 0.0;
        frame->legend_y += XB_LINE_HEIGHT + 2.0;
    }
    assert(frame->item_count < XB_LEGEND_MOST);
    frame->items[frame->item_count++] =
        (struct xb_legend_item){sample, look, name, EDGE + frame->legend_x, frame->legend_y, width};
    frame->legend_x += SAMPLE + width + BETWEEN_ITEMS;
}

void xb_frame_note(struct xb_frame *frame, const char *format, ...)
{
    assert(frame->note_count < COUNT_OF(frame->notes));
    XB_FORMAT(frame->notes[frame->note_count], sizeof frame->notes[0], format);
    frame->note_count++;
}

size_t xb_frame_take(struct xb_frame *frame, size_t count, size_t most, const char *what)
{
    if (count > most)
        xb_frame_note(frame, "%zu more %s not drawn", count - most, what);
    return xb_at_most(count, most);
}

void xb_frame_begin(FILE *stream, struct xb_frame *frame, bool is_alone)
{
    double below = frame->bottom + (frame->x_label != NULL ? 46.0 : 8.0);
    frame->legend_top = below + XB_LINE_HEIGHT / 2.0;
    if (frame->item_count > 0)
        below = frame->legend_top + frame->legend_y + XB_LINE_HEIGHT - 4.0;
    frame->notes_top = below + XB_LINE_HEIGHT / 2.0;
    xb_svg_begin(stream, frame->picture, frame->width,
                 below + XB_LINE_HEIGHT * (double)frame->note_count, is_alone);
    for (double y = frame->top; frame->row > 0.0 && y + 1.0 < frame->bottom; y += 2.0 * frame->row)
        xb_svg_rectangle(stream, "stripe", 0.0, y, frame->width,
                         fmin(frame->row, frame->bottom - y), NULL);
    draw_rulers(stream, frame);
    if (frame->is_empty)
        xb_svg_text(stream, "quiet middle", (frame->left + frame->right) / 2.0,
                    (frame->top + frame->bottom) / 2.0, frame->width, "no data");
}

void xb_frame_end(FILE *stream, const struct xb_frame *frame)
{
    for (size_t i = 0; i < frame->item_count; i++) {
        const struct xb_legend_item *item = &frame->items[i];
        const double left = item->x, middle = left + 12.0, y = frame->legend_top + item->y;
        bool is_line = strcmp(item->sample, "line") == 0;
        xb_svg_group_begin(stream, item->look, NULL);
        if (is_line)
            xb_svg_path(stream, "line", "M# #L# #", left, y, left + 24.0, y);
        if (is_line || strcmp(item->sample, "marker") == 0)
            xb_svg_marker(stream, item->look, middle, y, NULL);
        else if (strcmp(item->sample, "dot") == 0)
            xb_svg_add(stream, "marker", NULL, "circle cx=\"#\" cy=\"#\" r=\"2.5\"",
                       (double[]){middle, y});
        else
            xb_svg_rectangle(stream, item->sample, left, y - 6.0, 24.0, 12.0, NULL);
        xb_svg_group_end(stream);
        xb_svg_text(stream, "", left + SAMPLE, y, item->width, item->name);
    }
    for (size_t i = 0; i < frame->note_count; i++)
        xb_svg_text(stream, "quiet", 8.0, frame->notes_top + XB_LINE_HEIGHT * (double)i,
                    frame->width - 16.0, frame->notes[i]);
    xb_svg_end(stream);
}

/* ---- names beside points ---- */

#define NAMES_MOST 190.0 /* pixels: what is wider is cut */
#define BESIDE 9.0       /* from a point to its name */
#define LINE 14.0        /* what a name takes in height */
#define STEPS 6          /* lines of text that a name may be away from its point */

size_t xb_captions_draw(FILE *stream, struct xb_caption *captions, size_t count,
                        const struct xb_box *field, struct xb_box *taken, size_t taken_count)
{
    size_t placed = 0;
    for (size_t i = 0; i < count && placed < XB_CAPTIONS_MOST; i++) {
        struct xb_caption *caption = &captions[i];
        if (caption->name == NULL)
            continue;
        const double width = fmin(xb_svg_text_width(caption->name), NAMES_MOST);
        /* Right of its point, then left of it; then further up and down. */
        for (int at = 0; at < 4 * STEPS + 2 && !caption->is_placed; at++) {
            int step = at / 2, lines = (step + 1) / 2;
            double left = at % 2 == 0 ? caption->x + BESIDE : caption->x - BESIDE - width;
            double top = caption->y + (step % 2 == 0 ? -LINE : LINE) * lines - LINE / 2.0;
            const struct xb_box box = {left, left + width, top, top + LINE};
            bool has_room = box.left >= field->left && box.right <= field->right &&
                            box.top >= field->top && box.bottom <= field->bottom;
            for (size_t k = 0; k < taken_count && has_room; k++)
                has_room = box.left >= taken[k].right || taken[k].left >= box.right ||
                           box.top >= taken[k].bottom || taken[k].top >= box.bottom;
            caption->is_placed = has_room;
            caption->box = box;
            if (has_room && lines > 0)
                xb_svg_line(stream, "axis", caption->x, caption->y,
                            at % 2 == 0 ? box.left - 2.0 : box.right + 2.0, top + LINE / 2.0);
        }
        if (caption->is_placed)
            taken[taken_count++] = caption->box;
        placed += caption->is_placed;
    }
    for (size_t i = 0; i < count; i++) { /* above all lines */
        const struct xb_box box = captions[i].box;
        const double width = box.right - box.left;
        if (!captions[i].is_placed)
            continue;
        xb_svg_rectangle(stream, "paper", box.left - 1.0, box.top, width + 2.0, LINE, NULL);
        xb_svg_text(stream, "", box.left, box.top + LINE / 2.0, width + 1.0, captions[i].name);
    }
    return placed;
}
