/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pcie_path.h"

/* The most user data that a PCIe link can carry in one direction. docs/link-ceilings.md derives
 * it. */
struct xb_ceiling {
    bool known; /* false if there is no link, or if its line coding is not certain (64 GT/s) */
    double speed_gts;
    unsigned width;
    double raw;            /* bytes per second after line coding */
    double h2d, d2h;       /* bytes of payload per second; 0 if not known */
    double most;           /* no payload exceeds this rate in either direction; 0 if not known */
    unsigned payload;      /* the MPS used here: bytes of payload in a packet */
    unsigned read_request; /* the MRRS used here: bytes in a read request */
    bool payload_assumed;  /* the device did not tell the MPS, so `payload` is assumed */
    bool read_request_assumed; /* the same for the MRRS */
};

/*
 * Computes the ceiling of a link of this speed and width. `control` belongs to the device. If it is
 * NULL or not known, the usual sizes are assumed: MPS 256, MRRS 512. SKP ordered sets leave the
 * share S = 0.9973:
 *   d2h (posted writes)     raw * S * MPS / (MPS + 24)
 *   h2d (read completions)  raw * S * MRRS / (MRRS + 20 * MRRS / C + d), C = MPS, d = 16
 * where MRRS / C is rounded up. The upper bound `most` assumes headers of three dwords and d = 0:
 *   most                    raw * S * MPS / (MPS + 20); raw if a size is assumed
 * docs/link-ceilings.md names the sources.
 */
struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control);

/*
 * The ceiling of a path: that of the hop from the slot up that carries least, as it was seen under
 * load, with the packets in force on the whole path. Hops that were not seen are taken to carry
 * more. Not known if the link at the slot was not seen. *hop is the hop that it is of.
 */
struct xb_ceiling xb_ceiling_of_path(const struct xb_pcie_path *path,
                                     const struct xb_pcie_load *load, size_t *hop);
