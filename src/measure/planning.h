/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_PLANNING_H
#define XFERBENCH_MEASURE_PLANNING_H

#include "device_choice.h"
#include "node_choice.h"

/* A plan while it is made (plan.c). */
struct xb_planning {
    struct xb_run *run;
    struct xb_mode_choice modes;
    struct xb_device_choice choice;
    struct xb_node_choice nodes;
    size_t capacity; /* of run->results */
    bool latency, simultaneous;
};

/* Adds a row to run->results. XB_ERR_USAGE where there are too many; XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status
xb_planning_add_case(struct xb_planning *plan, const struct xb_case *test, struct xb_error *error);

/* Adds what there is to measure of a case: a row or several, or none. */
typedef enum xb_status xb_planning_add(struct xb_planning *plan, struct xb_case test,
                                       struct xb_error *error);

/* Calls `add` for each variant, combination of parameters, size and direction of a mode. `test` has
 * the mode and the devices. */
XB_MUST_CHECK enum xb_status xb_planning_add_mode(struct xb_planning *plan, struct xb_case test,
                                                  unsigned directions, xb_planning_add *add,
                                                  struct xb_error *error);

/* plan_pairs.c: adds the cases of the chosen pairs, each alone and, where that was asked for, those
 * that have a device in common at the same time. */
XB_MUST_CHECK enum xb_status xb_planning_add_pairs(struct xb_planning *plan,
                                                   struct xb_error *error);

#endif
