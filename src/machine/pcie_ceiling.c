/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from what was read of a path: what its links can do, and carry. */
#include "pcie.h"

#include <stdio.h>

/* PCI Express Base Specification 5.0, 4.2 (coding) and 8.1 (rates); 6.0 for the last. */
static const struct {
    double gts;
    double coding; /* data bits for each bit on the line; 0 if no figure is certain */
} generations[] = {
    {2.5, 8.0 / 10.0},     {5.0, 8.0 / 10.0},     {8.0, 128.0 / 130.0},
    {16.0, 128.0 / 130.0}, {32.0, 128.0 / 130.0}, {64.0, 0.0},
};

/* A FLIT of 256 bytes has 236 of packets (PCI Express Base Specification 6.0, 4.2.3). */
#define FLIT_SHARE (236.0 / 256.0)

unsigned xb_pcie_generation(double speed_gts)
{
    for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
        if (generations[i].gts == speed_gts)
            return i + 1;
    return 0;
}

const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
    return text;
}

double xb_pcie_raw_rate(double speed_gts, unsigned width)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation == 0)
        return 0.0;
    return speed_gts * 1e9 / 8.0 * generations[generation - 1].coding * width;
}

double xb_pcie_rate_to_compare(struct xb_lanes lanes)
{
    double raw = xb_pcie_raw_rate(lanes.speed_gts, lanes.width);
    return raw > 0.0 ? raw : lanes.speed_gts * 1e9 / 8.0 * lanes.width * FLIT_SHARE;
}

/* ---- a path ---- */

bool xb_pcie_hop_upper_is_real(const struct xb_pcie_hop *hop)
{
    return hop->has_upper && hop->upper.vendor != XB_VENDOR_QEMU;
}

/* The less of what two ends can do; 0 stands for one that is not known. */
static double least_known(double lower, double upper)
{
    return lower == 0.0 || upper == 0.0 ? lower + upper : lower < upper ? lower : upper;
}

struct xb_lanes xb_pcie_hop_best(const struct xb_pcie_hop *hop)
{
    static const struct xb_pcie_link unknown;
    const struct xb_pcie_link *lower = &hop->lower.link;
    const struct xb_pcie_link *upper = xb_pcie_hop_upper_is_real(hop) ? &hop->upper.link : &unknown;
    return (struct xb_lanes){least_known(lower->max_speed_gts, upper->max_speed_gts),
                             (unsigned)least_known(lower->max_width, upper->max_width)};
}

size_t xb_pcie_path_hops(const struct xb_pcie_path *path)
{
    size_t count = path->count < XB_PCIE_HOPS ? path->count : XB_PCIE_HOPS;
    return path->present ? count : 0;
}

size_t xb_pcie_path_slot(const struct xb_pcie_path *path)
{
    size_t slot = 0;
    while (slot < xb_pcie_path_hops(path) && path->hops[slot].on_package)
        slot++;
    return slot;
}

const struct xb_pcie_end *xb_pcie_path_end(const struct xb_pcie_path *path, size_t index)
{
    const struct xb_pcie_hop *hop = &path->hops[index / 2];
    return index % 2 == 0 ? &hop->lower : hop->has_upper ? &hop->upper : NULL;
}

struct xb_pcie_control xb_pcie_path_control(const struct xb_pcie_path *path)
{
    struct xb_pcie_control control = path->hops[0].lower.control;
    for (size_t i = 0; i < 2 * xb_pcie_path_hops(path); i++) {
        const struct xb_pcie_end *end = xb_pcie_path_end(path, i);
        if (end != NULL && end->control.known && end->control.max_payload > 0 &&
            end->control.max_payload < control.max_payload)
            control.max_payload = end->control.max_payload;
    }
    return control;
}

/* ---- the ceiling: docs/link-ceilings.md derives every number ---- */

/* The share of a lane that carries data: about one block in 370 is an SKP ordered set. */
#define SKP_SHARE 0.9973
/* Bytes that each packet needs besides its payload: framing, sequence number, header, LCRC. */
#define WRITE_OVERHEAD 24.0 /* memory write with a 64-bit address */
#define COMPLETION_OVERHEAD 20.0
/* A read request costs so much in the direction of its completions: acknowledgement, credits. */
#define REQUEST_OVERHEAD 16.0

/* In FLITs a packet has its header alone, of 16 to 20 bytes; the FLIT has the rest. */
#define FLIT_OVERHEAD 20.0

/* Server firmware mostly sets these, so we assume them if the device's values are unknown. */
#define ASSUMED_PAYLOAD 256u
#define ASSUMED_READ_REQUEST 512u

struct xb_ceiling xb_ceiling_of(double speed_gts, unsigned width,
                                const struct xb_pcie_control *control)
{
    bool is_known = control != NULL && control->known;
    unsigned own_payload = is_known ? control->max_payload : 0;
    unsigned own_request = is_known ? control->max_read_request : 0;
    struct xb_ceiling ceiling = {.speed_gts = speed_gts,
                                 .width = width,
                                 .raw = xb_pcie_raw_rate(speed_gts, width),
                                 .payload = own_payload > 0 ? own_payload : ASSUMED_PAYLOAD,
                                 .read_request =
                                     own_request > 0 ? own_request : ASSUMED_READ_REQUEST,
                                 .payload_assumed = own_payload == 0,
                                 .read_request_assumed = own_request == 0};
    bool is_derived = xb_pcie_generation(speed_gts) == 6;
    if (is_derived)
        ceiling.raw = xb_pcie_rate_to_compare((struct xb_lanes){speed_gts, width});
    if (ceiling.raw <= 0.0)
        return ceiling;
    double payload = ceiling.payload, request = ceiling.read_request;
    /* Round up: the last completion of a request may carry less than a full payload. */
    unsigned completions = (ceiling.read_request + ceiling.payload - 1) / ceiling.payload;
    ceiling.known = true;
    if (is_derived) {
        ceiling.derived = true;
        ceiling.d2h = ceiling.raw * payload / (payload + FLIT_OVERHEAD);
        ceiling.h2d = ceiling.raw * request / (request + FLIT_OVERHEAD * completions);
        ceiling.most = ceiling.raw;
        return ceiling;
    }
    ceiling.d2h = ceiling.raw * SKP_SHARE * payload / (payload + WRITE_OVERHEAD);
    ceiling.h2d = ceiling.raw * SKP_SHARE * request /
                  (request + COMPLETION_OVERHEAD * completions + REQUEST_OVERHEAD);
    /* The real sizes may be larger than the assumed ones, but nothing exceeds the raw rate. */
    ceiling.most = ceiling.payload_assumed || ceiling.read_request_assumed
                       ? ceiling.raw
                       : ceiling.raw * SKP_SHARE * payload / (payload + COMPLETION_OVERHEAD);
    return ceiling;
}

static bool was_seen(const struct xb_pcie_load *load, size_t hop)
{
    return hop < load->count && load->hops[hop].readings > 0;
}

static double rate_of(const struct xb_pcie_seen *seen)
{
    return xb_pcie_rate_to_compare((struct xb_lanes){seen->speed_gts, seen->width});
}

struct xb_ceiling xb_ceiling_of_path(const struct xb_pcie_path *path,
                                     const struct xb_pcie_load *load, size_t *hop)
{
    const struct xb_pcie_control control = xb_pcie_path_control(path);
    size_t slot = xb_pcie_path_slot(path), least = slot, count = xb_pcie_path_hops(path);
    /* Where one port above the device is emulated, all bridges are: a virtual machine's switch may
     * bear the vendor number of a real one, and shows 2.5 GT/s x1. */
    for (size_t i = 0; i < count; i++)
        if ((path->hops[i].has_upper && !xb_pcie_hop_upper_is_real(&path->hops[i])) ||
            path->hops[i].lower.vendor == XB_VENDOR_QEMU)
            count = slot < count ? slot + 1 : count;
    *hop = least;
    if (least >= count || !was_seen(load, least))
        return (struct xb_ceiling){.known = false};
    for (size_t i = slot + 1; i < count; i++)
        if (was_seen(load, i) && rate_of(&load->hops[i]) < rate_of(&load->hops[least]))
            least = i;
    *hop = least;
    return xb_ceiling_of(load->hops[least].speed_gts, load->hops[least].width, &control);
}
