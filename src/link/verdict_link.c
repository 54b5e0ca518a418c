/* SPDX-License-Identifier: Apache-2.0 */
/* Whether every link on the way is what both its ends can do. */
#include "verdict_internal.h"

#include <stdio.h>
#include <string.h>

static double rate_of(struct xb_lanes lanes)
{
    return xb_pcie_rate_to_compare(lanes.speed_gts, lanes.width);
}

/* ---- reasons ---- */

/* How bad a slow link is, and what to do, depends on what is known of its ends. */
struct sight {
    enum xb_level level;
    const char *able;         /* who can do better */
    const char *do_for_width; /* what to do */
    const char *do_for_speed;
};

static struct sight sight_of(const struct xb_pcie_hop *hop, bool is_slot)
{
    if (!xb_pcie_hop_upper_is_real(hop))
        return (struct sight){XB_LEVEL_WARNING, is_slot ? "the device" : "its port",
                              "the slot cannot be seen from here (virtual machine)",
                              "the slot cannot be seen from here (virtual machine)"};
    if (hop->upper.link.max_speed_gts <= 0.0 || hop->upper.link.max_width == 0 ||
        hop->lower.link.max_speed_gts <= 0.0 || hop->lower.link.max_width == 0)
        return (struct sight){XB_LEVEL_WARNING, "one end",
                              "the other end does not say what it can do",
                              "the other end does not say what it can do"};
    if (!is_slot)
        return (struct sight){XB_LEVEL_CRITICAL, "both ends",
                              "a link above the device: check the switch, its riser or cable, and "
                              "bifurcation",
                              "a link above the device: check the BIOS link speed setting and the "
                              "switch, its riser or cable"};
    return (struct sight){XB_LEVEL_CRITICAL, "slot and GPU", "reseat the card or check bifurcation",
                          "check the BIOS link speed setting and the riser, reseat the card"};
}

/* Returns whether the hop is at its best, as far as that is known. What --expect asks of the slot
 * replaces what its ends can do. */
static bool judge_hop(const struct xb_link_attempt *attempt, size_t index, bool is_slot,
                      const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[index];
    const struct sight sight = sight_of(&attempt->at_rest.hops[index], is_slot);
    if (hop->load.width < hop->best.width && !(is_slot && limits->width.is_set))
        xb_reason_add(&verdict->found, sight.level, "XB-LINK-WIDTH", "x%u of x%u at %s: %s",
                      hop->load.width, hop->best.width, hop->lower, sight.do_for_width);
    if (hop->load.speed_gts < hop->best.speed_gts && !(is_slot && limits->generation.is_set))
        xb_reason_add(&verdict->found, sight.level, "XB-LINK-SPEED",
                      "%s under load at %s, %s can do %s: %s", XB_SPEED_NAME(hop->load.speed_gts),
                      hop->lower, sight.able, XB_SPEED_NAME(hop->best.speed_gts),
                      sight.do_for_speed);
    return hop->load.width >= hop->best.width && hop->load.speed_gts >= hop->best.speed_gts;
}

/* The most lanes that an end of a hop told, before or after the transfers. */
static unsigned most_lanes(const struct xb_pcie_end *before, const struct xb_pcie_end *after)
{
    unsigned width = before->link.max_width;
    return after != NULL && after->link.max_width > width ? after->link.max_width : width;
}

/* Warns of a port with fewer lanes than the card. A port that is slower than the card is common (a
 * newer card in an older slot) and gets no warning. */
static void judge_slot(const struct xb_link_attempt *attempt, size_t slot,
                       const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_pcie_hop *hop = &attempt->at_rest.hops[slot];
    const struct xb_pcie_hop *after = xb_attempt_hop_after(attempt, slot);
    unsigned card = most_lanes(&hop->lower, after != NULL ? &after->lower : NULL);
    unsigned port = most_lanes(&hop->upper, after != NULL ? &after->upper : NULL);
    if (limits->width.is_set || !xb_pcie_hop_upper_is_real(hop) || port == 0 || port >= card)
        return;
    xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-LINK-SLOT",
                  "the port has x%u and the card could do x%u at %s: check bifurcation, or give "
                  "--expect if this is intended",
                  port, card, hop->lower.bdf);
}

/* Whether the slot's link could be read. If not, the rest of the path is not judged. */
static bool judge_readable(const struct xb_link_attempt *attempt,
                           const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[verdict->bottleneck];
    if (hop->load.width == 0 || verdict->facts.slot == verdict->facts.hop_count) {
        if (!xb_attempt_gone(attempt)) /* That says it all. */
            xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE",
                          "the link at %s could not be read while data moved: see "
                          "current_link_speed and current_link_width in sysfs",
                          hop->lower);
        return false;
    }
    if ((hop->best.speed_gts <= 0.0 && !limits->generation.is_set) ||
        (hop->best.width == 0 && !limits->width.is_set))
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE",
                      "what the link at %s can do could not be read: see max_link_speed and "
                      "max_link_width in sysfs",
                      hop->lower);
    return true;
}

static void judge_expectation(const struct xb_link_hop *slot, const struct xb_link_limits *limits,
                              struct xb_verdict *verdict)
{
    static const double rates[] = {0, 2.5, 5, 8, 16, 32, 64}; /* as xb_pcie_generation has them */
    const unsigned last = sizeof rates / sizeof *rates - 1;
    unsigned generation = limits->generation.is_set ? (unsigned)limits->generation.value : 0;
    unsigned width = limits->width.is_set ? (unsigned)limits->width.value : 0;
    char expected[32] = "";
    /* Compares rates, because there may be rates above the last generation that has a number. */
    if (slot->load.speed_gts >= rates[generation <= last ? generation : 0] &&
        slot->load.width >= width)
        return;
    if (generation > 0)
        snprintf(expected, sizeof expected, " Gen%u", generation);
    if (width > 0)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " x%u", width);
    xb_reason_add(
        &verdict->found, XB_LEVEL_CRITICAL, "XB-LINK-EXPECT",
        "%s x%u under load at %s, expected is%s or better: check which card is in which slot",
        XB_SPEED_NAME(slot->load.speed_gts), slot->load.width, slot->lower, expected);
}

/* ---- the path as a whole ---- */

void xb_judge_link(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                   struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    size_t slot = facts->slot < facts->hop_count ? facts->slot : 0;
    verdict->bottleneck = slot;
    if (!judge_readable(attempt, limits, verdict))
        return;
    judge_slot(attempt, slot, limits, verdict);
    for (size_t i = slot; i < facts->hop_count; i++) {
        const struct xb_link_hop *hop = &facts->hops[i];
        if (hop->on_package || hop->load.width == 0)
            continue;
        bool at_best = judge_hop(attempt, i, i == slot, limits, verdict);
        if (rate_of(hop->load) >= rate_of(facts->hops[verdict->bottleneck].load))
            continue;
        verdict->bottleneck = i;
        /* Each step down is named once, not the links behind it that carry as little. */
        if (at_best)
            xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-LINK-BOTTLENECK",
                          "the link above the device at %s carries less than its own: %s x%u, its "
                          "own is %s x%u: try a slot with a better path to the CPU",
                          hop->lower, XB_SPEED_NAME(hop->load.speed_gts), hop->load.width,
                          XB_SPEED_NAME(facts->hops[slot].load.speed_gts),
                          facts->hops[slot].load.width);
    }
    judge_expectation(&facts->hops[slot], limits, verdict);

    const struct xb_lanes lanes = facts->hops[verdict->bottleneck].load;
    const struct xb_pcie_control control = xb_pcie_path_control(&attempt->at_rest);
    verdict->ceiling = xb_ceiling_of(lanes.speed_gts, lanes.width, &control);
}

/* ---- several attempts ---- */

/* Whether the attempt's own readings say that a link is less than it should be. */
static bool lacks(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits)
{
    static const char *const codes[] = {"XB-LINK-WIDTH", "XB-LINK-SPEED", "XB-LINK-EXPECT", NULL};
    struct xb_verdict verdict = {0};
    xb_link_facts_find_hops(attempt, &verdict.facts);
    xb_judge_link(attempt, limits, &verdict);
    return xb_reason_is_any(&verdict.found, codes);
}

/* The first hop that is less than in the best attempt; the slot's if there is none. */
static size_t find_lesser(const struct xb_link_attempt *attempt, const struct xb_link_attempt *best)
{
    size_t slot = xb_attempt_slot(attempt);
    for (size_t i = slot; i < xb_link_hops(&attempt->at_rest); i++) {
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, i);
        struct xb_pcie_seen bests = xb_attempt_seen(best, i);
        if (seen.readings > 0 && !attempt->at_rest.hops[i].on_package &&
            (seen.speed_gts < bests.speed_gts || seen.width < bests.width))
            return i;
    }
    return slot;
}

/* Warns if another attempt ran on less. An attempt that lost its device has its own reason. */
static void judge_lesser(const struct xb_link_device *device, const struct xb_link_limits *limits,
                         struct xb_verdict *verdict)
{
    const struct xb_link_attempt *best = &device->attempts[verdict->best];
    size_t count = xb_link_attempts(device);
    /* If the best attempt saw no link, nobody can say that another saw less. */
    if (count < 2 || xb_attempt_seen(best, xb_attempt_slot(best)).readings == 0 ||
        lacks(best, limits))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        if (!attempt->at_rest.present || xb_attempt_gone(attempt) || !lacks(attempt, limits))
            continue;
        size_t hop = find_lesser(attempt, best);
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, hop);
        xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                      "attempt %zu of %zu ran at %s x%u at %s, another ran faster: reseat the "
                      "card, check the riser and power management (ASPM)",
                      i + 1, count, XB_SPEED_NAME(seen.speed_gts), seen.width,
                      attempt->at_rest.hops[hop].lower.bdf);
        return;
    }
}

/* Warns once, of the first hop in the first attempt whose speed or width fell. */
static void judge_drops(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        const struct xb_pcie_path *path = &attempt->at_rest;
        for (size_t j = 0; j < xb_link_hops(path) && !xb_attempt_gone(attempt); j++) {
            unsigned drops = xb_attempt_seen(attempt, j).drops;
            if (drops == 0 || path->hops[j].on_package)
                continue;
            xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                          "speed or width at %s fell while data moved (%u times in attempt %zu of "
                          "%zu): reseat the card, check the riser and power management (ASPM)",
                          path->hops[j].lower.bdf, drops, i + 1, xb_link_attempts(device));
            return;
        }
    }
}

void xb_judge_stability(const struct xb_link_device *device, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict)
{
    judge_lesser(device, limits, verdict);
    judge_drops(device, verdict);
}
