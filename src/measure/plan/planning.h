/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "machine/topology.h"
#include "measure/run.h"
#include "xferbench/mode.h"

/* How a plan is made from the options: modes, then nodes and devices, then cases. Choices are
 * zeroed before. */

/* ---- which modes ---- */

/* The modes that a run measures. */
struct xb_mode_choice {
    const struct xb_mode *modes[64];
    size_t count;
};

/* Reads --mode. XB_ERR_USAGE for a mode that there is not, with those that there are, and where the
 * chosen modes would pass over something that the user asked for: an option, a direction. */
enum xb_status xb_mode_choose(const struct xb_run_options *asked, struct xb_mode_choice *choice,
                              struct xb_error *error);

/* The directions in which a mode is measured: bits of enum xb_direction; 0 for none. */
unsigned xb_mode_directions(const struct xb_run_options *asked, const struct xb_mode *mode);

/* XB_ERR_USAGE, with what several devices can be started together with. */
enum xb_status xb_mode_refuse_simultaneous(struct xb_error *error);

/* ---- which NUMA nodes ---- */

/* The NUMA nodes that host memory is to lie on, one after the other. */
struct xb_node_choice {
    unsigned nodes[XB_NODES]; /* the OS's numbers */
    size_t count;             /* 0: near each device */
};

/* The directions that a mode's host memory takes part in, of some: bits of enum xb_direction. Only
 * cases of those can have a NUMA node named. */
unsigned xb_mode_host_directions(const struct xb_mode *mode, unsigned directions);

/*
 * Reads --numa. Looks at the machine only where that names nodes, which takes milliseconds.
 * XB_ERR_USAGE for a word that is no node, for a node that this process may not use, with those
 * that there are, and where no chosen mode has host memory. XB_ERR_SYSTEM, XB_ERR_MEMORY.
 */
enum xb_status xb_node_choose(const struct xb_run_options *asked,
                              const struct xb_mode_choice *modes, struct xb_node_choice *choice,
                              struct xb_error *error);

/* ---- which devices ---- */

/* An ordered pair: from the source to the destination. */
struct xb_pair {
    unsigned from, to;
};

/* Which devices a run measures: one by one, and in pairs. Indices in the backend. */
struct xb_device_choice {
    unsigned devices[XB_RUN_DEVICES];
    size_t device_count;
    struct xb_pair pairs[XB_RUN_DEVICES * XB_RUN_DEVICES];
    size_t pair_count;
};

/*
 * Reads --device and --pairs for an open driver, and fills run->devices with every device that
 * takes part: one by one (`singles`), in pairs (`pairs`). Where the user named no devices, pairs
 * are of all of them, and with --simultaneous single devices are all of them too. XB_ERR_USAGE for
 * a device that is not there; the message says which there are.
 */
enum xb_status xb_device_choose(struct xb_run *run, bool singles, bool pairs,
                                struct xb_device_choice *choice, struct xb_error *error);

/* ---- a set of transfers ---- */

/* The mode of their sum, which is in no list of modes. */
extern const struct xb_mode xb_mode_set;

/* Reads --transfer and --transfers as cases, in their order, in *cases, to be freed; without these
 * none. XB_ERR_USAGE for one that makes no sense, and for another option that would have no effect.
 * XB_ERR_SYSTEM: the file. */
enum xb_status xb_set_read(const struct xb_run_options *asked, struct xb_case **cases,
                           size_t *count, struct xb_error *error);

/* Makes the devices of a transfer devices of the run. XB_ERR_USAGE for one that is not there, and
 * for a NUMA node that is not. */
enum xb_status xb_set_choose(struct xb_run *run, const struct xb_case *transfer,
                             struct xb_error *error);
