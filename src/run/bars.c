/* SPDX-License-Identifier: Apache-2.0 */
/* Which results stand in which bars, in which order. bars_tables.c prints them; a page draws them.
 */
#define _GNU_SOURCE
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "modes/readings/piece_grid.h"
#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test)
{
    return (record->is_merged || !xb_case_is_in_matrix(record, test)) &&
           !xb_case_was_not_run(record, test);
}

/* Names a bar by what tells it from the others, "async, chunk 8 MiB". Names and titles of tables of
 * one way decide how wide the first column is. */
static void name_bar(struct xb_bar *bar, struct xb_bars *view)
{
    const struct xb_record_case *test = bar->test;
    char text[64];
    xb_method_name(test, bar->name, sizeof bar->name);
    for (size_t i = 0; i < view->parameters.count; i++) {
        const char *name = view->parameters.names[i];
        size_t used = strlen(bar->name);
        bool is_swept = view->swept != NULL && strcmp(name, view->swept->name) == 0;
        if (!is_swept && xb_parameter_differs(&view->parameters, test, name) &&
            xb_parameter_text(test, name, text, sizeof text) != NULL)
            snprintf(bar->name + used, sizeof bar->name - used, ", %s %s", name, text);
    }
    size_t name = strlen(bar->name) + strlen("  ");
    size_t title =
        strlen(xb_direction_words(test)) + strlen(", ") + strlen(XB_SIZE_TEXT(test->bytes));
    size_t most = bar->kind != XB_BAR_OTHER && title > name ? title : name;
    view->name_width = most > view->name_width ? most : view->name_width;
}

/* Makes bars of the cases that belong here and have a figure or failed. */
static void make_bars(struct xb_bars *view)
{
    const struct xb_record *record = view->record;
    view->count = view->name_width = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        const struct xb_mode *mode = xb_mode_find(test->mode);
        const struct xb_record_summary summary = xb_record_summarize(record, test);
        bool is_elsewhere = !xb_table_has_row(record, test) || test->simultaneous ||
                            xb_case_is_in_matrix(record, test) || xb_case_is_in_grid(test) ||
                            view->sweeps[i] != view->sweep;
        bool has_own = mode != NULL && mode->headline != NULL && !test->latency;
        struct xb_bar bar = {
            .test = test,
            .figure = has_own ? mode->headline : xb_mode_main_figure(test->mode, test->latency),
            .kind = strcmp(test->direction, "h2d") == 0   ? XB_BAR_TO
                    : strcmp(test->direction, "d2h") == 0 ? XB_BAR_BACK
                                                          : XB_BAR_OTHER,
            .copy_time = (double)INFINITY,
            .is_encoded = mode != NULL && mode->crosses_otherwise && mode->only_named,
            .part = view->swept != NULL ? test->bytes : 0,
            .flaw = summary.verified == XB_VERIFIED_FALSE ? "WRONG DATA"
                    : summary.status != XB_RESULT_OK      ? "FAILED"
                    : summary.cut > 0                     ? "cut short"
                                                          : ""};
        bar.is_time = strcmp(bar.figure->unit, XB_UNIT_SECONDS) == 0;
        if (is_elsewhere)
            continue;
        struct xb_statistics *s = &bar.s;
        double unit = bar.is_time ? 1 : 1e9;
        double whole = xb_record_median(record, test, xb_figure_wall_time.name);
        if (xb_record_describe(record, test, bar.figure->name, s)) {
            s->median /= unit;
            s->p99 /= unit;
            s->ci95_low /= unit;
            s->ci95_high /= unit;
            bar.rank = bar.is_time ? s->median : -s->median;
            /* Four digits, fewer where the interval is wide: 55.34, but 13.5 and 8.2. */
            double width = s->has_interval ? (s->ci95_high - s->ci95_low) / s->median : 0;
            bar.decimals = xb_decimals_for(s->median) - (width >= 0.05) - (width >= 0.1);
            bar.decimals = (int)fmax(bar.decimals, 0);
            if (!bar.is_time && test->bytes < XB_LARGE_BYTES && isfinite(whole))
                bar.copy_time = whole;
        }
        if (!(s->median > 0) && summary.status != XB_RESULT_ERROR)
            continue;
        name_bar(&bar, view);
        view->bars[view->count++] = bar;
    }
}

static int by_method(const void *a, const void *b, void *of)
{
    const struct xb_bars *view = of;
    const struct xb_record_case *left = ((const struct xb_bar *)a)->test;
    const struct xb_record_case *right = ((const struct xb_bar *)b)->test;
    const char *swept = view->swept != NULL ? view->swept->name : NULL;
    return XB_FIRST_ORDER(
        xb_cases_order(left, right, XB_BUT_SIZE | XB_BUT_DEVICES | XB_BUT_PARAMETERS),
        xb_parameters_order(left, right, swept));
}

int xb_bars_by_device(const struct xb_bar *a, const struct xb_bar *b)
{
    return XB_FIRST_ORDER(XB_ORDER(a->test->device, b->test->device), XB_ORDER(a->part, b->part));
}

int xb_bars_by_table(const struct xb_bar *a, const struct xb_bar *b)
{
    return XB_FIRST_ORDER(a->is_time - b->is_time, strcmp(a->figure->name, b->figure->name),
                          a->is_encoded - b->is_encoded, (int)a->kind - (int)b->kind);
}

int xb_bars_by_rank(const void *a, const void *b)
{
    const struct xb_bar *left = a, *right = b;
    return XB_FIRST_ORDER((left->flaw[0] != '\0') - (right->flaw[0] != '\0'),
                          XB_ORDER(left->rank, right->rank), XB_ORDER(left->test, right->test));
}

/* In the order in which they are printed: by device, table and size; then the fastest first. */
static int by_print(const void *a, const void *b, void *of)
{
    const struct xb_bars *view = of;
    const struct xb_bar *left = a, *right = b;
    int device = xb_bars_by_device(left, right);
    return XB_FIRST_ORDER(view->is_beside ? 0 : device, xb_bars_by_table(left, right), device,
                          XB_ORDER(left->test->bytes, right->test->bytes), xb_bars_by_rank(a, b));
}

/* Makes the bars of what a parameter is swept in, or of the rest. */
static void make_view(struct xb_bars *view)
{
    struct xb_bar *bars = view->bars;
    bool is_one_size = true;
    make_bars(view);
    view->is_beside = view->names_devices = false;
    qsort_r(bars, view->count, sizeof(struct xb_bar), by_method, view);
    for (size_t i = 1; i < view->count; i++) {
        bool is_same = by_method(&bars[i - 1], &bars[i], view) == 0;
        bool is_other = bars[i].test->device != bars[i - 1].test->device;
        bars[i].method = bars[i - 1].method + !is_same;
        view->names_devices |= is_other;
        view->is_beside |= is_same && is_other && view->swept == NULL;
        is_one_size = is_one_size && bars[i].test->bytes == bars[0].test->bytes;
    }
    view->is_beside = view->is_beside && is_one_size;
    qsort_r(bars, view->count, sizeof(struct xb_bar), by_print, view);
}

#define LEAST_VALUES 3 /* of a parameter that is swept, in so many sizes at most: */
#define MOST_SIZES 2

/* Whether it is one of the mode's copies that have the parameter. */
static bool is_of(const struct xb_record_case *test, const struct xb_mode *mode,
                  const struct xb_option *option)
{
    return strcmp(test->mode, mode->name) == 0 && !test->latency && !test->simultaneous &&
           test->peer < 0 && !xb_case_is_in_grid(test) &&
           xb_record_parameter(test, option->name)[0] != '\0';
}

/* The mode's first parameter that is a list of numbers and has several values, in few sizes; NULL:
 * none. */
static const struct xb_option *swept_option(const struct xb_record *record,
                                            const struct xb_mode *mode)
{
    for (const struct xb_parameter *own = mode->parameters; own != NULL && own->option != NULL;
         own++) {
        const struct xb_option *option = own->option;
        const char *values[LEAST_VALUES];
        uint64_t sizes[MOST_SIZES + 1];
        size_t value_count = 0, size_count = 0;
        if (option->type != XB_OPTION_SIZES && option->type != XB_OPTION_COUNTS)
            continue;
        for (size_t i = 0; size_count <= MOST_SIZES && i < record->case_count; i++) {
            const struct xb_record_case *test = &record->cases[i];
            size_t v = 0, k = 0;
            if (!is_of(test, mode, option))
                continue;
            const char *value = xb_record_parameter(test, option->name);
            while (v < value_count && strcmp(values[v], value) != 0)
                v++;
            if (v == value_count && value_count < LEAST_VALUES)
                values[value_count++] = value;
            while (k < size_count && sizes[k] != test->bytes)
                k++;
            sizes[k] = test->bytes;
            size_count += k == size_count;
        }
        if (value_count == LEAST_VALUES && size_count <= MOST_SIZES)
            return option;
    }
    return NULL;
}

void xb_bars_each(const struct xb_record *record, xb_bars_visit *visit, void *argument)
{
    size_t *sweeps = xb_new(record->case_count, sizeof *sweeps);
    struct xb_bars view = {.record = record,
                           .parameters = xb_parameters_that_differ(record),
                           .bars = xb_new(record->case_count, sizeof *view.bars),
                           .sweeps = sweeps};
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        const struct xb_option *option = swept_option(record, xb_modes[m]);
        for (size_t i = 0; option != NULL && i < record->case_count; i++)
            if (is_of(&record->cases[i], xb_modes[m], option))
                sweeps[i] = m + 1;
    }
    for (size_t m = 0; m == 0 || xb_modes[m - 1] != NULL; m++) {
        view.sweep = m;
        view.swept = m > 0 ? swept_option(record, xb_modes[m - 1]) : NULL;
        if (m > 0 && view.swept == NULL)
            continue;
        make_view(&view);
        visit(argument, &view);
    }
    free(sweeps);
    free(view.bars);
}
