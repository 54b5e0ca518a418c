/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/pcie.h"
#include "reading_internal.h"

/*
 * What packet headers leave of the raw rate: S * MPS / (MPS + 24) with S = 0.9973 for SKP ordered
 * sets and 24 bytes of header, framing and checksum a packet (PCI Express Base Specification 5.0;
 * tabulated by Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM
 * 2018), for payloads (MPS) of 128 and 512 bytes, which is what platforms set.
 */
#define LEFT_AT_MPS_128 0.84
#define LEFT_AT_MPS_512 0.95

/* The fastest large copy of a device in one direction, or NULL. */
static const struct xb_record_case *fastest(const struct xb_reading *reading, unsigned device,
                                            enum xb_direction direction)
{
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        if (test->device == (int)device && xb_reading_goes(test, direction) &&
            xb_reading_crosses_link(reading, test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

static void add_share(struct xb_reading *reading, const struct xb_record_case *best, double raw,
                      const char *separator)
{
    if (best == NULL)
        return;
    xb_reading_add(reading, "%s%s %.0f %% (", separator, best->direction,
                   100 * xb_reading_bandwidth(reading, best) / raw);
    xb_reading_add_name(reading, best);
    xb_reading_add(reading, ")");
}

/* Makes one device's line; false where there is nothing to say. */
static bool make_line(struct xb_reading *reading, const struct xb_record_device *device)
{
    const struct xb_record_case *to = fastest(reading, device->index, XB_H2D);
    const struct xb_record_case *from = fastest(reading, device->index, XB_D2H);
    double raw =
        device->link_known ? xb_pcie_raw_rate(device->link_speed_gts, device->link_width) : 0;
    if (!(raw > 0) || (to == NULL && from == NULL))
        return false;
    if (device->shares_host_memory) /* nothing crossed the link */
        return false;
    /* More than all of it: the link was read after it had gone to sleep. Nothing to conclude. */
    if (xb_reading_bandwidth(reading, to) > raw || xb_reading_bandwidth(reading, from) > raw)
        return false;
    reading->words.length = 0;
    xb_reading_add(reading, "  device %u  ", device->index);
    add_share(reading, to, raw, "");
    add_share(reading, from, raw, to != NULL ? ", " : "");
    return true;
}

void xb_reading_print_link(struct xb_reading *reading)
{
    bool first = true;
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(reading->record, &count);
    for (size_t i = 0; i < count; i++) {
        if (!make_line(reading, &devices[i]))
            continue;
        if (first)
            fprintf(reading->stream,
                    "\nShare of the link's raw rate (packet headers leave %.0f to %.0f %%, "
                    "payloads of 128 to 512 bytes)\n",
                    100 * LEFT_AT_MPS_128, 100 * LEFT_AT_MPS_512);
        first = false;
        xb_make_plain(reading->words.text); /* a file names its modes as it likes */
        fprintf(reading->stream, "%s\n", reading->words.text);
    }
}
