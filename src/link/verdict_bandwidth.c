/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured against what is asked for, and against what the link can carry. */
#include "verdict_internal.h"

#include <math.h>

/* Where packet sizes are assumed, another 1 % is for them. */
#define ABOVE_ASSUMED (XB_BANDWIDTH_ABOVE + 0.01)

double xb_default_warn_share(double speed_gts)
{
    return speed_gts <= 8.0 ? 0.85 : 0.90;
}

double xb_default_critical_share(double speed_gts)
{
    return speed_gts <= 8.0 ? 0.70 : 0.80;
}

static double warn_share(double speed_gts, const struct xb_link_limits *limits)
{
    double share = xb_default_warn_share(speed_gts);
    if (limits->warn_share.is_set)
        return limits->warn_share.value;
    return limits->critical_share.is_set ? fmax(share, limits->critical_share.value) : share;
}

static double critical_share(double speed_gts, const struct xb_link_limits *limits)
{
    double share = xb_default_critical_share(speed_gts);
    if (limits->critical_share.is_set)
        return limits->critical_share.value;
    return limits->warn_share.is_set ? fmin(share, limits->warn_share.value) : share;
}

/* ---- one direction ---- */

static void set_limit(const struct xb_limit *minimum, double full, const struct xb_ceiling *ceiling,
                      const struct xb_link_limits *limits, struct xb_link_direction *direction)
{
    /* Where the limit below which it is CRITICAL comes from: bytes per second, or else a share. */
    direction->source = minimum->is_set                 ? minimum->source
                        : limits->critical_share.is_set ? limits->critical_share.source
                                                        : XB_LIMIT_DEFAULT;
    if (minimum->is_set) {
        direction->critical = minimum->value;
    } else if (ceiling->known) {
        direction->critical = critical_share(ceiling->speed_gts, limits) * full;
        direction->warning = warn_share(ceiling->speed_gts, limits) * full;
    }
}

void xb_verdict_set_limits(const struct xb_link_limits *limits, struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    set_limit(&limits->min_h2d, ceiling->h2d, ceiling, limits, &verdict->h2d);
    set_limit(&limits->min_d2h, ceiling->d2h, ceiling, limits, &verdict->d2h);
}

static void judge_direction(const char *name, double measured, double full,
                            struct xb_link_direction *direction, struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    bool assumed = ceiling->payload_assumed || ceiling->read_request_assumed;
    char speed[24];
    if (!xb_rate_known(measured))
        return; /* There is a reason for that already. */
    direction->measured = measured;
    if (ceiling->known)
        direction->share = measured / full;
    direction->is_slow = measured < fmax(direction->warning, direction->critical);
    /* What the link cannot carry was measured wrongly, though it looks good. */
    if (ceiling->known && measured > (assumed ? ABOVE_ASSUMED : XB_BANDWIDTH_ABOVE) * ceiling->most)
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE",
                      "%s %.2f GB/s is more than %s x%u can carry (%.2f GB/s): the data did not "
                      "cross it, or the link was read wrongly",
                      name, measured / 1e9, xb_speed_name(ceiling->speed_gts, speed),
                      ceiling->width, ceiling->most / 1e9);
}

void xb_judge_bandwidth(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    char speed[24];
    xb_verdict_set_limits(limits, verdict);
    judge_direction("h2d", attempt->h2d, ceiling->h2d, &verdict->h2d, verdict);
    judge_direction("d2h", attempt->d2h, ceiling->d2h, &verdict->d2h, verdict);
    /* A link that could not be read has its reason already. */
    if (ceiling->speed_gts > 0.0 && !ceiling->known &&
        !(limits->min_h2d.is_set && limits->min_d2h.is_set))
        xb_reason_add(&verdict->found, XB_LEVEL_UNKNOWN, "XB-BW-NO-LIMIT",
                      "what %s x%u can carry is not known: set limits (--min-h2d, --min-d2h, or "
                      "--limits)",
                      xb_speed_name(ceiling->speed_gts, speed), ceiling->width);
}
