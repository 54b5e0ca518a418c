/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the table, and what each cell shows. */
#define _GNU_SOURCE
#include "table.h"

#include "base/note.h"
#include "base/text.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The case that a row is of. */
struct subject {
    const struct xb_record *record;
    const struct xb_record_case *test;
    struct xb_record_summary summary;
};

static const struct xb_figure *main_figure_of(const struct xb_record_case *test)
{
    return xb_mode_main_figure(test->mode, test->latency);
}

/* ---- cells: each begins as "-", and stays so where there is nothing to show ---- */

typedef void cell_fill(const struct subject *subject, const struct xb_figure *figure, char *cell);

static void set_text(char *cell, const char *text)
{
    snprintf(cell, XB_TABLE_CELL, "%s", text);
    xb_make_plain(cell);
}

static void fill_mode(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    (void)figure;
    set_text(cell, subject->test->mode);
}

static void fill_variant(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    (void)figure;
    set_text(cell, subject->test->variant);
}

static void fill_direction(const struct subject *subject, const struct xb_figure *figure,
                           char *cell)
{
    (void)figure;
    set_text(cell, subject->test->direction);
}

static void fill_size(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    (void)figure;
    xb_size_format(subject->test->bytes, cell, XB_TABLE_CELL);
}

/* Devices that ran together have a table of their own, whose title says so. */
static void fill_device(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    (void)figure;
    xb_record_case_device(subject->test, cell, XB_TABLE_CELL);
}

/* A value of a figure, with as many digits as its median needs. */
static void set_value(char *cell, const struct xb_figure *figure, double value, double median)
{
    if (!isfinite(value))
        return;
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, cell, XB_TABLE_CELL);
    else
        snprintf(cell, XB_TABLE_CELL, "%.*f", xb_decimals_for(median / 1e9), value / 1e9);
}

static void fill_median(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    double median = xb_record_median(subject->record, subject->test, figure->name);
    set_value(cell, figure, median, median);
}

/* The figure that a row is about, or else why there is none. */
static void fill_main(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    const struct xb_record_summary *summary = &subject->summary;
    struct xb_statistics statistics;
    if (xb_record_describe(subject->record, subject->test, figure->name, &statistics))
        set_value(cell, figure, statistics.median, statistics.median);
    else if (subject->test->latency != (figure == &xb_figure_latency_host))
        return;
    else if (summary->status != XB_RESULT_OK)
        set_text(cell, summary->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR");
    else if (summary->cut > 0)
        set_text(cell, "cut short");
}

static void fill_interval(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (!xb_record_describe(subject->record, subject->test, figure->name, &s) || !s.has_interval)
        return;
    int decimals = xb_decimals_for(s.median / 1e9);
    snprintf(cell, XB_TABLE_CELL, "%.*f-%.*f", decimals, s.ci95_low / 1e9, decimals,
             s.ci95_high / 1e9);
}

static void fill_min(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (xb_record_describe(subject->record, subject->test, figure->name, &s))
        set_value(cell, figure, s.min, s.median);
}

static void fill_max(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (xb_record_describe(subject->record, subject->test, figure->name, &s))
        set_value(cell, figure, s.max, s.median);
}

static void fill_p95(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (xb_record_describe(subject->record, subject->test, figure->name, &s))
        set_value(cell, figure, s.p95, s.median);
}

static void fill_p99(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (xb_record_describe(subject->record, subject->test, figure->name, &s))
        set_value(cell, figure, s.p99, s.median);
}

static void fill_spread(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    struct xb_statistics s;
    if (xb_record_describe(subject->record, subject->test, figure->name, &s) && s.n > 1)
        snprintf(cell, XB_TABLE_CELL, "%.1f%%", 100 * (s.max - s.min) / s.median);
}

static bool has_share(const struct xb_record *record, const struct xb_record_case *test)
{
    return isfinite(xb_record_median(record, test, xb_figure_share_of_ceiling.name)) ||
           isfinite(xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name));
}

/* "95.5%"; of both ways at once "84.4+88.9%", to the device first. */
static void fill_share(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    double one = xb_record_median(subject->record, subject->test, figure->name);
    double to =
        xb_record_median(subject->record, subject->test, xb_figure_share_of_ceiling_h2d.name);
    double from =
        xb_record_median(subject->record, subject->test, xb_figure_share_of_ceiling_d2h.name);
    if (isfinite(one))
        snprintf(cell, XB_TABLE_CELL, "%.1f%%", 100 * one);
    else if (isfinite(to) && isfinite(from))
        snprintf(cell, XB_TABLE_CELL, "%.1f+%.1f%%", 100 * to, 100 * from);
}

/* Of one process its samples, also those of data that is wrong; of several those that count. */
static void fill_n(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    const struct xb_record_row *row = &subject->test->rows[0];
    const char *name = main_figure_of(subject->test)->name;
    struct xb_statistics statistics;
    size_t n = row->time_count;
    (void)figure;
    if (subject->record->is_merged)
        n = subject->summary.ok - subject->summary.cut;
    else if (xb_record_describe(subject->record, subject->test, name, &statistics))
        n = statistics.n;
    if (n > 0 || subject->record->is_merged)
        snprintf(cell, XB_TABLE_CELL, "%zu", n);
}

static void fill_verified(const struct subject *subject, const struct xb_figure *figure, char *cell)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    (void)figure;
    set_text(cell, verified[subject->summary.verified]);
}

/* ---- columns ---- */

/* Whose table has a column: rows of bandwidths, of single operations, or of any share of a link's
 * ceiling; one process or several. */
enum { RATES = 1, LATENCIES = 2, ROWS = RATES | LATENCIES, SHARES = 4 };
enum { ONE = 1, SEVERAL = 2, ANY = ONE | SEVERAL };

/* In which order columns leave a line that is too narrow: first those that say least of how fast a
 * copy is, or that follow from others. */
enum {
    STAYS,
    DONE_GOES,
    SUBMIT_GOES,
    N_GOES,
    P99_GOES,
    ENDS_GO,
    P95_GOES,
    SPREAD_GOES,
    INTERVAL_GOES,
    SHARE_GOES
};

struct xb_column {
    const char *name;
    bool to_the_right;
    unsigned char turn; /* to go, as above */
    unsigned rows, processes;
    cell_fill *fill;
    const struct xb_figure *figure; /* NULL: of none */
};

static const struct xb_column columns_of_case[] = {
    {"MODE", false, STAYS, ROWS, ANY, fill_mode, NULL},
    {"VARIANT", false, STAYS, ROWS, ANY, fill_variant, NULL},
    {"DIR", false, STAYS, ROWS, ANY, fill_direction, NULL},
    {"SIZE", true, STAYS, ROWS, ANY, fill_size, NULL},
};

/* Behind these stands a column for each parameter that differs; then, if rows name it: */
static const struct xb_column column_of_device = {"DEV", true, STAYS, ROWS, ANY, fill_device, NULL};

static const struct xb_column columns_of_figures[] = {
    {"GB/s", true, STAYS, RATES, ANY, fill_main, &xb_figure_bandwidth},
    {"95% INTERVAL", true, INTERVAL_GOES, RATES, ANY, fill_interval, &xb_figure_bandwidth},
    {"MIN", true, ENDS_GO, RATES, ANY, fill_min, &xb_figure_bandwidth},
    {"MAX", true, ENDS_GO, RATES, ANY, fill_max, &xb_figure_bandwidth},
    {"SPREAD", true, SPREAD_GOES, RATES, SEVERAL, fill_spread, &xb_figure_bandwidth},
    {"OF LINK", true, SHARE_GOES, SHARES, ANY, fill_share, &xb_figure_share_of_ceiling},
    {"SUBMIT", true, SUBMIT_GOES, RATES, ONE, fill_median, &xb_figure_submit_time},
    {"DONE", true, DONE_GOES, RATES, ONE, fill_median, &xb_figure_wall_time},
    {"HOST P50", true, STAYS, LATENCIES, ANY, fill_main, &xb_figure_latency_host},
    {"P95", true, P95_GOES, LATENCIES, ONE, fill_p95, &xb_figure_latency_host},
    {"P99", true, P99_GOES, LATENCIES, ONE, fill_p99, &xb_figure_latency_host},
    {"MIN", true, ENDS_GO, LATENCIES, SEVERAL, fill_min, &xb_figure_latency_host},
    {"MAX", true, ENDS_GO, LATENCIES, SEVERAL, fill_max, &xb_figure_latency_host},
    {"SPREAD", true, SPREAD_GOES, LATENCIES, SEVERAL, fill_spread, &xb_figure_latency_host},
    {"DEVICE P50", true, STAYS, LATENCIES, ANY, fill_median, &xb_figure_latency_device},
    {"P95", true, P95_GOES, LATENCIES, ONE, fill_p95, &xb_figure_latency_device},
    {"P99", true, P99_GOES, LATENCIES, ONE, fill_p99, &xb_figure_latency_device},
    {"N", true, N_GOES, ROWS, ANY, fill_n, NULL},
    {"VERIFIED", false, STAYS, ROWS, ANY, fill_verified, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(COUNT(columns_of_case) + XB_PARAMETERS_SHOWN + 1 + COUNT(columns_of_figures) <=
                   XB_TABLE_COLUMNS,
               "a layout has room for all columns");

static void show(struct xb_table_layout *layout, const struct xb_column *column)
{
    if ((column->rows & layout->rows) != 0 && (column->processes & layout->processes) != 0)
        layout->shown[layout->shown_count++].column = column;
}

struct xb_table_layout xb_table_layout_of(const struct xb_record *record)
{
    struct xb_table_layout layout = {.record = record,
                                     .processes = record->is_merged ? SEVERAL : ONE,
                                     .parameters = xb_parameters_that_differ(record)};
    for (size_t i = 0; i < record->case_count; i++) {
        layout.rows |= record->cases[i].latency ? LATENCIES : RATES;
        layout.rows |= has_share(record, &record->cases[i]) ? SHARES : 0;
    }
    if (record->case_count == 0)
        layout.rows = RATES;
    for (size_t i = 0; i < COUNT(columns_of_case); i++)
        show(&layout, &columns_of_case[i]);
    for (size_t i = 0; i < layout.parameters.count; i++)
        layout.shown[layout.shown_count++].parameter = layout.parameters.names[i];
    if (xb_rows_name_devices(record))
        show(&layout, &column_of_device);
    for (size_t i = 0; i < COUNT(columns_of_figures); i++)
        show(&layout, &columns_of_figures[i]);
    return layout;
}

const char *xb_table_column_name(const struct xb_table_layout *layout, size_t index, char *name)
{
    const struct xb_column *column = layout->shown[index].column;
    set_text(name, column != NULL ? column->name : layout->shown[index].parameter);
    for (char *c = name; column == NULL && *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    return name;
}

bool xb_table_column_is_right(const struct xb_table_layout *layout, size_t index)
{
    const struct xb_column *column = layout->shown[index].column;
    return column == NULL || column->to_the_right;
}

unsigned char xb_table_column_turn(const struct xb_table_layout *layout, size_t index)
{
    const struct xb_column *column = layout->shown[index].column;
    return column != NULL ? column->turn : STAYS;
}

/* A latency of the mode's own is timed by the device, and stands where that of a copy would.
 * Several processes have one spread for both clocks. */
static const struct xb_figure *figure_for(const struct xb_column *column,
                                          const struct xb_record_case *test)
{
    bool of_copies = column->figure == &xb_figure_latency_device ||
                     (column->figure == &xb_figure_latency_host && column->processes == SEVERAL);
    return of_copies && xb_mode_has_latency(test->mode) ? main_figure_of(test) : column->figure;
}

void xb_table_fill_cell(const struct xb_table_layout *layout, size_t index,
                        const struct xb_record_case *test, char *cell)
{
    const struct xb_column *column = layout->shown[index].column;
    const struct subject subject = {.record = layout->record,
                                    .test = test,
                                    .summary = xb_record_summarize(layout->record, test)};
    char text[XB_TABLE_CELL];
    set_text(cell, "-");
    if (column != NULL) {
        column->fill(&subject, figure_for(column, test), cell);
        return;
    }
    const char *value = xb_parameter_text(test, layout->shown[index].parameter, text, sizeof text);
    if (value != NULL)
        set_text(cell, value);
}
