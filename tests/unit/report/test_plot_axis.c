/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/layout.h"
#include "rows.h"

#include <math.h>

#define NONE ((double)NAN)

static enum xb_scale scale_of(const char *name)
{
    return strcmp(name, "size") == 0   ? XB_SCALE_SIZE
           : strcmp(name, "date") == 0 ? XB_SCALE_DATE
                                       : XB_SCALE_LINEAR;
}

/* An axis, from where to where, how many ticks at most: the texts of its ticks. */
static void say_ticks(const struct row *row, char said[ROW_TEXT])
{
    double ticks[XB_TICKS_MOST];
    char text[40];
    const struct xb_ruler ruler = {.scale = scale_of(row->part[0])};
    size_t most = row_number(row, 3);
    size_t count = xb_axis_ticks(ruler.scale, strtod(row->part[1], NULL),
                                 strtod(row->part[2], NULL), ticks, most);
    assert_true(count <= most);
    for (size_t i = 0; i < count; i++)
        say_also(said, "%s%s", i > 0 ? ", " : "",
                 xb_tick_text(&ruler, ticks[i], text, sizeof text));
}

TEST_ROWS(ticks_are_round, say_ticks)

static void say_date(const struct row *row, char said[ROW_TEXT])
{
    char text[40];
    const struct xb_ruler ruler = {.scale = XB_SCALE_DATE};
    say_also(said, "%s", xb_tick_text(&ruler, strtod(row->part[0], NULL), text, sizeof text));
}

TEST_ROWS(dates_are_those_of_the_calendar, say_date)

TEST(an_axis_without_a_range_has_no_ticks)
{
    double ticks[XB_TICKS_MOST];
    for (enum xb_scale scale = XB_SCALE_LINEAR; scale <= XB_SCALE_DATE; scale++) {
        assert_int_equal(xb_axis_ticks(scale, 5.0, 5.0, ticks, 4), 0);
        assert_int_equal(xb_axis_ticks(scale, 5.0, 4.0, ticks, 4), 0);
        assert_int_equal(xb_axis_ticks(scale, NONE, 4.0, ticks, 4), 0);
        assert_int_equal(xb_axis_ticks(scale, 1.0, (double)INFINITY, ticks, 4), 0);
        assert_int_equal(xb_axis_ticks(scale, 1.0, 4.0, ticks, 0), 0);
    }
    assert_int_equal(xb_axis_ticks(XB_SCALE_SIZE, -1.0, 4.0, ticks, 4), 0);
}

/* Whatever the ends are: rising ticks between them, and not too many. */
TEST(ticks_lie_in_the_axis)
{
    static const double ends[] = {-1e99, -1e12, -3.0, -1e-90, 0.0,  1e-90, 1e-9, 1.0,
                                  1.001, 7.0,   1e6,  1.7e9,  1e15, 1e40,  1e100};
    double ticks[XB_TICKS_MOST];
    for (enum xb_scale scale = XB_SCALE_LINEAR; scale <= XB_SCALE_DATE; scale++)
        for (size_t i = 0; i < COUNT_OF(ends); i++)
            for (size_t k = i + 1; k < COUNT_OF(ends); k++)
                for (size_t most = 1; most <= XB_TICKS_MOST; most++) {
                    size_t count = xb_axis_ticks(scale, ends[i], ends[k], ticks, most);
                    double slack = (ends[k] - ends[i]) * 1e-6;
                    assert_true(count <= most);
                    for (size_t n = 0; n < count; n++) {
                        assert_true(ticks[n] >= ends[i] - slack && ticks[n] <= ends[k] + slack);
                        assert_true(n == 0 || ticks[n] > ticks[n - 1]);
                    }
                }
}

/* ---- rulers ---- */

static struct xb_range range_of(double low, double high)
{
    return (struct xb_range){low, high};
}

TEST(a_ruler_holds_its_values)
{
    static const double ends[] = {1e-90, 1e-9, 1.0, 1.0 + 1e-12, 7.0, 1e6, 1.7e9, 1e15, 1e99};
    for (enum xb_scale scale = XB_SCALE_LINEAR; scale <= XB_SCALE_DATE; scale++)
        for (size_t i = 0; i < COUNT_OF(ends); i++)
            for (size_t k = i; k < COUNT_OF(ends) && xb_scale_shows(scale, ends[k]); k++) {
                struct xb_ruler ruler =
                    xb_ruler_make(scale, range_of(ends[i], ends[k]), k % 2 == 0, 100.0, 500.0);
                double low = xb_ruler_place(&ruler, ends[i]);
                double high = xb_ruler_place(&ruler, ends[k]);
                assert_true(ruler.low < ruler.high);
                assert_true(low >= 100.0 && low <= high && high < 500.0);
                bool is_size = scale == XB_SCALE_SIZE;
                double width = ruler.high - ruler.low; /* what is beyond the ends stands there */
                double before = is_size ? ruler.low / 4.0 : ruler.low - width;
                double beyond = is_size ? ruler.high * 4.0 : ruler.high + width;
                assert_true(xb_ruler_place(&ruler, before) == 100.0);
                assert_true(xb_ruler_place(&ruler, beyond) == 500.0);
            }
}

TEST(a_ruler_begins_at_zero)
{
    struct xb_ruler ruler = xb_ruler_make(XB_SCALE_LINEAR, range_of(5.0, 8.0), true, 0.0, 100.0);
    assert_true(ruler.low == 0.0 && ruler.high > 8.0);
    ruler = xb_ruler_make(XB_SCALE_LINEAR, range_of(0.0, 0.0), true, 0.0, 100.0);
    assert_true(ruler.low == 0.0 && ruler.high > 0.0);
    ruler = xb_ruler_make(XB_SCALE_LINEAR, range_of(-5.0, 8.0), true, 0.0, 100.0);
    assert_true(ruler.low < -5.0);
    ruler = xb_ruler_make(XB_SCALE_LINEAR, range_of(5.0, 8.0), false, 0.0, 100.0);
    assert_true(ruler.low < 5.0 && ruler.low > 4.0);
}

TEST(what_no_axis_shows_is_no_range)
{
    struct xb_range range = XB_RANGE_NONE;
    xb_range_add(&range, XB_SCALE_LINEAR, NONE);
    xb_range_add(&range, XB_SCALE_LINEAR, (double)INFINITY);
    xb_range_add(&range, XB_SCALE_LINEAR, 1e300);
    xb_range_add(&range, XB_SCALE_DATE, 1e15);
    assert_true(xb_range_is_empty(range));
    xb_range_add(&range, XB_SCALE_LINEAR, -2.0);
    xb_range_add(&range, XB_SCALE_LINEAR, 3.0);
    assert_true(range.low == -2.0 && range.high == 3.0);
}

TEST(names_are_moved_apart)
{
    double places[] = {50.0, 52.0, 51.0, 200.0, 5.0};
    xb_spread(places, COUNT_OF(places), 16.0, 0.0, 210.0);
    assert_true(places[0] + 15.9 <= places[2] && places[2] + 15.9 <= places[1]);
    assert_true(places[1] - places[0] < 33.0); /* and no further than they must */
    assert_true(places[3] == 200.0 && places[4] == 5.0);
    double low[] = {1.0, 1.0, 1.0};
    xb_spread(low, COUNT_OF(low), 16.0, 0.0, 210.0);
    for (size_t i = 0; i < COUNT_OF(low); i++)
        for (size_t k = 0; k < i; k++)
            assert_true(low[i] >= 0.0 && fabs(low[i] - low[k]) > 15.0);
}
