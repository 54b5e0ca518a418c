/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include "base/clock.h"
#include "base/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define QUIET_S 0.5 /* shorter work shows no progress */
#define EVERY_S 0.1 /* a line that changes more often cannot be read */

#define NAME_SIZE 160
/* A name that is cut shorter than this names nothing: the mode, and the beginning of a variant. */
#define LEAST_NAME 16

void xb_progress_start(struct xb_progress *progress, bool enabled)
{
    *progress =
        (struct xb_progress){.enabled = enabled && xb_is_terminal(stderr), .begin = xb_clock_now()};
}

void xb_progress_plan(struct xb_progress *progress, const struct xb_run *run)
{
    if (!progress->enabled)
        return;
    xb_eta_begin(&progress->eta, run, xb_clock_now());
    xb_live_rows_begin(&progress->rows, stderr, run);
    progress->is_planned = true;
}

/* ---- the line ---- */

/* What stands behind the name. The parts go as `without` says: 0 has all of them. */
static void end_text(const struct xb_progress_text *text, int without, char *end, size_t size)
{
    char eta[XB_ETA_TEXT];
    xb_eta_text(text->left, eta);
    if (without == 2)
        snprintf(end, size, "%s", eta);
    else if (text->samples == 0)
        snprintf(end, size, ": warming up%s", eta);
    else if (without == 1)
        snprintf(end, size, ": %.2f GB/s%s", text->bandwidth * 1e-9, eta);
    else
        snprintf(end, size, ": %zu sample%s, %.2f GB/s%s", text->samples,
                 text->samples == 1 ? "" : "s", text->bandwidth * 1e-9, eta);
}

const char *xb_progress_text(const struct xb_progress_text *text, size_t columns, char *line)
{
    char begin[48], end[128];
    size_t most = columns < XB_PROGRESS_LINE ? columns : XB_PROGRESS_LINE - 1;
    size_t begin_length =
        (size_t)snprintf(begin, sizeof begin, "[%zu/%zu] ", text->number, text->total);
    size_t name_length = strlen(text->test);
    size_t least = name_length;
    for (int without = 0; without <= 2; without++) {
        end_text(text, without, end, sizeof end);
        if (begin_length + least + strlen(end) <= most)
            break;
        if (without == 1 && least > LEAST_NAME) { /* once more, with a name that is cut */
            least = LEAST_NAME;
            without--;
        }
    }
    size_t taken = begin_length + strlen(end);
    size_t room = taken < most ? most - taken : 0;
    snprintf(line, most + 1, "%s%.*s%s", begin, (int)(room < name_length ? room : name_length),
             text->test, end);
    return line;
}

void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    struct xb_progress *progress = argument;
    double now = xb_clock_now();
    if (!progress->enabled || now - progress->begin < QUIET_S || now - progress->last < EVERY_S ||
        !xb_terminal_has_cursor(stderr))
        return;
    char test[NAME_SIZE], line[XB_PROGRESS_LINE];
    const struct xb_progress_text text = {
        .number = run->done_count + 1,
        .total = run->case_count,
        .test = xb_live_name(run, run->done_count, test, sizeof test),
        .samples = samples,
        .bandwidth = bandwidth,
        .left = progress->is_planned ? xb_eta_left(&progress->eta, run, now) : NAN,
    };
    progress->last = now;
    progress->shown = true;
    xb_live_rows_draw(&progress->rows, stderr);
    /* One column stays free: some terminals begin a new line after the last. */
    fprintf(stderr, "\r%s\033[K", xb_progress_text(&text, xb_terminal_columns(stderr) - 1, line));
    fflush(stderr);
}

/* They are drawn with the next line of progress: so none is behind the last case, where the table
 * is about to be printed. */
void xb_progress_finished(struct xb_progress *progress, const struct xb_run *run)
{
    if (!progress->is_planned)
        return;
    xb_eta_finished(&progress->eta, run, xb_clock_now());
    xb_live_rows_take(&progress->rows, run);
}

/* ---- processes ---- */

/* "process 2 of 5 (baseline), about 40 s left"; the role goes where there is no room for it. */
static void process_text(const struct xb_progress_process *process, double left, size_t columns,
                         char *line)
{
    char begin[64], role[48] = "", eta[XB_ETA_TEXT];
    snprintf(begin, sizeof begin, "process %zu of %zu", process->number, process->total);
    if (process->role != NULL)
        snprintf(role, sizeof role, " (%s)", process->role);
    xb_eta_text(left, eta);
    bool fits = strlen(begin) + strlen(role) + strlen(eta) <= columns;
    snprintf(line, XB_PROGRESS_LINE, "%s%s%s", begin, fits ? role : "", eta);
}

void xb_progress_show_process(struct xb_progress *progress,
                              const struct xb_progress_process *process)
{
    char line[XB_PROGRESS_LINE];
    double now = xb_clock_now();
    if (!progress->enabled || !xb_terminal_has_cursor(stderr))
        return;
    double left =
        xb_eta_of_parts(process->done, now - progress->begin, process->all - process->done);
    if (isfinite(left) && process->deadline > 0)
        left = fmin(left, fmax(process->deadline - now, 0));
    progress->shown = true;
    process_text(process, left, xb_terminal_columns(stderr) - 1, line);
    /* What the process itself prints begins its own line. */
    fprintf(stderr, "\r%s\033[K\r", line);
    fflush(stderr);
}

void xb_progress_clear(struct xb_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    xb_live_rows_erase(&progress->rows, stderr);
    progress->shown = false;
}
