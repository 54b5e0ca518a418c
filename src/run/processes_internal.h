/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/child.h"
#include "base/json_write.h"
#include "machine/node.h"
#include "record/record.h"

#include <stdio.h>

/*
 * One measurement taken several times, each in a fresh process with a context and memory of its
 * own: processes differ from each other by more than samples within one do.
 */

/* What came of one process: it failed, or has a document and a record of it. It has both if it
 * wrote what it had measured when a signal ended it. */
struct xb_process {
    /* Its text is the document, JSON after docs/result.schema.json; NULL for none. */
    struct xb_program_outcome outcome;
    char failure[800];       /* "" for none; without a document nothing of it counts */
    struct xb_record record; /* of the document; zeroed if there is none */
};

/* The processes of one program. */
struct xb_processes {
    /* What holds for all: how many are asked for, the role, "baseline" or "candidate", the program
     * and the other role's, when the first began, whether a signal or the deadline cut something
     * short. No cases. */
    struct xb_record head;
    struct xb_process *processes; /* those that were begun, in their order; room for all */
    size_t count;
};

/* The first process that has a document, or NULL. */
const struct xb_process *xb_processes_first(const struct xb_processes *set);

/*
 * JSON after docs/processes.schema.json: every process's document and, for each case, the medians
 * of the processes and their statistics, in that form. A failed write leaves its mark
 * on the stream.
 */
XB_MUST_CHECK enum xb_status xb_processes_json_write(FILE *stream, const struct xb_processes *set,
                                                     enum xb_json_form form,
                                                     struct xb_error *error);
