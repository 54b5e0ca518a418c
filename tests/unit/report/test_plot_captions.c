/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/layout.h"
#include "plot/svg.h"
#include "testing.h"

#include <math.h>

#define LEFT 50.0
#define RIGHT 500.0
#define TOP 30.0
#define BOTTOM 290.0
#define TEXT_HIGH 13.0 /* the font size of pictures */

/* Draws the names beside all of their points, whether these have one or not. */
static size_t draw(struct xb_caption *captions, size_t count, double right)
{
    const struct xb_box field = {LEFT, right, TOP, BOTTOM};
    struct xb_box taken[100 + XB_CAPTIONS_MOST];
    for (size_t i = 0; i < count; i++)
        taken[i] = (struct xb_box){captions[i].x - 6.0, captions[i].x + 6.0, captions[i].y - 6.0,
                                   captions[i].y + 6.0};
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    size_t placed = xb_captions_draw(stream, captions, count, &field, taken, count);
    assert_int_equal(fclose(stream), 0);
    return placed;
}

static bool overlap(const struct xb_box *one, const struct xb_box *other)
{
    return fmax(one->left, other->left) < fmin(one->right, other->right) &&
           fmax(one->top, other->top) < fmin(one->bottom, other->bottom);
}

/* No name is outside the field, upon a point or upon another name. */
static void check(const struct xb_caption *captions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct xb_box *box = &captions[i].box;
        if (!captions[i].is_placed)
            continue;
        assert_non_null(captions[i].name);
        assert_true(box->right - box->left >= xb_svg_text_width(captions[i].name));
        assert_true(box->bottom - box->top >= TEXT_HIGH);
        assert_true(box->left >= LEFT && box->right <= RIGHT);
        assert_true(box->top >= TOP && box->bottom <= BOTTOM);
        for (size_t k = 0; k < count; k++) {
            double x = captions[k].x, y = captions[k].y;
            assert_false(x > box->left && x < box->right && y > box->top && y < box->bottom);
            assert_false(k < i && captions[k].is_placed && overlap(box, &captions[k].box));
        }
    }
}

TEST(names_stand_beside_their_points)
{
    struct xb_caption captions[] = {{.x = 100.0, .y = 100.0, .name = "gpu001 GPU 3"},
                                    {.x = 480.0, .y = 100.0, .name = "gpu500 GPU 0"}};
    assert_int_equal(draw(captions, 2, RIGHT), 2);
    assert_true(captions[0].box.left > 100.0 && captions[0].box.left < 115.0);
    assert_true(captions[1].box.right < 480.0);
    for (size_t i = 0; i < 2; i++)
        assert_true(captions[i].box.top + captions[i].box.bottom == 200.0);
    check(captions, 2);
}

/* Points at one place, in a row, and without a name among them. */
TEST(no_name_stands_upon_another)
{
    struct xb_caption captions[60];
    for (size_t i = 0; i < 60; i++) {
        captions[i] = (struct xb_caption){.x = 60.0 + 7.0 * (double)i,
                                          .y = 150.0 + 40.0 * sin((double)(i * i)),
                                          .name = i % 3 == 2 ? NULL : "gpu012 GPU 3: -2.1 %"};
        if (i < 8)
            captions[i].x = captions[i].y = 200.0;
    }
    size_t placed = draw(captions, 60, RIGHT);
    assert_in_range(placed, 6, XB_CAPTIONS_MOST);
    check(captions, 60);
    assert_true(captions[0].is_placed); /* the first is the worst */
}

TEST(where_there_is_no_room_there_is_no_name)
{
    struct xb_caption captions[100];
    for (size_t i = 0; i < 100; i++)
        captions[i] = (struct xb_caption){.x = 51.0 + 0.5 * (double)i, .y = 160.0, .name = "gpu"};
    size_t placed = draw(captions, 100, 101.0);
    assert_in_range(placed, 1, 20);
    for (size_t i = 0; i < 100; i++)
        assert_true(!captions[i].is_placed || captions[i].box.left + 10.0 < 101.0);
    for (size_t i = 0; i < 100; i++)
        captions[i].is_placed = false;
    assert_int_equal(draw(captions, 100, LEFT), 0);
}
