/* SPDX-License-Identifier: Apache-2.0 */
/* How numbers, sizes and durations are written, for all formats alike. */
#include "text.h"

#include "xferbench/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *xb_number_text(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

int xb_decimals_for(double value)
{
    int decimals = 3;
    for (double limit = 10; decimals > 0 && value >= limit; limit *= 10)
        decimals--;
    for (double limit = 1; decimals < 9 && value < limit; limit /= 10)
        decimals++;
    return decimals;
}

const char *xb_decimal_text(double value, char *text, size_t size)
{
    snprintf(text, size, "%.*f", xb_decimals_for(value), value);
    return text;
}

const char *xb_rate_text(double bytes_per_second, char *text, size_t size)
{
    return xb_decimal_text(bytes_per_second / 1e9, text, size);
}

/* With the largest power of `step` that divides it. */
static void write_size(uint64_t bytes, uint64_t step, const char *const units[], char *text,
                       size_t size)
{
    size_t unit = 0;
    for (; bytes != 0 && bytes % step == 0; unit++)
        bytes /= step;
    snprintf(text, size, "%" PRIu64 " %s", bytes, units[unit]);
}

const char *xb_size_key(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    write_size(bytes, 1024, units, text, size);
    return text;
}

const char *xb_size_format(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    char binary[32], decimal[32];
    xb_size_key(bytes, binary, sizeof binary);
    write_size(bytes, 1000, units, decimal, sizeof decimal);
    bool is_shorter = strcspn(decimal, " ") < strcspn(binary, " ");
    snprintf(text, size, "%s", is_shorter ? decimal : binary);
    return text;
}

const char *xb_duration_format(double seconds, char *text, size_t size)
{
    static const struct {
        const char *name;
        double per_second;
    } units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1.0}};
    if (!(seconds > 0.0) || isinf(seconds)) {
        snprintf(text, size, "%g s", seconds);
        return text;
    }
    /* Use the first unit in which the rounded value has at most three digits, so that 999.6 us
     * becomes "1.00 ms". */
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double power = 100.0;
        for (int decimals = 2; decimals >= 0; decimals--, power /= 10.0) {
            double digits = floor(seconds * units[i].per_second * power + 0.5);
            if (digits < 1000.0) {
                snprintf(text, size, "%.*f %s", decimals, digits / power, units[i].name);
                return text;
            }
        }
    }
    double step = 10.0;
    while (seconds / step >= 1000.0)
        step *= 10.0;
    snprintf(text, size, "%.0f s", floor(seconds / step + 0.5) * step);
    return text;
}
