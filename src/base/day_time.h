/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <time.h>

/* Times of day, the same on all machines: seconds since 1970, UTC, to less than a microsecond. */

double xb_day_time_now(void);

#define XB_DAY_TIME 40
/* "2026-11-23T06:40:00.123456Z"; `text` holds XB_DAY_TIME bytes. Returns `text`. */
const char *xb_day_time_text(double when, char *text);
#define XB_DAY_TIME_TEXT(when) xb_day_time_text((when), (char[XB_DAY_TIME]){0})

/* Reads "2026-11-23T06:40:00Z" (UTC, also with a fraction of a second), or "@1795416000.5" (seconds
 * since 1970). XB_ERR_USAGE says what is wrong with the text. */
XB_MUST_CHECK enum xb_status xb_day_time_parse(const char *text, double *when,
                                               struct xb_error *error);

/* The time of day of the first call, which main() makes first of all: when the program began. Names
 * of files and --start-at +10s must mean the same moment. */
struct timespec xb_began(void);
