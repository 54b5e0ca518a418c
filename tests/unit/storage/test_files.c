/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo, O_DIRECT */
/* Files that a benchmark makes, and those that are there: files.txt tells most of it. */
#include "backends/verify.h"
#include "cases.h"
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

/* Of each test: files and error. It runs in a folder of its own. */
static struct xb_files files;
static struct xb_error error;

static int set_up(void **state)
{
    clear_faults();
    fault_said.is_heard = true;
    return enter_tree(state);
}

static int tear_down(void **state)
{
    clear_faults();
    xb_files_close(&files); /* nothing where it is closed already */
    return leave_tree(state);
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
    assert_int_equal(xb_files_make(".", count, bytes, false, 0, pattern, &files, &error), XB_OK);
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

static void show_two_blocks(void *system, unsigned call)
{
    (void)call;
    ((struct statvfs *)system)->f_blocks = 1000;
    ((struct statvfs *)system)->f_frsize = 4096;
    ((struct statvfs *)system)->f_bavail = 2;
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
                    xb_files_make(".", many ? 3 : 1, many ? 5000 : (4 << 20) + 1, false, 0, pattern,
                                  &files, &error);
                met = disarm_fault(kind);
                print_message("row %zu, call %u: status %d\n", i, n, (int)status);
                if (status == XB_OK)
                    assert_contents(&files);
                else
                    assert_int_equal(status, rows[i].status);
                failures += status != XB_OK;
                xb_files_close(&files);
                assert_int_equal(entries_in("."), 0);
                assert_int_equal(open_descriptors(), before);
            }
            assert_int_equal(failures, rows[i].failures[many]);
        }
}

/* What a killed process leaves goes with the next one; what another one uses stays, and so does
 * what is not ours. */
FIXTURE_TEST(what_a_killed_process_left_goes_with_the_next)
{
    struct xb_files used;
    assert_int_equal(xb_files_make(".", 2, 10, false, 0, pattern, &used, &error), XB_OK);
    write_file(".", "xferbench-files-abc123/00000000.bin", "left");
    write_file(".", "xferbench-files-abc124/mine.txt", "not made by us");
    write_file(".", "xferbench-files-ab/00000000.bin", "another name");
    assert_int_equal(entries_in("."), 4);
    make_files(1, 10);
    assert_int_equal(entries_in("."), 3);
    assert_contents(&used);
    xb_files_close(&files);
    xb_files_close(&used);
    assert_int_equal(entries_in("."), 2);
}

/* A process that is killed leaves no single file. */
FIXTURE_TEST(a_killed_process_leaves_no_single_file)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (xb_files_make(".", 1, 5000, false, 0, pattern, &files, &error) != XB_OK)
            _exit(1);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(entries_in("."), 0);
}

/* ---- texts ---- */

static void begin(void)
{
    xb_files_close(&files);
    clear_faults();
    fault_said.is_heard = true;
    begin_in_tree();
}

static void say_error(FILE *told, enum xb_status status)
{
    static const char *const kinds[XB_ERR_INTERNAL] = {
        [XB_ERR_USAGE] = "refused", [XB_ERR_MEMORY] = "no room", [XB_ERR_RUNTIME] = "failed"};
    fprintf(told, "%s: %s\n", kinds[status], error.message);
    assert_null(files.entries);
}

/* lack unnamed|proc|blocks: files without a name, a way to open those again, all but two blocks;
 * short BYTES: so many at most are written at once. */
static void run_lack(UNTOLD, char **words)
{
    if (words[0][0] == 's')
        faults[FAULT_PWRITE].most = (size_t)number_of(words[1]);
    else if (strcmp(words[1], "blocks") == 0)
        faults[FAULT_STATVFS].edit = show_two_blocks;
    else if (strcmp(words[1], "proc") == 0)
        faults[FAULT_OPEN] = (struct fault){.code = ENOENT, .path = "/proc/"};
    else
        faults[FAULT_OPEN] = (struct fault){.code = EOPNOTSUPP, .flags = O_TMPFILE};
}

/* make COUNT BYTES [in=FOLDER]: how many names there are meanwhile; then they are gone. */
static void tell_make(FILE *told, char **words)
{
    size_t count = strtoul(words[1], NULL, 10);
    const char *folder = value_of(words, "in") != NULL ? value_of(words, "in") : ".";
    int before = open_descriptors();
    enum xb_status status = xb_files_make(folder, count, strtoull(words[2], NULL, 10), false, 0,
                                          pattern, &files, &error);
    if (status == XB_OK) {
        assert_int_equal(files.count, count);
        assert_true(files.is_made);
        assert_contents(&files);
        assert_int_equal(xb_files_check_lengths(&files, &error), XB_OK);
        fprintf(told, "made, with %zu names\n", entries_in("."));
    } else
        say_error(told, status);
    xb_files_close(&files);
    xb_files_close(&files); /* nothing is left to close */
    assert_int_equal(entries_in("."), 0);
    assert_int_equal(open_descriptors(), before);
    assert_string_equal(fault_said.text, "");
}

static void tell_open(FILE *told, char **words)
{
    char label[XB_STORAGE_LABEL];
    xb_files_close(&files);
    int before = open_descriptors();
    enum xb_status status = xb_files_open(words[1], &files, &error);
    if (status != XB_OK) {
        say_error(told, status);
        assert_int_equal(open_descriptors(), before);
        return;
    }
    assert_true(files.file_system[0] != '\0' && !files.is_made);
    fprintf(told, "%zu files, %d bytes:", files.count, (int)files.bytes);
    for (size_t i = 0; i < files.count; i++)
        fprintf(told, " %s as %s", files.entries[i].name, xb_files_label(&files, i, label));
    fputs("\n", told);
}

static void tell_lengths(FILE *told, NO_WORDS)
{
    enum xb_status status = xb_files_check_lengths(&files, &error);
    fprintf(told, "%s\n", status == XB_OK ? "as they were" : error.message);
    assert_true(status == XB_OK || status == XB_ERR_RUNTIME);
}

static const struct verb verbs[] = {
    {"$", tell_shell},   {"lack", run_lack},        {"short", run_lack}, {"make", tell_make},
    {"open", tell_open}, {"lengths", tell_lengths}, {NULL, NULL},
};

TEST(files_are_made_and_opened)
{
    run_cases("storage/files", verbs, begin);
    xb_files_close(&files);
    end_in_tree();
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
