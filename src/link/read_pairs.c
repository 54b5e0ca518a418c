/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of devices, read back. */
#include "read.h"
#include "read_internal.h"

#include <stdlib.h>

/* ---- an attempt ---- */

static void read_reach(struct xb_json_reader *r, const cJSON *object, const char *key,
                       struct xb_pair_attempt *attempt, struct xb_peer_info *reach)
{
    const cJSON *item = xb_link_get_known_object(r, object, key);
    attempt->reach_known = attempt->reach_known && item != NULL;
    if (item == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, key);
    reach->can_access = xb_json_get_flag(r, item, "direct");
    xb_link_copy_text(xb_link_get_known_text(r, item, "link"), reach->link, sizeof reach->link);
    reach->links = xb_link_get_known_whole(r, item, "links");
    reach->link_rate = xb_link_get_positive(r, item, "link_rate_bytes_per_second");
    reach->hops = xb_link_get_known_whole(r, item, "hops");
    xb_place_leave(&r->place, outer);
}

static void read_attempt(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct xb_pair_attempt *attempt = to;
    attempt->bandwidth = xb_link_get_positive(r, object, "bytes_per_second");
    attempt->data_wrong = xb_json_get_flag(r, object, "data_wrong");
    xb_link_copy_text(xb_link_get_known_text(r, object, "failure"), attempt->failure,
                      sizeof attempt->failure);
    attempt->reach_known = true;
    read_reach(r, object, "there", attempt, &attempt->there);
    read_reach(r, object, "back", attempt, &attempt->back);
}

/* ---- a pair ---- */

static void read_verdict(struct xb_json_reader *r, const cJSON *object, struct xb_arena **texts,
                         const struct xb_link_pair *pair, struct xb_pair_verdict *verdict)
{
    const cJSON *item = xb_json_get_object(r, object, "verdict");
    size_t outer = xb_place_enter(&r->place, "verdict");
    xb_link_read_findings(r, item, texts, &verdict->found);
    xb_pair_verdict_observe(pair, xb_link_get_index_of(r, item, "attempt", pair->attempt_count),
                            verdict);
    verdict->ceiling = xb_link_get_positive(r, item, "ceiling_bytes_per_second");
    verdict->bandwidth.share = xb_link_get_positive(r, item, "share");
    verdict->like_count = xb_link_get_whole(r, item, "like_pairs");
    verdict->like = xb_link_get_positive(r, item, "like_pairs_bytes_per_second");
    xb_link_read_bandwidth_limit(r, item, "limits", &verdict->bandwidth);
    xb_place_leave(&r->place, outer);
}

/* The place of the device that has that index. */
static size_t get_device(struct xb_json_reader *r, const cJSON *object, const char *key,
                         const struct xb_link_report *report)
{
    unsigned index = xb_link_get_whole(r, object, key);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].info.index == index)
            return i;
    xb_json_refuse(r, key, "must be the index of one of the devices");
    return 0;
}

static void read_pair(struct xb_json_reader *r, const cJSON *object, struct xb_link_file *file,
                      size_t index)
{
    struct xb_link_pair *pair = &file->pairs[index];
    pair->from = get_device(r, object, "from", &file->report);
    pair->to = get_device(r, object, "to", &file->report);
    pair->cut = xb_json_get_flag(r, object, "cut");
    pair->attempt_count = xb_link_read_array(r, object, "attempts", read_attempt, pair->attempts,
                                             sizeof *pair->attempts, XB_LINK_ATTEMPTS);
    read_verdict(r, object, &file->texts, pair, &file->pair_verdicts[index]);
}

void xb_link_read_pairs(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    const cJSON *array = xb_json_get_array(r, root, "pairs");
    size_t count = (size_t)cJSON_GetArraySize(array);
    if (count > XB_LINK_PAIRS) {
        xb_json_refuse(r, "pairs", "has more than %zu items", XB_LINK_PAIRS);
        return;
    }
    file->pairs = calloc(count + 1, sizeof *file->pairs);
    file->pair_verdicts = calloc(count + 1, sizeof *file->pair_verdicts);
    if (file->pairs == NULL || file->pair_verdicts == NULL) {
        xb_link_read_fail_memory(r);
        return;
    }
    const cJSON *item = count > 0 ? array->child : NULL;
    size_t outer = xb_place_enter(&r->place, "pairs");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->place, i);
        read_pair(r, item, file, i);
        xb_place_leave(&r->place, inner);
    }
    xb_place_leave(&r->place, outer);
    file->report.pairs = file->pairs;
    file->report.pair_verdicts = file->pair_verdicts;
    file->report.pair_count = count;
}
