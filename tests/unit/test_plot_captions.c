/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/layout.h"
#include "plot/svg.h"

#include <math.h>
#include <string.h>

#include "testing.h"

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

static double middle_of(const struct xb_caption *caption)
{
    return (caption->box.top + caption->box.bottom) / 2.0;
}

static bool overlap(const struct xb_caption *one, const struct xb_caption *other)
{
    double left = fmax(one->box.left, other->box.left);
    double right = fmin(one->box.left + xb_svg_text_width(one->name),
                        other->box.left + xb_svg_text_width(other->name));
    return left < right && fabs(middle_of(one) - middle_of(other)) < TEXT_HIGH;
}

static void check(const struct xb_caption *captions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct xb_caption *caption = &captions[i];
        if (!caption->is_placed)
            continue;
        assert_non_null(caption->name);
        double end = caption->box.left + xb_svg_text_width(caption->name);
        assert_true(caption->box.left >= LEFT && end <= RIGHT);
        assert_true(middle_of(caption) >= TOP && middle_of(caption) <= BOTTOM);
        for (size_t k = 0; k < count; k++) {
            bool is_upon = captions[k].x > caption->box.left && captions[k].x < end &&
                           fabs(captions[k].y - middle_of(caption)) < TEXT_HIGH / 2.0;
            assert_false(is_upon);
            assert_false(k < i && captions[k].is_placed && overlap(caption, &captions[k]));
        }
    }
}

static void names_stand_beside_their_points(NO_STATE)
{
    struct xb_caption captions[] = {{.x = 100.0, .y = 100.0, .name = "gpu001 GPU 3"},
                                    {.x = 480.0, .y = 100.0, .name = "gpu500 GPU 0"}};
    assert_int_equal(draw(captions, 2, RIGHT), 2);
    assert_true(captions[0].box.left > 100.0 && captions[0].box.left < 115.0);
    assert_true(captions[1].box.left + xb_svg_text_width(captions[1].name) < 480.0);
    assert_true(middle_of(&captions[0]) == 100.0 && middle_of(&captions[1]) == 100.0);
    check(captions, 2);
}

/* Points at one place, in a row, and without a name among them. */
static void no_name_stands_upon_another(NO_STATE)
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

static void where_there_is_no_room_there_is_no_name(NO_STATE)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_beside_their_points),
        cmocka_unit_test(no_name_stands_upon_another),
        cmocka_unit_test(where_there_is_no_room_there_is_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
