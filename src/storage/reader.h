/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "files.h"

/* Reads files by several threads, in the way that is asked for, or says that it is another. */

enum xb_io {
    XB_IO_CACHED, /* preadv(2) through the page cache */
    XB_IO_DIRECT, /* O_DIRECT by io_uring with registered buffers, past the page cache */
    XB_IO_MMAP    /* copies out of a mapping */
};

/* Direct reads begin and end on such a boundary, in the file and in memory. */
#define XB_STORAGE_BLOCK UINT64_C(4096)

struct xb_reader_plan {
    enum xb_io io;
    unsigned threads;
    /* Where reads go to, for registering. On an XB_STORAGE_BLOCK. */
    void *memory;
    uint64_t memory_bytes;
    /* Each read opens its file and closes it, as a loader of many small files does; else they stay
     * open. With mmap each read maps its part: pages that stayed mapped would cost their faults
     * once. */
    bool opens_each;
    /* Each thread has a process that reads for it, to memory that they share; from there one thread
     * at a time copies to the target. Not for direct reads. */
    bool by_processes;
    uint64_t longest; /* read, with by_processes */
};

struct xb_reader;

/* XB_ERR_UNSUPPORTED where the way cannot be had and no other is as direct. Only
 * xb_files_check_direct finds a file system that takes O_DIRECT and reads through the page
 * cache. */
enum xb_status xb_reader_open(const struct xb_files *files, const struct xb_reader_plan *plan,
                              struct xb_reader **reader, struct xb_error *error);
/* Accepts NULL. */
void xb_reader_close(struct xb_reader *reader);

/* Reads [offset, offset + bytes) of a file (its index) to `target`, by the thread of that number,
 * which no other call has at the time. Direct: offset and target are on a block, and the target has
 * room for whole blocks. Blocks until all of it is there. XB_ERR_RUNTIME also if the file is
 * shorter than it was; XB_ERR_INTERNAL for what goes on behind the end that it had when it was
 * opened. */
enum xb_status xb_reader_read(struct xb_reader *reader, unsigned thread, size_t file,
                              uint64_t offset, void *target, uint64_t bytes,
                              struct xb_error *error);

/* How it reads, for the record: "preadv: io_uring is not allowed here (EPERM)". The reader's. */
const char *xb_reader_way(const struct xb_reader *reader);
/* Whether that is not all of what XB_IO_... says, and a reader of the results must be told. */
bool xb_reader_is_second_choice(const struct xb_reader *reader);
