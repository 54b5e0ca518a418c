/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CEILING_H
#define XFERBENCH_CEILING_H

#include "xferbench/pcie_path.h"

/* What a PCIe link can carry of a program's data, one way. docs/link-ceilings.md derives it. */
struct xb_ceiling {
    bool known; /* false for a rate whose coding is not certain (64 GT/s) and for no link */
    double speed_gts;
    unsigned width;
    double raw;            /* bytes per second after line coding */
    double h2d, d2h;       /* bytes per second of payload; 0 where not known */
    double most;           /* that no payload can exceed, either way; 0 where not known */
    unsigned payload;      /* bytes of payload a packet: the MPS that was taken */
    unsigned read_request; /* bytes a read request: the MRRS that was taken */
    bool payload_assumed;  /* not read: assumed */
    bool read_request_assumed;
};

/*
 * The ceiling of a link of that speed and width. `control` is that of the device, or NULL or not
 * known, and then what is usual is assumed: MPS 256, MRRS 512. With S = 0.9973, the share that SKP
 * ordered sets leave:
 *   d2h (posted writes)     raw * S * MPS / (MPS + 24)
 *   h2d (read completions)  raw * S * MRRS / (MRRS + 20 * MRRS / C + d), C = MPS, d = 16
 * where MRRS / C is rounded up. The most that is possible has headers of three dwords and d = 0:
 *   most                    raw * S * MPS / (MPS + 20); raw where sizes are assumed
 * Sources in docs/link-ceilings.md.
 */
struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control);

#endif
