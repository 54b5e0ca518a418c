/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_VERDICT_H
#define XFERBENCH_VERDICT_H

#include "xferbench/backend.h"
#include "xferbench/ceiling.h"
#include "xferbench/pcie_path.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a device's PCIe link is what it should be: what was observed, against which limits, and
 * what follows. Pure: nothing in here reads the machine.
 */

/* The levels and their numbers are those of Nagios plugins. */
enum xb_level {
    XB_LEVEL_OK = 0,
    XB_LEVEL_WARNING = 1,
    XB_LEVEL_CRITICAL = 2,
    XB_LEVEL_UNKNOWN = 3
};

/* "OK", "WARNING", "CRITICAL", "UNKNOWN". */
const char *xb_level_name(enum xb_level level);
/* Which of two is worse: CRITICAL, then WARNING, then UNKNOWN, then OK. A defect that was seen is
 * not hidden by something that could not be. */
enum xb_level xb_level_worse(enum xb_level a, enum xb_level b);

/* ---- what was observed ---- */

/* One transfer test of one device. */
struct xb_link_attempt {
    struct xb_pcie_path at_rest; /* before; shown, its speeds never judged */
    struct xb_pcie_path after;   /* right after, also of a test that failed: counters; not present
                                    means that the device fell off the bus */
    struct xb_pcie_load load;    /* while data moved */
    struct xb_device_health health_before, health_after;
    double h2d, d2h;   /* median bytes per second of verified copies; 0 where there is none */
    bool data_wrong;   /* a copy arrived wrong */
    char failure[512]; /* why h2d or d2h is missing; "" if neither is */
};

#define XB_LINK_ATTEMPTS 10

/* One device. Not there or not told: as in struct xb_device_info. */
struct xb_link_device {
    struct xb_device_info info;
    struct xb_link_attempt attempts[XB_LINK_ATTEMPTS]; /* in the order made */
    size_t attempt_count;
    bool cut;         /* the deadline came before the device was done with */
    bool interrupted; /* so did a signal */
    bool missing;     /* there is none: fewer were found than there must be */
};

/*
 * The generation and width under load of the link that faces the slot: the best that any attempt
 * saw, for xb_limits_file_match. False, and 0 and 0, where none saw it; the generation alone is 0
 * for a rate that is none.
 */
bool xb_link_under_load(const struct xb_link_device *device, unsigned *generation, unsigned *width);

/* ---- limits ---- */

/* Where a limit came from; the nearest wins. */
enum xb_limit_source { XB_LIMIT_DEFAULT, XB_LIMIT_FILE, XB_LIMIT_COMMAND_LINE };
/* "default", "file", "command line". Static text. */
const char *xb_limit_source_name(enum xb_limit_source source);

/* A number with its origin. Not set: the default is in force. */
struct xb_limit {
    bool is_set;
    double value;
    enum xb_limit_source source;
};

struct xb_link_limits {
    struct xb_limit generation, width; /* that the slot's link must have under load, or better; in
                                          place of what both its ends can do */
    struct xb_limit min_h2d, min_d2h;  /* bytes per second: below is CRITICAL; in place of shares */
    struct xb_limit warn_share, critical_share; /* of the ceiling: below is WARNING, CRITICAL */
};

/* The shares of the ceiling that hold where nobody says otherwise: 0.90 and 0.80; up to 8 GT/s 0.85
 * and 0.70. (Reached by healthy links: docs/link-ceilings.md.) Where one of the two is set, the
 * other never stands on its wrong side: it is moved to it. */
double xb_default_warn_share(double speed_gts);
double xb_default_critical_share(double speed_gts);

/* Reads "gen5x16", "gen5" or "x16", without regard to case, into generation and width; what the
 * text does not name stays as it is. XB_ERR_USAGE says what is wrong, and *limits is as it was. */
XB_MUST_CHECK enum xb_status xb_expect_parse(const char *text, enum xb_limit_source source,
                                             struct xb_link_limits *limits, struct xb_error *error);

/* ---- what follows ---- */

/* A reason: a stable code, its level, and what to do. */
struct xb_reason {
    const char *code; /* "XB-LINK-WIDTH"; static text, documented in docs/link.md */
    enum xb_level level;
    char text[256]; /* "x8 of x16 at 0000:0f:00.0: reseat the card or check bifurcation" */
};

#define XB_VERDICT_REASONS 16

struct xb_verdict {
    enum xb_level level;
    struct xb_reason reasons[XB_VERDICT_REASONS]; /* worst first; none for OK. Of more than fit the
                                                     least bad are left out */
    size_t reason_count;
    /* What was judged: the hop that limits the path, as it was under load. */
    size_t bottleneck; /* index in the path's hops */
    struct xb_ceiling ceiling;
    double h2d_share, d2h_share; /* of the ceiling; 0 where either is not known */
    double min_h2d, min_d2h;     /* bytes per second: below is CRITICAL; 0 where there is none */
    double warn_h2d, warn_d2h;   /* below is WARNING; 0 where there is none */
    enum xb_limit_source limit_source; /* of min_h2d */
};

/* Judges one attempt. */
void xb_verdict_of_attempt(const struct xb_link_attempt *attempt,
                           const struct xb_link_limits *limits, struct xb_verdict *verdict);

/*
 * Judges a device: its best attempt counts, because a neighbour's traffic or a clock that was slow
 * to rise can only make a link look worse than it is; but errors that were counted in any attempt
 * (their sum), data that was wrong, a device that vanished, and a link that was less in one attempt
 * than in the best or fell while data moved stay. *best is the index of the
 * attempt that counted: the one with the least bad level, what stays left aside, and of several the
 * one with the highest bandwidths. For that UNKNOWN is the worst level: an attempt that could not
 * be judged does not hide a defect that another saw. A device without an attempt is UNKNOWN (*best
 * is 0 then), and so is one whose copies cross no PCIe link.
 */
void xb_verdict_of_device(const struct xb_link_device *device, const struct xb_link_limits *limits,
                          struct xb_verdict *verdict, size_t *best);

#endif
