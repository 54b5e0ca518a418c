/* SPDX-License-Identifier: Apache-2.0 */
/* Whether something happens more often, from few counts. */
#include "internal.h"

#include <math.h>

/* The logarithm of n over k. */
static double log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double xb_fisher_probability(size_t before, size_t n, size_t after, size_t m)
{
    size_t bad = before + after;
    size_t most = bad < m ? bad : m;
    double probability = 0;
    for (size_t k = after; k <= most; k++)
        if (m - k <= n + m - bad)
            probability +=
                exp(log_choose(bad, k) + log_choose(n + m - bad, m - k) - log_choose(n + m, m));
    return probability < 1.0 ? probability : 1.0;
}
