/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINK_H
#define XFERBENCH_SINK_H

#include "xferbench/inventory.h"
#include "xferbench/run.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

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
 * access list of the old one. Where these cannot be kept, the content is complete before the old
 * file is written over. Standard output ("-"), an open descriptor (/dev/fd/9), a device or a FIFO
 * is written as it is. Zero-initialise.
 */
struct xb_output {
    char *path;      /* as the user named it, NULL while not open */
    char *target;    /* the file to replace, links followed; NULL if written as it is */
    char *temporary; /* the name that the new file has until then; NULL while it has none */
    bool in_place;   /* the target is written over */
    FILE *stream;
    bool is_there; /* the file was there already, with this identity */
    bool is_character_device;
    dev_t device;
    ino_t inode;
};

/*
 * Opens for writing; finds out now whether it can be written. XB_ERR_USAGE says why not. Blocks for
 * a FIFO without a reader, and says so on stderr; XB_ERR_STOPPED if a signal or `deadline` (on the
 * clock of src/core/clock.h, 0 for none) comes before one.
 */
XB_MUST_CHECK enum xb_status xb_output_open(struct xb_output *output, const char *path,
                                            double deadline, struct xb_error *error);
/*
 * Flushes, syncs and puts the file in its place. On failure the file that was there is still there;
 * if only the last step failed, the error names the file that holds what was written. A reader of a
 * pipe that takes nothing is waited for until a signal comes, or some seconds past the deadline.
 */
XB_MUST_CHECK enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error);

/* Whether two outputs are one file, by whatever names. A terminal or /dev/null can take several;
 * false where one of them is not open. */
bool xb_output_is_same(const struct xb_output *output, const struct xb_output *other);
/* Whether the output takes the place of the file at `path`. */
bool xb_output_is_over(const struct xb_output *output, const char *path);

/* What to do about an errno that opening or writing left. Static text. */
const char *xb_output_advice(int code);
/* Forgets what was written and leaves the old file. Safe after commit and on a zeroed object. */
void xb_output_discard(struct xb_output *output);

#endif
