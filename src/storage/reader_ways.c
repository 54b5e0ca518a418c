/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT */
#include "reader.h"

#include "base/left_out.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct xb_reader {
    const struct xb_files *files;
    struct xb_reader_plan plan;
    int *descriptors;        /* of every file; NULL where each read opens its own */
    struct xb_uring **rings; /* of every thread; NULL where it reads otherwise */
    bool has_mapping;        /* xb_mapping_begin was called */
    bool is_second_choice;
    char way[160];
};

static enum xb_status no_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read files with");
}

/* ---- files ---- */

static int flags_of(const struct xb_reader *reader)
{
    return reader->plan.io == XB_IO_DIRECT ? O_DIRECT : 0;
}

static enum xb_status open_one(const struct xb_reader *reader, size_t file, int *descriptor,
                               struct xb_error *error)
{
    *descriptor = xb_files_open_one(reader->files, file, flags_of(reader));
    /* The error of an open with O_DIRECT is right for one without too: only EINVAL differs. */
    return *descriptor >= 0 ? XB_OK : xb_direct_refused(reader->files, file, errno, error);
}

static enum xb_status open_all(struct xb_reader *reader, struct xb_error *error)
{
    size_t count = reader->files->count;
    reader->descriptors = malloc(count * sizeof *reader->descriptors);
    if (reader->descriptors == NULL)
        return no_memory(error);
    for (size_t i = 0; i < count; i++)
        reader->descriptors[i] = -1;
    for (size_t i = 0; i < count; i++)
        XB_TRY(open_one(reader, i, &reader->descriptors[i], error));
    return XB_OK;
}

/* Whether the first file can be read directly, and by which blocks. */
static enum xb_status check_direct(const struct xb_reader *reader, struct xb_error *error)
{
    int fd;
    XB_TRY(open_one(reader, 0, &fd, error));
    enum xb_status status = xb_direct_check_needs(reader->files, 0, fd, error);
    close(fd);
    return status;
}

/* ---- ways ---- */

static void close_rings(struct xb_reader *reader)
{
    for (unsigned i = 0; reader->rings != NULL && i < reader->plan.threads; i++)
        xb_uring_close(reader->rings[i]);
    free(reader->rings);
    reader->rings = NULL;
}

static const char *why_no_ring(int code)
{
    switch (code) {
    case EPERM:
    case EACCES:
        return "is not allowed here";
    case ENOSYS:
        return xb_is_left_out("liburing") ? "is not in this build" : "is not in this kernel";
    default:
        return "cannot be set up here";
    }
}

/* What the worst of all rings is like: they all read the same, or the record says less. */
static void describe_rings(struct xb_reader *reader)
{
    int code = 0;
    for (unsigned i = 0; code == 0 && i < reader->plan.threads; i++)
        code = xb_uring_buffer_error(reader->rings[i]);
    reader->is_second_choice = code != 0;
    if (code == 0)
        snprintf(reader->way, sizeof reader->way, "io_uring, registered buffers");
    else
        snprintf(reader->way, sizeof reader->way,
                 "io_uring: the buffers cannot be registered here (%s%s)", xb_errno_name(code),
                 code == ENOMEM ? ", see ulimit -l" : "");
}

/* Without io_uring every thread reads by preadv(2), past the page cache all the same. */
static enum xb_status open_rings(struct xb_reader *reader, struct xb_error *error)
{
    struct xb_uring_plan plan = {.memory = reader->plan.memory,
                                 .memory_bytes = reader->plan.memory_bytes,
                                 .descriptors = reader->descriptors,
                                 .count = reader->files->count};
    int code = 0;
    reader->rings = calloc(reader->plan.threads, sizeof(struct xb_uring *));
    if (reader->rings == NULL)
        return no_memory(error);
    for (unsigned i = 0; code == 0 && i < reader->plan.threads; i++)
        code = xb_uring_open(&plan, &reader->rings[i]);
    if (code == 0) {
        describe_rings(reader);
        return XB_OK;
    }
    close_rings(reader);
    reader->is_second_choice = true;
    snprintf(reader->way, sizeof reader->way, "preadv: io_uring %s (%s)", why_no_ring(code),
             xb_errno_name(code));
    return XB_OK;
}

static enum xb_status open_direct(struct xb_reader *reader, struct xb_error *error)
{
    enum xb_status status = check_direct(reader, error);
    if (status == XB_OK && !reader->plan.opens_each)
        status = open_all(reader, error);
    return status == XB_OK ? open_rings(reader, error) : status;
}

static enum xb_status open_mmap(struct xb_reader *reader, struct xb_error *error)
{
    snprintf(reader->way, sizeof reader->way, "mmap, each part mapped and unmapped");
    XB_TRY(xb_mapping_begin(error));
    reader->has_mapping = true;
    return reader->plan.opens_each ? XB_OK : open_all(reader, error);
}

static enum xb_status open_way(struct xb_reader *reader, struct xb_error *error)
{
    switch (reader->plan.io) {
    case XB_IO_DIRECT:
        return open_direct(reader, error);
    case XB_IO_MMAP:
        return open_mmap(reader, error);
    case XB_IO_CACHED:
        break;
    }
    snprintf(reader->way, sizeof reader->way, "preadv");
    return reader->plan.opens_each ? XB_OK : open_all(reader, error);
}

enum xb_status xb_reader_open(const struct xb_files *files, const struct xb_reader_plan *plan,
                              struct xb_reader **reader, struct xb_error *error)
{
    *reader = calloc(1, sizeof **reader);
    if (*reader == NULL)
        return no_memory(error);
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

static enum xb_status read_open(struct xb_reader *reader, unsigned thread,
                                const struct xb_read *read, struct xb_error *error)
{
    if (reader->rings != NULL)
        return xb_read_by_uring(reader->rings[thread], read, error);
    if (reader->plan.io != XB_IO_MMAP)
        return xb_read_by_preadv(read, error);
    return xb_read_by_mapping(read, error);
}

static bool is_on_block(const struct xb_read *read)
{
    return read->offset % XB_STORAGE_BLOCK == 0 && (uintptr_t)read->target % XB_STORAGE_BLOCK == 0;
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
    if (read.is_direct && !is_on_block(&read))
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
