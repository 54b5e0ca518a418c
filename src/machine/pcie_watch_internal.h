/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_PCIE_WATCH_INTERNAL_H
#define XFERBENCH_MACHINE_PCIE_WATCH_INTERNAL_H

#include "pcie_path.h"

/* For tests: waits for a round of readings over all hops that began after this call. */
void xb_pcie_watch_wait_reading(struct xb_pcie_watch *watch);

#endif
