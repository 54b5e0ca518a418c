/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_BARRIER_H
#define XFERBENCH_MACHINE_BARRIER_H

#include "xferbench/error.h"

#include <stdint.h>

/*
 * A folder on a file system that several processes share, in which they wait for each other.
 *
 * They tell each other everything in the names of empty files, because over NFS a name is there or
 * not, but the content of a file may come later. A process NAME (its node, and its rank if it has
 * one)
 *
 *   1. claims its name: it creates `claim.NAME`, which must not exist yet;
 *   2. comes: it creates `here.NAME.NONCE`, with a number that no other run has;
 *   3. answers when all are here: it creates `seen.NAME.SET`, where SET is a digest of all `here`
 *      files;
 *   4. goes when all have answered with its own SET. The one whose `here` file sorts first sets the
 *      time at which all begin: `start.SET.MICROSECONDS`.
 *
 * Until all have answered, whatever is wrong ends them all. From then on none is refused for what
 * comes into the folder, or some would begin without the others. Whose time is up, or who got a
 * signal, answers no more.
 *
 * Files of an earlier run cannot let a process pass, because nobody answers for those with a SET
 * that this process is in. They are never removed: a folder is for one run. Whoever finds its name
 * claimed leaves `used.NAME`, so that the others of its run fail at once and not at their limit.
 */
struct xb_barrier {
    const char *folder; /* made if it does not exist; its parent must exist */
    const char *node;
    int64_t rank;   /* -1: none */
    uint64_t tasks; /* how many meet */
    double until;   /* when it gives up, on the clock of base/clock.h */
};

#define XB_BARRIER_TASKS 5000 /* the most: then each looks every 50 seconds */
/* Without a deadline a process gives up after so long. */
#define XB_BARRIER_LIMIT_S 600.0

/*
 * Waits for the others. *start is the time of day, as xb_day_time_now() tells it, at which all
 * begin; it is a few seconds ahead. XB_ERR_USAGE: the folder was used before, or more came than
 * there should be. XB_ERR_SYSTEM: the file system refuses, or this node's clock and that of the
 * node which told the time are apart. XB_ERR_STOPPED: not all came in time; the message names those
 * who did. Or a signal came.
 */
XB_MUST_CHECK enum xb_status xb_barrier_meet(const struct xb_barrier *barrier, double *start,
                                             struct xb_error *error);

#endif
