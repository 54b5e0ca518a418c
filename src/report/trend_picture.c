/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* gmtime_r */
#include "trend.h"

#include "plot/chart.h"
#include "ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *xb_trend_date(double date, char *text, size_t size)
{
    time_t seconds = (time_t)date;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, size, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        snprintf(text, size, "-");
    return text;
}

/* ---- words ---- */

/* "+1.2 %" */
static const char *percent_text(double before, double after, char *text, size_t size)
{
    snprintf(text, size, "%+.3g %%", 100 * (after / before - 1));
    return text;
}

/* The value that all of some points have; NULL where they differ. */
static const char *common(const struct xb_trend_point *points, size_t count, bool driver)
{
    const char *first = driver ? points[0].driver : points[0].kernel;
    for (size_t i = 1; i < count; i++)
        if (strcmp(driver ? points[i].driver : points[i].kernel, first) != 0)
            return NULL;
    return first;
}

/* What else is not the same before and after, where it is the same within both. */
static void tell_condition(struct xb_page *page, const struct xb_trend *trend, bool driver)
{
    size_t at = trend->change.at;
    const char *before = common(trend->points, at, driver);
    const char *after = common(trend->points + at, trend->count - at, driver);
    if (before != NULL && after != NULL && strcmp(before, after) != 0)
        xb_page_paragraph(page, "At the same place the %s changed from %.200s to %.200s.",
                          driver ? "driver" : "kernel", before, after);
}

static void tell_change(struct xb_page *page, const struct xb_trend *trend)
{
    const struct xb_change *change = &trend->change;
    char last[64];
    char first[64];
    char before[32];
    char after[32];
    char percent[32];
    if (!change->is_tested || !change->is_there)
        return;
    xb_page_paragraph(
        page,
        "Between %s and %s it changed: from %s to %s %s (%s), medians of %zu and %zu files. By "
        "chance alone a row of such values looks like this with a probability of %.2g.",
        xb_trend_date(trend->points[change->at - 1].date, last, sizeof last),
        xb_trend_date(trend->points[change->at].date, first, sizeof first),
        xb_way_value_text(change->before, before, sizeof before),
        xb_way_value_text(change->after, after, sizeof after), trend->unit,
        percent_text(change->before, change->after, percent, sizeof percent), change->at,
        trend->count - change->at, change->probability);
    tell_condition(page, trend, true);
    tell_condition(page, trend, false);
}

static void describe(const struct xb_trend *trend, char *text, size_t size)
{
    char first[64];
    char last[64];
    snprintf(text, size,
             "%zu files from %s to %s, a point for each with the interval of its "
             "median. %s",
             trend->count, xb_trend_date(trend->points[0].date, first, sizeof first),
             xb_trend_date(trend->points[trend->count - 1].date, last, sizeof last),
             trend->change.is_there ? "An upright line marks where the values changed."
                                    : "No change is marked.");
}

/* ---- the picture ---- */

static enum xb_status draw(struct xb_page *page, const struct xb_trend *trend,
                           struct xb_error *error)
{
    char title[512];
    char description[512];
    struct xb_point *points = calloc(trend->count, sizeof *points);
    if (points == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    for (size_t i = 0; i < trend->count; i++) {
        const struct xb_trend_point *point = &trend->points[i];
        points[i] = (struct xb_point){point->date, point->value, point->low, point->high, false};
    }
    const struct xb_change *change = &trend->change;
    double mark = change->is_there
                      ? (trend->points[change->at - 1].date + trend->points[change->at].date) / 2
                      : (double)NAN;
    snprintf(title, sizeof title, "%.250s, by date", trend->name);
    describe(trend, description, sizeof description);
    const struct xb_series series = {trend->name, points, trend->count};
    const struct xb_chart chart = {.picture = {.title = title, .description = description},
                                   .x = {XB_SCALE_DATE, "date (UTC)"},
                                   .y = {XB_SCALE_LINEAR, trend->unit},
                                   .y_from_data = true,
                                   .series = &series,
                                   .series_count = 1,
                                   .marks = &mark,
                                   .mark_count = change->is_there ? 1 : 0};
    enum xb_status status = xb_page_chart(page, &chart, error);
    free(points);
    return status;
}

static void write_table(struct xb_page *page, const struct xb_trend *trend)
{
    char text[64];
    char low[32];
    char high[32];
    xb_page_table_begin(page, trend->name);
    xb_page_column(page, "Date", false);
    xb_page_column(page, "File", true);
    xb_page_column(page, trend->unit, true);
    xb_page_column(page, "95 % interval", true);
    xb_page_column(page, "Driver", false);
    for (size_t i = 0; i < trend->count; i++) {
        const struct xb_trend_point *point = &trend->points[i];
        xb_page_cell(page, "%s", xb_trend_date(point->date, text, sizeof text));
        xb_page_cell(page, "%zu", point->file);
        xb_page_cell(page, "%s", xb_way_value_text(point->value, text, sizeof text));
        if (isfinite(point->low))
            xb_page_cell(page, "%s to %s", xb_way_value_text(point->low, low, sizeof low),
                         xb_way_value_text(point->high, high, sizeof high));
        else
            xb_page_cell(page, "-");
        xb_page_cell(page, "%s", point->driver);
    }
    xb_page_table_end(page);
}

enum xb_status xb_trend_write(struct xb_page *page, const struct xb_trend *trend,
                              struct xb_error *error)
{
    xb_page_title(page, "%s: %s", trend->place, trend->name);
    tell_change(page, trend);
    enum xb_status status = draw(page, trend, error);
    if (status == XB_OK)
        write_table(page, trend);
    return status;
}
