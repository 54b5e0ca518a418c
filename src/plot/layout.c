/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "markup.h"

#include <math.h>

#define BETWEEN_ITEMS 18.0

double xb_legend_place(struct xb_legend *legend, const char *name, double *x, double *y)
{
    double whole = legend->right - legend->left - XB_LEGEND_KEY;
    double name_width = fmin(xb_svg_text_width(name), whole);
    double width = XB_LEGEND_KEY + name_width;
    if (legend->x > legend->left && legend->x + width > legend->right) {
        legend->x = legend->left;
        legend->y += XB_LINE_HEIGHT + 2.0;
    }
    *x = legend->x;
    *y = legend->y;
    legend->x += width + BETWEEN_ITEMS;
    return name_width;
}

/* Each pass moves every two neighbours that are too near apart by half of what lacks. */
void xb_spread(double *places, size_t count, double apart, double low, double high)
{
    for (int pass = 0; pass < 50; pass++) {
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++) {
                double lacks = apart - fabs(places[i] - places[k]);
                if (lacks <= 0.0)
                    continue;
                double move = places[i] < places[k] ? -lacks / 2.0 : lacks / 2.0;
                places[i] += move;
                places[k] -= move;
            }
        for (size_t i = 0; i < count; i++)
            places[i] = fmin(fmax(places[i], low), high);
    }
}
