/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "stream.h"

#include <stdbool.h>
#include <sys/stat.h>

/* A file that is replaced only when its new content is complete. The new file has the owner, group,
 * mode and access list of the old one, or the content is written over that. Standard output ("-"),
 * an open descriptor (/dev/fd/9), a device or a FIFO is written as it is. Zero-initialise. */
struct xb_output {
    char *path; /* as the user named it; NULL until xb_output_find succeeds */
    /* xb_output_find sets these. */
    bool is_there;    /* the file exists already */
    struct stat file; /* of the existing file */
    FILE *standard;   /* the standard stream that writes to this file, or NULL */
    bool is_stdout;   /* `standard` is standard output */
    int descriptor;   /* the open descriptor that the path names; negative if it names none */
    char *target;     /* the file to replace, links followed; NULL if written as it is */
    /* The caller sets this before xb_output_commit, which then fails where somebody else put a file
     * in the place after xb_output_find. */
    bool keeps_others;
    /* xb_output_open sets these. */
    FILE *stream;
    int directory;          /* descriptor of the target's directory; 0 if it is not open */
    char temporary[32];     /* the new file's name in that directory, or "" if it has none */
    bool in_place;          /* the content will be written over the target */
    struct xb_output *next; /* in the list for xb_outputs_abandon: do not copy an open output */
};

/* Finds out what the path leads to, and opens nothing. XB_ERR_USAGE if it cannot be written to. */
enum xb_status xb_output_find(struct xb_output *output, const char *path, struct xb_error *error);
/* Opens for writing what xb_output_find found. XB_ERR_USAGE: it cannot be written. Waits for the
 * reader of a FIFO, and says so on stderr. XB_ERR_STOPPED: a signal or `deadline` (clock.h; 0:
 * none) came first. */
enum xb_status xb_output_open(struct xb_output *output, double deadline, struct xb_error *error);
/* Before the first write: then each goes to the kernel in one call, or as few as a pipe allows, and
 * does not mix with those of other processes. */
void xb_output_unbuffer(struct xb_output *output);
/* Flushes, syncs and puts the file in its place. On failure the old file is unchanged, unless
 * writing over it has begun. If only the last step failed, the error names the file with the new
 * content. Waits for a pipe's reader until a signal, or some seconds after the deadline. */
enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error);
/* The error of a call that could not write to the output. */
enum xb_status xb_output_fail(const struct xb_output *output, const char *call, int code,
                              struct xb_error *error);

/* Whether two outputs are the same file. Terminals and /dev/null may be shared: false. */
bool xb_output_is_same(const struct xb_output *output, const struct xb_output *other);
/* Whether the output would replace the file at `path`. */
bool xb_output_is_over(const struct xb_output *output, const char *path);
bool xb_is_same_file(const struct stat *one, const struct stat *other);

/* Drops what was written and leaves the old file. Safe after commit and on a zeroed object. */
void xb_output_discard(struct xb_output *output);
/* For an end without cleaning up: removes the temporary files of all outputs, which end with it. */
void xb_outputs_abandon(void);
