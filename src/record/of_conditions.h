/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_OF_CONDITIONS_H
#define XFERBENCH_RECORD_OF_CONDITIONS_H

#include "machine/start.h"
#include "machine/topology.h"
#include "xferbench/backend.h"
#include "xferbench/record.h"

/* Under which conditions something is measured. Any of them may be NULL. */
struct xb_conditions {
    const struct xb_config *config;
    const char *backend;          /* its name */
    const struct xb_probe *probe; /* of that backend; not NULL where it is there */
    const struct xb_topology *topology;
    const struct xb_start *start; /* how it began */
};

/*
 * Makes a record without devices and results: the program, the machine and the environment as they
 * are now, and what *conditions says. Keeps nothing of *conditions but names of options, which are
 * static. XB_ERR_MEMORY; XB_ERR_USAGE if the environment's node or rank is wrong, which
 * xb_node_check() tells early. Then nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_record_of_conditions(const struct xb_conditions *conditions,
                                                     struct xb_record *record,
                                                     struct xb_error *error);

#endif
