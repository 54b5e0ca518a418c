/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Reads by libcufile and what is said of them, over a library that stands in for it. */
#include "backends/cuda/cufile.h"
#include "backends/verify.h"
#include "doubles/fake_cufile.h"
#include "testing.h"

#include <dlfcn.h>
#include <errno.h>
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

FIXTURE_TEST(failures_keep_their_names)
{
    const struct {
        ssize_t result;
        int code;
        const char *name;
    } failures[] = {{-1, EIO, "EIO"},
                    {-5014, 0, "CU_FILE_CUDA_POINTER_RANGE_ERROR"},
                    {-5008, 0, "CU_FILE_IO_NOT_SUPPORTED"},
                    {-5999, 0, "CUfileOpError"}};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        fake->read_result = failures[i].result;
        fake->read_errno = failures[i].code;
        assert_int_equal(xb_cufile_reads_read(&reads, 4096, memory, sizeof memory, 0, 1, &error),
                         XB_ERR_RUNTIME);
        assert_int_equal(error.status, XB_ERR_RUNTIME);
        assert_int_equal(error.native_code,
                         failures[i].result == -1 ? failures[i].code : -failures[i].result);
        assert_string_equal(error.native_name, failures[i].name);
        assert_string_equal(error.call, "cuFileRead");
        assert_non_null(strstr(error.message, "4096"));
    }
}

FIXTURE_TEST(a_refused_file_is_unsupported)
{
    const struct {
        int code;
        enum xb_status status;
        const char *name;
    } refusals[] = {{5008, XB_ERR_UNSUPPORTED, "CU_FILE_IO_NOT_SUPPORTED"},
                    {5018, XB_ERR_UNSUPPORTED, "CU_FILE_INVALID_FILE_TYPE"},
                    {5011, XB_ERR_RUNTIME, "CU_FILE_CUDA_DRIVER_ERROR"},
                    {5030, XB_ERR_RUNTIME, "CU_FILE_INTERNAL_ERROR"}};
    fake->cuda_code = 719;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct xb_cufile_reads refused;
        fake->register_code = refusals[i].code;
        assert_int_equal(xb_cufile_reads_open(&refused, descriptor, &error), refusals[i].status);
        assert_int_equal(error.native_code, refusals[i].code);
        assert_string_equal(error.native_name, refusals[i].name);
        assert_string_equal(error.call, "cuFileHandleRegister");
        assert_int_equal(strstr(error.message, "719") != NULL, refusals[i].code == 5011);
    }
}

static void expect_way(bool is_direct, const char *said)
{
    struct xb_file_way way = {.is_direct = !is_direct};
    assert_int_equal(xb_cufile_reads_way(&reads, &way, &error), XB_OK);
    assert_int_equal(way.is_direct, is_direct);
    if (strstr(way.how, said) == NULL)
        fail_msg("'%s' does not say '%s'", way.how, said);
    assert_true(strlen(way.how) + 1 < sizeof way.how); /* nothing was cut off */
}

/* What others read before does not count. One read through the host's memory is no direct way. */
FIXTURE_TEST(what_is_counted_is_told)
{
    fake->way = FAKE_CUFILE_NVFS;
    read_it(&reads, 0, 0, 4096);
    read_it(&reads, 0, 0, 4096);
    expect_way(true, "cuFile 1.15, as it counts reads: 2 by nvidia-fs, 0 by P2PDMA, 0 in");
    fake->way = FAKE_CUFILE_P2P;
    read_it(&reads, 0, 0, 4096);
    expect_way(true, "2 by nvidia-fs, 1 by P2PDMA, 0 in compatibility mode");
    fake->way = FAKE_CUFILE_POSIX;
    read_it(&reads, 0, 0, 4096);
    expect_way(false, "2 by nvidia-fs, 1 by P2PDMA, 1 in compatibility mode (through");
    fake->counted[FAKE_CUFILE_POSIX] = UINT64_C(12345678901);
    fake->counted[FAKE_CUFILE_NVFS] = UINT64_C(12345678901);
    fake->counted[FAKE_CUFILE_P2P] = UINT64_C(12345678901);
    expect_way(false, "memory)");
}

/* Without counts only what the set-up rules out is certain. */
FIXTURE_TEST(without_counts_the_set_up_is_told)
{
    const struct {
        int version;
        unsigned major, control;
        bool is_direct;
        const char *said;
    } set_ups[] = {
        {1090, 0, 2, false, "cuFile 1.9, by its set-up, not counted: compatibility mode, through"},
        {1150, 0, 2, false, "not known whether past the host's memory (no nvidia-fs"},
        {1090, 2, 2, false, "(with nvidia-fs, compatibility mode allowed)"},
        {1150, 2, 2, false, "cuFile 1.15, not counted: not known"},
        {1150, 2, 0, true, "nvidia-fs 2.20, compatibility mode not allowed"},
        {0, 0, 0, false, "cuFile, not counted"},
    };
    fake->counts_nothing = true;
    read_it(&reads, 0, 0, 4096);
    for (size_t i = 0; i < sizeof set_ups / sizeof set_ups[0]; i++) {
        fake->version = set_ups[i].version;
        fake->nvfs_major = set_ups[i].major;
        fake->nvfs_control = set_ups[i].control;
        expect_way(set_ups[i].is_direct, set_ups[i].said);
    }
}

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
