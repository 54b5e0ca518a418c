/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include "base/clock.h"
#include "measure/case.h"

#include <stdio.h>
#include <unistd.h>

#define QUIET_S 0.5 /* shorter work shows no progress */
#define EVERY_S 0.1 /* a line that changes more often cannot be read */

void xb_progress_start(struct xb_progress *progress, bool enabled)
{
    *progress = (struct xb_progress){.enabled = enabled && isatty(STDERR_FILENO) != 0,
                                     .begin = xb_clock_now()};
}

void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    struct xb_progress *progress = argument;
    double now = xb_clock_now();
    if (!progress->enabled || now - progress->begin < QUIET_S || now - progress->last < EVERY_S)
        return;
    char test[160];
    progress->last = now;
    progress->shown = true;
    fprintf(stderr, "\r[%zu/%zu] %s: ", run->done_count + 1, run->case_count,
            xb_case_text(&run->results[run->done_count].test, test, sizeof test));
    if (samples == 0)
        fprintf(stderr, "warming up\033[K");
    else
        fprintf(stderr, "%zu samples, %.2f GB/s\033[K", samples, bandwidth * 1e-9);
    fflush(stderr);
}

void xb_progress_show_process(struct xb_progress *progress, size_t number, size_t total,
                              const char *role)
{
    if (!progress->enabled)
        return;
    progress->shown = true;
    fprintf(stderr, "\rprocess %zu of %zu", number, total);
    if (role != NULL)
        fprintf(stderr, " (%s)", role);
    fputs("\033[K\r", stderr); /* what the process itself prints begins its own line */
    fflush(stderr);
}

void xb_progress_clear(struct xb_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
