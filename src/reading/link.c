/* SPDX-License-Identifier: Apache-2.0 */
/* What the fastest copies of a device reach of what its link can carry. */
#include "internal.h"
#include "machine/pcie.h"
#include "record/mode_list.h"
#include "record/rows.h"

#include <math.h>
#include <string.h>

/*
 * What packet headers leave of the raw rate: S * MPS / (MPS + 24) with S = 0.9973 for SKP ordered
 * sets and 24 bytes of header, framing and checksum a packet (docs/link-ceilings.md), for payloads
 * (MPS) of 128 and 512 bytes, which is what platforms set.
 */
#define LEFT_AT_MPS_128 0.84
#define LEFT_AT_MPS_512 0.95

/* What healthy links give of what they can carry, or more. */
#define FINE 0.9

/* Which copy is meant: of a direction, and of a mode that shows what the link does, where that is
 * asked. */
struct meant {
    enum xb_direction direction;
    bool showing;
};

static bool is_meant(const struct xb_reading *reading, const struct xb_record_case *test,
                     const void *argument)
{
    const struct meant *meant = argument;
    const struct xb_mode *mode = meant->showing ? xb_mode_find(test->mode) : NULL;
    return (!meant->showing || (mode != NULL && mode->shows_link)) &&
           xb_reading_goes(test, meant->direction) && xb_reading_crosses_link(reading, test);
}

/* The fastest copy of a device and size in one direction that crossed the link; NULL for none. */
static const struct xb_record_case *fastest(const struct xb_reading *reading, int device,
                                            uint64_t bytes, enum xb_direction direction,
                                            bool showing)
{
    const struct meant meant = {direction, showing};
    return xb_reading_fastest(reading, device, bytes, is_meant, &meant);
}

/* A number of the case's way: "bandwidth_h2d". */
static void put(struct xb_reading *reading, const char *name, const struct xb_record_case *test,
                double value, const char *unit)
{
    char whole[40];
    snprintf(whole, sizeof whole, "%s_%s", name, test->direction);
    xb_reading_number(reading, whole, value, unit);
}

/* "The link gives 95.5 % of what PCIe Gen5 x16 can carry to the GPU and 96.3 % back": what the
 * share is of, only the first of two ways has to say. Whether it is as it should be, or there is
 * none. */
static bool add_share(struct xb_reading *reading, const char *name, const char *of,
                      const struct xb_record_case *best, double most)
{
    if (best == NULL)
        return true;
    double rate = xb_reading_bandwidth(reading, best);
    bool is_first = reading->words.length == 0;
    xb_reading_add(reading, "%s%.1f %%%s %s", is_first ? "The link gives " : " and ",
                   100 * rate / most, is_first ? of : "",
                   is_first ? xb_direction_words(best) : "back");
    put(reading, name, best, rate / most, XB_UNIT_RATIO);
    put(reading, "bandwidth", best, rate, XB_UNIT_RATE);
    xb_reading_rests_on(reading, best);
    return rate >= FINE * most;
}

/* More than there can be: the link was read wrongly, or after it had gone to sleep. Nothing to
 * conclude from that. */
static bool is_above(const struct xb_reading *reading, const struct xb_record_case *best,
                     double most)
{
    return best != NULL && xb_reading_bandwidth(reading, best) > most;
}

bool xb_reading_say_link(struct xb_reading *reading, int index, uint64_t bytes)
{
    const struct xb_record_device *device = xb_record_device(reading->record, index);
    const struct xb_record_case *to = fastest(reading, index, bytes, XB_H2D, false);
    const struct xb_record_case *from = fastest(reading, index, bytes, XB_D2H, false);
    char lanes[32], of[96];
    if (device == NULL || device->shares_host_memory || (to == NULL && from == NULL))
        return false; /* nothing crossed a link */
    const struct xb_record_ceiling *ceiling = &device->ceiling;
    if (ceiling->known) {
        if (is_above(reading, to, ceiling->h2d) || is_above(reading, from, ceiling->d2h))
            return false;
        bool is_own = device->link_port == NULL || strcmp(ceiling->at, device->link_port) == 0;
        xb_lanes_text(ceiling->speed_gts, ceiling->width, lanes, sizeof lanes);
        snprintf(of, sizeof of, " of what PCIe %s%s%s can carry", lanes, is_own ? "" : " at ",
                 is_own ? "" : ceiling->at);
        bool is_fine = add_share(reading, "share_of_ceiling", of, to, ceiling->h2d);
        if (to != NULL)
            put(reading, "ceiling", to, ceiling->h2d, XB_UNIT_RATE);
        if (add_share(reading, "share_of_ceiling", of, from, ceiling->d2h) && is_fine)
            xb_reading_is_fine(reading);
        if (from != NULL)
            put(reading, "ceiling", from, ceiling->d2h, XB_UNIT_RATE);
        xb_reading_add(reading, ".");
        return true;
    }
    double raw =
        device->link_known ? xb_pcie_raw_rate(device->link_speed_gts, device->link_width) : 0;
    if (!(raw > 0) || is_above(reading, to, raw) || is_above(reading, from, raw))
        return false;
    xb_lanes_text(device->link_speed_gts, device->link_width, lanes, sizeof lanes);
    snprintf(of, sizeof of, " of the raw rate of PCIe %s", lanes);
    (void)add_share(reading, "share_of_raw_rate", of, to, raw);
    (void)add_share(reading, "share_of_raw_rate", of, from, raw);
    xb_reading_number(reading, "raw_rate", raw, XB_UNIT_RATE);
    xb_reading_add(
        reading, ". Packet headers leave %.0f to %.0f %% of it, for payloads of 128 to 512 bytes.",
        100 * LEFT_AT_MPS_128, 100 * LEFT_AT_MPS_512);
    return true;
}

/* ---- a link below what it should be ---- */

/* With less than this share of what the link can carry something is wrong beside it; link's own
 * verdict is WARNING from 0.9 down and CRITICAL from 0.8 down. */
#define FAR_BELOW_CEILING 0.8

/* "While data moved the link was Gen3 x16; device and slot can do Gen5 x16." */
static bool add_below_maximum(struct xb_reading *reading, const struct xb_record_device *device)
{
    char now[32];
    char most[32];
    double rate = xb_pcie_raw_rate(device->link_speed_gts, device->link_width);
    double best = xb_pcie_raw_rate(device->link_max_speed_gts, device->link_max_width);
    if (!device->link_known || !device->link_under_load || !(rate < best))
        return false;
    xb_lanes_text(device->link_speed_gts, device->link_width, now, sizeof now);
    xb_lanes_text(device->link_max_speed_gts, device->link_max_width, most, sizeof most);
    xb_reading_add(reading, "While data moved the link was %s; device and slot can do %s.", now,
                   most);
    xb_reading_number(reading, "raw_rate", rate, XB_UNIT_RATE);
    xb_reading_number(reading, "raw_rate_at_best", best, XB_UNIT_RATE);
    return true;
}

/* Says how little the copies one way reach of it, if that is far below. */
static bool add_far_below(struct xb_reading *reading, const char *number,
                          const struct xb_record_case *best, double ceiling)
{
    double share = xb_reading_bandwidth(reading, best) / ceiling;
    if (!(share < FAR_BELOW_CEILING)) /* also where there is no such copy */
        return false;
    if (reading->words.length > 0)
        xb_reading_add(reading, " ");
    xb_reading_phrase(reading, "{name} reaches only {share} of what the link can carry {text}.",
                      best, share, xb_direction_words(best));
    xb_reading_number(reading, number, share, XB_UNIT_RATIO);
    return true;
}

bool xb_reading_say_slow_link(struct xb_reading *reading, int index, uint64_t bytes)
{
    const struct xb_record *record = reading->record;
    const struct xb_record_device *device = xb_record_device(record, index);
    const struct xb_record_case *to = fastest(reading, index, bytes, XB_H2D, false);
    const struct xb_record_case *from = fastest(reading, index, bytes, XB_D2H, false);
    if (device == NULL || device->shares_host_memory || (to == NULL && from == NULL))
        return false;
    /* Only of the largest size: a smaller one reaches less of any link. */
    for (size_t i = 0; i < record->case_count && record->by_size[i]->bytes > bytes; i++)
        if (record->by_size[i]->device == index &&
            xb_reading_crosses_link(reading, record->by_size[i]))
            return false;
    bool said = add_below_maximum(reading, device);
    if (said) {
        xb_reading_rests_on(reading, to);
        xb_reading_rests_on(reading, from);
    }
    if (device->ceiling.known) {
        said |= add_far_below(reading, "share_of_ceiling_h2d",
                              fastest(reading, index, bytes, XB_H2D, true), device->ceiling.h2d);
        said |= add_far_below(reading, "share_of_ceiling_d2h",
                              fastest(reading, index, bytes, XB_D2H, true), device->ceiling.d2h);
    }
    if (said)
        xb_reading_remedy(reading, XB_EFFORT_CALL, (double)NAN,
                          "Find out why the link is slow: xferbench link");
    return said;
}
