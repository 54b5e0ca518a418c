/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINK_H
#define XFERBENCH_SINK_H

#include "xferbench/inventory.h"
#include "xferbench/run.h"

#include <stdio.h>

/* Where results go. A sink reads a finished (or interrupted) run and knows one format. */

/* The table for people, with the device and its link first. Flushes; reports a failed write. */
XB_MUST_CHECK enum xb_status xb_table_write(FILE *stream, const struct xb_run *run,
                                            struct xb_error *error);
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
 * A file that is replaced only when its new content is complete: a regular file is written under a
 * temporary name beside it and renamed; standard output ("-"), a device or a FIFO is written as it
 * is. Zero-initialise.
 */
struct xb_output {
    char *path;      /* as the user named it, NULL while not open */
    char *target;    /* the file to replace, links followed; NULL if written as it is */
    char *temporary; /* NULL if written as it is */
    FILE *stream;
};

/* Opens for writing; finds out now whether it can be written. XB_ERR_USAGE says why not. */
XB_MUST_CHECK enum xb_status xb_output_open(struct xb_output *output, const char *path,
                                            struct xb_error *error);
/* Flushes, syncs and renames. On failure the file that was there is still there; if only the
 * renaming failed, the error names the file that holds what was written. */
XB_MUST_CHECK enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error);
/* Forgets what was written and leaves the old file. Safe after commit and on a zeroed object. */
void xb_output_discard(struct xb_output *output);

#endif
