/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/order.h"
#include "machine/pcie.h"
#include "present/finding.h"
#include "record/record.h"
#include "xferbench/backend.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the links of a device are what they should be: what was observed, what follows from it,
 * the limits, and the verdict. Nothing in here reads the machine. */

/* ---- NVLinks: what they did between two readings. What they counted before the first one, perhaps
 * on another day, is told and never judged. ---- */

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

/* The names of each counter, in the order of the JSON: ROW(counter, key, one, many). */
#define XB_EACH_NVLINK_COUNTER(ROW)                                                                \
    ROW(REPLAYS, "replays", "replay", "replays")                                                   \
    ROW(RECOVERIES, "recoveries", "recovery", "recoveries")                                        \
    ROW(FAILED_RECOVERIES, "failed_recoveries", "failed recovery", "failed recoveries")            \
    ROW(CRC_ERRORS, "crc_errors", "CRC error", "CRC errors")
extern const struct xb_nvlink_counter_names {
    const char *key, *one, *many;
} xb_nvlink_counters[XB_NVLINK_COUNTERS];

/* Adds what happened between two readings of one device, so many seconds apart. A counter that went
 * back was reset. Where the second reading knows no link, the library is gone: no link is lost. */
void xb_nvlink_facts_add(struct xb_nvlink_facts *facts, const struct xb_device_health *before,
                         const struct xb_device_health *after, double seconds);

/* How many replays a healthy link may count while at most so many bits cross it: one less than the
 * least count whose probability is below XB_NVLINK_FALSE_ALARM (docs/link.md). 0 bits allow none.
 * NVIDIA publishes no bit error rate; healthy links from Hopper on stay far below this one. */
#define XB_NVLINK_BIT_ERROR_RATE 1e-12
#define XB_NVLINK_FALSE_ALARM 1e-6
uint64_t xb_nvlink_replays_allowed(double bits);

/* ---- what was observed ---- */

/* The ways between the host and a device. */
enum { XB_TO_GPU, XB_BACK, XB_LINK_WAYS };

/* What else went on while the copies of one direction ran, because that may slow them down as a bad
 * link does. Everything is 0 or false where it is not known. */
struct xb_link_conditions {
    double seconds;        /* watched, between the ends of the first and the last copy */
    unsigned cpus;         /* of the machine, as /proc/stat shows it */
    double cpus_busy;      /* of these: kept busy by other processes, in the mean */
    double load_s;         /* median time of a load from host memory, past all caches */
    bool traffic_known;    /* then, of all processes, headers included, in bytes per second: */
    double sent, received; /* by the device over its link */
    uint64_t retrains;     /* of that link */
    struct xb_device_health clocks; /* and what slows them down; nothing else of it */
    bool memory_is_far;             /* all host memory lay on other NUMA nodes than the device's */
    double mean, fastest; /* the copies themselves, in bytes per second: all samples, the fastest */
};

/* One transfer test of one device. */
struct xb_link_attempt {
    struct xb_pcie_path at_rest; /* before it; its speeds are shown, never judged */
    struct xb_pcie_path after;   /* right after it, also if it failed, for counters; not present
                                    means that the device fell off the bus */
    struct xb_pcie_load load;    /* while data moved */
    struct xb_device_health health_before, health_after;
    double health_seconds; /* between these two: the first is read when the first copy has ended,
                              and unknown where none has */
    struct xb_link_conditions conditions[XB_LINK_WAYS];
    double rates[XB_LINK_WAYS]; /* median bytes per second of verified copies; 0: there is none */
    bool data_wrong;            /* a copy arrived wrong */
    char failure[512];          /* why a rate is missing; "" if both are there */
};

#define XB_LINK_ATTEMPTS 10

/* One device, and every attempt to test it. */
struct xb_link_device {
    struct xb_device_info info;
    struct xb_device_setup setup;
    struct xb_link_attempt attempts[XB_LINK_ATTEMPTS]; /* in the order made */
    size_t attempt_count;
    /* Around all copies between it and its peers. */
    struct {
        bool known; /* there were some */
        struct xb_device_health before, after;
        double seconds; /* between the two */
    } peers;
    bool cut;         /* the deadline or a signal came before the device was done with */
    bool interrupted; /* a signal came */
    bool missing;     /* there is no such device, though --count says that there must be */
};

/* How many attempts a device or a pair has: never more than its array holds, because the memory of
 * another process may say anything. */
#define XB_ATTEMPTS(of) xb_attempts_within((of)->attempt_count)
static inline size_t xb_attempts_within(size_t count)
{
    return count < XB_LINK_ATTEMPTS ? count : XB_LINK_ATTEMPTS;
}
/* The attempt that the verdict on a device or a pair is about; NULL where there is none. */
#define XB_ATTEMPT_JUDGED(verdict, of)                                                             \
    ((verdict)->best < XB_ATTEMPTS(of) ? &(of)->attempts[(verdict)->best] : NULL)

/* Whether one has fewer lanes than the other, or a lower rate. */
static inline bool xb_lanes_are_less(struct xb_lanes one, struct xb_lanes other)
{
    return one.speed_gts < other.speed_gts || one.width < other.width;
}

/* Whether a rate was measured: 0, and what is not finite, stands for none. */
bool xb_rate_known(double bytes_per_second);
/* What a hop was seen to do under load. All 0 where no reading of it was good. */
struct xb_pcie_seen xb_attempt_seen(const struct xb_link_attempt *attempt, size_t hop);
/* Whether the device fell off the bus before the attempt's end. */
bool xb_attempt_gone(const struct xb_link_attempt *attempt);

/* Finds the generation and width under load of the link that faces the slot, the best that any
 * attempt saw. 0 and false if none did; the generation is 0 also for a rate that is none. */
bool xb_link_under_load(const struct xb_link_device *device, unsigned *generation, unsigned *width);

/* ---- limits ---- */

/* Where a limit came from. The command line wins over a file, a file over the default. */
enum xb_limit_source { XB_LIMIT_DEFAULT, XB_LIMIT_FILE, XB_LIMIT_COMMAND_LINE };
/* "default", "file", "command line". Static text. */
const char *xb_limit_source_name(enum xb_limit_source source);

struct xb_limit {
    bool is_set; /* else the default is in force */
    double value;
    enum xb_limit_source source;
};

/* What is so by design: a finding of that code is told, and does not count. */
struct xb_acceptance {
    const char *code, *reason; /* borrowed */
    enum xb_limit_source source;
    bool met; /* there was such a finding */
};
#define XB_ACCEPTANCES 16 /* no fewer than codes that can be accepted */
#define XB_ACCEPTANCE_REASON 120

/* What a device was in the file that --baseline names. What is not known is 0 or "". */
struct xb_link_was {
    bool known;                 /* it was there */
    char uuid[64];              /* as in struct xb_device_info */
    struct xb_lanes load;       /* of the slot's link */
    double rates[XB_LINK_WAYS]; /* bytes per second */
    unsigned nvlinks;           /* that were active */
};
/* A bandwidth below this share of what it was is worse: 5 % less is found, and 3 % is not. Healthy
 * machines scatter by as much (docs/link.md). */
#define XB_BASELINE_SHARE 0.96
/* Says so in the array `text`; `name` ("h2d") is of the direction. */
#define XB_SINCE(text, name, measured, was)                                                        \
    snprintf((text), sizeof(text),                                                                 \
             "%s%.2f GB/s is %.3f of the %.2f GB/s when the node was accepted, below %.2f",        \
             (name), (measured) / 1e9, (measured) / (was), (was) / 1e9, XB_BASELINE_SHARE)
#define XB_SINCE_ADVICE "%s: look for what was changed since"

struct xb_link_limits {
    union {
        struct {
            /* Bytes per second; below is CRITICAL. They replace the shares. */
            struct xb_limit min_h2d, min_d2h, min_peer;
            /* Shares of the ceiling; below is WARNING, and CRITICAL. */
            struct xb_limit warn_share, critical_share;
            /* What the slot's link must have under load, in place of what its ends can do. */
            struct xb_limit generation, width;
        };
        struct xb_limit all[7]; /* the first two by way */
    };
    struct xb_acceptance accepted[XB_ACCEPTANCES];
    size_t accepted_count;
    struct xb_link_was was;
};

/* Adds an acceptance; `reason` is borrowed. XB_ERR_USAGE: there is no such code, or it cannot be
 * accepted, or is already; or the reason is too long. */
enum xb_status xb_accept(const char *code, const char *reason, enum xb_limit_source source,
                         struct xb_link_limits *limits, struct xb_error *error);
/* XB_ERR_USAGE where one that needs a bound has none among the limits, which are of that source. */
enum xb_status xb_accept_check(struct xb_link_limits *limits, enum xb_limit_source source,
                               struct xb_error *error);
/* The acceptance of that code; NULL for none. */
struct xb_acceptance *xb_accepted(struct xb_link_limits *limits, const char *code);

/* Reads "gen5x16", "gen5" or "x16", in either case: what it names. XB_ERR_USAGE leaves *limits as
 * it was. */
enum xb_status xb_expect_parse(const char *text, enum xb_limit_source source,
                               struct xb_link_limits *limits, struct xb_error *error);

/* ---- what was found ---- */

/* One link of a path; of its ends `lower` is nearer to the device. */
struct xb_link_hop {
    char lower[16], upper[16]; /* PCI addresses; upper is "" without a bridge above the device */
    bool has_upper, on_package;
    struct xb_lanes at_rest; /* before the transfers, of the lower end; never judged */
    struct xb_lanes load;    /* the highest while data moved; both are known or none is */
    struct xb_lanes best;    /* that both ends can do */
    unsigned changes, drops; /* as in struct xb_pcie_seen */
};

/* One end of a link, and the errors that it counted in all attempts together; not known where no
 * attempt read them both before and after. */
struct xb_link_port {
    char bdf[16];
    size_t hop; /* where the first attempt that saw it had it */
    bool is_upper;
    struct xb_pcie_aer errors;
    uint64_t most_correctable; /* in one attempt */
    unsigned attempts;         /* in how many there was one */
};

#define XB_LINK_PORTS (2 * XB_PCIE_HOPS * XB_LINK_ATTEMPTS)

/* What follows from the observations alone, whatever the limits are. */
struct xb_link_facts {
    struct xb_link_hop hops[XB_PCIE_HOPS]; /* in the attempt that counts; [0] is the device's own */
    size_t hop_count;                      /* 0 where sysfs does not show the device */
    size_t slot;                           /* the hop that faces the slot; hop_count if none does */
    struct xb_link_port ports[XB_LINK_PORTS]; /* as attempts saw them, from the device up */
    size_t port_count;
    struct xb_pcie_aer errors; /* of all ports together */
    bool replays_known;
    uint64_t replays;      /* packets that were sent again, in all attempts together */
    uint64_t most_replays; /* in one attempt */
    unsigned attempts_replayed;
    /* What the device itself counted on its link while data moved, in all attempts together. */
    bool counted[XB_PCIE_COUNTERS];
    uint64_t rises[XB_PCIE_COUNTERS];
    unsigned attempts_risen[XB_PCIE_COUNTERS]; /* in how many */
    uint64_t since_boot[XB_PCIE_COUNTERS];     /* at the end of the last attempt that tells it */
    double counted_seconds;
    struct xb_nvlink_facts nvlinks;
};

/* Adds what was counted in one attempt. */
void xb_link_facts_add(const struct xb_link_attempt *attempt, struct xb_link_facts *facts);
/* Errors of ports, device and NVLinks: links that were trained again, and what no GPU is asked to
 * support, are none. False where nobody counts. */
bool xb_link_errors(const struct xb_link_facts *facts, uint64_t *count);
/* Finds the facts of a device whose attempt `best` counts. All are 0 without an attempt. */
void xb_link_facts_find(const struct xb_link_device *device, size_t best,
                        struct xb_link_facts *facts);

/* ---- the verdict on a device ---- */

/* One direction; bandwidths in bytes per second. */
struct xb_link_direction {
    double measured;             /* 0 where it was not */
    double share;                /* of the ceiling; 0 where either is not known */
    double warning;              /* below is WARNING; 0 where there is no such limit */
    double critical;             /* below is CRITICAL; 0 where there is no such limit */
    enum xb_limit_source source; /* of `critical` */
    double own_limit;            /* the higher of both without a baseline */
    bool is_slow;                /* below one of them */
};

/* Whether its warning comes from what it was in the baseline. */
static inline bool xb_is_of_baseline(const struct xb_link_direction *direction, double was)
{
    return was > 0 && fabs(direction->warning - XB_BASELINE_SHARE * was) < 1e-9 * was;
}

struct xb_verdict {
    struct xb_findings found;
    size_t best; /* index of the attempt that counts; 0 also where there is none */
    struct xb_link_facts facts;
    size_t bottleneck; /* index in facts.hops of the hop that limits the path; 0 if not known */
    struct xb_ceiling ceiling; /* of that hop, as it was under load */
    struct xb_link_direction ways[XB_LINK_WAYS];
    struct xb_link_limits limits; /* that it was judged by */
};

/* Judges a device (docs/link.md). The attempt that counts has the least bad level by what only it
 * shows, and of several the highest bandwidths. For that choice UNKNOWN is the worst level: an
 * attempt that could not be judged hides no defect that another saw. UNKNOWN is also a device
 * without an attempt, and one whose copies cross no PCIe link. */
void xb_verdict_of_device(const struct xb_link_device *device, const struct xb_link_limits *limits,
                          struct xb_verdict *verdict);

/* Whether another attempt may change what was found: confidential computing stays on. */
bool xb_findings_are_open(const struct xb_findings *found);
/* Whether another attempt may change the verdict: not OK, or a counter rose that should not. */
bool xb_verdict_is_open(const struct xb_link_device *device, const struct xb_verdict *verdict);

/* The counters of a device, in the order of the JSON: ROW(counter, key, words, judged). */
#define XB_EACH_PCIE_COUNTER(ROW)                                                                  \
    ROW(RETRAINS, "retrains", "retrains", RATE)                                                    \
    ROW(CORRECTABLE, "correctable", "correctable errors", RATE)                                    \
    ROW(NAKS_RECEIVED, "naks_received", "NAKs received", RATE)                                     \
    ROW(RECEIVER_ERRORS, "receiver_errors", "receiver errors", RATE)                               \
    ROW(BAD_TLPS, "bad_tlps", "bad TLPs", RATE)                                                    \
    ROW(NAKS_SENT, "naks_sent", "NAKs sent", RATE)                                                 \
    ROW(BAD_DLLPS, "bad_dllps", "bad DLLPs", RATE)                                                 \
    ROW(NONFATAL, "nonfatal", "non-fatal errors", ERROR)                                           \
    ROW(FATAL, "fatal", "fatal errors", ERROR)                                                     \
    ROW(UNSUPPORTED, "unsupported_requests", "unsupported requests", SHOWN)                        \
    ROW(LCRC_ERRORS, "lcrc_errors", "LCRC errors", RATE)                                           \
    ROW(LANE_ERRORS, "lane_errors", "lane errors", RATE)
extern const struct xb_pcie_counter_names {
    const char *key, *words;
    enum { XB_COUNT_SHOWN, XB_COUNT_RATE, XB_COUNT_ERROR } judged; /* an error is one too many */
} xb_pcie_counters[XB_PCIE_COUNTERS];

/* The latest reading that tells how many NVLinks are active; NULL where none does. */
const struct xb_device_health *xb_link_latest(const struct xb_link_device *device);

/* What the hop that limits the path did under load; 0 and 0 where it is not known. */
struct xb_lanes xb_verdict_lanes(const struct xb_verdict *verdict);

/* ---- direct copies between the devices of an ordered pair ---- */

#define XB_PEER_DEVICES 8u /* of more devices pairs are first tested in rounds, many at once */

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

/* Whether the attempt, which may be NULL, found no direct access: then no other finds any. */
bool xb_pair_has_no_access(const struct xb_pair_attempt *attempt);

struct xb_pair_verdict {
    struct xb_limit minimum; /* least bandwidth that it is judged by, in bytes per second */
    struct xb_findings found;
    size_t best;               /* index of the attempt that counts; 0 also where there is none */
    struct xb_peer_info reach; /* the source's in that attempt. links and link_rate are the less
                                  of both ends', 0 where one end does not tell */
    double ceiling;            /* links x link_rate, in bytes per second; 0 where not known */
    struct xb_link_direction bandwidth; /* its share is that of the ceiling */
    size_t like_count;                  /* how many pairs are like this one, itself included */
    double was;                         /* bandwidth in the baseline; 0 where not known */
    double like; /* their median bandwidth; 0 where fewer than XB_PEERS_LIKE were measured */
};

/* Whether anything is asked of the pair's bandwidth. */
bool xb_pair_is_judged(const struct xb_pair_verdict *verdict);

/* Shares of a pair's ceiling: what holds where no least bandwidth is set. A healthy pair never
 * comes near them (docs/link.md, "Between GPUs"). */
#define XB_PEER_WARN_SHARE 0.75
#define XB_PEER_CRITICAL_SHARE 0.50
/* A pair below this share of the median is slow, where so many have the same devices and links:
 * like pairs agree within 2 %. */
#define XB_PEERS_LIKE 3u
#define XB_PEERS_LIKE_SHARE 0.90

/* Fills what follows from the attempt `best` alone: reach, ceiling, what was measured and its
 * share. For a verdict that is read from a file. */
void xb_pair_verdict_observe(const struct xb_link_pair *pair, size_t best,
                             struct xb_pair_verdict *verdict);

/* ---- the parts of a verdict. Each adds its reasons, whose codes docs/link.md tells ---- */

/* Adds a reason to the `verdict` of the function in which it stands. */
#define FIND_AT(level, code, ...)                                                                  \
    xb_finding_put(&verdict->found,                                                                \
                   xb_why_accepted(_Generic(verdict, struct xb_verdict *                           \
                                            : verdict, default                                     \
                                            : NULL),                                               \
                                   (level), (code)),                                               \
                   (level), (code), __VA_ARGS__)
#define FIND(level, ...) FIND_AT(XB_LEVEL_##level, __VA_ARGS__)

/* More than this share of what links can carry is impossible; clocks are off by 1 % at most. */
#define XB_BANDWIDTH_ABOVE 1.01

/* Why a finding of this verdict, whose facts are known, is accepted; NULL where it is not, and for
 * the verdict on a pair, NULL. What is CRITICAL is accepted of a link alone that still has, as
 * every link above it, what is expected of it, or what it had in the baseline; fewer NVLinks where
 * another limit or the baseline finds that too many are gone. */
const char *xb_why_accepted(struct xb_verdict *verdict, enum xb_level level, const char *code);

/* Says that the test ended before `whose` ("the device's") attempts had one that is OK. */
void xb_judge_cut(struct xb_findings *found, bool interrupted, const char *whose, const char *who);

/* A hop right after the transfers. NULL for one that has lost its upper end, or shows another
 * device: it cannot be compared with what it was before. */
const struct xb_pcie_hop *xb_attempt_hop_after(const struct xb_link_attempt *attempt, size_t hop);
/* Finds the hops of one attempt, which must have a path. */
void xb_link_facts_find_hops(const struct xb_link_attempt *attempt, struct xb_link_facts *facts);

/* Judges speed and width of every hop in verdict->facts, which are the attempt's, also against what
 * was expected. Fills bottleneck and ceiling. */
void xb_judge_link(const struct xb_link_attempt *attempt, struct xb_verdict *verdict);
/* Fills what is asked of both directions, as far as the ceiling is known. */
void xb_verdict_set_limits(struct xb_verdict *verdict);
/* Fills the ways, behind xb_judge_link; adds a reason where a bandwidth cannot be judged or
 * cannot be true. */
void xb_judge_bandwidth(const struct xb_link_attempt *attempt, struct xb_verdict *verdict);
/* What went on beside any copies of a device from or to the host: a code, and words; or NULL. */
const char *xb_link_cause(const struct xb_link_device *device, const struct xb_ceiling *ceiling,
                          char text[128]);
/* Judges a bandwidth that is too low. Last of all: it asks for the link's reasons. */
void xb_judge_loss(const struct xb_link_device *device, struct xb_verdict *verdict);
/* Judges a link that was less in another attempt than in the best, or fell while data moved. */
void xb_judge_stability(const struct xb_link_device *device, struct xb_verdict *verdict);
/* So many events a second healthy devices count (docs/link.md, "What GPUs count"). */
#define XB_HEALTHY_RATE 0.6
/* Whether healthy devices of its kind are known: then what the device itself counts is judged. */
bool xb_is_hopper(const struct xb_link_device *device);
/* Judges what ports and device counted, in verdict->facts. `lasted`: how many seconds of load there
 * were, where attempts are so long that only rates count; 0: they are short. */
void xb_judge_errors(const struct xb_link_device *device, double lasted,
                     struct xb_verdict *verdict);
/* Judges NVLinks that went down or became unreadable, recoveries, and too many replays. CRC errors
 * are no reason: what arrived wrong was sent again. */
void xb_judge_nvlinks(struct xb_verdict *verdict);
