/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "svg.h"

#include <math.h>

#define BETWEEN_ITEMS 18.0

size_t xb_at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

bool xb_legend_begin(FILE *stream, struct xb_legend *legend, const char *look, const char *name)
{
    double whole = legend->right - legend->left - XB_LEGEND_KEY;
    legend->name_width = fmin(xb_svg_text_width(name), whole);
    double width = XB_LEGEND_KEY + legend->name_width;
    if (legend->x > legend->left && legend->x + width > legend->right) {
        legend->x = legend->left;
        legend->y += XB_LINE_HEIGHT + 2.0;
    }
    legend->item_x = legend->x;
    legend->item_y = legend->y;
    legend->x += width + BETWEEN_ITEMS;
    if (stream != NULL)
        xb_svg_group_begin(stream, look, NULL);
    return stream != NULL;
}

void xb_legend_end(FILE *stream, const struct xb_legend *legend, const char *name)
{
    xb_svg_text_within(stream, "", legend->item_x + XB_LEGEND_KEY, legend->item_y + XB_TEXT_DROP,
                       XB_ANCHOR_START, legend->name_width, name);
    xb_svg_group_end(stream);
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

/* ---- names beside points ---- */

#define NAMES_MOST 190.0 /* pixels: what is wider is cut */
#define BESIDE 9.0       /* from a point to its name */
#define POINT 6.0        /* half of what a point takes */
#define LINE 14.0        /* what a name takes in height */
#define STEPS 6          /* lines of text that a name may be away from its point */

struct box {
    double left, right, top, bottom;
};

static bool touch(const struct box *one, const struct box *other)
{
    return one->left < other->right && other->left < one->right && one->top < other->bottom &&
           other->top < one->bottom;
}

static double width_of(const struct xb_caption *caption)
{
    return fmin(xb_svg_text_width(caption->name), NAMES_MOST);
}

static struct box box_of_name(const struct xb_caption *caption)
{
    return (struct box){caption->text_x, caption->text_x + width_of(caption),
                        caption->text_y - LINE / 2.0, caption->text_y + LINE / 2.0};
}

static bool has_room(const struct xb_caption *captions, size_t count, const struct box *box)
{
    for (size_t i = 0; i < count; i++) {
        double x = captions[i].x;
        double y = captions[i].y;
        struct box point = {x - POINT, x + POINT, y - POINT, y + POINT};
        if (touch(box, &point))
            return false;
        if (!captions[i].is_placed)
            continue;
        struct box name = box_of_name(&captions[i]);
        if (touch(box, &name))
            return false;
    }
    return true;
}

/* Right of its point, then left of it; then further up and down. */
static bool place(struct xb_caption *captions, size_t count, size_t index, const struct box *within)
{
    struct xb_caption *caption = &captions[index];
    for (int step = 0; step <= 2 * STEPS; step++)
        for (int side = 0; side < 2; side++) {
            int lines = (step + 1) / 2;
            double away = (step % 2 == 0 ? -LINE : LINE) * lines;
            caption->text_x =
                side == 0 ? caption->x + BESIDE : caption->x - BESIDE - width_of(caption);
            caption->text_y = caption->y + away;
            struct box box = box_of_name(caption);
            if (box.left >= within->left && box.right <= within->right && box.top >= within->top &&
                box.bottom <= within->bottom && has_room(captions, count, &box))
                return true;
        }
    return false;
}

size_t xb_captions_place(struct xb_caption *captions, size_t count, double left, double right,
                         double top, double bottom)
{
    const struct box within = {left, right, top, bottom};
    size_t placed = 0;
    for (size_t i = 0; i < count; i++)
        captions[i].is_placed = false;
    for (size_t i = 0; i < count && placed < XB_CAPTIONS_MOST; i++) {
        if (captions[i].name == NULL)
            continue;
        captions[i].is_placed = place(captions, count, i, &within);
        placed += captions[i].is_placed;
    }
    return placed;
}

void xb_captions_draw(FILE *stream, const struct xb_caption *captions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct xb_caption *caption = &captions[i];
        if (!caption->is_placed)
            continue;
        double end = caption->text_x > caption->x ? caption->text_x - 2.0
                                                  : caption->text_x + width_of(caption) + 2.0;
        if (fabs(caption->text_y - caption->y) > LINE / 2.0)
            xb_svg_line(stream, "axis", caption->x, caption->y, end, caption->text_y);
    }
    for (size_t i = 0; i < count; i++)
        if (captions[i].is_placed)
            xb_svg_text_within(stream, "halo", captions[i].text_x,
                               captions[i].text_y + XB_TEXT_DROP, XB_ANCHOR_START,
                               width_of(&captions[i]) + 1.0, captions[i].name);
}
