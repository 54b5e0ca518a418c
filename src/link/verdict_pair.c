/* SPDX-License-Identifier: Apache-2.0 */
/* Whether copies between two devices are as fast as their links, and arrive as they were sent. */
#include "peers.h"

#include "verdict_internal.h"
#include "xferbench/statistics.h"

#include <math.h>
#include <string.h>

size_t xb_pair_attempts(const struct xb_link_pair *pair)
{
    return pair->attempt_count < XB_LINK_ATTEMPTS ? pair->attempt_count : XB_LINK_ATTEMPTS;
}

const struct xb_pair_attempt *xb_pair_verdict_attempt(const struct xb_pair_verdict *verdict,
                                                      const struct xb_link_pair *pair)
{
    return verdict->best < xb_pair_attempts(pair) ? &pair->attempts[verdict->best] : NULL;
}

bool xb_pair_is_judged(const struct xb_pair_verdict *verdict)
{
    return verdict->bandwidth.critical > 0;
}

/* ---- what was observed ---- */

static size_t find_best(const struct xb_link_pair *pair)
{
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < xb_pair_attempts(pair); i++) {
        double bandwidth = pair->attempts[i].bandwidth;
        if (xb_rate_known(bandwidth) && bandwidth > most) {
            most = bandwidth;
            best = i;
        }
    }
    return best;
}

void xb_pair_verdict_observe(const struct xb_link_pair *pair, size_t best,
                             struct xb_pair_verdict *verdict)
{
    verdict->best = best;
    const struct xb_pair_attempt *attempt = xb_pair_verdict_attempt(verdict, pair);
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

/* ---- bandwidth ---- */

static void judge_below(struct xb_pair_verdict *verdict)
{
    const struct xb_limit *minimum = &verdict->minimum;
    const struct xb_link_direction *bandwidth = &verdict->bandwidth;
    bool is_critical = bandwidth->measured < bandwidth->critical;
    double limit = is_critical ? bandwidth->critical : bandwidth->warning;
    if (bandwidth->measured >= limit)
        return;
    if (minimum->is_set)
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-BW-PEER",
                      "%.2f GB/s is below the limit of %.2f GB/s (%s)", bandwidth->measured / 1e9,
                      limit / 1e9, xb_limit_source_name(minimum->source));
    else
        xb_reason_add(
            &verdict->found, is_critical ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING, "XB-BW-PEER",
            "%.2f GB/s is %.3f of what %u links of %.2f GB/s carry (%.2f GB/s), below "
            "%.2f: look for other traffic and slow clocks, see nvidia-smi nvlink -s "
            "and -e",
            bandwidth->measured / 1e9, bandwidth->share, verdict->reach.links,
            verdict->reach.link_rate / 1e9, verdict->ceiling / 1e9, limit / verdict->ceiling);
}

static void judge_no_bandwidth(const struct xb_pair_attempt *attempt,
                               struct xb_pair_verdict *verdict)
{
    const struct xb_limit *minimum = &verdict->minimum;
    bool no_access = attempt->reach_known && !attempt->there.can_access;
    if (no_access && minimum->is_set)
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-BW-PEER",
                      "there is no direct access between the devices, and the limit is %.2f GB/s "
                      "(%s)",
                      minimum->value / 1e9, xb_limit_source_name(minimum->source));
    else if (!no_access && !attempt->data_wrong)
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "%s",
                      attempt->failure[0] != '\0' ? attempt->failure : "no bandwidth was measured");
}

/* ---- a pair ---- */

static void judge_data(const struct xb_link_pair *pair, struct xb_pair_verdict *verdict)
{
    for (size_t i = 0; i < xb_pair_attempts(pair); i++) {
        const struct xb_pair_attempt *attempt = &pair->attempts[i];
        if (!attempt->data_wrong)
            continue;
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DATA-WRONG",
                      "a copy arrived wrong, take both devices out of service%s%s",
                      attempt->failure[0] != '\0' ? ": " : "", attempt->failure);
        return;
    }
}

static void judge(const struct xb_link_pair *pair, struct xb_pair_verdict *verdict)
{
    const struct xb_pair_attempt *attempt = xb_pair_verdict_attempt(verdict, pair);
    const struct xb_limit *minimum = &verdict->minimum;
    struct xb_link_direction *bandwidth = &verdict->bandwidth;
    bandwidth->source = minimum->is_set ? minimum->source : XB_LIMIT_DEFAULT;
    bandwidth->critical =
        minimum->is_set ? minimum->value : XB_PEER_CRITICAL_SHARE * verdict->ceiling;
    bandwidth->warning = minimum->is_set ? 0 : XB_PEER_WARN_SHARE * verdict->ceiling;
    judge_data(pair, verdict);
    if (attempt == NULL) {
        if (!pair->cut)
            xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED",
                          "no transfer test was made");
    } else if (bandwidth->measured > 0) {
        judge_below(verdict);
        /* What the links cannot carry was measured wrongly, though it looks good. */
        if (verdict->ceiling > 0 && bandwidth->share > XB_BANDWIDTH_ABOVE)
            xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE",
                          "%.2f GB/s is more than %u links of %.2f GB/s carry (%.2f GB/s): the "
                          "data did not cross them, or they were read wrongly",
                          bandwidth->measured / 1e9, verdict->reach.links,
                          verdict->reach.link_rate / 1e9, verdict->ceiling / 1e9);
    } else {
        judge_no_bandwidth(attempt, verdict);
    }
}

/* ---- among others ---- */

/* Whether two pairs should be as fast as each other: they are of the same kinds of devices, with as
 * many links of the same rate. Where that is not known they may differ for good reasons, as pairs
 * do that are or are not behind one PCIe switch. */
static bool are_alike(const struct xb_link_device *devices, const struct xb_link_pair *a,
                      const struct xb_pair_verdict *of_a, const struct xb_link_pair *b,
                      const struct xb_pair_verdict *of_b)
{
    return of_a->ceiling > 0 && of_a->reach.links == of_b->reach.links &&
           of_a->ceiling == of_b->ceiling && strcmp(of_a->reach.link, of_b->reach.link) == 0 &&
           strcmp(devices[a->from].info.name, devices[b->from].info.name) == 0 &&
           strcmp(devices[a->to].info.name, devices[b->to].info.name) == 0;
}

static void judge_among_others(const struct xb_link_device *devices,
                               const struct xb_link_pair *pairs, size_t count, size_t index,
                               struct xb_pair_verdict *verdicts)
{
    struct xb_pair_verdict *verdict = &verdicts[index];
    double measured = verdict->bandwidth.measured;
    double rates[XB_LINK_PAIRS];
    for (size_t i = 0; i < count && verdict->like_count < XB_LINK_PAIRS; i++)
        if (verdicts[i].bandwidth.measured > 0 &&
            are_alike(devices, &pairs[index], verdict, &pairs[i], &verdicts[i]))
            rates[verdict->like_count++] = verdicts[i].bandwidth.measured;
    if (verdict->like_count >= XB_PEERS_LIKE)
        verdict->like = xb_median_of(rates, verdict->like_count);
    if (verdict->minimum.is_set || measured <= 0 || measured >= XB_PEERS_LIKE_SHARE * verdict->like)
        return;
    xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-PEER-SLOW",
                  "%.2f GB/s is %.3f of the median of %zu pairs like it (%.2f GB/s), below %.2f: "
                  "see nvidia-smi nvlink -e of both devices",
                  measured / 1e9, measured / verdict->like, verdict->like_count,
                  verdict->like / 1e9, XB_PEERS_LIKE_SHARE);
}

void xb_verdict_of_pairs(const struct xb_link_device *devices, const struct xb_link_pair *pairs,
                         size_t count, struct xb_pair_verdict *verdicts)
{
    for (size_t i = 0; i < count; i++) {
        verdicts[i] = (struct xb_pair_verdict){.minimum = verdicts[i].minimum};
        xb_pair_verdict_observe(&pairs[i], find_best(&pairs[i]), &verdicts[i]);
        judge(&pairs[i], &verdicts[i]);
    }
    for (size_t i = 0; i < count; i++) {
        judge_among_others(devices, pairs, count, i, verdicts);
        if (pairs[i].cut &&
            (xb_pair_attempts(&pairs[i]) == 0 || verdicts[i].found.level != XB_LEVEL_OK))
            xb_judge_cut(&verdicts[i].found, pairs[i].interrupted, "the pair's", "a device");
    }
}
