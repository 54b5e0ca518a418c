/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include "base/text.h"
#include "xferbench/figure.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SIZE 64

/* A file may hold any number: one that no device reaches is shown with its power of ten. */
static bool is_beyond_words(double value)
{
    return !(value >= 1e-12 && value < 1e18);
}

const char *xb_fleet_value_text(double value, const char *unit, bool with_unit, char *text)
{
    char number[32];
    bool rate = unit != NULL && strcmp(unit, XB_UNIT_RATE) == 0;
    bool plain = unit == NULL || strcmp(unit, XB_UNIT_RATIO) == 0;
    if (is_beyond_words(value))
        snprintf(text, TEXT_SIZE, "%.3g%s%.16s", value, with_unit && !plain ? " " : "",
                 with_unit && !plain ? unit : "");
    else if (rate)
        snprintf(text, TEXT_SIZE, "%s%s", xb_rate_text(value, number, sizeof number),
                 with_unit ? " GB/s" : "");
    else if (unit != NULL && strcmp(unit, XB_UNIT_SECONDS) == 0)
        xb_duration_format(value, text, TEXT_SIZE);
    else
        snprintf(text, TEXT_SIZE, "%.*f%s%.16s", xb_decimals_for(value), value,
                 with_unit && !plain ? " " : "", with_unit && !plain ? unit : "");
    return text;
}

const char *xb_fleet_percent_text(double share, char *text)
{
    double percent = fabs(share) * 100;
    int decimals = 0;
    if (percent < 9.95)
        decimals = percent < 0.995 ? 2 : 1;
    snprintf(text, TEXT_SIZE, "%.*f %%", decimals, percent);
    return text;
}

const char *xb_fleet_figure_text(const struct xb_fleet_figure *figure, char *text, size_t size)
{
    const char *parts[] = {figure->name, figure->model, figure->link};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == NULL || length >= size)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%.100s",
                                   length == 0 ? "" : ", ", parts[i]);
    }
    return text;
}
