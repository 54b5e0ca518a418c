/* SPDX-License-Identifier: Apache-2.0 */
#include "axis_date.h"

#include <math.h>
#include <stdio.h>

/* Dates in UTC, by the calendar of today for all years. */

#define DAY 86400.0
/* Days from the year 0 to 1970-01-01. */
#define EPOCH 719528L

static const long long first_second = -62135596800LL; /* 0001-01-01 00:00:00 */
static const long long last_second = 253402300799LL;  /* 9999-12-31 23:59:59 */

bool xb_date_is_shown(double seconds)
{
    return seconds >= (double)first_second && seconds <= (double)last_second;
}

static bool is_leap(long year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static long days_in_month(long year, long month)
{
    static const long days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month] + (month == 1 && is_leap(year));
}

/* From 1970-01-01 to the first day of a month; months count from 0, and may be 12 and more. */
static long days_before(long year, long month)
{
    year += month / 12;
    long last = year - 1; /* the last whole year: the year 0 is a leap year */
    long days = 365 * year + last / 4 - last / 100 + last / 400 + 1 - EPOCH;
    for (long i = 0; i < month % 12; i++)
        days += days_in_month(year, i);
    return days;
}

struct date {
    long year, month, day; /* month and day count from 0 */
    long second;           /* of the day */
};

static struct date date_of(double seconds)
{
    double days = floor(seconds / DAY);
    struct date date = {.year = 1970 + (long)floor(days / 365.2425)};
    /* The guess is off by one year at most. */
    if (days_before(date.year, 0) > (long)days)
        date.year--;
    else if (days_before(date.year + 1, 0) <= (long)days)
        date.year++;
    date.day = (long)days - days_before(date.year, 0);
    while (date.day >= days_in_month(date.year, date.month))
        date.day -= days_in_month(date.year, date.month++);
    date.second = (long)(seconds - days * DAY);
    return date;
}

/* The first days of months, `step` months apart; steps of 12 and more begin at years that are
 * multiples of them. None where there would be more than `most`. */
static size_t month_ticks(long step, double low, double high, double *ticks, size_t most)
{
    size_t count = 0;
    long month = date_of(low).year * 12 / step * step;
    for (;; month += step) {
        double tick = (double)days_before(month / 12, month % 12) * DAY;
        if (tick > high || month >= 120000L)
            return count;
        if (tick < low)
            continue;
        if (count == most)
            return 0;
        ticks[count++] = tick;
    }
}

static size_t even_ticks(double step, double low, double high, double *ticks, size_t most)
{
    double first = ceil(low / step);
    double last = floor(high / step);
    if (last - first + 1.0 > (double)most)
        return 0;
    size_t count = 0;
    for (double k = first; k <= last && count < most; k++)
        ticks[count++] = k * step;
    return count;
}

size_t xb_date_ticks(double low, double high, double *ticks, size_t most)
{
    static const double even[] = {1.0,     5.0,     15.0,    60.0,      300.0,     900.0,    3600.0,
                                  10800.0, 21600.0, 43200.0, 1.0 * DAY, 2.0 * DAY, 7.0 * DAY};
    static const long months[] = {1,   3,    6,    12,   24,    60,    120,  240,
                                  600, 1200, 2400, 6000, 12000, 24000, 60000};
    for (size_t i = 0; i < sizeof even / sizeof *even; i++) {
        size_t count = even_ticks(even[i], low, high, ticks, most);
        if (count > 0)
            return count;
    }
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        size_t count = month_ticks(months[i], low, high, ticks, most);
        if (count > 0)
            return count;
    }
    return 0;
}

/* The date at midnight, else the day and the time. */
const char *xb_date_text(double tick, char *text, size_t size)
{
    struct date date = date_of(tick);
    long hour = date.second / 3600;
    long minute = date.second / 60 % 60;
    long second = date.second % 60;
    if (date.second == 0)
        snprintf(text, size, "%04ld-%02ld-%02ld", date.year, date.month + 1, date.day + 1);
    else if (second == 0)
        snprintf(text, size, "%02ld-%02ld %02ld:%02ld", date.month + 1, date.day + 1, hour, minute);
    else
        snprintf(text, size, "%02ld-%02ld %02ld:%02ld:%02ld", date.month + 1, date.day + 1, hour,
                 minute, second);
    return text;
}
