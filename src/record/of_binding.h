/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_OF_BINDING_H
#define XFERBENCH_RECORD_OF_BINDING_H

#include "making.h"
#include "measure/run.h"

/* Keeps to which NUMA node a device's rows were bound. */
void xb_making_keep_binding(struct xb_making *making, const struct xb_run *run,
                            const struct xb_run_device *device, struct xb_record_device *kept);

#endif
