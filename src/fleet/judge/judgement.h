/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fleet/fleet.h"

/*
 * Finds the GPUs and nodes of a fleet that are not like their siblings. docs/fleet-statistics.md
 * describes the method, what it promises and how we simulated that.
 */

#define XB_FLEET_SIBLINGS 5 /* fewest others by which a value is judged */
#define XB_FLEET_BINS 41    /* of a histogram: odd, so that the median is in the middle one */

struct xb_fleet_request {
    /* Highest accepted chance that any GPU of a fleet of equals is named `slow` or `fast`. */
    double alpha;
    const char *const *expected; /* names of the nodes that should be there; NULL: not given */
    size_t expected_count;
};

struct xb_fleet_finding {
    enum xb_fleet_code code;
    const char *node;     /* name */
    size_t gpu;           /* XB_FLEET_NONE if it is about the node */
    int peer;             /* index of the other device of a pair; -1 for none */
    size_t figure;        /* of "slow" and "fast"; else XB_FLEET_NONE */
    double value, centre; /* of the figure; NAN without one */
    double deviation;     /* value / centre - 1; NAN without a figure */
    double spreads;       /* the same in spreads of its siblings, with its sign; else NAN */
    double p;             /* adjusted for all tests: at most alpha; else NAN */
    double worst;         /* how far the GPU's worst finding of the code deviates: rows' order */
    bool together;    /* so many siblings or nodes have the same that one cause is likelier than so
                         many faults: look for it before any of them is taken out of service */
    bool unsure;      /* "missing", but a document that could not be read may be its, or none
                         of the expected nodes is there */
    const char *text; /* the finding in a sentence; may hold words of a document */
};

/* One figure over its GPUs. */
struct xb_fleet_siblings {
    size_t figure; /* index in the fleet */
    size_t values; /* of GPUs or pairs, the newest of each */
    size_t nodes;  /* on which those GPUs are */
    bool judged;   /* false: too few */
    double centre; /* median */
    double spread; /* as a share of the centre: 1.4826 times the median absolute deviation, but at
                      least the floor */
    bool is_floor; /* the spread is the floor */
    double least, most;
    double slots_differ; /* by which share slots differ on all nodes, from 0.5 % on; else 0. Spread
                            and named_from are then of values less what is usual for their slot */
    double independent;  /* how many values that know nothing of each other judge as well as all:
                            fewer where those of a node are alike */
    double wide; /* where the values lie further out on both sides than normal ones would: within
                    which share 63 % are taken to lie, by an exponential distribution; else 0 */
    double named_from; /* share of the centre by which a GPU with samples like most is just named;
                          NAN where it is not judged */
    size_t slow, fast; /* named */
    size_t slow_nodes, fast_nodes; /* that have them */
    size_t bins[XB_FLEET_BINS]; /* how many values lie where, evenly from bins_from to bins_to, */
    double bins_from, bins_to;  /* which hold least and most, in the unit */
};

struct xb_fleet_judgement {
    const struct xb_fleet *fleet; /* borrowed, with its texts and the request's */
    struct xb_fleet_request request;
    struct xb_fleet_finding *findings; /* the worst first */
    size_t finding_count;
    struct xb_fleet_siblings *siblings; /* one for each figure: judged ones first, then by name */
    size_t sibling_count;
    size_t tests;       /* how many values were judged; alpha holds for all of them together */
    size_t judged_gpus; /* GPUs that were judged in at least one figure */
    size_t duplicates;  /* values that were left out because a newer document has them too */
    const char **notes; /* sentences that a reader must know */
    size_t note_count;
    struct xb_arena *texts;
};

/* Judges everything in the fleet, when all is in it: makes one GPU of those that were moved, drops
 * values that a newer document has too, and reorders the others. */
void xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                    struct xb_fleet_judgement *judgement);
void xb_fleet_judgement_free(struct xb_fleet_judgement *judgement); /* accepts a zeroed one */

/* 0 nothing was named; 1 something was, or a document could not be read; 2 none could be read; 3
 * too few siblings to judge anything, and nothing was named without them. */
int xb_fleet_exit_code(const struct xb_fleet_judgement *judgement);
