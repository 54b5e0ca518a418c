/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_WATCH_INTERNAL_H
#define XFERBENCH_LINK_WATCH_INTERNAL_H

#include "xferbench/pcie_path.h"

/* Waits until the watch has read every hop once more, all of it after this call: for tests. */
void xb_pcie_watch_wait_reading(struct xb_pcie_watch *watch);

#endif
