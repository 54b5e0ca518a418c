/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the observations alone: links of the path, and counters. */
#include "verdict_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one attempt ---- */

size_t xb_link_attempts(const struct xb_link_device *device)
{
    return device->attempt_count < XB_LINK_ATTEMPTS ? device->attempt_count : XB_LINK_ATTEMPTS;
}

size_t xb_link_hops(const struct xb_pcie_path *path)
{
    return xb_pcie_path_hops(path);
}

bool xb_rate_known(double bytes_per_second)
{
    return isfinite(bytes_per_second) && bytes_per_second > 0.0;
}

struct xb_pcie_seen xb_attempt_seen(const struct xb_link_attempt *attempt, size_t hop)
{
    const struct xb_pcie_seen none = {0};
    if (hop >= xb_link_hops(&attempt->at_rest) || hop >= attempt->load.count)
        return none;
    const struct xb_pcie_seen *seen = &attempt->load.hops[hop];
    return seen->readings > 0 && seen->speed_gts > 0.0 && seen->width > 0 ? *seen : none;
}

bool xb_attempt_gone(const struct xb_link_attempt *attempt)
{
    return attempt->at_rest.present && (attempt->at_rest.dead || attempt->load.gone ||
                                        !attempt->after.present || attempt->after.dead);
}

size_t xb_attempt_slot(const struct xb_link_attempt *attempt)
{
    return xb_pcie_path_slot(&attempt->at_rest);
}

/* ---- what a hop can do ---- */

const struct xb_pcie_hop *xb_attempt_hop_after(const struct xb_link_attempt *attempt, size_t hop)
{
    const struct xb_pcie_hop *before = &attempt->at_rest.hops[hop];
    const struct xb_pcie_hop *after = &attempt->after.hops[hop];
    if (hop >= xb_link_hops(&attempt->after) || strcmp(before->lower.bdf, after->lower.bdf) != 0 ||
        before->has_upper != after->has_upper)
        return NULL;
    return after;
}

/* Some devices lower what they call their maximum while they idle, so the higher of the readings
 * before and after counts. */
static struct xb_lanes find_best(const struct xb_link_attempt *attempt, size_t hop)
{
    const struct xb_pcie_hop *before = &attempt->at_rest.hops[hop];
    const struct xb_pcie_hop *after = xb_attempt_hop_after(attempt, hop);
    struct xb_lanes best = {xb_pcie_hop_best_speed(before), xb_pcie_hop_best_width(before)};
    if (after == NULL)
        return best;
    struct xb_lanes later = {xb_pcie_hop_best_speed(after), xb_pcie_hop_best_width(after)};
    return (struct xb_lanes){later.speed_gts > best.speed_gts ? later.speed_gts : best.speed_gts,
                             later.width > best.width ? later.width : best.width};
}

void xb_link_facts_find_hops(const struct xb_link_attempt *attempt, struct xb_link_facts *facts)
{
    facts->hop_count = xb_link_hops(&attempt->at_rest);
    facts->slot = xb_attempt_slot(attempt);
    for (size_t i = 0; i < facts->hop_count; i++) {
        const struct xb_pcie_hop *hop = &attempt->at_rest.hops[i];
        const struct xb_pcie_seen seen = xb_attempt_seen(attempt, i);
        struct xb_link_hop *found = &facts->hops[i];
        *found = (struct xb_link_hop){
            .has_upper = hop->has_upper,
            .on_package = hop->on_package,
            .at_rest = {hop->lower.link.speed_gts, hop->lower.link.width},
            .load = {seen.speed_gts, seen.width},
            .best = find_best(attempt, i),
            .changes = seen.changes,
            .drops = seen.drops,
        };
        snprintf(found->lower, sizeof found->lower, "%s", hop->lower.bdf);
        snprintf(found->upper, sizeof found->upper, "%s", hop->has_upper ? hop->upper.bdf : "");
    }
}

/* ---- counters ---- */

/* 0 for a counter that went down, as one does that was reset. */
static uint64_t rise(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* The j-th end of a path, from the device up; NULL where there is none. */
static const struct xb_pcie_end *end_of(const struct xb_pcie_path *path, size_t j)
{
    const struct xb_pcie_hop *hop = &path->hops[j / 2];
    if (j / 2 >= xb_link_hops(path))
        return NULL;
    if (j % 2 == 0)
        return &hop->lower;
    return hop->has_upper ? &hop->upper : NULL;
}

/* Looks for the name, because hops may appear and vanish in between. */
static const struct xb_pcie_end *find_end(const struct xb_pcie_path *path, const char *bdf)
{
    for (size_t j = 0; j < 2 * xb_link_hops(path); j++) {
        const struct xb_pcie_end *end = end_of(path, j);
        if (end != NULL && strcmp(end->bdf, bdf) == 0)
            return end;
    }
    return NULL;
}

static void add_errors(struct xb_pcie_aer *sum, const struct xb_pcie_aer *more)
{
    if (!more->known)
        return;
    sum->known = true;
    sum->correctable += more->correctable;
    sum->nonfatal += more->nonfatal;
    sum->fatal += more->fatal;
}

/* Sums over the attempts, not from the first reading to the last: what lies between two attempts is
 * a link that changes its speed, and no transfer of ours. */
static void count_errors(const struct xb_link_device *device, struct xb_link_port *port)
{
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_pcie_end *before = find_end(&device->attempts[i].at_rest, port->bdf);
        const struct xb_pcie_end *after = find_end(&device->attempts[i].after, port->bdf);
        if (before == NULL || after == NULL || !before->aer.known || !after->aer.known)
            continue;
        const struct xb_pcie_aer errors = {
            .known = true,
            .correctable = rise(before->aer.correctable, after->aer.correctable),
            .nonfatal = rise(before->aer.nonfatal, after->aer.nonfatal),
            .fatal = rise(before->aer.fatal, after->aer.fatal)};
        add_errors(&port->errors, &errors);
        if (errors.correctable > port->most_correctable)
            port->most_correctable = errors.correctable;
    }
}

static bool is_listed(const struct xb_link_facts *facts, const char *bdf)
{
    for (size_t i = 0; i < facts->port_count; i++)
        if (strcmp(facts->ports[i].bdf, bdf) == 0)
            return true;
    return false;
}

/* Adds the ports that no attempt before this one had. */
static void find_ports(const struct xb_link_device *device, const struct xb_link_attempt *attempt,
                       struct xb_link_facts *facts)
{
    for (size_t j = 0; j < 2 * xb_link_hops(&attempt->at_rest); j++) {
        const struct xb_pcie_end *end = end_of(&attempt->at_rest, j);
        if (end == NULL || is_listed(facts, end->bdf))
            continue;
        struct xb_link_port *port = &facts->ports[facts->port_count++];
        *port = (struct xb_link_port){.hop = j / 2, .is_upper = j % 2 != 0};
        snprintf(port->bdf, sizeof port->bdf, "%s", end->bdf);
        count_errors(device, port);
        add_errors(&facts->errors, &port->errors);
    }
}

/* What was counted in one attempt. Retrains only count while copies go on: a link that rests
 * between them may train down and up again. */
static void count(const struct xb_link_attempt *attempt, struct xb_link_facts *facts)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    bool any = false;
    xb_nvlink_facts_add(&facts->nvlinks, before, after, attempt->health_seconds);
    if (before->replays_known && after->replays_known) {
        uint64_t replays = rise(before->replays, after->replays);
        facts->replays_known = true;
        facts->replays += replays;
        facts->attempts_replayed += replays > 0;
        facts->most_replays = replays > facts->most_replays ? replays : facts->most_replays;
    }
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        if (!before->counted[i] || !after->counted[i])
            continue;
        uint64_t more = i == XB_PCIE_RETRAINS
                            ? attempt->conditions[0].retrains + attempt->conditions[1].retrains
                            : rise(before->counts[i], after->counts[i]);
        any = facts->counted[i] = true;
        facts->rises[i] += more;
        facts->attempts_risen[i] += more > 0;
        facts->since_boot[i] = after->counts[i];
    }
    if (any)
        facts->counted_seconds += attempt->health_seconds;
}

void xb_link_facts_find(const struct xb_link_device *device, size_t best,
                        struct xb_link_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    if (best < xb_link_attempts(device))
        xb_link_facts_find_hops(&device->attempts[best], facts);
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        find_ports(device, &device->attempts[i], facts);
        count(&device->attempts[i], facts);
    }
    xb_nvlink_facts_add(&facts->nvlinks, &device->peers.before, &device->peers.after,
                        device->peers.seconds);
}
