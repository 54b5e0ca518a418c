/* SPDX-License-Identifier: Apache-2.0 */
#include "nvlink.h"

#include <math.h>

/* ---- counters ---- */

static const struct {
    const char *key, *one, *many;
} names[XB_NVLINK_COUNTERS] = {
    [XB_NVLINK_REPLAYS] = {"replays", "replay", "replays"},
    [XB_NVLINK_RECOVERIES] = {"recoveries", "recovery", "recoveries"},
    [XB_NVLINK_FAILED_RECOVERIES] = {"failed_recoveries", "failed recovery", "failed recoveries"},
    [XB_NVLINK_CRC_ERRORS] = {"crc_errors", "CRC error", "CRC errors"},
};

const char *xb_nvlink_counter_key(enum xb_nvlink_counter counter)
{
    return names[counter].key;
}

const char *xb_nvlink_counter_words(enum xb_nvlink_counter counter, uint64_t count)
{
    return count == 1 ? names[counter].one : names[counter].many;
}

/* ---- between two readings ---- */

static void add_link(struct xb_nvlink_facts *facts, size_t number, const struct xb_nvlink *before,
                     const struct xb_nvlink *after, bool others_known, double seconds)
{
    struct xb_nvlink_seen *seen = &facts->links[number];
    seen->lost = seen->lost || (before->active && !after->known && others_known);
    if (!before->known || !after->known)
        return;
    seen->fell = seen->fell || (before->active && !after->active);
    seen->bits += 2 * 8 * before->rate * seconds;
    for (size_t i = 0; i < XB_NVLINK_COUNTERS; i++) {
        if (!before->counted[i] || !after->counted[i])
            continue;
        uint64_t rise =
            after->counts[i] > before->counts[i] ? after->counts[i] - before->counts[i] : 0;
        seen->counted[i] = facts->counted[i] = true;
        seen->rises[i] += rise;
        facts->rises[i] += rise;
    }
}

void xb_nvlink_facts_add(struct xb_nvlink_facts *facts, const struct xb_device_health *before,
                         const struct xb_device_health *after, double seconds)
{
    for (size_t i = 0; i < XB_NVLINKS; i++)
        add_link(facts, i, &before->nvlinks[i], &after->nvlinks[i], after->nvlinks_known, seconds);
}

bool xb_nvlink_facts_known(const struct xb_nvlink_facts *facts)
{
    bool known = false;
    for (size_t i = 0; i < XB_NVLINK_COUNTERS; i++)
        known = known || facts->counted[i];
    return known;
}

/* ---- how many a healthy link may count ---- */

uint64_t xb_nvlink_replays_allowed(double bits)
{
    double mean = bits * XB_NVLINK_BIT_ERROR_RATE;
    double count = ceil(mean);
    if (!(mean > 0))
        return 0;
    if (mean > 1e9) /* 125 million terabytes: no test moves that much, and no count is told of it */
        return UINT64_MAX;
    while (count - mean + count * log(mean / count) > log(XB_NVLINK_FALSE_ALARM))
        count++;
    return (uint64_t)count - 1;
}
