/* SPDX-License-Identifier: Apache-2.0 */
#include "comparison.h"

bool xb_compared_is_apart(const struct xb_comparison *comparison,
                          const struct xb_compared *compared)
{
    /* Wrong data is wrong under any settings: that row has its verdict. */
    return compared->differs && !comparison->request.force && compared->basis == XB_BASIS_STATUS &&
           compared->outcome == XB_OUTCOME_INCONCLUSIVE;
}

bool xb_comparison_is_refused(const struct xb_comparison *comparison)
{
    size_t apart = 0;
    if (comparison->request.force)
        return false;
    if (!comparison->comparable)
        return true;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (compared->gates && !xb_compared_is_apart(comparison, compared))
            return false;
        apart += compared->gates;
    }
    return apart > 0;
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
