/* SPDX-License-Identifier: Apache-2.0 */
#include "json_internal.h"

static void put_reach(struct xb_json *json, const char *key, const struct xb_pair_attempt *attempt,
                      const struct xb_peer_info *reach)
{
    if (!attempt->reach_known) {
        xb_json_put_null(json, key);
        return;
    }
    xb_json_open_object(json, key);
    xb_json_put_flag(json, "direct", reach->can_access);
    xb_json_put_optional(json, "link", reach->link);
    xb_json_put_known_whole(json, "links", reach->links > 0, reach->links);
    xb_link_json_put_positive(json, "link_rate_bytes_per_second", reach->link_rate);
    xb_json_put_known_whole(json, "hops", reach->hops > 0, reach->hops);
    xb_json_close(json);
}

static void put_pair_attempt(struct xb_json *json, const struct xb_pair_attempt *attempt)
{
    xb_json_open_object(json, NULL);
    xb_link_json_put_positive(json, "bytes_per_second", attempt->bandwidth);
    xb_json_put_flag(json, "data_wrong", attempt->data_wrong);
    xb_json_put_optional(json, "failure", attempt->failure);
    put_reach(json, "there", attempt, &attempt->there);
    put_reach(json, "back", attempt, &attempt->back);
    xb_json_close(json);
}

static void put_pair_verdict(struct xb_json *json, const struct xb_link_pair *pair,
                             const struct xb_pair_verdict *verdict)
{
    bool has_attempt = xb_pair_verdict_attempt(verdict, pair) != NULL;
    xb_json_open_object(json, "verdict");
    xb_link_json_put_findings(json, &verdict->found);
    xb_json_put_known_whole(json, "attempt", has_attempt, verdict->best);
    xb_link_json_put_positive(json, "ceiling_bytes_per_second", verdict->ceiling);
    xb_link_json_put_positive(json, "share", verdict->bandwidth.share);
    xb_json_put_whole(json, "like_pairs", verdict->like_count);
    xb_link_json_put_positive(json, "like_pairs_bytes_per_second", verdict->like);
    xb_link_json_put_bandwidth_limit(json, "limits", &verdict->bandwidth);
    xb_json_close(json);
}

static void put_pair(struct xb_json *json, const struct xb_link_report *report, size_t index)
{
    const struct xb_link_pair *pair = &report->pairs[index];
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "from", report->devices[pair->from].info.index);
    xb_json_put_whole(json, "to", report->devices[pair->to].info.index);
    xb_json_put_flag(json, "cut", pair->cut);
    put_pair_verdict(json, pair, &report->pair_verdicts[index]);
    xb_json_open_array(json, "attempts");
    for (size_t i = 0; i < xb_pair_attempts(pair); i++)
        put_pair_attempt(json, &pair->attempts[i]);
    xb_json_close(json);
    xb_json_close(json);
}

void xb_link_json_put_pairs(struct xb_json *json, const struct xb_link_report *report)
{
    xb_json_put_optional(json, "pairs_not_tested", report->no_pairs);
    xb_json_open_array(json, "pairs");
    for (size_t i = 0; i < report->pair_count; i++)
        put_pair(json, report, i);
    xb_json_close(json);
}
