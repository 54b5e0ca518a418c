/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "curve.h"

#include "base/note.h"
#include "base/terminal.h"
#include "base/text.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

#include <math.h>
#include <string.h>

#define LEAST_POINTS 3
#define MOST_POINTS 128
#define MOST_SERIES 40
#define NAME_SIZE 160
#define TAIL_SIZE 96

/* Blocks: as many as are well seen, and no fewer than tell a curve. */
#define USUAL_CELLS 24
#define LEAST_CELLS 8
#define MOST_PER_STEP 4

/* A best in the middle that is higher by less than this is noise. */
#define BEST_FACTOR 1.05

struct point {
    uint64_t bytes;
    double rate; /* bytes per second */
};

struct series {
    char name[NAME_SIZE];
    char tail[TAIL_SIZE];             /* "0.8013 to 55.34 GB/s": least and most */
    char best[TAIL_SIZE];             /* ", best at 16 MiB"; "" where that is at an end */
    struct point points[MOST_POINTS]; /* from the least size up */
    size_t count;
};

/* Where the curves lie, which is the same for all. */
struct frame {
    const struct xb_record *record;
    const struct xb_record_case *firsts[MOST_SERIES]; /* a case of each series */
    size_t series_count;
    bool has_more;
    uint64_t least, most; /* sizes */
    double best;          /* rate */
    size_t name_width, tail_width, best_width;
    size_t cells;
    bool with_tail, with_best;
};

/* ---- series ---- */

/* Whether a case can be a point of a curve. */
static bool counts(const struct xb_record *record, const struct xb_record_case *test, double *rate)
{
    *rate = test->latency ? NAN : xb_record_median(record, test, xb_figure_bandwidth.name);
    return isfinite(*rate) && *rate > 0 && test->bytes > 0;
}

static bool is_same_series(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return a->device == b->device && a->peer == b->peer && a->simultaneous == b->simultaneous &&
           xb_cases_alike_but_size(a, b);
}

/* Several rows of one size are one point, the best. */
static void add_point(struct series *series, uint64_t bytes, double rate)
{
    size_t place = 0;
    while (place < series->count && series->points[place].bytes < bytes)
        place++;
    if (place < series->count && series->points[place].bytes == bytes) {
        series->points[place].rate = fmax(series->points[place].rate, rate);
        return;
    }
    if (series->count == MOST_POINTS)
        return;
    memmove(&series->points[place + 1], &series->points[place],
            (series->count - place) * sizeof series->points[0]);
    series->points[place] = (struct point){.bytes = bytes, .rate = rate};
    series->count++;
}

/* "pinned registered h2d", and what else tells it from others. */
static void name_series(struct series *series, const struct xb_record *record,
                        const struct xb_record_case *test)
{
    const struct xb_parameters shown = xb_parameters_that_differ(record);
    struct xb_words words = {.length = 0};
    char text[64];
    xb_words_add(&words, "%s %s %s", test->mode, test->variant, test->direction);
    for (size_t i = 0; i < shown.count; i++) {
        const char *value = xb_parameter_text(test, shown.names[i], text, sizeof text);
        if (value != NULL)
            xb_words_add(&words, " %s %s", shown.names[i], value);
    }
    if (xb_rows_name_devices(record))
        xb_words_add(&words, " device %s", xb_device_text(record, test, text, sizeof text));
    xb_make_plain(words.text);
    snprintf(series->name, sizeof series->name, "%.*s", NAME_SIZE - 1, words.text);
}

static void describe_rates(struct series *series)
{
    const struct point *first = &series->points[0];
    const struct point *last = &series->points[series->count - 1];
    const struct point *least = first;
    const struct point *most = first;
    char from[32], to[32], size[32];
    for (const struct point *point = first; point <= last; point++) {
        least = point->rate < least->rate ? point : least;
        most = point->rate > most->rate ? point : most;
    }
    snprintf(series->tail, sizeof series->tail, "%s to %s GB/s",
             xb_rate_text(least->rate, from, sizeof from), xb_rate_text(most->rate, to, sizeof to));
    if (most->rate > BEST_FACTOR * fmax(first->rate, last->rate))
        snprintf(series->best, sizeof series->best, ", best at %s",
                 xb_size_format(most->bytes, size, sizeof size));
}

/* False if there are too few sizes for a curve. */
static bool make_series(const struct xb_record *record, const struct xb_record_case *of,
                        struct series *series)
{
    double rate = 0;
    series->count = 0;
    series->best[0] = '\0';
    for (size_t i = 0; i < record->case_count; i++)
        if (is_same_series(&record->cases[i], of) && counts(record, &record->cases[i], &rate))
            add_point(series, record->cases[i].bytes, rate);
    if (series->count < LEAST_POINTS)
        return false;
    name_series(series, record, of);
    describe_rates(series);
    return true;
}

/* ---- the frame ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void take_series(struct frame *frame, const struct xb_record_case *of,
                        const struct series *series)
{
    uint64_t first = series->points[0].bytes;
    uint64_t last = series->points[series->count - 1].bytes;
    if (frame->series_count == MOST_SERIES) {
        frame->has_more = true;
        return;
    }
    frame->least = frame->series_count == 0 || first < frame->least ? first : frame->least;
    frame->most = last > frame->most ? last : frame->most;
    for (size_t i = 0; i < series->count; i++)
        frame->best = fmax(frame->best, series->points[i].rate);
    frame->name_width = larger(frame->name_width, strlen(series->name));
    frame->tail_width = larger(frame->tail_width, strlen(series->tail));
    frame->best_width = larger(frame->best_width, strlen(series->tail) + strlen(series->best));
    frame->firsts[frame->series_count++] = of;
}

static bool is_first(const struct xb_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_same_series(&record->cases[i], &record->cases[index]))
            return false;
    return true;
}

static void find_series(struct frame *frame)
{
    const struct xb_record *record = frame->record;
    for (size_t i = 0; i < record->case_count && !frame->has_more; i++) {
        struct series series;
        if (is_first(record, i) && make_series(record, &record->cases[i], &series))
            take_series(frame, &record->cases[i], &series);
    }
}

/* A cell for each doubling, or several of them; fewer where there is no room. What stands behind
 * the curve goes first: the best, then the rates, then the end of a name. */
static void lay_out(struct frame *frame, size_t columns)
{
    size_t steps = (size_t)lround(log2((double)frame->most / (double)frame->least)) + 1;
    size_t per_step = USUAL_CELLS / steps;
    per_step = per_step < 1 ? 1 : per_step > MOST_PER_STEP ? MOST_PER_STEP : per_step;
    size_t wanted = steps * per_step;
    size_t gaps = 2 + 2; /* before the name, and behind it */
    size_t least = wanted < LEAST_CELLS ? wanted : LEAST_CELLS;
    size_t taken = frame->name_width + gaps;
    frame->with_best = taken + wanted + 2 + frame->best_width < columns;
    frame->with_tail = frame->with_best || taken + least + 2 + frame->tail_width < columns;
    if (frame->with_tail)
        taken += 2 + (frame->with_best ? frame->best_width : frame->tail_width);
    if (taken + least >= columns) {
        frame->name_width = columns - 1 - least - gaps;
        taken = columns - 1 - least;
    }
    size_t room = columns - 1 - taken;
    frame->cells = wanted < room ? wanted : room;
}

/* ---- drawing ---- */

/* The rate at a size, joined by a line where the size lies between two points; 0 beyond them. */
static double rate_at(const struct series *series, double bytes)
{
    const struct point *points = series->points;
    const double slack = 1 + 1e-9;
    if (bytes * slack < (double)points[0].bytes ||
        bytes > slack * (double)points[series->count - 1].bytes)
        return 0;
    size_t next = 1;
    while (next + 1 < series->count && (double)points[next].bytes < bytes)
        next++;
    const struct point *a = &points[next - 1];
    const struct point *b = &points[next];
    double share = log(bytes / (double)a->bytes) / log((double)b->bytes / (double)a->bytes);
    return a->rate + fmin(fmax(share, 0), 1) * (b->rate - a->rate);
}

static void draw_cell(FILE *stream, double share)
{
    static const char *const blocks[] = {" ",
                                         "\xE2\x96\x81",
                                         "\xE2\x96\x82",
                                         "\xE2\x96\x83",
                                         "\xE2\x96\x84",
                                         "\xE2\x96\x85",
                                         "\xE2\x96\x86",
                                         "\xE2\x96\x87",
                                         "\xE2\x96\x88"};
    const int levels = (int)(sizeof blocks / sizeof blocks[0]) - 1;
    int level = (int)lround(share * levels);
    level = level > levels ? levels : level < 1 && share > 0 ? 1 : level;
    fputs(blocks[level], stream);
}

static void draw_series(FILE *stream, const struct frame *frame, const struct series *series)
{
    int width = (int)frame->name_width;
    double range = (double)frame->most / (double)frame->least;
    fprintf(stream, "  %-*.*s  ", width, width, series->name);
    for (size_t i = 0; i < frame->cells; i++) {
        double place = frame->cells > 1 ? (double)i / (double)(frame->cells - 1) : 0;
        double bytes = (double)frame->least * pow(range, place);
        draw_cell(stream, rate_at(series, bytes) / frame->best);
    }
    fprintf(stream, "%s%s%s\n", frame->with_tail ? "  " : "", frame->with_tail ? series->tail : "",
            frame->with_best ? series->best : "");
}

static void draw_title(FILE *stream, const struct frame *frame)
{
    char least[32], most[32], best[32];
    xb_note_print(stream, "", 0, "GB/s by size (log), %s to %s; full block %s",
                  xb_size_format(frame->least, least, sizeof least),
                  xb_size_format(frame->most, most, sizeof most),
                  xb_rate_text(frame->best, best, sizeof best));
}

void xb_curve_draw(FILE *stream, const struct xb_record *record, size_t columns)
{
    struct frame frame = {.record = record};
    find_series(&frame);
    if (frame.series_count == 0)
        return;
    lay_out(&frame, columns);
    fputc('\n', stream);
    draw_title(stream, &frame);
    for (size_t i = 0; i < frame.series_count; i++) {
        struct series series;
        if (make_series(record, frame.firsts[i], &series))
            draw_series(stream, &frame, &series);
    }
    if (frame.has_more)
        fputs("  and more, which the table has\n", stream);
}

void xb_curve_print(FILE *stream, const struct xb_record *record)
{
    if (xb_terminal_has_utf8(stream))
        xb_curve_draw(stream, record, xb_terminal_columns(stream));
}
