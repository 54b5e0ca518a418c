/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_CONFIG_SPACE_H
#define XFERBENCH_LINK_CONFIG_SPACE_H

#include "xferbench/pcie_path.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Finds what xb_pcie_control holds in the first `size` bytes of a configuration space: 4096, or 256
 * of a function without the extended one, or 64, all that others than root get. Trusts none of
 * them. known is false unless every size in it is there and valid.
 */
struct xb_pcie_control xb_pcie_control_parse(const uint8_t *bytes, size_t size);

/* The same from the file `config` in a function's folder. Reads what it follows and no more: some
 * devices do not bear that all of their configuration space is read (lspci(8), -xxx). */
struct xb_pcie_control xb_pcie_control_read(const char *folder);

/* Whether the function at `folder` answers with ones alone, as one does that fell off the bus.
 * False where that cannot be read. */
bool xb_pcie_is_dead(const char *folder);

#endif
