/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_CHARGE_H
#define XFERBENCH_FLEET_CHARGE_H

#include "judgement.h"

/* A complaint that may still count. */
struct xb_charge {
    size_t subject; /* the number of its GPU or node */
    const struct xb_fleet_complaint *complaint;
    time_t written;
    bool decided, replaced; /* by a newer document */
    bool together;          /* many nodes have each of its causes */
};

/* together.c: finds which of those that were not replaced many nodes have. XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_charges_mark_together(const struct xb_fleet *fleet,
                                                      struct xb_charge *charges, size_t count,
                                                      struct xb_error *error);

#endif
