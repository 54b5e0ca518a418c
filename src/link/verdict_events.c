/* SPDX-License-Identifier: Apache-2.0 */
/* What happened while data moved: incidents, errors that were counted, the device's health. */
#include "verdict_internal.h"

#include <inttypes.h>
#include <string.h>

bool xb_attempt_gone(const struct xb_link_attempt *attempt)
{
    return attempt->at_rest.present && (attempt->at_rest.dead || attempt->load.gone ||
                                        !attempt->after.present || attempt->after.dead);
}

/* Also between two attempts. */
static bool was_lost(const struct xb_link_attempt *attempts, size_t count)
{
    bool was_there = false;
    for (size_t i = 0; i < count; i++) {
        if (xb_attempt_gone(&attempts[i]) || (was_there && !attempts[i].at_rest.present))
            return true;
        was_there = was_there || attempts[i].at_rest.present;
    }
    return false;
}

static bool is_dead(const struct xb_link_attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((attempts[i].at_rest.present && attempts[i].at_rest.dead) ||
            (attempts[i].after.present && attempts[i].after.dead))
            return true;
    return false;
}

void xb_judge_incidents(const struct xb_link_attempt *attempts, size_t count,
                        struct xb_verdict *verdict)
{
    if (is_dead(attempts, count))
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                      "does not answer on the bus: see dmesg (Xid 79)");
    else if (was_lost(attempts, count))
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "fell off the bus: see dmesg");
    for (size_t i = 0; i < count; i++) {
        if (!attempts[i].data_wrong)
            continue;
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, "XB-DATA-WRONG",
                      "a copy arrived wrong, take the device out of service%s%s",
                      attempts[i].failure[0] != '\0' ? ": " : "", attempts[i].failure);
        return;
    }
}

/* ---- errors that were counted ---- */

/* Up to so many in one attempt are what a good link may have: PCI Express Base Specification 5.0,
 * 8.4 allows one wrong bit in 10^12, which is one in two seconds of a full Gen5 x16 link. */
#define USUAL_ERRORS 5u

/* 0 for a counter that went down, as one does that was reset. */
static uint64_t rise(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* The j-th end of a path, from the device up; NULL where there is none. */
static const struct xb_pcie_end *end_of(const struct xb_pcie_path *path, size_t j)
{
    const struct xb_pcie_hop *hop = &path->hops[j / 2];
    if (!path->present || j / 2 >= path->count || j / 2 >= XB_PCIE_HOPS)
        return NULL;
    if (j % 2 == 0)
        return &hop->lower;
    return hop->has_upper ? &hop->upper : NULL;
}

static const struct xb_pcie_end *find_end(const struct xb_pcie_path *path, const char *bdf)
{
    for (size_t j = 0; j < (size_t)2 * XB_PCIE_HOPS; j++) {
        const struct xb_pcie_end *end = end_of(path, j);
        if (end != NULL && strcmp(end->bdf, bdf) == 0)
            return end;
    }
    return NULL;
}

/* Sums over the attempts, not from the first reading to the last: what lies between two attempts is
 * a link that changes its speed, and no transfer of ours. Tells also the most of one attempt. */
static struct xb_pcie_aer sum_errors(const struct xb_link_attempt *attempts, size_t count,
                                     const char *bdf, uint64_t *most_correctable)
{
    struct xb_pcie_aer sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct xb_pcie_end *before = find_end(&attempts[i].at_rest, bdf);
        const struct xb_pcie_end *after = find_end(&attempts[i].after, bdf);
        if (before == NULL || after == NULL || !before->aer.known || !after->aer.known)
            continue;
        uint64_t correctable = rise(before->aer.correctable, after->aer.correctable);
        sum.correctable += correctable;
        *most_correctable = correctable > *most_correctable ? correctable : *most_correctable;
        sum.nonfatal += rise(before->aer.nonfatal, after->aer.nonfatal);
        sum.fatal += rise(before->aer.fatal, after->aer.fatal);
    }
    return sum;
}

static void judge_errors_of(const struct xb_link_attempt *attempts, size_t count, const char *bdf,
                            struct xb_verdict *verdict)
{
    uint64_t most_correctable = 0;
    struct xb_pcie_aer sum = sum_errors(attempts, count, bdf, &most_correctable);
    if (sum.nonfatal + sum.fatal > 0)
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE",
                      "%" PRIu64 " uncorrectable errors (%" PRIu64 " of them fatal) at %s while "
                      "data moved: reseat the card, check riser and cables; dmesg has their kinds",
                      sum.nonfatal + sum.fatal, sum.fatal, bdf);
    if (most_correctable > USUAL_ERRORS)
        xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-AER-CORRECTABLE",
                      "%" PRIu64 " correctable errors at %s while data moved: reseat the card, "
                      "check riser and cables",
                      sum.correctable, bdf);
}

/* Whether an attempt before this one has an end of that name: it is summed up there. */
static bool seen_before(const struct xb_link_attempt *attempts, size_t i, const char *bdf)
{
    while (i-- > 0)
        if (find_end(&attempts[i].at_rest, bdf) != NULL)
            return true;
    return false;
}

static void judge_errors(const struct xb_link_attempt *attempts, size_t count,
                         struct xb_verdict *verdict)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < (size_t)2 * XB_PCIE_HOPS; j++) {
            const struct xb_pcie_end *end = end_of(&attempts[i].at_rest, j);
            if (end != NULL && !seen_before(attempts, i, end->bdf))
                judge_errors_of(attempts, count, end->bdf, verdict);
        }
    }
}

void xb_judge_counters(const struct xb_link_attempt *attempts, size_t count,
                       struct xb_verdict *verdict)
{
    uint64_t replays = 0;
    uint64_t most_replays = 0;
    uint64_t nvlink_errors = 0;
    judge_errors(attempts, count, verdict);
    for (size_t i = 0; i < count; i++) {
        const struct xb_device_health *before = &attempts[i].health_before;
        const struct xb_device_health *after = &attempts[i].health_after;
        if (before->replays_known && after->replays_known) {
            uint64_t again = rise(before->replays, after->replays);
            replays += again;
            most_replays = again > most_replays ? again : most_replays;
        }
        if (before->nvlink_errors_known && after->nvlink_errors_known)
            nvlink_errors += rise(before->nvlink_errors, after->nvlink_errors);
    }
    if (most_replays > USUAL_ERRORS)
        xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-PCIE-REPLAY",
                      "%" PRIu64 " packets were sent again while data moved: reseat the card, "
                      "check riser and cables",
                      replays);
    if (nvlink_errors > 0)
        xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS",
                      "%" PRIu64 " NVLink errors were counted during the test: see "
                      "nvidia-smi nvlink -e",
                      nvlink_errors);
}

/* ---- health ---- */

void xb_judge_health(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    const struct xb_device_health *slowed =
        after->throttle_known && after->slowed_by_hardware ? after : before;
    if (slowed->throttle_known && slowed->slowed_by_hardware)
        xb_reason_add(verdict, XB_LEVEL_WARNING, "XB-THROTTLE",
                      "the hardware slows the device down (%s): check cooling and power",
                      slowed->throttle[0] != '\0' ? slowed->throttle : "no reason is told");
}
