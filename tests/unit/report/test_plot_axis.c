/* SPDX-License-Identifier: Apache-2.0 */
#include "plot/layout.h"
#include "testing.h"

#include <math.h>

#define NONE ((double)NAN)
#define MIB 1048576.0

/* The texts of the ticks of an axis, with commas between. */
static void assert_ticks(enum xb_scale scale, double low, double high, size_t most,
                         const char *expected)
{
    double ticks[XB_TICKS_MOST];
    char text[40];
    char all[512] = "";
    const struct xb_ruler ruler = {.scale = scale};
    size_t count = xb_axis_ticks(scale, low, high, ticks, most);
    assert_true(count <= most);
    for (size_t i = 0; i < count; i++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? ", " : "",
                 xb_tick_text(&ruler, ticks[i], text, sizeof text));
    }
    assert_string_equal(all, expected);
}

TEST(linear_ticks_are_round)
{
    assert_ticks(XB_SCALE_LINEAR, 0.0, 63.0, 7, "0, 10, 20, 30, 40, 50, 60");
    assert_ticks(XB_SCALE_LINEAR, 0.0, 63.0, 6, "0, 20, 40, 60");
    assert_ticks(XB_SCALE_LINEAR, -1.0, 1.0, 5, "-1, -0.5, 0, 0.5, 1");
    assert_ticks(XB_SCALE_LINEAR, 0.1, 0.3, 3, "0.1, 0.2, 0.3");
    assert_ticks(XB_SCALE_LINEAR, 55.4, 55.4003, 4, "55.4, 55.4001, 55.4002, 55.4003");
    assert_ticks(XB_SCALE_LINEAR, 0.0, 3e9, 4, "0, 1000000000, 2000000000, 3000000000");
}

TEST(size_ticks_are_powers_of_two)
{
    assert_ticks(XB_SCALE_SIZE, 4096.0, 1024.0 * MIB, 5, "4 KiB, 64 KiB, 1 MiB, 16 MiB, 256 MiB");
    assert_ticks(XB_SCALE_SIZE, 1.0, 8.0, 4, "1 B, 2 B, 4 B, 8 B");
    assert_ticks(XB_SCALE_SIZE, 1.0, exp2(62.0), 8,
                 "1 B, 1 KiB, 1 MiB, 1 GiB, 1 TiB, 1 PiB, 1 EiB");
    assert_ticks(XB_SCALE_SIZE, 1.1 * MIB, 1.5 * MIB, 5,
                 "1.1 MiB, 1.2 MiB, 1.3 MiB, 1.4 MiB, 1.5 MiB");
}

/* 1760000000 is 2025-10-09 08:53:20 UTC (date -u -d @1760000000). */
TEST(date_ticks_are_of_the_calendar)
{
    const double day = 86400.0;
    assert_ticks(XB_SCALE_DATE, 1.76e9, 1.76e9 + 3.0 * day, 4,
                 "2025-10-10, 2025-10-11, 2025-10-12");
    assert_ticks(XB_SCALE_DATE, 1.76e9, 1.76e9 + 300.0 * day, 5,
                 "2026-01-01, 2026-04-01, 2026-07-01");
    assert_ticks(XB_SCALE_DATE, 1.76e9, 1.76e9 + 3000.0 * day, 5,
                 "2026-01-01, 2028-01-01, 2030-01-01, 2032-01-01");
    assert_ticks(XB_SCALE_DATE, 1.76e9, 1.76e9 + 7200.0, 3, "10-09 09:00, 10-09 10:00");
    assert_ticks(XB_SCALE_DATE, 1.76e9, 1.76e9 + 3.0, 4,
                 "10-09 08:53:20, 10-09 08:53:21, 10-09 08:53:22, 10-09 08:53:23");
    assert_ticks(XB_SCALE_DATE, -62135596800.0, 253402300799.0, 4,
                 "2000-01-01, 4000-01-01, 6000-01-01, 8000-01-01");
}

/* Days of leap years and around them, and the first and the last day that is shown. */
TEST(dates_are_those_of_the_calendar)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0.0, "1970-01-01"},
                {-86400.0, "1969-12-31"},
                {951782400.0, "2000-02-29"},
                {951868800.0, "2000-03-01"},
                {1709164800.0, "2024-02-29"},
                {4107542400.0, "2100-03-01"},
                {4107456000.0, "2100-02-28"},
                {1735603200.0, "2024-12-31"},
                {1735689600.0, "2025-01-01"},
                {-62135596800.0, "0001-01-01"},
                {253402214400.0, "9999-12-31"},
                {253402300800.0, "-"},
                {1760000000.0, "10-09 08:53:20"}};
    char text[40];
    const struct xb_ruler ruler = {.scale = XB_SCALE_DATE};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(xb_tick_text(&ruler, rows[i].seconds, text, sizeof text), rows[i].text);
}

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
