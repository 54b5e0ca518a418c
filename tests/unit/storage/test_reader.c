/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, O_DIRECT */
/* Files are read by every way, and what the file system or the kernel forbids by another. */

#include "testing.h"

#include "reader_fixture.h"

#include <pthread.h>

static const uint64_t lengths[] = {1, 4095, 4096, 4097, (UINT64_C(3) << 20) + 4099};
#define LENGTH_COUNT (sizeof lengths / sizeof lengths[0])

/* By one way, with files of every length, one and many, that stay open and that do not. */
static void assert_reads_all(const char *root, enum xb_io io)
{
    for (size_t i = 0; i < LENGTH_COUNT; i++)
        for (size_t count = 1; count <= 3; count += 2)
            for (int opens_each = 0; opens_each < 2; opens_each++) {
                struct test test;
                make(&test, root, count, lengths[i]);
                open_reader(&test, io, opens_each != 0);
                assert_reads_parts(&test);
                end(&test);
            }
}

READER_TEST(test_cached)
{
    assert_reads_all(*state, XB_IO_CACHED);
}

READER_TEST(test_mmap)
{
    assert_reads_all(*state, XB_IO_MMAP);
}

READER_TEST(test_direct)
{
    steer.in_blocks = true;
    steer.direct_is_taken = true; /* what a tmpfs refuses is not what this is about */
    assert_reads_all(*state, XB_IO_DIRECT);
}

/* The same with O_DIRECT itself, where the tests run on a file system that has it. */
READER_TEST(test_really_direct)
{
    struct test test;
    make(&test, *state, 1, 3 * XB_STORAGE_BLOCK + 5);
    test.plan.io = XB_IO_DIRECT;
    enum xb_status status = xb_reader_open(&test.files, &test.plan, &test.reader, &test.error);
    if (status == XB_OK)
        assert_reads_parts(&test);
    else {
        assert_int_equal(status, XB_ERR_UNSUPPORTED);
        assert_has(test.error.message, test.files.file_system);
    }
    end(&test);
}

READER_TEST(test_no_direct)
{
    struct test test;
    make(&test, *state, 1, 5000);
    steer.direct = EINVAL;
    test.plan.io = XB_IO_DIRECT;
    assert_int_equal(xb_reader_open(&test.files, &test.plan, &test.reader, &test.error),
                     XB_ERR_UNSUPPORTED);
    assert_null(test.reader);
    assert_has(test.error.message, "refuses O_DIRECT");
    end(&test);
}

READER_TEST(test_ways)
{
    struct test test;
    make(&test, *state, 1, 5000);
    open_reader(&test, XB_IO_CACHED, false);
    assert_string_equal(xb_reader_way(test.reader), "preadv");
    assert_false(xb_reader_is_second_choice(test.reader));
    open_reader(&test, XB_IO_MMAP, false);
    assert_string_equal(xb_reader_way(test.reader), "mmap, each part mapped and unmapped");
    test.plan.by_processes = true;
    test.plan.longest = 1;
    open_reader(&test, XB_IO_CACHED, false);
    assert_string_equal(xb_reader_way(test.reader), "preadv, by processes");
    assert_false(xb_reader_is_second_choice(test.reader));
    end(&test);
}

/* io_uring is forbidden, or its buffers: the contents are right, and it says so. */
READER_TEST(test_second_choice)
{
    struct test test;
    steer.direct_is_taken = true;
    make(&test, *state, 1, (UINT64_C(3) << 20) + 1);
    test.plan.threads = 2;
    steer.buffers = ENOMEM;
    open_reader(&test, XB_IO_DIRECT, false);
    assert_true(xb_reader_is_second_choice(test.reader));
    assert_reads_parts(&test);
    if (HAS_URING && strncmp(xb_reader_way(test.reader), "preadv", 6) != 0)
        assert_string_equal(
            xb_reader_way(test.reader),
            "io_uring: the buffers cannot be registered here (ENOMEM, see ulimit -l)");
    steer.init = EPERM;
    open_reader(&test, XB_IO_DIRECT, false);
    assert_true(xb_reader_is_second_choice(test.reader));
    if (HAS_URING)
        assert_string_equal(xb_reader_way(test.reader),
                            "preadv: io_uring is not allowed here (EPERM)");
    assert_reads_parts(&test);
    steer.init = ENOSYS;
    open_reader(&test, XB_IO_DIRECT, true);
    assert_string_equal(xb_reader_way(test.reader),
                        "preadv: io_uring is not in this kernel (ENOSYS)");
    assert_reads_parts(&test);
    end(&test);
}

/* ---- several threads ---- */

#define THREADS 4u
#define PART (UINT64_C(3) * XB_STORAGE_BLOCK)

struct worker {
    struct test *test;
    unsigned thread;
    bool is_right;
};

static void *read_parts(void *argument)
{
    struct worker *worker = argument;
    struct test *test = worker->test;
    struct xb_error error;
    char *target = (char *)test->plan.memory + worker->thread * PART;
    uint64_t bytes = test->files.bytes;
    worker->is_right = true;
    for (uint64_t at = worker->thread * PART; at < bytes; at += THREADS * PART) {
        uint64_t part = bytes - at < PART ? bytes - at : PART;
        if (xb_reader_read(test->reader, worker->thread, 0, at, target, part, &error) != XB_OK ||
            xb_host_check(target, at, part, pattern).wrong_bytes != 0)
            worker->is_right = false;
    }
    return NULL;
}

READER_TEST(test_threads)
{
    /* The last two by processes. */
    static const enum xb_io ways[] = {XB_IO_CACHED, XB_IO_DIRECT, XB_IO_MMAP, XB_IO_CACHED,
                                      XB_IO_MMAP};
    steer.direct_is_taken = true;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct test test;
        struct worker workers[THREADS];
        pthread_t threads[THREADS];
        make(&test, *state, 1, 1000001);
        test.plan.threads = THREADS;
        test.plan.by_processes = i >= 3;
        test.plan.longest = PART;
        open_reader(&test, ways[i], false);
        for (unsigned t = 0; t < THREADS; t++) {
            workers[t] = (struct worker){.test = &test, .thread = t};
            assert_int_equal(pthread_create(&threads[t], NULL, read_parts, &workers[t]), 0);
        }
        for (unsigned t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_true(workers[t].is_right);
        }
        end(&test);
    }
}
