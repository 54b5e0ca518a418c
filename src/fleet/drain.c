/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

/* If so many siblings show the same, a setting is likelier than a fault, and a script should not
 * drain half of a fleet. Nor should it drain a node that answered with a broken document. */
bool xb_fleet_is_to_drain(const struct xb_fleet_finding *finding)
{
    return xb_fleet_code_is_bad(finding->code) && !finding->together && !finding->unsure;
}
