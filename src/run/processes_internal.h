/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>
#include <time.h>

#include "cli/command.h"
#include "cli/places.h"

#include "base/json_write.h"
#include "machine/start.h"
#include "progress.h"
#include "xferbench/options.h"
#include "xferbench/record.h"

/*
 * One measurement taken several times, each in a fresh process with a context and memory of its
 * own: processes differ from each other by more than samples within one do.
 */

/* What came of one process: it failed, or has a document and a record of it. It has both if it
 * wrote what it had measured when a signal ended it. */
struct xb_process {
    time_t started;
    double wall_s;           /* from its start to its end */
    int exit_code;           /* -1 where a signal ended it, or it could not be started */
    char signal[16];         /* "SIGSEGV", which ended it; "" for none */
    char failure[800];       /* "" for none; without a document nothing of it counts */
    char *document;          /* what it wrote, JSON after docs/result.schema.json; NULL for none */
    struct xb_record record; /* of the document; zeroed if there is none */
};

/* The processes of one program. */
struct xb_processes {
    /* What holds for all: how many are asked for, the role, "baseline" or "candidate", the program
     * and the other role's, whether a signal or the deadline cut something short. No cases. */
    struct xb_record head;
    struct xb_process *processes; /* those that were begun, in their order; room for all */
    size_t count;
    struct xb_start start; /* of all of them together */
};

/* The first process that has a document, or NULL. */
const struct xb_process *xb_processes_first(const struct xb_processes *set);

/*
 * JSON after docs/processes.schema.json: every process's document and, for each case, the medians
 * of the processes and their statistics. `finish` decides the form. A failed write leaves its mark
 * on the stream.
 */
XB_MUST_CHECK enum xb_status xb_processes_json_write(FILE *stream, const struct xb_processes *set,
                                                     xb_json_finisher *finish,
                                                     struct xb_error *error);

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
    const struct xb_run_options *asked;
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
