/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_NVLINK_H
#define XFERBENCH_LINK_NVLINK_H

#include "reasons.h"
#include "xferbench/backend.h"

/*
 * What the NVLinks of a device did between two readings, such as before and after a test. What they
 * counted before the first one is told, never judged: it may be from a link that was trained, or
 * from another day.
 */

/* One link, in all tests together. */
struct xb_nvlink_seen {
    bool counted[XB_NVLINK_COUNTERS]; /* by enum xb_nvlink_counter: both readings had it */
    uint64_t rises[XB_NVLINK_COUNTERS];
    double bits; /* no more crossed it, both ways together; 0 where its rate is not known */
    bool fell;   /* it was active before a test and not after it */
    bool lost;   /* it was active before a test, and after it nothing is known of it alone */
};

/* All links of a device, and their sums. */
struct xb_nvlink_facts {
    struct xb_nvlink_seen links[XB_NVLINKS]; /* by their numbers */
    bool counted[XB_NVLINK_COUNTERS];        /* at least one link was */
    uint64_t rises[XB_NVLINK_COUNTERS];
};

/* How a counter is called in keys, and in words behind a count: "crc_errors", "CRC errors". Static
 * text. */
const char *xb_nvlink_counter_key(enum xb_nvlink_counter counter);
const char *xb_nvlink_counter_words(enum xb_nvlink_counter counter, uint64_t count);

/* Adds what happened between two readings of one device that lie so many seconds apart. A counter
 * that went back was reset: no rise. Where the second reading knows no link at all, the library is
 * gone and no link is lost. */
void xb_nvlink_facts_add(struct xb_nvlink_facts *facts, const struct xb_device_health *before,
                         const struct xb_device_health *after, double seconds);

/* Whether any link was counted. */
bool xb_nvlink_facts_known(const struct xb_nvlink_facts *facts);

/*
 * How many replays a healthy link may count while no more than so many bits cross it: one less than
 * the least k whose probability is below XB_NVLINK_FALSE_ALARM. Wrong bits are taken to follow a
 * Poisson distribution of mean m = bits x XB_NVLINK_BIT_ERROR_RATE, of which Chernoff's bound says
 * that k or more come with a probability of at most exp(k - m) x (m / k)^k. 0 bits allow none: what
 * a link may count whose rate, and so whose bits, are not known cannot be told, and is not asked.
 *
 * NVIDIA publishes no bit error rate for NVLink. 1e-12 is what PCI Express allows (Base
 * Specification 5.0, 8.4) and what NVIDIA's ibdiagnet takes as its default threshold for a port
 * (IBUtils2 Utility Documentation, "Bit Error Rate"). From Hopper on links correct errors before
 * they count as any, so healthy ones stay far below it.
 */
#define XB_NVLINK_BIT_ERROR_RATE 1e-12
#define XB_NVLINK_FALSE_ALARM 1e-6
uint64_t xb_nvlink_replays_allowed(double bits);

/* verdict_nvlink.c: adds a reason for links that went down, for those that nothing is known of any
 * more, for recoveries, and for more replays on a link than it may count. Replays of a link whose
 * rate is not known are not judged. CRC errors are no reason: what arrived wrong was sent again. */
void xb_judge_nvlinks(const struct xb_nvlink_facts *facts, struct xb_findings *findings);

#endif
