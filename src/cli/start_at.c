/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* When measuring is to begin. */
#include "start_at.h"

#include "base/clock.h"
#include "base/day_time.h"
#include "base/terminal.h"
#include "base/text.h"
#include "xferbench/units.h"

#include <stdio.h>

/* A time that passed while the program started is not worth a refusal. */
#define LATE_S 1.0
/* A time that is further ahead is a mistake: nobody keeps nodes waiting for a day. */
#define FURTHEST_S 86400.0

const struct xb_option xb_option_start_at = {
    .name = "start-at",
    .type = XB_OPTION_TEXT,
    .argument = "TIME",
    .help = "Begin to measure at this time, so that many nodes begin together: "
            "2026-11-23T06:40:00Z (UTC), @1795416000 (seconds since 1970), or +10s (after the "
            "program's start). The nodes' clocks must agree (docs/measurement.md).",
    .selects = true,
};

enum xb_status xb_start_at_read(const struct xb_config *config, double deadline, double *at,
                                struct xb_error *error)
{
    const struct xb_value *value = xb_config_get(config, "start-at");
    const char *text = value->text;
    struct xb_error cause;
    double seconds = 0;
    *at = 0;
    if (!value->is_set)
        return XB_OK;
    bool is_ahead = text[0] == '+';
    enum xb_status status = is_ahead ? xb_duration_parse(text + 1, &seconds, &cause)
                                     : xb_day_time_parse(text, &seconds, &cause);
    if (status != XB_OK)
        return XB_FAIL(error, status, "--start-at: %s", cause.message);
    struct timespec began = xb_began();
    *at = is_ahead ? (double)began.tv_sec + (double)began.tv_nsec * 1e-9 + seconds : seconds;
    double ahead = *at - xb_day_time_now();
    if (ahead < -LATE_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s was %.1f s ago by this node's clock: give a later time",
                       text, -ahead);
    if (ahead > FURTHEST_S)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f days ahead: give a time within a day", text,
                       ahead / FURTHEST_S);
    if (deadline > 0 && ahead > 0 && xb_clock_now() + ahead >= deadline)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "--start-at: %.40s is %.1f s ahead, after --deadline: give an earlier time "
                       "or a longer --deadline",
                       text, ahead);
    return XB_OK;
}

void xb_start_at_say(double at)
{
    if (at > 0 && xb_terminal_has_cursor(stderr))
        xb_say("waiting %.1f s for the start time", at - xb_day_time_now());
}
