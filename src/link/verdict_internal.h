/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_VERDICT_INTERNAL_H
#define XFERBENCH_LINK_VERDICT_INTERNAL_H

#include "xferbench/verdict.h"

/* The parts of a verdict. Each adds its reasons; all codes are told in docs/link.md. */

/* Adds a reason at its place among the others. `code` is static text. */
void xb_reason_add(struct xb_verdict *verdict, enum xb_level level, const char *code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "Gen5", or "128 GT/s" for a rate that is no generation. Returns `text`. */
const char *xb_speed_name(double speed_gts, char text[24]);

/* What hop `index` was seen to do under load. No readings where there was none that is good. */
struct xb_pcie_seen xb_attempt_seen(const struct xb_link_attempt *attempt, size_t index);
/* The hop that faces the slot; the path's count if it has none. */
size_t xb_attempt_slot(const struct xb_link_attempt *attempt);
/* Whether the device vanished during the attempt. */
bool xb_attempt_gone(const struct xb_link_attempt *attempt);

/* Speed and width of every hop, and what was expected. Fills bottleneck and ceiling. */
void xb_judge_link(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                   struct xb_verdict *verdict);
/* Both directions against the limits; behind xb_judge_link. Fills shares and limits. */
void xb_judge_bandwidth(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict);
/* What stays, in whichever attempt it was seen: data that was wrong, a device that vanished. */
void xb_judge_incidents(const struct xb_link_attempt *attempts, size_t count,
                        struct xb_verdict *verdict);
/* What stays: a link that was less in another attempt than in `best`, or fell while data moved. */
void xb_judge_stability(const struct xb_link_attempt *attempts, size_t count, size_t best,
                        const struct xb_link_limits *limits, struct xb_verdict *verdict);
/* What stays: errors that were counted. */
void xb_judge_counters(const struct xb_link_attempt *attempts, size_t count,
                       struct xb_verdict *verdict);
/* What the vendor's management library says of the device's state. */
void xb_judge_health(const struct xb_link_attempt *attempt, struct xb_verdict *verdict);

#endif
