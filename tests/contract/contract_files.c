/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT */
/* Files that a device reads by itself. */
#include "contract.h"

#include "../doubles/damage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct group file_tests = {"files", "files", false, 0, {}};
#define OWN_GROUP file_tests
struct group damaged_file_tests = {"files", "files with damage", true, 0, {}};

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

static struct xb_file *file; /* the test's, opened by the device */
static int descriptor;

/* False where this runtime refuses such files: then the test is left out, with the reason. */
static bool open_file(void)
{
    struct xb_error error = {0};
    char path[PATH_BYTES];
    char text[1024];
    if (!can(XB_CAP_FILE))
        return false;
    descriptor = make_file(path);
    enum xb_status status = tested->file_open(f->device, descriptor, &file, &error);
    assert_int_equal(unlink(path), 0); /* only now: a runtime may open it once more, by its name */
    if (status == XB_ERR_UNSUPPORTED) {
        printf("refused: %s\n", xb_error_text(&error, text, sizeof text));
        assert_string_not_equal(error.message, "");
        close(descriptor);
        return false;
    }
    must(status, &error);
    assert_ptr_equal(file->device, f->device);
    return true;
}
#define NEEDS_FILE                                                                                 \
    if (!open_file())                                                                              \
    skip()

static void expect_closed(struct xb_file *closed)
{
    struct xb_file_way way = {.is_direct = false};
    MUST(file_way, closed, &way);
    assert_string_not_equal(way.how, "");
    tested->file_close(closed);
    tested->file_close(NULL);
    assert_true(fcntl(descriptor, F_GETFD) >= 0); /* it stays the caller's */
    close(descriptor);
}

static int close_file(void **state)
{
    struct xb_file *open = file;
    file = NULL;
    if (open != NULL)
        expect_closed(open);
    return tear_down(state);
}
#define FILE_TEST(name) TEST_OF(file_tests, name, close_file)

FILE_TEST(reads_bring_the_file)
{
    const struct {
        uint64_t from, to, bytes;
    } ranges[] = {
        {0, 0, 4096},       {0, 0, 1u << 20},   {4096, 8192, 65536}, {0, 0, 1},
        {1, 0, 4096},       {0, 1, 4096},       {7, 13, 4097},       {4095, 4096, 2},
        {4096, 4096, 4099}, {511, 512, 100001}, {LENGTH - 1, 0, 1},  {LENGTH - 4099, 4096, 4099},
        {8192, 4096, 0},
    };
    NEEDS_FILE;
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        fill(poison);
        await();
        MUST(file_read, file, ranges[i].from, f->there, ranges[i].to, ranges[i].bytes);
        expect_range(bring_back(), ranges[i].to, ranges[i].from, ranges[i].bytes);
    }
}

FILE_TEST(a_read_past_the_end_fails)
{
    const struct {
        uint64_t from, bytes;
    } ranges[] = {
        {LENGTH, 1}, {LENGTH - 1, 2}, {LENGTH / 4096 * 4096, 8192}, {LENGTH + 4096, 4096}};
    NEEDS_FILE;
    for (size_t i = 0; i < COUNT_OF(ranges); i++)
        FAILS(XB_ERR_RUNTIME, file_read, file, ranges[i].from, f->there, 0, ranges[i].bytes);
}

FILE_TEST(bad_reads_are_refused)
{
    const struct {
        struct xb_buffer *buffer;
        uint64_t offset, bytes;
    } bad[] = {{f->there, 1, BYTES},
               {f->there, BYTES + 1, 1},
               {f->there, UINT64_MAX, 2},
               {f->pinned, 0, 4096}};
    NEEDS_FILE;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        REFUSED(file_read, file, 0, bad[i].buffer, bad[i].offset, bad[i].bytes);
}

TEST(no_file_is_refused)
{
    struct xb_file *none = NULL;
    NEEDS(XB_CAP_FILE);
    FAILS(XB_OK, file_open, f->device, -1, &none);
    assert_null(none);
}

/* One of two threads, which read to parts of a buffer that lie next to each other. */
struct reader {
    struct xb_file *file;
    uint64_t from;
    struct xb_error error;
    enum xb_status status;
};

static void *read_part(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t done = 0; reader->status == XB_OK && done < PART; done += PART / 8)
        reader->status = tested->file_read(reader->file, reader->from + done, f->there,
                                           reader->from + done, PART / 8, &reader->error);
    return NULL;
}

FILE_TEST(two_threads_read)
{
    NEEDS_FILE;
    struct reader readers[2] = {{.file = file}, {.file = file, .from = PART}};
    pthread_t threads[2];
    fill(poison);
    await();
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_part, &readers[i]), 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 2; i++)
        must(readers[i].status, &readers[i].error);
    expect_range(bring_back(), 0, 0, 2 * PART);
}

/* Each damage shows in what arrives, is counted, and is gone when it is taken back. */
TEST_OF(damaged_file_tests, reads_take_damage, close_file)
{
    NEEDS_FILE;
    for (int i = XB_DAMAGE_PIECE_MISPLACED; i >= XB_DAMAGE_NONE; i--) {
        xb_damage_count = 0;
        xb_damaged_how = (enum xb_damage)i;
        fill(poison);
        await();
        MUST(file_read, file, 0, f->there, 0, 65536);
        assert_int_equal(check(65536).wrong_bytes > 0, i != XB_DAMAGE_NONE);
        assert_int_equal(xb_damage_count, i != XB_DAMAGE_NONE);
    }
}
