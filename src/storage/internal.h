/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "files.h"

#include <sys/types.h>

/* What the sources of this room share. */

_Static_assert(sizeof(off_t) == 8, "files are larger than 2 GiB");

#define XB_STORAGE_LABEL 400

/* A file as messages name it: the path of a single one, else the folder's path with its name. */
const char *xb_files_label(const struct xb_files *files, size_t file, char text[XB_STORAGE_LABEL]);
/* The same, in memory of the block that it stands in. */
#define XB_FILE_LABEL(files, file) xb_files_label((files), (file), (char[XB_STORAGE_LABEL]){""})

/* openat(2) for reading with `flags` besides. A descriptor, or -1 with errno. */
int xb_files_open_one(const struct xb_files *files, size_t file, int flags);

/* Adds a file with a copy of `name`. */
void xb_files_add(struct xb_files *files, const char *name, uint64_t bytes);

/* "ext4"; "0x5a4f4653" where the name is not known; "unknown" where the kernel does not say. */
const char *xb_file_system_name(int descriptor, char *text, size_t size);
/* Whether its files have no other place than the page cache. */
bool xb_file_system_is_memory(int descriptor);

/* XB_ERR_UNSUPPORTED where it needs larger blocks than XB_STORAGE_BLOCK. */
enum xb_status xb_direct_check_needs(const struct xb_files *files, size_t file, int descriptor,
                                     struct xb_error *error);

/* The error of an open(2) with O_DIRECT. */
enum xb_status xb_direct_refused(const struct xb_files *files, size_t file, int code,
                                 struct xb_error *error);

/* ---- reading ---- */

/* A read as the ways of reading see it. */
struct xb_read {
    const struct xb_files *files;
    size_t file;
    int descriptor;
    uint64_t offset;
    uint64_t bytes;
    char *target;
    bool is_direct; /* whole blocks are read, so the target has room for the last one */
};

/* errno `code` of `call`, which read `bytes` at `offset`. */
enum xb_status xb_read_failed(const struct xb_read *read, const char *call, int code,
                              uint64_t offset, uint64_t bytes, struct xb_error *error);
/* There was nothing more at `offset`. */
enum xb_status xb_read_ended(const struct xb_read *read, uint64_t offset, struct xb_error *error);

/* ---- io_uring ---- */

struct xb_uring; /* of one thread */
struct xb_reader_plan;
/* Returns 0, or errno where io_uring cannot be had, ENOSYS also in this build. `descriptors`: of
 * all `count` files; NULL where each read opens its own. *buffer_error: the errno of registering
 * the plan's memory. */
int xb_uring_open(const struct xb_reader_plan *plan, const int *descriptors, size_t count,
                  struct xb_uring **opened, int *buffer_error);
void xb_uring_close(struct xb_uring *ring);
enum xb_status xb_read_by_uring(struct xb_uring *ring, const struct xb_read *read,
                                struct xb_error *error);
