/* SPDX-License-Identifier: Apache-2.0 */
#include "captions.h"

#include "layout.h"
#include "svg.h"

#include <math.h>

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

static struct box box_of_point(const struct xb_caption *caption)
{
    return (struct box){caption->x - POINT, caption->x + POINT, caption->y - POINT,
                        caption->y + POINT};
}

static bool has_room(const struct xb_caption *captions, size_t count, const struct box *box)
{
    for (size_t i = 0; i < count; i++) {
        struct box point = box_of_point(&captions[i]);
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

/* To a name that does not stand beside its point. */
static void draw_line(FILE *stream, const struct xb_caption *caption)
{
    bool is_right = caption->text_x > caption->x;
    double end = is_right ? caption->text_x - 2.0 : caption->text_x + width_of(caption) + 2.0;
    if (fabs(caption->text_y - caption->y) > LINE / 2.0)
        xb_svg_line(stream, "axis", caption->x, caption->y, end, caption->text_y);
}

void xb_captions_draw(FILE *stream, const struct xb_caption *captions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (captions[i].is_placed)
            draw_line(stream, &captions[i]);
    for (size_t i = 0; i < count; i++)
        if (captions[i].is_placed)
            xb_svg_text_within(stream, "halo", captions[i].text_x,
                               captions[i].text_y + XB_TEXT_DROP, XB_ANCHOR_START,
                               width_of(&captions[i]) + 1.0, captions[i].name);
}
