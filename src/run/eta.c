/* SPDX-License-Identifier: Apache-2.0 */
#include "eta.h"

#include "measure/estimate.h"

#include <math.h>
#include <stdio.h>

/* Of the case that is next. */
static void look_at_next(struct xb_eta *eta, const struct xb_run *run)
{
    eta->guessed_now =
        eta->taken < run->case_count
            ? xb_estimate_case(run, eta->taken, xb_run_rows_of(run, eta->taken)).likely
            : 0;
}

void xb_eta_begin(struct xb_eta *eta, const struct xb_run *run, double now)
{
    *eta = (struct xb_eta){.begun = now};
    for (size_t first = 0, count; first < run->case_count; first += count) {
        count = xb_run_rows_of(run, first);
        eta->guessed_left += xb_estimate_case(run, first, count).likely;
    }
    look_at_next(eta, run);
}

/* What was skipped tells nothing of how long the others take. */
void xb_eta_finished(struct xb_eta *eta, const struct xb_run *run, double now)
{
    while (eta->taken < run->done_count) {
        if (run->results[eta->taken].row.status != XB_RESULT_SKIPPED) {
            eta->guessed_done += eta->guessed_now;
            eta->took += now - eta->begun;
        }
        eta->guessed_left = fmax(eta->guessed_left - eta->guessed_now, 0);
        eta->taken += xb_run_rows_of(run, eta->taken);
        eta->begun = now;
        look_at_next(eta, run);
    }
}

double xb_eta_left(const struct xb_eta *eta, const struct xb_run *run, double now)
{
    if (!(eta->guessed_done > 0))
        return NAN;
    double scale = eta->took / eta->guessed_done;
    double of_this = fmax(scale * eta->guessed_now - (now - eta->begun), 0);
    double left = scale * fmax(eta->guessed_left - eta->guessed_now, 0) + of_this;
    return run->deadline > 0 ? fmin(left, fmax(run->deadline - now, 0)) : left;
}

double xb_eta_of_parts(size_t done, double took, size_t left)
{
    return done > 0 ? took / (double)done * (double)left : NAN;
}

const char *xb_eta_duration(double seconds, char *text)
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

const char *xb_eta_text(double seconds, char *text)
{
    char duration[XB_ETA_TEXT];
    text[0] = '\0';
    if (isfinite(seconds))
        snprintf(text, XB_ETA_TEXT, ", about %.12s left", xb_eta_duration(seconds, duration));
    return text;
}
