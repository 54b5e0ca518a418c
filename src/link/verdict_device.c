/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a device: what follows from the observations alone, incidents and counters, and
 * which attempt counts. */
#include "verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What counts in whichever attempt it was seen: data that was wrong, a device that vanished. */
static void judge_incidents(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    bool was_there = false, was_dead = false, was_lost = false;
    const struct xb_link_attempt *wrong = NULL; /* the first whose data was */
    XB_EACH (attempt, device->attempts, XB_ATTEMPTS(device)) {
        bool is_there = attempt->at_rest.present;
        was_dead |=
            (is_there && attempt->at_rest.dead) || (attempt->after.present && attempt->after.dead);
        /* In an attempt, or between two. */
        was_lost |= xb_attempt_gone(attempt) || (was_there && !is_there);
        was_there |= is_there;
        wrong = wrong == NULL && attempt->data_wrong ? attempt : wrong;
    }
    if (was_dead)
        FIND(CRITICAL, "XB-DEVICE-GONE", "does not answer on the bus: see dmesg (Xid 79)");
    else if (was_lost)
        FIND(CRITICAL, "XB-DEVICE-GONE", "fell off the bus: see dmesg");
    if (wrong != NULL)
        FIND(CRITICAL, "XB-DATA-WRONG", "a copy arrived wrong, take the device out of service%s%s",
             wrong->failure[0] != '\0' ? ": " : "", wrong->failure);
}

/* A good link may have up to this many in one attempt: PCI Express Base Specification 5.0, 8.4
 * allows one wrong bit in 10^12, which is one in two seconds on a busy Gen5 x16 link. */
#define USUAL_ERRORS 5u

/* What the device itself counts, judged as a rate where healthy devices were seen: H100s and H200s.
 * What one attempt alone counted is one event. */
#define NAMES(counter, key, words, judged) [XB_PCIE_##counter] = {key, words, XB_COUNT_##judged},
const struct xb_pcie_counter_names xb_pcie_counters[] = {XB_EACH_PCIE_COUNTER(NAMES)};

bool xb_is_hopper(const struct xb_link_device *device)
{
    return strcmp(device->info.architecture, "sm_90") == 0;
}

static bool is_frequent(uint64_t count, unsigned attempts, double seconds)
{
    return attempts > 1 && (double)count > XB_HEALTHY_RATE * seconds;
}

void xb_judge_errors(const struct xb_link_device *device, double lasted, struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    const bool lasting = lasted > 0;
    const double seconds = lasting ? lasted : facts->counted_seconds;
    XB_EACH (port, facts->ports, facts->port_count) {
        const struct xb_pcie_aer *errors = &port->errors;
        if (errors->nonfatal > 0 || errors->fatal > 0)
            FIND(CRITICAL, "XB-AER-UNCORRECTABLE",
                 "%" PRIu64 " uncorrectable errors (%" PRIu64
                 " of them fatal) at %s while data moved: reseat the card, check riser and cables; "
                 "dmesg has their kinds",
                 errors->nonfatal + errors->fatal, errors->fatal, port->bdf);
        if (lasting ? is_frequent(errors->correctable, port->attempts, seconds)
                    : port->most_correctable > USUAL_ERRORS)
            FIND(WARNING, "XB-AER-CORRECTABLE",
                 "%" PRIu64 " correctable errors at %s while data moved: reseat the card, check "
                 "riser and cables",
                 errors->correctable, port->bdf);
    }
    if ((!lasting && facts->most_replays > USUAL_ERRORS) ||
        ((lasting || xb_is_hopper(device)) &&
         is_frequent(facts->replays, facts->attempts_replayed, seconds)))
        FIND(WARNING, "XB-PCIE-REPLAY",
             "%" PRIu64
             " packets were sent again while data moved: reseat the card, check riser and cables",
             facts->replays);
    if (!xb_is_hopper(device))
        return;
    bool is_grave = facts->rises[XB_PCIE_NONFATAL] > 0 || facts->rises[XB_PCIE_FATAL] > 0;
    size_t length = 0;
    char text[200] = "";
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        uint64_t count = facts->rises[i];
        if (xb_pcie_counters[i].judged == XB_COUNT_RATE
                ? !is_frequent(count, facts->attempts_risen[i], seconds)
                : xb_pcie_counters[i].judged == XB_COUNT_SHOWN || count == 0)
            continue;
        if (i == XB_PCIE_RETRAINS)
            FIND(WARNING, "XB-PCIE-RETRAIN",
                 "the link was trained again while data moved (count %" PRIu64
                 "): reseat the card, check riser and cables",
                 count);
        else if (length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %" PRIu64,
                                       length > 0 ? ", " : "", xb_pcie_counters[i].words, count);
    }
    if (length > 0)
        FIND_AT(is_grave ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING, "XB-PCIE-ERRORS",
                "%s while data moved: reseat the card, check riser and cables", text);
}

bool xb_findings_are_open(const struct xb_findings *found)
{
    size_t encrypted = 0, late = 0; /* a test that is not done with counts as late */
    XB_EACH (reason, found->reasons, found->reason_count) {
        encrypted += strcmp(reason->code, "XB-CONFIDENTIAL") == 0;
        late += strcmp(reason->code, "XB-DEADLINE") == 0 || reason->accepted != NULL;
    }
    return found->level != XB_LEVEL_OK &&
           (encrypted == 0 || encrypted + late < found->reason_count);
}

bool xb_verdict_is_open(const struct xb_link_device *device, const struct xb_verdict *verdict)
{
    bool rose = verdict->facts.replays > 0;
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        rose |= xb_pcie_counters[i].judged != XB_COUNT_SHOWN && verdict->facts.rises[i] > 0;
    return xb_findings_are_open(&verdict->found) || (rose && xb_is_hopper(device));
}

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

/* Judges what only this attempt shows. verdict->facts has its hops. */
static void judge_attempt(const struct xb_link_device *device, size_t index,
                          struct xb_verdict *verdict)
{
    const struct xb_link_attempt *attempt = &device->attempts[index];
    const char *none = no_link(&device->info, attempt);
    if (none != NULL)
        FIND(UNKNOWN, "XB-LINK-NONE", "%s", none);
    else
        xb_judge_link(attempt, verdict);
    xb_judge_bandwidth(attempt, verdict);
    /* Wrong data has its own reason, which includes the text. */
    if (!attempt->data_wrong && attempt->at_rest.present &&
        (!xb_rate_known(attempt->rates[XB_TO_GPU]) || !xb_rate_known(attempt->rates[XB_BACK]) ||
         attempt->failure[0] != '\0'))
        FIND(UNKNOWN, "XB-TEST-FAILED", "%s",
             attempt->failure[0] != '\0' ? attempt->failure : "no bandwidth was measured");
    /* What the vendor's management library says of the device's state. */
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    const struct xb_device_health *slowed =
        after->throttle_known && after->slowed_by_hardware ? after : before;
    if (slowed->throttle_known && slowed->slowed_by_hardware)
        FIND(WARNING, "XB-THROTTLE",
             "the hardware slows the device down (%s): check cooling and power",
             slowed->throttle[0] != '\0' ? slowed->throttle : "no reason given");
}

/* How bad an attempt is: the least is the best. What counts in whichever attempt it was seen does
 * not matter, but bandwidth beside wrong data or of a device that vanished tells nothing. */
static int badness(const struct xb_link_device *device, size_t index,
                   const struct xb_link_limits *limits)
{
    const struct xb_link_attempt *attempt = &device->attempts[index];
    struct xb_verdict verdict = {.limits = *limits};
    if (attempt->data_wrong || xb_attempt_gone(attempt))
        return (int)XB_LEVEL_UNKNOWN + 1;
    xb_link_facts_find_hops(attempt, &verdict.facts);
    judge_attempt(device, index, &verdict);
    /* In their numbers' order UNKNOWN is the last. Why an attempt is slow does not matter here. */
    bool is_slow = verdict.ways[XB_TO_GPU].is_slow || verdict.ways[XB_BACK].is_slow;
    return (int)(verdict.found.level == XB_LEVEL_OK && is_slow ? XB_LEVEL_WARNING
                                                               : verdict.found.level);
}

void xb_judge_cut(struct xb_findings *found, bool interrupted, const char *whose, const char *who)
{
    if (interrupted)
        xb_finding_add(found, XB_LEVEL_UNKNOWN, "XB-INTERRUPTED", "a signal ended the test");
    else
        xb_finding_add(found, XB_LEVEL_UNKNOWN, "XB-DEADLINE",
                       "the deadline came before %s test ended: give it more time (--deadline), or "
                       "check whether %s hangs",
                       whose, who);
}

void xb_verdict_of_device(const struct xb_link_device *device, const struct xb_link_limits *limits,
                          struct xb_verdict *verdict)
{
    const char *none = no_link(&device->info, NULL);
    size_t count = XB_ATTEMPTS(device);
    int least = XB_LEVEL_UNKNOWN + 2; /* badness of the best attempt */
    memset(verdict, 0, sizeof *verdict);
    verdict->limits = *limits;
    xb_verdict_set_limits(verdict); /* They hold also for a device without an attempt. */
    if (device->missing) {
        FIND(CRITICAL, "XB-DEVICE-MISSING",
             verdict->limits.was.known
                 ? "it was here when the node was accepted, and is not now: see lspci and dmesg"
                 : "there are fewer devices than --count asks for: see lspci and dmesg");
        return;
    }
    /* The first of several that are as good is the best one. */
    for (size_t i = 0; i < count; i++) {
        int bad = badness(device, i, limits);
        const double *rates = device->attempts[i].rates,
                     *bests = device->attempts[verdict->best].rates;
        if (bad < least || (bad == least && rates[XB_TO_GPU] + rates[XB_BACK] >
                                                bests[XB_TO_GPU] + bests[XB_BACK])) {
            least = bad;
            verdict->best = i;
        }
    }
    if (count > 0) {
        xb_link_facts_find(device, verdict->best, &verdict->facts);
        /* First, so that incidents come first among the reasons of their level. */
        judge_incidents(device, verdict);
        judge_attempt(device, verdict->best, verdict);
        xb_judge_stability(device, verdict);
        xb_judge_errors(device, 0, verdict);
        xb_judge_nvlinks(verdict);
        xb_judge_loss(device, verdict);
    } else if (none != NULL) {
        FIND(UNKNOWN, "XB-LINK-NONE", "%s", none);
    } else if (!device->cut) {
        FIND(UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
    }
    if (device->cut && least != XB_LEVEL_OK)
        xb_judge_cut(&verdict->found, device->interrupted, "the device's", "it");
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
    XB_EACH (attempt, device->attempts, XB_ATTEMPTS(device)) {
        struct xb_pcie_seen seen = xb_attempt_seen(attempt, xb_pcie_path_slot(&attempt->at_rest));
        speed = fmax(speed, seen.speed_gts);
        *width = seen.width > *width ? seen.width : *width;
    }
    *generation = xb_pcie_generation(speed);
    return *width > 0;
}
