/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_DEVICE_CHOICE_H
#define XFERBENCH_MEASURE_DEVICE_CHOICE_H

#include "run.h"

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
 * takes part: one by one (`singles`), in pairs (`pairs`). Where the user named no devices, pairs
 * are of all of them, and with `several` single devices are all of them too. XB_ERR_USAGE for a
 * device that is not there; the message says which there are.
 */
XB_MUST_CHECK enum xb_status xb_device_choose(struct xb_run *run, bool singles, bool several,
                                              bool pairs, struct xb_device_choice *choice,
                                              struct xb_error *error);

#endif
