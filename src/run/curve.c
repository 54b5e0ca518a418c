/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "table.h"

#include "base/note.h"
#include "base/terminal.h"
#include "base/text.h"
#include "record/rows.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_POINTS 3
#define MOST_SERIES 40
#define NAME_SIZE 160
#define TAIL_SIZE 96

/* Blocks: as many as are well seen, and no fewer than tell a curve. */
#define USUAL_CELLS 24
#define LEAST_CELLS 8
#define MOST_PER_STEP 4

/* A best in the middle that is higher by less than this is noise. */
#define BEST_FACTOR 1.05

/* Cases that differ in their size only, from the least up. */
struct series {
    struct xb_record_cases of;
    char name[NAME_SIZE];
    char tail[TAIL_SIZE]; /* "0.8013 to 55.34 GB/s": least and most */
    char best[TAIL_SIZE]; /* ", best at 16 MiB"; "" where that is at an end */
};

/* Where the curves lie, which is the same for all. */
struct frame {
    const struct xb_record *record;
    struct xb_parameters shown;
    bool with_devices;
    struct series series[MOST_SERIES];
    size_t series_count;
    bool has_more;
    uint64_t least, most; /* sizes */
    double best;          /* rate */
    size_t name_width, tail_width, best_width;
    size_t cells;
    bool with_tail, with_best;
};

/* ---- series ---- */

/* In bytes per second. */
static double rate_of(const struct frame *frame, const struct xb_record_case *test)
{
    return xb_record_median(frame->record, test, xb_figure_bandwidth.name);
}

static int by_series(const struct xb_record_case *a, const struct xb_record_case *b,
                     const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, XB_BUT_SIZE);
}

static int by_size(const void *a, const void *b)
{
    uint64_t left = (*(const struct xb_record_case *const *)a)->bytes;
    uint64_t right = (*(const struct xb_record_case *const *)b)->bytes;
    return (left > right) - (left < right);
}

static void widen(size_t *width, size_t length)
{
    *width = length > *width ? length : *width;
}

static void take_series(struct frame *frame, struct xb_record_cases of)
{
    struct series *series = &frame->series[frame->series_count];
    const struct xb_record_case *first = of.cases[0];
    const struct xb_record_case *last = of.cases[of.count - 1];
    const struct xb_record_case *best = first;
    double least = rate_of(frame, first);
    struct xb_words words = {.length = 0};
    char text[64], to[32];
    *series = (struct series){.of = of};
    /* "pinned registered h2d", and what else tells it from others. */
    xb_words_add(&words, "%s %s %s", first->mode, first->variant, first->direction);
    for (size_t i = 0; i < frame->shown.count; i++) {
        const char *value = xb_parameter_text(first, frame->shown.names[i], text, sizeof text);
        if (value != NULL)
            xb_words_add(&words, " %s %s", frame->shown.names[i], value);
    }
    if (frame->with_devices)
        xb_words_add(&words, " device %s", xb_device_text(frame->record, first, text, sizeof text));
    xb_make_plain(words.text);
    snprintf(series->name, sizeof series->name, "%.*s", NAME_SIZE - 1, words.text);
    for (size_t i = 0; i < of.count; i++) {
        least = fmin(least, rate_of(frame, of.cases[i]));
        best = rate_of(frame, of.cases[i]) > rate_of(frame, best) ? of.cases[i] : best;
    }
    double most = rate_of(frame, best);
    snprintf(series->tail, sizeof series->tail, "%s to %s GB/s",
             xb_rate_text(least, text, sizeof text), xb_rate_text(most, to, sizeof to));
    if (most > BEST_FACTOR * fmax(rate_of(frame, first), rate_of(frame, last)))
        snprintf(series->best, sizeof series->best, ", best at %s",
                 xb_size_format(best->bytes, text, sizeof text));
    if (frame->series_count == 0 || first->bytes < frame->least)
        frame->least = first->bytes;
    frame->most = last->bytes > frame->most ? last->bytes : frame->most;
    frame->best = fmax(frame->best, most);
    widen(&frame->name_width, strlen(series->name));
    widen(&frame->tail_width, strlen(series->tail));
    widen(&frame->best_width, strlen(series->tail) + strlen(series->best));
    frame->series_count++;
}

/* Takes those with enough sizes; `cases` has room for all. */
static void find_series(struct frame *frame, const struct xb_record_case **cases)
{
    const struct xb_record *record = frame->record;
    size_t count = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        double rate = test->latency ? (double)NAN : rate_of(frame, test);
        if (isfinite(rate) && rate > 0)
            cases[count++] = test;
    }
    if (!xb_cases_group(cases, count, by_series, NULL))
        count = 0; /* a picture that is for people only */
    for (size_t i = 0, equal = 0; i < count; i += equal) {
        equal = xb_cases_equal(cases + i, count - i, by_series, NULL);
        if (equal < LEAST_POINTS)
            continue;
        frame->has_more = frame->series_count == MOST_SERIES;
        if (frame->has_more)
            return;
        qsort(cases + i, equal, sizeof(const struct xb_record_case *), by_size);
        take_series(frame, (struct xb_record_cases){cases + i, equal});
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
static double rate_at(const struct frame *frame, const struct series *series, double bytes)
{
    const struct xb_record_case *const *cases = series->of.cases;
    const size_t last = series->of.count - 1;
    const double slack = 1 + 1e-9;
    if (bytes * slack < (double)cases[0]->bytes || bytes > slack * (double)cases[last]->bytes)
        return 0;
    size_t next = 1;
    while (next < last && (double)cases[next]->bytes < bytes)
        next++;
    double from = rate_of(frame, cases[next - 1]);
    double least = (double)cases[next - 1]->bytes;
    double share = log(bytes / least) / log((double)cases[next]->bytes / least);
    return from + fmin(fmax(share, 0), 1) * (rate_of(frame, cases[next]) - from);
}

static void draw_series(FILE *stream, const struct frame *frame, const struct series *series)
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
    int width = (int)frame->name_width;
    double range = (double)frame->most / (double)frame->least;
    fprintf(stream, "  %-*.*s  ", width, width, series->name);
    for (size_t i = 0; i < frame->cells; i++) {
        double place = frame->cells > 1 ? (double)i / (double)(frame->cells - 1) : 0;
        double bytes = (double)frame->least * pow(range, place);
        double share = rate_at(frame, series, bytes) / frame->best;
        int level = (int)lround(share * levels);
        level = level > levels ? levels : level < 1 && share > 0 ? 1 : level;
        fputs(blocks[level], stream);
    }
    fprintf(stream, "%s%s%s\n", frame->with_tail ? "  " : "", frame->with_tail ? series->tail : "",
            frame->with_best ? series->best : "");
}

void xb_curve_draw(FILE *stream, const struct xb_record *record, size_t columns)
{
    struct frame frame = {.record = record,
                          .shown = xb_parameters_that_differ(record),
                          .with_devices = xb_rows_name_devices(record)};
    char least[32], most[32], best[32];
    const struct xb_record_case **cases =
        calloc(record->case_count + 1, sizeof(const struct xb_record_case *));
    if (cases != NULL)
        find_series(&frame, cases);
    if (frame.series_count > 0) {
        lay_out(&frame, columns);
        fputc('\n', stream);
        xb_note_print(stream, "", 0, "GB/s by size (log), %s to %s; full block %s",
                      xb_size_format(frame.least, least, sizeof least),
                      xb_size_format(frame.most, most, sizeof most),
                      xb_rate_text(frame.best, best, sizeof best));
    }
    for (size_t i = 0; i < frame.series_count; i++)
        draw_series(stream, &frame, &frame.series[i]);
    if (frame.has_more)
        fputs("  and more, which the table has\n", stream);
    free(cases);
}

void xb_curve_print(FILE *stream, const struct xb_record *record)
{
    if (xb_locale_has_utf8())
        xb_curve_draw(stream, record, xb_terminal_columns(stream));
}
