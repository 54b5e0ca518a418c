/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "link_facts.h"

#include "note.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* The order is that of xb_level_worse. */
const enum xb_level xb_link_bad_levels[XB_LINK_BAD_LEVELS] = {XB_LEVEL_CRITICAL, XB_LEVEL_WARNING,
                                                              XB_LEVEL_UNKNOWN};

/* ---- never past an array ---- */

size_t xb_link_attempts(const struct xb_link_device *device)
{
    return device->attempt_count < XB_LINK_ATTEMPTS ? device->attempt_count : XB_LINK_ATTEMPTS;
}

size_t xb_link_hops(const struct xb_pcie_path *path)
{
    size_t count = path->count < XB_PCIE_HOPS ? path->count : XB_PCIE_HOPS;
    return path->present ? count : 0;
}

const struct xb_link_attempt *xb_link_judged(const struct xb_link_report *report, size_t device)
{
    const struct xb_link_device *found = &report->devices[device];
    size_t best = report->best[device];
    return best < xb_link_attempts(found) ? &found->attempts[best] : NULL;
}

size_t xb_link_hops_of(const struct xb_link_device *device)
{
    size_t most = 0;
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        size_t hops = xb_link_hops(&device->attempts[i].at_rest);
        most = hops > most ? hops : most;
    }
    return most;
}

bool xb_link_known(double value)
{
    return isfinite(value) && value > 0;
}

/* ---- links ---- */

const struct xb_pcie_seen *xb_link_seen(const struct xb_link_attempt *attempt, size_t hop)
{
    if (hop >= xb_link_hops(&attempt->at_rest) || hop >= attempt->load.count)
        return NULL;
    const struct xb_pcie_seen *seen = &attempt->load.hops[hop];
    return seen->readings > 0 && seen->speed_gts > 0 && seen->width > 0 ? seen : NULL;
}

const struct xb_pcie_seen *xb_link_bottleneck(const struct xb_link_report *report, size_t device)
{
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    return attempt != NULL ? xb_link_seen(attempt, report->verdicts[device].bottleneck) : NULL;
}

static bool same_hop(const struct xb_link_attempt *attempt, size_t hop)
{
    return hop < xb_link_hops(&attempt->at_rest) && hop < xb_link_hops(&attempt->after) &&
           strcmp(attempt->at_rest.hops[hop].lower.bdf, attempt->after.hops[hop].lower.bdf) == 0;
}

double xb_link_best_speed(const struct xb_link_attempt *attempt, size_t hop)
{
    double before = xb_pcie_hop_best_speed(&attempt->at_rest.hops[hop]);
    double later = same_hop(attempt, hop) ? xb_pcie_hop_best_speed(&attempt->after.hops[hop]) : 0.0;
    return later > before ? later : before;
}

unsigned xb_link_best_width(const struct xb_link_attempt *attempt, size_t hop)
{
    unsigned before = xb_pcie_hop_best_width(&attempt->at_rest.hops[hop]);
    unsigned later = same_hop(attempt, hop) ? xb_pcie_hop_best_width(&attempt->after.hops[hop]) : 0;
    return later > before ? later : before;
}

const char *xb_link_lanes(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (!(speed_gts > 0) || width == 0)
        snprintf(text, size, "-");
    else if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
    return text;
}

/* ---- counters ---- */

static uint64_t rise(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static void add_errors(struct xb_pcie_aer *sum, const struct xb_pcie_aer *more)
{
    if (!more->known)
        return;
    sum->known = true;
    sum->correctable += more->correctable;
    sum->nonfatal += more->nonfatal;
    sum->fatal += more->fatal;
}

static struct xb_pcie_aer errors_between(const struct xb_pcie_end *before,
                                         const struct xb_pcie_end *after)
{
    if (!before->aer.known || !after->aer.known || strcmp(before->bdf, after->bdf) != 0)
        return (struct xb_pcie_aer){.known = false};
    return (struct xb_pcie_aer){.known = true,
                                .correctable =
                                    rise(before->aer.correctable, after->aer.correctable),
                                .nonfatal = rise(before->aer.nonfatal, after->aer.nonfatal),
                                .fatal = rise(before->aer.fatal, after->aer.fatal)};
}

struct xb_pcie_aer xb_link_errors_at(const struct xb_link_device *device, size_t hop, bool upper)
{
    struct xb_pcie_aer sum = {.known = false};
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_link_attempt *attempt = &device->attempts[i];
        if (hop >= xb_link_hops(&attempt->at_rest) || hop >= xb_link_hops(&attempt->after))
            continue;
        const struct xb_pcie_hop *before = &attempt->at_rest.hops[hop];
        const struct xb_pcie_hop *after = &attempt->after.hops[hop];
        if (upper && (!before->has_upper || !after->has_upper))
            continue;
        struct xb_pcie_aer errors = upper ? errors_between(&before->upper, &after->upper)
                                          : errors_between(&before->lower, &after->lower);
        add_errors(&sum, &errors);
    }
    return sum;
}

struct xb_pcie_aer xb_link_errors(const struct xb_link_device *device)
{
    struct xb_pcie_aer sum = {.known = false};
    for (size_t i = 0; i < xb_link_hops_of(device); i++) {
        struct xb_pcie_aer lower = xb_link_errors_at(device, i, false);
        struct xb_pcie_aer upper = xb_link_errors_at(device, i, true);
        add_errors(&sum, &lower);
        add_errors(&sum, &upper);
    }
    return sum;
}

bool xb_link_replays(const struct xb_link_device *device, uint64_t *replays)
{
    bool known = false;
    *replays = 0;
    for (size_t i = 0; i < xb_link_attempts(device); i++) {
        const struct xb_device_health *before = &device->attempts[i].health_before;
        const struct xb_device_health *after = &device->attempts[i].health_after;
        if (!before->replays_known || !after->replays_known)
            continue;
        known = true;
        *replays += rise(before->replays, after->replays);
    }
    return known;
}

/* ---- reasons and limits ---- */

bool xb_link_first_of_code(const struct xb_verdict *verdict, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(verdict->reasons[i].code, verdict->reasons[index].code) == 0)
            return false;
    return true;
}

enum xb_limit_source xb_link_source(const struct xb_limit *bandwidth,
                                    const struct xb_link_limits *limits)
{
    if (bandwidth->is_set)
        return bandwidth->source;
    return limits->critical_share.is_set ? limits->critical_share.source : XB_LIMIT_DEFAULT;
}

/* ---- writing ---- */

void xb_link_put_safe(FILE *stream, const char *text)
{
    char plain[XB_NOTE_SIZE];
    snprintf(plain, sizeof plain, "%s", text);
    xb_make_plain(plain);
    for (const char *c = plain; *c != '\0'; c++) {
        if (*c == '|')
            fputc('/', stream);
        else if (strchr("'\"`", *c) != NULL)
            continue;
        else
            fputc(strchr("$&<>\\!", *c) != NULL ? ' ' : *c, stream);
    }
}
