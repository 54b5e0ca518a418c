/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* locale_t */
#include "axis.h"

#include "axis_date.h"

#include "base/text.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdio.h>

bool xb_scale_shows(enum xb_scale scale, double value)
{
    if (!isfinite(value) || fabs(value) > XB_PLOT_LARGE)
        return false;
    if (scale == XB_SCALE_DATE)
        return xb_date_is_shown(value);
    return scale == XB_SCALE_LINEAR || value > 1.0 / XB_PLOT_LARGE;
}

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

/* Powers of two whose exponents are multiples of 1, 2, 4 or of tens: 4 KiB, 64 KiB, 1 MiB. Sizes
 * that lie between two powers have linear ticks: 1.2 MiB, 1.4 MiB. */
static size_t size_ticks(double low, double high, double *ticks, size_t most)
{
    static const double steps[] = {1.0, 2.0, 4.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0};
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

/* 1, 2 and 5 times each power of ten that lies in the axis; none where there would be more than
 * `most`. */
static size_t decimal_ticks(double low, double high, double *ticks, size_t most)
{
    static const double factors[] = {1.0, 2.0, 5.0};
    size_t count = 0;
    int last = (int)floor(log10(high));
    for (int exponent = (int)floor(log10(low)); exponent <= last; exponent++)
        for (size_t i = 0; i < 3; i++) {
            double tick = pow(10.0, exponent) * factors[i];
            if (tick < low * (1.0 - 1e-9) || tick > high * (1.0 + 1e-9))
                continue;
            if (count == most)
                return 0;
            ticks[count++] = tick;
        }
    return count;
}

static size_t log_ticks(double low, double high, double *ticks, size_t most)
{
    size_t count = 0;
    if (high / low <= 1e4)
        count = decimal_ticks(low, high, ticks, most);
    for (double step = 1.0; count < 2 && step <= 64.0; step *= 2.0) {
        count = multiples(step, log10(low), log10(high), ticks, most);
        for (size_t k = 0; k < count; k++)
            ticks[k] = pow(10.0, ticks[k]);
    }
    return count >= 2 ? count : linear_ticks(low, high, ticks, most);
}

size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most)
{
    if (!xb_scale_shows(scale, low) || !xb_scale_shows(scale, high) || !(low < high) || most == 0)
        return 0;
    switch (scale) {
    case XB_SCALE_SIZE:
        return size_ticks(low, high, ticks, most);
    case XB_SCALE_LOG:
        return log_ticks(low, high, ticks, most);
    case XB_SCALE_DATE:
        return xb_date_ticks(low, high, ticks, most);
    case XB_SCALE_LINEAR:
        break;
    }
    return linear_ticks(low, high, ticks, most);
}

/* ---- texts ---- */

/* Ten digits: what rounding leaves at the end of 0.1 + 0.2 goes, and what differs shows. */
static const char *number_text(double value, char *text, size_t size)
{
    locale_t previous = xb_plain_locale_enter();
    snprintf(text, size, "%.10g", value == 0.0 ? 0.0 : value);
    xb_plain_locale_leave(previous);
    return text;
}

const char *xb_value_text(double value, char *text, size_t size)
{
    locale_t previous = xb_plain_locale_enter();
    snprintf(text, size, "%.4g", value == 0.0 ? 0.0 : value);
    xb_plain_locale_leave(previous);
    return text;
}

static const char *size_text(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024.0 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024.0;
        unit++;
    }
    locale_t previous = xb_plain_locale_enter();
    snprintf(text, size, "%.4g %s", bytes, units[unit]);
    xb_plain_locale_leave(previous);
    return text;
}

const char *xb_axis_tick_text(enum xb_scale scale, double tick, char *text, size_t size)
{
    if (!xb_scale_shows(scale, tick)) {
        snprintf(text, size, "-");
        return text;
    }
    if (scale == XB_SCALE_SIZE)
        return size_text(tick, text, size);
    if (scale == XB_SCALE_DATE)
        return xb_date_text(tick, text, size);
    return number_text(tick, text, size);
}
