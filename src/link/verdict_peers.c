/* SPDX-License-Identifier: Apache-2.0 */
/* Whether copies between two devices are as fast as their links, and arrive as they were sent; and
 * how many NVLinks a device has. Then all of a node. */
#include "report.h"

#include "base/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool xb_pair_has_no_access(const struct xb_pair_attempt *attempt)
{
    return attempt != NULL && attempt->reach_known && !attempt->there.can_access;
}

bool xb_pair_is_judged(const struct xb_pair_verdict *verdict)
{
    return verdict->bandwidth.critical > 0;
}

void xb_pair_verdict_observe(const struct xb_link_pair *pair, size_t best,
                             struct xb_pair_verdict *verdict)
{
    verdict->best = best;
    const struct xb_pair_attempt *attempt = XB_ATTEMPT_JUDGED(verdict, pair);
    if (attempt == NULL)
        return;
    /* A link that is up at one end alone carries nothing, and 0 stands for what an end does not
     * tell: both are right with the less of the two. */
    verdict->reach = attempt->there;
    verdict->reach.links =
        attempt->back.links < attempt->there.links ? attempt->back.links : attempt->there.links;
    verdict->reach.link_rate = fmin(attempt->back.link_rate, attempt->there.link_rate);
    double ceiling = verdict->reach.links * verdict->reach.link_rate;
    if (xb_rate_known(ceiling))
        verdict->ceiling = ceiling;
    if (!xb_rate_known(attempt->bandwidth))
        return;
    verdict->bandwidth.measured = attempt->bandwidth;
    if (verdict->ceiling > 0)
        verdict->bandwidth.share = attempt->bandwidth / verdict->ceiling;
}

/* Judges a pair that is slower than when the node was accepted. What slows the host down slows
 * copies that may cross it. */
static void judge_since(const struct xb_link_report *node, const struct xb_link_pair *pair,
                        struct xb_pair_verdict *verdict)
{
    const size_t ends[] = {pair->from, pair->to};
    char text[128], cause[128];
    const char *other = NULL;
    for (size_t i = 0; i < 2 && other == NULL && verdict->reach.links == 0; i++)
        other = xb_link_cause(&node->devices[ends[i]], &node->verdicts[ends[i]].ceiling, cause);
    XB_SINCE(text, "", verdict->bandwidth.measured, verdict->was);
    if (other != NULL)
        FIND(UNKNOWN, other, "%s; in this test %s: could not be judged, run again on an idle node",
             text, cause);
    else
        FIND(WARNING, "XB-BASELINE-BW", XB_SINCE_ADVICE, text);
}

/* Fills in what is asked of the pair's bandwidth. */
static void set_limits(struct xb_pair_verdict *verdict)
{
    const struct xb_limit *minimum = &verdict->minimum;
    struct xb_link_direction *bandwidth = &verdict->bandwidth;
    bandwidth->source = minimum->is_set ? minimum->source : XB_LIMIT_DEFAULT;
    bandwidth->critical =
        minimum->is_set ? minimum->value : XB_PEER_CRITICAL_SHARE * verdict->ceiling;
    bandwidth->warning = minimum->is_set ? 0 : XB_PEER_WARN_SHARE * verdict->ceiling;
    bandwidth->own_limit = fmax(bandwidth->warning, bandwidth->critical);
    bandwidth->warning = fmax(bandwidth->warning, XB_BASELINE_SHARE * verdict->was);
}

/* Judges a pair by its minimum, or by what its links carry. The attempt that counts has the highest
 * bandwidth; wrong data counts in whichever attempt it was seen. */
static void judge_pair(const struct xb_link_report *node, const struct xb_link_pair *pair,
                       struct xb_pair_verdict *verdict)
{
    const struct xb_pair_attempt *wrong = NULL; /* the first whose data was */
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < XB_ATTEMPTS(pair); i++) {
        if (xb_rate_known(pair->attempts[i].bandwidth) && pair->attempts[i].bandwidth > most)
            most = pair->attempts[best = i].bandwidth;
        wrong = wrong == NULL && pair->attempts[i].data_wrong ? &pair->attempts[i] : wrong;
    }
    xb_pair_verdict_observe(pair, best, verdict);
    const struct xb_pair_attempt *attempt = XB_ATTEMPT_JUDGED(verdict, pair);
    const struct xb_limit *minimum = &verdict->minimum;
    const struct xb_link_direction *bandwidth = &verdict->bandwidth;
    set_limits(verdict);
    if (wrong != NULL)
        FIND(CRITICAL, "XB-DATA-WRONG",
             "a copy arrived wrong, take both devices out of service%s%s",
             wrong->failure[0] != '\0' ? ": " : "", wrong->failure);
    const bool no_access = xb_pair_has_no_access(attempt);
    const bool encrypted = node->devices[pair->from].setup.confidential == XB_SWITCH_ON ||
                           node->devices[pair->to].setup.confidential == XB_SWITCH_ON;
    if (attempt == NULL) {
        if (!pair->cut)
            FIND(UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
    } else if (bandwidth->measured > 0) {
        bool is_critical = bandwidth->measured < bandwidth->critical;
        double limit = is_critical ? bandwidth->critical : bandwidth->warning;
        if (bandwidth->measured < limit && bandwidth->measured >= bandwidth->own_limit)
            judge_since(node, pair, verdict);
        else if (bandwidth->measured < limit && minimum->is_set)
            FIND(CRITICAL, "XB-BW-PEER", "%.2f GB/s is below the limit of %.2f GB/s (%s)",
                 bandwidth->measured / 1e9, limit / 1e9, xb_limit_source_name(minimum->source));
        else if (bandwidth->measured < limit)
            FIND_AT(encrypted     ? XB_LEVEL_UNKNOWN
                    : is_critical ? XB_LEVEL_CRITICAL
                                  : XB_LEVEL_WARNING,
                    encrypted ? "XB-CONFIDENTIAL" : "XB-BW-PEER",
                    "%.2f GB/s is %.3f of what %u links of %.2f GB/s carry (%.2f GB/s), below "
                    "%.2f: %s",
                    bandwidth->measured / 1e9, bandwidth->share, verdict->reach.links,
                    verdict->reach.link_rate / 1e9, verdict->ceiling / 1e9,
                    limit / verdict->ceiling,
                    encrypted ? "confidential computing encrypts copies, which are slow by design: "
                                "set a limit for such GPUs (--min-peer, or --limits)"
                              : "look for other traffic and slow clocks, see nvidia-smi nvlink -s "
                                "and -e");
        /* What the links cannot carry was measured wrongly, though it looks good. */
        if (verdict->ceiling > 0 && bandwidth->share > XB_BANDWIDTH_ABOVE)
            FIND(UNKNOWN, "XB-BW-ABOVE",
                 "%.2f GB/s is more than %u links of %.2f GB/s carry (%.2f GB/s): the data did not "
                 "cross them, or they were read wrongly",
                 bandwidth->measured / 1e9, verdict->reach.links, verdict->reach.link_rate / 1e9,
                 verdict->ceiling / 1e9);
    } else if (no_access && minimum->is_set) {
        FIND(CRITICAL, "XB-BW-PEER",
             "there is no direct access between the devices, and the limit is %.2f GB/s (%s)",
             minimum->value / 1e9, xb_limit_source_name(minimum->source));
    } else if (!no_access && !attempt->data_wrong) {
        FIND(UNKNOWN, "XB-TEST-FAILED", "%s",
             attempt->failure[0] != '\0' ? attempt->failure : "no bandwidth was measured");
    }
}

/* Compares a pair with those that should be as fast: of the same kinds of devices, with as many
 * links of the same rate. Others may differ for good reasons, such as a PCIe switch. */
static void judge_among_others(const struct xb_link_report *node, size_t index)
{
    struct xb_pair_verdict *verdict = &node->pair_verdicts[index];
    double measured = verdict->bandwidth.measured;
    double rates[XB_RUN_PAIRS];
    for (size_t i = 0; i < node->pair_count && verdict->like_count < XB_RUN_PAIRS; i++) {
        const struct xb_pair_verdict *other = &node->pair_verdicts[i];
        const struct xb_link_pair *own = &node->pairs[index], *its = &node->pairs[i];
        const struct xb_link_device *devices = node->devices;
        if (other->bandwidth.measured > 0 && verdict->ceiling > 0 &&
            other->ceiling == verdict->ceiling && other->reach.links == verdict->reach.links &&
            strcmp(other->reach.link, verdict->reach.link) == 0 &&
            strcmp(devices[own->from].info.name, devices[its->from].info.name) == 0 &&
            strcmp(devices[own->to].info.name, devices[its->to].info.name) == 0)
            rates[verdict->like_count++] = other->bandwidth.measured;
    }
    if (verdict->like_count >= XB_PEERS_LIKE)
        verdict->like = xb_median_of(rates, verdict->like_count);
    if (verdict->minimum.is_set || measured <= 0 || measured >= XB_PEERS_LIKE_SHARE * verdict->like)
        return;
    FIND(WARNING, "XB-PEER-SLOW",
         "%.2f GB/s is %.3f of the median of %zu pairs like it (%.2f GB/s), below %.2f: see "
         "nvidia-smi nvlink -e of both devices",
         measured / 1e9, measured / verdict->like, verdict->like_count, verdict->like / 1e9,
         XB_PEERS_LIKE_SHARE);
}

/* With less than half of the links that there should be, a GPU is CRITICAL. */
#define LEVEL_OF(links, others) (2 * (links) < (others) ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING)
#define WHAT_TO_DO "see nvidia-smi nvlink -s and dmesg (Xid 74), reset the GPU or reseat it"

/* Judges a device that has fewer active NVLinks than another of its name. */
static void judge_nvlink_count(const struct xb_link_report *node, size_t index)
{
    const struct xb_link_device *devices = node->devices;
    const struct xb_device_health *own = xb_link_latest(&devices[index]);
    struct xb_verdict *verdict = &node->verdicts[index];
    size_t most = index; /* the device of the same name with the most active links */
    unsigned links = 0;
    for (size_t i = 0; own != NULL && i < node->device_count; i++)
        if (xb_link_latest(&devices[i]) != NULL &&
            strcmp(devices[i].info.name, devices[index].info.name) == 0 &&
            xb_link_latest(&devices[i])->nvlinks_active >
                xb_link_latest(&devices[most])->nvlinks_active)
            most = i;
    if (most == index)
        return;
    /* Behind a switch each link leads to every other device, so that those to several devices add
     * up to more than there are. */
    for (size_t i = 0; i < node->pair_count; i++)
        if (node->pairs[i].from == most && XB_ATTEMPTS(&node->pairs[i]) > 0)
            links += node->pairs[i].attempts[0].there.links;
    unsigned others = xb_link_latest(&devices[most])->nvlinks_active;
    if (own->nvlinks_active == 0 && links <= others)
        return;
    FIND_AT(LEVEL_OF(own->nvlinks_active, others), "XB-NVLINK-LINKS",
            "%u NVLinks are active, device %u of the same name has %u: " WHAT_TO_DO,
            own->nvlinks_active, devices[most].info.index, others);
}

/* Judges what a device is beside what it was when the node was accepted. */
static void judge_since_then(const struct xb_link_report *node, size_t index)
{
    const struct xb_link_device *device = &node->devices[index];
    const struct xb_device_health *own = xb_link_latest(device);
    struct xb_verdict *verdict = &node->verdicts[index];
    const struct xb_link_was *was = &verdict->limits.was;
    if (!was->known && node->baseline != NULL)
        FIND(UNKNOWN, "XB-BASELINE-GPU",
             "was not in the baseline, and is not compared: if it is to stay, measure a new one");
    if (was->uuid[0] != '\0' && device->info.uuid[0] != '\0' &&
        strcmp(was->uuid, device->info.uuid) != 0)
        FIND(WARNING, "XB-BASELINE-GPU",
             "%s is in the place of %s, which was here when the node was accepted: if it is to "
             "stay, measure a new baseline",
             device->info.uuid, was->uuid);
    if (own != NULL && own->nvlinks_active < was->nvlinks)
        FIND_AT(LEVEL_OF(own->nvlinks_active, was->nvlinks), "XB-BASELINE-NVLINK",
                "active NVLinks: %u, when the node was accepted %u: " WHAT_TO_DO,
                own->nvlinks_active, was->nvlinks);
}

/* ---- all of a node ---- */

void xb_verdict_of_node(struct xb_link_report *node)
{
    node->level = node->device_count > 0 ? XB_LEVEL_OK : XB_LEVEL_UNKNOWN;
    for (size_t i = 0; i < node->device_count; i++) {
        struct xb_link_limits limits = node->verdicts[i].limits;
        if (node->pair_count == 0) /* a limit of no pair bounds nothing that is accepted */
            limits.min_peer.is_set = false;
        xb_verdict_of_device(&node->devices[i], &limits, &node->verdicts[i]);
        judge_nvlink_count(node, i);
        judge_since_then(node, i);
        if (node->soak != NULL)
            xb_judge_soak(node->soak, i, &node->devices[i], &node->verdicts[i]);
    }
    for (size_t i = 0; i < node->pair_count; i++) {
        const struct xb_link_pair *pair = &node->pairs[i];
        /* A pair has a least bandwidth where both its devices have one: the lesser. One that is not
         * set is 0. */
        const struct xb_limit *from = &node->verdicts[pair->from].limits.min_peer;
        const struct xb_limit *to = &node->verdicts[pair->to].limits.min_peer;
        node->pair_verdicts[i] = (struct xb_pair_verdict){
            .minimum = to->value < from->value ? *to : *from,
            .was = xb_baseline_of_pair(node->baseline, &node->devices[pair->from].info,
                                       &node->devices[pair->to].info)};
        judge_pair(node, pair, &node->pair_verdicts[i]);
    }
    for (size_t i = 0; i < node->pair_count; i++) { /* each is known by now */
        const struct xb_link_pair *pair = &node->pairs[i];
        struct xb_findings *found = &node->pair_verdicts[i].found;
        judge_among_others(node, i);
        if (pair->cut && (XB_ATTEMPTS(pair) == 0 || found->level != XB_LEVEL_OK))
            xb_judge_cut(found, pair->interrupted, "the pair's", "a device");
    }
    for (size_t i = 0; i < xb_link_subjects(node); i++)
        node->level = xb_level_worse(node->level, xb_link_subject_at(node, i).found->level);
}
