/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Reads by libcufile and what is said of them, over a library that stands in for it. */
#include "backends/cuda/cufile.h"
#include "backends/verify.h"
#include "doubles/fake_cufile.h"
#include "rows.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIXTURE_TEST(function) TEST_WITH(function, start, end)

#define LENGTH 100003u

static struct fake_cufile *fake;
static int descriptor = -1;
static unsigned char memory[LENGTH + 4096];
static const struct xb_pattern pattern = {.seed = 5};
static struct xb_cufile_reads reads; /* of each test */
static struct xb_error error;

/* A file without a name, and the library where its user finds it. */
static int prepare(NO_STATE)
{
    FILE *file = tmpfile();
    void *library = dlopen(FAKE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || file == NULL ||
        setenv("LD_LIBRARY_PATH", "/nowhere::" FAKE_FOLDER, 1) != 0)
        return -1;
    fake = dlsym(library, "fake_cufile");
    xb_host_fill(memory, 0, LENGTH, pattern);
    if (fwrite(memory, 1, LENGTH, file) != LENGTH || fflush(file) != 0)
        return -1;
    descriptor = dup(fileno(file));
    fclose(file);
    return fake != NULL && descriptor >= 0 ? 0 : -1;
}

/* The library as it is after it was opened, of CUDA 13.0, and a file open to be read by it. */
static int start(NO_STATE)
{
    *fake = (struct fake_cufile){.version = 1150,
                                 .opened = fake->opened,
                                 .stats_level = fake->stats_level,
                                 .counting = fake->counting};
    fake->counted[FAKE_CUFILE_POSIX] = 1000; /* what others read before does not count */
    memset(memory, 0, sizeof memory);
    error = (struct xb_error){.status = XB_OK};
    return xb_cufile_reads_open(&reads, descriptor, &error) == XB_OK ? 0 : -1;
}

/* The memory is not known any more, nor is any file. */
static int end(NO_STATE)
{
    xb_cufile_reads_close(&reads);
    xb_cufile_forget(memory);
    return fake->files == 0 && fake->buffers == 0 ? 0 : -1;
}

static void read_it(struct xb_cufile_reads *by, uint64_t from, uint64_t to, uint64_t bytes)
{
    assert_int_equal(xb_cufile_reads_read(by, from, memory, sizeof memory, to, bytes, &error),
                     XB_OK);
    assert_int_equal(xb_host_check(memory + to, from, bytes, pattern).wrong_bytes, 0);
}

FIXTURE_TEST(finds_and_opens_the_library_once)
{
    assert_string_equal(xb_cufile_path(), FAKE_FOLDER "/libcufile.so.0");
    for (int times = 0; times < 2; times++)
        assert_int_equal(xb_cufile_open(&error), XB_OK);
    assert_int_equal(fake->opened, 1);
    assert_int_equal(fake->stats_level, XB_CUFILE_ALL_COUNTS);
    assert_true(fake->counting);
}

FIXTURE_TEST(reads_until_all_is_there)
{
    read_it(&reads, 0, 0, LENGTH);
    assert_int_equal(fake->reads, 1);
    fake->most = 1000;
    read_it(&reads, 1, 4096, 5000);
    assert_int_equal(fake->reads, 6);
}

/* Memory is made known once, whether it is taken or not, and forgotten before it is freed. */
FIXTURE_TEST(memory_is_made_known_once)
{
    struct xb_cufile_reads other;
    assert_int_equal(xb_cufile_reads_open(&other, descriptor, &error), XB_OK);
    read_it(&reads, 0, 0, 4096);
    read_it(&other, 4096, 8192, 4096);
    assert_int_equal(fake->buffers, 1);
    xb_cufile_forget(memory + 1);
    assert_int_equal(fake->buffers, 1);
    xb_cufile_forget(memory);
    xb_cufile_forget(memory);
    assert_int_equal(fake->buffers, 0);
    fake->buffer_code = 5036;
    read_it(&reads, 0, 0, 4096);
    fake->buffer_code = 0;
    read_it(&reads, 0, 0, 4096);
    assert_int_equal(fake->buffers, 0);
    xb_cufile_reads_close(&other);
}

FIXTURE_TEST(a_file_that_ends_is_a_failure)
{
    assert_int_equal(
        xb_cufile_reads_read(&reads, LENGTH - 10, memory, sizeof memory, 0, 30, &error),
        XB_ERR_RUNTIME);
    assert_non_null(strstr(error.message, "20 bytes too early"));
}

/* What comes of a call, in the words of its error. */
static void say_outcome(char said[ROW_TEXT], enum xb_status status)
{
    assert_int_equal(error.status, status);
    say_also(said, "%s: %s gives %d, %s: %s", status == XB_ERR_RUNTIME ? "failed" : "unsupported",
             error.call, (int)error.native_code, error.native_name, error.message);
}

/* "what is read of it | errno": of a read at 4096. */
static void say_read(const struct row *row, char said[ROW_TEXT])
{
    assert_int_equal(start(NULL), 0);
    fake->read_result = atoi(row->part[0]);
    fake->read_errno = (int)row_number(row, 1);
    say_outcome(said, xb_cufile_reads_read(&reads, 4096, memory, sizeof memory, 0, 1, &error));
    assert_int_equal(end(NULL), 0);
}
TEST_ROWS(failures_keep_their_names, say_read)

/* "code": CUDA's, which counts for one of them alone, is 719. */
static void say_opened(const struct row *row, char said[ROW_TEXT])
{
    struct xb_cufile_reads refused;
    assert_int_equal(start(NULL), 0);
    fake->cuda_code = 719;
    fake->register_code = (int)row_number(row, 0);
    say_outcome(said, xb_cufile_reads_open(&refused, descriptor, &error));
    assert_int_equal(end(NULL), 0);
}
TEST_ROWS(a_refused_file_is_unsupported, say_opened)

static void say_way(char said[ROW_TEXT])
{
    struct xb_file_way way = {.is_direct = false};
    assert_int_equal(xb_cufile_reads_way(&reads, &way, &error), XB_OK);
    say_also(said, "%s: %s", way.is_direct ? "direct" : "not direct", way.how);
    assert_true(strlen(way.how) + 1 < sizeof way.how); /* nothing was cut off */
}

/* "reads by nvidia-fs | by P2PDMA | through the host's memory": what others read before does not
 * count. Numbers of many digits are set as the library's own. */
static void say_counted(const struct row *row, char said[ROW_TEXT])
{
    assert_int_equal(start(NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        fake->way = i == 0 ? FAKE_CUFILE_NVFS : i == 1 ? FAKE_CUFILE_P2P : FAKE_CUFILE_POSIX;
        for (uint64_t k = 0; k < row_number(row, i) % 10; k++)
            read_it(&reads, 0, 0, 4096);
        fake->counted[fake->way] += row_number(row, i) / 10 * 10;
    }
    say_way(said);
    assert_int_equal(end(NULL), 0);
}
TEST_ROWS(what_is_counted_is_told, say_counted)

/* "cuFile's version | of nvidia-fs | how it is controlled": without counts. */
static void say_set_up(const struct row *row, char said[ROW_TEXT])
{
    assert_int_equal(start(NULL), 0);
    fake->counts_nothing = true;
    read_it(&reads, 0, 0, 4096);
    fake->version = (int)row_number(row, 0);
    fake->nvfs_major = (unsigned)row_number(row, 1);
    fake->nvfs_control = (unsigned)row_number(row, 2);
    say_way(said);
    assert_int_equal(end(NULL), 0);
}
TEST_ROWS(without_counts_the_set_up_is_told, say_set_up)

/* The real one does, now and then. The exit code and what was printed are kept. */
FIXTURE_TEST(a_library_that_crashes_at_the_end_does_no_harm)
{
    char text[8] = "";
    FILE *printed = tmpfile();
    assert_non_null(printed);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fake->crashes_at_end = xb_cufile_open(&error) == XB_OK;
        fputs("printed", printed);
        exit(7);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    rewind(printed);
    assert_string_equal(fgets(text, sizeof text, printed), "printed");
    fclose(printed);
}

/* Of the sanitizer, if there is one: the process ends before it looks for leaks by itself. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static int look_for_leaks(NO_STATE)
{
    return __lsan_do_recoverable_leak_check != NULL ? __lsan_do_recoverable_leak_check() : 0;
}
GROUP(prepare, look_for_leaks)
