/* SPDX-License-Identifier: Apache-2.0 */
/* The distributions by which a fleet is judged. */
#include "fleet/internal.h"
#include "random.h"
#include "testing.h"

#include <math.h>

/* P(|T| >= t) by SciPy 1.10: 2 * stats.t.sf(t, nu). */
static const struct {
    double t, nu, p;
} known[] = {
    {1, 1, 0.5},
    {12.706204736432095, 1, 0.049999999998991303},
    {2.5, 2, 0.1296117202215108},
    {100, 2.5, 1.4383298423332362e-05},
    {3, 7.35, 0.018829497701868626},
    {6, 80, 5.4615629629695935e-08},
    {5.2, 183.3825, 5.2898452510416612e-07},
    {30, 12, 1.1773181907018946e-12},
    {8, 1e5, 1.2573919876256347e-15},
    {0.001, 5, 0.99924078677219763},
    {0.5, 1000, 0.61718508083387502},
};

static const struct xb_tails none;

TEST(test_student)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double p = xb_tail_student(known[i].t, known[i].nu);
        if (!(fabs(p - known[i].p) <= 1e-11 * known[i].p))
            fail_msg("t %g, nu %g: %.17g, not %.17g", known[i].t, known[i].nu, p, known[i].p);
    }
}

TEST(test_ends)
{
    assert_true(xb_tail_student(0, 3) == 1);
    assert_true(xb_tail_student(INFINITY, 3) == 0);
    assert_true(xb_tail_student(1e300, 1) >= 0 && xb_tail_student(1e300, 1) < 1e-299);
    assert_true(xb_tail_of_siblings(1e300, 0) > 0);
    assert_true(xb_tail_of_siblings(0, 1e9) == 1);
    for (double n = 2; n < 40; n++)
        assert_true(xb_tail_of_siblings(20, n) <= xb_tail_of_siblings(19, n));
}

TEST(test_limit_is_the_inverse)
{
    for (double n = 5; n < 1e5; n *= 3)
        for (double p = 1e-2; p > 1e-12; p /= 100) {
            double t = xb_tail_limit(p, n, &none);
            assert_true(xb_tail_of_siblings(t, n) <= p);
            assert_true(xb_tail_of_siblings(t * (1 - 1e-9), n) > p);
        }
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* What is fitted to 47 normal values and two others. */
static void fit(double low, double high, struct xb_tails ends[2])
{
    struct xb_tested tested[49] = {{.logarithm = low}, {.logarithm = high}};
    double values[49] = {low, high};
    uint64_t seed = 5;
    for (size_t i = 2; i < 49; i++)
        values[i] = 0.003 * normal(&seed);
    qsort(values, 49, sizeof *values, compare);
    for (size_t i = 0; i < 49; i++)
        tested[i].logarithm = values[i];
    (void)xb_tails_fit(tested, 49, values[24], 0.003, 49, ends);
}

/* However far out they lie, the fit has weights, and a value near the others is as likely. */
TEST(test_faults_at_either_end_are_no_tails)
{
    struct xb_tails alone[2], both[2];
    fit(0.001, -0.001, alone);
    for (double far = 0.05; far < 100; far *= 10) {
        fit(-far, 2 * far, both);
        for (int end = 0; end < 2; end++) {
            double sum = 0;
            for (size_t k = 0; k < XB_TAIL_FITS; k++)
                sum += both[end].weight[k];
            assert_true(fabs(sum - 1) < 1e-9);
            assert_true(xb_tail_of_figure(8, 48, &both[end]) <
                        2 * xb_tail_of_figure(8, 48, &alone[end]));
        }
    }
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The chance that one more normal value lies t spreads from the median of n: for given others it
 * is known, so that a few thousand of them tell small chances. */
static double simulated(double t, size_t n, size_t rounds)
{
    uint64_t seed = 11 + n;
    double sum = 0;
    double values[64];
    for (size_t i = 0; i < rounds; i++) {
        for (size_t k = 0; k < n; k++)
            values[k] = normal(&seed);
        double centre = median(values, n);
        for (size_t k = 0; k < n; k++)
            values[k] = fabs(values[k] - centre);
        double spread = 1.4826022185056018 * median(values, n);
        sum += erfc((t * spread - centre) / sqrt(2)) + erfc((t * spread + centre) / sqrt(2));
    }
    return sum / 2 / (double)rounds;
}

/* It promises at most so much, and wastes less than half of it. */
TEST(test_promise)
{
    static const size_t sizes[] = {5, 6, 7, 8, 11, 15, 31, 49};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (double p = 1e-2; p > 1e-4; p /= 10) {
            double chance = simulated(xb_tail_limit(p, (double)sizes[i], &none), sizes[i], 20000);
            if (chance > 1.05 * p || chance < 0.5 * p)
                fail_msg("%zu others: %.3g is promised, it is %.3g", sizes[i], p, chance);
        }
}
