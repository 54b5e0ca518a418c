/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINK_H
#define XFERBENCH_SINK_H

#include "xferbench/inventory.h"
#include "xferbench/run.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Where results go. A sink reads a finished (or interrupted) run and knows one format. */

/* The table for people, with the device and its link first. Flushes; reports a failed write. */
XB_MUST_CHECK enum xb_status xb_table_write(FILE *stream, const struct xb_run *run,
                                            struct xb_error *error);
/* Says on stderr which cases failed and why, a line each: for where no table does. */
void xb_failures_say(const struct xb_run *run);
/* JSON after docs/result.schema.json. */
XB_MUST_CHECK enum xb_status xb_json_write(FILE *stream, const struct xb_run *run,
                                           struct xb_error *error);
/* The list of what is there, as JSON. */
XB_MUST_CHECK enum xb_status xb_list_json_write(FILE *stream, const struct xb_inventory *inventory,
                                                struct xb_error *error);
/* CSV after RFC 4180: a header, then a line a result. */
XB_MUST_CHECK enum xb_status xb_csv_write(FILE *stream, const struct xb_run *run,
                                          struct xb_error *error);

/*
 * A file that is replaced only when its new content is complete, with the owner, group, mode and
 * access list of the old one; other hard links keep the old content. Where these cannot be kept,
 * the old file is written over when the new content is complete. Standard output ("-"), an open
 * descriptor (/dev/fd/9), a device or a FIFO is written as it is. Zero-initialise.
 */
struct xb_output {
    char *path; /* as the user named it, NULL while nothing is found */
    /* What that stands for. */
    bool is_there;    /* there is such a file already */
    struct stat file; /* which one, if so */
    FILE *standard;   /* the standard stream that is this file, or NULL */
    bool is_stdout;   /* that is standard output */
    int descriptor;   /* that was open already; negative if none */
    char *target;     /* the file to replace, links followed; NULL if written as it is */
    /* While it is open. */
    FILE *stream;
    int directory;      /* the target's; 0 for none */
    char temporary[32]; /* the new file's name in there; "" while it has none */
    bool in_place;      /* the target is written over */
};

/* Finds out what the path stands for, and opens nothing. XB_ERR_USAGE says why it cannot be. */
XB_MUST_CHECK enum xb_status xb_output_find(struct xb_output *output, const char *path,
                                            struct xb_error *error);
/*
 * Opens what was found for writing; finds out now whether it can be written. XB_ERR_USAGE says why
 * not. Blocks for a FIFO without a reader, and says so on stderr; XB_ERR_STOPPED if a signal or
 * `deadline` (on the clock of src/core/clock.h, 0 for none) comes before one.
 */
XB_MUST_CHECK enum xb_status xb_output_open(struct xb_output *output, double deadline,
                                            struct xb_error *error);
/*
 * Flushes, syncs and puts the file in its place. On failure the file that was there is still there,
 * unless writing over it has begun. If only the last step failed, the error names the file that
 * holds what was written: beside the target or, where its directory takes no files any more, in the
 * folder for temporary files. A reader of a pipe that takes nothing is waited for until a signal
 * comes, or some seconds past the deadline.
 */
XB_MUST_CHECK enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error);
/* The error of a call that could not write to the output. */
enum xb_status xb_output_fail(const struct xb_output *output, const char *call, int code,
                              struct xb_error *error);

/* Whether two outputs that were found are one file, by whatever names. A terminal or /dev/null can
 * take several. */
bool xb_output_is_same(const struct xb_output *output, const struct xb_output *other);
/* Whether the output takes the place of the file at `path`. */
bool xb_output_is_over(const struct xb_output *output, const char *path);
/* Whether stat() told the same file twice. */
bool xb_is_same_file(const struct stat *one, const struct stat *other);

/* What to do about an errno that opening or writing left. Static text. */
const char *xb_output_advice(int code);
/* Forgets what was written and leaves the old file. Safe after commit and on a zeroed object. */
void xb_output_discard(struct xb_output *output);

#endif
