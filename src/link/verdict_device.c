/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_internal.h"

#include <math.h>
#include <string.h>

/* ---- why there is nothing to judge ---- */

/* Why no copy of the device crosses a PCIe link; NULL if copies do, as far as is known. `attempt`
 * is NULL where there is none. */
static const char *no_link(const struct xb_device_info *info, const struct xb_link_attempt *attempt)
{
    if (info->shares_host_memory)
        return "its memory is the host's: nothing crosses a link";
    if (info->coherent_with_host)
        return "coherent with the host (NVLink-C2C): copies do not cross a PCIe link";
    if (info->pci_bdf[0] == '\0' || (attempt != NULL && !attempt->at_rest.present))
        return "not a PCI device, or sysfs does not show it";
    return NULL;
}

/* ---- one attempt ---- */

/* Judges what only this attempt shows. verdict->facts has its hops. */
static void judge_attempt(const struct xb_link_device *device, size_t index,
                          const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_link_attempt *attempt = &device->attempts[index];
    const char *none = no_link(&device->info, attempt);
    if (none != NULL)
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "%s", none);
    else
        xb_judge_link(attempt, limits, verdict);
    xb_judge_bandwidth(attempt, limits, verdict);
    /* Wrong data has its own reason, which includes the text. */
    if (!attempt->data_wrong && attempt->at_rest.present &&
        (!xb_rate_known(attempt->h2d) || !xb_rate_known(attempt->d2h) ||
         attempt->failure[0] != '\0'))
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "%s",
                      attempt->failure[0] != '\0' ? attempt->failure : "no bandwidth was measured");
    xb_judge_health(attempt, verdict);
}

/* How bad an attempt is in comparison with others: the least is the best. What counts in whichever
 * attempt it was seen does not matter for that; but bandwidth beside wrong data or of a device that
 * vanished tells nothing. */
static int badness(const struct xb_link_device *device, size_t index,
                   const struct xb_link_limits *limits)
{
    const struct xb_link_attempt *attempt = &device->attempts[index];
    struct xb_verdict verdict = {0};
    if (attempt->data_wrong || xb_attempt_gone(attempt))
        return (int)XB_LEVEL_UNKNOWN + 1;
    xb_link_facts_find_hops(attempt, &verdict.facts);
    judge_attempt(device, index, limits, &verdict);
    /* In their numbers' order UNKNOWN is the last. Why an attempt is slow does not matter here. */
    if (verdict.found.level == XB_LEVEL_OK && (verdict.h2d.is_slow || verdict.d2h.is_slow))
        return (int)XB_LEVEL_WARNING;
    return (int)verdict.found.level;
}

static double total(const struct xb_link_attempt *attempt)
{
    return (xb_rate_known(attempt->h2d) ? attempt->h2d : 0.0) +
           (xb_rate_known(attempt->d2h) ? attempt->d2h : 0.0);
}

/* The first of several that are as good. Sets *least to how bad it is. */
static size_t find_best(const struct xb_link_device *device, const struct xb_link_limits *limits,
                        int *least)
{
    size_t best = 0;
    *least = badness(device, 0, limits);
    for (size_t i = 1; i < xb_link_attempts(device); i++) {
        int bad = badness(device, i, limits);
        if (bad < *least ||
            (bad == *least && total(&device->attempts[i]) > total(&device->attempts[best]))) {
            *least = bad;
            best = i;
        }
    }
    return best;
}

/* ---- a device ---- */

void xb_judge_cut(struct xb_findings *found, bool interrupted, const char *whose, const char *who)
{
    if (interrupted)
        xb_reason_add(found, XB_LEVEL_UNKNOWN, "XB-INTERRUPTED", "a signal ended the test");
    else
        xb_reason_add(found, XB_LEVEL_UNKNOWN, "XB-DEADLINE",
                      "the deadline came before %s test ended: give it more time (--deadline), or "
                      "check whether %s hangs",
                      whose, who);
}

void xb_verdict_of_device(const struct xb_link_device *device, const struct xb_link_limits *limits,
                          struct xb_verdict *verdict)
{
    const char *none = no_link(&device->info, NULL);
    int least = XB_LEVEL_UNKNOWN;
    memset(verdict, 0, sizeof *verdict);
    verdict->limits = *limits;
    xb_verdict_set_limits(limits, verdict); /* They hold also for a device without an attempt. */
    if (device->missing) {
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DEVICE-MISSING",
                      "there are fewer devices than --count asks for: see lspci and dmesg");
        return;
    }
    if (xb_link_attempts(device) > 0) {
        verdict->best = find_best(device, limits, &least);
        xb_link_facts_find(device, verdict->best, &verdict->facts);
        /* First, so that incidents come first among the reasons of their level. */
        xb_judge_incidents(device, verdict);
        judge_attempt(device, verdict->best, limits, verdict);
        xb_judge_stability(device, limits, verdict);
        xb_judge_counters(device, verdict);
        xb_judge_nvlinks(&verdict->facts.nvlinks, &verdict->found);
        xb_judge_loss(device, limits, verdict);
    } else if (none != NULL) {
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "%s", none);
    } else if (!device->cut) {
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED",
                      "no transfer test was made");
    }
    if (device->cut && least != XB_LEVEL_OK)
        xb_judge_cut(&verdict->found, device->interrupted, "the device's", "it");
}

/* ---- what a verdict is about ---- */

const struct xb_link_attempt *xb_verdict_attempt(const struct xb_verdict *verdict,
                                                 const struct xb_link_device *device)
{
    return verdict->best < xb_link_attempts(device) ? &device->attempts[verdict->best] : NULL;
}

struct xb_lanes xb_verdict_lanes(const struct xb_verdict *verdict)
{
    if (verdict->bottleneck >= verdict->facts.hop_count)
        return (struct xb_lanes){0};
    return verdict->facts.hops[verdict->bottleneck].load;
}

bool xb_link_under_load(const struct xb_link_device *device, unsigned *generation, unsigned *width)
{
    double speed = 0.0;
    *width = 0;
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, xb_attempt_slot(attempt));
        speed = fmax(speed, seen.speed_gts);
        *width = seen.width > *width ? seen.width : *width;
    }
    *generation = xb_pcie_generation(speed);
    return *width > 0;
}
