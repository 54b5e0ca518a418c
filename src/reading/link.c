/* SPDX-License-Identifier: Apache-2.0 */
/* What the fastest copies of a device reach of what its link can carry. */
#include "internal.h"
#include "machine/pcie.h"
#include "record/mode_list.h"

#include <math.h>
#include <string.h>

/* What packet headers leave of the raw rate: S * MPS / (MPS + 24) with S = 0.9973 for SKP ordered
 * sets and 24 bytes of header, framing and checksum a packet (docs/link-ceilings.md), for payloads
 * (MPS) of 128 and 512 bytes, which is what platforms set. */
#define LEFT_AT_MPS_128 0.84
#define LEFT_AT_MPS_512 0.95

/* What healthy links give of what they can carry, or more. */
#define FINE 0.9

/* One that crossed the link, of a mode that shows what the link does. */
static bool is_showing(const struct xb_reading *reading, const struct xb_record_case *test,
                       const void *direction)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    return mode != NULL && mode->shows_link && xb_reading_crosses_link(reading, test, direction);
}

static const enum xb_direction directions[] = {XB_H2D, XB_D2H};

/* The device, and its fastest copies each way that crossed the link (NULL for none); NULL where
 * nothing did. */
static const struct xb_record_device *find_fastest(const struct xb_reading *reading,
                                                   const struct xb_record_case *best[2])
{
    const struct xb_record_device *device = xb_record_device(reading->record, reading->device);
    for (int i = 0; i < 2; i++)
        best[i] = xb_reading_fastest(reading, xb_reading_crosses_link, &directions[i]);
    return device == NULL || device->shares_host_memory || (best[0] == NULL && best[1] == NULL)
               ? NULL
               : device;
}

/* Says how much of what its link can carry the fastest copies reached, or else of the raw rate:
 * "The link gives 95.5 % of what PCIe Gen5 x16 can carry to the GPU and 96.3 % back." */
void xb_reading_say_link(struct xb_reading *reading)
{
    const struct xb_record_case *best[2];
    const struct xb_record_device *device = find_fastest(reading, best);
    char lanes[32];
    if (device == NULL)
        return;
    const struct xb_ceiling *ceiling = &device->ceiling;
    double raw =
        device->link_known ? xb_pcie_raw_rate(device->link_speed_gts, device->link_width) : 0;
    const double most[2] = {ceiling->known ? ceiling->h2d : raw,
                            ceiling->known ? ceiling->d2h : raw};
    if (!ceiling->known && !(raw > 0))
        return;
    /* More than there can be: the link was read wrongly, or asleep. Nothing follows from that. */
    for (int i = 0; i < 2; i++)
        if (best[i] != NULL && xb_reading_bandwidth(reading, best[i]) > most[i])
            return;
    bool is_elsewhere = ceiling->known && device->link_port != NULL &&
                        strcmp(device->ceiling_at, device->link_port) != 0;
    xb_lanes_text(ceiling->known ? ceiling->speed_gts : device->link_speed_gts,
                  ceiling->known ? ceiling->width : device->link_width, lanes, sizeof lanes);
    reading->entry.is_fine = ceiling->known;
    for (int i = 0; i < 2; i++) {
        if (best[i] == NULL)
            continue;
        double rate = xb_reading_bandwidth(reading, best[i]);
        if (reading->words.length > 0)
            xb_tell(reading, " and {one} % back", 100 * rate / most[i]);
        else
            xb_tell(reading,
                    ceiling->known
                        ? "The link gives {one} % of what PCIe {text}[ at {text}] can carry {to}"
                        : "The link gives {one} % of the raw rate of PCIe {text}[{text}] {to}",
                    100 * rate / most[i], lanes, is_elsewhere ? device->ceiling_at : NULL, best[i]);
        xb_tell(reading,
                ceiling->known
                    ? "{case}{+share:share_of_ceiling_}{+rate:bandwidth_}{+rate:ceiling_}"
                    : "{case}{+share:share_of_raw_rate_}{+rate:bandwidth_}",
                best[i], rate / most[i], rate, most[i]);
        reading->entry.is_fine = reading->entry.is_fine && rate >= FINE * most[i];
    }
    xb_tell(reading, ".");
    if (!ceiling->known)
        xb_tell(reading,
                " Packet headers leave {whole} to {whole} % of it, for payloads of 128 to 512 "
                "bytes.{+rate:raw_rate}",
                100 * LEFT_AT_MPS_128, 100 * LEFT_AT_MPS_512, raw);
}

/* Says how many bytes the device counted on its link while the fastest copies moved theirs. */
void xb_reading_say_counted(struct xb_reading *reading)
{
    const struct xb_record_case *best[2] = {NULL, NULL};
    (void)find_fastest(reading, best);
    for (int i = 0; i < 2; i++) {
        double ratio = best[i] == NULL ? (double)NAN
                                       : xb_record_fact_number(xb_record_detail_find(
                                             xb_reading_row(reading, best[i]), "link_bytes_ratio"));
        if (!isfinite(ratio))
            continue;
        xb_tell(reading,
                reading->words.length > 0
                    ? "{case} and {share:link_bytes_ratio_} back"
                    : "{case}The GPU's own PCIe counter saw {share:link_bytes_ratio_} of "
                      "the bytes copied {to}",
                best[i], ratio, best[i]);
    }
    if (reading->words.length > 0)
        xb_tell(reading, ", packet headers included.");
}

/* With less than this share of what the link can carry something is wrong beside it; link's own
 * verdict is WARNING from 0.9 down and CRITICAL from 0.8 down. */
#define FAR_BELOW_CEILING 0.8

/* Tells of a link below what device and slot can do, or of whose ceiling copies reach little. */
void xb_reading_say_slow_link(struct xb_reading *reading)
{
    const struct xb_record *record = reading->record;
    const struct xb_record_case *best[2];
    const struct xb_record_device *device = find_fastest(reading, best);
    char now[32], can[32];
    if (device == NULL)
        return;
    /* Only of the largest size: a smaller one reaches less of any link. */
    for (size_t i = 0; i < record->case_count && record->by_size[i]->bytes > reading->bytes; i++)
        if (record->by_size[i]->device == reading->device &&
            xb_reading_crosses_link(reading, record->by_size[i], NULL))
            return;
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    double most = xb_pcie_raw_rate(device->link_max_speed_gts, device->link_max_width);
    if (device->link_known && device->link_under_load && rate < most) {
        xb_lanes_text(device->link_speed_gts, device->link_width, now, sizeof now);
        xb_lanes_text(device->link_max_speed_gts, device->link_max_width, can, sizeof can);
        xb_tell(reading,
                "While data moved the link was {text}; device and slot can do {text}."
                "{+rate:raw_rate}{+rate:raw_rate_at_best}{case}{case}",
                now, can, rate, most, best[0], best[1]);
    }
    for (int i = 0; i < 2 && device->ceiling.known; i++) {
        const struct xb_record_case *test = xb_reading_fastest(reading, is_showing, &directions[i]);
        double share = xb_reading_bandwidth(reading, test) /
                       (i == 0 ? device->ceiling.h2d : device->ceiling.d2h);
        if (share < FAR_BELOW_CEILING) /* not where there is no such copy */
            xb_tell(reading,
                    " {name} reaches only {share:share_of_ceiling_} of what the link can carry "
                    "{to}.",
                    test, share, test);
    }
    if (reading->words.length > 0)
        xb_remedy(reading, XB_EFFORT_CALL, (double)NAN,
                  "Find out why the link is slow: xferbench link");
}
