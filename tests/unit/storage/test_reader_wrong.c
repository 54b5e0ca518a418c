/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, O_DIRECT */
/* Reads that are short, interrupted or fail, and files that change under the reader. */

#include "testing.h"

#include "base/child.h"
#include "reader_fixture.h"

#include <signal.h>

static void assert_fails(struct test *test, uint64_t offset, uint64_t bytes, const char *words)
{
    assert_int_equal(
        xb_reader_read(test->reader, 0, 0, offset, test->plan.memory, bytes, &test->error),
        XB_ERR_RUNTIME);
    assert_has(test->error.message, test->files.path);
    assert_has(test->error.message, words);
}

READER_TEST(test_preadv_goes_on)
{
    struct test test;
    make(&test, *state, 1, 100001);
    open_reader(&test, XB_IO_CACHED, false);
    steer.most = 1001;
    steer.interrupted = 3;
    steer.again = 2;
    assert_reads_parts(&test);
    steer.direct_is_taken = true;
    steer.init = EPERM;
    steer.in_blocks = true;
    steer.most = 5000; /* of which a direct read keeps whole blocks */
    open_reader(&test, XB_IO_DIRECT, false);
    assert_reads_parts(&test);
    end(&test);
}

READER_TEST(test_preadv_fails)
{
    struct test test;
    make(&test, *state, 1, 10000);
    open_reader(&test, XB_IO_CACHED, false);
    steer.preadv = EIO;
    assert_fails(&test, 4096, 904, "904 bytes at offset 4096 cannot be read, Input/output error");
    assert_string_equal(test.error.native_name, "EIO");
    end(&test);
}

/* What a process reads wrong is told with its error, and that it is gone. */
READER_TEST(test_processes_fail)
{
    struct test test;
    make(&test, *state, 1, 10000);
    test.plan.by_processes = true;
    test.plan.longest = 10000;
    steer.preadv = EIO; /* of the process, too */
    open_reader(&test, XB_IO_CACHED, false);
    assert_fails(&test, 4096, 904, "904 bytes at offset 4096 cannot be read, Input/output error");
    assert_string_equal(test.error.native_name, "EIO");
    steer.preadv = 0;
    open_reader(&test, XB_IO_CACHED, false);
    assert_reads(&test, 0, 0, 10000);
    xb_children_abandon(); /* kills it */
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, test.plan.memory, 10000, &test.error),
                     XB_ERR_RUNTIME);
    assert_has(test.error.message, "a process that reads for this one was ended by SIGKILL");
    end(&test);
}

/* Whether direct reads go by io_uring where the test runs. */
static bool open_uring(struct test *test, bool opens_each)
{
    steer.direct_is_taken = true;
    open_reader(test, XB_IO_DIRECT, opens_each);
    return strncmp(xb_reader_way(test->reader), "io_uring", 8) == 0;
}

READER_TEST(test_uring_goes_on)
{
    static const int results[] = {-EINTR, -EAGAIN, 4096, 4097, 1 << 19};
    static const int submits[] = {EINTR, EAGAIN, EBUSY};
    struct test test;
    make(&test, *state, 1, (UINT64_C(3) << 20) + 4099);
    steer.in_blocks = true;
    if (open_uring(&test, false)) {
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            steer.result = results[i];
            assert_reads(&test, 0, 0, test.files.bytes);
            assert_int_equal(steer.result, 0);
        }
        for (size_t i = 0; i < sizeof submits / sizeof submits[0]; i++) {
            steer.submit = submits[i];
            assert_reads(&test, 0, 0, test.files.bytes);
        }
        steer.result = 8192;
        steer.results = true;
        assert_reads(&test, 0, 0, test.files.bytes);
    }
    end(&test);
}

READER_TEST(test_uring_fails)
{
    struct test test;
    make(&test, *state, 1, (UINT64_C(3) << 20) + 4099);
    if (open_uring(&test, false)) {
        steer.result = -EIO;
        assert_fails(&test, 0, test.files.bytes, "Input/output error");
        assert_string_equal(test.error.native_name, "EIO");
        assert_reads(&test, 0, 0, test.files.bytes); /* nothing of it is left in the ring */
        steer.submit = EFAULT;
        assert_fails(&test, 0, test.files.bytes, "Bad address");
        assert_fails(&test, 0, test.files.bytes, "cannot be read"); /* and it stays so */
    }
    end(&test);
}

/* More parts than may be under way, and memory that is not registered. */
READER_TEST(test_uring_deep)
{
    struct test test;
    uint64_t bytes = (UINT64_C(40) << 20) + 1;
    void *memory = NULL;
    make(&test, *state, 1, bytes);
    assert_int_equal(posix_memalign(&memory, XB_STORAGE_BLOCK, bytes + XB_STORAGE_BLOCK), 0);
    open_uring(&test, false);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, memory, bytes, &test.error), XB_OK);
    assert_int_equal(xb_host_check(memory, 0, bytes, pattern).wrong_bytes, 0);
    free(memory);
    end(&test);
}

/* A file that a test can change: its own. */
static void make_own(struct test *test, const char *root, char path[PATH_MAX], off_t bytes)
{
    make(test, root, 1, 1);
    xb_files_close(&test->files);
    write_file(root, "file", "x");
    snprintf(path, PATH_MAX, "%s/file", root);
    assert_int_equal(truncate(path, bytes), 0);
    assert_int_equal(xb_files_open(path, &test->files, &test->error), XB_OK);
}

/* To nothing, to another page, and within a page, where a mapping is only zeros. */
static void assert_shrinks(const char *root, enum xb_io io, bool opens_each)
{
    static const off_t to[] = {0, 4097, 8192, 12289};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        struct test test;
        char path[PATH_MAX];
        make_own(&test, root, path, 12290);
        open_reader(&test, io, opens_each);
        assert_int_equal(truncate(path, to[i]), 0);
        assert_fails(&test, 0, 12290, "shorter than when it was opened");
        assert_int_equal(truncate(path, 20000), 0); /* more than there was does no harm */
        assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, test.plan.memory, 12290, &test.error),
                         XB_OK);
        end(&test);
    }
}

READER_TEST(test_shrinks)
{
    steer.direct_is_taken = true;
    for (int opens_each = 0; opens_each < 2; opens_each++) {
        assert_shrinks(*state, XB_IO_CACHED, opens_each != 0);
        assert_shrinks(*state, XB_IO_MMAP, opens_each != 0);
        assert_shrinks(*state, XB_IO_DIRECT, opens_each != 0);
        steer.init = EPERM;
        assert_shrinks(*state, XB_IO_DIRECT, opens_each != 0);
        steer.init = 0;
    }
}

READER_TEST(test_gone)
{
    struct test test;
    char path[PATH_MAX];
    make_own(&test, *state, path, 5000);
    open_reader(&test, XB_IO_CACHED, true);
    assert_int_equal(unlink(path), 0);
    assert_fails(&test, 0, 1, "No such file");
    end(&test);
}

READER_TEST(test_wrong_calls)
{
    struct test test;
    make(&test, *state, 1, 10000);
    open_uring(&test, false);
    char *memory = test.plan.memory;
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 1, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, memory + 1, 5, &test.error),
                     XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 1, 0, 0, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 1, 0, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 8192, memory, 1809, &test.error),
                     XB_ERR_INTERNAL);
    end(&test);
}

/* ---- the handler of SIGBUS ---- */

static volatile sig_atomic_t others;
static sigjmp_buf leave;

static void note_other(int number)
{
    (void)number;
    others = others + 1;
    siglongjmp(leave, 1);
}

/* A SIGBUS of somebody else goes to the handler that was there, which is back in the end. */
READER_TEST(test_others_handler)
{
    struct test test;
    char path[PATH_MAX];
    struct sigaction before = {.sa_handler = note_other};
    struct sigaction after;
    struct sigaction usual;
    assert_int_equal(sigaction(SIGBUS, &before, &usual), 0);
    make_own(&test, *state, path, 5000);
    open_reader(&test, XB_IO_MMAP, false);
    others = 0;
    if (sigsetjmp(leave, 1) == 0)
        (void)raise(SIGBUS);
    assert_int_equal(others, 1);
    end(&test);
    assert_int_equal(sigaction(SIGBUS, &usual, &after), 0);
    assert_true(after.sa_handler == note_other);
}
