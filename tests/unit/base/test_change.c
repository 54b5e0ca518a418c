/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "random.h"

#include <math.h>

#include "testing.h"

static void fill(double *values, size_t count, double middle, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        values[i] = middle * (1.0 + 0.002 * normal(state));
}

TEST(a_step_is_found_where_it_is)
{
    static const size_t places[] = {5, 8, 15, 23, 25};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double values[30];
        uint64_t random = i;
        fill(values, places[i], 55.4, &random);
        fill(values + places[i], 30 - places[i], 54.0, &random);
        struct xb_change change = xb_change_find(values, 30, 1);
        assert_true(change.is_tested && change.is_there);
        assert_int_equal(change.at, places[i]);
        assert_true(fabs(change.before - 55.4) < 0.2 && fabs(change.after - 54.0) < 0.2);
        assert_true(change.probability <= 0.01);
    }
}

/* One value that is far off is no change, however far. */
TEST(an_outlier_is_no_change)
{
    double values[24];
    uint64_t random = 7;
    fill(values, 24, 55.4, &random);
    values[12] = 5.0;
    assert_false(xb_change_find(values, 24, 1).is_there);
}

TEST(few_values_say_nothing)
{
    const double values[] = {9, 9.1, 9.2, 9.3, 9.4, 1, 1.1, 1.2, 1.3, 1.4};
    struct xb_change change = xb_change_find(values, 9, 1);
    assert_false(change.is_tested || change.is_there);
    /* Five on each side can be told, but not among many rows: of 252 ways to order them by side two
     * are as extreme. */
    change = xb_change_find(values, 10, 1);
    assert_true(change.is_tested && change.is_there);
    assert_int_equal(change.at, 5);
    assert_true(change.probability > 0.004 && change.probability < 0.012);
    assert_false(xb_change_find(values, 10, 3).is_there);
}

TEST(equal_values_do_not_change)
{
    double values[300];
    for (size_t i = 0; i < 300; i++)
        values[i] = 55.4;
    assert_false(xb_change_find(values, 40, 1).is_there);
    assert_true(xb_change_find(values, 40, 1).probability > 0.99);
    assert_false(xb_change_find(values, 300, 1).is_there);
}

/* Rows in which nothing changed, at the level of 1 %: of 300 the test may find 8 at the most but
 * once in 80 times, and these rows are always the same. */
TEST(chance_is_told_as_chance)
{
    static const size_t counts[] = {14, 220};
    static const size_t rows[] = {300, 50};
    for (size_t k = 0; k < 2; k++) {
        size_t found = 0;
        uint64_t random = 11;
        for (size_t i = 0; i < rows[k]; i++) {
            double values[220];
            fill(values, counts[k], 55.4, &random);
            found += xb_change_find(values, counts[k], 1).is_there;
        }
        assert_true(found <= 8);
    }
}

/* Of long rows fewer orders are counted. */
TEST(a_small_step_is_found_in_long_rows)
{
    double values[400];
    uint64_t random = 3;
    fill(values, 100, 55.4, &random);
    fill(values + 100, 300, 55.3, &random);
    struct xb_change few = xb_change_find(values, 200, 1);
    struct xb_change many = xb_change_find(values, 400, 1);
    assert_true(few.is_there && many.is_there);
    assert_true(few.at > 90 && few.at < 110 && many.at > 90 && many.at < 110);
}
