/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

bool xb_compared_is_apart(const struct xb_comparison *comparison,
                          const struct xb_compared *compared)
{
    /* Wrong data is wrong under any settings: that row has its verdict. */
    return compared->differs && !comparison->request.force && compared->basis == XB_BASIS_STATUS &&
           compared->outcome == XB_OUTCOME_INCONCLUSIVE;
}

void xb_comparison_count_apart(struct xb_comparison *comparison)
{
    size_t apart = 0;
    size_t gating = 0;
    comparison->any_differs = false;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        gating += compared->gates;
        apart += compared->gates && xb_compared_is_apart(comparison, compared);
        comparison->any_differs = comparison->any_differs || compared->differs;
    }
    comparison->none_comparable = gating > 0 && apart == gating;
}

bool xb_comparison_is_refused(const struct xb_comparison *comparison)
{
    return !comparison->request.force && (!comparison->comparable || comparison->none_comparable);
}

int xb_comparison_exit_code(const struct xb_comparison *comparison)
{
    if (xb_comparison_is_refused(comparison))
        return 4;
    switch (comparison->overall) {
    case XB_OUTCOME_PASS:
    case XB_OUTCOME_IMPROVED:
        return 0;
    case XB_OUTCOME_REGRESSION:
        return 1;
    case XB_OUTCOME_INCONCLUSIVE:
        break;
    }
    return 3;
}
