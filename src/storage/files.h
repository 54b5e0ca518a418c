/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"
#include "xferbench/pattern.h"

#include <stdbool.h>

/* The files that a case reads: one, or all of a folder. */

struct xb_file_entry {
    char *name; /* in the folder */
    uint64_t bytes;
};

struct xb_files {
    int folder;                    /* descriptor; names are relative to it */
    struct xb_file_entry *entries; /* by name. A made file that is the only one has none: then it is
                                      a path to the open file, for openat(2) all the same */
    size_t count;                  /* 1 or more */
    uint64_t bytes;                /* of all */
    char file_system[32];          /* "ext4"; a number in hexadecimal where the name is not known */
    bool is_made;                  /* by xb_files_make: they go with xb_files_close */
    char *path;                    /* of the file or the folder, as messages name it; that of a
                                      folder ends with a slash */
};

/* Opens a file, or a folder with its regular files (but those of no bytes), for reading.
 * XB_ERR_USAGE where there is none; XB_ERR_RUNTIME with errno's name where it cannot be read. */
enum xb_status xb_files_open(const char *path, struct xb_files *files, struct xb_error *error);

/* Makes `count` files of `bytes_each` in a new folder below `where` (NULL: $TMPDIR, else /var/tmp),
 * filled with the pattern as one run of bytes, and has them on the disk when it returns. A single
 * one has no name unless it needs one. XB_ERR_MEMORY with what is needed and what is free where
 * they do not fit; XB_ERR_STOPPED after a signal, and from `end_at` on, on the clock of
 * base/clock.h (0: never). Nothing is left behind after a failure. Blocks. */
enum xb_status xb_files_make(const char *where, size_t count, uint64_t bytes_each, bool need_names,
                             double end_at, struct xb_pattern pattern, struct xb_files *files,
                             struct xb_error *error);

/* Closes, and removes what was made, the folder too. Accepts one that is all zero. Where SIGKILL
 * ends the program, nothing stays of a single file; several have names, because loaders open files
 * by name, and stay until the same user makes files in the same place again. */
void xb_files_close(struct xb_files *files);

/* XB_ERR_RUNTIME, with which and how, where a file is not as long as when it was opened. */
enum xb_status xb_files_check_lengths(const struct xb_files *files, struct xb_error *error);

/* The share, 0 to 1, of the pages of the first `bytes` bytes of the files that are in the page
 * cache now, by mincore(2). Touches none. XB_ERR_UNSUPPORTED where this user neither owns the files
 * nor may write them: Linux does not tell. */
enum xb_status xb_files_cached_share(const struct xb_files *files, uint64_t bytes, double *share,
                                     struct xb_error *error);

/* Whether reads with O_DIRECT pass the page cache by: reads a part of the first file that is not
 * cached (tries to put it out of the cache for that) and looks whether it is afterwards.
 * XB_ERR_UNSUPPORTED, with what was seen, where the file system refuses O_DIRECT or takes it and
 * reads through the cache all the same. Blocks. */
enum xb_status xb_files_check_direct(const struct xb_files *files, struct xb_error *error);

/* ---- kept for the next case ---- */

/* Files that were made for one case, kept for the next: writing gigabytes takes long.
 * Zero-initialise; xb_store_close removes them. */
struct xb_store {
    struct xb_files files; /* none where the count is 0 */
    uint64_t bytes_each;
    bool has_names;
    double end_at;             /* the run's deadline, on the clock of src/base/clock.h; 0: none */
    struct xb_pattern pattern; /* of their contents, as one run of bytes, file behind file */
};

/* Gives files as xb_files_make does: those of the last call where these are such, else others in
 * their place. What *files points to is the store's, until the next call. */
enum xb_status xb_store_files(struct xb_store *store, const char *where, size_t count,
                              uint64_t bytes_each, bool need_names, const struct xb_files **files,
                              struct xb_error *error);
void xb_store_close(struct xb_store *store);

/* Reads [offset, offset + bytes) of a file (its index) in the plainest way, to check what other
 * ways gave. Any alignment. Blocks. XB_ERR_RUNTIME, also where the file ends before. */
enum xb_status xb_files_read(const struct xb_files *files, size_t file, uint64_t offset,
                             void *target, uint64_t bytes, struct xb_error *error);

/* Opens a file, with O_DIRECT if `is_direct`; the caller closes it. XB_ERR_UNSUPPORTED: its file
 * system refuses O_DIRECT. */
enum xb_status xb_files_open_to_read(const struct xb_files *files, size_t file, bool is_direct,
                                     int *descriptor, struct xb_error *error);
