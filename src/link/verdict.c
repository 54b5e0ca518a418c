/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/verdict.h"

#include "verdict_internal.h"

#include <math.h>
#include <string.h>

/* ---- why there is nothing to judge ---- */

/* Why no copy of the device crosses a PCIe link; NULL if copies do, as far as is known. */
static const char *no_link(const struct xb_device_info *info, const struct xb_link_attempt *attempt)
{
    if (info != NULL && info->shares_host_memory)
        return "its memory is the host's: nothing crosses a link";
    if (info != NULL && info->coherent_with_host)
        return "coherent with the host (NVLink-C2C): copies do not cross a PCIe link";
    if ((info != NULL && info->pci_bdf[0] == '\0') ||
        (attempt != NULL && !attempt->at_rest.present))
        return "not a PCI device, or sysfs does not show it";
    return NULL;
}

static bool is_measured(double bandwidth)
{
    return isfinite(bandwidth) && bandwidth > 0.0;
}

static bool has_failed(const struct xb_link_attempt *attempt)
{
    return !is_measured(attempt->h2d) || !is_measured(attempt->d2h) || attempt->failure[0] != '\0';
}

static void judge_failure(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    /* Data that was wrong has a reason of its own, which brings the text along. */
    if (!attempt->data_wrong && attempt->at_rest.present && has_failed(attempt))
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "%s",
                      attempt->failure[0] != '\0' ? attempt->failure : "no bandwidth was measured");
}

/* ---- one attempt, several ---- */

/* The state of things in one attempt, without what stays. */
static void judge_state(const struct xb_device_info *info, const struct xb_link_attempt *attempt,
                        const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const char *none = no_link(info, attempt);
    if (none != NULL)
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "%s", none);
    else
        xb_judge_link(attempt, limits, verdict);
    xb_judge_bandwidth(attempt, limits, verdict);
    judge_failure(attempt, verdict);
    xb_judge_health(attempt, verdict);
}

/* The state that attempt `best` found, and what stays of all of them. */
static void judge(const struct xb_device_info *info, const struct xb_link_attempt *attempts,
                  size_t count, size_t best, const struct xb_link_limits *limits,
                  struct xb_verdict *verdict)
{
    memset(verdict, 0, sizeof *verdict);
    xb_judge_incidents(attempts, count, verdict); /* first among those of one level */
    judge_state(info, &attempts[best], limits, verdict);
    xb_judge_stability(attempts, count, best, limits, verdict);
    xb_judge_counters(attempts, count, verdict);
}

void xb_verdict_of_attempt(const struct xb_link_attempt *attempt,
                           const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    judge(NULL, attempt, 1, 0, limits, verdict);
}

/* ---- a device ---- */

/* How bad an attempt is in comparison with others: the least is the best. What stays does not
 * matter, because it counts whichever attempt is taken; but bandwidth beside wrong data or of a
 * device that vanished tells nothing. */
static int badness(const struct xb_link_device *device, const struct xb_link_attempt *attempt,
                   const struct xb_link_limits *limits)
{
    struct xb_verdict state = {0};
    if (attempt->data_wrong || xb_attempt_gone(attempt))
        return (int)XB_LEVEL_UNKNOWN + 1;
    judge_state(&device->info, attempt, limits, &state);
    return (int)state.level; /* in their numbers' order UNKNOWN is the last */
}

static double total(const struct xb_link_attempt *attempt)
{
    return (is_measured(attempt->h2d) ? attempt->h2d : 0.0) +
           (is_measured(attempt->d2h) ? attempt->d2h : 0.0);
}

static size_t attempts_of(const struct xb_link_device *device)
{
    return device->attempt_count < XB_LINK_ATTEMPTS ? device->attempt_count : XB_LINK_ATTEMPTS;
}

/* Of several that are as good the first. */
static size_t find_best(const struct xb_link_device *device, const struct xb_link_limits *limits,
                        int *least)
{
    size_t best = 0;
    *least = badness(device, &device->attempts[0], limits);
    for (size_t i = 1; i < attempts_of(device); i++) {
        int bad = badness(device, &device->attempts[i], limits);
        if (bad < *least ||
            (bad == *least && total(&device->attempts[i]) > total(&device->attempts[best]))) {
            *least = bad;
            best = i;
        }
    }
    return best;
}

static void judge_nothing(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    const char *none = no_link(&device->info, NULL);
    memset(verdict, 0, sizeof *verdict);
    if (none != NULL)
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "%s", none);
    else if (!device->cut)
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
}

void xb_verdict_of_device(const struct xb_link_device *device, const struct xb_link_limits *limits,
                          struct xb_verdict *verdict, size_t *best)
{
    size_t count = attempts_of(device);
    int least = XB_LEVEL_UNKNOWN;
    *best = 0;
    if (device->missing) {
        memset(verdict, 0, sizeof *verdict);
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-MISSING",
                      "fewer devices are there than --count asks for: see lspci and dmesg");
        return;
    }
    if (count == 0) {
        judge_nothing(device, verdict);
    } else {
        *best = find_best(device, limits, &least);
        judge(&device->info, device->attempts, count, *best, limits, verdict);
    }
    if (device->cut && device->interrupted && least != XB_LEVEL_OK)
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-INTERRUPTED", "a signal ended the test");
    else if (device->cut && least != XB_LEVEL_OK)
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-DEADLINE",
                      "the deadline came before the device was done with: give it more time "
                      "(--deadline), or look whether it hangs");
}

bool xb_link_under_load(const struct xb_link_device *device, unsigned *generation, unsigned *width)
{
    double speed = 0.0;
    *width = 0;
    for (size_t i = 0; i < attempts_of(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, xb_attempt_slot(attempt));
        speed = fmax(speed, seen.speed_gts);
        *width = seen.width > *width ? seen.width : *width;
    }
    *generation = xb_pcie_generation(speed);
    return *width > 0;
}
