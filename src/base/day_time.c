/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "day_time.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
/* The end of the year 9999: what comes later is no time of day, but a mistake. */
#define LAST_SECOND 253402300799.0

double xb_day_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *xb_day_time_text(double when, char *text)
{
    long long microseconds = llround(when * 1e6);
    time_t seconds = (time_t)(microseconds / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t length = strftime(text, XB_DAY_TIME, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, XB_DAY_TIME - length, ".%06dZ", (int)(microseconds % 1000000));
    return text;
}

/* Reads `text` up to `end` where that is digits, and at most one point between them. */
static bool read_decimal(const char *text, const char *end, double *value)
{
    size_t length = (size_t)(end - text);
    size_t whole = strspn(text, DIGITS);
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
    if (whole == 0 || whole > 12 || length > 30 ||
        whole + (fraction > 0 ? fraction + 1 : 0) != length)
        return false;
    *value = strtod(text, NULL);
    return true;
}

/* The date and the whole minutes; `rest` is left at the seconds. timegm() takes a 31 February for a
 * 3 March, which would be another day than was meant. */
static bool read_minutes(const char *text, const char **rest, double *when)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:";
    struct tm utc = {.tm_isdst = 0};
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    *rest = strptime(text, "%Y-%m-%dT%H:%M:", &utc);
    if (*rest == NULL)
        return false;
    struct tm given = utc;
    *when = (double)timegm(&utc);
    return given.tm_mday == utc.tm_mday && given.tm_mon == utc.tm_mon;
}

enum xb_status xb_day_time_parse(const char *text, double *when, struct xb_error *error)
{
    const char *end = text + strlen(text);
    const char *rest = NULL;
    double seconds = 0;
    bool is_read = false;
    *when = 0;
    if (text[0] == '@')
        is_read = read_decimal(text + 1, end, &seconds);
    else if (read_minutes(text, &rest, when) && end[-1] == 'Z')
        is_read = read_decimal(rest, end - 1, &seconds) && strcspn(rest, ".Z") == 2 && seconds < 60;
    *when += seconds;
    if (is_read && *when >= 0 && *when <= LAST_SECOND)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "\"%.60s\" is no time: write it in UTC as 2026-11-23T06:40:00Z, or as "
                   "@1795416000, the seconds since 1970",
                   text);
}

struct timespec xb_began(void)
{
    static struct timespec began;
    if (began.tv_sec == 0)
        (void)clock_gettime(CLOCK_REALTIME, &began); /* fails only for a clock that is not there */
    return began;
}
