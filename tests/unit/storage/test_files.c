/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo, O_DIRECT */
#include "backends/verify.h"
#include "checks.h"
#include "faults.h"
#include "fixture_tree.h"
#include "storage/files.h"
#include "storage/internal.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

/* Of each test: its own folder, files and error. */
static const char *root;
static struct xb_files files;
static struct xb_error error;

static int set_up(void **state)
{
    clear_faults();
    fault_said.is_heard = true;
    int outcome = make_tree(state);
    root = *state;
    return outcome;
}

static int tear_down(void **state)
{
    clear_faults();
    xb_files_close(&files); /* nothing where it is closed already */
    return remove_tree(state);
}

static const struct xb_pattern pattern = {.seed = 42};

static int open_descriptors(void)
{
    return (int)entries_in("/proc/self/fd");
}

/* The contents are one run of the pattern through all files. */
static void assert_contents(const struct xb_files *of)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < of->count; i++) {
        size_t bytes = of->entries[i].bytes;
        char *data = malloc(bytes + 1);
        int fd = xb_files_open_one(of, i, 0);
        assert_true(fd >= 0);
        assert_int_equal(pread(fd, data, bytes + 1, 0), bytes);
        close(fd);
        assert_int_equal(xb_host_check(data, offset, bytes, pattern).wrong_bytes, 0);
        free(data);
        offset += bytes;
    }
    assert_int_equal(offset, of->bytes);
}

static void make_files(size_t count, uint64_t bytes)
{
    assert_int_equal(xb_files_make(root, count, bytes, false, 0, pattern, &files, &error), XB_OK);
}

static void make_and_check(size_t count, uint64_t bytes, size_t named)
{
    int before = open_descriptors();
    make_files(count, bytes);
    assert_int_equal(files.count, count);
    assert_true(files.is_made);
    assert_int_equal(entries_in(root), named);
    assert_contents(&files);
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_OK);
    xb_files_close(&files);
    xb_files_close(&files); /* nothing is left to close */
    assert_int_equal(entries_in(root), 0);
    assert_int_equal(open_descriptors(), before);
    assert_string_equal(fault_said.text, "");
}

/* With the reason: what somebody else put there, or why a file stays. */
FIXTURE_TEST(a_folder_that_stays_is_told)
{
    static const struct {
        int code;
        const char *name;
    } rows[] = {{0, "ENOTEMPTY"}, {EPERM, "EPERM"}};
    for (size_t i = 0; i < 2; i++) {
        faults[FAULT_UNLINKAT].code = 0;
        make_files(2, 1);
        char *path = strdup(files.path);
        write_file(path, "somebody's", "text");
        faults[FAULT_UNLINKAT].code = rows[i].code;
        xb_files_close(&files);
        assert_has(fault_said.text, path);
        assert_has(fault_said.text, rows[i].name);
        assert_int_equal(entries_in(path), i == 0 ? 1 : 3);
        free(path);
    }
}

FIXTURE_TEST(files_are_made_with_the_pattern)
{
    static const uint64_t lengths[] = {1, 4095, 4096, 4097, (4 << 20) + 3};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        make_and_check(1, lengths[i], 0);
    make_and_check(2, 4097, 1);
    make_and_check(33, 1001, 1);
}

/* Where the file system knows no files without a name, and where nobody can open them again. */
FIXTURE_TEST(files_are_made_where_the_system_lacks_something)
{
    faults[FAULT_PWRITE].most = 1000; /* and it takes less than it is given */
    faults[FAULT_OPEN] = (struct fault){.code = EOPNOTSUPP, .flags = O_TMPFILE};
    make_and_check(1, 5000, 0);
    faults[FAULT_OPEN] = (struct fault){.code = ENOENT, .path = "/proc/"};
    make_and_check(1, 5000, 1);
}

/* Returns the message. Nothing is left, and no descriptor open. */
static const char *assert_not_made(size_t count, uint64_t bytes, enum xb_status status)
{
    int before = open_descriptors();
    assert_int_equal(xb_files_make(root, count, bytes, false, 0, pattern, &files, &error), status);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(entries_in(root), 0);
    assert_null(files.entries);
    xb_files_close(&files);
    return error.message;
}

FIXTURE_TEST(no_file_is_no_request)
{
    assert_not_made(0, 1, XB_ERR_USAGE);
    assert_not_made(1, 0, XB_ERR_USAGE);
}

static void show_two_blocks(void *system, unsigned call)
{
    (void)call;
    ((struct statvfs *)system)->f_blocks = 1000;
    ((struct statvfs *)system)->f_frsize = 4096;
    ((struct statvfs *)system)->f_bavail = 2;
}

FIXTURE_TEST(what_does_not_fit_is_told_before)
{
    faults[FAULT_STATVFS].edit = show_two_blocks;
    const char *message = assert_not_made(3, 1, XB_ERR_MEMORY);
    assert_has(message,
               "3 files of 1 bytes need 12288 bytes, and 8192 are free: name another folder");
    message = assert_not_made(1, UINT64_MAX, XB_ERR_MEMORY);
    assert_has(message, "1 file of 18446744073709551615 bytes needs ");
    make_and_check(2, 4096, 1);
}

/* The first, the second, ... call of each kind: all is there or nothing, and no descriptor more. */
FIXTURE_TEST(whichever_call_fails_nothing_is_left)
{
    static const struct {
        enum fault_kind kind;
        int code;
        enum xb_status status;
        unsigned failures[2]; /* of one file and of three, so many calls that fail it */
    } rows[] = {
        {FAULT_STATVFS, EIO, XB_ERR_RUNTIME, {1, 1}},
        {FAULT_FALLOCATE, ENOSPC, XB_ERR_MEMORY, {1, 3}},
        {FAULT_FALLOCATE, EOPNOTSUPP, XB_OK, {0, 0}}, /* the file system cannot reserve */
        {FAULT_FALLOCATE, EINTR, XB_OK, {0, 0}},
        {FAULT_PWRITE, ENOSPC, XB_ERR_MEMORY, {2, 3}},
        {FAULT_PWRITE, EDQUOT, XB_ERR_MEMORY, {2, 3}},
        {FAULT_PWRITE, EIO, XB_ERR_RUNTIME, {2, 3}},
        {FAULT_PWRITE, EINTR, XB_OK, {0, 0}},
        {FAULT_FDATASYNC, EIO, XB_ERR_RUNTIME, {1, 0}},
        {FAULT_SYNCFS, ENOSPC, XB_ERR_MEMORY, {0, 1}},
        {FAULT_OPEN, EACCES, XB_ERR_RUNTIME, {1, 1}},
        {FAULT_OPENAT, EMFILE, XB_ERR_RUNTIME, {0, 3}},
        {FAULT_CLOSE, EIO, XB_ERR_RUNTIME, {0, 3}},
        {FAULT_SIGNAL, 0, XB_ERR_STOPPED, {2, 3}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned many = 0; many < 2; many++) {
            enum fault_kind kind = rows[i].kind;
            unsigned failures = 0;
            for (unsigned n = 1, met = 1; met; n++) {
                int before = open_descriptors();
                arm_fault(kind, rows[i].code, n);
                faults[kind].gives = kind == FAULT_SIGNAL;
                faults[kind].value = SIGTERM;
                faults[kind].does_it = kind == FAULT_CLOSE;
                enum xb_status status =
                    xb_files_make(root, many ? 3 : 1, many ? 5000 : (4 << 20) + 1, false, 0,
                                  pattern, &files, &error);
                met = disarm_fault(kind);
                print_message("row %zu, call %u: status %d\n", i, n, (int)status);
                if (status == XB_OK)
                    assert_contents(&files);
                else
                    assert_int_equal(status, rows[i].status);
                failures += status != XB_OK;
                xb_files_close(&files);
                assert_int_equal(entries_in(root), 0);
                assert_int_equal(open_descriptors(), before);
            }
            assert_int_equal(failures, rows[i].failures[many]);
        }
}

FIXTURE_TEST(a_place_that_is_missing_is_told)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/none", root);
    assert_int_equal(xb_files_make(path, 1, 1, false, 0, pattern, &files, &error), XB_ERR_RUNTIME);
    assert_string_equal(error.native_name, "ENOENT");
    assert_names(&error, path);
}

/* What a killed process leaves goes with the next one; what another one uses stays, and so does
 * what is not ours. */
FIXTURE_TEST(what_a_killed_process_left_goes_with_the_next)
{
    struct xb_files used;
    assert_int_equal(xb_files_make(root, 2, 10, false, 0, pattern, &used, &error), XB_OK);
    write_file(root, "xferbench-files-abc123/00000000.bin", "left");
    write_file(root, "xferbench-files-abc124/mine.txt", "not made by us");
    write_file(root, "xferbench-files-ab/00000000.bin", "another name");
    assert_int_equal(entries_in(root), 4);
    make_files(1, 10);
    assert_int_equal(entries_in(root), 3);
    assert_contents(&used);
    xb_files_close(&files);
    xb_files_close(&used);
    assert_int_equal(entries_in(root), 2);
}

/* A process that is killed leaves no single file. */
FIXTURE_TEST(a_killed_process_leaves_no_single_file)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (xb_files_make(root, 1, 5000, false, 0, pattern, &files, &error) != XB_OK)
            _exit(1);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(entries_in(root), 0);
}

/* ---- opening ---- */

static void open_below(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(xb_files_open(path, &files, &error), XB_OK);
}

FIXTURE_TEST(a_file_is_opened)
{
    char label[XB_STORAGE_LABEL];
    write_file(root, "a", "hello");
    open_below("a");
    assert_int_equal(files.count, 1);
    assert_int_equal(files.bytes, 5);
    assert_string_equal(files.entries[0].name, "a");
    assert_string_equal(xb_files_label(&files, 0, label), files.path);
    assert_true(files.file_system[0] != '\0');
    assert_false(files.is_made);
    xb_files_close(&files);
    assert_int_equal(entries_in(root), 1);
}

FIXTURE_TEST(of_a_folder_its_files_are_opened)
{
    char path[PATH_MAX];
    char label[XB_STORAGE_LABEL];
    write_file(root, "b", "22");
    write_file(root, "a", "1");
    write_file(root, "empty", "");
    write_file(root, "below/c", "333");
    snprintf(path, sizeof path, "%s/fifo", root);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/link", root);
    assert_int_equal(symlink("nowhere", path), 0);
    open_below("");
    assert_int_equal(files.count, 2);
    assert_int_equal(files.bytes, 3);
    assert_string_equal(files.entries[0].name, "a");
    assert_string_equal(files.entries[1].name, "b");
    snprintf(path, sizeof path, "%s/b", root);
    assert_string_equal(xb_files_label(&files, 1, label), path);
}

static void assert_not_opened(const char *name, enum xb_status status)
{
    char path[PATH_MAX];
    int before = open_descriptors();
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(xb_files_open(path, &files, &error), status);
    assert_names(&error, path);
    assert_int_equal(open_descriptors(), before);
}

FIXTURE_TEST(what_is_no_file_is_not_opened)
{
    char path[PATH_MAX];
    write_file(root, "folder/empty", "");
    write_file(root, "file", "1");
    snprintf(path, sizeof path, "%s/loop", root);
    assert_int_equal(symlink("loop", path), 0);
    assert_not_opened("none", XB_ERR_USAGE);
    assert_not_opened("folder", XB_ERR_USAGE);
    assert_not_opened("folder/empty", XB_ERR_USAGE);
    assert_not_opened("file/below", XB_ERR_USAGE);
    assert_not_opened("loop", XB_ERR_RUNTIME);
    assert_int_equal(xb_files_open("/dev/null", &files, &error), XB_ERR_USAGE);
    assert_has(error.message, "no regular file");
}

FIXTURE_TEST(another_length_is_told)
{
    write_file(root, "a", "hello");
    open_below("a");
    write_file(root, "a", "hello, world");
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_has(error.message, "longer, 12 bytes now and 5 when");
    write_file(root, "a", "h");
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_has(error.message, "shorter, 1 bytes now and 5 when");
    snprintf(error.message, sizeof error.message, "%s/a", root);
    assert_int_equal(unlink(error.message), 0);
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_string_equal(error.native_name, "ENOENT");
}

/* ---- the page cache ---- */

static void show_all_cached(void *found, unsigned call)
{
    void *const *states = found;
    (void)call;
    memset(states[0], 1, (*(const size_t *)states[1] + 4095) / 4096);
}

static void show_five_cached(void *found, unsigned call)
{
    void *const *states = found;
    (void)call;
    for (size_t i = 0; i * 4096 < *(const size_t *)states[1]; i++)
        ((unsigned char *)states[0])[i] = i < 5;
}

FIXTURE_TEST(the_cached_share_is_told)
{
    double share = -1;
    make_files(2, 40960);
    assert_contents(&files); /* reads all of it */
    assert_int_equal(xb_files_cached_share(&files, files.bytes, &share, &error), XB_OK);
    assert_true(share > 0 && share <= 1); /* what is cached may go at any time */
    faults[FAULT_MINCORE].edit = show_all_cached;
    assert_int_equal(xb_files_cached_share(&files, files.bytes, &share, &error), XB_OK);
    assert_true(share == 1);
}

/* Of the files as one run of bytes, the first ones count. */
FIXTURE_TEST(the_cached_share_of_a_part_is_told)
{
    static const struct {
        uint64_t bytes;
        double share;
    } rows[] = {{0, 0},
                {1, 1},
                {5 * 4096, 1},
                {10 * 4096, 0.5},
                {10 * 4096 + 1, 6.0 / 11},
                {15 * 4096, 10.0 / 15},
                {20 * 4096, 0.5}};
    if (sysconf(_SC_PAGESIZE) != 4096)
        skip();
    make_files(2, 10 * 4096);
    faults[FAULT_MINCORE].edit = show_five_cached;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double share = -1;
        assert_int_equal(xb_files_cached_share(&files, rows[i].bytes, &share, &error), XB_OK);
        assert_true(fabs(share - rows[i].share) < 1e-12);
    }
}

/* Where the test runs either takes direct reads or is said not to. */
FIXTURE_TEST(o_direct_is_possible_or_told)
{
    make_files(1, 3 * 4096 + 5);
    enum xb_status status = xb_files_check_direct(&files, &error);
    if (status != XB_OK) {
        assert_int_equal(status, XB_ERR_UNSUPPORTED);
        assert_has(error.message, files.file_system);
    }
    faults[FAULT_OPENAT] = (struct fault){.code = EINVAL, .flags = O_DIRECT};
    assert_int_equal(xb_files_check_direct(&files, &error), XB_ERR_UNSUPPORTED);
    assert_has(error.message, "refuses O_DIRECT");
    assert_has(error.message, files.file_system);
}

FIXTURE_TEST(file_systems_have_names)
{
    char name[32];
    int fd = open("/proc/self", O_RDONLY);
    assert_string_equal(xb_file_system_name(fd, name, sizeof name), "proc");
    assert_false(xb_file_system_is_memory(fd));
    close(fd);
    assert_string_equal(xb_file_system_name(-1, name, sizeof name), "unknown");
}
