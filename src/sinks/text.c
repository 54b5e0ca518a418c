/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include "xferbench/link.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of a sequence after its lead, and the range of the second byte; later ones are 80..BF. */
static size_t lead(unsigned char byte, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (byte >= 0xC2 && byte <= 0xDF)
        return 1;
    if (byte >= 0xE0 && byte <= 0xEF) {
        *low = byte == 0xE0 ? 0xA0 : 0x80;
        *high = byte == 0xED ? 0x9F : 0xBF;
        return 2;
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        *low = byte == 0xF0 ? 0x90 : 0x80;
        *high = byte == 0xF4 ? 0x8F : 0xBF;
        return 3;
    }
    return 0;
}

size_t xb_utf8_length(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80)
        return bytes[0] != 0;
    unsigned char low;
    unsigned char high;
    size_t more = lead(bytes[0], &low, &high);
    for (size_t i = 1; i <= more; i++) {
        if (bytes[i] < low || bytes[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return more != 0 ? more + 1 : 0;
}

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

const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
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
