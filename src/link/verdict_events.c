/* SPDX-License-Identifier: Apache-2.0 */
/* What happened while data moved: incidents, errors that were counted, the device's health. */
#include "verdict_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void xb_judge_incidents(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    bool was_there = false, was_dead = false, was_lost = false;
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        bool is_there = attempt->at_rest.present;
        was_dead = was_dead || (is_there && attempt->at_rest.dead) ||
                   (attempt->after.present && attempt->after.dead);
        /* In an attempt, or between two. */
        was_lost = was_lost || xb_attempt_gone(attempt) || (was_there && !is_there);
        was_there = was_there || is_there;
    }
    if (was_dead)
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                      "does not answer on the bus: see dmesg (Xid 79)");
    else if (was_lost)
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                      "fell off the bus: see dmesg");
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        if (!attempt->data_wrong)
            continue;
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DATA-WRONG",
                      "a copy arrived wrong, take the device out of service%s%s",
                      attempt->failure[0] != '\0' ? ": " : "", attempt->failure);
        return;
    }
}

/* ---- errors that were counted ---- */

/* A good link may have up to this many in one attempt: PCI Express Base Specification 5.0, 8.4
 * allows one wrong bit in 10^12, which is one in two seconds on a busy Gen5 x16 link. */
#define USUAL_ERRORS 5u

static void judge_port(const struct xb_link_port *port, struct xb_verdict *verdict)
{
    const struct xb_pcie_aer *errors = &port->errors;
    if (errors->nonfatal > 0 || errors->fatal > 0)
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE",
                      "%" PRIu64 " uncorrectable errors (%" PRIu64 " of them fatal) at %s while "
                      "data moved: reseat the card, check riser and cables; dmesg has their kinds",
                      errors->nonfatal + errors->fatal, errors->fatal, port->bdf);
    if (port->most_correctable > USUAL_ERRORS)
        xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-AER-CORRECTABLE",
                      "%" PRIu64 " correctable errors at %s while data moved: reseat the card, "
                      "check riser and cables",
                      errors->correctable, port->bdf);
}

/*
 * What the device itself counts, judged as a rate where healthy devices were seen: H100s and H200s.
 * One wrong bit is allowed on any link now and then. On two healthy ones it came about once in two
 * minutes of copies, and was a receiver error, one or two bad TLPs and LCRC errors, a NAK, a
 * retrain and up to 11 lane errors (bench/results/h200/link-wrong-bit.jsonl, h100). So what one
 * attempt alone counted is one event.
 */
#define HEALTHY_RATE 0.6 /* a second */
static const struct {
    const char *key, *words;
    enum { SHOWN, RATE, ERROR } judged; /* an error is one too many */
} counters[XB_PCIE_COUNTERS] = {
    [XB_PCIE_RETRAINS] = {"retrains", "retrains", RATE},
    [XB_PCIE_CORRECTABLE] = {"correctable", "correctable errors", RATE},
    [XB_PCIE_NAKS_RECEIVED] = {"naks_received", "NAKs received", RATE},
    [XB_PCIE_RECEIVER_ERRORS] = {"receiver_errors", "receiver errors", RATE},
    [XB_PCIE_BAD_TLPS] = {"bad_tlps", "bad TLPs", RATE},
    [XB_PCIE_NAKS_SENT] = {"naks_sent", "NAKs sent", RATE},
    [XB_PCIE_BAD_DLLPS] = {"bad_dllps", "bad DLLPs", RATE},
    [XB_PCIE_NONFATAL] = {"nonfatal", "non-fatal errors", ERROR},
    [XB_PCIE_FATAL] = {"fatal", "fatal errors", ERROR},
    [XB_PCIE_UNSUPPORTED] = {"unsupported_requests", "unsupported requests", SHOWN},
    [XB_PCIE_LCRC_ERRORS] = {"lcrc_errors", "LCRC errors", RATE},
    [XB_PCIE_LANE_ERRORS] = {"lane_errors", "lane errors", RATE},
};

const char *xb_pcie_counter_key(enum xb_pcie_counter counter)
{
    return counters[counter].key;
}

const char *xb_pcie_counter_words(enum xb_pcie_counter counter)
{
    return counters[counter].words;
}

/* Whether healthy devices of its kind are known. */
static bool is_hopper(const struct xb_link_device *device)
{
    return strcmp(device->info.architecture, "sm_90") == 0;
}

static bool is_frequent(uint64_t count, unsigned attempts, const struct xb_link_facts *facts)
{
    return attempts > 1 && (double)count > HEALTHY_RATE * facts->counted_seconds;
}

static void judge_device_counters(struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    bool is_grave = facts->rises[XB_PCIE_NONFATAL] > 0 || facts->rises[XB_PCIE_FATAL] > 0;
    size_t length = 0;
    char text[200] = "";
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        uint64_t count = facts->rises[i];
        if (counters[i].judged == RATE ? !is_frequent(count, facts->attempts_risen[i], facts)
                                       : counters[i].judged == SHOWN || count == 0)
            continue;
        if (i == XB_PCIE_RETRAINS)
            xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-PCIE-RETRAIN",
                          "the link was trained again while data moved (count %" PRIu64
                          "): reseat the card, check riser and cables",
                          count);
        else if (length < sizeof text)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %" PRIu64,
                                       length > 0 ? ", " : "", counters[i].words, count);
    }
    if (length > 0)
        xb_reason_add(&verdict->found, is_grave ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING,
                      "XB-PCIE-ERRORS",
                      "%s while data moved: reseat the card, check riser and cables", text);
}

void xb_judge_counters(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    for (size_t i = 0; i < facts->port_count; i++)
        judge_port(&facts->ports[i], verdict);
    if (facts->most_replays > USUAL_ERRORS ||
        (is_hopper(device) && is_frequent(facts->replays, facts->attempts_replayed, facts)))
        xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-PCIE-REPLAY",
                      "%" PRIu64 " packets were sent again while data moved: reseat the card, "
                      "check riser and cables",
                      facts->replays);
    if (is_hopper(device))
        judge_device_counters(verdict);
}

bool xb_verdict_is_open(const struct xb_link_device *device, const struct xb_verdict *verdict)
{
    bool rose = verdict->facts.replays > 0;
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        rose = rose || (counters[i].judged != SHOWN && verdict->facts.rises[i] > 0);
    return verdict->found.level != XB_LEVEL_OK || (rose && is_hopper(device));
}

/* ---- health ---- */

void xb_judge_health(const struct xb_link_attempt *attempt, struct xb_verdict *verdict)
{
    const struct xb_device_health *before = &attempt->health_before;
    const struct xb_device_health *after = &attempt->health_after;
    const struct xb_device_health *slowed =
        after->throttle_known && after->slowed_by_hardware ? after : before;
    if (slowed->throttle_known && slowed->slowed_by_hardware)
        xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-THROTTLE",
                      "the hardware slows the device down (%s): check cooling and power",
                      slowed->throttle[0] != '\0' ? slowed->throttle : "no reason given");
}
