/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, O_DIRECT */
/* Files are read by every way, and what the file system or the kernel forbids by another. Reads are
 * short, interrupted or fail, and files change under the reader. */

#include "backends/verify.h"
#include "base/child.h"
#include "checks.h"
#include "faults.h"
#include "fixture_tree.h"
#include "storage/internal.h"
#include "storage/reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#if XFERBENCH_HAS_URING
#include <liburing.h>
#define HAS_URING true
#else
#define HAS_URING false
#endif

static struct {
    int init, buffers; /* errno of io_uring's calls */
    int submit;        /* errno of the first submit_and_wait */
    int result;        /* in place of the first result: -errno, or a count that is smaller */
    bool results;      /* in place of all */
} steer;

/* This program is linked with --wrap for these. */
#if XFERBENCH_HAS_URING
int __real_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __real_io_uring_register_buffers(struct io_uring *ring, const struct iovec *parts, unsigned n);
int __real_io_uring_submit_and_wait(struct io_uring *ring, unsigned count);
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_register_buffers(struct io_uring *ring, const struct iovec *parts, unsigned n);
int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned count);

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
        if (faults[FAULT_PREADV].blocks > 0)
            assert_int_equal((asked->off | asked->len | asked->addr) % XB_STORAGE_BLOCK, 0);
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

static const char *root; /* of each test its own folder */
static struct test {
    struct xb_files files;
    struct xb_reader *reader;
    struct xb_reader_plan plan;
    struct xb_error error;
} test;

static void end(void)
{
    xb_reader_close(test.reader);
    xb_files_close(&test.files);
    free(test.plan.memory);
    memset(&test, 0, sizeof test);
}

static void make(size_t count, uint64_t bytes)
{
    end();
    test.plan.threads = 1;
    test.plan.memory_bytes = ROOM;
    assert_int_equal(posix_memalign(&test.plan.memory, XB_STORAGE_BLOCK, ROOM), 0);
    assert_int_equal(xb_files_make(root, count, bytes, false, 0, pattern, &test.files, &test.error),
                     XB_OK);
}

static void open_reader(enum xb_io io, bool opens_each)
{
    xb_reader_close(test.reader);
    test.plan.io = io;
    test.plan.opens_each = opens_each;
    assert_int_equal(xb_reader_open(&test.files, &test.plan, &test.reader, &test.error), XB_OK);
}

/* Reads a part of a file whose byte 0 is byte `begin` of the pattern, and looks at every byte. */
static void assert_reads(size_t file, uint64_t offset, uint64_t bytes)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < file; i++)
        begin += test.files.entries[i].bytes;
    memset(test.plan.memory, 0x5a, ROOM);
    assert_int_equal(
        xb_reader_read(test.reader, 0, file, offset, test.plan.memory, bytes, &test.error), XB_OK);
    assert_int_equal(xb_host_check(test.plan.memory, begin + offset, bytes, pattern).wrong_bytes,
                     0);
    const unsigned char *memory = test.plan.memory;
    uint64_t last = (bytes + XB_STORAGE_BLOCK - 1) / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK;
    assert_int_equal(memory[last], 0x5a); /* nothing behind the last block */
}

static void assert_reads_parts(void)
{
    for (size_t i = 0; i < test.files.count; i++) {
        uint64_t bytes = test.files.entries[i].bytes;
        assert_reads(i, 0, bytes);
        assert_reads(i, 0, 1);
        if (bytes > XB_STORAGE_BLOCK)
            assert_reads(i, XB_STORAGE_BLOCK, bytes - XB_STORAGE_BLOCK);
        if (test.plan.io != XB_IO_DIRECT) {
            assert_reads(i, bytes - 1, 1);
            assert_reads(i, bytes / 3, bytes / 3);
        }
    }
}

static int set_up(void **state)
{
    clear_faults();
    memset(&steer, 0, sizeof steer);
    int outcome = make_tree(state);
    root = *state;
    return outcome;
}

static int tear_down(void **state)
{
    clear_faults();
    end();
    return remove_tree(state);
}
#define READER_TEST(name) TEST_WITH(name, set_up, tear_down)

/* What a tmpfs refuses is not what this is about: O_DIRECT is left out. */
static void take_direct(void)
{
    faults[FAULT_OPENAT] = (struct fault){.without = O_DIRECT};
}

/* And every read must be of whole blocks. */
static void take_direct_blocks(void)
{
    take_direct();
    faults[FAULT_PREADV].blocks = XB_STORAGE_BLOCK;
}

static const uint64_t lengths[] = {1, 4095, 4096, 4097, (UINT64_C(3) << 20) + 4099};
#define LENGTH_COUNT (sizeof lengths / sizeof lengths[0])

/* By each way, with files of every length, one and many, that stay open and that do not. */
READER_TEST(every_way_reads_every_length)
{
    static const enum xb_io ways[] = {XB_IO_CACHED, XB_IO_MMAP, XB_IO_DIRECT};
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++)
        for (size_t i = 0; i < LENGTH_COUNT; i++)
            for (size_t count = 1; count <= 3; count += 2)
                for (int opens_each = 0; opens_each < 2; opens_each++) {
                    clear_faults();
                    if (ways[k] == XB_IO_DIRECT)
                        take_direct_blocks();
                    make(count, lengths[i]);
                    open_reader(ways[k], opens_each != 0);
                    assert_reads_parts();
                }
}

/* The same with O_DIRECT itself, where the tests run on a file system that has it. */
READER_TEST(o_direct_itself_reads_or_is_refused)
{
    make(1, 3 * XB_STORAGE_BLOCK + 5);
    test.plan.io = XB_IO_DIRECT;
    enum xb_status status = xb_reader_open(&test.files, &test.plan, &test.reader, &test.error);
    if (status == XB_OK)
        assert_reads_parts();
    else {
        assert_int_equal(status, XB_ERR_UNSUPPORTED);
        assert_has(test.error.message, test.files.file_system);
    }
}

READER_TEST(a_refused_o_direct_is_told)
{
    make(1, 5000);
    faults[FAULT_OPENAT] = (struct fault){.code = EINVAL, .flags = O_DIRECT};
    test.plan.io = XB_IO_DIRECT;
    assert_int_equal(xb_reader_open(&test.files, &test.plan, &test.reader, &test.error),
                     XB_ERR_UNSUPPORTED);
    assert_null(test.reader);
    assert_has(test.error.message, "refuses O_DIRECT");
}

/* It reads right by this way, and says whether that is what was asked for. */
static void assert_way(enum xb_io io, const char *way, bool is_second_choice)
{
    open_reader(io, false);
    assert_int_equal(xb_reader_is_second_choice(test.reader), is_second_choice);
    assert_string_equal(xb_reader_way(test.reader), way);
    assert_reads_parts();
}

READER_TEST(the_way_is_said)
{
    make(1, 5000);
    assert_way(XB_IO_CACHED, "preadv", false);
    assert_way(XB_IO_MMAP, "mmap, each part mapped and unmapped", false);
    test.plan.by_processes = true;
    test.plan.longest = 5000;
    assert_way(XB_IO_CACHED, "preadv, by processes", false);
}

/* io_uring is forbidden, or not in the kernel, or its buffers are: the contents are right. */
READER_TEST(a_second_choice_is_said)
{
    take_direct();
    make(1, (UINT64_C(3) << 20) + 1);
    test.plan.threads = 2;
    steer.init = ENOSYS; /* also in a build without it */
    assert_way(XB_IO_DIRECT, "preadv: io_uring is not in this kernel (ENOSYS)", true);
    if (!HAS_URING)
        return;
    steer.init = EPERM;
    assert_way(XB_IO_DIRECT, "preadv: io_uring is not allowed here (EPERM)", true);
    steer.init = 0;
    steer.buffers = ENOMEM;
    open_reader(XB_IO_DIRECT, false);
    if (strncmp(xb_reader_way(test.reader), "preadv", 6) != 0) /* the system has it */
        assert_way(XB_IO_DIRECT,
                   "io_uring: the buffers cannot be registered here (ENOMEM, see ulimit -l)", true);
}

/* ---- several threads ---- */

#define THREADS 4u
#define PART (UINT64_C(3) * XB_STORAGE_BLOCK)

struct worker {
    unsigned thread;
    bool is_right;
};

static void *read_parts(void *argument)
{
    struct worker *worker = argument;
    struct xb_error error;
    char *target = (char *)test.plan.memory + worker->thread * PART;
    uint64_t bytes = test.files.bytes;
    worker->is_right = true;
    for (uint64_t at = worker->thread * PART; at < bytes; at += THREADS * PART) {
        uint64_t part = bytes - at < PART ? bytes - at : PART;
        if (xb_reader_read(test.reader, worker->thread, 0, at, target, part, &error) != XB_OK ||
            xb_host_check(target, at, part, pattern).wrong_bytes != 0)
            worker->is_right = false;
    }
    return NULL;
}

READER_TEST(threads_read_beside_each_other)
{
    /* The last two by processes. */
    static const enum xb_io ways[] = {XB_IO_CACHED, XB_IO_DIRECT, XB_IO_MMAP, XB_IO_CACHED,
                                      XB_IO_MMAP};
    take_direct();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct worker workers[THREADS];
        pthread_t threads[THREADS];
        make(1, 1000001);
        test.plan.threads = THREADS;
        test.plan.by_processes = i >= 3;
        test.plan.longest = PART;
        open_reader(ways[i], false);
        for (unsigned t = 0; t < THREADS; t++) {
            workers[t] = (struct worker){.thread = t};
            assert_int_equal(pthread_create(&threads[t], NULL, read_parts, &workers[t]), 0);
        }
        for (unsigned t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_true(workers[t].is_right);
        }
    }
}

/* ---- short, interrupted and wrong ---- */

static void assert_fails(uint64_t offset, uint64_t bytes, const char *words)
{
    assert_int_equal(
        xb_reader_read(test.reader, 0, 0, offset, test.plan.memory, bytes, &test.error),
        XB_ERR_RUNTIME);
    assert_has(test.error.message, test.files.path);
    assert_has(test.error.message, words);
}

READER_TEST(short_and_interrupted_reads_go_on)
{
    make(1, 100001);
    open_reader(XB_IO_CACHED, false);
    faults[FAULT_PREADV] = (struct fault){.code = EINTR, .times = 3, .most = 1001};
    assert_reads_parts();
    faults[FAULT_PREADV] = (struct fault){.code = EAGAIN, .times = 2, .most = 1001};
    assert_reads_parts();
    take_direct_blocks();
    steer.init = EPERM;
    faults[FAULT_PREADV].most = 5000; /* of which a direct read keeps whole blocks */
    open_reader(XB_IO_DIRECT, false);
    assert_reads_parts();
}

READER_TEST(a_read_that_fails_is_told)
{
    make(1, 10000);
    open_reader(XB_IO_CACHED, false);
    faults[FAULT_PREADV].code = EIO;
    assert_fails(4096, 904, "904 bytes at offset 4096 cannot be read, Input/output error");
    assert_string_equal(test.error.native_name, "EIO");
}

/* What a process reads wrong is told with its error, and that it is gone. */
READER_TEST(what_a_process_reads_wrong_is_told)
{
    make(1, 10000);
    test.plan.by_processes = true;
    test.plan.longest = 10000;
    faults[FAULT_PREADV].code = EIO; /* of the process, too */
    open_reader(XB_IO_CACHED, false);
    assert_fails(4096, 904, "904 bytes at offset 4096 cannot be read, Input/output error");
    assert_string_equal(test.error.native_name, "EIO");
    faults[FAULT_PREADV].code = 0;
    open_reader(XB_IO_CACHED, false);
    assert_reads(0, 0, 10000);
    xb_children_abandon(); /* kills it */
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, test.plan.memory, 10000, &test.error),
                     XB_ERR_RUNTIME);
    assert_has(test.error.message, "a process that reads for this one was ended by SIGKILL");
}

/* Whether direct reads go by io_uring where the test runs. */
static bool open_uring(bool opens_each)
{
    take_direct_blocks();
    open_reader(XB_IO_DIRECT, opens_each);
    return strncmp(xb_reader_way(test.reader), "io_uring", 8) == 0;
}

READER_TEST(io_uring_goes_on_after_what_is_short)
{
    static const int results[] = {-EINTR, -EAGAIN, 4096, 4097, 1 << 19};
    static const int submits[] = {EINTR, EAGAIN, EBUSY};
    make(1, (UINT64_C(3) << 20) + 4099);
    if (open_uring(false)) {
        for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
            steer.result = results[i];
            assert_reads(0, 0, test.files.bytes);
            assert_int_equal(steer.result, 0);
        }
        for (size_t i = 0; i < sizeof submits / sizeof submits[0]; i++) {
            steer.submit = submits[i];
            assert_reads(0, 0, test.files.bytes);
        }
        steer.result = 8192;
        steer.results = true;
        assert_reads(0, 0, test.files.bytes);
    }
}

READER_TEST(io_uring_tells_what_fails)
{
    make(1, (UINT64_C(3) << 20) + 4099);
    if (open_uring(false)) {
        steer.result = -EIO;
        assert_fails(0, test.files.bytes, "Input/output error");
        assert_string_equal(test.error.native_name, "EIO");
        assert_reads(0, 0, test.files.bytes); /* nothing of it is left in the ring */
        steer.submit = EFAULT;
        assert_fails(0, test.files.bytes, "Bad address");
        assert_fails(0, test.files.bytes, "cannot be read"); /* and it stays so */
    }
}

/* More parts than may be under way, and memory that is not registered. */
READER_TEST(more_parts_than_may_be_under_way)
{
    uint64_t bytes = (UINT64_C(40) << 20) + 1;
    void *memory = NULL;
    make(1, bytes);
    assert_int_equal(posix_memalign(&memory, XB_STORAGE_BLOCK, bytes + XB_STORAGE_BLOCK), 0);
    open_uring(false);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, memory, bytes, &test.error), XB_OK);
    assert_int_equal(xb_host_check(memory, 0, bytes, pattern).wrong_bytes, 0);
    free(memory);
}

/* A file that a test can change: its own. */
static void make_own(char path[PATH_MAX], off_t bytes)
{
    make(1, 1);
    xb_files_close(&test.files);
    write_file(root, "file", "x");
    snprintf(path, PATH_MAX, "%s/file", root);
    assert_int_equal(truncate(path, bytes), 0);
    assert_int_equal(xb_files_open(path, &test.files, &test.error), XB_OK);
}

/* To nothing, to another page, and within a page, where a mapping is only zeros. */
static void assert_shrinks(enum xb_io io, bool opens_each)
{
    static const off_t to[] = {0, 4097, 8192, 12289};
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        char path[PATH_MAX];
        make_own(path, 12290);
        open_reader(io, opens_each);
        assert_int_equal(truncate(path, to[i]), 0);
        assert_fails(0, 12290, "shorter than when it was opened");
        assert_int_equal(truncate(path, 20000), 0); /* more than there was does no harm */
        assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, test.plan.memory, 12290, &test.error),
                         XB_OK);
    }
}

READER_TEST(a_file_that_shrinks_is_told)
{
    take_direct();
    for (int opens_each = 0; opens_each < 2; opens_each++) {
        assert_shrinks(XB_IO_CACHED, opens_each != 0);
        assert_shrinks(XB_IO_MMAP, opens_each != 0);
        assert_shrinks(XB_IO_DIRECT, opens_each != 0);
        steer.init = EPERM;
        assert_shrinks(XB_IO_DIRECT, opens_each != 0);
        steer.init = 0;
    }
}

READER_TEST(a_file_that_is_gone_is_told)
{
    char path[PATH_MAX];
    make_own(path, 5000);
    open_reader(XB_IO_CACHED, true);
    assert_int_equal(unlink(path), 0);
    assert_fails(0, 1, "No such file");
}

READER_TEST(wrong_calls_are_refused)
{
    make(1, 10000);
    open_uring(false);
    char *memory = test.plan.memory;
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 1, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 0, memory + 1, 5, &test.error),
                     XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 1, 0, 0, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 1, 0, memory, 5, &test.error), XB_ERR_INTERNAL);
    assert_int_equal(xb_reader_read(test.reader, 0, 0, 8192, memory, 1809, &test.error),
                     XB_ERR_INTERNAL);
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
READER_TEST(a_sigbus_of_others_goes_to_their_handler)
{
    char path[PATH_MAX];
    struct sigaction before = {.sa_handler = note_other};
    struct sigaction after;
    struct sigaction usual;
    assert_int_equal(sigaction(SIGBUS, &before, &usual), 0);
    make_own(path, 5000);
    open_reader(XB_IO_MMAP, false);
    others = 0;
    if (sigsetjmp(leave, 1) == 0)
        (void)raise(SIGBUS);
    assert_int_equal(others, 1);
    end();
    assert_int_equal(sigaction(SIGBUS, &usual, &after), 0);
    assert_true(after.sa_handler == note_other);
}
