/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* preadv */
#include "reader.h"
#include "base/child.h"
#include "base/left_out.h"
#include "base/memory.h"
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- mappings ---- */

/* Where a mapped file lost the page, or the disk cannot read it, the kernel raises SIGBUS in the
 * thread that touched it. A handler leaves the copy then. process_vm_readv(2) would return an error
 * instead, but it is the kernel's copy and not the one by page faults that is measured here.
 *
 * The handler is there while a reader maps files. A SIGBUS that is not of a copy goes where it went
 * before. */

/* The copy that this thread is in. The thread's own signals only: no lock is needed. */
static _Thread_local struct {
    sigjmp_buf leave;
    volatile sig_atomic_t is_copying;
    const char *begin;
    const char *end;
} copying;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static struct sigaction previous;

static void handle(int number, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;
    if (copying.is_copying && at >= copying.begin && at < copying.end)
        siglongjmp(copying.leave, 1);
    if ((previous.sa_flags & SA_SIGINFO) != 0)
        previous.sa_sigaction(number, info, context);
    else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
        previous.sa_handler(number);
    else {
        /* It ends the process as soon as the signal is no longer blocked. */
        signal(number, SIG_DFL);
        (void)raise(number);
    }
}

/* One user more of the handler. */
static enum xb_status begin_mapping(struct xb_error *error)
{
    int code = 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (users == 0 && sigaction(SIGBUS, &action, &previous) != 0)
        code = errno;
    users += code == 0;
    pthread_mutex_unlock(&lock);
    return code == 0 ? XB_OK : XB_FAIL_ERRNO(error, "sigaction", code, "SIGBUS cannot be handled");
}

/* One user less. */
static void end_mapping(void)
{
    struct sigaction now;
    pthread_mutex_lock(&lock);
    /* Somebody who has set another handler meanwhile keeps it. */
    if (--users == 0 && sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == handle)
        (void)sigaction(SIGBUS, &previous, NULL);
    pthread_mutex_unlock(&lock);
}

/* Whether all was there. */
static bool copy(char *target, const char *source, uint64_t bytes)
{
    copying.begin = source - (uintptr_t)source % (uintptr_t)sysconf(_SC_PAGESIZE);
    copying.end = source + bytes;
    /* Also the mask: the signal is blocked in its handler. */
    if (sigsetjmp(copying.leave, 1) != 0) {
        copying.is_copying = 0;
        return false;
    }
    copying.is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(target, source, bytes);
    atomic_signal_fence(memory_order_seq_cst);
    copying.is_copying = 0;
    return true;
}

/* Maps what is read, copies, and unmaps it. */
static enum xb_status read_by_mapping(const struct xb_read *read, struct xb_error *error)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = read->offset / page * page;
    uint64_t bytes = read->offset - begin + read->bytes;
    struct stat now;
    if (read->bytes == 0)
        return XB_OK;
    char *mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, read->descriptor, (off_t)begin);
    if (mapping == MAP_FAILED)
        return xb_read_failed(read, "mmap", errno, read->offset, read->bytes, error);
    bool is_whole = copy(read->target, mapping + (read->offset - begin), read->bytes);
    munmap(mapping, bytes);
    /* Behind the end of a file the rest of its last page is zeros, and no signal tells. */
    if (fstat(read->descriptor, &now) != 0)
        return xb_read_failed(read, "fstat", errno, read->offset, read->bytes, error);
    if ((uint64_t)now.st_size < read->offset + read->bytes)
        return xb_read_ended(read, (uint64_t)now.st_size, error);
    return is_whole ? XB_OK : xb_read_failed(read, "SIGBUS", EIO, read->offset, read->bytes, error);
}

/* ---- opening ---- */

/* One call reads 2 GiB less a page at most; a multiple of the block keeps direct reads aligned. */
#define MOST_BYTES (UINT64_C(1) << 30)

/* A process that reads for a thread. */
struct worker {
    struct xb_child child;
    char *memory; /* of both; NULL: there is none */
};

struct xb_reader {
    const struct xb_files *files;
    struct xb_reader_plan plan;
    int *descriptors;        /* of every file; NULL where each read opens its own */
    struct xb_uring **rings; /* of every thread; NULL where it reads otherwise */
    struct worker *workers;  /* of every thread; NULL: the threads read */
    pthread_mutex_t pinning; /* of who copies from their memory */
    bool has_mapping;        /* begin_mapping was called */
    bool is_second_choice;
    char way[160];
};

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
    int code = 0, buffers = 0; /* errno; the buffers' is that of the first ring without them */
    reader->rings = xb_new(reader->plan.threads, sizeof(struct xb_uring *));
    for (unsigned i = 0; code == 0 && i < reader->plan.threads; i++) {
        int own = 0;
        code = xb_uring_open(&reader->plan, reader->descriptors, reader->files->count,
                             &reader->rings[i], &own);
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

static enum xb_status read_here(struct xb_reader *reader, unsigned thread, struct xb_read *read,
                                struct xb_error *error);

/* What a thread asks of its process. */
struct request {
    unsigned thread;
    size_t file;
    uint64_t offset, bytes;
};

/* The process, until its channel is closed. It has the reader as it was when it was forked, the
 * static texts of errors included. */
static int serve(void *argument, int channel)
{
    struct xb_reader *reader = argument;
    struct request request;
    while (xb_channel_read(channel, &request, sizeof request)) {
        struct xb_error error = {.status = XB_OK};
        struct xb_read read = {.files = reader->files,
                               .file = request.file,
                               .offset = request.offset,
                               .bytes = request.bytes,
                               .target = reader->workers[request.thread].memory};
        enum xb_status status = read_here(reader, request.thread, &read, &error);
        if (!xb_channel_write(channel, &status, sizeof status) ||
            (status != XB_OK && !xb_channel_write(channel, &error, sizeof error)))
            break;
    }
    return EXIT_SUCCESS;
}

static enum xb_status start_workers(struct xb_reader *reader, struct xb_error *error)
{
    const struct xb_child_task task = {.what = "a process that reads",
                                       .work = serve,
                                       .argument = reader,
                                       .signals = XB_CHILD_IGNORES_SIGNALS,
                                       .files = XB_CHILD_IS_SILENT,
                                       .dies_with_parent = true};
    size_t length = strlen(reader->way);
    snprintf(reader->way + length, sizeof reader->way - length, ", by processes");
    reader->workers = xb_new(reader->plan.threads, sizeof *reader->workers);
    for (unsigned i = 0; i < reader->plan.threads; i++) {
        void *memory = mmap(NULL, reader->plan.longest, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return XB_FAIL_ERRNO(error, "mmap", errno, "no memory to share with a reader");
        reader->workers[i].memory = memory;
    }
    for (unsigned i = 0; i < reader->plan.threads; i++)
        XB_TRY(xb_child_start(&reader->workers[i].child, &task, error));
    return XB_OK;
}

/* How long a process may take to leave once its channel is closed, and to be gone when killed. */
#define LEAVE_S 1.0

static void end_workers(struct xb_reader *reader)
{
    for (unsigned i = 0; reader->workers != NULL && i < reader->plan.threads; i++) {
        struct worker *worker = &reader->workers[i];
        if (worker->child.process > 0)
            (void)xb_child_end(&worker->child, 0, LEAVE_S);
        if (worker->memory != NULL)
            munmap(worker->memory, reader->plan.longest);
    }
    free(reader->workers);
}

static enum xb_status open_way(struct xb_reader *reader, struct xb_error *error)
{
    snprintf(reader->way, sizeof reader->way, "preadv");
    if (reader->plan.io == XB_IO_MMAP) {
        snprintf(reader->way, sizeof reader->way, "mmap, each part mapped and unmapped");
        XB_TRY(begin_mapping(error));
        reader->has_mapping = true;
    }
    const bool is_direct = reader->plan.io == XB_IO_DIRECT;
    if (is_direct) { /* by which blocks, the first file tells */
        int fd;
        XB_TRY(xb_files_open_to_read(reader->files, 0, true, &fd, error));
        enum xb_status status = xb_direct_check_needs(reader->files, 0, fd, error);
        close(fd);
        XB_TRY(status);
    }
    size_t count = reader->plan.opens_each ? 0 : reader->files->count;
    reader->descriptors = count > 0 ? xb_new(count, sizeof *reader->descriptors) : NULL;
    for (size_t i = 0; i < count; i++)
        reader->descriptors[i] = -1;
    for (size_t i = 0; i < count; i++)
        XB_TRY(xb_files_open_to_read(reader->files, i, is_direct, &reader->descriptors[i], error));
    if (is_direct)
        open_rings(reader);
    return reader->plan.by_processes ? start_workers(reader, error) : XB_OK;
}

enum xb_status xb_reader_open(const struct xb_files *files, const struct xb_reader_plan *plan,
                              struct xb_reader **reader, struct xb_error *error)
{
    *reader = xb_new(1, sizeof **reader);
    (*reader)->files = files;
    (*reader)->plan = *plan;
    pthread_mutex_init(&(*reader)->pinning, NULL);
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
    end_workers(reader);
    pthread_mutex_destroy(&reader->pinning);
    close_rings(reader);
    if (reader->has_mapping)
        end_mapping();
    for (size_t i = 0; reader->descriptors != NULL && i < reader->files->count; i++)
        if (reader->descriptors[i] >= 0)
            close(reader->descriptors[i]);
    free(reader->descriptors);
    free(reader);
}

/* ---- reading ---- */

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
    return read_by_mapping(read, error);
}

static enum xb_status read_here(struct xb_reader *reader, unsigned thread, struct xb_read *read,
                                struct xb_error *error)
{
    if (reader->descriptors != NULL) {
        read->descriptor = reader->descriptors[read->file];
        return read_open(reader, thread, read, error);
    }
    XB_TRY(xb_files_open_to_read(reader->files, read->file, read->is_direct, &read->descriptor,
                                 error));
    enum xb_status status = read_open(reader, thread, read, error);
    close(read->descriptor);
    return status;
}

static enum xb_status read_by_process(struct xb_reader *reader, unsigned thread,
                                      const struct xb_read *read, struct xb_error *error)
{
    struct worker *worker = &reader->workers[thread];
    const struct request request = {thread, read->file, read->offset, read->bytes};
    enum xb_status status = XB_OK;
    char end[64];
    if (read->bytes > reader->plan.longest)
        return XB_FAIL(error, XB_ERR_INTERNAL, "a read is longer than was planned");
    if (!xb_channel_write(worker->child.channel, &request, sizeof request) ||
        !xb_channel_read(worker->child.channel, &status, sizeof status) ||
        (status != XB_OK && !xb_channel_read(worker->child.channel, error, sizeof *error))) {
        struct xb_child *child = &worker->child;
        (void)xb_child_end(child, LEAVE_S, LEAVE_S);
        return XB_FAIL(error, XB_ERR_RUNTIME, "a process that reads for this one %s: see dmesg",
                       xb_child_end_text(child->exit_code, child->signal, end, sizeof end));
    }
    if (status != XB_OK)
        return status;
    pthread_mutex_lock(&reader->pinning);
    memcpy(read->target, worker->memory, read->bytes);
    pthread_mutex_unlock(&reader->pinning);
    return XB_OK;
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
    return reader->workers != NULL ? read_by_process(reader, thread, &read, error)
                                   : read_here(reader, thread, &read, error);
}

const char *xb_reader_way(const struct xb_reader *reader)
{
    return reader->way;
}

bool xb_reader_is_second_choice(const struct xb_reader *reader)
{
    return reader->is_second_choice;
}
