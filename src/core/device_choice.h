/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_DEVICE_CHOICE_H
#define XFERBENCH_CORE_DEVICE_CHOICE_H

#include "xferbench/run.h"

/* An ordered pair: from the source to the destination. */
struct xb_pair {
    unsigned from, to;
};

/* Which devices a run measures: one by one, and in pairs. Indices in the backend. */
struct xb_device_choice {
    unsigned devices[XB_RUN_DEVICES];
    size_t device_count;
    struct xb_pair pairs[XB_RUN_DEVICES * XB_RUN_DEVICES];
    size_t pair_count;
};

/*
 * Reads --device and --pairs for an open driver, and fills run->devices with every device that
 * takes part: one by one (`singles`), in pairs (`pairs`). Pairs are of all devices where the user
 * named none, and so are the single ones with `several`. XB_ERR_USAGE for a device that is not
 * there, with those that are.
 */
XB_MUST_CHECK enum xb_status xb_device_choose(struct xb_run *run, bool singles, bool several,
                                              bool pairs, struct xb_device_choice *choice,
                                              struct xb_error *error);

#endif
