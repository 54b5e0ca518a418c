/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>

#define TOP 34.0
#define HEIGHT 260.0
#define MARKERS 60 /* a line of more points has none */

/* A chart with its axes placed. */
struct frame {
    const struct xb_chart *chart;
    size_t series_count, level_count, mark_count;
    double left, right, bottom;
    struct xb_ruler x, y;
    bool has_points;
};

static bool is_shown(const struct xb_chart *chart, const struct xb_point *point)
{
    return xb_scale_shows(chart->x.scale, point->x) && xb_scale_shows(chart->y.scale, point->y);
}

static bool has_band(const struct xb_chart *chart, const struct xb_point *point)
{
    return is_shown(chart, point) && xb_scale_shows(chart->y.scale, point->low) &&
           xb_scale_shows(chart->y.scale, point->high) && point->low <= point->high;
}

static struct frame make_frame(const struct xb_chart *chart)
{
    struct frame frame = {.chart = chart,
                          .bottom = TOP + HEIGHT,
                          .series_count = xb_at_most(chart->series_count, XB_CHART_SERIES),
                          .level_count = xb_at_most(chart->level_count, XB_LEVELS_MOST),
                          .mark_count = xb_at_most(chart->mark_count, XB_CHART_MARKS)};
    struct xb_range x = XB_RANGE_NONE;
    struct xb_range y = XB_RANGE_NONE;
    for (size_t i = 0; i < frame.series_count; i++)
        for (size_t k = 0; k < chart->series[i].count; k++) {
            const struct xb_point *point = &chart->series[i].points[k];
            if (!is_shown(chart, point))
                continue;
            xb_range_add(&x, chart->x.scale, point->x);
            xb_range_add(&y, chart->y.scale, point->y);
            if (has_band(chart, point)) {
                xb_range_add(&y, chart->y.scale, point->low);
                xb_range_add(&y, chart->y.scale, point->high);
            }
        }
    frame.has_points = !xb_range_is_empty(x);
    for (size_t i = 0; i < frame.level_count; i++)
        xb_range_add(&y, chart->y.scale, chart->levels[i].at);
    for (size_t i = 0; i < frame.mark_count; i++)
        xb_range_add(&x, chart->x.scale, chart->marks[i]);
    frame.y = xb_ruler_make(chart->y.scale, y, !chart->y_from_data, frame.bottom, TOP);
    frame.left = xb_ruler_left_room(&frame.y);
    double names = xb_levels_room(chart->y.scale, chart->levels, frame.level_count);
    frame.right = XB_PLOT_WIDTH - (names > 0.0 ? names : 28.0);
    frame.x = xb_ruler_make(chart->x.scale, x, false, frame.left, frame.right);
    return frame;
}

static void add_step(FILE *stream, bool *is_begun, double x, double y)
{
    xb_svg_path_add(stream, *is_begun ? "L# #" : "M# #", (double[]){x, y});
    *is_begun = true;
}

/* Draws the line through the first, least, largest and last of the points that stand on one pixel.
 */
static void draw_line(FILE *stream, const struct frame *frame, const struct xb_series *series)
{
    bool is_begun = false;
    xb_svg_path_begin(stream, "line");
    for (size_t i = 0, next = 0; i < series->count; i = next) {
        const struct xb_point *point = &series->points[next++];
        if (!is_shown(frame->chart, point)) {
            is_begun = false;
            continue;
        }
        double x = xb_ruler_place(&frame->x, point->x), last_x = x;
        double y = xb_ruler_place(&frame->y, point->y), last_y = y, least = y, largest = y;
        for (; next < series->count && is_shown(frame->chart, &series->points[next]); next++) {
            double next_x = xb_ruler_place(&frame->x, series->points[next].x);
            if (lround(next_x) != lround(x))
                break;
            last_x = next_x;
            last_y = xb_ruler_place(&frame->y, series->points[next].y);
            least = fmin(least, last_y);
            largest = fmax(largest, last_y);
        }
        add_step(stream, &is_begun, x, y);
        if (least < fmin(y, last_y))
            add_step(stream, &is_begun, last_x, least);
        if (largest > fmax(y, last_y))
            add_step(stream, &is_begun, last_x, largest);
        if (last_x != x || last_y != y)
            add_step(stream, &is_begun, last_x, last_y);
    }
    xb_svg_path_end(stream);
}

/* One edge of the band over points from `first` to before `end`, there or back: at each pixel the
 * value that is farthest out. */
static void draw_edge(FILE *stream, const struct frame *frame, const struct xb_point *points,
                      size_t first, size_t end, bool is_back)
{
    bool is_begun = is_back;
    size_t count = end - first;
    for (size_t i = 0; i < count;) {
        size_t at = is_back ? end - 1 - i : first + i;
        double x = xb_ruler_place(&frame->x, points[at].x);
        double value = is_back ? points[at].low : points[at].high;
        for (i++; i < count; i++) {
            const struct xb_point *next = &points[is_back ? end - 1 - i : first + i];
            if (lround(xb_ruler_place(&frame->x, next->x)) != lround(x))
                break;
            value = is_back ? fmin(value, next->low) : fmax(value, next->high);
        }
        add_step(stream, &is_begun, x, xb_ruler_place(&frame->y, value));
    }
}

static void draw_bands(FILE *stream, const struct frame *frame, const struct xb_series *series)
{
    for (size_t first = 0; first < series->count;) {
        size_t end = first;
        while (end < series->count && has_band(frame->chart, &series->points[end]))
            end++;
        if (end - first == 1) { /* the interval of a point alone */
            double x = xb_ruler_place(&frame->x, series->points[first].x);
            double low = xb_ruler_place(&frame->y, series->points[first].low);
            double high = xb_ruler_place(&frame->y, series->points[first].high);
            xb_svg_line(stream, "whisker", x, low, x, high);
            xb_svg_line(stream, "whisker", x - 4.0, low, x + 4.0, low);
            xb_svg_line(stream, "whisker", x - 4.0, high, x + 4.0, high);
        } else if (end > first) {
            xb_svg_path_begin(stream, "band");
            draw_edge(stream, frame, series->points, first, end, false);
            draw_edge(stream, frame, series->points, first, end, true);
            xb_svg_path_add(stream, "z", NULL);
            xb_svg_path_end(stream);
        }
        first = end + 1;
    }
}

static void draw_markers(FILE *stream, const struct frame *frame, size_t index)
{
    const struct xb_series *series = &frame->chart->series[index];
    const struct xb_chart *chart = frame->chart;
    char tip[256];
    for (size_t i = 0; i < series->count; i++) {
        const struct xb_point *point = &series->points[i];
        if (!is_shown(chart, point) || (series->count > MARKERS && !point->is_marked))
            continue;
        double x = xb_ruler_place(&frame->x, point->x);
        double y = xb_ruler_place(&frame->y, point->y);
        snprintf(tip, sizeof tip, "%.100s, %s: %s %.60s", series->name,
                 XB_TICK_TEXT(chart->x.scale, point->x), XB_VALUE_TEXT(point->y),
                 chart->y.label != NULL ? chart->y.label : "");
        xb_svg_marker(stream, index, x, y, tip);
        if (point->is_marked)
            xb_svg_circle(stream, "ring", x, y, 8.0, NULL);
    }
}

void xb_chart_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_chart *chart = picture;
    struct frame frame = make_frame(chart);
    struct xb_legend_item items[XB_CHART_SERIES];
    for (size_t i = 0; i < frame.series_count; i++)
        items[i] = (struct xb_legend_item){.look = xb_series_look(i),
                                           .name = chart->series[i].name,
                                           .series = i,
                                           .is_coloured = true};
    double first = frame.bottom + xb_ruler_bottom_room(chart->x.label) + XB_LINE_HEIGHT;
    double below =
        xb_legend_draw(NULL, items, frame.series_count, XB_PLOT_WIDTH, first) + XB_LINE_HEIGHT;
    size_t more = chart->series_count - frame.series_count;
    xb_svg_begin(stream, &chart->picture, XB_PLOT_WIDTH, below + (more > 0 ? XB_LINE_HEIGHT : 0.0),
                 is_alone);
    if (!frame.has_points)
        xb_svg_text(stream, "quiet", (frame.left + frame.right) / 2.0, TOP + HEIGHT / 2.0,
                    XB_ANCHOR_MIDDLE, "no data");
    xb_ruler_draw_left(stream, &frame.y, frame.left, frame.right, chart->y.label);
    xb_ruler_draw_bottom(stream, &frame.x, TOP, frame.bottom, chart->x.label);
    xb_levels_draw(stream, &frame.y, chart->levels, frame.level_count,
                   (struct xb_range){frame.left, frame.right}, XB_PLOT_WIDTH, TOP - 6.0);
    for (size_t i = 0; i < frame.mark_count; i++) {
        double x = xb_ruler_place(&frame.x, chart->marks[i]);
        if (xb_scale_shows(chart->x.scale, chart->marks[i]))
            xb_svg_line(stream, "mark", x, TOP, x, frame.bottom);
    }
    for (size_t i = 0; i < frame.series_count; i++) {
        xb_svg_group_begin(stream, xb_series_look(i), NULL);
        draw_bands(stream, &frame, &chart->series[i]);
        draw_line(stream, &frame, &chart->series[i]);
        draw_markers(stream, &frame, i);
        xb_svg_group_end(stream);
    }
    (void)xb_legend_draw(stream, items, frame.series_count, XB_PLOT_WIDTH, first);
    if (more > 0)
        xb_svg_note(stream, below + XB_TEXT_DROP, "%zu more series are not drawn", more);
    xb_svg_end(stream);
}
