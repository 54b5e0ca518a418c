/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What is observed of a healthy H200, what a test changes of it, and what follows. */

#include "link/verdict.h"
#include "testing.h"

#define SLOT "0000:0f:00.0"
#define SWITCH "0000:0c:00.0"
#define NVLINKS 18

struct xb_pcie_end make_end(const char *bdf, double speed, unsigned width);
struct xb_pcie_hop make_hop(const char *lower, const char *upper, double speed, unsigned width);

struct xb_link_attempt healthy(void);
/* The same, but steady at less, without a word why: bytes per second of one direction. */
void make_slow(struct xb_link_attempt *attempt, bool is_back, double rate);
/* Behind a switch, whose upper link is such. */
struct xb_link_attempt behind_switch(double speed, unsigned width, double seen,
                                     unsigned seen_width);

extern const struct xb_link_limits no_limits;

/* Of a device with this attempt alone. */
struct xb_verdict verdict_of(const struct xb_link_attempt *attempt,
                             const struct xb_link_limits *limits);

void assert_found_nothing(const struct xb_findings *found);
/* The one reason there is; its text has every piece, which are separated by '|'. */
void assert_found_only(const struct xb_findings *found, enum xb_level level, const char *code,
                       const char *pieces);
/* The same of a verdict. */
void assert_ok(const struct xb_verdict *verdict);
void assert_only(const struct xb_verdict *verdict, enum xb_level level, const char *code,
                 const char *pieces);
void assert_near(double value, double expected, double tolerance);
/* For one attempt without limits. */
void assert_attempt(const struct xb_link_attempt *attempt, enum xb_level level, const char *code,
                    const char *pieces);
void assert_attempt_ok(const struct xb_link_attempt *attempt);
