/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen: of each hop of a path, of errors and NVLinks in all attempts; and whose it is. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool xb_rate_known(double bytes_per_second)
{
    return isfinite(bytes_per_second) && bytes_per_second > 0.0;
}

struct xb_pcie_seen xb_attempt_seen(const struct xb_link_attempt *attempt, size_t hop)
{
    const struct xb_pcie_seen none = {0};
    if (hop >= xb_pcie_path_hops(&attempt->at_rest) || hop >= attempt->load.count)
        return none;
    const struct xb_pcie_seen *seen = &attempt->load.hops[hop];
    return seen->readings > 0 && seen->speed_gts > 0.0 && seen->width > 0 ? *seen : none;
}

bool xb_attempt_gone(const struct xb_link_attempt *attempt)
{
    return attempt->at_rest.present && (attempt->at_rest.dead || attempt->load.gone ||
                                        !attempt->after.present || attempt->after.dead);
}

const struct xb_pcie_hop *xb_attempt_hop_after(const struct xb_link_attempt *attempt, size_t hop)
{
    const struct xb_pcie_hop *before = &attempt->at_rest.hops[hop];
    const struct xb_pcie_hop *after = &attempt->after.hops[hop];
    if (hop >= xb_pcie_path_hops(&attempt->after) ||
        strcmp(before->lower.bdf, after->lower.bdf) != 0 || before->has_upper != after->has_upper)
        return NULL;
    return after;
}

void xb_link_facts_find_hops(const struct xb_link_attempt *attempt, struct xb_link_facts *facts)
{
    facts->hop_count = xb_pcie_path_hops(&attempt->at_rest);
    facts->slot = xb_pcie_path_slot(&attempt->at_rest);
    for (size_t i = 0; i < facts->hop_count; i++) {
        const struct xb_pcie_hop *hop = &attempt->at_rest.hops[i];
        const struct xb_pcie_hop *after = xb_attempt_hop_after(attempt, i);
        const struct xb_pcie_seen seen = xb_attempt_seen(attempt, i);
        struct xb_link_hop *found = &facts->hops[i];
        *found = (struct xb_link_hop){.has_upper = hop->has_upper,
                                      .on_package = hop->on_package,
                                      .at_rest = {hop->lower.link.speed_gts, hop->lower.link.width},
                                      .load = {seen.speed_gts, seen.width},
                                      .best = xb_pcie_hop_best(hop),
                                      .changes = seen.changes,
                                      .drops = seen.drops};
        /* Some devices lower what they call their maximum while they idle: the higher counts. */
        const struct xb_lanes later = after != NULL ? xb_pcie_hop_best(after) : found->best;
        found->best.speed_gts = fmax(found->best.speed_gts, later.speed_gts);
        found->best.width = later.width > found->best.width ? later.width : found->best.width;
        snprintf(found->lower, sizeof found->lower, "%s", hop->lower.bdf);
        snprintf(found->upper, sizeof found->upper, "%s", hop->has_upper ? hop->upper.bdf : "");
    }
}

/* 0 for a counter that went down, as one does that was reset. */
static uint64_t rise(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* Looks for the name, because hops may appear and vanish in between. */
static const struct xb_pcie_end *find_end(const struct xb_pcie_path *path, const char *bdf)
{
    for (size_t j = 0; j < 2 * xb_pcie_path_hops(path); j++) {
        const struct xb_pcie_end *end = xb_pcie_path_end(path, j);
        if (end != NULL && strcmp(end->bdf, bdf) == 0)
            return end;
    }
    return NULL;
}

static void add_errors(struct xb_pcie_aer *sum, const struct xb_pcie_aer *more)
{
    sum->known = true;
    sum->correctable += more->correctable;
    sum->nonfatal += more->nonfatal;
    sum->fatal += more->fatal;
}

/* Adds the errors of one attempt, and the ports that none before it had. */
static void count_errors(const struct xb_link_attempt *attempt, struct xb_link_facts *facts)
{
    for (size_t j = 0; j < 2 * xb_pcie_path_hops(&attempt->at_rest); j++) {
        const struct xb_pcie_end *before = xb_pcie_path_end(&attempt->at_rest, j);
        size_t k = 0;
        if (before == NULL)
            continue;
        while (k < facts->port_count && strcmp(facts->ports[k].bdf, before->bdf) != 0)
            k++;
        struct xb_link_port *port = &facts->ports[k];
        if (k == facts->port_count) {
            facts->port_count++;
            *port = (struct xb_link_port){.hop = j / 2, .is_upper = j % 2 != 0};
            snprintf(port->bdf, sizeof port->bdf, "%s", before->bdf);
        }
        const struct xb_pcie_end *after = find_end(&attempt->after, before->bdf);
        if (after == NULL || !before->aer.known || !after->aer.known)
            continue;
        const struct xb_pcie_aer errors = {
            .correctable = rise(before->aer.correctable, after->aer.correctable),
            .nonfatal = rise(before->aer.nonfatal, after->aer.nonfatal),
            .fatal = rise(before->aer.fatal, after->aer.fatal)};
        add_errors(&port->errors, &errors);
        add_errors(&facts->errors, &errors);
        port->attempts += errors.correctable > 0;
        if (errors.correctable > port->most_correctable)
            port->most_correctable = errors.correctable;
    }
}

#define NAMES(counter, key, one, many) [XB_NVLINK_##counter] = {key, one, many},
const struct xb_nvlink_counter_names xb_nvlink_counters[] = {XB_EACH_NVLINK_COUNTER(NAMES)};

void xb_nvlink_facts_add(struct xb_nvlink_facts *facts, const struct xb_device_health *before,
                         const struct xb_device_health *after, double seconds)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        const struct xb_nvlink *was = &before->nvlinks[i], *now = &after->nvlinks[i];
        struct xb_nvlink_seen *seen = &facts->links[i];
        seen->lost = seen->lost || (was->active && !now->known && after->nvlinks_known);
        if (!was->known || !now->known)
            continue;
        seen->fell = seen->fell || (was->active && !now->active);
        seen->bits += 2 * 8 * was->rate * seconds;
        for (size_t k = 0; k < XB_NVLINK_COUNTERS; k++) {
            if (!was->counted[k] || !now->counted[k])
                continue;
            uint64_t more = rise(was->counts[k], now->counts[k]);
            seen->counted[k] = facts->counted[k] = true;
            seen->rises[k] += more;
            facts->rises[k] += more;
        }
    }
}

/* Retrains only count while copies go on: a link that rests between them may train down and up. */
void xb_link_facts_add(const struct xb_link_attempt *attempt, struct xb_link_facts *facts)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    bool any = false;
    count_errors(attempt, facts);
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

bool xb_link_errors(const struct xb_link_facts *facts, uint64_t *count)
{
    bool known = facts->errors.known;
    *count = facts->errors.correctable + facts->errors.nonfatal + facts->errors.fatal;
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++)
        if (i != XB_PCIE_RETRAINS && i != XB_PCIE_UNSUPPORTED) {
            known |= facts->counted[i];
            *count += facts->rises[i];
        }
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++)
        *count += facts->nvlinks.rises[i];
    return known || *count > 0;
}

void xb_link_facts_find(const struct xb_link_device *device, size_t best,
                        struct xb_link_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    if (best < XB_ATTEMPTS(device))
        xb_link_facts_find_hops(&device->attempts[best], facts);
    for (size_t i = 0; i < XB_ATTEMPTS(device); i++)
        xb_link_facts_add(&device->attempts[i], facts);
    xb_nvlink_facts_add(&facts->nvlinks, &device->peers.before, &device->peers.after,
                        device->peers.seconds);
}

const struct xb_device_health *xb_link_latest(const struct xb_link_device *device)
{
    if (device->peers.after.nvlinks_known)
        return &device->peers.after;
    for (size_t i = XB_ATTEMPTS(device); i > 0; i--) {
        const struct xb_link_attempt *attempt = &device->attempts[i - 1];
        if (attempt->health_after.nvlinks_known)
            return &attempt->health_after;
        if (attempt->health_before.nvlinks_known)
            return &attempt->health_before;
    }
    return NULL;
}

size_t xb_link_subjects(const struct xb_link_report *report)
{
    return report->device_count + report->pair_count;
}

struct xb_link_subject xb_link_subject_at(const struct xb_link_report *report, size_t index)
{
    if (index < report->device_count) {
        const struct xb_verdict *verdict = &report->verdicts[index];
        const struct xb_ceiling *ceiling = &verdict->ceiling;
        return (struct xb_link_subject){
            .gpu = &report->devices[index].info,
            .found = &verdict->found,
            .verdict = verdict,
            .ways = {{"h2d", &verdict->ways[XB_TO_GPU], ceiling->known ? ceiling->h2d : 0},
                     {"d2h", &verdict->ways[XB_BACK], ceiling->known ? ceiling->d2h : 0}}};
    }
    const struct xb_link_pair *pair = &report->pairs[index - report->device_count];
    const struct xb_pair_verdict *verdict = &report->pair_verdicts[index - report->device_count];
    return (struct xb_link_subject){.gpu = &report->devices[pair->from].info,
                                    .peer = &report->devices[pair->to].info,
                                    .found = &verdict->found,
                                    .pair = verdict,
                                    .ways = {{NULL, &verdict->bandwidth, verdict->ceiling}}};
}

const char *xb_limit_source_name(enum xb_limit_source source)
{
    static const char *const names[] = {"default", "file", "command line"};
    return names[source];
}
