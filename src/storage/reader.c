/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT, preadv */
#include "reader.h"

#include "base/left_out.h"
#include "base/memory.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* One call reads 2 GiB less a page at most; a multiple of the block keeps direct reads aligned. */
#define MOST_BYTES (UINT64_C(1) << 30)

struct xb_reader {
    const struct xb_files *files;
    struct xb_reader_plan plan;
    int *descriptors;        /* of every file; NULL where each read opens its own */
    struct xb_uring **rings; /* of every thread; NULL where it reads otherwise */
    bool has_mapping;        /* xb_mapping_begin was called */
    bool is_second_choice;
    char way[160];
};

static enum xb_status open_one(const struct xb_reader *reader, size_t file, int *descriptor,
                               struct xb_error *error)
{
    int flags = reader->plan.io == XB_IO_DIRECT ? O_DIRECT : 0;
    *descriptor = xb_files_open_one(reader->files, file, flags);
    /* The error of an open with O_DIRECT is right for one without too: only EINVAL differs. */
    return *descriptor >= 0 ? XB_OK : xb_direct_refused(reader->files, file, errno, error);
}

static enum xb_status open_all(struct xb_reader *reader, struct xb_error *error)
{
    size_t count = reader->files->count;
    reader->descriptors = xb_new(count, sizeof *reader->descriptors);
    for (size_t i = 0; i < count; i++)
        reader->descriptors[i] = -1;
    for (size_t i = 0; i < count; i++)
        XB_TRY(open_one(reader, i, &reader->descriptors[i], error));
    return XB_OK;
}

static void close_rings(struct xb_reader *reader)
{
    for (unsigned i = 0; reader->rings != NULL && i < reader->plan.threads; i++)
        xb_uring_close(reader->rings[i]);
    free(reader->rings);
    reader->rings = NULL;
}

/* Without io_uring every thread reads by preadv(2), past the page cache all the same. */
static void open_rings(struct xb_reader *reader)
{
    struct xb_uring_plan plan = {.memory = reader->plan.memory,
                                 .memory_bytes = reader->plan.memory_bytes,
                                 .descriptors = reader->descriptors,
                                 .count = reader->files->count};
    int code = 0, buffers = 0; /* errno; the buffers' is that of the first ring without them */
    reader->rings = xb_new(reader->plan.threads, sizeof(struct xb_uring *));
    for (unsigned i = 0; code == 0 && i < reader->plan.threads; i++) {
        int own = 0;
        code = xb_uring_open(&plan, &reader->rings[i], &own);
        buffers = buffers != 0 ? buffers : own;
    }
    reader->is_second_choice = code != 0 || buffers != 0;
    if (code != 0) {
        close_rings(reader);
        snprintf(reader->way, sizeof reader->way, "preadv: io_uring %s (%s)",
                 code == EPERM || code == EACCES ? "is not allowed here"
                 : code != ENOSYS                ? "cannot be set up here"
                 : xb_is_left_out("liburing")    ? "is not in this build"
                                                 : "is not in this kernel",
                 xb_errno_name(code));
    } else if (buffers != 0) {
        snprintf(reader->way, sizeof reader->way,
                 "io_uring: the buffers cannot be registered here (%s%s)", xb_errno_name(buffers),
                 buffers == ENOMEM ? ", see ulimit -l" : "");
    } else {
        snprintf(reader->way, sizeof reader->way, "io_uring, registered buffers");
    }
}

static enum xb_status open_way(struct xb_reader *reader, struct xb_error *error)
{
    snprintf(reader->way, sizeof reader->way, "preadv");
    if (reader->plan.io == XB_IO_MMAP) {
        snprintf(reader->way, sizeof reader->way, "mmap, each part mapped and unmapped");
        XB_TRY(xb_mapping_begin(error));
        reader->has_mapping = true;
    }
    if (reader->plan.io == XB_IO_DIRECT) { /* by which blocks, the first file tells */
        int fd;
        XB_TRY(open_one(reader, 0, &fd, error));
        enum xb_status status = xb_direct_check_needs(reader->files, 0, fd, error);
        close(fd);
        XB_TRY(status);
    }
    if (!reader->plan.opens_each)
        XB_TRY(open_all(reader, error));
    if (reader->plan.io == XB_IO_DIRECT)
        open_rings(reader);
    return XB_OK;
}

enum xb_status xb_reader_open(const struct xb_files *files, const struct xb_reader_plan *plan,
                              struct xb_reader **reader, struct xb_error *error)
{
    *reader = xb_new(1, sizeof **reader);
    (*reader)->files = files;
    (*reader)->plan = *plan;
    enum xb_status status = open_way(*reader, error);
    if (status != XB_OK) {
        xb_reader_close(*reader);
        *reader = NULL;
    }
    return status;
}

void xb_reader_close(struct xb_reader *reader)
{
    if (reader == NULL)
        return;
    close_rings(reader);
    if (reader->has_mapping)
        xb_mapping_end();
    for (size_t i = 0; reader->descriptors != NULL && i < reader->files->count; i++)
        if (reader->descriptors[i] >= 0)
            close(reader->descriptors[i]);
    free(reader->descriptors);
    free(reader);
}

/* ---- reading ---- */

enum xb_status xb_read_failed(const struct xb_read *read, const char *call, int code,
                              uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, code, xb_errno_name(code),
                          "%.300s: %llu bytes at offset %llu cannot be read, %s%s",
                          XB_FILE_LABEL(read->files, read->file), (unsigned long long)bytes,
                          (unsigned long long)offset, strerror(code),
                          code == EIO ? ": the disk or the way to it fails, see dmesg" : "");
}

enum xb_status xb_read_ended(const struct xb_read *read, uint64_t offset, struct xb_error *error)
{
    return XB_FAIL(
        error, XB_ERR_RUNTIME,
        "%.300s: ends before offset %llu, where %llu bytes from %llu on were to be read: "
        "it is shorter than when it was opened; leave the files alone while they are "
        "measured",
        XB_FILE_LABEL(read->files, read->file), (unsigned long long)(offset + 1),
        (unsigned long long)read->bytes, (unsigned long long)read->offset);
}

static enum xb_status read_by_preadv(const struct xb_read *read, struct xb_error *error)
{
    for (uint64_t done = 0; done < read->bytes;) {
        uint64_t bytes = read->bytes - done;
        if (read->is_direct)
            bytes = (bytes + XB_STORAGE_BLOCK - 1) / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK;
        struct iovec part = {.iov_base = read->target + done,
                             .iov_len = bytes < MOST_BYTES ? bytes : MOST_BYTES};
        uint64_t offset = read->offset + done;
        ssize_t got = preadv(read->descriptor, &part, 1, (off_t)offset);
        if (got < 0 && errno == EAGAIN) {
            /* A file system that wants to be asked again: not at once, which would only spin. */
            (void)poll(NULL, 0, 1);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return xb_read_failed(read, "preadv", errno, offset, part.iov_len, error);
        uint64_t more = (uint64_t)got;
        /* A direct read goes on at a block: less than one is only there where the file ends. */
        if (read->is_direct && done + more < read->bytes)
            more -= more % XB_STORAGE_BLOCK;
        if (more == 0)
            return xb_read_ended(read, offset + (uint64_t)got, error);
        done += more;
    }
    return XB_OK;
}

static enum xb_status read_open(struct xb_reader *reader, unsigned thread,
                                const struct xb_read *read, struct xb_error *error)
{
    if (reader->rings != NULL)
        return xb_read_by_uring(reader->rings[thread], read, error);
    if (reader->plan.io != XB_IO_MMAP)
        return read_by_preadv(read, error);
    return xb_read_by_mapping(read, error);
}

enum xb_status xb_reader_read(struct xb_reader *reader, unsigned thread, size_t file,
                              uint64_t offset, void *target, uint64_t bytes, struct xb_error *error)
{
    struct xb_read read = {.files = reader->files,
                           .file = file,
                           .offset = offset,
                           .bytes = bytes,
                           .target = target,
                           .is_direct = reader->plan.io == XB_IO_DIRECT};
    if (read.is_direct &&
        (offset % XB_STORAGE_BLOCK != 0 || (uintptr_t)target % XB_STORAGE_BLOCK != 0))
        return XB_FAIL(error, XB_ERR_INTERNAL, "a direct read does not begin on a block");
    if (file >= reader->files->count || thread >= reader->plan.threads)
        return XB_FAIL(error, XB_ERR_INTERNAL, "a read of no file, or by no thread");
    /* A part that lies behind the end is no part of the mapping, nor of the file as it was. */
    if (offset > reader->files->entries[file].bytes ||
        bytes > reader->files->entries[file].bytes - offset)
        return XB_FAIL(error, XB_ERR_INTERNAL, "a read goes on behind the end of a file");
    if (reader->descriptors != NULL) {
        read.descriptor = reader->descriptors[file];
        return read_open(reader, thread, &read, error);
    }
    XB_TRY(open_one(reader, file, &read.descriptor, error));
    enum xb_status status = read_open(reader, thread, &read, error);
    close(read.descriptor);
    return status;
}

const char *xb_reader_way(const struct xb_reader *reader)
{
    return reader->way;
}

bool xb_reader_is_second_choice(const struct xb_reader *reader)
{
    return reader->is_second_choice;
}
