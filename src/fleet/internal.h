/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_read.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/statistics.h"
#include "base/terminal.h"
#include "fleet/fleet.h"
#include "link/report.h"
#include "record/record.h"

/* ---- shared by the parts of judging ---- */

/* A smaller deviation is never named, even if the siblings agree closely. */
#define XB_FLEET_LEAST_DEVIATION 0.005
/* The standard deviation of normal values is their median absolute deviation times this:
 * 1 / 0.6745. */
#define XB_FLEET_TO_DEVIATION 1.4826022185056018
/* The least spread of siblings, as a share: smaller differences come from rounding and the clock.
 */
#define XB_FLEET_LEAST_SPREAD 0.001
/* Where more than this share of the nodes, and so many, have the same finding, it is written once
 * for all (struct xb_fleet_finding); so it is for more than half of a few. Nodes count and not
 * GPUs: all eight of one node are slow for one fault. */
#define XB_FLEET_TOGETHER_SHARE 0.1
#define XB_FLEET_TOGETHER 5

/* Documents do not name their launch. One launch writes its documents within so many seconds; later
 * ones are of another. */
#define XB_FLEET_LAUNCH_S ((time_t)6 * 3600)

/* A value on its way to a finding. */
struct xb_tested {
    const struct xb_fleet_value *value; /* in the fleet */
    double logarithm;                   /* less the shift */
    double shift, unsure;  /* by how much its slot differs by design, 0 where that is not known; how
                              wrong that may be, as a spread */
    double centre, spread; /* of its siblings' logarithms: median, and what it is judged by */
    size_t siblings;       /* how many */
    double independent;    /* how many independent values they count as */
    const struct xb_tails *tails; /* of struct xb_fleet_siblings */
    double share, spreads, p;     /* deviation, spreads and p of struct xb_fleet_finding */
};

struct xb_judging {
    struct xb_fleet *fleet;
    struct xb_fleet_judgement *judgement;
    struct xb_tested *tested;      /* the newest value of every GPU and peer, figure by figure */
    size_t tested_count, unusable; /* how many, and how many values are no positive numbers */
    size_t group_notes;            /* how many figures have a note of their groups */
    struct xb_arena *scratch;      /* memory of the part that runs */
};

/* Zeroed memory until the part returns. */
#define XB_SCRATCH(judging, count, size) xb_arena_new(&(judging)->scratch, (count) * (size))

/* The parts of judging, in the order in which they run. To gather siblings describes each figure,
 * and gives each value with enough siblings its centre and spread: `tested` keeps only these, still
 * figure by figure. */
typedef void xb_fleet_part(struct xb_judging *judging);
xb_fleet_part xb_fleet_join_moved, xb_fleet_name_complaints, xb_fleet_take_newest,
    xb_fleet_gather_siblings, xb_fleet_name_outliers, xb_fleet_note_lacking, xb_fleet_name_missing,
    xb_fleet_name_unlike_most, xb_fleet_note_start, xb_fleet_compare_baseline;

/* The median of what `value` says of 0 <= i < count; sorts these numbers into `scratch`. */
#define XB_MEDIAN(scratch, count, value)                                                           \
    ({                                                                                             \
        for (size_t i = 0; i < (count); i++)                                                       \
            (scratch)[i] = (value);                                                                \
        xb_median_of((scratch), (count));                                                          \
    })

/* Sorts `count` values of one figure by their logarithms, and gives each the centre and spread of
 * the others. `offsets` has room for `count` numbers. */
void xb_fleet_leave_each_out(struct xb_tested *values, size_t count, double *offsets);
/* Whether so many of `count` nodes are named for the same that it is no coincidence. */
bool xb_fleet_is_together(size_t named, size_t count);

/* Counts nodes, each once, however many of its GPUs and values are counted. */
struct xb_node_tally {
    size_t *rounds; /* of every node: in which round it was counted last */
    size_t round, count;
};

struct xb_node_tally xb_node_tally_open(struct xb_judging *judging);
void xb_node_tally_begin(struct xb_node_tally *tally); /* another round, from 0 again */
void xb_node_tally_add(struct xb_node_tally *tally, const struct xb_fleet_node *node);

/* ---- what is told ---- */

/* A finding about a value beside another one, which chance has no part in. A value of no GPU is
 * that of all nodes. */
struct xb_fleet_finding xb_fleet_finding_of(enum xb_fleet_code code,
                                            const struct xb_fleet_value *value, double centre);
/* Adds a finding, with a text as by printf. */
void xb_fleet_add_finding(struct xb_judging *judging, struct xb_fleet_finding finding,
                          const char *format, ...) __attribute__((format(printf, 3, 4)));
/* In a part of judging: adds a finding about a node or one of its GPUs, without a figure. */
#define XB_NAME(code_, node_, gpu_, together_, ...)                                                \
    xb_fleet_add_finding(                                                                          \
        judging,                                                                                   \
        (struct xb_fleet_finding){                                                                 \
            .code = (code_), .node = (node_), .gpu = (gpu_), .together = (together_)},             \
        __VA_ARGS__)
/* Adds a note, as by printf; XB_NOTE in a part of judging. */
#define XB_NOTE(...) xb_fleet_add_note(judging, __VA_ARGS__)
void xb_fleet_add_note(struct xb_judging *judging, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The GPU and the figure of a finding: without names, and behind all others, where it has none. */
const struct xb_fleet_gpu *xb_fleet_gpu_of(const struct xb_fleet_finding *finding);
const struct xb_fleet_figure *xb_fleet_figure_of(const struct xb_fleet_finding *finding);

/* The first few names of a list: "n1, n2, n3 and 9 more". */
#define XB_FLEET_NAMES(names, count)                                                               \
    xb_fleet_names_text((names), (count), &(struct xb_words){.length = 0})
const char *xb_fleet_names_text(const char *const *names, size_t count, struct xb_words *words);
/* "52.93 GB/s" or "52.93", "12.1 us"; a share as "5.0 %". `text` of 64 bytes. */
const char *xb_fleet_value_text(double value, const char *unit, bool with_unit, char *text);
const char *xb_fleet_percent_text(double share, char *text);
/* What an axis shows of a unit: "GB/s" for B/s, "us" for s; and how large that is. */
const char *xb_fleet_unit(const char *unit, double *size);
/* "h2d, NVIDIA H200, Gen5 x16": the figure's name and conditions, as far as they are known. */
const char *xb_fleet_figure_text(const struct xb_fleet_figure *figure, char *text, size_t size);

/* Compares names like strcmp(), but digits count as numbers: "n2" comes before "n10". Returns 0
 * only for the same text. NULL comes first. */
int xb_natural_compare(const char *left, const char *right);
#define XB_BY_NAME(member) xb_natural_compare(a->member, b->member) /* XB_COMPARER */

/* ---- how likely it is that a value lies so far from others of its kind by chance ---- */

/* P(|T| >= t) of Student's t with nu > 0 degrees of freedom, also fractional ones; t >= 0. */
double xb_tail_student(double t, double nu);
/* An upper bound of the probability that a value lies `t` >= 0 or more spreads (1.4826 times the
 * median absolute deviation) from the median of `others` >= 2 other values, on either side, if all
 * are independent and have the same normal distribution. It holds if the result is 0.01 or less;
 * docs/fleet-statistics.md tells why. */
double xb_tail_of_siblings(double t, double others);
/* Fits the tails of `count` sorted values with that middle and spread, worth so many independent
 * ones, for judging those below and those above. Their own spreads are known. Returns whether both
 * tails are longer than normal beyond doubt. */
bool xb_tails_fit(const struct xb_tested *sorted, size_t count, double middle, double spread,
                  double independent, struct xb_tails ends[2]);
/* Where tails are long somebody may be named about 5 times as often as among normal values: P is
 * divided by this. By simulation, the largest at which 48, 120 and 500 values of Student's t with 3
 * and 5 degrees of freedom keep that. */
#define XB_TAIL_MORE_OFTEN 4.75
/* The larger of xb_tail_of_siblings() and, divided by XB_TAIL_MORE_OFTEN, the probability among
 * values with such tails. Zeroed ones: of normal values. */
double xb_tail_of_figure(double t, double others, const struct xb_tails *tails);
/* The least t for which xb_tail_of_figure() returns `p` or less, to 12 digits; 0 < p < 1. */
double xb_tail_limit(double p, double others, const struct xb_tails *tails);

/* The length of both at a right angle. Not hypot(): as of glibc 2.35 that is another symbol, and a
 * program that asks for it does not start on RHEL 9, which has 2.34. */
double xb_fleet_add_squares(double one, double other);

/* ---- reading ---- */

/* What the names of figures depend on, the same for all documents. */
struct xb_fleet_terms {
    const struct xb_option *const *rows; /* every option of `run` */
    struct xb_record defaults;           /* their defaults */
    uint64_t link_bytes;                 /* the default size of a copy of `link` */
};

/* A document that was read: a link test, or results of one process or several. */
struct xb_fleet_document {
    struct xb_fleet_source origin;
    char *text; /* NULL if it is broken */
    size_t length;
    uint64_t line;             /* where it begins; 0: it is the only one */
    const char *why;           /* it is left out; NULL: it is not */
    bool is_foreign;           /* it is not broken, but it is of no node */
    struct xb_fleet_node host; /* its name is that for launcher and scheduler, else its host name */
    const char *backend;       /* NULL: not known */
    struct xb_arena *texts;    /* of these, and of what is taken */
    bool is_link;
    double link_bytes; /* its own size of a copy; NAN: not known */
    struct xb_link_file link;
    size_t limited; /* GPUs that were judged by the fleet's limits */
    struct xb_record record;
    /* While the fleet takes it: */
    struct xb_fleet *fleet;
    const struct xb_fleet_terms *terms;
    size_t source;
    struct xb_fleet_node *node;
    struct xb_fleet_gpu **gpus; /* of its devices; NULL: not there */
    struct xb_fleet_gpu *said;  /* what was added for each of them */
    size_t gpu_count;           /* of those, until now */
};

/* Takes every value, fault and GPU of it into the fleet. */
void xb_fleet_take(struct xb_fleet *fleet, const struct xb_fleet_terms *terms,
                   struct xb_fleet_document *doc);
