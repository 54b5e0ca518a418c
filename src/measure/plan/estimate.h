/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/run.h"

/*
 * What a plan will take, before anything is measured. How fast this machine's memory and links are
 * is what a run is to find out, so times are a guess between those of a fast node and of a slow
 * one. docs/measurement.md tells how close they were.
 */

/* Seconds. */
struct xb_duration_guess {
    double least, likely, most;
};

/* Why the case whose rows begin at results[first], `count` of them (xb_run_rows_of), will be
 * skipped, as far as that is known of devices that are not open; NULL where it is not. Otherwise a
 * static text or one in *error. */
const char *xb_estimate_skips(const struct xb_run *run, size_t first, size_t count,
                              struct xb_error *error);

/* How long that case will take; nothing for one that will be skipped. */
struct xb_duration_guess xb_estimate_case(const struct xb_run *run, size_t first, size_t count);

/* All cases of a plan. */
struct xb_estimate {
    size_t rows, skipped; /* of these rows so many will be skipped */
    struct xb_duration_guess time;
    uint64_t host_bytes;   /* the most that is in use at a time: of the host's memory, */
    uint64_t device_bytes; /* and of a device's own */
};

struct xb_estimate xb_estimate_run(const struct xb_run *run);
