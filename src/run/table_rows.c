/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rows: which columns it has, and what each cell shows. */
#include "table.h"

#include "base/text.h"
#include "base/units.h"
#include "present/table.h"
#include "record/mode_list.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define CELL 64 /* characters of a cell */

/* Whose table has a column: bandwidths, latencies, any share of a link; one process or several. */
enum { RATES = 1, LATENCIES = 2, ROWS = RATES | LATENCIES, SHARES = 4 };
enum { ONE = 1, SEVERAL = 2, ANY = ONE | SEVERAL };

/* What a cell shows. */
enum content {
    TEXT, /* of the case, at an offset in its struct */
    SIZE,
    PARAMETER, /* a column for each that differs */
    DEVICE,
    MAIN,  /* the median of the figure that the row is about, or else why there is none */
    VALUE, /* of a figure, at an offset in its statistics */
    INTERVAL,
    SPREAD,
    SHARE,
    SAMPLES,
    VERIFIED
};

#define OF_CASE(member) offsetof(struct xb_record_case, member)
#define OF(member) offsetof(struct xb_statistics, member)

/* The turn in which columns leave a line that is too narrow, 1 first, 0 never: first those that say
 * least of how fast a copy is, or that follow from others. */
static const struct column {
    const char *name;
    bool to_the_right;
    unsigned char turn;
    unsigned rows, processes;
    enum content content;
    size_t at;
    const struct xb_figure *figure; /* NULL: of none */
} columns[] = {
    {"MODE", false, 0, ROWS, ANY, TEXT, OF_CASE(mode), NULL},
    {"VARIANT", false, 0, ROWS, ANY, TEXT, OF_CASE(variant), NULL},
    {"DIR", false, 0, ROWS, ANY, TEXT, OF_CASE(direction), NULL},
    {"SIZE", true, 0, ROWS, ANY, SIZE, 0, NULL},
    {NULL, true, 0, ROWS, ANY, PARAMETER, 0, NULL},
    {"DEV", true, 0, ROWS, ANY, DEVICE, 0, NULL},
    {"GB/s", true, 0, RATES, ANY, MAIN, OF(median), &xb_figure_bandwidth},
    {"95% INTERVAL", true, 8, RATES, ANY, INTERVAL, 0, &xb_figure_bandwidth},
    {"MIN", true, 5, RATES, ANY, VALUE, OF(min), &xb_figure_bandwidth},
    {"MAX", true, 5, RATES, ANY, VALUE, OF(max), &xb_figure_bandwidth},
    {"SPREAD", true, 7, RATES, SEVERAL, SPREAD, 0, &xb_figure_bandwidth},
    {"OF LINK", true, 9, SHARES, ANY, SHARE, 0, &xb_figure_share_of_ceiling},
    {"SUBMIT", true, 2, RATES, ONE, VALUE, OF(median), &xb_figure_submit_time},
    {"DONE", true, 1, RATES, ONE, VALUE, OF(median), &xb_figure_wall_time},
    {"HOST P50", true, 0, LATENCIES, ANY, MAIN, OF(median), &xb_figure_latency_host},
    {"P95", true, 6, LATENCIES, ONE, VALUE, OF(p95), &xb_figure_latency_host},
    {"P99", true, 4, LATENCIES, ONE, VALUE, OF(p99), &xb_figure_latency_host},
    {"MIN", true, 5, LATENCIES, SEVERAL, VALUE, OF(min), &xb_figure_latency_host},
    {"MAX", true, 5, LATENCIES, SEVERAL, VALUE, OF(max), &xb_figure_latency_host},
    {"SPREAD", true, 7, LATENCIES, SEVERAL, SPREAD, 0, &xb_figure_latency_host},
    {"DEVICE P50", true, 0, LATENCIES, ANY, VALUE, OF(median), &xb_figure_latency_device},
    {"P95", true, 6, LATENCIES, ONE, VALUE, OF(p95), &xb_figure_latency_device},
    {"P99", true, 4, LATENCIES, ONE, VALUE, OF(p99), &xb_figure_latency_device},
    {"N", true, 3, ROWS, ANY, SAMPLES, 0, NULL},
    {"VERIFIED", false, 0, ROWS, ANY, VERIFIED, 0, NULL},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

/* False if it is not known of the case. */
static bool fill_figure(const struct column *column, const struct xb_record *record,
                        const struct xb_record_case *test, const struct xb_figure *figure,
                        char *cell)
{
    struct xb_statistics s;
    if (!xb_record_describe(record, test, figure->name, &s))
        return false;
    int decimals = xb_decimals_for(s.median / 1e9);
    if (column->content == INTERVAL || column->content == SPREAD) {
        if (column->content == SPREAD && s.n > 1)
            snprintf(cell, CELL, "%.1f%%", 100 * (s.max - s.min) / s.median);
        else if (column->content == INTERVAL && s.has_interval)
            snprintf(cell, CELL, "%.*f-%.*f", decimals, s.ci95_low / 1e9, decimals,
                     s.ci95_high / 1e9);
        return true;
    }
    double value = *(const double *)((const char *)&s + column->at);
    if (isfinite(value) && strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, cell, CELL);
    else if (isfinite(value)) /* with as many digits as its median needs */
        snprintf(cell, CELL, "%.*f", decimals, value / 1e9);
    return true;
}

/* The cell is "-" where there is nothing to show. */
static void fill_cell(const struct column *column, const char *parameter,
                      const struct xb_record *record, const struct xb_record_case *test, char *cell)
{
    static const char *const verified[] = {"-", "yes", "NO"};
    const struct xb_record_summary summary = xb_record_summarize(record, test);
    const struct xb_figure *main = xb_mode_main_figure(test->mode, test->latency);
    const struct xb_figure *figure = column->figure;
    const char *text = NULL;
    struct xb_statistics s;
    char value[CELL];
    snprintf(cell, CELL, "-");
    /* A latency of the mode's own is timed by the device, and stands where that of a copy would.
     * Several processes have one spread for both clocks. */
    if (xb_mode_has_latency(test->mode) &&
        (figure == &xb_figure_latency_device ||
         (figure == &xb_figure_latency_host && column->processes == SEVERAL)))
        figure = main;
    if (column->content == TEXT) {
        text = *(const char *const *)((const char *)test + column->at);
    } else if (column->content == SIZE) {
        text = xb_size_format(test->bytes, value, sizeof value);
    } else if (column->content == PARAMETER) {
        text = xb_parameter_text(test, parameter, value, sizeof value);
    } else if (column->content == DEVICE) { /* of those that ran together the table's title tells */
        text = xb_record_case_device(test, value, sizeof value);
    } else if (column->content == SHARE) {
        /* "95.5%"; of both ways at once "84.4+88.9%", to the device first */
        double one = xb_record_median(record, test, figure->name);
        double to = xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name);
        double from = xb_record_median(record, test, xb_figure_share_of_ceiling_d2h.name);
        if (isfinite(one))
            snprintf(cell, CELL, "%.1f%%", 100 * one);
        else if (isfinite(to) && isfinite(from))
            snprintf(cell, CELL, "%.1f+%.1f%%", 100 * to, 100 * from);
    } else if (column->content == VERIFIED) {
        text = verified[summary.verified];
    } else if (column->content == SAMPLES) {
        /* of one process also those of data that is wrong; of several those that count */
        s.n = record->is_merged ? summary.ok - summary.cut : test->rows[0].time_count;
        if (!record->is_merged)
            (void)xb_record_describe(record, test, main->name, &s);
        if (s.n > 0 || record->is_merged)
            snprintf(cell, CELL, "%zu", s.n);
    } else if (!fill_figure(column, record, test, figure, cell) && column->content == MAIN &&
               test->latency == (figure == &xb_figure_latency_host)) {
        text = summary.status == XB_RESULT_SKIPPED ? "skipped"
               : summary.status != XB_RESULT_OK    ? "ERROR"
               : summary.cut > 0                   ? "cut short"
                                                   : NULL;
    }
    if (text != NULL)
        snprintf(cell, CELL, "%s", text);
}

bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test)
{
    return (record->is_merged || !xb_case_is_in_matrix(record, test)) &&
           !xb_case_was_not_run(record, test);
}

struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which)
{
    static const enum xb_colour colours[] = {XB_COLOUR_NONE, XB_COLOUR_WARNING, XB_COLOUR_BAD};
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    const unsigned processes = record->is_merged ? SEVERAL : ONE;
    unsigned rows = record->case_count == 0 ? RATES : 0; /* which kinds there are */
    size_t times[COLUMNS];                               /* that a column is there */
    char cell[CELL];
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        rows |= test->latency ? LATENCIES : RATES;
        double one = xb_record_median(record, test, xb_figure_share_of_ceiling.name);
        if (isfinite(
                fmax(one, xb_record_median(record, test, xb_figure_share_of_ceiling_h2d.name))))
            rows |= SHARES;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct column *column = &columns[i];
        struct xb_table_column shown = {.title = column->name,
                                        .brief = column->content == VERIFIED ? "OK" : NULL,
                                        .is_right = column->to_the_right,
                                        .turn = column->turn};
        times[i] = column->content == PARAMETER ? parameters.count
                   : column->content == DEVICE
                       ? xb_rows_name_devices(record)
                       : (column->rows & rows) != 0 && (column->processes & processes) != 0;
        for (size_t k = 0; k < times[i]; k++) {
            if (column->content == PARAMETER) {
                snprintf(cell, CELL, "%s", parameters.names[k]);
                for (char *c = cell; *c != '\0'; c++)
                    *c = (char)toupper((unsigned char)*c);
                shown.title = cell;
            }
            xb_table_add_column(table, &shown);
        }
    }
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        bool is_shown =
            xb_table_has_row(record, test) && test->simultaneous == (which == XB_ROWS_TOGETHER);
        if (which != XB_ROWS_ALL && !is_shown)
            continue;
        xb_table_row(table);
        for (size_t k = 0; k < COLUMNS; k++)
            for (size_t time = 0; time < times[k]; time++) {
                fill_cell(&columns[k], parameters.names[time], record, test, cell);
                bool is_bad = strcmp(cell, "ERROR") == 0 || strcmp(cell, "NO") == 0;
                bool is_less = strcmp(cell, "skipped") == 0 || strcmp(cell, "cut short") == 0;
                xb_table_cell(table, colours[is_bad ? 2 : is_less], "%s", cell);
            }
    }
    return table;
}
