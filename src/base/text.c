/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

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

const char *xb_rate_text(double bytes_per_second, char *text, size_t size)
{
    double gigabytes = bytes_per_second / 1e9;
    snprintf(text, size, "%.*f", xb_decimals_for(gigabytes), gigabytes);
    return text;
}

locale_t xb_plain_locale_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void xb_plain_locale_leave(locale_t previous)
{
    freelocale(uselocale(previous));
}
