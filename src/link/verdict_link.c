/* SPDX-License-Identifier: Apache-2.0 */
/* Whether every link on the way is what both its ends can do; and what was measured against what is
 * asked for, and against what the link can carry; and what NVLinks did meanwhile. */
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "Gen5", or "128 GT/s" for a rate that is no generation. Returns `text`. */
static const char *speed_name(double speed_gts, char text[24])
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, 24, "Gen%u", generation);
    else
        snprintf(text, 24, "%.10g GT/s", speed_gts);
    return text;
}

/* In memory that lasts as long as the block in which it stands. */
#define SPEED(speed_gts) speed_name((speed_gts), (char[24]){0})

/* What the slot is expected to have replaces what its ends can do, unless that is told as accepted.
 */
static bool is_told(struct xb_verdict *verdict, const struct xb_limit *expected, const char *code)
{
    return !expected->is_set || xb_accepted(&verdict->limits, code) != NULL;
}

/* Returns whether the hop is at its best, as far as that is known. */
static bool judge_hop(const struct xb_link_attempt *attempt, size_t index, bool is_slot,
                      struct xb_verdict *verdict)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[index];
    const struct xb_pcie_hop *ends = &attempt->at_rest.hops[index];
    const struct xb_pcie_link *lower = &ends->lower.link, *upper = &ends->upper.link;
    /* How bad a slow link is, and what to do, depends on what is known of its ends. */
    enum xb_level level = XB_LEVEL_WARNING;
    const char *able, *for_width, *for_speed;
    if (!xb_pcie_hop_upper_is_real(ends)) {
        able = is_slot ? "the device" : "its port";
        for_width = for_speed = "the slot cannot be seen from here (virtual machine)";
    } else if (upper->max_speed_gts <= 0.0 || upper->max_width == 0 ||
               lower->max_speed_gts <= 0.0 || lower->max_width == 0) {
        able = "one end";
        for_width = for_speed = "the other end does not say what it can do";
    } else {
        level = XB_LEVEL_CRITICAL;
        able = is_slot ? "slot and GPU" : "both ends";
        for_width = is_slot ? "reseat the card or check bifurcation"
                            : "a link above the device: check the switch, its riser or cable, and "
                              "bifurcation";
        for_speed = is_slot ? "check the BIOS link speed setting and the riser, reseat the card"
                            : "a link above the device: check the BIOS link speed setting and the "
                              "switch, its riser or cable";
    }
    if (hop->load.width < hop->best.width &&
        (!is_slot || is_told(verdict, &verdict->limits.width, "XB-LINK-WIDTH")))
        FIND_AT(level, "XB-LINK-WIDTH", "x%u of x%u at %s: %s", hop->load.width, hop->best.width,
                hop->lower, for_width);
    if (hop->load.speed_gts < hop->best.speed_gts &&
        (!is_slot || is_told(verdict, &verdict->limits.generation, "XB-LINK-SPEED")))
        FIND_AT(level, "XB-LINK-SPEED", "%s under load at %s, %s can do %s: %s",
                SPEED(hop->load.speed_gts), hop->lower, able, SPEED(hop->best.speed_gts),
                for_speed);
    return hop->load.width >= hop->best.width && hop->load.speed_gts >= hop->best.speed_gts;
}

/* Warns of a port with fewer lanes than the card. A port that is slower than the card is common (a
 * newer card in an older slot) and gets no warning. */
static void judge_slot(const struct xb_link_attempt *attempt, size_t slot,
                       struct xb_verdict *verdict)
{
    const struct xb_pcie_hop *hop = &attempt->at_rest.hops[slot];
    const struct xb_pcie_hop *after = xb_attempt_hop_after(attempt, slot);
    /* The most lanes that either end told, before or after the transfers. */
    unsigned card = hop->lower.link.max_width, port = hop->upper.link.max_width;
    if (after != NULL) {
        card = after->lower.link.max_width > card ? after->lower.link.max_width : card;
        port = after->upper.link.max_width > port ? after->upper.link.max_width : port;
    }
    if (!is_told(verdict, &verdict->limits.width, "XB-LINK-SLOT") ||
        !xb_pcie_hop_upper_is_real(hop) || port == 0 || port >= card)
        return;
    FIND(WARNING, "XB-LINK-SLOT",
         "the port has x%u and the card could do x%u at %s: check bifurcation, or give --expect if "
         "this is intended",
         port, card, hop->lower.bdf);
}

/* Whether the slot's link could be read. If not, the rest of the path is not judged. */
static bool judge_readable(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    const struct xb_link_hop *hop = &verdict->facts.hops[verdict->bottleneck];
    if (hop->load.width == 0 || verdict->facts.slot == verdict->facts.hop_count) {
        if (!xb_attempt_gone(attempt)) /* That says it all. */
            FIND(UNKNOWN, "XB-LINK-UNREADABLE",
                 "the link at %s could not be read while data moved: see current_link_speed and "
                 "current_link_width in sysfs",
                 hop->lower);
        return false;
    }
    if ((hop->best.speed_gts <= 0.0 && !verdict->limits.generation.is_set) ||
        (hop->best.width == 0 && !verdict->limits.width.is_set))
        FIND(UNKNOWN, "XB-LINK-UNREADABLE",
             "what the link at %s can do could not be read: see max_link_speed and max_link_width "
             "in sysfs",
             hop->lower);
    return true;
}

static void judge_expectation(const struct xb_link_hop *slot, struct xb_verdict *verdict)
{
    static const double rates[] = {0, 2.5, 5, 8, 16, 32, 64}; /* as xb_pcie_generation has them */
    const unsigned last = sizeof rates / sizeof *rates - 1;
    unsigned generation = (unsigned)verdict->limits.generation.value;
    unsigned width = (unsigned)verdict->limits.width.value;
    char expected[32] = "";
    const struct xb_lanes was = verdict->limits.was.load;
    if (xb_lanes_are_less(slot->load, was))
        FIND(CRITICAL, "XB-BASELINE-LINK",
             "%s x%u under load at %s, it was %s x%u when the node was accepted: look for what was "
             "changed since then, reseat the card",
             SPEED(slot->load.speed_gts), slot->load.width, slot->lower, SPEED(was.speed_gts),
             was.width);
    /* Compares rates, because there may be rates above the last generation that has a number. */
    if (slot->load.speed_gts >= rates[generation <= last ? generation : 0] &&
        slot->load.width >= width)
        return;
    if (generation > 0)
        snprintf(expected, sizeof expected, " Gen%u", generation);
    if (width > 0)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " x%u", width);
    FIND(CRITICAL, "XB-LINK-EXPECT",
         "%s x%u under load at %s, expected is%s or better: check which card is in which slot",
         SPEED(slot->load.speed_gts), slot->load.width, slot->lower, expected);
}

void xb_judge_link(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    size_t slot = facts->slot < facts->hop_count ? facts->slot : 0;
    verdict->bottleneck = slot;
    if (!judge_readable(attempt, verdict))
        return;
    judge_slot(attempt, slot, verdict);
    for (size_t i = slot; i < facts->hop_count; i++) {
        const struct xb_link_hop *hop = &facts->hops[i];
        if (hop->on_package || hop->load.width == 0)
            continue;
        bool at_best = judge_hop(attempt, i, i == slot, verdict);
        if (xb_pcie_rate_to_compare(hop->load) >=
            xb_pcie_rate_to_compare(facts->hops[verdict->bottleneck].load))
            continue;
        verdict->bottleneck = i;
        /* Each step down is named once, not the links behind it that carry as little. */
        if (at_best)
            FIND(WARNING, "XB-LINK-BOTTLENECK",
                 "the link above the device at %s carries less than its own: %s x%u, its own is %s "
                 "x%u: try a slot with a better path to the CPU",
                 hop->lower, SPEED(hop->load.speed_gts), hop->load.width,
                 SPEED(facts->hops[slot].load.speed_gts), facts->hops[slot].load.width);
    }
    judge_expectation(&facts->hops[slot], verdict);

    const struct xb_lanes lanes = facts->hops[verdict->bottleneck].load;
    const struct xb_pcie_control control = xb_pcie_path_control(&attempt->at_rest);
    verdict->ceiling = xb_ceiling_of(lanes.speed_gts, lanes.width, &control);
}

/* What says that a link is less than it should be. */
#define LESS "XB-LINK-WIDTH", "XB-LINK-SPEED", "XB-LINK-EXPECT", "XB-BASELINE-LINK"
/* What speaks against the link itself. */
#define SUSPECT                                                                                    \
    LESS, "XB-LINK-UNSTABLE", "XB-PCIE-RETRAIN", "XB-PCIE-ERRORS", "XB-PCIE-REPLAY",               \
        "XB-DATA-WRONG", "XB-DEVICE-GONE", "XB-AER-CORRECTABLE", "XB-AER-UNCORRECTABLE"

/* Warns if another attempt ran on less. An attempt that lost its device has its own reason. */
static void judge_lesser(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    static const char *const codes[] = {LESS, NULL};
    const struct xb_link_facts *best = &verdict->facts;
    const size_t count = XB_ATTEMPTS(device);
    /* If the best attempt saw no link, nobody can say that another saw less. */
    if (best->slot >= best->hop_count || best->hops[best->slot].load.width == 0 ||
        xb_finding_is_any(&verdict->found, codes))
        return;
    for (size_t i = 0; i < count; i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        struct xb_verdict its = {.limits = verdict->limits};
        if (!attempt->at_rest.present || xb_attempt_gone(attempt))
            continue;
        xb_link_facts_find_hops(attempt, &its.facts);
        xb_judge_link(attempt, &its);
        if (!xb_finding_is_any(&its.found, codes))
            continue;
        /* The first hop that is less than in the best attempt; the slot's if there is none. */
        const struct xb_link_hop *hops = its.facts.hops;
        size_t hop = its.facts.slot;
        while (hop < its.facts.hop_count &&
               (hops[hop].on_package || hops[hop].load.width == 0 ||
                !xb_lanes_are_less(hops[hop].load, best->hops[hop].load)))
            hop++;
        hop = hop < its.facts.hop_count ? hop : its.facts.slot;
        FIND(WARNING, "XB-LINK-UNSTABLE",
             "attempt %zu of %zu ran at %s x%u at %s, another ran faster: reseat the card, check "
             "the riser and power management (ASPM)",
             i + 1, count, SPEED(hops[hop].load.speed_gts), hops[hop].load.width, hops[hop].lower);
        return;
    }
}

void xb_judge_stability(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    judge_lesser(device, verdict);
    /* Warns once, of the first hop in the first attempt whose speed or width fell. */
    for (size_t i = 0; i < XB_ATTEMPTS(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        const struct xb_pcie_path *path = &attempt->at_rest;
        for (size_t j = 0; j < xb_pcie_path_hops(path) && !xb_attempt_gone(attempt); j++) {
            unsigned drops = xb_attempt_seen(attempt, j).drops;
            if (drops == 0 || path->hops[j].on_package)
                continue;
            FIND(WARNING, "XB-LINK-UNSTABLE",
                 "speed or width at %s fell while data moved (%u times in attempt %zu of %zu): "
                 "reseat the card, check the riser and power management (ASPM)",
                 path->hops[j].lower.bdf, drops, i + 1, XB_ATTEMPTS(device));
            return;
        }
    }
}

static const struct {
    const char *name, *code;
} ways[XB_LINK_WAYS] = {{"h2d", "XB-BW-H2D"}, {"d2h", "XB-BW-D2H"}};

/* The critical share where nothing else speaks against the link: a busy host was seen to leave
 * 0.70. */
#define UNEXPLAINED_CRITICAL_SHARE 0.60

/* What the link can carry that way; 0 where not known. */
static double full_of(const struct xb_ceiling *ceiling, size_t way)
{
    return way == 0 ? ceiling->h2d : ceiling->d2h;
}

void xb_verdict_set_limits(struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    const struct xb_limit *warn = &verdict->limits.warn_share,
                          *worst = &verdict->limits.critical_share;
    /* The defaults, which healthy links reach (docs/link-ceilings.md). If only one of the two is
     * set and the other's default lies on the wrong side of it, that becomes the one that is set.
     */
    double warning = ceiling->speed_gts <= 8.0 ? 0.85 : 0.90;
    double critical = ceiling->speed_gts <= 8.0 ? 0.70 : 0.80;
    warning = warn->is_set ? warn->value : worst->is_set ? fmax(warning, worst->value) : warning;
    critical = worst->is_set ? worst->value : warn->is_set ? fmin(critical, warn->value) : critical;
    for (size_t i = 0; i < XB_LINK_WAYS; i++) {
        const struct xb_limit *minimum = &verdict->limits.all[i];
        struct xb_link_direction *direction = &verdict->ways[i];
        /* Where the limit below which it is CRITICAL comes from: bytes per second, or a share. */
        direction->source = minimum->is_set ? minimum->source
                            : worst->is_set ? worst->source
                                            : XB_LIMIT_DEFAULT;
        direction->critical = minimum->is_set ? minimum->value : critical * full_of(ceiling, i);
        direction->warning = minimum->is_set ? 0 : warning * full_of(ceiling, i);
        direction->own_limit = fmax(direction->warning, direction->critical);
        /* A link that is less than when the node was accepted has its own reason. */
        if (!xb_finding_is_any(&verdict->found, (const char *const[]){"XB-BASELINE-LINK", NULL}))
            direction->warning =
                fmax(direction->warning, XB_BASELINE_SHARE * verdict->limits.was.rates[i]);
    }
}

void xb_judge_bandwidth(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    /* Where packet sizes are assumed, another 1 % is for them. */
    bool assumed = ceiling->payload_assumed || ceiling->read_request_assumed;
    double most = (XB_BANDWIDTH_ABOVE + (assumed ? 0.01 : 0)) * ceiling->most;
    xb_verdict_set_limits(verdict);
    for (size_t i = 0; i < XB_LINK_WAYS; i++) {
        struct xb_link_direction *direction = &verdict->ways[i];
        double measured = attempt->rates[i];
        if (!xb_rate_known(measured))
            continue; /* There is a reason for that already. */
        direction->measured = measured;
        if (ceiling->known)
            direction->share = measured / full_of(ceiling, i);
        direction->is_slow = measured < fmax(direction->warning, direction->critical);
        /* What the link cannot carry was measured wrongly, though it looks good. */
        if (ceiling->known && measured > most)
            FIND(UNKNOWN, "XB-BW-ABOVE",
                 "%s %.2f GB/s is more than %s x%u can carry (%.2f GB/s): the data did not cross "
                 "it, or the link was read wrongly",
                 ways[i].name, measured / 1e9, SPEED(ceiling->speed_gts), ceiling->width,
                 ceiling->most / 1e9);
    }
    /* A link that could not be read has its reason already. */
    if (ceiling->speed_gts > 0.0 && !ceiling->known &&
        !(verdict->limits.min_h2d.is_set && verdict->limits.min_d2h.is_set))
        FIND(UNKNOWN, "XB-BW-NO-LIMIT",
             "what %s x%u can carry is not known: set limits (--min-h2d, --min-d2h, or --limits)",
             SPEED(ceiling->speed_gts), ceiling->width);
}

/* ---- what follows from one that is too low: the link, something else, or nobody knows ---- */

/*
 * From where on something else may be what slows copies down, by what was seen on H100s and H200s
 * (docs/link-ceilings.md). Low enough to be safe: what is too low makes a slow link UNKNOWN, what
 * is too high condemns a good one.
 */
#define BUSY_SHARE (1.0 / 8) /* of the CPUs: 1/4 cost up to 19 %, idle machines were below 1/20 */
#define BUSY_LOAD_S 250e-9   /* 132 to 230 ns at rest; 202 to 404 where copies lost a quarter */
#define OTHER_SHARE 0.05     /* of the ceiling */
#define OTHER_SHARE_ASSUMED 0.10 /* where packets' sizes are assumed, and so their headers */
#define OTHER_WAY_SHARE 0.20     /* requests for reads are a tenth of what they fetch */
#define SLOW_CLOCK 0.9           /* of the best */
#define IS_LOW(mhz, best) ((mhz) > 0 && (mhz) < SLOW_CLOCK * (best))

/* A code, and words about it in the `text` of the function in which it stands. */
#define CAUSE(code, ...) (snprintf(text, 128, __VA_ARGS__), (code))

/* What went on beside copies that were slow, or NULL: a code, and words about it. The counters of
 * traffic count headers too, of which the ceiling has subtracted the usual share. */
static const char *cause_of(const struct xb_link_conditions *seen, size_t way, double limit,
                            const struct xb_ceiling *ceiling, char text[128])
{
    bool assumed = ceiling->payload_assumed || ceiling->read_request_assumed;
    bool has_traffic = seen->traffic_known && ceiling->known && seen->mean > 0;
    double full = full_of(ceiling, way);
    double whole = way == 0 ? seen->received : seen->sent;
    double same_way = has_traffic ? whole * full / ceiling->raw - seen->mean : 0;
    double other_way = has_traffic ? seen->sent + seen->received - whole : 0;
    if (same_way > (assumed ? OTHER_SHARE_ASSUMED : OTHER_SHARE) * full)
        return CAUSE("XB-OTHER-TRAFFIC",
                     "the link carried %.1f GB/s with headers, %.1f of it this copy's data",
                     whole / 1e9, seen->mean / 1e9);
    if (other_way > OTHER_WAY_SHARE * full_of(ceiling, 1 - way))
        return CAUSE("XB-OTHER-TRAFFIC",
                     "the link carried %.1f GB/s of other traffic the other way", other_way / 1e9);
    if (seen->memory_is_far)
        return CAUSE("XB-MEMORY-FAR", "the copies' host memory lay on a far NUMA node");
    const struct xb_device_health *clocks = &seen->clocks;
    if (clocks->slowed_by_hardware)
        return CAUSE("XB-CLOCKS-LOW", "the hardware slowed the GPU down (%.80s)", clocks->throttle);
    /* Multiprocessors that have nothing to do may be slow: only a setting speaks against them. */
    bool is_set = strstr(clocks->throttle, XB_CLOCKS_ARE_SET) != NULL;
    bool is_memory = IS_LOW(clocks->memory_clock_mhz, clocks->memory_clock_best_mhz);
    if (is_memory || (is_set && IS_LOW(clocks->sm_clock_mhz, clocks->sm_clock_best_mhz)))
        return CAUSE("XB-CLOCKS-LOW", "the GPU's %s ran at %u of %u MHz%s",
                     is_memory ? "memory" : "multiprocessors",
                     is_memory ? clocks->memory_clock_mhz : clocks->sm_clock_mhz,
                     is_memory ? clocks->memory_clock_best_mhz : clocks->sm_clock_best_mhz,
                     is_set ? ", as set (nvidia-smi -rmc, -rgc, -rac reset clocks)" : "");
    if (seen->cpus > 0 && seen->cpus_busy >= BUSY_SHARE * seen->cpus)
        return CAUSE("XB-HOST-BUSY", "other processes kept %.1f of %u CPUs busy", seen->cpus_busy,
                     seen->cpus);
    if (seen->load_s >= BUSY_LOAD_S)
        return CAUSE("XB-HOST-BUSY", "a load from the host's memory took %.0f ns",
                     seen->load_s * 1e9);
    if (seen->fastest < limit) /* a link that is slow is so all the time */
        return NULL;
    return CAUSE("XB-SLOW-AT-TIMES", "the fastest copies reached %.2f GB/s", seen->fastest / 1e9);
}

const char *xb_link_cause(const struct xb_link_device *device, const struct xb_ceiling *ceiling,
                          char text[128])
{
    const char *code = NULL;
    for (size_t i = 0; i < XB_LINK_WAYS * XB_ATTEMPTS(device) && code == NULL; i++)
        code = cause_of(&device->attempts[i / XB_LINK_WAYS].conditions[i % XB_LINK_WAYS],
                        i % XB_LINK_WAYS, INFINITY, ceiling, text);
    return code;
}

/* The first cause that any slow attempt shows; an attempt that was not slow shows one too. Who sets
 * a limit means the median: then copies that are fast at times excuse nothing. */
static const char *find_cause(const struct xb_link_device *device, const struct xb_verdict *verdict,
                              size_t way, bool is_own, char text[128])
{
    const struct xb_link_direction *direction = &verdict->ways[way];
    double limit = fmax(direction->warning, direction->critical);
    const char *code = NULL;
    for (size_t i = 0; i < XB_ATTEMPTS(device) && code == NULL; i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        double rate = attempt->rates[way];
        if (!xb_rate_known(rate))
            continue;
        if (rate < limit)
            code = cause_of(&attempt->conditions[way], way, is_own ? INFINITY : limit,
                            &verdict->ceiling, text);
        else
            code = CAUSE("XB-SLOW-AT-TIMES", "another attempt reached %.2f GB/s", rate / 1e9);
    }
    return code;
}

/* Whether no attempt came near to what the link can carry, all were made, and other traffic would
 * have been seen: that above a switch, which others may share, is not. */
static bool is_surely_far_below(const struct xb_link_device *device,
                                const struct xb_verdict *verdict, size_t way)
{
    double limit = UNEXPLAINED_CRITICAL_SHARE * full_of(&verdict->ceiling, way);
    bool is_seen = !device->cut && verdict->facts.slot + 1 >= verdict->facts.hop_count;
    XB_EACH (attempt, device->attempts, XB_ATTEMPTS(device)) {
        const struct xb_link_conditions *seen = &attempt->conditions[way];
        if (xb_rate_known(attempt->rates[way]))
            is_seen =
                is_seen && attempt->rates[way] < limit && seen->traffic_known && seen->cpus > 0;
    }
    return is_seen;
}

/* Judges one direction. `suspect`: something speaks against the link itself. */
static void judge_way(const struct xb_link_device *device, size_t way, bool suspect,
                      struct xb_verdict *verdict)
{
    struct xb_link_direction *direction = &verdict->ways[way];
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    const struct xb_link_limits *limits = &verdict->limits;
    const struct xb_limit *minimum = &limits->all[way];
    double full = full_of(ceiling, way), measured = direction->measured;
    bool sets_critical = minimum->is_set || limits->critical_share.is_set;
    bool is_since = measured >= direction->own_limit; /* too low for the baseline alone */
    bool is_own = !is_since && (sets_critical || limits->warn_share.is_set);
    char text[160], cause[128];
    if (!suspect && !sets_critical && ceiling->known)
        direction->critical = fmin(direction->critical, UNEXPLAINED_CRITICAL_SHARE * full);
    if (!direction->is_slow)
        return;
    const char *other = suspect ? NULL : find_cause(device, verdict, way, is_own, cause);
    /* Nobody knows how fast copies should be but who sets a limit, or knows how fast they were. */
    bool is_encrypted = device->setup.confidential == XB_SWITCH_ON;
    bool is_vague = !is_since && !minimum->is_set && (is_encrypted || ceiling->derived);
    bool is_critical = !is_vague && other == NULL && measured < direction->critical &&
                       (suspect || sets_critical || is_surely_far_below(device, verdict, way));
    enum xb_level level = is_critical ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING;
    if (is_since)
        XB_SINCE(text, way == 0 ? "h2d " : "d2h ", measured, limits->was.rates[way]);
    else if (minimum->is_set)
        snprintf(text, sizeof text, "%s %.2f GB/s is below the limit of %.2f GB/s (%s)",
                 ways[way].name, measured / 1e9, minimum->value / 1e9,
                 xb_limit_source_name(minimum->source));
    else
        snprintf(text, sizeof text,
                 "%s %.2f GB/s is %.3f of what %s x%u can carry (%.2f GB/s), below %.2f",
                 ways[way].name, measured / 1e9, direction->share, SPEED(ceiling->speed_gts),
                 ceiling->width, full / 1e9,
                 (is_critical ? direction->critical : direction->warning) / full);
    if (is_vague) {
        FIND(UNKNOWN, is_encrypted ? "XB-CONFIDENTIAL" : "XB-BW-NO-LIMIT",
             "%s: %s: set limits for such GPUs (--min-h2d, --min-d2h, or --limits)", text,
             is_encrypted ? "confidential computing encrypts copies, which are slow by design"
                          : "that is derived from the specification, and nobody measured it");
        return;
    }
    if (suspect || is_own || (is_since && other == NULL))
        FIND_AT(other != NULL ? XB_LEVEL_UNKNOWN : level,
                is_since ? "XB-BASELINE-BW" : ways[way].code, is_since ? XB_SINCE_ADVICE : "%s",
                text);
    if (other != NULL)
        FIND(UNKNOWN, other, "%s; meanwhile %s: could not be judged, run again on an idle node",
             is_own ? ways[way].name : text, cause);
    else if (!suspect && !is_own && !is_since)
        FIND_AT(level, "XB-SLOW-UNEXPLAINED",
                "%s: nothing that was looked at shows why; compare with other nodes, then "
                "reseat the card",
                text);
}

void xb_judge_loss(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    static const char *const codes[] = {SUSPECT, NULL};
    bool suspect = xb_finding_is_any(&verdict->found, codes);
    for (size_t i = 0; i < XB_LINK_WAYS; i++)
        judge_way(device, i, suspect, verdict);
}

/* ---- NVLinks ---- */

uint64_t xb_nvlink_replays_allowed(double bits)
{
    double mean = bits * XB_NVLINK_BIT_ERROR_RATE, count = ceil(mean);
    if (!(mean > 0))
        return 0;
    if (mean > 1e9) /* 125 million terabytes: no test moves that much, and no count is told of it */
        return UINT64_MAX;
    while (count - mean + count * log(mean / count) > log(XB_NVLINK_FALSE_ALARM))
        count++;
    return (uint64_t)count - 1;
}

/* The links that did it. */
struct culprits {
    size_t count;
    char numbers[153]; /* "4, 7" */
};

static void add_culprit(struct culprits *found, size_t number, bool did_it)
{
    size_t length = strlen(found->numbers);
    if (did_it)
        snprintf(found->numbers + length, sizeof found->numbers - length, "%s%zu",
                 found->count++ > 0 ? ", " : "", number);
}

/* For "link%s %s": "link 4", "links 4, 7". */
#define LINKS(found) XB_PLURAL((found).count), (found).numbers

/* Replays beyond what a healthy link may count. Where its rate is not known, neither is that. */
static uint64_t excess(const struct xb_nvlink_seen *link)
{
    uint64_t replays = link->rises[XB_NVLINK_REPLAYS];
    uint64_t allowed = link->bits > 0 ? xb_nvlink_replays_allowed(link->bits) : UINT64_MAX;
    return replays > allowed ? replays - allowed : 0;
}

void xb_judge_nvlinks(struct xb_verdict *verdict)
{
    const struct xb_nvlink_facts *facts = &verdict->facts.nvlinks;
    struct culprits fallen = {0}, lost = {0}, trained = {0}, replayed = {0};
    uint64_t recoveries = 0, failed = 0;
    size_t worst = 0; /* by its replays */
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink_seen *link = &facts->links[i];
        add_culprit(&fallen, i, link->fell);
        add_culprit(&lost, i, link->lost);
        add_culprit(&trained, i,
                    link->rises[XB_NVLINK_RECOVERIES] > 0 ||
                        link->rises[XB_NVLINK_FAILED_RECOVERIES] > 0);
        add_culprit(&replayed, i, excess(link) > 0);
        recoveries += link->rises[XB_NVLINK_RECOVERIES];
        failed += link->rises[XB_NVLINK_FAILED_RECOVERIES];
        worst = excess(link) > excess(&facts->links[worst]) ? i : worst;
    }
    if (fallen.count > 0)
        FIND(CRITICAL, "XB-NVLINK-DOWN",
             "NVLink: link%s %s went down during the test: see dmesg (Xid 74, 144 to 150)",
             LINKS(fallen));
    if (lost.count > 0)
        FIND(UNKNOWN, "XB-NVLINK-UNREADABLE",
             "NVLink: link%s %s could no longer be read after the test: see nvidia-smi "
             "nvlink -s and dmesg",
             LINKS(lost));
    if (trained.count > 0)
        FIND(WARNING, "XB-NVLINK-ERRORS",
             "NVLink: %" PRIu64 " %s (%" PRIu64
             " failed) of link%s %s during the test: see nvidia-smi nvlink -e",
             recoveries, recoveries == 1 ? "recovery" : "recoveries", failed, LINKS(trained));
    /* Tells the count and the bound of the worst link, and the names of all. */
    if (replayed.count > 0)
        FIND(WARNING, "XB-NVLINK-REPLAY",
             "NVLink: %" PRIu64 " replays on link %zu during the test, a healthy link has %" PRIu64
             " at most: see nvidia-smi nvlink -e%s%s",
             facts->links[worst].rises[XB_NVLINK_REPLAYS], worst,
             xb_nvlink_replays_allowed(facts->links[worst].bits),
             replayed.count > 1 ? "; too many on links " : "",
             replayed.count > 1 ? replayed.numbers : "");
}
