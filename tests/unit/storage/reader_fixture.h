/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A reader over made files, and calls of the kernel that fail as a test wants them to. Include
 * after cmocka.h, from a file that defines _GNU_SOURCE. */
#include "backends/verify.h"
#include "checks.h"
#include "fixture_tree.h"
#include "storage/internal.h"
#include "storage/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#if XFERBENCH_HAS_URING
#include <liburing.h>
#define HAS_URING true
#else
#define HAS_URING false
#endif

/* This program is linked with --wrap for these. */
ssize_t __real_preadv(int descriptor, const struct iovec *parts, int count, off_t offset);
int __real_openat(int folder, const char *path, int flags, ...);
ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset);
int __wrap_openat(int folder, const char *path, int flags, ...);
#if XFERBENCH_HAS_URING
int __real_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __real_io_uring_register_buffers(struct io_uring *ring, const struct iovec *parts, unsigned n);
int __real_io_uring_submit_and_wait(struct io_uring *ring, unsigned count);
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_register_buffers(struct io_uring *ring, const struct iovec *parts, unsigned n);
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned count);
#endif

static struct {
    int interrupted, again; /* so many preadv fail with EINTR, EAGAIN */
    int preadv;             /* errno of every preadv behind those */
    size_t most;            /* bytes that a read gives */
    bool in_blocks;         /* every read must be of whole blocks */
    bool direct_is_taken;   /* O_DIRECT is left out, so that every file system takes it */
    int direct;             /* errno of O_DIRECT */
    int init, buffers;      /* errno of io_uring's calls */
    int submit;             /* errno of the first submit_and_wait */
    int result;             /* in place of the first result: -errno, or a count that is smaller */
    bool results;           /* in place of all */
} steer;

static inline int fail_with(int code)
{
    errno = code;
    return -1;
}

static inline void check_blocks(uint64_t offset, uint64_t bytes, uint64_t target)
{
    if (steer.in_blocks)
        assert_int_equal((offset | bytes | target) % XB_STORAGE_BLOCK, 0);
}

ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    struct iovec part = parts[0];
    if (steer.interrupted > 0) {
        steer.interrupted--;
        return fail_with(EINTR);
    }
    if (steer.again > 0) {
        steer.again--;
        return fail_with(EAGAIN);
    }
    if (steer.preadv != 0)
        return fail_with(steer.preadv);
    assert_int_equal(count, 1);
    check_blocks((uint64_t)offset, part.iov_len, (uintptr_t)part.iov_base);
    if (steer.most > 0 && part.iov_len > steer.most)
        part.iov_len = steer.most;
    return __real_preadv(descriptor, &part, 1, offset);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    if ((flags & O_DIRECT) != 0 && steer.direct != 0)
        return fail_with(steer.direct);
    return __real_openat(folder, path, steer.direct_is_taken ? flags & ~O_DIRECT : flags, 0600);
}

#if XFERBENCH_HAS_URING
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    return steer.init != 0 ? -steer.init : __real_io_uring_queue_init(entries, ring, flags);
}

int __wrap_io_uring_register_buffers(struct io_uring *ring, const struct iovec *parts, unsigned n)
{
    return steer.buffers != 0 ? -steer.buffers : __real_io_uring_register_buffers(ring, parts, n);
}

int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned count)
{
    int code = steer.submit;
    const struct io_uring_sq *queue = &ring->sq;
    for (unsigned i = queue->sqe_head; i != queue->sqe_tail; i++) {
        const struct io_uring_sqe *asked = &queue->sqes[i & *queue->kring_mask];
        check_blocks(asked->off, asked->len, asked->addr);
    }
    if (code != 0) {
        steer.submit = 0;
        return -code;
    }
    int outcome = __real_io_uring_submit_and_wait(ring, count);
    struct io_uring_cqe *done;
    if (steer.result != 0 && io_uring_peek_cqe(ring, &done) == 0) {
        if (steer.result < done->res)
            done->res = steer.result;
        steer.result = steer.results ? steer.result : 0;
    }
    return outcome;
}
#endif

/* ---- reading all of some files ---- */

#define ROOM ((UINT64_C(4) << 20) + 3 * XB_STORAGE_BLOCK)

static const struct xb_pattern pattern = {.seed = 7};

struct test {
    struct xb_files files;
    struct xb_reader *reader;
    struct xb_reader_plan plan;
    struct xb_error error;
};

static inline void make(struct test *test, const char *root, size_t count, uint64_t bytes)
{
    memset(test, 0, sizeof *test);
    test->plan.threads = 1;
    test->plan.memory = NULL;
    test->plan.memory_bytes = ROOM;
    assert_int_equal(posix_memalign(&test->plan.memory, XB_STORAGE_BLOCK, ROOM), 0);
    assert_int_equal(
        xb_files_make(root, count, bytes, false, 0, pattern, &test->files, &test->error), XB_OK);
}

static inline void end(struct test *test)
{
    xb_reader_close(test->reader);
    xb_files_close(&test->files);
    free(test->plan.memory);
}

static inline void open_reader(struct test *test, enum xb_io io, bool opens_each)
{
    xb_reader_close(test->reader);
    test->plan.io = io;
    test->plan.opens_each = opens_each;
    assert_int_equal(xb_reader_open(&test->files, &test->plan, &test->reader, &test->error), XB_OK);
}

/* Reads a part of a file whose byte 0 is byte `begin` of the pattern, and looks at every byte. */
static inline void assert_reads(struct test *test, size_t file, uint64_t offset, uint64_t bytes)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < file; i++)
        begin += test->files.entries[i].bytes;
    memset(test->plan.memory, 0x5a, ROOM);
    assert_int_equal(
        xb_reader_read(test->reader, 0, file, offset, test->plan.memory, bytes, &test->error),
        XB_OK);
    assert_int_equal(xb_host_check(test->plan.memory, begin + offset, bytes, pattern).wrong_bytes,
                     0);
    const unsigned char *memory = test->plan.memory;
    uint64_t last = (bytes + XB_STORAGE_BLOCK - 1) / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK;
    assert_int_equal(memory[last], 0x5a); /* nothing behind the last block */
}

static inline void assert_reads_parts(struct test *test)
{
    for (size_t i = 0; i < test->files.count; i++) {
        uint64_t bytes = test->files.entries[i].bytes;
        assert_reads(test, i, 0, bytes);
        assert_reads(test, i, 0, 1);
        if (bytes > XB_STORAGE_BLOCK)
            assert_reads(test, i, XB_STORAGE_BLOCK, bytes - XB_STORAGE_BLOCK);
        if (test->plan.io != XB_IO_DIRECT) {
            assert_reads(test, i, bytes - 1, 1);
            assert_reads(test, i, bytes / 3, bytes / 3);
        }
    }
}

static inline int set_up(void **state)
{
    memset(&steer, 0, sizeof steer);
    return make_tree(state);
}

#define READER_TEST(name) TEST_WITH(name, set_up, remove_tree)
