/* SPDX-License-Identifier: Apache-2.0 */
/* Whether every link on the way is what both its ends can do. */
#include "verdict_internal.h"

#include <stdio.h>
#include <string.h>

/* For telling which of two links is the narrower, and for nothing else: of a 256-byte FLIT 242
 * bytes are packets (PCI Express Base Specification 6.0, 4.2.3), other overhead left aside. */
#define FLIT_SHARE (242.0 / 256.0)

struct xb_pcie_seen xb_attempt_seen(const struct xb_link_attempt *attempt, size_t index)
{
    struct xb_pcie_seen none = {0};
    if (index >= attempt->at_rest.count || index >= attempt->load.count || index >= XB_PCIE_HOPS)
        return none;
    const struct xb_pcie_seen *seen = &attempt->load.hops[index];
    return seen->readings > 0 && seen->speed_gts > 0.0 && seen->width > 0 ? *seen : none;
}

size_t xb_attempt_slot(const struct xb_link_attempt *attempt)
{
    size_t slot = 0;
    while (slot < attempt->at_rest.count && attempt->at_rest.hops[slot].on_package)
        slot++;
    return slot;
}

static double rate_of(struct xb_pcie_seen seen)
{
    double raw = xb_pcie_raw_rate(seen.speed_gts, seen.width);
    return raw > 0.0 ? raw : seen.speed_gts * 1e9 / 8.0 * seen.width * FLIT_SHARE;
}

/* ---- what a hop can do ---- */

/* The same hop right after the transfers, or NULL. Some devices lower what they call their maximum
 * while they idle, so the higher of both readings counts. */
static const struct xb_pcie_hop *hop_after(const struct xb_link_attempt *attempt, size_t index)
{
    const struct xb_pcie_hop *before = &attempt->at_rest.hops[index];
    const struct xb_pcie_hop *after = &attempt->after.hops[index];
    if (!attempt->after.present || index >= attempt->after.count ||
        strcmp(before->lower.bdf, after->lower.bdf) != 0 || before->has_upper != after->has_upper)
        return NULL;
    return after;
}

static double best_speed(const struct xb_link_attempt *attempt, size_t index)
{
    const struct xb_pcie_hop *after = hop_after(attempt, index);
    double before = xb_pcie_hop_best_speed(&attempt->at_rest.hops[index]);
    double later = after != NULL ? xb_pcie_hop_best_speed(after) : 0.0;
    return later > before ? later : before;
}

static unsigned best_width(const struct xb_link_attempt *attempt, size_t index)
{
    const struct xb_pcie_hop *after = hop_after(attempt, index);
    unsigned before = xb_pcie_hop_best_width(&attempt->at_rest.hops[index]);
    unsigned later = after != NULL ? xb_pcie_hop_best_width(after) : 0;
    return later > before ? later : before;
}

/* Whether both ends tell what they can do. */
static bool knows_both_ends(const struct xb_pcie_hop *hop)
{
    return xb_pcie_hop_upper_is_real(hop) && hop->upper.link.max_speed_gts > 0.0 &&
           hop->upper.link.max_width > 0 && hop->lower.link.max_speed_gts > 0.0 &&
           hop->lower.link.max_width > 0;
}

/* ---- reasons ---- */

/* What is known of the hop's ends decides about the level and what is to be done. */
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
    if (!knows_both_ends(hop))
        return (struct sight){XB_LEVEL_WARNING, "one end", "the other end does not tell its best",
                              "the other end does not tell its best"};
    if (!is_slot)
        return (struct sight){XB_LEVEL_CRITICAL, "both ends",
                              "a link above the device: check the switch, its riser or cable, and "
                              "bifurcation",
                              "a link above the device: check the BIOS link speed setting and the "
                              "switch, its riser or cable"};
    return (struct sight){XB_LEVEL_CRITICAL, "slot and GPU", "reseat the card or check bifurcation",
                          "check the BIOS link speed setting and the riser, reseat the card"};
}

/* True if the hop is at its best, as far as that is known. What is expected of the slot takes the
 * place of what its ends can do. */
static bool judge_hop(const struct xb_link_attempt *attempt, size_t index, bool is_slot,
                      const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_pcie_hop *hop = &attempt->at_rest.hops[index];
    const struct xb_pcie_seen seen = xb_attempt_seen(attempt, index);
    const struct sight sight = sight_of(hop, is_slot);
    unsigned width = best_width(attempt, index);
    double speed = best_speed(attempt, index);
    char is[24];
    char best[24];
    if (seen.width < width && !(is_slot && limits->width.is_set))
        xb_reason_add(verdict, sight.level, "XB-LINK-WIDTH", "x%u of x%u at %s: %s", seen.width,
                      width, hop->lower.bdf, sight.do_for_width);
    if (seen.speed_gts < speed && !(is_slot && limits->generation.is_set))
        xb_reason_add(verdict, sight.level, "XB-LINK-SPEED",
                      "%s under load at %s, %s can do %s: %s", xb_speed_name(seen.speed_gts, is),
                      hop->lower.bdf, sight.able, xb_speed_name(speed, best), sight.do_for_speed);
    return seen.width >= width && seen.speed_gts >= speed;
}

/* Of one end of a hop, before or after the transfers. */
static unsigned most_lanes(const struct xb_pcie_end *before, const struct xb_pcie_end *after)
{
    unsigned width = before->link.max_width;
    return after != NULL && after->link.max_width > width ? after->link.max_width : width;
}

/* A port with fewer lanes than the card. Nothing of the kind is said of speeds: a newer card in an
 * older slot is common. */
static void judge_slot(const struct xb_link_attempt *attempt, size_t slot,
                       const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_pcie_hop *hop = &attempt->at_rest.hops[slot];
    const struct xb_pcie_hop *after = hop_after(attempt, slot);
    unsigned card = most_lanes(&hop->lower, after != NULL ? &after->lower : NULL);
    unsigned port = most_lanes(&hop->upper, after != NULL ? &after->upper : NULL);
    if (limits->width.is_set || !xb_pcie_hop_upper_is_real(hop) || port == 0 || port >= card)
        return;
    xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-LINK-SLOT",
                  "the port has x%u and the card could do x%u at %s: check bifurcation, or say "
                  "--expect if it is meant so",
                  port, card, hop->lower.bdf);
}

/* Of the slot. False if there is nothing more to say about the path. */
static bool judge_readable(const struct xb_link_attempt *attempt, size_t slot,
                           const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_pcie_path *path = &attempt->at_rest;
    if (xb_attempt_seen(attempt, slot).readings == 0) {
        if (!xb_attempt_gone(attempt)) /* which says it all */
            xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE",
                          "the link at %s could not be read while data moved: see "
                          "current_link_speed and current_link_width in sysfs",
                          slot < path->count ? path->hops[slot].lower.bdf
                                             : path->hops[0].lower.bdf);
        return false;
    }
    if ((best_speed(attempt, slot) <= 0.0 && !limits->generation.is_set) ||
        (best_width(attempt, slot) == 0 && !limits->width.is_set))
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE",
                      "what the link at %s can do could not be read: see max_link_speed and "
                      "max_link_width in sysfs",
                      path->hops[slot].lower.bdf);
    return true;
}

/* The rate of the n-th generation, as xb_pcie_generation has them; 0 if there is none. */
static double speed_of_generation(unsigned generation)
{
    static const double rates[] = {2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
    return generation >= 1 && generation <= sizeof rates / sizeof *rates ? rates[generation - 1]
                                                                         : 0.0;
}

static void judge_expectation(const struct xb_pcie_end *end, struct xb_pcie_seen seen,
                              const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    unsigned generation = limits->generation.is_set ? (unsigned)limits->generation.value : 0;
    unsigned width = limits->width.is_set ? (unsigned)limits->width.value : 0;
    char is[24];
    char expected[32] = "";
    /* By rate: there may be faster ones than have a number here. */
    if (seen.speed_gts >= speed_of_generation(generation) && seen.width >= width)
        return;
    if (generation > 0)
        snprintf(expected, sizeof expected, " Gen%u", generation);
    if (width > 0)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " x%u", width);
    xb_reason_add(
        verdict, XB_LEVEL_CRITICAL, "XB-LINK-EXPECT",
        "%s x%u under load at %s, expected is%s or better: check what is plugged in where",
        xb_speed_name(seen.speed_gts, is), seen.width, end->bdf, expected);
}

/* ---- the path as a whole ---- */

/* Sizes in force: requests are the device's own, and no packet may be larger than the least
 * function on its way takes. */
static struct xb_pcie_control control_of(const struct xb_pcie_path *path)
{
    struct xb_pcie_control control = path->hops[0].lower.control;
    for (size_t i = 0; i < path->count; i++) {
        const struct xb_pcie_hop *hop = &path->hops[i];
        const struct xb_pcie_end *ends[] = {&hop->lower, hop->has_upper ? &hop->upper : NULL};
        for (size_t j = 0; j < 2; j++)
            if (ends[j] != NULL && ends[j]->control.known && ends[j]->control.max_payload > 0 &&
                ends[j]->control.max_payload < control.max_payload)
                control.max_payload = ends[j]->control.max_payload;
    }
    return control;
}

/* A hop above the slot that is at its best. One is named for each step down, and not the links
 * behind it that carry as little. */
static void judge_bottleneck(const struct xb_link_attempt *attempt, size_t index, size_t slot,
                             struct xb_verdict *verdict)
{
    struct xb_pcie_seen seen = xb_attempt_seen(attempt, index);
    struct xb_pcie_seen own = xb_attempt_seen(attempt, slot);
    char is[24];
    char owns[24];
    xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-LINK-BOTTLENECK",
                  "the link above the device at %s carries less than its own: %s x%u, its own is "
                  "%s x%u: a slot with a better way to the CPU would serve it",
                  attempt->at_rest.hops[index].lower.bdf, xb_speed_name(seen.speed_gts, is),
                  seen.width, xb_speed_name(own.speed_gts, owns), own.width);
}

void xb_judge_link(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                   struct xb_verdict *verdict)
{
    const struct xb_pcie_path *path = &attempt->at_rest;
    size_t slot = xb_attempt_slot(attempt);
    size_t narrowest = slot;
    verdict->bottleneck = slot < path->count ? slot : 0;
    if (!judge_readable(attempt, slot, limits, verdict))
        return;
    judge_slot(attempt, slot, limits, verdict);
    for (size_t i = slot; i < path->count; i++) {
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, i);
        if (path->hops[i].on_package || seen.readings == 0)
            continue;
        bool at_best = judge_hop(attempt, i, i == slot, limits, verdict);
        if (rate_of(seen) >= rate_of(xb_attempt_seen(attempt, narrowest)))
            continue;
        narrowest = i;
        if (at_best)
            judge_bottleneck(attempt, i, slot, verdict);
    }
    judge_expectation(&path->hops[slot].lower, xb_attempt_seen(attempt, slot), limits, verdict);

    struct xb_pcie_seen seen = xb_attempt_seen(attempt, narrowest);
    struct xb_pcie_control control = control_of(path);
    verdict->bottleneck = narrowest;
    verdict->ceiling = xb_ceiling_of(seen.speed_gts, seen.width, &control);
}

/* ---- several attempts ---- */

/* Whether the attempt's own readings say that a link is less than it should be. */
static bool lacks(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits)
{
    static const char *const codes[] = {"XB-LINK-WIDTH", "XB-LINK-SPEED", "XB-LINK-EXPECT"};
    struct xb_verdict verdict = {0};
    xb_judge_link(attempt, limits, &verdict);
    for (size_t i = 0; i < verdict.reason_count; i++)
        for (size_t j = 0; j < sizeof codes / sizeof *codes; j++)
            if (strcmp(verdict.reasons[i].code, codes[j]) == 0)
                return true;
    return false;
}

/* The first hop that is less than in the best attempt; the slot's if there is none. */
static size_t find_lesser(const struct xb_link_attempt *attempt, const struct xb_link_attempt *best)
{
    size_t slot = xb_attempt_slot(attempt);
    for (size_t i = slot; i < attempt->at_rest.count; i++) {
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, i);
        struct xb_pcie_seen bests = xb_attempt_seen(best, i);
        if (seen.readings > 0 && !attempt->at_rest.hops[i].on_package &&
            (seen.speed_gts < bests.speed_gts || seen.width < bests.width))
            return i;
    }
    return slot;
}

/* Of an attempt that lost its device nothing is said: that has its reason. */
static void judge_lesser(const struct xb_link_attempt *attempts, size_t count, size_t best,
                         const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    /* One whose link was not seen is no better. */
    if (count < 2 || !attempts[best].at_rest.present ||
        xb_attempt_seen(&attempts[best], xb_attempt_slot(&attempts[best])).readings == 0 ||
        lacks(&attempts[best], limits))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct xb_link_attempt *attempt = &attempts[i];
        char speed[24];
        if (!attempt->at_rest.present || xb_attempt_gone(attempt) || !lacks(attempt, limits))
            continue;
        size_t hop = find_lesser(attempt, &attempts[best]);
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, hop);
        xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                      "attempt %zu of %zu ran at %s x%u at %s, another at more: reseat the card, "
                      "check the riser and power management (ASPM)",
                      i + 1, count, xb_speed_name(seen.speed_gts, speed), seen.width,
                      attempt->at_rest.hops[hop].lower.bdf);
        return;
    }
}

/* One reason, for the first hop of the first attempt. */
static void judge_drops(const struct xb_link_attempt *attempts, size_t count,
                        struct xb_verdict *verdict)
{
    for (size_t i = 0; i < count; i++) {
        const struct xb_pcie_path *path = &attempts[i].at_rest;
        for (size_t j = 0; path->present && j < path->count && !xb_attempt_gone(&attempts[i]);
             j++) {
            unsigned drops = xb_attempt_seen(&attempts[i], j).drops;
            if (drops == 0 || path->hops[j].on_package)
                continue;
            xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                          "speed or width at %s fell while data moved (%u times in attempt %zu of "
                          "%zu): reseat the card, check the riser and power management (ASPM)",
                          path->hops[j].lower.bdf, drops, i + 1, count);
            return;
        }
    }
}

void xb_judge_stability(const struct xb_link_attempt *attempts, size_t count, size_t best,
                        const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    judge_lesser(attempts, count, best, limits, verdict);
    judge_drops(attempts, count, verdict);
}
