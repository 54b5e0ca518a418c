/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "live_rows.h"

#include "base/note.h"
#include "base/text.h"
#include "measure/case.h"
#include "record/mode_list.h"
#include "xferbench/units.h"

#include <stdio.h>
#include <string.h>

/* The line below them, and one that stays of what was there before. */
#define OTHER_LINES 2
/* A name takes no more than what leaves room for the figure. */
#define FIGURE_WIDTH 28
#define NAME_SIZE 160

const char *xb_live_name(const struct xb_run *run, size_t index, char *name, size_t size)
{
    static const char label[] = " device ";
    xb_case_text(&run->results[index].test, name, size);
    char *device = run->device_count == 1 ? strstr(name, label) : NULL;
    if (device != NULL) {
        const char *behind = device + strlen(label);
        behind += strcspn(behind, ", ");
        memmove(device, behind, strlen(behind) + 1);
    }
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
        char name[NAME_SIZE];
        size_t length = strlen(xb_live_name(run, i, name, sizeof name));
        live->name_width = length > live->name_width ? length : live->name_width;
    }
    if (live->name_width > live->columns - FIGURE_WIDTH)
        live->name_width = live->columns - FIGURE_WIDTH;
}

/* ---- what a row says ---- */

/* "6.61 us": what the host's clock says, or of a mode about a latency of its own that. */
static void add_latency(struct xb_words *words, const struct xb_result *result)
{
    const struct xb_figure *main = xb_mode_main_figure(result->test.mode->name, true);
    struct xb_statistics statistics = {.median = 0};
    struct xb_error error;
    char text[32];
    enum xb_status status =
        main == &xb_figure_latency_host
            ? xb_statistics_compute(result->wall_times.values, result->wall_times.count,
                                    &statistics, &error)
            : xb_result_median(result, main, &statistics.median, &error);
    if (status == XB_OK)
        xb_words_add(words, "%s", xb_duration_format(statistics.median, text, sizeof text));
}

/* "55.34 GB/s  55.31-55.38" */
static void add_bandwidth(struct xb_words *words, const struct xb_result *result)
{
    const struct xb_statistics *s = &result->bandwidth;
    int decimals = xb_decimals_for(s->median / 1e9);
    char rate[32];
    xb_words_add(words, "%6s GB/s", xb_rate_text(s->median, rate, sizeof rate));
    if (s->has_interval)
        xb_words_add(words, "  %.*f-%.*f", decimals, s->ci95_low / 1e9, decimals,
                     s->ci95_high / 1e9);
}

static void add_row(struct xb_live_rows *live, const struct xb_run *run, size_t index)
{
    const struct xb_result *result = &run->results[index];
    char name[NAME_SIZE];
    struct xb_words words = {.length = 0};
    xb_live_name(run, index, name, sizeof name);
    xb_words_add(&words, "%-*.*s  ", (int)live->name_width, (int)live->name_width, name);
    if (result->row.status != XB_RESULT_OK)
        xb_words_add(&words, "%s: %s",
                     result->row.status == XB_RESULT_SKIPPED ? "skipped" : "ERROR", result->reason);
    else if (result->test.latency)
        add_latency(&words, result);
    else
        add_bandwidth(&words, result);
    xb_make_plain(words.text);
    if (live->count == live->most) {
        memmove(&live->rows[0], &live->rows[1], (live->count - 1) * sizeof live->rows[0]);
        live->count--;
        live->moved = true;
    }
    /* A line that reached the last column would take two on some terminals. */
    size_t room = live->columns - 1 < XB_LIVE_ROW - 1 ? live->columns - 1 : XB_LIVE_ROW - 1;
    snprintf(live->rows[live->count].text, XB_LIVE_ROW, "%.*s", (int)room, words.text);
    live->rows[live->count].colour =
        result->row.status == XB_RESULT_ERROR ? XB_COLOUR_BAD : XB_COLOUR_NONE;
    live->count++;
}

static bool was_not_run(const struct xb_result *result)
{
    return result->row.status == XB_RESULT_SKIPPED &&
           (result->stop_reason == XB_STOP_INTERRUPTED || result->stop_reason == XB_STOP_DEADLINE);
}

void xb_live_rows_take(struct xb_live_rows *live, const struct xb_run *run)
{
    locale_t previous = xb_plain_locale_enter();
    for (; live->taken < run->done_count; live->taken++)
        if (live->most > 0 && !was_not_run(&run->results[live->taken]))
            add_row(live, run, live->taken);
    xb_plain_locale_leave(previous);
}

/* ---- on the terminal ---- */

/* In a window that is smaller than it was, rows may take two lines or be out of reach. Then nobody
 * knows where the first one is: those that are there stay, and no others are shown. */
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
