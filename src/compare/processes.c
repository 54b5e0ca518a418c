/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes it would take to decide what is open. */
#include "internal.h"

#include "rank_test.h"

#include <math.h>

/* z with P(Z > z) = p for a normal Z, p below 0.5, by halving. */
static double normal_quantile(double p)
{
    double low = 0;
    double high = 40;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(middle / sqrt(2)) > p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/*
 * Of one figure: an interval's half width shrinks with the root of the processes a side, and a
 * test at alpha decides in 4 of 5 cases where the distance to the threshold is z(alpha) + z(0.2)
 * standard errors; the half width is z(tail) of them. 0 where more than can be compared are needed.
 */
static size_t processes_of(const struct xb_comparison *comparison,
                           const struct xb_compared *compared)
{
    static const double missed = 0.2;
    bool more = compared->figure.more_is_better;
    double threshold = log(more ? 1 - compared->threshold : 1 + compared->threshold);
    double ratio = log(compared->ratio);
    double tail = (1 - compared->confidence) / 2;
    bool is_worse = more ? ratio <= threshold : ratio >= threshold;
    /* The end of the interval that has to come over to the ratio's side of the threshold. */
    double end = log(is_worse == more ? compared->high : compared->low);
    double alpha = comparison->request.alpha;
    if (is_worse && comparison->gating_count > 0)
        alpha /= (double)comparison->gating_count; /* as the first of Holm's steps asks */
    size_t n =
        compared->baseline_n < compared->candidate_n ? compared->baseline_n : compared->candidate_n;
    double factor = (normal_quantile(alpha) + normal_quantile(missed)) / normal_quantile(tail);
    double times = factor * fabs(end - ratio) / fabs(ratio - threshold);
    double needed = ceil((double)n * times * times);
    if (!(needed <= XB_RANK_LARGEST))
        return 0;
    return needed > (double)n ? (size_t)needed : n + 1;
}

size_t xb_processes_to_decide(const struct xb_comparison *comparison)
{
    size_t most = comparison->processes_needed;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (!compared->gates || compared->basis != XB_BASIS_TEST || compared->cannot_pass ||
            compared->outcome != XB_OUTCOME_INCONCLUSIVE)
            continue;
        size_t needed = compared->has_interval && compared->confidence > 0
                            ? processes_of(comparison, compared)
                            : 0;
        if (needed == 0 || needed > XB_RANK_LARGEST)
            return 0;
        most = needed > most ? needed : most;
    }
    return most;
}
