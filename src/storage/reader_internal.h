/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_STORAGE_READER_INTERNAL_H
#define XFERBENCH_STORAGE_READER_INTERNAL_H

#include "internal.h"
#include "reader.h"

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

/* Reads by preadv(2). */
enum xb_status xb_read_by_preadv(const struct xb_read *read, struct xb_error *error);

/* errno `code` of `call`, which read `bytes` at `offset`. */
enum xb_status xb_read_failed(const struct xb_read *read, const char *call, int code,
                              uint64_t offset, uint64_t bytes, struct xb_error *error);
/* There was nothing more at `offset`. */
enum xb_status xb_read_ended(const struct xb_read *read, uint64_t offset, struct xb_error *error);

/* ---- io_uring ---- */

struct xb_uring; /* of one thread */

struct xb_uring_plan {
    char *memory;
    uint64_t memory_bytes;
    const int *descriptors; /* of all files, which stay open; NULL where each read opens its own */
    size_t count;
};

/* Returns 0, or errno where io_uring cannot be had: ENOSYS also where it was not built in. */
int xb_uring_open(const struct xb_uring_plan *plan, struct xb_uring **opened);
void xb_uring_close(struct xb_uring *ring);
/* The errno of registering the memory; 0 where it is registered. */
int xb_uring_buffer_error(const struct xb_uring *ring);
enum xb_status xb_read_by_uring(struct xb_uring *ring, const struct xb_read *read,
                                struct xb_error *error);

/* ---- mappings ---- */

/* One user more, or one less, of the handler that makes an error of SIGBUS. */
enum xb_status xb_mapping_begin(struct xb_error *error);
void xb_mapping_end(void);
/* Maps what is read, copies, and unmaps it. */
enum xb_status xb_read_by_mapping(const struct xb_read *read, struct xb_error *error);

#endif
