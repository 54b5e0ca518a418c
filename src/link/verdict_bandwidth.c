/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured against what is asked for, and against what the link can carry. */
#include "verdict_internal.h"

#include <math.h>

/* Beyond it a measurement is impossible: for the inaccuracy of clocks and, where packets' sizes are
 * assumed, as much again. */
#define ABOVE 1.01
#define ABOVE_ASSUMED 1.02

/* One direction. */
struct direction {
    const char *name;         /* "h2d" */
    const char *code;         /* of a bandwidth that is too low */
    double measured, ceiling; /* bytes per second; 0 where there is none */
    const struct xb_limit *minimum;
    double critical, warning; /* bytes per second; 0 where there is none */
};

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

static void set_limits(struct direction *direction, const struct xb_ceiling *ceiling,
                       const struct xb_link_limits *limits)
{
    if (direction->minimum->is_set) {
        direction->critical = direction->minimum->value;
    } else if (ceiling->known) {
        direction->critical = critical_share(ceiling->speed_gts, limits) * direction->ceiling;
        direction->warning = warn_share(ceiling->speed_gts, limits) * direction->ceiling;
    }
}

static void judge_below(const struct direction *direction, const struct xb_ceiling *ceiling,
                        struct xb_verdict *verdict)
{
    bool is_critical = direction->measured < direction->critical;
    double limit = is_critical ? direction->critical : direction->warning;
    char speed[24];
    if (direction->measured >= limit)
        return;
    if (direction->minimum->is_set)
        xb_reason_add(verdict, XB_LEVEL_CRITICAL, direction->code,
                      "%s %.2f GB/s is below the limit of %.2f GB/s (%s)", direction->name,
                      direction->measured / 1e9, limit / 1e9,
                      xb_limit_source_name(direction->minimum->source));
    else
        xb_reason_add(verdict, is_critical ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING, direction->code,
                      "%s %.2f GB/s is %.3f of what %s x%u can carry (%.2f GB/s), below %.2f: look "
                      "for other traffic, memory on a far NUMA node, and slow clocks",
                      direction->name, direction->measured / 1e9,
                      direction->measured / direction->ceiling,
                      xb_speed_name(ceiling->speed_gts, speed), ceiling->width,
                      direction->ceiling / 1e9, limit / direction->ceiling);
}

/* A number that is too good is as wrong as one that is too bad, and looks right. */
static void judge_above(const struct direction *direction, const struct xb_ceiling *ceiling,
                        struct xb_verdict *verdict)
{
    bool assumed = ceiling->payload_assumed || ceiling->read_request_assumed;
    char speed[24];
    if (!ceiling->known || direction->measured <= (assumed ? ABOVE_ASSUMED : ABOVE) * ceiling->most)
        return;
    xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE",
                  "%s %.2f GB/s is more than %s x%u can carry (%.2f GB/s): the data did not cross "
                  "it, or the link was read wrongly",
                  direction->name, direction->measured / 1e9,
                  xb_speed_name(ceiling->speed_gts, speed), ceiling->width, ceiling->most / 1e9);
}

/* Returns the share of the ceiling. */
static double judge_direction(struct direction *direction, const struct xb_link_limits *limits,
                              struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    set_limits(direction, ceiling, limits);
    if (!isfinite(direction->measured) || direction->measured <= 0.0)
        return 0.0; /* there is a reason for that already */
    judge_below(direction, ceiling, verdict);
    judge_above(direction, ceiling, verdict);
    return ceiling->known ? direction->measured / direction->ceiling : 0.0;
}

void xb_judge_bandwidth(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict)
{
    const struct xb_ceiling *ceiling = &verdict->ceiling;
    struct direction h2d = {.name = "h2d",
                            .code = "XB-BW-H2D",
                            .measured = attempt->h2d,
                            .ceiling = ceiling->h2d,
                            .minimum = &limits->min_h2d};
    struct direction d2h = {.name = "d2h",
                            .code = "XB-BW-D2H",
                            .measured = attempt->d2h,
                            .ceiling = ceiling->d2h,
                            .minimum = &limits->min_d2h};
    char speed[24];
    verdict->h2d_share = judge_direction(&h2d, limits, verdict);
    verdict->d2h_share = judge_direction(&d2h, limits, verdict);
    verdict->min_h2d = h2d.critical;
    verdict->min_d2h = d2h.critical;
    verdict->warn_h2d = h2d.warning;
    verdict->warn_d2h = d2h.warning;
    if (limits->min_h2d.is_set)
        verdict->limit_source = limits->min_h2d.source;
    else if (limits->critical_share.is_set)
        verdict->limit_source = limits->critical_share.source;
    /* A link that could not be read has its reason already. */
    if (ceiling->speed_gts > 0.0 && !ceiling->known &&
        !(limits->min_h2d.is_set && limits->min_d2h.is_set))
        xb_reason_add(verdict, XB_LEVEL_UNKNOWN, "XB-BW-NO-LIMIT",
                      "what %s x%u can carry is not known: set limits (--min-h2d, --min-d2h, or "
                      "--limits)",
                      xb_speed_name(ceiling->speed_gts, speed), ceiling->width);
}
