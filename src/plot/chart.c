/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <string.h>

#define TOP 34.0
#define HEIGHT 230.0
#define MARKERS 60 /* a line of more points has none */

#define ENDS_WIDTH 118.0 /* of the name of a curve or level at its end: a longer one is cut */

/* A chart with its axes placed. */
struct drawing {
    const struct xb_chart *chart;
    struct xb_frame frame;
    size_t series_count;
    struct end {
        const char *name, *look; /* `look`: class of its colour */
        double at;               /* its value */
    } ends[XB_PLOT_SERIES + XB_LEVELS_MOST];
    size_t end_count;
};

static bool is_shown(const struct xb_chart *chart, const struct xb_point *point)
{
    return xb_scale_shows(chart->x.scale, point->x) && xb_scale_shows(chart->y.scale, point->y);
}

static void place_axes(struct drawing *drawing)
{
    const struct xb_chart *chart = drawing->chart;
    struct xb_frame *frame = &drawing->frame;
    struct xb_range x = XB_RANGE_NONE, y = XB_RANGE_NONE;
    /* The names of curves stand at their ends, where they can be told apart; else in the legend. */
    bool has_names = drawing->series_count <= XB_PLOT_SERIES;
    for (size_t i = 0; i < drawing->series_count; i++)
        has_names = has_names && xb_svg_text_width(chart->series[i].name) <= ENDS_WIDTH;
    double names = 0.0;
    for (size_t i = 0; i < drawing->series_count; i++) {
        const struct xb_series *series = &chart->series[i];
        double last = (double)NAN;
        for (size_t k = 0; k < series->count; k++) {
            const struct xb_point *point = &series->points[k];
            if (!is_shown(chart, point))
                continue;
            last = point->y;
            xb_range_add(&x, chart->x.scale, point->x);
            xb_range_add(&y, chart->y.scale, point->y);
            xb_range_span(&y, chart->y.scale, point->low, point->high);
        }
        if (has_names && isfinite(last))
            drawing->ends[drawing->end_count++] =
                (struct end){series->name, xb_series_look(i), last};
        else if (!has_names)
            xb_frame_item(frame, "line", xb_series_look(i), series->name);
    }
    frame->is_empty = xb_range_is_empty(x);
    for (size_t i = 0; i < chart->level_count && i < XB_LEVELS_MOST; i++)
        if (xb_scale_shows(chart->y.scale, chart->levels[i].at)) {
            xb_range_add(&y, chart->y.scale, chart->levels[i].at);
            drawing->ends[drawing->end_count++] =
                (struct end){chart->levels[i].name, "limit", chart->levels[i].at};
        }
    if (chart->mark != 0.0)
        xb_range_add(&x, chart->x.scale, chart->mark);
    if (chart->y_least < chart->y_most)
        xb_range_span(&y, chart->y.scale, chart->y_least, chart->y_most);
    frame->y = xb_ruler_make(chart->y.scale, y, !chart->y_from_data, frame->bottom, frame->top);
    frame->left = xb_ruler_left_room(&frame->y);
    for (size_t i = 0; i < drawing->end_count; i++)
        names = fmax(names, xb_svg_text_width(drawing->ends[i].name));
    frame->right = frame->width - (names > 0.0 ? fmin(names, ENDS_WIDTH) + 12.0 : 20.0);
    frame->x = xb_ruler_make(chart->x.scale, x, false, frame->left, frame->right);
}

/* A band over the points that have an interval, there at the upper edge and back at the lower; the
 * interval of a point alone is a whisker. Then the line and its markers. */
static void draw_series(FILE *stream, const struct drawing *drawing, size_t index)
{
    const struct xb_chart *chart = drawing->chart;
    const struct xb_series *series = &chart->series[index];
    const struct xb_point *points = series->points;
    const struct xb_frame *frame = &drawing->frame;
    char tip[256]; /* + 0.0: a zero has no sign */
    xb_svg_group_begin(stream, xb_series_look(index), NULL);
    for (size_t first = 0, end = 0; first < series->count; first = end + 1) {
        for (end = first; end < series->count && is_shown(chart, &points[end]) &&
                          xb_scale_spans(chart->y.scale, points[end].low, points[end].high);)
            end++;
        if (end - first == 1) {
            double x = XB_X(frame, points[first].x);
            double low = XB_Y(frame, points[first].low);
            double high = XB_Y(frame, points[first].high);
            xb_svg_path(stream, "whisker", "M# #L# #M# #h8M# #h8", x, low, x, high, x - 4.0, low,
                        x - 4.0, high);
        } else if (end > first) {
            xb_svg_path_begin(stream, "band");
            for (size_t i = first; i < end; i++)
                xb_svg_form(stream, i == first ? "M# #" : "L# #", XB_X(frame, points[i].x),
                            XB_Y(frame, points[i].high));
            for (size_t i = end; i-- > first;)
                xb_svg_form(stream, i == first ? "L# #z" : "L# #", XB_X(frame, points[i].x),
                            XB_Y(frame, points[i].low));
            xb_svg_path_end(stream);
        }
    }
    xb_svg_path_begin(stream, "line");
    for (size_t i = 0; i < series->count; i++)
        if (is_shown(chart, &points[i]))
            xb_svg_form(stream, i > 0 && is_shown(chart, &points[i - 1]) ? "L# #" : "M# #",
                        XB_X(frame, points[i].x), XB_Y(frame, points[i].y));
    xb_svg_path_end(stream);
    for (size_t i = 0; series->count <= MARKERS && i < series->count; i++) {
        snprintf(tip, sizeof tip, "%.100s%s%s: %.4g %.60s", series->name,
                 series->name[0] != '\0' ? ", " : "", XB_TICK_TEXT(&frame->x, points[i].x),
                 points[i].y + 0.0, chart->y.label);
        if (is_shown(chart, &points[i]))
            xb_svg_marker(stream, xb_series_look(index), XB_X(frame, points[i].x),
                          XB_Y(frame, points[i].y), tip);
    }
    xb_svg_group_end(stream);
}

void xb_chart_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_chart *chart = picture;
    struct drawing drawing = {.chart = chart,
                              .frame = {.picture = &chart->picture,
                                        .width = XB_PLOT_WIDTH,
                                        .top = TOP,
                                        .bottom = TOP + HEIGHT,
                                        .x_label = chart->x.label,
                                        .y_label = chart->y.label}};
    struct xb_frame *frame = &drawing.frame;
    double places[XB_PLOT_SERIES + XB_LEVELS_MOST];
    drawing.series_count = xb_frame_take(frame, chart->series_count, XB_CHART_SERIES, "curves are");
    place_axes(&drawing);
    xb_frame_begin(stream, frame, is_alone);
    for (size_t i = 0; i < drawing.end_count; i++) {
        places[i] = XB_Y(frame, drawing.ends[i].at);
        if (strcmp(drawing.ends[i].look, "limit") == 0)
            xb_svg_line(stream, "level", frame->left, places[i], frame->right, places[i]);
    }
    if (chart->mark != 0.0 && xb_scale_shows(chart->x.scale, chart->mark)) {
        double x = XB_X(frame, chart->mark);
        xb_svg_line(stream, "mark", x, frame->top, x, frame->bottom);
    }
    for (size_t i = 0; i < drawing.series_count; i++)
        draw_series(stream, &drawing, i);
    xb_spread(places, drawing.end_count, XB_LINE_HEIGHT - 3.0, frame->top, frame->bottom);
    for (size_t i = 0; i < drawing.end_count; i++) {
        xb_svg_group_begin(stream, drawing.ends[i].look, NULL);
        xb_svg_text(stream, "of-line", frame->right + 7.0, places[i], ENDS_WIDTH,
                    drawing.ends[i].name);
        xb_svg_group_end(stream);
    }
    xb_frame_end(stream, frame);
}
