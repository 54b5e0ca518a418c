/* SPDX-License-Identifier: Apache-2.0 */
/* Files of several dates: how each case went, and where it changed. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/order.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/units.h"
#include "fleet/internal.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TRENDS 400 /* cases of all files together: more are counted */
#define TESTED 40  /* those of most files, and of these the largest */
#define DRAWN 12
#define CONDITIONS 2
#define LEAST 3 /* files of different dates that make a trend */

/* One case by date, of files of one host, backend and GPU model. */
struct point {
    double date;                        /* seconds since 1970 */
    double value, low, high;            /* NAN: no interval */
    size_t file;                        /* its number in the report */
    const char *conditions[CONDITIONS]; /* driver and kernel, or "not known" */
};

struct trend {
    const char *key;   /* all that makes the case */
    const char *name;  /* "pinned to the GPU, 1 GiB" */
    const char *place; /* "NVIDIA H200 on vm-1, backend cuda" */
    const char *unit;  /* "GB/s", "us" */
    uint64_t bytes;
    struct point *points; /* by date when they are written */
    size_t count, dates;
    struct xb_change change;
};

struct state {
    struct trend trends[TRENDS];
    size_t count, left_out;
};

/* Adds a case to the trend of all that makes it, the parameters that have not their default among
 * that (an older program's file lacks them), and of its place. */
static void take_case(struct state *state, const struct xb_report_document *document,
                      const struct xb_record_case *test, struct point point)
{
    const struct xb_record *record = document->record;
    const struct xb_record_device *device = xb_record_device(record, test->device);
    struct xb_words key = {.length = 0}, place = {.length = 0};
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double size;
    const char *unit = xb_fleet_unit(figure->unit, &size);
    struct xb_statistics value;
    char text[64];
    size_t at = 0;
    if (!xb_record_describe(record, test, figure->name, &value) || !(value.median > 0))
        return;
    xb_words_add(&key, "%.60s %.60s %.20s%s %s", test->mode, test->variant, test->direction,
                 test->latency ? " latency" : "", XB_SIZE_TEXT(test->bytes));
    xb_case_add_parameters(&key, document, test, NULL);
    xb_words_add(&key, ", GPU %s%s", xb_record_case_device(test, text, sizeof text),
                 test->simultaneous ? ", at the same time" : "");
    xb_words_add(&place, "%.200s on %.200s, backend %.60s",
                 device != NULL ? device->name : "several devices",
                 record->host.hostname != NULL ? record->host.hostname : "not known",
                 record->backend);
    while (at < state->count && (strcmp(state->trends[at].key, key.text) != 0 ||
                                 strcmp(state->trends[at].place, place.text) != 0))
        at++;
    if (at == TRENDS || state->trends[at].count == XB_CHANGE_VALUES) {
        state->left_out++;
        return;
    }
    struct trend *trend = &state->trends[at];
    if (at == state->count) {
        state->count++;
        *trend = (struct trend){.key = xb_arena_copy(document->texts, key.text),
                                .name = xb_case_name(document->texts, document, test),
                                .place = xb_arena_copy(document->texts, place.text),
                                .unit = unit,
                                .bytes = test->bytes};
    }
    point.value = value.median / size;
    point.low = value.has_interval ? value.ci95_low / size : (double)NAN;
    point.high = value.has_interval ? value.ci95_high / size : (double)NAN;
    trend->points = xb_grow(trend->points, trend->count, sizeof *trend->points);
    trend->points[trend->count++] = point;
}

static void take(void *own, const struct xb_report_document *document, struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct state *state = own;
    (void)error;
    if (record == NULL || !isfinite(document->date))
        return;
    const char *driver = record->driver != NULL ? record->driver : "not known";
    const char *kernel = record->host.kernel != NULL ? record->host.kernel : "not known";
    const struct point point = {.date = document->date,
                                .file = document->number,
                                .conditions = {xb_arena_copy(document->texts, driver),
                                               xb_arena_copy(document->texts, kernel)}};
    for (size_t i = 0; i < record->case_count; i++)
        take_case(state, document, &record->cases[i], point);
}

/* Those that changed, which is known of none at first, then those of most files. */
XB_POINTER_COMPARER(by_weight, struct trend, XB_BY_GREATEST(change.is_there), XB_BY_GREATEST(count),
                    XB_BY_GREATEST(bytes), XB_ORDER(a, b))

XB_COMPARER(by_date, struct point, XB_BY(date), XB_BY(value), XB_BY(file))

/* Sorts by date, and leaves each measurement once: copies, or the same file twice, are no further
 * evidence of a change. Returns whether there are any with enough dates. */
static bool finish(void *own)
{
    struct state *state = own;
    bool any = false;
    XB_EACH (trend, state->trends, state->count) {
        size_t kept = 0;
        qsort(trend->points, trend->count, sizeof *trend->points, by_date);
        XB_EACH (next, trend->points, trend->count) {
            const struct point *last = kept > 0 ? &trend->points[kept - 1] : NULL;
            bool is_later = last == NULL || last->date != next->date;
            trend->dates += is_later;
            if (last == NULL || memcmp(last, next, offsetof(struct point, file)) != 0)
                trend->points[kept++] = *next;
        }
        trend->count = kept;
        any = any || trend->dates >= LEAST;
    }
    return any;
}

/* The condition that all of some points have; NULL where they differ. */
static const char *common(const struct point *points, size_t count, size_t condition)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(points[i].conditions[condition], points[0].conditions[condition]) != 0)
            return NULL;
    return points[0].conditions[condition];
}

static void write_change(struct xb_page *page, const struct trend *trend)
{
    static const char *const names[CONDITIONS] = {"driver", "kernel"};
    const struct xb_change *change = &trend->change;
    const struct point *first = &trend->points[change->at]; /* after it */
    xb_page_paragraph(
        page,
        "Between %s and %s it changed: from %s to %s %s (%+.3g %%), medians of %zu and %zu files. "
        "By chance alone a row of such values looks like this with a probability of %.2g.",
        XB_REPORT_DATE(first[-1].date), XB_REPORT_DATE(first->date),
        XB_DECIMAL_TEXT(change->before), XB_DECIMAL_TEXT(change->after), trend->unit,
        100 * (change->after / change->before - 1), change->at, trend->count - change->at,
        change->probability);
    /* What else is not the same before and after, where it is the same within both. */
    for (size_t i = 0; i < CONDITIONS; i++) {
        const char *before = common(trend->points, change->at, i);
        const char *after = common(first, trend->count - change->at, i);
        if (before != NULL && after != NULL && strcmp(before, after) != 0)
            xb_page_paragraph(page, "At the same place the %s changed from %.200s to %.200s.",
                              names[i], before, after);
    }
}

/* Shares of the median: what the axis has at least, so that what is next to nothing looks so. */
#define LEAST_SPAN 0.05
#define NEXT_TO_NOTHING 0.01

/* A picture of the trend with its numbers. */
static void write_trend(struct xb_page *page, const struct trend *trend, double *values)
{
    const struct xb_change *change = &trend->change;
    struct xb_point *points = xb_page_new(page, trend->count, sizeof *points);
    const char *within = "";
    double mark = 0.0;
    if (change->is_there)
        write_change(page, trend);
    for (size_t i = 0; i < trend->count; i++) {
        const struct point *point = &trend->points[i];
        points[i] = (struct xb_point){point->date, point->value, point->low, point->high};
        values[i] = point->value;
    }
    const struct xb_statistics s = xb_statistics_of(values, trend->count);
    if (s.max - s.min < NEXT_TO_NOTHING * s.median)
        within = xb_page_print(page, ": all within %.1f %%", 100.0 * (s.max - s.min) / s.median);
    if (change->is_there)
        mark = (trend->points[change->at - 1].date + trend->points[change->at].date) / 2;
    const struct xb_series series = {"", points, trend->count};
    struct xb_chart chart = {.x = {XB_SCALE_DATE, "date (UTC)"},
                             .y = {XB_SCALE_LINEAR, trend->unit},
                             .y_from_data = true,
                             .y_least = s.median * (1.0 - LEAST_SPAN / 2.0),
                             .y_most = s.median * (1.0 + LEAST_SPAN / 2.0),
                             .series = &series,
                             .series_count = 1,
                             .mark = mark};
    xb_page_picture(page, xb_chart_draw, &chart,
                    xb_page_print(page, "%.250s%s, %.200s", trend->name, within, trend->place),
                    "%zu files from %s to %s, a point for each with the interval of its median. %s",
                    trend->count, XB_REPORT_DATE(trend->points[0].date),
                    XB_REPORT_DATE(trend->points[trend->count - 1].date),
                    change->is_there ? "An upright line marks where the values changed."
                                     : "No change is marked.");
    xb_page_fold_begin(page, NULL, "Numbers:", "", trend->name);
    xb_page_table_begin(page, trend->name,
                        xb_page_print(page, "Date|#File|#%s|#95 %% interval|Driver", trend->unit));
    XB_EACH (point, trend->points, trend->count)
        XB_PAGE_CELLS(page, XB_REPORT_DATE(point->date), xb_page_print(page, "%zu", point->file),
                      XB_DECIMAL_TEXT(point->value),
                      isfinite(point->low)
                          ? xb_page_print(page, "%s to %s", XB_DECIMAL_TEXT(point->low),
                                          XB_DECIMAL_TEXT(point->high))
                          : NULL,
                      point->conditions[0]);
    xb_page_table_end(page);
    xb_page_fold_end(page);
}

static void write_overview(struct xb_page *page, struct trend *const *list, size_t count)
{
    xb_page_table_begin(page, "Cases of several dates",
                        "Where|Case|#Files|Changed|#Before|#After|Unit");
    for (size_t i = 0; i < count; i++) {
        const struct trend *trend = list[i];
        const struct xb_change *change = &trend->change;
        const char *changed = change->is_tested ? "no" : "too few files to tell";
        if (change->is_there)
            changed =
                xb_page_print(page, "before %s", XB_REPORT_DATE(trend->points[change->at].date));
        XB_PAGE_CELLS(page, trend->place, trend->name, xb_page_print(page, "%zu", trend->count),
                      changed, change->is_there ? XB_DECIMAL_TEXT(change->before) : NULL,
                      change->is_there ? XB_DECIMAL_TEXT(change->after) : NULL, trend->unit);
    }
    xb_page_table_end(page);
}

static void write(struct xb_page *page, void *own)
{
    struct state *state = own;
    struct trend **list = xb_page_new(page, state->count, sizeof(struct trend *));
    size_t all = 0, tested = 0;
    for (size_t i = 0; i < state->count; i++)
        if (state->trends[i].dates >= LEAST)
            list[all++] = &state->trends[i];
    qsort(list, all, sizeof(struct trend *), by_weight);
    size_t count = all < TESTED ? all : TESTED;
    for (size_t i = 0; i < count; i++) {
        tested += list[i]->count >= 2 * (size_t)XB_CHANGE_SIDE; /* it is long enough */
        /* If two trends have the same short name, the second has its full one. */
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i]->name, list[k]->name) == 0 &&
                strcmp(list[i]->place, list[k]->place) == 0)
                list[i]->name = list[i]->key;
    }
    double *values = xb_page_new(page, XB_CHANGE_VALUES, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        struct trend *trend = list[i];
        for (size_t k = 0; k < trend->count; k++)
            values[k] = trend->points[k].value;
        trend->change = xb_change_find(values, trend->count, tested);
    }
    qsort(list, count, sizeof(struct trend *), by_weight);
    if (tested == 0)
        xb_page_remark(page, "No change is looked for: that takes %d files on each side of it.",
                       XB_CHANGE_SIDE);
    else
        xb_page_remark(
            page,
            "Whether there is a change says a test by ranks, with at least %d files on each "
            "side; its place is where two medians explain most. One is told where chance alone "
            "would show any in at most %g %% of such reports: %zu case%s, together. A slow drift "
            "looks like a change too.",
            XB_CHANGE_SIDE, 100 * XB_CHANGE_LEVEL, tested,
            tested == 1 ? " is looked at" : "s are looked at");
    write_overview(page, list, count);
    for (size_t i = 0; i < count && i < DRAWN; i++)
        write_trend(page, list[i], values);
    if (count > DRAWN)
        xb_page_remark(page, "Of %zu cases the first %d have a picture.", count, DRAWN);
    if (all > count || state->left_out > 0)
        xb_page_remark(page,
                       "%zu more cases are of several dates, and %zu figures of yet others "
                       "were not kept: give fewer files, or files of fewer cases.",
                       all - count, state->left_out);
}

static void free_state(void *own)
{
    struct state *state = own;
    for (size_t i = 0; i < state->count; i++)
        free(state->trends[i].points);
}

const struct xb_common_section xb_section_trends = {
    "trends", "By date", sizeof(struct state), take, finish, write, free_state};
