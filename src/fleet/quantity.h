/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_QUANTITY_H
#define XFERBENCH_FLEET_QUANTITY_H

#include "fleet.h"

/* Orders figures of one fleet, by the addresses of their texts; 0 for two that are the same but for
 * driver and link. */
int xb_quantity_compare(const struct xb_fleet_figure *left, const struct xb_fleet_figure *right);

#endif
