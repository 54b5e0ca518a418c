/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "verdict.h"

/* What was seen of devices over minutes of load and rest (link --duration, docs/link.md). Nothing
 * grows with the time. Minutes are counted from 1; the test before them is minute 0. */

/* What a quantity was in all readings of it. */
struct xb_soak_range {
    unsigned count; /* 0: the rest says nothing */
    double least, mean, most, first, last;
    unsigned least_in; /* where the least was read first: the minute */
};
void xb_soak_note(struct xb_soak_range *range, double value, unsigned where);

/* Rates in bytes per second are medians of a turn of load, in which all devices copy at once; all
 * else is read each second under load. */
enum xb_soak_quantity {
    XB_SOAK_TO_GPU, /* while copies go both ways */
    XB_SOAK_BACK,
    XB_SOAK_KERNELS,      /* each way, of copies in and out with a kernel between them */
    XB_SOAK_PEER,         /* to another device, which sends as well */
    XB_SOAK_TEMPERATURE,  /* degrees Celsius */
    XB_SOAK_POWER,        /* watts */
    XB_SOAK_SM_CLOCK,     /* MHz */
    XB_SOAK_MEMORY_CLOCK, /* MHz */
    XB_SOAK_QUANTITIES
};

/* The link of a hop. A reading under load is the highest of a second. */
struct xb_soak_hop {
    char lower[16]; /* PCI address of the lower end */
    struct xb_lanes most, least, rest_least;
    unsigned readings, reduced; /* of them below the highest before */
    unsigned least_in;          /* minute of the lowest */
    unsigned rest_changes;      /* rests at whose ends it was not the same */
};

#define XB_SOAK_REASONS 8

struct xb_soak_device {
    struct xb_soak_range ranges[XB_SOAK_QUANTITIES];
    struct xb_soak_hop hops[XB_PCIE_HOPS]; /* [0] is the device's own */
    size_t hop_count;
    struct xb_link_facts facts;  /* what was counted under load; no hops */
    double load_seconds;         /* for which that was counted */
    unsigned verified, wrong;    /* turns whose last copies were right, and not right */
    char failure[256];           /* of the first turn with wrong data, else of one without result */
    unsigned failed_in, gone_in; /* minutes */
    bool gone;                   /* it fell off the bus */
    unsigned looks, slowed, slowed_in; /* readings of what slows it; where hardware does; minute */
    struct xb_soak_reason {
        char words[40];
        unsigned looks;
    } reasons[XB_SOAK_REASONS];
    size_t reason_count;
    unsigned rests, restless; /* of them with retrains */
    double rest_seconds;
    bool rest_counted; /* retrains are known */
    uint64_t rest_retrains, rest_errors;
    double before[XB_LINK_WAYS]; /* rates of the test before; 0: none */
};

struct xb_link_soak {
    double asked, took;             /* seconds */
    unsigned minutes;               /* that began */
    bool ended;                     /* it came to its end */
    bool interrupted;               /* a signal came */
    char left_out[256];             /* which load was left out, and why; "": none */
    struct xb_soak_device *devices; /* in the order of the report's */
    size_t device_count;
};

/* Adds what links did in a second of load. Returns whether one was below its highest. */
bool xb_soak_add_links(struct xb_soak_device *device, const struct xb_pcie_path *path,
                       const struct xb_pcie_load *load, unsigned minute);
/* Adds a reading under load. */
void xb_soak_add_look(struct xb_soak_device *device, const struct xb_device_health *health,
                      unsigned minute);
/* Adds a turn of load, or an attempt of a test: what was counted, and what went wrong. */
void xb_soak_add_attempt(struct xb_soak_device *device, const struct xb_link_attempt *attempt,
                         unsigned minute);
/* Adds a rest, which has paths and counters of its beginning and its end. */
void xb_soak_add_rest(struct xb_soak_device *device, const struct xb_link_attempt *rest);

/* A link takes one or two trainings to go to rest, and none after that. One that is trained more
 * often in a rest, in the mean, and in most rests, does not rest. */
#define XB_SOAK_RETRAINS_A_REST 2

/* Adds what the soak says of a device to the verdict on it. */
void xb_judge_soak(const struct xb_link_soak *soak, size_t index,
                   const struct xb_link_device *device, struct xb_verdict *verdict);
