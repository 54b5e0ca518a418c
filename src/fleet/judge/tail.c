/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* M_PI */
/* How likely it is that a value lies so far from others of its kind by chance. */
#include "fleet/internal.h"

#include <math.h>

/* ---- among normal values ---- */

/* log(Gamma(a + 1/2) / Gamma(a)). Above 40 by its asymptotic series, because a difference of two
 * large logarithms would lose digits (Tricomi and Erdelyi, Pacific Journal of Mathematics 1,
 * 1951; here in powers of 1/a, from Stirling's series, DLMF 5.11.1). */
static double log_gamma_ratio(double a)
{
    if (a <= 40)
        return lgamma(a + 0.5) - lgamma(a);
    double b = 1 / (a * a);
    return 0.5 * log(a) - (1.0 / 8 - (1.0 / 192 - (1.0 / 640 - 17.0 / 14336 * b) * b) * b) / a;
}

/* A term of a continued fraction must not be 0 when the next divides by it. */
static double not_zero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified method of
 * Lentz (Thompson and Barnett, Journal of Computational Physics 64, 1986). It converges fast for x
 * < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* It is the regularised incomplete beta function I(nu / (nu + t^2); nu / 2, 1 / 2). */
double xb_tail_student(double t, double nu)
{
    double a = nu / 2;
    double r = t / sqrt(nu);
    if (!(r > 0))
        return 1;
    if (isinf(r))
        return 0;
    /* x = 1 / (1 + r^2); its logarithm keeps its digits also where x is nearly 1 or 0. */
    double log_x = r < 1e8 ? -log1p(r * r) : -2 * log(r);
    double x = exp(log_x);
    double rest = r < 1e8 ? r * r / (1 + r * r) : 1;
    double front = exp(log_gamma_ratio(a) - 0.5 * log(M_PI) + a * log_x + 0.5 * log(rest));
    if (x < (a + 1) / (a + 2.5))
        return fmin(front * beta_fraction(x, a, 0.5) / a, 1);
    return fmax(1 - front * beta_fraction(rest, 0.5, a) / 0.5, 0);
}

/*
 * Two bounds, of which the lower one counts.
 *
 * Far out: the spread of n values is near 0 with a chance like its floor(n / 2)-th power, so the
 * tail is like that of Student's t with so many degrees of freedom, stretched. By how much follows
 * from the density of n / 2 + 1 values near each other, integrated over all places: 1.524 for 5
 * values, 1.370 for 15, 1.321 for 61.
 *
 * Nearer: for its variance, a median absolute deviation is worth a standard deviation of 0.3675 n
 * values (Rousseeuw and Croux, Journal of the American Statistical Association 88, 1993, table 2).
 * The stretch was fitted to simulated tails for n from 4 to 499.
 */
double xb_tail_of_siblings(double t, double others)
{
    double n = fmax(floor(others), 2);
    double far = xb_tail_student(t / (1.304 + 1.1 / n), floor(n / 2));
    if (n < 4)
        return far;
    return fmin(far, xb_tail_student(t / (1 + 1.3 / n), 0.3675 * n));
}

/* ---- among values with longer tails ---- */

/*
 * Values of equal GPUs need not be normal. So Student's t is fitted to the values, with few to many
 * degrees of freedom, and P is the mean over these, each weighed by how well it fits: few values
 * fit all of them, and then the longest tails count; 500 normal ones fit no long tail.
 *
 * A fault is no tail. The outermost values of the end that is judged count by their number alone:
 * they are known to lie beyond the next one, as in a test of lives that ends before the last has
 * died (Lawless, "Statistical Models and Methods for Lifetime Data", 1982). At the other end all
 * count: a fleet in which many are slow still shows by its fast ones how long tails are. What lies
 * behind a gap may be faults at either end.
 */

/* Student's t with the last of these is as good as normal. */
static const double degrees[XB_TAIL_FITS] = {1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 14, 20, 40, 1e6};
/* Up to here tails are long. */
#define LONG 9
#define SURELY_LONG 0.95 /* so much of all weights */

/* The weight of a distribution before any value was seen is 1 + 1 / its degrees of freedom. */
#define PRIOR(nu) (1 + 1 / (nu))

/* The scale of few values is uncertain: it counts as larger by this, divided by their number.
 * Fitted to simulations. */
#define STRETCH 7

/* So many values at the end that is judged, or one in so many, may be faults, and so many behind a
 * gap at the other; but no more than a third of one side. */
#define FAULTS 3u
#define FAULTS_OF 50u
/* So many spreads wide is a gap behind which others begin, at the end that is judged and at the
 * other. */
#define WIDE 2
#define WIDE_OTHER 4

/* Sorted values, and which of them count how. */
struct fit {
    const struct xb_tested *sorted;
    size_t from, to;      /* those whose place counts */
    size_t below, beyond; /* how many lie further out than these, at either end */
    double middle, spread;
};

/* How far a value lies, in spreads. Its spread is larger if its own samples scatter. */
static double distance_of(const struct fit *fit, size_t i)
{
    return (fit->sorted[i].logarithm - fit->middle) / fmax(fit->spread, fit->sorted[i].spread);
}

/* The logarithm of the likelihood of the values, but for a constant. */
static double log_likelihood(const struct fit *fit, double nu, double scale)
{
    double sum = 0, product = 1, factor = 1 / (scale * scale * nu);
    for (size_t i = fit->from; i < fit->to; i++) {
        double x = distance_of(fit, i);
        product *= 1 + x * x * factor;
        if ((i - fit->from) % 4 == 3) { /* a logarithm takes longer than all else */
            sum += log(product);
            product = 1;
        }
    }
    sum = -(nu + 1) / 2 * (sum + log(product));
    sum += (double)(fit->to - fit->from) *
           (log_gamma_ratio(nu / 2) - 0.5 * log(nu * M_PI) - log(scale));
    if (fit->below > 0)
        sum += (double)fit->below *
               log(xb_tail_student(fabs(distance_of(fit, fit->from)) / scale, nu) / 2);
    if (fit->beyond > 0)
        sum += (double)fit->beyond *
               log(xb_tail_student(fabs(distance_of(fit, fit->to - 1)) / scale, nu) / 2);
    return sum;
}

/* The scale, in spreads, that makes the values likeliest, by golden sections; *best is how likely.
 */
static double best_scale(const struct fit *fit, double nu, double *best)
{
    const double part = 0.6180339887498949;
    double low = 0.25, high = 2;
    double left = high - part * (high - low), right = low + part * (high - low);
    double at_left = log_likelihood(fit, nu, left), at_right = log_likelihood(fit, nu, right);
    while (high - low > 0.005) {
        if (at_left > at_right) {
            high = right, right = left, at_right = at_left;
            left = high - part * (high - low);
            at_left = log_likelihood(fit, nu, left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + part * (high - low);
            at_right = log_likelihood(fit, nu, right);
        }
    }
    *best = fmax(at_left, at_right);
    return (low + high) / 2;
}

/* Takes from what is fitted the faults that one end may have. If more lie behind a wide gap, they
 * are a group of their own, and do not count at all. Returns how many count by their number. */
static size_t leave_faults_out(struct fit *fit, size_t count, bool high, bool judged)
{
    size_t group = 0, faults = count / FAULTS_OF > FAULTS ? count / FAULTS_OF : FAULTS;
    for (size_t beyond = 1; beyond < count / 2; beyond++) {
        size_t upper = high ? count - beyond : beyond;
        double gap = fit->sorted[upper].logarithm - fit->sorted[upper - 1].logarithm;
        group = gap >= (judged ? WIDE : WIDE_OTHER) * fit->spread ? beyond : group;
    }
    if (!judged)
        faults = group < FAULTS ? group : FAULTS;
    faults = faults < count / 6 ? faults : count / 6;
    size_t out = group > faults ? group : faults;
    *(high ? &fit->to : &fit->from) = high ? count - out : out;
    return group > faults ? 0 : faults;
}

bool xb_tails_fit(const struct xb_tested *sorted, size_t count, double middle, double spread,
                  double independent, struct xb_tails ends[2])
{
    bool are_long = true;
    for (int end = 0; end < 2; end++) {
        struct fit fit = {.sorted = sorted, .middle = middle, .spread = spread};
        double most = -INFINITY, sum = 0;
        fit.below = leave_faults_out(&fit, count, false, end == 0);
        fit.beyond = leave_faults_out(&fit, count, true, end == 1);
        for (size_t k = 0; k < XB_TAIL_FITS; k++) {
            ends[end].scale[k] = best_scale(&fit, degrees[k], &ends[end].weight[k]);
            most = fmax(most, ends[end].weight[k]);
        }
        for (size_t k = 0; k < XB_TAIL_FITS; k++) {
            double worth = (ends[end].weight[k] - most) * independent / (double)count;
            sum += ends[end].weight[k] = exp(worth) * PRIOR(degrees[k]);
        }
        double weight = 0;
        for (size_t k = 0; k < XB_TAIL_FITS; k++) {
            ends[end].weight[k] /= sum;
            weight += degrees[k] < LONG ? ends[end].weight[k] : 0;
        }
        are_long = are_long && weight >= SURELY_LONG;
    }
    return are_long;
}

double xb_tail_of_figure(double t, double others, const struct xb_tails *tails)
{
    double p = 0;
    for (size_t k = 0; k < XB_TAIL_FITS; k++) {
        double scale = tails->scale[k] * (1 + STRETCH / fmax(others, 2));
        p += tails->weight[k] * xb_tail_student(t / scale, degrees[k]);
    }
    return fmax(xb_tail_of_siblings(t, others), p / XB_TAIL_MORE_OFTEN);
}

double xb_tail_limit(double p, double others, const struct xb_tails *tails)
{
    double low = 0, high = 1;
    while (high < 1e300 && xb_tail_of_figure(high, others, tails) > p)
        high *= 2;
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        if (xb_tail_of_figure(middle, others, tails) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}
