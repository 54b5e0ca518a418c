/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/options.h"

extern const struct xb_option xb_option_start_at;

/*
 * Reads its text; NULL: it is not given. *at is on the clock of base/day_time.h; then 0. `deadline`
 * is on the clock of base/clock.h, 0 for none. XB_ERR_USAGE for a text that is no time, and for a
 * time in the past, after the deadline or more than a day ahead.
 */
XB_MUST_CHECK enum xb_status xb_start_at_read(const char *text, double deadline, double *at,
                                              struct xb_error *error);

/* Says on stderr what the program waits for, if stderr is a terminal. */
void xb_start_at_say(double at);
