/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PROCESSES_INTERNAL_H
#define XFERBENCH_RUN_PROCESSES_INTERNAL_H

#include "cli/command.h"
#include "cli/json_place.h"
#include "cli/places.h"

#include "processes_set.h"
#include "progress.h"

/* What processes.c, which runs all, processes_one.c, which runs one, and processes_output.c, which
 * writes the results, share. */

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

/* Opens the outputs of the sides. XB_ERR_USAGE too where both would write to the same file. */
XB_MUST_CHECK enum xb_status xb_processes_open_outputs(struct session *session,
                                                       struct xb_error *error);

/*
 * Writes every side to its output, and prints the tables. Says what fails, goes on, and returns
 * false in the end.
 */
bool xb_processes_write_outputs(struct session *session);

#endif
