/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_PROCESSES_INTERNAL_H
#define XFERBENCH_CLI_PROCESSES_INTERNAL_H

#include "cli.h"

#include "xferbench/processes.h"

/* What processes.c, which runs them, and processes_output.c, which writes what came of it, share.
 */

enum { CANDIDATE, BASELINE, SIDES };

/* One of the programs that are measured. */
struct side {
    char *path;     /* the file that is run; NULL for this program */
    char *name;     /* the program, for people and argv[0] */
    const char *to; /* the option that says where its results go */
    struct xb_output output;
    struct xb_processes set;
    size_t bytes; /* of the processes' documents */
    bool overdue; /* one of its processes had to be ended behind the deadline */
};

struct session {
    const struct xb_config *config;
    double deadline; /* 0 for none */
    struct side sides[SIDES];
    size_t side_count;
    struct xb_progress progress;
    bool out_of_time; /* not all were begun */
    bool stuck;       /* a process cannot be ended, and none may run beside it */
    int refused; /* the exit code of a first process that could measure nothing; 0: none such */
};

/* Opens what the sides write to; XB_ERR_USAGE too where both would write to the same. */
XB_MUST_CHECK enum xb_status xb_processes_open_outputs(struct session *session,
                                                       struct xb_error *error);

/*
 * Writes every side to its place, and the tables. Says what fails, and returns false then; one that
 * fails does not keep the others from it.
 */
bool xb_processes_write_outputs(struct session *session);

#endif
