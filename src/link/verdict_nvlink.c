/* SPDX-License-Identifier: Apache-2.0 */
/* What the NVLinks did while they were tested. */
#include "nvlink.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether a link did what is judged. */
typedef bool did(const struct xb_nvlink_seen *link);

static bool fell(const struct xb_nvlink_seen *link)
{
    return link->fell;
}

static bool was_lost(const struct xb_nvlink_seen *link)
{
    return link->lost;
}

static bool was_trained_again(const struct xb_nvlink_seen *link)
{
    return link->rises[XB_NVLINK_RECOVERIES] > 0 || link->rises[XB_NVLINK_FAILED_RECOVERIES] > 0;
}

/* Where a link's rate is not known, it is not known how many replays are too many. */
static bool sent_too_much_again(const struct xb_nvlink_seen *link)
{
    return link->bits > 0 && link->rises[XB_NVLINK_REPLAYS] > xb_nvlink_replays_allowed(link->bits);
}

/* The links that did it. */
struct culprits {
    size_t count;
    char names[160]; /* "link 4", "links 4, 7" */
    uint64_t rises[XB_NVLINK_COUNTERS];
};

static struct culprits find_culprits(const struct xb_nvlink_facts *facts, did *did_it)
{
    struct culprits found = {.count = 0};
    char numbers[sizeof found.names - sizeof "links "] = "";
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        size_t length = strlen(numbers);
        if (!did_it(&facts->links[i]))
            continue;
        found.count++;
        snprintf(numbers + length, sizeof numbers - length, "%s%zu", length > 0 ? ", " : "", i);
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++)
            found.rises[j] += facts->links[i].rises[j];
    }
    snprintf(found.names, sizeof found.names, "link%s %s", found.count == 1 ? "" : "s", numbers);
    return found;
}

/* Replays beyond what the link may count; it has more. */
static uint64_t excess(const struct xb_nvlink_seen *link)
{
    return link->rises[XB_NVLINK_REPLAYS] - xb_nvlink_replays_allowed(link->bits);
}

/* Tells of the worst link its own count and bound, and names the others. */
static void judge_replays(const struct xb_nvlink_facts *facts, struct xb_findings *findings)
{
    struct culprits found = find_culprits(facts, sent_too_much_again);
    size_t worst = XB_NVLINKS;
    for (size_t i = 0; i < XB_NVLINKS; i++)
        if (sent_too_much_again(&facts->links[i]) &&
            (worst == XB_NVLINKS || excess(&facts->links[i]) > excess(&facts->links[worst])))
            worst = i;
    if (worst == XB_NVLINKS)
        return;
    const struct xb_nvlink_seen *link = &facts->links[worst];
    xb_reason_add(findings, XB_LEVEL_WARNING, "XB-NVLINK-REPLAY",
                  "NVLink: %" PRIu64
                  " replays on link %zu during the test, a healthy link has %" PRIu64
                  " at most: see nvidia-smi nvlink -e%s%s",
                  link->rises[XB_NVLINK_REPLAYS], worst, xb_nvlink_replays_allowed(link->bits),
                  found.count > 1 ? "; too many on " : "", found.count > 1 ? found.names : "");
}

void xb_judge_nvlinks(const struct xb_nvlink_facts *facts, struct xb_findings *findings)
{
    struct culprits found = find_culprits(facts, fell);
    if (found.count > 0)
        xb_reason_add(findings, XB_LEVEL_CRITICAL, "XB-NVLINK-DOWN",
                      "NVLink: %s went down during the test: see dmesg (Xid 74, 144 to 150)",
                      found.names);
    found = find_culprits(facts, was_lost);
    if (found.count > 0)
        xb_reason_add(findings, XB_LEVEL_UNKNOWN, "XB-NVLINK-UNREADABLE",
                      "NVLink: %s could no longer be read after the test: see nvidia-smi nvlink "
                      "-s and dmesg",
                      found.names);
    found = find_culprits(facts, was_trained_again);
    if (found.count > 0)
        xb_reason_add(
            findings, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS",
            "NVLink: %" PRIu64 " %s (%" PRIu64 " failed) of %s during the test: see "
            "nvidia-smi nvlink -e",
            found.rises[XB_NVLINK_RECOVERIES],
            xb_nvlink_counter_words(XB_NVLINK_RECOVERIES, found.rises[XB_NVLINK_RECOVERIES]),
            found.rises[XB_NVLINK_FAILED_RECOVERIES], found.names);
    judge_replays(facts, findings);
}
