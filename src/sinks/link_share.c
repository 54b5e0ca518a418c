/* SPDX-License-Identifier: Apache-2.0 */
#include "reading.h"
#include "rows.h"

/*
 * What packet headers leave of the raw rate: S * MPS / (MPS + 24) with S = 0.9973 for SKP ordered
 * sets and 24 bytes of header, framing and checksum a packet (PCI Express Base Specification 5.0;
 * tabulated by Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM
 * 2018), for payloads (MPS) of 128 and 512 bytes, which is what platforms set.
 */
#define LEFT_AT_MPS_128 0.84
#define LEFT_AT_MPS_512 0.95

/* The device timed one copy over its link. Pages of managed memory move when the runtime likes. */
static bool crosses_link(const struct xb_result *result)
{
    return xb_row_one_way(result) && result->device_timer && !xb_row_has_mode(result, "managed");
}

/* The fastest large copy of a device in one direction, or NULL. */
static const struct xb_result *fastest(const struct xb_run *run, unsigned device,
                                       enum xb_direction direction)
{
    const struct xb_result *best = NULL;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        if (crosses_link(result) && result->test.device == device &&
            result->test.direction == direction)
            best = xb_row_faster(best, result);
    }
    return best;
}

static void print_share(FILE *stream, const struct xb_result *best, double raw,
                        const char *separator)
{
    fprintf(stream, "%s%s %.0f %% (%s %s)", separator, xb_direction_name(best->test.direction),
            100 * best->bandwidth.median / raw, best->test.mode->name, best->test.variant);
}

/* One device's line; false where there is nothing to say. */
static bool print_device(FILE *stream, const struct xb_run *run, const struct xb_run_device *device,
                         bool first)
{
    const struct xb_result *to = fastest(run, device->info.index, XB_H2D);
    const struct xb_result *from = fastest(run, device->info.index, XB_D2H);
    double raw =
        device->link.known ? xb_pcie_raw_rate(device->link.speed_gts, device->link.width) : 0;
    if (!(raw > 0) || (to == NULL && from == NULL))
        return false;
    if (device->info.shares_host_memory) /* nothing crossed the link */
        return false;
    /* More than all of it: the link was read after it had gone to sleep. Nothing to conclude. */
    if ((to != NULL && to->bandwidth.median > raw) ||
        (from != NULL && from->bandwidth.median > raw))
        return false;
    if (first)
        fprintf(stream,
                "\nShare of the link's raw rate (packet headers leave %.0f to %.0f %%, payloads of "
                "128 to 512 bytes)\n",
                100 * LEFT_AT_MPS_128, 100 * LEFT_AT_MPS_512);
    fprintf(stream, "  device %u  ", device->info.index);
    if (to != NULL)
        print_share(stream, to, raw, "");
    if (from != NULL)
        print_share(stream, from, raw, to != NULL ? ", " : "");
    fputc('\n', stream);
    return true;
}

void xb_link_share_print(FILE *stream, const struct xb_run *run)
{
    bool first = true;
    for (size_t i = 0; i < run->device_count; i++)
        if (print_device(stream, run, &run->devices[i], first))
            first = false;
}
