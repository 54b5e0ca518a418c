/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "random.h"
#include "rows.h"

TEST(samples_grow)
{
    struct xb_samples samples = {0};
    struct xb_error error;
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(xb_samples_add(&samples, (double)i / 2.0, &error), XB_OK);
    assert_int_equal(samples.count, 1000);
    assert_true(samples.capacity >= samples.count);
    for (size_t i = 0; i < 1000; i++)
        assert_true(samples.values[i] == (double)i / 2.0);
    xb_samples_free(&samples);
    assert_null(samples.values);
    assert_int_equal(samples.count, 0);
    assert_int_equal(samples.capacity, 0);
    assert_int_equal(xb_samples_add(&samples, 1.0, &error), XB_OK);
    assert_int_equal(samples.count, 1);
    xb_samples_free(&samples);
    xb_samples_free(&samples);
}

/* VALUE... or, of groups, VALUE... | VALUE... | ... */
static void say_described(const struct row *row, char said[ROW_TEXT])
{
    double values[30];
    size_t n = 0, sizes[ROW_PARTS] = {0};
    struct xb_statistics s;
    struct xb_error error;
    for (size_t i = 0; i < row->count; i++)
        for (char *at = (char *)row->part[i]; *at != '\0'; sizes[i]++)
            values[n++] = strtod(at, &at);
    memset(&s, 0xA5, sizeof s);
    enum xb_status status =
        row->count == 1 ? xb_statistics_compute(values, n, &s, &error)
                        : xb_statistics_compute_groups(values, sizes, row->count, &s, &error);
    assert_int_equal(status, XB_OK);
    say_also(said, "n %zu, median %.13g", s.n, s.median);
    if (s.has_interval)
        say_also(said, ", from %.13g to %.13g", s.ci95_low, s.ci95_high);
    say_also(said, ", min %.13g, max %.13g, p5 %.13g, p95 %.13g, p99 %.13g, mad %.13g", s.min,
             s.max, s.p5, s.p95, s.p99, s.mad);
    assert_true(values[0] == strtod(row->part[0], NULL)); /* they keep their order */
}
TEST_ROWS(values_are_described, say_described)
TEST_ROWS(groups_bound_the_median_of_groups, say_described)

/* Type 7 by hand: of n values the p-quantile lies (n - 1) p ranks above the least. */
TEST(percentiles_of_many)
{
    double values[1001];
    struct xb_statistics s;
    struct xb_error error;
    for (size_t i = 0; i < 1001; i++)
        values[i] = (double)((i * 8) % 1001); /* 0 ... 1000 out of order: ranks are values */
    assert_int_equal(xb_statistics_compute(values, 1001, &s, &error), XB_OK);
    assert_true(s.n == 1001 && s.min == 0 && s.median == 500 && s.max == 1000);
    assert_true(s.p5 == 50 && s.p95 == 950 && s.p99 == 990);
}

TEST(median_sorts)
{
    double values[] = {3.0, -1.0, 2.0, 2.0, 1e300};
    const double sorted[] = {-1.0, 2.0, 2.0, 3.0, 1e300};
    assert_true(xb_median_of(values, 5) == 2.0);
    assert_memory_equal(values, sorted, sizeof sorted);
    assert_true(xb_median_of(values + 1, 4) == 2.5);
    assert_true(xb_median_of(values, 2) == 0.5);
    assert_true(xb_median_of(values, 1) == -1.0);
    assert_true(xb_median_of(values, 0) == 0.0);
    assert_true(xb_median_of(NULL, 0) == 0.0);
}

static void say_ranks(const struct row *row, char said[ROW_TEXT])
{
    size_t low = 77, high = 88;
    if (xb_interval_ranks(row_number(row, 0), &low, &high))
        say_also(said, "%zu to %zu", low, high);
    else
        say_also(said, "none");
}
TEST_ROWS(ranks_are_exact, say_ranks)

/* The definition in whole numbers, for every n for which 40 * 2^n fits in 64 bits. */
TEST(ranks_follow_the_definition)
{
    uint64_t row[59] = {1}; /* C(n, k): Pascal's triangle */
    for (size_t n = 1; n <= 58; n++) {
        for (size_t k = n; k > 0; k--)
            row[k] += row[k - 1];
        size_t expected = 0;
        for (uint64_t sum = row[0]; 40 * sum <= UINT64_C(1) << n; sum += row[expected])
            expected++;
        size_t low = 0;
        size_t high = n + 1;
        assert_int_equal(xb_interval_ranks(n, &low, &high), n >= 6);
        assert_int_equal(low, expected);
        assert_int_equal(high, n + 1 - expected);
    }
}

/* ---- a change in a row of values ---- */

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
