/* SPDX-License-Identifier: Apache-2.0 */
#include "chart.h"

#include "layout.h"
#include "ruler.h"

#include <math.h>

#define TOP 34.0
#define HEIGHT 260.0
#define MARKERS 60 /* a line of more points has none */
#define LEVEL_NAMES 150.0

/* A chart with its axes placed. */
struct frame {
    const struct xb_chart *chart;
    size_t series_count;
    double left, right, bottom;
    struct xb_ruler x, y;
    struct xb_legend legend;
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

/* ---- the place of everything ---- */

static void add_series(const struct xb_chart *chart, const struct xb_series *series,
                       struct xb_range *x, struct xb_range *y)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct xb_point *point = &series->points[i];
        if (!is_shown(chart, point))
            continue;
        xb_range_add(x, chart->x.scale, point->x);
        xb_range_add(y, chart->y.scale, point->y);
        if (has_band(chart, point)) {
            xb_range_add(y, chart->y.scale, point->low);
            xb_range_add(y, chart->y.scale, point->high);
        }
    }
}

static size_t level_count(const struct xb_chart *chart)
{
    return chart->level_count < XB_LEVELS_MOST ? chart->level_count : XB_LEVELS_MOST;
}

static size_t mark_count(const struct xb_chart *chart)
{
    return chart->mark_count < XB_CHART_MARKS ? chart->mark_count : XB_CHART_MARKS;
}

/* Room for the names of levels at the right. */
static double right_room(const struct xb_chart *chart)
{
    double widest = 0.0;
    for (size_t i = 0; i < level_count(chart); i++)
        if (xb_scale_shows(chart->y.scale, chart->levels[i].at))
            widest = fmax(widest, xb_svg_text_width(chart->levels[i].name));
    return widest > 0.0 ? fmin(widest, LEVEL_NAMES) + 12.0 : 28.0;
}

/* Places the items of the legend; the last says how many series are not drawn. */
static void place_legend(struct frame *frame)
{
    struct xb_legend legend = frame->legend;
    double x;
    for (size_t i = 0; i < frame->series_count; i++)
        (void)xb_legend_place(&legend, frame->chart->series[i].name, &x, &frame->legend.y);
    frame->legend.y = legend.y;
}

static struct frame make_frame(const struct xb_chart *chart)
{
    struct frame frame = {.chart = chart, .bottom = TOP + HEIGHT};
    struct xb_range x = XB_RANGE_NONE;
    struct xb_range y = XB_RANGE_NONE;
    frame.series_count =
        chart->series_count < XB_CHART_SERIES ? chart->series_count : XB_CHART_SERIES;
    for (size_t i = 0; i < frame.series_count; i++)
        add_series(chart, &chart->series[i], &x, &y);
    for (size_t i = 0; i < level_count(chart); i++)
        xb_range_add(&y, chart->y.scale, chart->levels[i].at);
    for (size_t i = 0; i < mark_count(chart); i++)
        xb_range_add(&x, chart->x.scale, chart->marks[i]);
    frame.y = xb_ruler_make(chart->y.scale, y, !chart->y_from_data, frame.bottom, TOP);
    frame.left = xb_ruler_left_room(&frame.y);
    frame.right = XB_PLOT_WIDTH - right_room(chart);
    frame.x = xb_ruler_make(chart->x.scale, x, false, frame.left, frame.right);
    return frame;
}

/* ---- lines ---- */

/* The points of a line that stand on one pixel. */
struct column {
    bool is_open;
    long pixel;
    double first_x, first_y, last_x, last_y, least, largest;
};

static void write_column(FILE *stream, const struct column *column, bool *is_begun)
{
    if (!column->is_open)
        return;
    if (*is_begun)
        xb_svg_path_line(stream, column->first_x, column->first_y);
    else
        xb_svg_path_move(stream, column->first_x, column->first_y);
    *is_begun = true;
    if (column->least < fmin(column->first_y, column->last_y))
        xb_svg_path_line(stream, column->last_x, column->least);
    if (column->largest > fmax(column->first_y, column->last_y))
        xb_svg_path_line(stream, column->last_x, column->largest);
    if (column->last_x != column->first_x || column->last_y != column->first_y)
        xb_svg_path_line(stream, column->last_x, column->last_y);
}

static void add_to_column(FILE *stream, struct column *column, double x, double y, bool *is_begun)
{
    long pixel = lround(x);
    if (column->is_open && column->pixel == pixel) {
        column->last_x = x;
        column->last_y = y;
        column->least = fmin(column->least, y);
        column->largest = fmax(column->largest, y);
        return;
    }
    write_column(stream, column, is_begun);
    *column = (struct column){true, pixel, x, y, x, y, y, y};
}

static void draw_line(FILE *stream, const struct frame *frame, const struct xb_series *series)
{
    struct column column = {.is_open = false};
    bool is_begun = false;
    xb_svg_path_begin(stream, "line");
    for (size_t i = 0; i < series->count; i++) {
        const struct xb_point *point = &series->points[i];
        if (is_shown(frame->chart, point)) {
            add_to_column(stream, &column, xb_ruler_place(&frame->x, point->x),
                          xb_ruler_place(&frame->y, point->y), &is_begun);
            continue;
        }
        write_column(stream, &column, &is_begun);
        column.is_open = false;
        is_begun = false;
    }
    write_column(stream, &column, &is_begun);
    xb_svg_path_end(stream);
}

/* ---- bands ---- */

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
        double y = xb_ruler_place(&frame->y, value);
        if (is_begun)
            xb_svg_path_line(stream, x, y);
        else
            xb_svg_path_move(stream, x, y);
        is_begun = true;
    }
}

/* The interval of a point alone. */
static void draw_whisker(FILE *stream, const struct frame *frame, const struct xb_point *point)
{
    double x = xb_ruler_place(&frame->x, point->x);
    double low = xb_ruler_place(&frame->y, point->low);
    double high = xb_ruler_place(&frame->y, point->high);
    xb_svg_line(stream, "whisker", x, low, x, high);
    xb_svg_line(stream, "whisker", x - 4.0, low, x + 4.0, low);
    xb_svg_line(stream, "whisker", x - 4.0, high, x + 4.0, high);
}

static void draw_bands(FILE *stream, const struct frame *frame, const struct xb_series *series)
{
    for (size_t first = 0; first < series->count;) {
        size_t end = first;
        while (end < series->count && has_band(frame->chart, &series->points[end]))
            end++;
        if (end - first == 1) {
            draw_whisker(stream, frame, &series->points[first]);
        } else if (end > first) {
            xb_svg_path_begin(stream, "band");
            draw_edge(stream, frame, series->points, first, end, false);
            draw_edge(stream, frame, series->points, first, end, true);
            xb_svg_path_close(stream);
            xb_svg_path_end(stream);
        }
        first = end + 1;
    }
}

/* ---- series ---- */

static void draw_markers(FILE *stream, const struct frame *frame, size_t index)
{
    const struct xb_series *series = &frame->chart->series[index];
    const struct xb_chart *chart = frame->chart;
    char x_text[XB_TICK_TEXT];
    char y_text[XB_TICK_TEXT];
    char tip[256];
    for (size_t i = 0; i < series->count; i++) {
        const struct xb_point *point = &series->points[i];
        if (!is_shown(chart, point) || (series->count > MARKERS && !point->is_marked))
            continue;
        double x = xb_ruler_place(&frame->x, point->x);
        double y = xb_ruler_place(&frame->y, point->y);
        snprintf(tip, sizeof tip, "%.100s, %s: %s %.60s", series->name,
                 xb_axis_tick_text(chart->x.scale, point->x, x_text, sizeof x_text),
                 xb_value_text(point->y, y_text, sizeof y_text),
                 chart->y.label != NULL ? chart->y.label : "");
        xb_svg_marker(stream, index, x, y, tip);
        if (point->is_marked)
            xb_svg_circle(stream, "ring", x, y, 8.0, NULL);
    }
}

static const char *series_look(size_t index, char *look, size_t size)
{
    snprintf(look, size, "series-%zu", index % XB_PLOT_SERIES + 1);
    return look;
}

static void draw_all_series(FILE *stream, const struct frame *frame)
{
    char look[32];
    for (size_t i = 0; i < frame->series_count; i++) {
        const struct xb_series *series = &frame->chart->series[i];
        xb_svg_group_begin(stream, series_look(i, look, sizeof look), NULL);
        draw_bands(stream, frame, series);
        draw_line(stream, frame, series);
        draw_markers(stream, frame, i);
        xb_svg_group_end(stream);
    }
}

static void draw_legend(FILE *stream, struct frame *frame)
{
    char text[64];
    double x;
    double y = frame->legend.y;
    for (size_t i = 0; i < frame->series_count; i++) {
        const char *name = frame->chart->series[i].name;
        double width = xb_legend_place(&frame->legend, name, &x, &y);
        xb_svg_group_begin(stream, series_look(i, text, sizeof text), NULL);
        xb_svg_path_begin(stream, "line");
        xb_svg_path_move(stream, x, y);
        xb_svg_path_line(stream, x + 24.0, y);
        xb_svg_path_end(stream);
        xb_svg_marker(stream, i, x + 12.0, y, NULL);
        xb_svg_text_within(stream, "", x + XB_LEGEND_KEY, y + XB_TEXT_DROP, XB_ANCHOR_START, width,
                           name);
        xb_svg_group_end(stream);
    }
    if (frame->series_count == frame->chart->series_count)
        return;
    snprintf(text, sizeof text, "%zu more series are not drawn",
             frame->chart->series_count - frame->series_count);
    xb_svg_text(stream, "quiet", frame->legend.left, y + XB_LINE_HEIGHT + XB_TEXT_DROP,
                XB_ANCHOR_START, text);
}

/* ---- levels and marks ---- */

static void draw_levels(FILE *stream, const struct frame *frame)
{
    const struct xb_chart *chart = frame->chart;
    double places[XB_LEVELS_MOST];
    const char *names[XB_LEVELS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < level_count(chart); i++) {
        if (!xb_scale_shows(chart->y.scale, chart->levels[i].at))
            continue;
        double y = xb_ruler_place(&frame->y, chart->levels[i].at);
        xb_svg_line(stream, "level", frame->left, y, frame->right, y);
        names[count] = chart->levels[i].name;
        places[count++] = y;
    }
    xb_spread(places, count, XB_LINE_HEIGHT - 2.0, TOP - 6.0, frame->bottom);
    for (size_t i = 0; i < count; i++)
        xb_svg_text_within(stream, "quiet", frame->right + 6.0, places[i] + XB_TEXT_DROP,
                           XB_ANCHOR_START, XB_PLOT_WIDTH - frame->right - 6.0, names[i]);
}

static void draw_marks(FILE *stream, const struct frame *frame)
{
    for (size_t i = 0; i < mark_count(frame->chart); i++) {
        double mark = frame->chart->marks[i];
        if (!xb_scale_shows(frame->chart->x.scale, mark))
            continue;
        double x = xb_ruler_place(&frame->x, mark);
        xb_svg_line(stream, "mark", x, TOP, x, frame->bottom);
    }
}

static bool has_points(const struct frame *frame)
{
    struct xb_range x = XB_RANGE_NONE;
    struct xb_range y = XB_RANGE_NONE;
    for (size_t i = 0; i < frame->series_count; i++)
        add_series(frame->chart, &frame->chart->series[i], &x, &y);
    return !xb_range_is_empty(x);
}

void xb_chart_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_chart *chart = picture;
    struct frame frame = make_frame(chart);
    double first = frame.bottom + xb_ruler_bottom_room(chart->x.label) + XB_LINE_HEIGHT;
    frame.legend = (struct xb_legend){8.0, XB_PLOT_WIDTH - 8.0, 8.0, first};
    place_legend(&frame);
    double height = frame.legend.y + XB_LINE_HEIGHT;
    if (frame.series_count < chart->series_count)
        height += XB_LINE_HEIGHT;
    frame.legend.y = first;

    xb_svg_begin(stream, &chart->picture, XB_PLOT_WIDTH, height, is_alone);
    if (!has_points(&frame))
        xb_svg_text(stream, "quiet", (frame.left + frame.right) / 2.0, TOP + HEIGHT / 2.0,
                    XB_ANCHOR_MIDDLE, "no data");
    xb_ruler_draw_left(stream, &frame.y, frame.left, frame.right, chart->y.label);
    xb_ruler_draw_bottom(stream, &frame.x, TOP, frame.bottom, chart->x.label);
    draw_levels(stream, &frame);
    draw_marks(stream, &frame);
    draw_all_series(stream, &frame);
    draw_legend(stream, &frame);
    xb_svg_end(stream);
}
