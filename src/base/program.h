/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <time.h>

/* Another program: what it prints, and how it ends. */

struct xb_program {
    const char *path;  /* the file to run; one without a slash is looked for on PATH */
    char *const *argv; /* ends with NULL */
    size_t largest;    /* the most that it may print; what prints more is ended */
    double end_at;     /* when it is ended, on the clock of src/base/clock.h; 0 for never */
};

struct xb_program_outcome {
    char *text;     /* what it printed, with a closing zero that does not count */
    size_t length;  /* at most xb_program.largest */
    time_t started; /* the time of day */
    double wall_s;  /* from then until it had ended */
    int exit_code;  /* -1 where a signal ended it */
    int signal;     /* that ended it; 0 for none */
    bool too_long;  /* it printed more than it may */
    bool overdue;   /* it was still there at end_at */
    bool stuck;     /* it is still there: not even SIGKILL ends it */
};

/*
 * Runs it to its end. Standard input is empty, standard error is the caller's, standard output is
 * read: to its end, or until the program has ended and only others hold it. Those that it leaves
 * behind in its process group are given a moment and killed then; what has left that group is let
 * alone.
 *
 * The group is its own, so that a signal to the caller's group reaches it once: a signal that the
 * caller has caught (xb_interrupt_signal) is passed on to it as SIGTERM, once. It also gets SIGTERM
 * at end_at, for printing too much, and where the caller dies. Whoever does not heed that is killed
 * some seconds later; at once where the caller is signalled again (xb_interrupt_count).
 *
 * Blocks. XB_ERR_SYSTEM where it cannot be started, where it cannot be ended (outcome->stuck) and
 * where nobody can say how it ended; XB_ERR_MEMORY where there is no memory for what it printed.
 * Release outcome->text with free(), also after a failure.
 */
XB_MUST_CHECK enum xb_status xb_program_run(const struct xb_program *program,
                                            struct xb_program_outcome *outcome,
                                            struct xb_error *error);

/* The file that execvp would run for `program`, or XB_ERR_USAGE that says why there is none.
 * Release *path with free(). */
XB_MUST_CHECK enum xb_status xb_program_find(const char *program, char **path,
                                             struct xb_error *error);
