/* SPDX-License-Identifier: Apache-2.0 */
/* What values an axis can show, and where its ticks are. */
#define _DEFAULT_SOURCE /* timegm */
#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Multiples of `step` from low to high; none where there would be more than `most`. The slack is
 * for ends that are multiples themselves, but for rounding. */
static size_t multiples(double step, double low, double high, double *ticks, size_t most)
{
    double first = ceil(low / step - 1e-9);
    double last = floor(high / step + 1e-9);
    if (last - first + 1.0 > (double)most || fabs(first) > 1e15)
        return 0;
    size_t count = 0;
    for (double k = first; k <= last && count < most; k++)
        ticks[count++] = k * step;
    return count;
}

/* Steps of 1, 2 and 5 times a power of ten: the smallest that makes few enough ticks. */
static size_t linear_ticks(double low, double high, double *ticks, size_t most)
{
    static const double factors[] = {1.0, 2.0, 5.0};
    double power = pow(10.0, floor(log10((high - low) / (double)most)));
    for (int i = 0; i < 12; i++) {
        size_t count = multiples(power * factors[i % 3], low, high, ticks, most);
        if (count > 0)
            return count;
        if (i % 3 == 2)
            power *= 10.0;
    }
    return 0;
}

/* Powers of two whose exponents are multiples of 1, 2, 4, 5 or of tens: 4 KiB, 64 KiB, 1 MiB. Sizes
 * that lie between two powers have linear ticks: 1.2 MiB, 1.4 MiB. */
static size_t size_ticks(double low, double high, double *ticks, size_t most)
{
    static const double steps[] = {1.0, 2.0, 4.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t count = multiples(steps[i], log2(low), log2(high), ticks, most);
        for (size_t k = 0; k < count; k++)
            ticks[k] = exp2(ticks[k]);
        if (count >= 2)
            return count;
    }
    double unit = exp2(floor(log2(low) / 10.0) * 10.0);
    size_t count = linear_ticks(low / unit, high / unit, ticks, most);
    for (size_t k = 0; k < count; k++)
        ticks[k] *= unit;
    return count;
}

/* ---- dates in UTC, by the calendar of today for all years ---- */

#define DAY 86400.0
static const long long first_second = -62135596800LL; /* 0001-01-01 00:00:00 */
static const long long last_second = 253402300799LL;  /* 9999-12-31 23:59:59 */

static struct tm date_of(double seconds)
{
    time_t whole = (time_t)floor(seconds);
    struct tm date = {.tm_sec = 0};
    (void)gmtime_r(&whole, &date);
    return date;
}

/* The first days of months, `step` months apart; steps of 12 and more begin at years that are
 * multiples of them. None where there would be more than `most`. */
static size_t month_ticks(long step, double low, double high, double *ticks, size_t most)
{
    size_t count = 0;
    for (long month = (date_of(low).tm_year + 1900L) * 12 / step * step;; month += step) {
        struct tm first = {
            .tm_year = (int)(month / 12 - 1900), .tm_mon = (int)(month % 12), .tm_mday = 1};
        double tick = (double)timegm(&first);
        if (tick > high || month >= 120000L)
            return count;
        if (tick < low)
            continue;
        if (count == most)
            return 0;
        ticks[count++] = tick;
    }
}

static size_t date_ticks(double low, double high, double *ticks, size_t most)
{
    static const double even[] = {1.0,     5.0,     15.0,    60.0,      300.0,     900.0,    3600.0,
                                  10800.0, 21600.0, 43200.0, 1.0 * DAY, 2.0 * DAY, 7.0 * DAY};
    static const long months[] = {1,   3,    6,    12,   24,    60,    120,  240,
                                  600, 1200, 2400, 6000, 12000, 24000, 60000};
    const size_t evens = sizeof even / sizeof *even, all = evens + sizeof months / sizeof *months;
    size_t count = 0;
    for (size_t i = 0; count == 0 && i < all; i++)
        count = i < evens ? multiples(even[i], low, high, ticks, most)
                          : month_ticks(months[i - evens], low, high, ticks, most);
    return count;
}

bool xb_scale_shows(enum xb_scale scale, double value)
{
    if (!isfinite(value) || fabs(value) > XB_PLOT_LARGE)
        return false;
    if (scale == XB_SCALE_DATE)
        return value >= (double)first_second && value <= (double)last_second;
    return scale == XB_SCALE_LINEAR || value > 1.0 / XB_PLOT_LARGE;
}

bool xb_scale_spans(enum xb_scale scale, double low, double high)
{
    return xb_scale_shows(scale, low) && xb_scale_shows(scale, high) && low <= high;
}

size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most)
{
    static size_t (*const ticks_of[])(double, double, double *,
                                      size_t) = {[XB_SCALE_LINEAR] = linear_ticks,
                                                 [XB_SCALE_SIZE] = size_ticks,
                                                 [XB_SCALE_DATE] = date_ticks};
    if (!xb_scale_spans(scale, low, high) || low == high || most == 0)
        return 0;
    return ticks_of[scale](low, high, ticks, most);
}

const char *xb_axis_tick_text(enum xb_scale scale, double tick, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (!xb_scale_shows(scale, tick)) {
        snprintf(text, size, "-");
    } else if (scale == XB_SCALE_SIZE) {
        size_t unit = 0;
        for (; tick >= 1024.0 && unit + 1 < sizeof units / sizeof *units; unit++)
            tick /= 1024.0;
        snprintf(text, size, "%.4g %s", tick, units[unit]);
    } else if (scale == XB_SCALE_DATE) {
        /* The date at midnight, else the day and the time. */
        struct tm date = date_of(tick);
        if (date.tm_hour + date.tm_min + date.tm_sec == 0)
            snprintf(text, size, "%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1,
                     date.tm_mday);
        else
            strftime(text, size, date.tm_sec == 0 ? "%m-%d %H:%M" : "%m-%d %H:%M:%S", &date);
    } else {
        /* Ten digits: what rounding leaves at the end of 0.1 + 0.2 goes, and what differs shows. */
        snprintf(text, size, "%.10g", tick == 0.0 ? 0.0 : tick);
    }
    return text;
}

const char *xb_value_text(double value, char *text, size_t size)
{
    snprintf(text, size, "%.4g", value == 0.0 ? 0.0 : value);
    return text;
}
