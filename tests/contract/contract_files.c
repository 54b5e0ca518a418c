/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT */
/* Files that a device reads by itself. */
#include "contract.h"

#include "../doubles/damaged_backend.h"
#include "backends/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the test's file: not a multiple of anything, and longer than the 2 MiB of a damaged read. */
#define LENGTH ((UINT64_C(3) << 20) + 4099)
#define PART (BYTES / 4 / 4096 * 4096)

static void write_all(int descriptor)
{
    char *bytes = malloc(LENGTH);
    assert_non_null(bytes);
    xb_host_fill(bytes, 0, LENGTH, pattern);
    for (uint64_t done = 0; done < LENGTH;) {
        ssize_t count = write(descriptor, bytes + done, LENGTH - done);
        assert_true(count > 0 || errno == EINTR);
        done += count > 0 ? (uint64_t)count : 0;
    }
    assert_int_equal(fsync(descriptor), 0);
    free(bytes);
}

#define PATH_BYTES 4096

/* A file of the pattern. A file system in memory refuses O_DIRECT:
 * the rules are the same without. */
static int make_file(char path[PATH_BYTES])
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_BYTES, "%s/xferbench-contract-XXXXXX", folder != NULL ? folder : "/tmp");
    int written = mkstemp(path);
    assert_true(written >= 0);
    write_all(written);
    close(written);
    int descriptor = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (descriptor < 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    return descriptor;
}

/* The test's file, opened by the device. NULL where this runtime refuses such files: then the test
 * is left out, with the reason. */
static struct xb_file *open_file(struct fixture *f, int *descriptor)
{
    struct xb_file *file = NULL;
    struct xb_error error = {0};
    char text[1024];
    if (!can(f, XB_CAP_FILE))
        return NULL;
    char path[PATH_BYTES];
    *descriptor = make_file(path);
    enum xb_status status = f->backend->file_open(f->device, *descriptor, &file, &error);
    assert_int_equal(unlink(path), 0); /* only now: a runtime may open it once more, by its name */
    if (status == XB_ERR_UNSUPPORTED) {
        printf("refused: %s\n", xb_error_text(&error, text, sizeof text));
        assert_string_not_equal(error.message, "");
        close(*descriptor);
        return NULL;
    }
    must(status, &error);
    assert_ptr_equal(file->device, f->device);
    return file;
}

static void close_file(struct fixture *f, struct xb_file *file, int descriptor)
{
    struct xb_file_way way = {.is_direct = false};
    struct xb_error error;
    must(f->backend->file_way(file, &way, &error), &error);
    assert_string_not_equal(way.how, "");
    f->backend->file_close(file);
    f->backend->file_close(NULL);
    assert_true(fcntl(descriptor, F_GETFD) >= 0); /* it stays the caller's */
    close(descriptor);
}

/* What came of a read: the range, and poison all around it. */
static void expect_read(struct fixture *f, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct xb_error error;
    const unsigned char *memory = f->pinned->host_address;
    uint64_t end = to + bytes;
    must(f->backend->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    await(f);
    assert_true(xb_host_check(memory, 0, to, poison).wrong_bytes == 0);
    assert_true(xb_host_check(memory + to, from, bytes, pattern).wrong_bytes == 0);
    assert_true(xb_host_check(memory + end, end, BYTES - end, poison).wrong_bytes == 0);
}

static void test_reads_bring_the_file(void **state)
{
    struct fixture *f = *state;
    const struct {
        uint64_t from, to, bytes;
    } ranges[] = {
        {0, 0, 4096},       {0, 0, 1u << 20},   {4096, 8192, 65536}, {0, 0, 1},
        {1, 0, 4096},       {0, 1, 4096},       {7, 13, 4097},       {4095, 4096, 2},
        {4096, 4096, 4099}, {511, 512, 100001}, {LENGTH - 1, 0, 1},  {LENGTH - 4099, 4096, 4099},
        {8192, 4096, 0},
    };
    struct xb_error error;
    int descriptor = -1;
    struct xb_file *file = open_file(f, &descriptor);
    if (file == NULL)
        skip();
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        fill(f, poison);
        await(f);
        must(f->backend->file_read(file, ranges[i].from, f->there, ranges[i].to, ranges[i].bytes,
                                   &error),
             &error);
        expect_read(f, ranges[i].from, ranges[i].to, ranges[i].bytes);
    }
    close_file(f, file, descriptor);
}

static void test_a_read_past_the_end_fails(void **state)
{
    struct fixture *f = *state;
    const struct {
        uint64_t from, bytes;
    } ranges[] = {
        {LENGTH, 1}, {LENGTH - 1, 2}, {LENGTH / 4096 * 4096, 8192}, {LENGTH + 4096, 4096}};
    int descriptor = -1;
    struct xb_file *file = open_file(f, &descriptor);
    if (file == NULL)
        skip();
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct xb_error error = {0};
        assert_int_equal(
            f->backend->file_read(file, ranges[i].from, f->there, 0, ranges[i].bytes, &error),
            XB_ERR_RUNTIME);
        assert_string_not_equal(error.message, "");
    }
    close_file(f, file, descriptor);
}

static void test_bad_reads_are_refused(void **state)
{
    struct fixture *f = *state;
    const struct {
        struct xb_buffer *buffer;
        uint64_t offset, bytes;
    } bad[] = {{f->there, 1, BYTES},
               {f->there, BYTES + 1, 1},
               {f->there, UINT64_MAX, 2},
               {f->pinned, 0, 4096}};
    int descriptor = -1;
    struct xb_file *file = open_file(f, &descriptor);
    if (file == NULL)
        skip();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct xb_error error = {0};
        assert_int_equal(
            f->backend->file_read(file, 0, bad[i].buffer, bad[i].offset, bad[i].bytes, &error),
            XB_ERR_USAGE);
        assert_string_not_equal(error.message, "");
    }
    close_file(f, file, descriptor);
}

static void test_no_file_is_refused(void **state)
{
    struct fixture *f = *state;
    struct xb_file *file = NULL;
    struct xb_error error = {0};
    if (!can(f, XB_CAP_FILE))
        skip();
    assert_int_not_equal(f->backend->file_open(f->device, -1, &file, &error), XB_OK);
    assert_string_not_equal(error.message, "");
    assert_null(file);
}

/* One of two threads, which read to parts of a buffer that lie next to each other. */
struct reader {
    struct fixture *f;
    struct xb_file *file;
    uint64_t from;
    struct xb_error error;
    enum xb_status status;
};

static void *read_part(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t done = 0; reader->status == XB_OK && done < PART; done += PART / 8)
        reader->status =
            reader->f->backend->file_read(reader->file, reader->from + done, reader->f->there,
                                          reader->from + done, PART / 8, &reader->error);
    return NULL;
}

static void test_two_threads_read(void **state)
{
    struct fixture *f = *state;
    int descriptor = -1;
    struct xb_file *file = open_file(f, &descriptor);
    if (file == NULL)
        skip();
    struct reader readers[2] = {{.f = f, .file = file}, {.f = f, .file = file, .from = PART}};
    pthread_t threads[2];
    fill(f, poison);
    await(f);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_part, &readers[i]), 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2; i++)
        must(readers[i].status, &readers[i].error);
    expect_read(f, 0, 0, 2 * PART);
    close_file(f, file, descriptor);
}

static const struct CMUnitTest tests[] = {
    TEST(test_reads_bring_the_file),  TEST(test_a_read_past_the_end_fails),
    TEST(test_bad_reads_are_refused), TEST(test_no_file_is_refused),
    TEST(test_two_threads_read),
};

/* Each damage shows in what arrives, is counted, and is gone when it is taken back. */
static void test_reads_take_damage(void **state)
{
    static const enum xb_damage all[] = {XB_DAMAGE_BIT_FLIPPED,     XB_DAMAGE_BLOCKS_SWAPPED,
                                         XB_DAMAGE_SHIFTED_2MIB,    XB_DAMAGE_LAST_BYTE_LOST,
                                         XB_DAMAGE_NOTHING_COPIED,  XB_DAMAGE_PIECE_LOST,
                                         XB_DAMAGE_PIECE_MISPLACED, XB_DAMAGE_NONE};
    struct fixture *f = *state;
    struct xb_error error;
    int descriptor = -1;
    struct xb_file *file = open_file(f, &descriptor);
    if (file == NULL)
        skip();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        xb_damage_count = 0;
        xb_damaged_how = all[i];
        fill(f, poison);
        await(f);
        must(f->backend->file_read(file, 0, f->there, 0, 65536, &error), &error);
        assert_int_equal(check(f, 65536).wrong_bytes > 0, all[i] != XB_DAMAGE_NONE);
        assert_int_equal(xb_damage_count, all[i] != XB_DAMAGE_NONE);
    }
    close_file(f, file, descriptor);
}

static int heal(void **state)
{
    xb_damaged_how = XB_DAMAGE_NONE;
    return tear_down(state);
}

int run_file_tests(const char *name)
{
    const struct CMUnitTest damaged[] = {
        cmocka_unit_test_setup_teardown(test_reads_take_damage, set_up, heal)};
    const struct xb_backend *undamaged = tested;
    char group[64];
    snprintf(group, sizeof group, "%s: files", name);
    int failed = _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
    snprintf(group, sizeof group, "%s: files with damage", name);
    tested = xb_damaged_wrap(undamaged);
    failed += _cmocka_run_group_tests(group, damaged, 1, NULL, NULL);
    tested = undamaged;
    return failed;
}
