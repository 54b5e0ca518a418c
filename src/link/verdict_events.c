/* SPDX-License-Identifier: Apache-2.0 */
/* What happened while data moved: incidents, errors that were counted, the device's health. */
#include "verdict_internal.h"

#include <inttypes.h>

/* Whether the device fell off the bus, in an attempt or between two. */
static bool was_lost(const struct xb_link_device *device)
{
    bool was_there = false;
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        if (xb_attempt_gone(attempt) || (was_there && !attempt->at_rest.present))
            return true;
        was_there = was_there || attempt->at_rest.present;
    }
    return false;
}

static bool is_dead(const struct xb_pcie_path *path)
{
    return path->present && path->dead;
}

static bool was_dead(const struct xb_link_device *device)
{
    for (size_t i = 0; i < xb_link_attempts(device); i++)
        if (is_dead(&device->attempts[i].at_rest) || is_dead(&device->attempts[i].after))
            return true;
    return false;
}

void xb_judge_incidents(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    if (was_dead(device))
        xb_reason_add(&verdict->found, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                      "does not answer on the bus: see dmesg (Xid 79)");
    else if (was_lost(device))
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

void xb_judge_counters(struct xb_verdict *verdict)
{
    const struct xb_link_facts *facts = &verdict->facts;
    for (size_t i = 0; i < facts->port_count; i++)
        judge_port(&facts->ports[i], verdict);
    if (facts->most_replays > USUAL_ERRORS)
        xb_reason_add(&verdict->found, XB_LEVEL_WARNING, "XB-PCIE-REPLAY",
                      "%" PRIu64 " packets were sent again while data moved: reseat the card, "
                      "check riser and cables",
                      facts->replays);
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
