/* SPDX-License-Identifier: Apache-2.0 */
/* Files of several dates: how each case went, and where it changed. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/text.h"
#include "fleet/internal.h"
#include "record/shown_parameters.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRENDS 400 /* cases of all files together: more are counted */
#define TESTED 40  /* those of most files, and of these the largest */
#define DRAWN 12
#define LEAST 3 /* files of different dates that make a trend */

/* One case by date, of files of one host, backend and GPU model. */
struct point {
    double date;                 /* seconds since 1970 */
    double value, low, high;     /* NAN: no interval */
    size_t file;                 /* its number in the report */
    const char *driver, *kernel; /* "not known" */
};

struct trend {
    const char *key;   /* all that makes the case */
    const char *name;  /* "pinned registered h2d 1 GiB, device 0" */
    const char *place; /* "NVIDIA H200 on host vm-1, backend cuda" */
    const char *unit;  /* "GB/s", "us" */
    uint64_t bytes;
    struct point *points; /* by date when they are written */
    size_t count, capacity;
    struct xb_change change;
};

struct state {
    struct trend trends[TRENDS];
    size_t count, left_out;
    struct xb_arena *texts;
    struct xb_parameters shown; /* that tell cases of the file apart that is taken */
    bool failed;                /* memory was short */
};

/* ---- taking ---- */

/* "pinned registered h2d 1 GiB, chunk 8 MiB, device 0", with all parameters that have not their
 * default, which an older program's file lacks (NULL), or with those alone that tell cases of this
 * file apart. */
static void add_name(struct xb_words *words, const struct xb_report_document *document,
                     const struct xb_record_case *test, const struct xb_parameters *which)
{
    char text[64];
    xb_words_add(words, "%.60s %.60s %.20s%s %s", test->mode, test->variant, test->direction,
                 test->latency ? " latency" : "", xb_size_format(test->bytes, text, sizeof text));
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        const char *value = xb_parameter_text(test, own->name, text, sizeof text);
        if (value != NULL &&
            (which == NULL ? !xb_parameter_is_default(document->defaults, document->rows, own)
                           : xb_parameter_differs(which, test, own->name)))
            xb_words_add(words, ", %.60s %.60s", own->name, value);
    }
    xb_words_add(words, ", device %s%s", xb_record_case_device(test, text, sizeof text),
                 test->simultaneous ? ", at the same time" : "");
}

static const char *keep(struct state *state, const char *text)
{
    const char *kept = xb_arena_print(&state->texts, "%s", text);
    state->failed = state->failed || kept == NULL;
    return kept;
}

/* The trend of that key and place; NULL where there is no room or no memory. */
static struct trend *find(struct state *state, const char *key, const char *place,
                          const struct xb_report_document *document,
                          const struct xb_record_case *test)
{
    struct xb_words name = {.length = 0};
    for (size_t i = 0; i < state->count; i++)
        if (strcmp(state->trends[i].key, key) == 0 && strcmp(state->trends[i].place, place) == 0)
            return &state->trends[i];
    if (state->count == TRENDS) {
        state->left_out++;
        return NULL;
    }
    add_name(&name, document, test, &state->shown);
    struct trend *trend = &state->trends[state->count];
    trend->key = keep(state, key);
    trend->name = keep(state, name.text);
    trend->place = keep(state, place);
    trend->unit = xb_way_unit(test);
    trend->bytes = test->bytes;
    state->count += !state->failed;
    return state->failed ? NULL : trend;
}

static void add_point(struct state *state, struct trend *trend, const struct point *point)
{
    if (trend->count == XB_CHANGE_VALUES) {
        state->left_out++;
        return;
    }
    if (trend->count == trend->capacity) {
        size_t capacity = trend->capacity == 0 ? 8 : 2 * trend->capacity;
        struct point *grown = realloc(trend->points, capacity * sizeof *grown);
        state->failed = grown == NULL;
        if (grown == NULL)
            return;
        trend->points = grown;
        trend->capacity = capacity;
    }
    trend->points[trend->count++] = *point;
}

static void take_case(struct state *state, const struct xb_report_document *document,
                      const struct xb_record_case *test, struct point point)
{
    const struct xb_record *record = document->record;
    const struct xb_record_device *device = xb_record_device(record, test->device);
    struct xb_words key = {.length = 0};
    struct xb_words place = {.length = 0};
    struct xb_statistics value;
    if (!xb_way_value(record, test, &value))
        return;
    add_name(&key, document, test, NULL);
    xb_words_add(&place, "%.200s on host %.200s, backend %.60s",
                 device != NULL ? device->name : "several devices",
                 record->host.hostname != NULL ? record->host.hostname : "not known",
                 record->backend);
    struct trend *trend = find(state, key.text, place.text, document, test);
    if (trend == NULL)
        return;
    point.value = value.median;
    point.low = value.ci95_low;
    point.high = value.ci95_high;
    add_point(state, trend, &point);
}

static enum xb_status take(void *own, const struct xb_report_document *document,
                           struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct state *state = own;
    if (record == NULL || !isfinite(document->date))
        return XB_OK;
    state->shown = xb_parameters_that_differ(record);
    const struct point point = {
        .date = document->date,
        .file = document->number,
        .driver = keep(state, record->driver != NULL ? record->driver : "not known"),
        .kernel = keep(state, record->host.kernel != NULL ? record->host.kernel : "not known")};
    for (size_t i = 0; i < record->case_count && !state->failed; i++)
        take_case(state, document, &record->cases[i], point);
    return state->failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report") : XB_OK;
}

/* ---- what is worth a picture ---- */

static bool is_trend(const struct trend *trend)
{
    size_t dates = trend->count > 0;
    for (size_t i = 1; i < trend->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && trend->points[k].date != trend->points[i].date;
        dates += is_new;
        if (dates >= LEAST)
            return true;
    }
    return false;
}

static bool speaks(const void *own)
{
    const struct state *state = own;
    for (size_t i = 0; i < state->count; i++)
        if (is_trend(&state->trends[i]))
            return true;
    return false;
}

static int by_weight(const void *a, const void *b)
{
    const struct trend *one = *(const struct trend *const *)a;
    const struct trend *other = *(const struct trend *const *)b;
    return XB_FIRST_ORDER(XB_ORDER(other->count, one->count), XB_ORDER(other->bytes, one->bytes),
                          XB_ORDER(one, other));
}

static int by_change(const void *a, const void *b)
{
    const struct trend *one = *(const struct trend *const *)a;
    const struct trend *other = *(const struct trend *const *)b;
    return XB_FIRST_ORDER(XB_ORDER(other->change.is_there, one->change.is_there), by_weight(a, b));
}

static int by_date(const void *a, const void *b)
{
    const struct point *one = a;
    const struct point *other = b;
    return XB_FIRST_ORDER(XB_ORDER(one->date, other->date), XB_ORDER(one->value, other->value),
                          XB_ORDER(one->file, other->file));
}

/* By date, and each measurement once: copies, or the same file twice, are no further evidence of a
 * change. */
static void put_in_order(struct trend *trend)
{
    size_t kept = 0;
    qsort(trend->points, trend->count, sizeof *trend->points, by_date);
    for (size_t i = 0; i < trend->count; i++) {
        const struct point *last = kept > 0 ? &trend->points[kept - 1] : NULL;
        const struct point *next = &trend->points[i];
        if (last == NULL || last->date != next->date || last->value != next->value ||
            XB_ORDER(last->low, next->low) != 0 || XB_ORDER(last->high, next->high) != 0)
            trend->points[kept++] = *next;
    }
    trend->count = kept;
}

/* ---- writing ---- */

/* The value that all of some points have; NULL where they differ. */
static const char *common(const struct point *points, size_t count, bool driver)
{
    const char *first = driver ? points[0].driver : points[0].kernel;
    for (size_t i = 1; i < count; i++)
        if (strcmp(driver ? points[i].driver : points[i].kernel, first) != 0)
            return NULL;
    return first;
}

/* What else is not the same before and after, where it is the same within both. */
static void tell_condition(struct xb_page *page, const struct trend *trend, bool driver)
{
    size_t at = trend->change.at;
    const char *before = common(trend->points, at, driver);
    const char *after = common(trend->points + at, trend->count - at, driver);
    if (before != NULL && after != NULL && strcmp(before, after) != 0)
        xb_page_paragraph(page, "At the same place the %s changed from %.200s to %.200s.",
                          driver ? "driver" : "kernel", before, after);
}

static void tell_change(struct xb_page *page, const struct trend *trend)
{
    const struct xb_change *change = &trend->change;
    char last[64];
    char first[64];
    char before[32];
    char after[32];
    if (!change->is_tested || !change->is_there)
        return;
    xb_page_paragraph(
        page,
        "Between %s and %s it changed: from %s to %s %s (%+.3g %%), medians of %zu and %zu files. "
        "By "
        "chance alone a row of such values looks like this with a probability of %.2g.",
        xb_report_date(trend->points[change->at - 1].date, last, sizeof last),
        xb_report_date(trend->points[change->at].date, first, sizeof first),
        xb_decimal_text(change->before, before, sizeof before),
        xb_decimal_text(change->after, after, sizeof after), trend->unit,
        100 * (change->after / change->before - 1), change->at, trend->count - change->at,
        change->probability);
    tell_condition(page, trend, true);
    tell_condition(page, trend, false);
}

/* A picture of the trend with its numbers. */
static void write_trend(struct xb_page *page, const struct trend *trend)
{
    const struct xb_change *change = &trend->change;
    struct xb_point *points = xb_page_allocate(page, trend->count, sizeof *points);
    char text[64];
    char last[64];
    double mark = (double)NAN;
    if (points == NULL)
        return;
    xb_page_title(page, "%s: %s", trend->place, trend->name);
    tell_change(page, trend);
    for (size_t i = 0; i < trend->count; i++) {
        const struct point *point = &trend->points[i];
        points[i] = (struct xb_point){point->date, point->value, point->low, point->high, false};
    }
    if (change->is_there)
        mark = (trend->points[change->at - 1].date + trend->points[change->at].date) / 2;
    const struct xb_series series = {trend->name, points, trend->count};
    struct xb_chart chart = {
        .picture = {.title = xb_page_print(page, "%.250s, by date", trend->name),
                    .description = xb_page_print(
                        page,
                        "%zu files from %s to %s, a point for each with the interval of its "
                        "median. %s",
                        trend->count, xb_report_date(trend->points[0].date, text, sizeof text),
                        xb_report_date(trend->points[trend->count - 1].date, last, sizeof last),
                        change->is_there ? "An upright line marks where the values changed."
                                         : "No change is marked.")},
        .x = {XB_SCALE_DATE, "date (UTC)"},
        .y = {XB_SCALE_LINEAR, trend->unit},
        .y_from_data = true,
        .series = &series,
        .series_count = 1,
        .marks = &mark,
        .mark_count = change->is_there ? 1 : 0};
    xb_page_picture(page, xb_chart_draw, &chart);
    xb_page_table_begin(page, trend->name, "Date|#File");
    xb_page_column(page, trend->unit, true);
    xb_page_column(page, "95 % interval", true);
    xb_page_column(page, "Driver", false);
    for (size_t i = 0; i < trend->count; i++) {
        const struct point *point = &trend->points[i];
        xb_page_cell(page, "%s", xb_report_date(point->date, text, sizeof text));
        xb_page_cell(page, "%zu", point->file);
        xb_page_cell(page, "%s", xb_decimal_text(point->value, text, sizeof text));
        xb_way_put_interval(page, point->low, point->high);
        xb_page_cell(page, "%s", point->driver);
    }
    xb_page_table_end(page);
}

static void write_overview(struct xb_page *page, struct trend *const *list, size_t count)
{
    char before[32];
    char after[32];
    char date[64];
    xb_page_table_begin(page, "Cases of several dates",
                        "Where|Case|#Files|Changed|#Before|#After|Unit");
    for (size_t i = 0; i < count; i++) {
        const struct trend *trend = list[i];
        const struct xb_change *change = &trend->change;
        XB_PAGE_CELLS(page, trend->place, trend->name);
        xb_page_cell(page, "%zu", trend->count);
        if (change->is_there)
            xb_page_cell(page, "before %s",
                         xb_report_date(trend->points[change->at].date, date, sizeof date));
        else
            xb_page_cell(page, "%s", change->is_tested ? "no" : "too few files to tell");
        xb_page_cell_if(page, change->is_there, "%s",
                        xb_decimal_text(change->before, before, sizeof before));
        xb_page_cell_if(page, change->is_there, "%s",
                        xb_decimal_text(change->after, after, sizeof after));
        xb_page_cell(page, "%s", trend->unit);
    }
    xb_page_table_end(page);
}

static void write_method(struct xb_page *page, size_t tested)
{
    if (tested == 0) {
        xb_page_remark(page, "No change is looked for: that takes %d files on each side of it.",
                       XB_CHANGE_SIDE);
        return;
    }
    xb_page_remark(page,
                   "Whether there is a change says a test by ranks, with at least %d files on each "
                   "side; its place is where two medians explain most. One is told where "
                   "chance alone would "
                   "show any in at most %g %% of such reports: %zu case%s, together. A slow drift "
                   "looks like a change too.",
                   XB_CHANGE_SIDE, 100 * XB_CHANGE_LEVEL, tested,
                   tested == 1 ? " is looked at" : "s are looked at");
}

static void write(struct xb_page *page, void *own)
{
    struct state *state = own;
    struct trend **list = xb_page_allocate(page, state->count, sizeof(struct trend *));
    size_t all = 0;
    size_t tested = 0;
    if (list == NULL)
        return;
    for (size_t i = 0; i < state->count; i++) {
        if (!is_trend(&state->trends[i]))
            continue;
        put_in_order(&state->trends[i]);
        list[all++] = &state->trends[i];
    }
    qsort(list, all, sizeof(struct trend *), by_weight);
    size_t count = all < TESTED ? all : TESTED;
    for (size_t i = 0; i < count; i++)
        tested += list[i]->count >= 2 * (size_t)XB_CHANGE_SIDE;
    /* Where two have one name, that of each says all that makes it. */
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i]->name, list[k]->name) == 0 &&
                strcmp(list[i]->place, list[k]->place) == 0)
                list[i]->name = list[i]->key;
    /* `tested`: how many of them are long enough. */
    double *values = xb_page_allocate(page, XB_CHANGE_VALUES, sizeof *values);
    enum xb_status status = page->error.status;
    for (size_t i = 0; status == XB_OK && i < count; i++) {
        struct trend *trend = list[i];
        for (size_t k = 0; k < trend->count; k++)
            values[k] = trend->points[k].value;
        status = xb_change_find(values, trend->count, tested, &trend->change, &page->error);
    }
    if (page->error.status != XB_OK)
        return;
    qsort(list, count, sizeof(struct trend *), by_change);
    write_method(page, tested);
    write_overview(page, list, count);
    for (size_t i = 0; i < count && i < DRAWN; i++)
        write_trend(page, list[i]);
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
    xb_arena_free(state->texts);
}

const struct xb_common_section xb_section_trends = {
    .name = "trends",
    .title = "By date",
    .state_size = sizeof(struct state),
    .take = take,
    .speaks = speaks,
    .write = write,
    .free = free_state,
};
