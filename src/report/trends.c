/* SPDX-License-Identifier: Apache-2.0 */
/* Files of several dates: how each case went, and where it changed. */
#include "sections.h"

#include "base/arena.h"
#include "base/note.h"
#include "record/shown_parameters.h"
#include "trend.h"
#include "ways.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRENDS 400 /* cases of all files together: more are counted */
#define TESTED 40  /* those of most files, and of these the largest */
#define DRAWN 12

struct state {
    struct xb_trend *trends;
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

static void add_place(struct xb_words *words, const struct xb_record *record,
                      const struct xb_record_case *test)
{
    const struct xb_record_device *device = xb_record_device(record, test->device);
    xb_words_add(words, "%.200s on host %.200s, backend %.60s",
                 device != NULL ? device->name : "several devices",
                 record->host.hostname != NULL ? record->host.hostname : "not known",
                 record->backend);
}

static const char *keep(struct state *state, const char *text)
{
    const char *kept = xb_arena_print(&state->texts, "%s", text);
    state->failed = state->failed || kept == NULL;
    return kept;
}

/* The trend of that key and place; NULL where there is no room or no memory. */
static struct xb_trend *find(struct state *state, const char *key, const char *place,
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
    struct xb_trend *trend = &state->trends[state->count];
    trend->key = keep(state, key);
    add_name(&name, document, test, &state->shown);
    trend->name = keep(state, name.text);
    trend->place = keep(state, place);
    if (state->failed)
        return NULL;
    state->count++;
    return trend;
}

static void add_point(struct state *state, struct xb_trend *trend,
                      const struct xb_trend_point *point)
{
    if (trend->count == XB_CHANGE_VALUES) {
        state->left_out++;
        return;
    }
    if (trend->count == trend->capacity) {
        size_t capacity = trend->capacity == 0 ? 8 : 2 * trend->capacity;
        struct xb_trend_point *grown = realloc(trend->points, capacity * sizeof *grown);
        state->failed = grown == NULL;
        if (grown == NULL)
            return;
        trend->points = grown;
        trend->capacity = capacity;
    }
    trend->points[trend->count++] = *point;
}

static void take_case(struct state *state, const struct xb_report_document *document,
                      const struct xb_record_case *test, const struct xb_trend_point *of)
{
    struct xb_words key = {.length = 0};
    struct xb_words place = {.length = 0};
    struct xb_statistics value;
    if (!xb_way_value(document->record, test, &value))
        return;
    add_name(&key, document, test, NULL);
    add_place(&place, document->record, test);
    struct xb_trend *trend = find(state, key.text, place.text, document, test);
    if (trend == NULL)
        return;
    struct xb_trend_point point = *of;
    point.value = value.median;
    point.low = value.has_interval ? value.ci95_low : (double)NAN;
    point.high = value.has_interval ? value.ci95_high : (double)NAN;
    trend->unit = xb_way_unit(test);
    trend->bytes = test->bytes;
    add_point(state, trend, &point);
}

static enum xb_status take(void **own, const struct xb_report_document *document,
                           struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct state *state = *own;
    if (record == NULL || !isfinite(document->date))
        return XB_OK;
    if (state == NULL) {
        state = calloc(1, sizeof *state);
        *own = state;
        if (state != NULL)
            state->trends = calloc(TRENDS, sizeof *state->trends);
        if (state == NULL || state->trends == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report");
    }
    state->shown = xb_parameters_that_differ(record);
    const struct xb_trend_point point = {
        .date = document->date,
        .file = document->number,
        .driver = keep(state, record->driver != NULL ? record->driver : "not known"),
        .kernel = keep(state, record->host.kernel != NULL ? record->host.kernel : "not known")};
    for (size_t i = 0; i < record->case_count && !state->failed; i++)
        take_case(state, document, &record->cases[i], &point);
    return state->failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report") : XB_OK;
}

/* ---- what is worth a picture ---- */

static bool is_trend(const struct xb_trend *trend)
{
    size_t dates = trend->count > 0;
    for (size_t i = 1; i < trend->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && trend->points[k].date != trend->points[i].date;
        dates += is_new;
        if (dates >= XB_TREND_LEAST)
            return true;
    }
    return false;
}

static bool speaks(const void *own)
{
    const struct state *state = own;
    for (size_t i = 0; state != NULL && i < state->count; i++)
        if (is_trend(&state->trends[i]))
            return true;
    return false;
}

static int by_weight(const void *a, const void *b)
{
    const struct xb_trend *one = *(const struct xb_trend *const *)a;
    const struct xb_trend *other = *(const struct xb_trend *const *)b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return (one > other) - (one < other);
}

static int by_change(const void *a, const void *b)
{
    const struct xb_trend *one = *(const struct xb_trend *const *)a;
    const struct xb_trend *other = *(const struct xb_trend *const *)b;
    if (one->change.is_there != other->change.is_there)
        return one->change.is_there ? -1 : 1;
    return by_weight(a, b);
}

static int by_number(double one, double other)
{
    return (one > other) - (one < other);
}

static int by_date(const void *a, const void *b)
{
    const struct xb_trend_point *one = a;
    const struct xb_trend_point *other = b;
    int order = by_number(one->date, other->date);
    if (order == 0)
        order = by_number(one->value, other->value);
    return order != 0 ? order : (one->file > other->file) - (one->file < other->file);
}

/* Whether two files hold one measurement: a copy, or the same file twice. */
static bool is_copy(const struct xb_trend_point *one, const struct xb_trend_point *other)
{
    return one->date == other->date && one->value == other->value &&
           by_number(one->low, other->low) == 0 && by_number(one->high, other->high) == 0;
}

/* By date, and each measurement once: copies are no further evidence of a change. */
static void put_in_order(struct xb_trend *trend)
{
    size_t kept = 0;
    qsort(trend->points, trend->count, sizeof *trend->points, by_date);
    for (size_t i = 0; i < trend->count; i++)
        if (kept == 0 || !is_copy(&trend->points[kept - 1], &trend->points[i]))
            trend->points[kept++] = trend->points[i];
    trend->count = kept;
}

static enum xb_status find_change(struct xb_trend *trend, size_t rows, struct xb_error *error)
{
    double *values = malloc(trend->count * sizeof *values);
    if (values == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a trend");
    for (size_t i = 0; i < trend->count; i++)
        values[i] = trend->points[i].value;
    enum xb_status status = xb_change_find(values, trend->count, rows, &trend->change, error);
    free(values);
    return status;
}

/* ---- writing ---- */

static size_t tested_of(struct xb_trend *const *list, size_t count)
{
    size_t tested = 0;
    for (size_t i = 0; i < count; i++)
        tested += list[i]->count >= 2 * (size_t)XB_CHANGE_SIDE;
    return tested;
}

static void write_overview(struct xb_page *page, struct xb_trend *const *list, size_t count)
{
    char before[32];
    char after[32];
    char date[64];
    xb_page_table_begin(page, "Cases of several dates");
    xb_page_column(page, "Where", false);
    xb_page_column(page, "Case", false);
    xb_page_column(page, "Files", true);
    xb_page_column(page, "Changed", false);
    xb_page_column(page, "Before", true);
    xb_page_column(page, "After", true);
    xb_page_column(page, "Unit", false);
    for (size_t i = 0; i < count; i++) {
        const struct xb_trend *trend = list[i];
        const struct xb_change *change = &trend->change;
        xb_page_cell(page, "%s", trend->place);
        xb_page_cell(page, "%s", trend->name);
        xb_page_cell(page, "%zu", trend->count);
        if (change->is_there)
            xb_page_cell(page, "before %s",
                         xb_trend_date(trend->points[change->at].date, date, sizeof date));
        else
            xb_page_cell(page, "%s", change->is_tested ? "no" : "too few files to tell");
        xb_page_cell(page, "%s",
                     change->is_there ? xb_way_value_text(change->before, before, sizeof before)
                                      : "-");
        xb_page_cell(page, "%s",
                     change->is_there ? xb_way_value_text(change->after, after, sizeof after)
                                      : "-");
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

/* Where two have one name, that of each says all that makes it. */
static void tell_apart(struct xb_trend *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(list[i]->name, list[k]->name) == 0 &&
                strcmp(list[i]->place, list[k]->place) == 0)
                list[i]->name = list[i]->key;
}

static enum xb_status write_list(struct xb_page *page, struct xb_trend **list, size_t count,
                                 struct xb_error *error)
{
    enum xb_status status = XB_OK;
    size_t tested = tested_of(list, count);
    tell_apart(list, count);
    for (size_t i = 0; status == XB_OK && i < count; i++)
        status = find_change(list[i], tested, error);
    qsort(list, count, sizeof(struct xb_trend *), by_change);
    if (status != XB_OK)
        return status;
    write_method(page, tested);
    write_overview(page, list, count);
    for (size_t i = 0; status == XB_OK && i < count && i < DRAWN; i++)
        status = xb_trend_write(page, list[i], error);
    if (count > DRAWN)
        xb_page_remark(page, "Of %zu cases the first %d have a picture.", count, DRAWN);
    return status;
}

static enum xb_status write(struct xb_page *page, const void *own, struct xb_error *error)
{
    const struct state *state = own;
    size_t count = 0;
    struct xb_trend **list = calloc(state->count + 1, sizeof(struct xb_trend *));
    if (list == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report");
    for (size_t i = 0; i < state->count; i++) {
        if (!is_trend(&state->trends[i]))
            continue;
        put_in_order(&state->trends[i]);
        list[count++] = &state->trends[i];
    }
    qsort(list, count, sizeof(struct xb_trend *), by_weight);
    size_t looked_at = count < TESTED ? count : TESTED;
    enum xb_status status = write_list(page, list, looked_at, error);
    if (status == XB_OK && (count > looked_at || state->left_out > 0))
        xb_page_remark(page,
                       "%zu more cases are of several dates, and %zu figures of yet others "
                       "were not kept: give fewer files, or files of fewer cases.",
                       count - looked_at, state->left_out);
    free(list);
    return status;
}

static void free_state(void *own)
{
    struct state *state = own;
    if (state == NULL)
        return;
    for (size_t i = 0; state->trends != NULL && i < state->count; i++)
        free(state->trends[i].points);
    free(state->trends);
    xb_arena_free(state->texts);
    free(state);
}

const struct xb_common_section xb_section_trends = {
    .name = "trends",
    .title = "By date",
    .take = take,
    .speaks = speaks,
    .write = write,
    .free = free_state,
};
