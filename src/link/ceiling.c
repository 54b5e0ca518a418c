/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/ceiling.h"

#include <stddef.h>

/* docs/link-ceilings.md derives every number in here. */

/* What SKP ordered sets leave of a lane: one block for about 370. */
#define SKP_SHARE 0.9973
/* Bytes a packet needs beside its payload: framing, sequence number, header, LCRC. */
#define WRITE_OVERHEAD 24.0 /* memory write with a 64-bit address */
#define COMPLETION_OVERHEAD 20.0
/* Bytes that go along with the completions of a read request: an acknowledgement, and an update of
 * flow control credits. */
#define REQUEST_OVERHEAD 16.0

/* Where the device does not tell: what firmware of servers mostly sets. */
#define ASSUMED_PAYLOAD 256u
#define ASSUMED_READ_REQUEST 512u

struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control)
{
    struct xb_ceiling ceiling = {.speed_gts = speed_gts,
                                 .width = width,
                                 .raw = xb_pcie_raw_rate(speed_gts, width),
                                 .payload = ASSUMED_PAYLOAD,
                                 .read_request = ASSUMED_READ_REQUEST,
                                 .payload_assumed = true,
                                 .read_request_assumed = true};

    if (control != NULL && control->known && control->max_payload > 0) {
        ceiling.payload = control->max_payload;
        ceiling.payload_assumed = false;
    }
    if (control != NULL && control->known && control->max_read_request > 0) {
        ceiling.read_request = control->max_read_request;
        ceiling.read_request_assumed = false;
    }
    if (ceiling.raw <= 0.0)
        return ceiling;
    double payload = ceiling.payload;
    double request = ceiling.read_request;
    /* The last completion of a request may be short, as all of one that is less than a payload. */
    unsigned completions = (ceiling.read_request + ceiling.payload - 1) / ceiling.payload;
    ceiling.known = true;
    ceiling.d2h = ceiling.raw * SKP_SHARE * payload / (payload + WRITE_OVERHEAD);
    ceiling.h2d = ceiling.raw * SKP_SHARE * request /
                  (request + COMPLETION_OVERHEAD * completions + REQUEST_OVERHEAD);
    /* Sizes may be larger than assumed, but nothing beats the line itself. */
    ceiling.most = ceiling.payload_assumed || ceiling.read_request_assumed
                       ? ceiling.raw
                       : ceiling.raw * SKP_SHARE * payload / (payload + COMPLETION_OVERHEAD);
    return ceiling;
}
