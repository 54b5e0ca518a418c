/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "progress.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/plan/case.h"
#include "measure/plan/estimate.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <math.h>
#include <string.h>

#define QUIET_S 0.5 /* shorter work shows no progress */
#define EVERY_S 0.1 /* a line that changes more often cannot be read */

#define LEAST_NAME 20 /* a shorter one would lack the mode or the variant */

/* What is estimated of the case that begins there; 0 behind the last. */
static double guess(const struct xb_run *run, size_t first)
{
    return first < run->case_count ? xb_estimate_case(run, first, xb_run_rows_of(run, first)).likely
                                   : 0;
}

void xb_eta_begin(struct xb_eta *eta, const struct xb_run *run, double now)
{
    *eta = (struct xb_eta){.begun = now};
    for (size_t first = 0; first < run->case_count; first += xb_run_rows_of(run, first))
        eta->guessed_left += guess(run, first);
}

/* What was skipped tells nothing of how long the others take. */
void xb_eta_finished(struct xb_eta *eta, const struct xb_run *run, double now)
{
    while (eta->taken < run->done_count) {
        double guessed = guess(run, eta->taken);
        if (run->results[eta->taken].row.status != XB_RESULT_SKIPPED) {
            eta->guessed_done += guessed;
            eta->took += now - eta->begun;
        }
        eta->guessed_left = fmax(eta->guessed_left - guessed, 0);
        eta->taken += xb_run_rows_of(run, eta->taken);
        eta->begun = now;
    }
}

double xb_eta_left(const struct xb_eta *eta, const struct xb_run *run, double now)
{
    if (!(eta->guessed_done > 0))
        return NAN;
    double scale = eta->took / eta->guessed_done, guessed = guess(run, eta->taken);
    double left = scale * fmax(eta->guessed_left - guessed, 0) +
                  fmax(scale * guessed - (now - eta->begun), 0);
    return run->deadline > 0 ? fmin(left, fmax(run->deadline - now, 0)) : left;
}

double xb_eta_of_parts(size_t done, double took, size_t left)
{
    return done > 0 ? took / (double)done * (double)left : NAN;
}

const char *xb_eta_duration(double seconds, char text[XB_ETA_TEXT])
{
    if (seconds < 10)
        snprintf(text, XB_ETA_TEXT, "%.0f s", fmax(ceil(seconds), 1));
    else if (seconds < 90)
        snprintf(text, XB_ETA_TEXT, "%.0f s", 5 * ceil(seconds / 5));
    else if (seconds < 5400)
        snprintf(text, XB_ETA_TEXT, "%.0f min", ceil(seconds / 60));
    else
        snprintf(text, XB_ETA_TEXT, "%.0f h", fmin(ceil(seconds / 3600), 1e6));
    return text;
}

const char *xb_eta_text(double seconds, char text[XB_ETA_TEXT])
{
    text[0] = '\0';
    if (isfinite(seconds))
        snprintf(text, XB_ETA_TEXT, ", about %.12s left", XB_ETA_DURATION(seconds));
    return text;
}

#define OTHER_LINES 2   /* the line below the rows, and one of what was there before */
#define FIGURE_WIDTH 28 /* a name leaves as much room */

const char *xb_live_name(const struct xb_run *run, size_t index, char name[XB_LIVE_NAME_SIZE])
{
    const struct xb_case *test = &run->results[index].test;
    const struct xb_record_case like = {.mode = test->mode->name,
                                        .variant = test->variant,
                                        .direction = xb_direction_name(test->direction),
                                        .peer = test->mode->pairs ? 0 : -1};
    char method[64], settings[XB_CASE_SETTINGS_TEXT], bytes[32], place[XB_CASE_PLACE_TEXT];
    bool has_place = run->device_count > 1 || test->has_node || test->sum;
    snprintf(name, XB_LIVE_NAME_SIZE, "%s%s, %s %s%s%s",
             xb_method_name(&like, method, sizeof method),
             xb_case_settings_text(test, settings, sizeof settings),
             xb_size_format(test->bytes, bytes, sizeof bytes), xb_direction_words(&like),
             has_place ? ", " : "", has_place ? xb_case_place_text(test, place) : "");
    return name;
}

void xb_live_rows_begin(struct xb_live_rows *live, FILE *stream, const struct xb_run *run)
{
    size_t lines = xb_terminal_rows(stream);
    *live = (struct xb_live_rows){.columns = xb_terminal_columns(stream), .lines = lines};
    if (run->case_count < 2 || lines <= OTHER_LINES || !xb_terminal_has_cursor(stream))
        return;
    live->most = lines - OTHER_LINES < XB_LIVE_ROWS ? lines - OTHER_LINES : XB_LIVE_ROWS;
    for (size_t i = 0; i < run->case_count; i++) {
        size_t length = strlen(XB_LIVE_NAME(run, i));
        live->name_width = length > live->name_width ? length : live->name_width;
    }
    if (live->name_width > live->columns - FIGURE_WIDTH)
        live->name_width = live->columns - FIGURE_WIDTH;
}

static void add_row(struct xb_live_rows *live, const struct xb_run *run, size_t index)
{
    const struct xb_result *result = &run->results[index];
    const struct xb_figure *main = xb_mode_main_figure(result->test.mode->name, true);
    const char *name = XB_LIVE_NAME(run, index);
    struct xb_words words = {.length = 0};
    struct xb_statistics s = result->bandwidth;
    enum xb_status status = XB_OK;
    struct xb_error error;
    int decimals = xb_decimals_for(s.median / 1e9);
    xb_words_add(&words, "%-*.*s  ", (int)live->name_width,
                 (int)xb_whole_words(name, live->name_width), name);
    if (result->row.status == XB_RESULT_OK && result->test.latency) {
        if (main == &xb_figure_latency_host)
            status = xb_statistics_compute(result->wall_times.values, result->wall_times.count, &s,
                                           &error);
        else
            s.median = xb_result_median(result, main);
    }
    if (result->row.status != XB_RESULT_OK)
        xb_words_add(&words, "%s: %s",
                     result->row.status == XB_RESULT_SKIPPED ? "skipped" : "ERROR", result->reason);
    else if (!result->test.latency)
        xb_words_add(&words, "%6s GB/s", XB_RATE_TEXT(s.median));
    else if (status == XB_OK) /* "6.61 us" by the host's clock, or the mode's own latency */
        xb_words_add(&words, "%s", XB_DURATION_TEXT(s.median));
    if (result->row.status == XB_RESULT_OK && !result->test.latency && s.has_interval)
        xb_words_add(&words, "  %.*f-%.*f", decimals, s.ci95_low / 1e9, decimals,
                     s.ci95_high / 1e9);
    xb_make_plain(words.text);
    if (live->count == live->most) {
        memmove(&live->rows[0], &live->rows[1], (live->count - 1) * sizeof live->rows[0]);
        live->count--;
        live->moved = true;
    }
    /* A line that reached the last column would take two on some terminals. */
    size_t room = live->columns - 1 < XB_LIVE_ROW - 1 ? live->columns - 1 : XB_LIVE_ROW - 1;
    snprintf(live->rows[live->count].text, XB_LIVE_ROW, "%.*s",
             (int)xb_whole_words(words.text, room), words.text);
    live->rows[live->count].colour =
        result->row.status == XB_RESULT_ERROR ? XB_COLOUR_BAD : XB_COLOUR_NONE;
    live->count++;
}

void xb_live_rows_take(struct xb_live_rows *live, const struct xb_run *run)
{
    for (; live->taken < run->done_count; live->taken++) {
        const struct xb_result *result = &run->results[live->taken];
        bool was_run =
            result->row.status != XB_RESULT_SKIPPED ||
            (result->stop_reason != XB_STOP_INTERRUPTED && result->stop_reason != XB_STOP_DEADLINE);
        if (live->most > 0 && was_run)
            add_row(live, run, live->taken);
    }
}

/* In a window that got smaller rows may take two lines or be out of reach: nobody knows where the
 * first is. Those that are there stay, and no others are shown. */
static void give_up_if_smaller(struct xb_live_rows *live, FILE *stream)
{
    if (xb_terminal_columns(stream) >= live->columns && xb_terminal_rows(stream) >= live->lines)
        return;
    live->most = live->count = live->drawn = 0;
    live->moved = false;
}

void xb_live_rows_draw(struct xb_live_rows *live, FILE *stream)
{
    give_up_if_smaller(live, stream);
    if (live->drawn == live->count && !live->moved)
        return;
    size_t first = live->moved ? 0 : live->drawn;
    fputs("\r", stream);
    if (live->moved && live->drawn > 0)
        fprintf(stream, "\033[%zuA", live->drawn);
    for (size_t i = first; i < live->count; i++)
        fprintf(stream, "%s%s%s\033[K\n", xb_colour_begin(stream, live->rows[i].colour),
                live->rows[i].text, xb_colour_end(stream, live->rows[i].colour));
    live->drawn = live->count;
    live->moved = false;
}

void xb_live_rows_erase(struct xb_live_rows *live, FILE *stream)
{
    give_up_if_smaller(live, stream);
    if (live->drawn > 0)
        fprintf(stream, "\r\033[%zuA\033[J", live->drawn);
    live->drawn = 0;
}

void xb_progress_start(struct xb_progress *progress, bool enabled)
{
    *progress =
        (struct xb_progress){.enabled = enabled && xb_is_terminal(stderr), .begin = xb_clock_now()};
}

void xb_progress_plan(void *argument, const struct xb_run *run)
{
    struct xb_progress *progress = argument;
    if (!progress->enabled)
        return;
    xb_eta_begin(&progress->eta, run, xb_clock_now());
    xb_live_rows_begin(&progress->rows, stderr, run);
    progress->is_planned = true;
}

const char *xb_progress_text(const struct xb_progress_text *text, size_t columns,
                             char line[XB_PROGRESS_LINE])
{
    char begin[48], end[128], eta[XB_ETA_TEXT];
    size_t most = columns < XB_PROGRESS_LINE ? columns : XB_PROGRESS_LINE - 1;
    size_t begin_length =
        (size_t)snprintf(begin, sizeof begin, "[%zu/%zu] ", text->number, text->total);
    size_t name_length = strlen(text->test);
    size_t least = xb_whole_words(text->test, LEAST_NAME);
    xb_eta_text(text->left, eta);
    for (int without = 0; without <= 3; without++) { /* the less the name has behind it */
        if (without == 3)
            snprintf(end, sizeof end, "%s", eta);
        else if (text->samples == 0)
            snprintf(end, sizeof end, ": warming up%s", eta);
        else if (without > 0)
            snprintf(end, sizeof end, ": %.2f GB/s%s", text->bandwidth * 1e-9, eta);
        else
            snprintf(end, sizeof end, ": %zu sample%s, %.2f GB/s%s", text->samples,
                     text->samples == 1 ? "" : "s", text->bandwidth * 1e-9, eta);
        if (begin_length + (without < 2 ? name_length : least) + strlen(end) <= most)
            break;
    }
    if (begin_length + strlen(end) > most)
        end[0] = '\0';
    size_t taken = begin_length + strlen(end);
    size_t room = xb_whole_words(text->test, taken < most ? most - taken : 0);
    snprintf(line, most + 1, "%s%.*s%s", begin, (int)room, text->test, end);
    return line;
}

void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    struct xb_progress *progress = argument;
    double now = xb_clock_now();
    if (!progress->enabled || now - progress->begin < QUIET_S || now - progress->last < EVERY_S ||
        !xb_terminal_has_cursor(stderr))
        return;
    char line[XB_PROGRESS_LINE];
    const struct xb_progress_text text = {
        .number = run->done_count + 1,
        .total = run->case_count,
        .test = XB_LIVE_NAME(run, run->done_count),
        .samples = samples,
        .bandwidth = bandwidth,
        .left = progress->is_planned ? xb_eta_left(&progress->eta, run, now) : NAN};
    progress->last = now;
    progress->shown = true;
    xb_live_rows_draw(&progress->rows, stderr);
    /* One column stays free: some terminals begin a new line after the last. */
    fprintf(stderr, "\r%s\033[K", xb_progress_text(&text, xb_terminal_columns(stderr) - 1, line));
    fflush(stderr);
}

/* Rows are drawn with the next line of progress: none behind the last case, before the table. */
void xb_progress_finished(struct xb_progress *progress, const struct xb_run *run)
{
    if (!progress->is_planned)
        return;
    xb_eta_finished(&progress->eta, run, xb_clock_now());
    xb_live_rows_take(&progress->rows, run);
}

void xb_progress_clear(struct xb_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    xb_live_rows_erase(&progress->rows, stderr);
    progress->shown = false;
}
