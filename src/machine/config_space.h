/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_CONFIG_SPACE_H
#define XFERBENCH_MACHINE_CONFIG_SPACE_H

#include <stdbool.h>

/* Settings in the function's configuration space, which only root may read past its 64th byte. PCI
 * Express Base Specification 5.0, 7.5.3 (PCI Express capability) and 7.7.8 (ACS). Sizes in bytes.
 */
struct xb_pcie_control {
    bool known;                     /* every size was read, and none is a reserved code */
    unsigned max_payload;           /* in force */
    unsigned max_payload_supported; /* the largest that the function supports */
    unsigned max_read_request;      /* in force */
    bool has_acs;                   /* also false if only the first 256 bytes could be read */
    bool acs_redirects; /* P2P requests or completions go up to the root, which slows peer copies */
};

/*
 * Parses the file `config` in the function's folder. Linux shows root 4096 bytes of it, or 256 if
 * the function has no extended space, and everybody else 64. The bytes may be damaged: no offset in
 * them is trusted. `known` is true only if every size is there and valid. Reads only the bytes it
 * needs: some devices crash if all of their configuration space is read (lspci(8), -xxx).
 */
struct xb_pcie_control xb_pcie_control_read(const char *folder);

/* Whether the function at `folder` reads as ones only, as a device does that fell off the bus.
 * False if its configuration space cannot be read. */
bool xb_pcie_is_dead(const char *folder);

#endif
