/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PROCESSES_INTERNAL_H
#define XFERBENCH_RUN_PROCESSES_INTERNAL_H

#include "cli/command.h"
#include "cli/json_place.h"
#include "cli/places.h"

#include "processes_set.h"
#include "progress.h"

/* What processes.c, which runs all, and processes_one.c, which runs one, share. */

enum { CANDIDATE, BASELINE, SIDES };

/* One of the programs that are measured. */
struct side {
    char *path;              /* the file that is run; NULL for this program */
    char *name;              /* the program, for people and argv[0] */
    struct xb_json_place to; /* where its results go */
    struct xb_output output;
    struct xb_processes set;
    size_t bytes; /* of the processes' documents */
    bool overdue; /* one of its processes had to be ended after the deadline */
};

struct session {
    const struct xb_config *config;
    double deadline; /* 0 for none */
    struct side sides[SIDES];
    size_t side_count;
    struct xb_progress progress;
    bool out_of_time; /* the deadline came before all were begun */
    bool stuck;       /* a process cannot be ended, and none may run beside it */
    int refused; /* the exit code of a first process that could measure nothing; 0: none such */
};

/* Runs the next process of a side, and keeps what came of it. Blocks until it has ended. */
void xb_processes_run_one(struct session *session, struct side *side);

#endif
