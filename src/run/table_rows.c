/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rows: which columns it has, and what each cell shows. */
#define _GNU_SOURCE
#include "table.h"

#include "base/terminal.h"
#include "base/text.h"
#include "present/table.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CELL 64 /* characters of a cell */
#define MOST_COLUMNS 32

/* The columns that the rows of a record need. */
struct layout {
    const struct xb_record *record;
    unsigned rows, processes; /* of which kinds they are */
    struct xb_parameters parameters;
    struct {
        const struct xb_column *column; /* NULL: of a parameter, */
        const char *parameter;          /* this one */
    } shown[MOST_COLUMNS];
    size_t count;
};

static void set_text(char *cell, const char *text)
{
    snprintf(cell, CELL, "%s", text);
    xb_make_plain(cell);
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

/* What a cell shows: of the case, of the statistics of a figure, or of all samples. */
enum content {
    MODE,
    VARIANT,
    DIRECTION,
    SIZE,
    DEVICE,
    MAIN, /* the figure that the row is about, or else why there is none */
    MEDIAN,
    INTERVAL,
    LEAST,
    MOST,
    P95,
    P99,
    SPREAD,
    SHARE,
    SAMPLES,
    VERIFIED
};

struct xb_column {
    const char *name;
    bool to_the_right;
    unsigned char turn; /* to go, as above */
    unsigned rows, processes;
    enum content content;
    const struct xb_figure *figure; /* NULL: of none */
};

static const struct xb_column columns_of_case[] = {
    {"MODE", false, STAYS, ROWS, ANY, MODE, NULL},
    {"VARIANT", false, STAYS, ROWS, ANY, VARIANT, NULL},
    {"DIR", false, STAYS, ROWS, ANY, DIRECTION, NULL},
    {"SIZE", true, STAYS, ROWS, ANY, SIZE, NULL},
};

/* Behind these stands a column for each parameter that differs; then, if rows name it: */
static const struct xb_column column_of_device = {"DEV", true, STAYS, ROWS, ANY, DEVICE, NULL};

static const struct xb_column columns_of_figures[] = {
    {"GB/s", true, STAYS, RATES, ANY, MAIN, &xb_figure_bandwidth},
    {"95% INTERVAL", true, INTERVAL_GOES, RATES, ANY, INTERVAL, &xb_figure_bandwidth},
    {"MIN", true, ENDS_GO, RATES, ANY, LEAST, &xb_figure_bandwidth},
    {"MAX", true, ENDS_GO, RATES, ANY, MOST, &xb_figure_bandwidth},
    {"SPREAD", true, SPREAD_GOES, RATES, SEVERAL, SPREAD, &xb_figure_bandwidth},
    {"OF LINK", true, SHARE_GOES, SHARES, ANY, SHARE, &xb_figure_share_of_ceiling},
    {"SUBMIT", true, SUBMIT_GOES, RATES, ONE, MEDIAN, &xb_figure_submit_time},
    {"DONE", true, DONE_GOES, RATES, ONE, MEDIAN, &xb_figure_wall_time},
    {"HOST P50", true, STAYS, LATENCIES, ANY, MAIN, &xb_figure_latency_host},
    {"P95", true, P95_GOES, LATENCIES, ONE, P95, &xb_figure_latency_host},
    {"P99", true, P99_GOES, LATENCIES, ONE, P99, &xb_figure_latency_host},
    {"MIN", true, ENDS_GO, LATENCIES, SEVERAL, LEAST, &xb_figure_latency_host},
    {"MAX", true, ENDS_GO, LATENCIES, SEVERAL, MOST, &xb_figure_latency_host},
    {"SPREAD", true, SPREAD_GOES, LATENCIES, SEVERAL, SPREAD, &xb_figure_latency_host},
    {"DEVICE P50", true, STAYS, LATENCIES, ANY, MEDIAN, &xb_figure_latency_device},
    {"P95", true, P95_GOES, LATENCIES, ONE, P95, &xb_figure_latency_device},
    {"P99", true, P99_GOES, LATENCIES, ONE, P99, &xb_figure_latency_device},
    {"N", true, N_GOES, ROWS, ANY, SAMPLES, NULL},
    {"VERIFIED", false, STAYS, ROWS, ANY, VERIFIED, NULL},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(COUNT(columns_of_case) + XB_PARAMETERS_SHOWN + 1 + COUNT(columns_of_figures) <=
                   MOST_COLUMNS,
               "a layout has room for all columns");

static void show(struct layout *layout, const struct xb_column *column)
{
    if ((column->rows & layout->rows) != 0 && (column->processes & layout->processes) != 0)
        layout->shown[layout->count++].column = column;
}

static struct layout layout_of(const struct xb_record *record)
{
    struct layout layout = {.record = record,
                            .processes = record->is_merged ? SEVERAL : ONE,
                            .parameters = xb_parameters_that_differ(record)};
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        layout.rows |= test->latency ? LATENCIES : RATES;
        if (isfinite(xb_record_median(record, test, xb_figure_share_of_ceiling.name)) ||
            isfinite(xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name)))
            layout.rows |= SHARES;
    }
    if (record->case_count == 0)
        layout.rows = RATES;
    for (size_t i = 0; i < COUNT(columns_of_case); i++)
        show(&layout, &columns_of_case[i]);
    for (size_t i = 0; i < layout.parameters.count; i++)
        layout.shown[layout.count++].parameter = layout.parameters.names[i];
    if (xb_rows_name_devices(record))
        show(&layout, &column_of_device);
    for (size_t i = 0; i < COUNT(columns_of_figures); i++)
        show(&layout, &columns_of_figures[i]);
    return layout;
}

static void add_columns(const struct layout *layout, struct xb_table *table)
{
    for (size_t i = 0; i < layout->count; i++) {
        const struct xb_column *column = layout->shown[i].column;
        struct xb_table_column shown = {.brief = i + 1 == layout->count ? "OK" : NULL};
        char name[CELL];
        if (column != NULL) {
            shown.title = column->name;
            shown.is_right = column->to_the_right;
            shown.turn = column->turn;
        } else {
            set_text(name, layout->shown[i].parameter);
            for (char *c = name; *c != '\0'; c++)
                *c = (char)toupper((unsigned char)*c);
            shown.title = name;
            shown.is_right = true;
        }
        xb_table_add_column(table, &shown);
    }
}

/* ---- cells: each begins as "-", and stays so where there is nothing to show ---- */

/* False if it is not known of the case. */
static bool fill_figure(enum content content, const struct xb_record *record,
                        const struct xb_record_case *test, const struct xb_figure *figure,
                        char *cell)
{
    struct xb_statistics s;
    if (!xb_record_describe(record, test, figure->name, &s))
        return false;
    int decimals = xb_decimals_for(s.median / 1e9);
    if (content == INTERVAL && s.has_interval)
        snprintf(cell, CELL, "%.*f-%.*f", decimals, s.ci95_low / 1e9, decimals, s.ci95_high / 1e9);
    else if (content == SPREAD && s.n > 1)
        snprintf(cell, CELL, "%.1f%%", 100 * (s.max - s.min) / s.median);
    double value = content == LEAST  ? s.min
                   : content == MOST ? s.max
                   : content == P95  ? s.p95
                   : content == P99  ? s.p99
                                     : s.median;
    bool is_one = content != INTERVAL && content != SPREAD && isfinite(value);
    if (is_one && strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, cell, CELL);
    else if (is_one) /* with as many digits as its median needs */
        snprintf(cell, CELL, "%.*f", decimals, value / 1e9);
    return true;
}

static void fill_cell(const struct layout *layout, size_t index, const struct xb_record_case *test,
                      char *cell)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    const struct xb_record *record = layout->record;
    const struct xb_column *column = layout->shown[index].column;
    const struct xb_record_summary summary = xb_record_summarize(record, test);
    const struct xb_figure *main = xb_mode_main_figure(test->mode, test->latency);
    struct xb_statistics s;
    double one, to, from;
    char text[CELL];
    set_text(cell, "-");
    if (column == NULL) {
        const char *value =
            xb_parameter_text(test, layout->shown[index].parameter, text, sizeof text);
        if (value != NULL)
            set_text(cell, value);
        return;
    }
    const struct xb_figure *figure = column->figure;
    /* A latency of the mode's own is timed by the device, and stands where that of a copy would.
     * Several processes have one spread for both clocks. */
    if (xb_mode_has_latency(test->mode) &&
        (figure == &xb_figure_latency_device ||
         (figure == &xb_figure_latency_host && column->processes == SEVERAL)))
        figure = main;
    switch (column->content) {
    case MODE:
        set_text(cell, test->mode);
        break;
    case VARIANT:
        set_text(cell, test->variant);
        break;
    case DIRECTION:
        set_text(cell, test->direction);
        break;
    case SIZE:
        xb_size_format(test->bytes, cell, CELL);
        break;
    case DEVICE: /* devices that ran together have a table of their own, whose title says so */
        xb_record_case_device(test, cell, CELL);
        break;
    case SHARE:
        /* "95.5%"; of both ways at once "84.4+88.9%", to the device first. */
        one = xb_record_median(record, test, xb_figure_share_of_ceiling.name);
        to = xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name);
        from = xb_record_median(record, test, xb_figure_share_of_ceiling_d2h.name);
        if (isfinite(one))
            snprintf(cell, CELL, "%.1f%%", 100 * one);
        else if (isfinite(to) && isfinite(from))
            snprintf(cell, CELL, "%.1f+%.1f%%", 100 * to, 100 * from);
        break;
    case SAMPLES: /* of one process also those of data that is wrong; of several processes that
                     count */
        s.n = test->rows[0].time_count;
        if (record->is_merged)
            s.n = summary.ok - summary.cut;
        else
            (void)xb_record_describe(record, test, main->name, &s);
        if (s.n > 0 || record->is_merged)
            snprintf(cell, CELL, "%zu", s.n);
        break;
    case VERIFIED:
        set_text(cell, verified[summary.verified]);
        break;
    default:
        if (fill_figure(column->content, record, test, figure, cell) || column->content != MAIN ||
            test->latency != (figure == &xb_figure_latency_host))
            break;
        if (summary.status != XB_RESULT_OK)
            set_text(cell, summary.status == XB_RESULT_SKIPPED ? "skipped" : "ERROR");
        else if (summary.cut > 0)
            set_text(cell, "cut short");
    }
}

/* ---- rows ---- */

bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test)
{
    return (record->is_merged || !xb_case_is_in_matrix(record, test)) &&
           !xb_case_was_not_run(record, test);
}

struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which)
{
    const struct layout layout = layout_of(record);
    char cell[CELL];
    struct xb_table *table = xb_table_new();
    add_columns(&layout, table);
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        bool is_shown =
            xb_table_has_row(record, test) && test->simultaneous == (which == XB_ROWS_TOGETHER);
        if (which != XB_ROWS_ALL && !is_shown)
            continue;
        xb_table_row(table);
        for (size_t k = 0; k < layout.count; k++) {
            fill_cell(&layout, k, test, cell);
            bool is_bad = strcmp(cell, "ERROR") == 0 || strcmp(cell, "NO") == 0;
            bool is_less = strcmp(cell, "skipped") == 0 || strcmp(cell, "cut short") == 0;
            xb_table_cell(table,
                          is_bad    ? XB_COLOUR_BAD
                          : is_less ? XB_COLOUR_WARNING
                                    : XB_COLOUR_NONE,
                          "%s", cell);
        }
    }
    return table;
}
