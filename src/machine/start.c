/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* adjtimex, nanosleep */
#include "start.h"

#include "base/clock.h"
#include "base/day_time.h"
#include "base/interrupt.h"
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/timex.h>

/* So often it looks for a signal. */
#define GLANCE_S 0.05

const char *xb_start_warning(double late_s, const struct xb_clock_state *clock, char *text)
{
    char late[32] = "";
    bool is_late = late_s > XB_START_LATE_S;
    bool is_free = clock->is_known && !clock->is_synchronised;
    if (!is_late && !is_free)
        return NULL;
    if (is_late)
        xb_duration_format(late_s, late, sizeof late);
    snprintf(text, XB_START_WARNING, "%s%s%s%s%s", is_late ? "this node began " : "", late,
             is_late ? " after the agreed time" : "", is_late && is_free ? "; " : "",
             is_free ? "this node's clock is not synchronised (chronyd, ntpd): it may have "
                       "begun at another time than the others"
                     : "");
    return text;
}

/* False if a signal or the deadline came before the time. Sleeps until a time of day, not for a
 * duration: if somebody sets the clock meanwhile, the start moves with it. */
static bool sleep_until(double when, double deadline)
{
    for (;;) {
        double now = xb_day_time_now();
        struct timespec time = {.tv_nsec = (long)(fmin(when - now, GLANCE_S) * 1e9)};
        if (now >= when)
            return true;
        if (xb_interrupt_signal() != 0 || (deadline > 0 && xb_clock_now() >= deadline))
            return false;
        (void)nanosleep(&time, NULL);
    }
}

void xb_start_wait(double at, double deadline, struct xb_start *start)
{
    struct timex state = {.modes = 0};
    *start = (struct xb_start){.asked = at};
    if (adjtimex(&state) >= 0)
        start->clock = (struct xb_clock_state){.is_known = true,
                                               .is_synchronised = (state.status & STA_UNSYNC) == 0,
                                               .error_s = (double)state.maxerror * 1e-6};
    if (at == 0 || sleep_until(at, deadline))
        start->began = xb_day_time_now();
}
