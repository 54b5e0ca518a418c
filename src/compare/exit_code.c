/* SPDX-License-Identifier: Apache-2.0 */
#include "comparison.h"

int xb_comparison_exit_code(const struct xb_comparison *comparison)
{
    if (!comparison->comparable && !comparison->request.force)
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
