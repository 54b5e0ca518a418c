/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Which of many this process is: its node in the fleet, and its rank among the processes that a
 * launcher started together. Both come from environment variables. An empty one counts as not set,
 * and a wrong one is an error, because the results would count for another node. */

#define XB_NODE_NAME 256 /* bytes of a name, with the zero */
#define XB_NODE_VARIABLE "XFERBENCH_NODE"
#define XB_RANKS UINT32_C(10000000) /* the most processes that may be started together */

struct xb_node_name {
    char name[XB_NODE_NAME];
    const char *named_by; /* the variable that named it, static text; NULL: it is the host name */
};

/* The node's name: XFERBENCH_NODE, else SLURMD_NODENAME, which is the name that scontrol takes and
 * may differ from the host name, else the host name. Where PMI_RANK and SLURM_PROCID tell different
 * ranks, SLURMD_NODENAME may be another node's, and does not count. XB_ERR_USAGE for what is no
 * name: empty, too long, "." or "..", a '/', a character that xb_utf8_is_harmful() tells. */
enum xb_status xb_node_find(struct xb_node_name *node, struct xb_error *error);

#define XB_NODE_TEXT (2 * XB_NODE_NAME + 16)
/* "gpu007", or "gpu007 (host alias7)" if the host has another name. Either may be NULL; "" if both
 * are. They may come from a file: make it plain before you print it. `text` holds XB_NODE_TEXT. */
const char *xb_node_text(const char *name, const char *hostname, char *text);

struct xb_launcher {
    bool known;           /* false: no launcher told a rank */
    uint64_t rank;        /* from 0 */
    uint64_t ranks;       /* how many there are; 0: not told */
    const char *named_by; /* the variable that told the rank, static text; NULL: none */
};

/* The rank from the first of these that is set: OMPI_COMM_WORLD_RANK (Open MPI), PMI_RANK (MPICH
 * and others with PMI), PMIX_RANK (PMIx), SLURM_PROCID (Slurm: last, because a batch script has 0
 * there, which the processes of its mpirun inherit). XB_ERR_USAGE if a rank or a number of ranks is
 * no number, or the rank is too large. */
enum xb_status xb_launcher_find(struct xb_launcher *launcher, struct xb_error *error);

/* Whether both can be found: a command asks before it measures. */
enum xb_status xb_node_check(struct xb_error *error);

/* ---- when measuring begins: at once, or at a time that several nodes have agreed on ---- */

/* How well this node's clock is kept, from adjtimex(2), which changes nothing here. */
struct xb_clock_state {
    bool is_known;        /* false: the kernel does not tell, as in some containers */
    bool is_synchronised; /* chronyd, ntpd or the like keeps it */
    double error_s;       /* the clock's largest possible error, as the kernel estimates it */
};

/* How it began. Zeroed: nothing has begun. Times are on the clock of base/units.h. */
struct xb_start {
    double asked; /* the agreed time; 0: none */
    double began; /* when measuring began; 0: it did not */
    struct xb_clock_state clock;
};

/* A later start gets a warning. */
#define XB_START_LATE_S 0.1

/* Waits for the time `at` (0: none), and notes that measuring begins now. Where a signal or the
 * deadline (on the clock of base/clock.h; 0: none) ends the wait, nothing has begun. */
void xb_start_wait(double at, double deadline, struct xb_start *start);

/* A warning that this node began `late_s` (NAN: not known) after the agreed time, or that nothing
 * keeps its clock. NULL for none; else in `text`, which holds XB_START_WARNING. */
#define XB_START_WARNING 256
const char *xb_start_warning(double late_s, const struct xb_clock_state *clock, char *text);
