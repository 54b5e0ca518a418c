/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/rank_test.h"

#include <math.h>

#include "testing.h"

#include "random.h"

/*
 * How often the test is wrong, and how often it finds what is there, over made-up processes: their
 * logarithms spread around a common one, and the second side's lie log(ratio) off. The question is
 * always "is the ratio below 0.98?". The same numbers in every run.
 */

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define DRAWS 10000
#define SIDE 8
#define ALPHA 0.01
#define LEAST_RATIO 0.98

static const double spreads[] = {0.001, 0.003, 0.01, 0.03};

/* Student's t with two degrees of freedom, which has no variance. */
static double heavy(uint64_t *state)
{
    double z = normal(state);
    return z / sqrt(-log(uniform(state)));
}

/* One process in ten is ten times further off. */
static double outlying(uint64_t *state)
{
    double z = normal(state);
    return uniform(state) <= 0.1 ? 10.0 * z : z;
}

struct scenario {
    double (*noise)(uint64_t *state);
    double first_spread, second_spread;
    double ratio; /* the true one */
    uint64_t seed;
};

/* How many of DRAWS comparisons say "below LEAST_RATIO". */
static size_t rejections(const struct scenario *scenario)
{
    uint64_t random = scenario->seed;
    size_t rejected = 0;
    for (size_t draw = 0; draw < DRAWS; draw++) {
        double first[SIDE];
        double second[SIDE];
        for (size_t i = 0; i < SIDE; i++) {
            first[i] = scenario->first_spread * scenario->noise(&random);
            second[i] = log(scenario->ratio) + scenario->second_spread * scenario->noise(&random);
        }
        rejected += xb_shift_probability(first, SIDE, second, SIDE, log(LEAST_RATIO)) <= ALPHA;
    }
    return rejected;
}

/* Prints the share and returns the count. */
static size_t measured(const char *what, const struct scenario *scenario)
{
    size_t count = rejections(scenario);
    print_message("%-32s spread %.1f %% and %.1f %%, ratio %.3f: %6.2f %% rejected\n", what,
                  100.0 * scenario->first_spread, 100.0 * scenario->second_spread, scenario->ratio,
                  100.0 * (double)count / DRAWS);
    return count;
}

/* The probability with which a test of SIDE values a side rejects where nothing but chance does. */
static double attained_size(void)
{
    size_t critical = xb_rank_critical(SIDE, SIDE, ALPHA);
    assert_true(critical > 0);
    double size = xb_rank_probability(SIDE, SIDE, critical - 1);
    assert_true(size <= ALPHA);
    return size;
}

/* Within four standard deviations of the binomial count that the size promises, and below alpha. */
static void assert_attained(size_t count)
{
    double size = attained_size();
    double deviation = sqrt(DRAWS * size * (1.0 - size));
    if (!(fabs((double)count - DRAWS * size) <= 4.0 * deviation))
        fail_msg("%zu of %d rejected, not %.1f +- %.1f", count, DRAWS, DRAWS * size, deviation);
    assert_true((double)count <= ALPHA * DRAWS);
}

/* All that chance does here is less than at the boundary, however far the processes spread. */
TEST(no_change_is_no_loss)
{
    for (size_t i = 0; i < COUNT_OF(spreads); i++) {
        const struct scenario normals = {normal, spreads[i], spreads[i], 1.0, 10 + i};
        const struct scenario heavies = {heavy, spreads[i], spreads[i], 1.0, 20 + i};
        const struct scenario outliers = {outlying, spreads[i], spreads[i], 1.0, 30 + i};
        assert_true((double)measured("no change", &normals) <= ALPHA * DRAWS);
        assert_true((double)measured("no change, Student's t", &heavies) <= ALPHA * DRAWS);
        assert_true((double)measured("no change, outliers", &outliers) <= ALPHA * DRAWS);
    }
}

/* The worst case of what is no loss: exact, whatever the distribution, as both sides have it. */
TEST(boundary_is_as_often_wrong_as_promised)
{
    print_message("size of the test: %.4f %%\n", 100.0 * attained_size());
    for (size_t i = 0; i < COUNT_OF(spreads); i++) {
        const struct scenario normals = {normal, spreads[i], spreads[i], LEAST_RATIO, 40 + i};
        assert_attained(measured("boundary", &normals));
    }
    const struct scenario heavies = {heavy, 0.003, 0.003, LEAST_RATIO, 50};
    const struct scenario outliers = {outlying, 0.003, 0.003, LEAST_RATIO, 51};
    assert_attained(measured("boundary, Student's t", &heavies));
    assert_attained(measured("boundary, outliers", &outliers));
}

/*
 * Where one side spreads more than the other, no rank test keeps its size exactly, and nothing is
 * promised but that what it does is told. Far from the boundary it does not matter.
 */
TEST(unequal_spreads_are_told)
{
    static const double pairs[][2] = {{0.003, 0.01}, {0.01, 0.003}, {0.001, 0.03}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const struct scenario boundary = {normal, pairs[i][0], pairs[i][1], LEAST_RATIO, 60 + i};
        (void)measured("boundary, unequal", &boundary);
    }
    const struct scenario no_change = {normal, 0.003, 0.01, 1.0, 70};
    (void)measured("no change, unequal", &no_change);
}

/* One per cent beyond the boundary. The promise is for processes that spread by 0.3 %. */
TEST(loss_is_found)
{
    for (size_t i = 0; i < COUNT_OF(spreads); i++) {
        const struct scenario loss = {normal, spreads[i], spreads[i], 0.97, 80 + i};
        size_t found = measured("loss", &loss);
        if (spreads[i] <= 0.003)
            assert_true((double)found >= 0.95 * DRAWS);
    }
    const struct scenario heavies = {heavy, 0.003, 0.003, 0.97, 90};
    const struct scenario outliers = {outlying, 0.003, 0.003, 0.97, 91};
    (void)measured("loss, Student's t", &heavies);
    (void)measured("loss, outliers", &outliers);
}

/* What docs/compare.md warns of: the same test over the samples of one process a side. */
TEST(samples_are_no_processes)
{
    enum { SAMPLES = 100 };
    const size_t pairs = 2000;
    uint64_t random = 11;
    size_t called = 0;
    for (size_t i = 0; i < pairs; i++) {
        double samples[2][SAMPLES];
        for (size_t side = 0; side < 2; side++) {
            double process = 0.003 * normal(&random);
            for (size_t j = 0; j < SAMPLES; j++)
                samples[side][j] = process + 0.003 * normal(&random);
        }
        double less = xb_shift_probability(samples[0], SAMPLES, samples[1], SAMPLES, 0.0);
        double more = xb_shift_probability(samples[1], SAMPLES, samples[0], SAMPLES, 0.0);
        called += less <= 0.025 || more <= 0.025;
    }
    print_message("samples of single processes, nothing changed, tested at 5 %%: %.1f %% called\n",
                  100.0 * (double)called / (double)pairs);
    /* By the normal approximation P(|Z| > 1.96 / sqrt(1 + 100 * 3 / pi)) = 0.84. */
    assert_true(called > pairs * 8 / 10 && called < pairs * 9 / 10);
}
