/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "verdict.h"

/* The parts of a verdict. Each adds its reasons; all codes are told in docs/link.md. */

/* More than this share of what links can carry is impossible: 1 % is for the inaccuracy of clocks.
 */
#define XB_BANDWIDTH_ABOVE 1.01

/* Says that the test of a device or a pair ended before it had an attempt that is OK. `whose` and
 * `who` are words: "the device's", "it". */
void xb_judge_cut(struct xb_findings *found, bool interrupted, const char *whose, const char *who);

/* "Gen5", or "128 GT/s" for a rate that is no generation. Returns `text`. */
const char *xb_speed_name(double speed_gts, char text[24]);
/* The same in memory that lasts as long as the block in which it stands. */
#define XB_SPEED_NAME(speed_gts) xb_speed_name((speed_gts), (char[24]){0})

/* A hop right after the transfers, or NULL: one that has lost its upper end, or shows
 * another device, cannot be compared with what it was before. */
const struct xb_pcie_hop *xb_attempt_hop_after(const struct xb_link_attempt *attempt, size_t hop);
/* The hops of one attempt, which must have a path. */
void xb_link_facts_find_hops(const struct xb_link_attempt *attempt, struct xb_link_facts *facts);

/* Speed and width of every hop, and what was expected. Fills bottleneck and ceiling; reads the hops
 * in verdict->facts, which are the attempt's. */
void xb_judge_link(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                   struct xb_verdict *verdict);
/* Fills what is asked of both directions, as far as the ceiling is known. */
void xb_verdict_set_limits(const struct xb_link_limits *limits, struct xb_verdict *verdict);
/* Fills h2d and d2h, behind xb_judge_link; adds a reason where a bandwidth cannot be judged or
 * cannot be true. What follows from one that is too low, xb_judge_loss says. */
void xb_judge_bandwidth(const struct xb_link_attempt *attempt, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict);
/* What follows from a bandwidth that is too low. Last of all: it asks for the link's reasons. */
void xb_judge_loss(const struct xb_link_device *device, const struct xb_link_limits *limits,
                   struct xb_verdict *verdict);
/* A link that was less in another attempt than in the best, or fell while data moved. */
void xb_judge_stability(const struct xb_link_device *device, const struct xb_link_limits *limits,
                        struct xb_verdict *verdict);
