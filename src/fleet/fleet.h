/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* A fleet: everything in many documents of many nodes that helps to compare siblings. It takes one
 * document after the other and forgets it: memory grows with nodes, GPUs and values, never with the
 * size of the documents. It copies every text that it is given, and has each once: equal texts have
 * one address. NULL: not known. `number`, where a struct has it, is its index in the fleet. */

/* Where a document came from. */
struct xb_fleet_source {
    const char *path;      /* as the user named it, or of a file in a named folder; "-" */
    size_t number;         /* of the document in it, from 1; 0 where it is the only one */
    const char *kind;      /* "link", "run": what a newer one of the same kind can replace */
    time_t dated, written; /* its timestamp, or 0; the same, but below 0 if it is still to come */
    double began;          /* when measuring began, seconds since the epoch; NAN: not known */
    double late_s;         /* after the agreed time; NAN where none was agreed */
    bool unsynchronised;   /* the node said that its clock follows no other */
    unsigned rank, ranks;  /* the launcher's process that wrote it, of how many; 0: not known */
};

struct xb_fleet_node {
    const char *name; /* that its launcher and scheduler use */
    const char *hostname;
    const char *driver, *kernel; /* versions, from the newest document that has one */
    time_t driver_told, kernel_told;
    bool is_partial;      /* no link test of all its GPUs is there: it may have others */
    const char *expected; /* what the user calls it; NULL: not expected, or not judged yet */
    size_t number;
};

struct xb_fleet_gpu {
    struct xb_fleet_node *node;
    unsigned index; /* as in the newest document */
    const char *model, *uuid, *pci_bdf;
    const char *serial, *vbios; /* of the newest document that tells them */
    /* The slot's link under load, from the newest document that knows it; 0: none does. */
    double link_speed_gts;
    unsigned link_width;
    /* When documents were written: the newest, the first, the one that told the link. */
    time_t told, first_told, link_told;
    size_t number;
    /* Set by judging: a newer document has another GPU at its place; so it is gone, and where its
     * node has a document of a later launch, which does not find it. The GPU that it is, if it was
     * moved; else itself. */
    bool is_replaced, is_gone;
    struct xb_fleet_gpu *now;
};

/* What was measured, and everything that must be the same before values are compared: two that
 * differ in any text are two figures. */
struct xb_fleet_figure {
    const char *name; /* "link h2d", "pinned h2d 1 GiB bandwidth", "link peer" */
    const char *unit; /* XB_UNIT_... */
    bool more_is_better;
    const char *backend, *model, *driver;
    /* What the GPU can do: "Gen5 x16"; for pairs what they go by: "NVLink x18", and where that
     * cannot be counted also their place: "PCIe 0000:0f:00.0>0000:1f:00.0". How many links a pair
     * has, 0 for PCIe, and whether that is known. */
    const char *link;
    unsigned links;
    bool links_known;
    const char *options; /* in effect, that change a figure: "size=1073741824 ..." */
    size_t number;
};

/* One value of one GPU, or of a GPU and its peer. */
struct xb_fleet_value {
    const struct xb_fleet_figure *figure;
    struct xb_fleet_gpu *gpu;
    int peer;       /* index of the other device of a pair; -1 for none */
    bool replaced;  /* set by judging: a newer document has that figure of them */
    double value;   /* median, in the figure's unit; above 0 */
    double scatter; /* standard error of that median by its own samples, as a share; NAN: unknown */
    double then;    /* set by judging: what it was in the baseline; 0: not known */
    size_t source;
    time_t written; /* the source's */
};

/* Why a node or GPU is named. The words stand in JSON, CSV and Prometheus' labels. */
enum xb_fleet_code {
    XB_FLEET_MISSING,      /* "missing": an expected node without a document */
    XB_FLEET_WRONG_DATA,   /* "wrong-data": a copy arrived wrong */
    XB_FLEET_FAILED,       /* "failed": a case did: "pinned h2d 1 GiB: CUDA error 719 ..." */
    XB_FLEET_LINK_VERDICT, /* "link-verdict": its own link test is CRITICAL, or tested nothing */
    XB_FLEET_FEWER_GPUS,   /* "fewer-gpus": than most nodes with GPUs of that model have */
    XB_FLEET_NARROWER,     /* "narrower-link": fewer lanes, or a slower rate, than most siblings */
    XB_FLEET_SLOW,         /* "slow": worse than its siblings; from here up bad */
    XB_FLEET_ALL_SLOWER,   /* "all-slower": all GPUs of a model, than in the baseline; of no node */
    XB_FLEET_BELOW_BASELINE, /* "below-baseline": slower than itself there, or it has fewer GPUs */
    XB_FLEET_LINK_WARNING,   /* "link-warning": its own link test is a WARNING or UNKNOWN */
    XB_FLEET_CUT,            /* "cut-short": a signal or the deadline ended the measurement */
    XB_FLEET_FAST,           /* "fast": better than its siblings */
    XB_FLEET_OTHER_DRIVER,   /* "other-driver": than most nodes have */
    XB_FLEET_CODES
};

/* How a code is told: "slow", "is slow", "are slow", and what to do, as docs/fleet.md has it. */
struct xb_fleet_saying {
    const char *name, *of_one, *of_many, *next;
};
extern const struct xb_fleet_saying xb_fleet_sayings[XB_FLEET_CODES];
/* Whether this code is a reason to take a node out of service. A neighbour's copies are enough for
 * a warning, and who set the deadline or sent the signal is mostly not the node. */
bool xb_fleet_code_is_bad(enum xb_fleet_code code);

/* Something found: by judging, or by a document against its own node or GPU. */
struct xb_fleet_finding {
    enum xb_fleet_code code;
    const struct xb_fleet_node *node;
    struct xb_fleet_gpu *gpu;             /* NULL if it is about the node */
    const struct xb_fleet_figure *figure; /* NULL: of none, and the numbers are NAN */
    int peer;                             /* index of the other device of a pair; -1 for none */
    double value, centre, deviation;      /* of the figure; siblings' median, or the value in the
                                             baseline; value / centre - 1 */
    double spreads;   /* the deviation in spreads of its siblings, with its sign */
    double p;         /* adjusted for all tests: at most alpha */
    double worst;     /* how far the GPU's worst finding of the code deviates: rows' order */
    bool together;    /* so many siblings or nodes have the same that one cause is likelier than so
                         many faults: look for it before any of them is taken out of service */
    bool unsure;      /* "missing", but a document that could not be read may be its, or none
                         of the expected nodes is there */
    const char *text; /* the finding in a sentence; may hold words of a document */
    /* A document's: which, and the causes, a line each, without what differs from node to node:
     * "CRITICAL XB-LINK-WIDTH"; NULL: not known. */
    size_t source;
    const char *causes;
    time_t written; /* the source's */
    bool replaced;  /* set by judging: by a newer document */
};

/* A document, a file or a folder that was left out: path and number, and why. */
struct xb_fleet_left_out {
    const char *what, *why;
};

#define XB_FLEET_TOLD 1000 /* names at most so many of the documents that are left out */

struct xb_fleet {
    time_t now; /* when it is read: what is dated a day later cannot have been written */
    /* Link tests are judged by these limits, not by their own, if they are set before reading;
     * borrowed. How many GPUs were, and how many match no entry: their own verdict holds. */
    const struct xb_limits_file *limits;
    size_t limited_count, unlimited_count;
    struct xb_fleet_source *sources;
    struct xb_fleet_node **nodes;
    struct xb_fleet_gpu **gpus;
    struct xb_fleet_figure **figures;
    struct xb_fleet_value *values;
    struct xb_fleet_finding *complaints;
    struct xb_fleet_left_out *left_out; /* the first XB_FLEET_TOLD of left_out_count */
    size_t source_count, node_count, gpu_count, figure_count, value_count, complaint_count;
    size_t left_out_count, unread_count; /* documents; those that are broken may be any node's */
    void *known_texts, *known_things;    /* search trees: find what is already in the fleet */
    struct xb_arena *texts;
};

/* An empty fleet, which is read now. */
void xb_fleet_open(struct xb_fleet *fleet);
void xb_fleet_free(struct xb_fleet *fleet); /* accepts a zeroed one */

/* ---- adding: functions give what the fleet keeps, the same for the same thing ---- */

size_t xb_fleet_add_source(struct xb_fleet *fleet, const struct xb_fleet_source *source);
/* The `name` identifies a node. The newest document (`driver_told`) gives the driver. */
struct xb_fleet_node *xb_fleet_add_node(struct xb_fleet *fleet, const struct xb_fleet_node *node);
/* Its place identifies a GPU: its node and its PCI address there; without that its UUID there, or
 * the model and index. Another UUID at that place is another GPU, but one UUID at two places may be
 * two as well. The newest document (`told`) gives the rest, as far as it knows it. */
struct xb_fleet_gpu *xb_fleet_add_gpu(struct xb_fleet *fleet, const struct xb_fleet_gpu *gpu);
const struct xb_fleet_figure *xb_fleet_add_figure(struct xb_fleet *fleet,
                                                  const struct xb_fleet_figure *figure);
/* A GPU may have any number of values of a figure: the newest counts. */
void xb_fleet_add_value(struct xb_fleet *fleet, const struct xb_fleet_value *value);
/* What a document says against its own node or GPU. */
void xb_fleet_add_complaint(struct xb_fleet *fleet, const struct xb_fleet_finding *complaint);
/* `is_foreign`: the document is not broken, but it is of no node. */
void xb_fleet_leave_out(struct xb_fleet *fleet, const char *what, const char *why, bool is_foreign);

/* ---- reading: documents of link and run, of one process or several ----
 * If a document is broken, too large, of another program or of a kind without a node, it is left
 * out and named in the fleet; that is no failure. XB_ERR_MEMORY for a text; XB_ERR_STOPPED after a
 * signal. */

/* A file of one document or several, a folder (base/file_text.h), or "-": standard input, until its
 * end. */
enum xb_status xb_fleet_read(struct xb_fleet *fleet, const char *path, struct xb_error *error);
/* One document in memory; a zero byte follows it. `number`: see struct xb_fleet_source. */
enum xb_status xb_fleet_read_text(struct xb_fleet *fleet, const char *path, size_t number,
                                  const char *text, size_t length, struct xb_error *error);

/* ---- judging: which GPUs and nodes of a fleet are not like their siblings? ----
 * docs/fleet-statistics.md describes the method, what it promises and how we simulated that. */

#define XB_FLEET_SIBLINGS 5 /* fewest others by which a value is judged */
#define XB_FLEET_BINS 41    /* of a histogram: odd, so that the median is in the middle one */

struct xb_fleet_request {
    /* Highest accepted chance that any GPU of a fleet of equals is named `slow` or `fast`. */
    double alpha;
    const char *const *expected; /* names of the nodes that should be there; NULL: not given */
    size_t expected_count;
    struct xb_fleet *baseline; /* what it was when it was accepted, to be judged; NULL: not given */
    const char *limits_path, *baseline_path; /* as the user named them */
};

/* How long the tails of a figure's values may be: Student's t with more and more degrees of
 * freedom, how likely each is, and its scale in spreads. */
#define XB_TAIL_FITS 13
struct xb_tails {
    double weight[XB_TAIL_FITS], scale[XB_TAIL_FITS];
};

/* One figure over its GPUs. */
struct xb_fleet_siblings {
    const struct xb_fleet_figure *figure;
    size_t values, nodes; /* of GPUs or pairs, the newest of each; on which those GPUs are */
    bool judged;          /* false: too few */
    double centre;        /* median */
    double spread;        /* as a share of that: 1.4826 times the median absolute deviation */
    bool is_floor;        /* the spread is the least one, because that is less */
    double least, most;
    double slots_differ; /* by which share slots differ on all nodes, from 0.5 % on; else 0. Spread
                            and named_from are then of values less what is usual for their slot */
    double independent;  /* how many values that know nothing of each other judge as well as all:
                            fewer where those of a node are alike */
    struct xb_tails tails[2]; /* for values below the centre, and above */
    bool long_tails;          /* both are longer than normal beyond doubt */
    double named_from; /* share of the centre by which a GPU with samples like most is just slow;
                          NAN where it is not judged */
    double fast_from;  /* the same of fast ones */
    size_t slow, fast, slow_nodes, fast_nodes; /* named, and the nodes that have them */
    size_t bins[XB_FLEET_BINS]; /* how many values lie where, evenly from bins_from to bins_to, */
    double bins_from, bins_to;  /* which hold least and most, in the unit */
};

struct xb_fleet_judgement {
    const struct xb_fleet *fleet; /* borrowed, with its texts and the request's */
    struct xb_fleet_request request;
    struct xb_fleet_finding *findings;  /* the worst first */
    struct xb_fleet_siblings *siblings; /* one for each figure: judged ones first, then by name */
    const char **notes;                 /* sentences that a reader must know */
    size_t finding_count, sibling_count, note_count;
    size_t found[XB_FLEET_CODES], unsure; /* findings of each code; those that are unsure */
    size_t tests;       /* how many values were judged; alpha holds for all of them together */
    size_t judged_gpus; /* GPUs that were judged in at least one figure */
    size_t duplicates;  /* values that were left out because a newer document has them too */
    size_t compared_nodes, compared_gpus, compared; /* with the baseline; values */
    struct xb_arena *texts;
};

/* Judges everything in the fleet, when all is in it: makes one GPU of those that were moved, drops
 * values that a newer document has too, and reorders the others. */
void xb_fleet_judge(struct xb_fleet *fleet, const struct xb_fleet_request *request,
                    struct xb_fleet_judgement *judgement);
void xb_fleet_judgement_free(struct xb_fleet_judgement *judgement); /* accepts a zeroed one */

/* 0 nothing was named; 1 something was, or a document could not be read; 2 none could be read; 3
 * too few siblings to judge anything, no baseline, and nothing was named without them. */
int xb_fleet_exit_code(const struct xb_fleet_judgement *judgement);
