/* SPDX-License-Identifier: Apache-2.0 */
#include "judgement.h"

int xb_fleet_exit_code(const struct xb_fleet_judgement *judgement)
{
    if (judgement->fleet->source_count == 0)
        return 2;
    if (judgement->finding_count > 0)
        return 1;
    if (judgement->tests == 0)
        return 3;
    /* Of what could not be read nobody knows that it is good. */
    return judgement->fleet->unread_count > 0 ? 1 : 0;
}
