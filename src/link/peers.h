/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "verdict.h"

/*
 * Direct copies between every two devices: what was observed of an ordered pair, and the verdict on
 * it. Nothing in here reads the machine.
 */

#define XB_PEER_DEVICES 8u /* of more devices no pairs are tested: it would take minutes */
#define XB_LINK_PAIRS ((size_t)(XB_PEER_DEVICES * (XB_PEER_DEVICES - 1)))

/* One test of a pair. */
struct xb_pair_attempt {
    bool reach_known;
    struct xb_peer_info there, back; /* what the source can do with the target, and it with it */
    double bandwidth;  /* median bytes per second of verified copies; 0 where there is none */
    bool data_wrong;   /* a copy arrived wrong */
    char failure[512]; /* why there is no bandwidth; "" where there is one, or no direct access */
};

/* Copies from one device's memory to another's, and every attempt to test them. */
struct xb_link_pair {
    size_t from, to; /* source and target: places in the list of devices */
    struct xb_pair_attempt attempts[XB_LINK_ATTEMPTS]; /* in the order made */
    size_t attempt_count;
    bool cut;         /* the deadline or a signal came before the pair was done with */
    bool interrupted; /* a signal came */
};

/* How many attempts a pair has: never more than its array holds. */
size_t xb_pair_attempts(const struct xb_link_pair *pair);

struct xb_pair_verdict {
    struct xb_limit minimum; /* least bandwidth that it is judged by, in bytes per second */
    struct xb_findings found;
    size_t best;               /* index of the attempt that counts; 0 also where there is none */
    struct xb_peer_info reach; /* the source's in that attempt. links and link_rate are the less
                                  of both ends', 0 where one end does not tell */
    double ceiling;            /* links x link_rate, in bytes per second; 0 where not known */
    struct xb_link_direction bandwidth; /* its share is that of the ceiling */
    size_t like_count;                  /* how many pairs are like this one, itself included */
    double like; /* their median bandwidth; 0 where fewer than XB_PEERS_LIKE were measured */
};

/* Whether anything is asked of the pair's bandwidth. */
bool xb_pair_is_judged(const struct xb_pair_verdict *verdict);

/*
 * A pair is judged by a least bandwidth where one is set, else by shares of its ceiling where that
 * is known. Links carry protocol besides data: H200s reach 0.82 to 0.83 of 18 links x 26.56 GB/s,
 * and 0.83 to 0.93 is what NVIDIA's GPUs reach. So a healthy pair never comes near these.
 */
#define XB_PEER_WARN_SHARE 0.75
#define XB_PEER_CRITICAL_SHARE 0.50
/* Where there are so many pairs of the same devices and links, one that reaches less than this
 * share of their median is slow: like pairs agree within 2 %. */
#define XB_PEERS_LIKE 3u
#define XB_PEERS_LIKE_SHARE 0.90

/*
 * Judges all pairs of a node, each by the minimum that its verdict has already. The best attempt
 * counts, which is the one with the highest bandwidth; but data that was wrong counts in whichever
 * attempt it was seen. A pair without direct access, or whose links' rate is not known, is not
 * judged unless there is a minimum.
 */
void xb_verdict_of_pairs(const struct xb_link_device *devices, const struct xb_link_pair *pairs,
                         size_t count, struct xb_pair_verdict *verdicts);

/* Fills what follows from the attempt `best` alone: reach, ceiling, what was measured and its
 * share. For a verdict that is read from a file. */
void xb_pair_verdict_observe(const struct xb_link_pair *pair, size_t best,
                             struct xb_pair_verdict *verdict);

/* The attempt that a verdict on the pair is about, or NULL where there is none. */
const struct xb_pair_attempt *xb_pair_verdict_attempt(const struct xb_pair_verdict *verdict,
                                                      const struct xb_link_pair *pair);

/*
 * Adds to devices' verdicts what only several devices together show: a GPU with fewer active
 * NVLinks than another of its name. One with none at all is not judged unless pairs show that the
 * links lead to a switch: of cards with bridges some may have none.
 */
void xb_verdict_compare_nvlinks(const struct xb_link_device *devices, size_t device_count,
                                const struct xb_link_pair *pairs, size_t pair_count,
                                struct xb_verdict *verdicts);
