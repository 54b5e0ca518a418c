/* SPDX-License-Identifier: Apache-2.0 */
/* What minutes of load and rest come to: reading by reading, and in the verdict. */
#include "verdict_soak.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void xb_soak_note(struct xb_soak_range *range, double value, unsigned where)
{
    if (range->count == 0)
        *range = (struct xb_soak_range){.least = INFINITY, .most = value, .first = value};
    if (value < range->least)
        range->least_in = where;
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
    range->mean += (value - range->mean) / ++range->count;
    range->last = value;
}

/* The place of a hop in the list, which it gets when it is first seen; NULL where there is none. */
static struct xb_soak_hop *hop_of(struct xb_soak_device *device, const struct xb_pcie_hop *hop)
{
    size_t i = 0;
    while (i < device->hop_count && strcmp(device->hops[i].lower, hop->lower.bdf) != 0)
        i++;
    if (i == XB_PCIE_HOPS || hop->on_package)
        return NULL;
    if (i == device->hop_count)
        memcpy(device->hops[device->hop_count++].lower, hop->lower.bdf, sizeof hop->lower.bdf);
    return &device->hops[i];
}

bool xb_soak_add_links(struct xb_soak_device *device, const struct xb_pcie_path *path,
                       const struct xb_pcie_load *load, unsigned minute)
{
    bool fell = false;
    for (size_t i = 0; i < load->count && i < xb_pcie_path_hops(path); i++) {
        const struct xb_lanes now = {load->hops[i].speed_gts, load->hops[i].width};
        struct xb_soak_hop *hop = hop_of(device, &path->hops[i]);
        if (hop == NULL || load->hops[i].readings == 0)
            continue;
        const bool is_reduced = hop->readings > 0 && xb_lanes_are_less(now, hop->most);
        fell = fell || is_reduced;
        hop->reduced += is_reduced;
        if (hop->readings++ == 0 || xb_lanes_are_less(now, hop->least)) {
            hop->least = now;
            hop->least_in = minute;
        }
        hop->most.speed_gts = fmax(hop->most.speed_gts, now.speed_gts);
        hop->most.width = now.width > hop->most.width ? now.width : hop->most.width;
    }
    return fell;
}

void xb_soak_add_attempt(struct xb_soak_device *device, const struct xb_link_attempt *attempt,
                         unsigned minute)
{
    xb_link_facts_add(attempt, &device->facts);
    (void)xb_soak_add_links(device, &attempt->at_rest, &attempt->load, minute);
    if (xb_attempt_gone(attempt) && !device->gone)
        device->gone_in = minute;
    device->gone = device->gone || xb_attempt_gone(attempt);
    /* What failed in a test, another attempt of it may have put right. */
    if (attempt->data_wrong
            ? device->wrong == 0
            : minute > 0 && attempt->failure[0] != '\0' && device->failure[0] == '\0') {
        snprintf(device->failure, sizeof device->failure, "%.*s", (int)sizeof device->failure - 1,
                 attempt->failure);
        device->failed_in = minute;
    }
    device->wrong += attempt->data_wrong;
}

void xb_soak_add_look(struct xb_soak_device *device, const struct xb_device_health *health,
                      unsigned minute)
{
    if (health->temperature_known)
        xb_soak_note(&device->ranges[XB_SOAK_TEMPERATURE], health->temperature_c, minute);
    if (health->power_known)
        xb_soak_note(&device->ranges[XB_SOAK_POWER], health->power_w, minute);
    if (health->clocks_known) {
        xb_soak_note(&device->ranges[XB_SOAK_SM_CLOCK], health->sm_clock_mhz, minute);
        xb_soak_note(&device->ranges[XB_SOAK_MEMORY_CLOCK], health->memory_clock_mhz, minute);
    }
    if (!health->throttle_known)
        return;
    device->looks++;
    if (health->slowed_by_hardware && device->slowed++ == 0)
        device->slowed_in = minute;
    for (const char *words = health->throttle; *words != '\0';) { /* "power cap, sync boost" */
        const size_t length = strcspn(words, ",");
        struct xb_soak_reason *reason = device->reasons;
        const struct xb_soak_reason *end = reason + device->reason_count;
        while (reason < end &&
               (strncmp(reason->words, words, length) != 0 || reason->words[length] != '\0'))
            reason++;
        /* Between two copies a GPU is idle for a moment: nothing slows it. */
        if (reason < device->reasons + XB_SOAK_REASONS && length < sizeof reason->words &&
            strncmp(words, "idle", length) != 0) {
            device->reason_count += reason == end;
            memcpy(reason->words, words, length);
            reason->looks++;
        }
        words += length + strspn(words + length, ", ");
    }
}

void xb_soak_add_rest(struct xb_soak_device *device, const struct xb_link_attempt *rest)
{
    const struct xb_device_health *from = &rest->health_before, *to = &rest->health_after;
    const uint64_t was = from->counts[XB_PCIE_RETRAINS], now = to->counts[XB_PCIE_RETRAINS];
    struct xb_link_facts facts = {.hop_count = 0};
    uint64_t errors = 0;
    xb_link_facts_add(rest, &facts);
    (void)xb_link_errors(&facts, &errors);
    device->rests++;
    device->rest_seconds += rest->health_seconds;
    device->rest_errors += errors;
    if (from->counted[XB_PCIE_RETRAINS] && to->counted[XB_PCIE_RETRAINS]) {
        device->rest_counted = true;
        device->restless += now > was;
        device->rest_retrains += now > was ? now - was : 0;
    }
    for (size_t i = 0; i < xb_pcie_path_hops(&rest->after); i++) {
        const struct xb_pcie_link *link = &rest->after.hops[i].lower.link;
        const struct xb_pcie_link *before = &rest->at_rest.hops[i].lower.link;
        const struct xb_lanes lanes = {link->speed_gts, link->width};
        struct xb_soak_hop *hop = hop_of(device, &rest->after.hops[i]);
        if (hop == NULL || link->width == 0)
            continue;
        hop->rest_changes += before->speed_gts != link->speed_gts || before->width != link->width;
        if (hop->rest_least.width == 0 || xb_lanes_are_less(lanes, hop->rest_least))
            hop->rest_least = lanes;
    }
}

/* ---- the verdict ---- */

/* "minute 3 of the soak". */
static const char *when(unsigned minute, char text[48])
{
    snprintf(text, 48, minute > 0 ? "minute %u of the soak" : "the test before the soak", minute);
    return text;
}
#define WHEN(minute) when((minute), (char[48]){0})

void xb_judge_soak(const struct xb_link_soak *soak, size_t index,
                   const struct xb_link_device *device, struct xb_verdict *verdict)
{
    if (index >= soak->device_count)
        return;
    const struct xb_soak_device *own = &soak->devices[index];
    struct xb_verdict counted = {.facts = own->facts};
    if (own->gone)
        FIND(CRITICAL, "XB-DEVICE-GONE", "fell off the bus in %s: see dmesg (Xid 79)",
             WHEN(own->gone_in));
    if (own->wrong > 0)
        FIND(CRITICAL, "XB-DATA-WRONG",
             "a copy arrived wrong in %s, take the device out of service: %.170s",
             WHEN(own->failed_in), own->failure);
    else if (own->failure[0] != '\0')
        FIND(UNKNOWN, "XB-TEST-FAILED", "in %s: %.180s", WHEN(own->failed_in), own->failure);
    else if (soak->ended && own->verified == 0)
        FIND(UNKNOWN, "XB-TEST-FAILED",
             "the soak copied nothing: a turn of load is too short here for a copy of --size");
    XB_EACH (hop, own->hops, own->hop_count)
        if (xb_lanes_are_less(hop->least, hop->most))
            FIND(WARNING, "XB-LINK-UNSTABLE",
                 "the link at %s ran at %s under load in %s (less in %u of %u readings), at other "
                 "times at %s: reseat the card, check the riser and power management (ASPM)",
                 hop->lower, XB_LANES_TEXT(hop->least.speed_gts, hop->least.width),
                 WHEN(hop->least_in), hop->reduced, hop->readings,
                 XB_LANES_TEXT(hop->most.speed_gts, hop->most.width));
    /* What was counted under load is judged by the same rules as in a test. */
    xb_judge_errors(device, own->load_seconds, &counted);
    xb_judge_nvlinks(&counted);
    XB_EACH (reason, counted.found.reasons, counted.found.reason_count)
        FIND_AT(reason->level, reason->code, "in the soak: %.230s", reason->text);
    if (own->slowed > 0)
        FIND(WARNING, "XB-THROTTLE",
             "the hardware slowed the GPU down in %u of %u readings under load (%.0f %%), first in "
             "%s: check cooling and power",
             own->slowed, own->looks, 100.0 * own->slowed / own->looks, WHEN(own->slowed_in));
    if (xb_is_hopper(device) && 2 * own->restless > own->rests &&
        own->rest_retrains > (uint64_t)XB_SOAK_RETRAINS_A_REST * own->rests)
        FIND(WARNING, "XB-LINK-RESTLESS",
             "the link was trained %" PRIu64 " times in %.0f s in which nothing was copied: check "
             "power management (ASPM) and the riser, reseat the card",
             own->rest_retrains, own->rest_seconds);
    if (!soak->ended)
        FIND_AT(XB_LEVEL_UNKNOWN, soak->interrupted ? "XB-INTERRUPTED" : "XB-DEADLINE",
                "%s ended the soak after %.0f of %.0f s%s",
                soak->interrupted ? "a signal" : "the deadline", soak->took, soak->asked,
                soak->interrupted ? "" : ": check whether a GPU hangs");
}
