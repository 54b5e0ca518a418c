/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo, O_DIRECT */
#include "backends/verify.h"
#include "storage/files.h"
#include "storage/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "testing.h"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, remove_tree)

#include "checks.h"
#include "fixture_tree.h"

/* This program is linked with --wrap for these: what a system does seldom happens here when it is
 * asked to. */
int __real_statvfs(const char *path, struct statvfs *system);
int __real_fallocate(int descriptor, int mode, off_t offset, off_t length);
ssize_t __real_pwrite(int descriptor, const void *data, size_t size, off_t offset);
int __real_fdatasync(int descriptor);
int __real_syncfs(int descriptor);
int __real_open(const char *path, int flags, ...);
int __real_openat(int folder, const char *path, int flags, ...);
int __real_mincore(void *begin, size_t bytes, unsigned char *states);
int __wrap_statvfs(const char *path, struct statvfs *system);
int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t length);
ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset);
int __wrap_fdatasync(int descriptor);
int __wrap_syncfs(int descriptor);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_mincore(void *begin, size_t bytes, unsigned char *states);
int __wrap_xb_interrupt_signal(void);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
void __wrap_xb_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct {
    int statvfs_blocks;                         /* free ones, where not 0 */
    int fallocate, fdatasync, syncfs, unlinkat; /* errno of each */
    int pwrite;                                 /* errno of the pwrite of this number, from 1 on */
    int pwrite_at, pwrites;
    size_t most;          /* bytes that a pwrite takes; 0: all */
    bool no_unnamed;      /* neither O_TMPFILE */
    bool no_proc;         /* nor opening again */
    int direct;           /* errno of O_DIRECT */
    bool all_cached;      /* what mincore says after a read */
    size_t cached_pages;  /* so many of each file, the first, where not 0: what mincore says */
    int signal_at, asked; /* when a signal comes */
    char said[512];       /* what was told last */
} steer;

static int set_up(void **state)
{
    memset(&steer, 0, sizeof steer);
    return make_tree(state);
}

static int fail_with(int code)
{
    errno = code;
    return -1;
}

int __wrap_statvfs(const char *path, struct statvfs *system)
{
    int outcome = __real_statvfs(path, system);
    if (steer.statvfs_blocks != 0) {
        system->f_blocks = 1000;
        system->f_frsize = 4096;
        system->f_bavail = (fsblkcnt_t)steer.statvfs_blocks;
    }
    return outcome;
}

int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t length)
{
    return steer.fallocate != 0 ? fail_with(steer.fallocate)
                                : __real_fallocate(descriptor, mode, offset, length);
}

ssize_t __wrap_pwrite(int descriptor, const void *data, size_t size, off_t offset)
{
    if (++steer.pwrites == steer.pwrite_at)
        return fail_with(steer.pwrite);
    return __real_pwrite(descriptor, data, steer.most > 0 && size > steer.most ? steer.most : size,
                         offset);
}

int __wrap_fdatasync(int descriptor)
{
    return steer.fdatasync != 0 ? fail_with(steer.fdatasync) : __real_fdatasync(descriptor);
}

int __wrap_syncfs(int descriptor)
{
    (void)descriptor; /* nobody waits for the machine's disks */
    return steer.syncfs != 0 ? fail_with(steer.syncfs) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    if (steer.no_unnamed && (flags & O_TMPFILE) == O_TMPFILE)
        return fail_with(EOPNOTSUPP);
    if (steer.no_proc && strncmp(path, "/proc/", 6) == 0)
        return fail_with(ENOENT);
    return __real_open(path, flags, 0600);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
    if (steer.direct != 0 && (flags & O_DIRECT) != 0)
        return fail_with(steer.direct);
    return __real_openat(folder, path, flags, 0600);
}

int __wrap_mincore(void *begin, size_t bytes, unsigned char *states)
{
    int outcome = __real_mincore(begin, bytes, states);
    for (size_t i = 0; steer.cached_pages > 0 && i * 4096 < bytes; i++)
        states[i] = i < steer.cached_pages;
    if (steer.all_cached)
        memset(states, 1, (bytes + 4095) / 4096);
    return outcome;
}

int __wrap_xb_interrupt_signal(void)
{
    return steer.signal_at != 0 && ++steer.asked >= steer.signal_at ? 15 : 0;
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
    return steer.unlinkat != 0 ? fail_with(steer.unlinkat) : __real_unlinkat(folder, name, flags);
}

void __wrap_xb_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(steer.said, sizeof steer.said, format, arguments);
    va_end(arguments);
}

static const struct xb_pattern pattern = {.seed = 42};

static size_t entries_in(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

static int open_descriptors(void)
{
    return (int)entries_in("/proc/self/fd");
}

/* The contents are one run of the pattern through all files. */
static void assert_contents(const struct xb_files *files)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < files->count; i++) {
        size_t bytes = files->entries[i].bytes;
        char *data = malloc(bytes + 1);
        int fd = xb_files_open_one(files, i, 0);
        assert_true(fd >= 0);
        assert_int_equal(pread(fd, data, bytes + 1, 0), bytes);
        close(fd);
        assert_int_equal(xb_host_check(data, offset, bytes, pattern).wrong_bytes, 0);
        free(data);
        offset += bytes;
    }
    assert_int_equal(offset, files->bytes);
}

static void make_and_check(const char *root, size_t count, uint64_t bytes, size_t named)
{
    struct xb_files files;
    struct xb_error error;
    int before = open_descriptors();
    assert_int_equal(xb_files_make(root, count, bytes, false, 0, pattern, &files, &error), XB_OK);
    assert_int_equal(files.count, count);
    assert_true(files.is_made);
    assert_int_equal(entries_in(root), named);
    assert_contents(&files);
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_OK);
    xb_files_close(&files);
    xb_files_close(&files); /* nothing is left to close */
    assert_int_equal(entries_in(root), 0);
    assert_int_equal(open_descriptors(), before);
    assert_string_equal(steer.said, "");
}

/* With the reason: what somebody else put there, or why a file stays. */
FIXTURE_TEST(test_folder_that_stays_is_told)
{
    static const struct {
        int code;
        const char *name;
    } rows[] = {{0, "ENOTEMPTY"}, {EPERM, "EPERM"}};
    for (size_t i = 0; i < 2; i++) {
        struct xb_files files;
        struct xb_error error;
        steer.unlinkat = 0;
        assert_int_equal(xb_files_make(*state, 2, 1, false, 0, pattern, &files, &error), XB_OK);
        char *path = strdup(files.path);
        write_file(path, "somebody's", "text");
        steer.unlinkat = rows[i].code;
        xb_files_close(&files);
        assert_has(steer.said, path);
        assert_has(steer.said, rows[i].name);
        assert_int_equal(entries_in(path), i == 0 ? 1 : 3);
        free(path);
    }
}

FIXTURE_TEST(test_made_one)
{
    static const uint64_t lengths[] = {1, 4095, 4096, 4097, (4 << 20) + 3};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        make_and_check(*state, 1, lengths[i], 0);
}

FIXTURE_TEST(test_made_many)
{
    make_and_check(*state, 2, 4097, 1);
    make_and_check(*state, 33, 1001, 1);
}

/* Where the file system knows no files without a name, and where nobody can open them again. */
FIXTURE_TEST(test_made_otherwise)
{
    steer.most = 1000; /* and pwrite takes less than it is given */
    steer.no_unnamed = true;
    make_and_check(*state, 1, 5000, 0);
    steer.no_proc = true;
    make_and_check(*state, 1, 5000, 1);
}

/* Returns the message. Nothing is left, and no descriptor open. */
static const char *assert_not_made(const char *root, size_t count, uint64_t bytes,
                                   enum xb_status status)
{
    static struct xb_error error;
    struct xb_files files;
    int before = open_descriptors();
    steer.pwrites = 0;
    steer.asked = 0;
    assert_int_equal(xb_files_make(root, count, bytes, false, 0, pattern, &files, &error), status);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(entries_in(root), 0);
    assert_null(files.entries);
    xb_files_close(&files);
    return error.message;
}

FIXTURE_TEST(test_made_none)
{
    assert_not_made(*state, 0, 1, XB_ERR_USAGE);
    assert_not_made(*state, 1, 0, XB_ERR_USAGE);
}

FIXTURE_TEST(test_no_space)
{
    steer.statvfs_blocks = 2; /* of 4096 */
    const char *message = assert_not_made(*state, 3, 1, XB_ERR_MEMORY);
    assert_has(message,
               "3 files of 1 bytes need 12288 bytes, and 8192 are free: name another folder");
    message = assert_not_made(*state, 1, UINT64_MAX, XB_ERR_MEMORY);
    assert_has(message, "1 file of 18446744073709551615 bytes needs ");
    make_and_check(*state, 2, 4096, 1);
}

FIXTURE_TEST(test_full_in_the_middle)
{
    for (size_t count = 1; count <= 3; count += 2) {
        memset(&steer, 0, sizeof steer);
        steer.fallocate = ENOSPC;
        assert_has(assert_not_made(*state, count, 5000, XB_ERR_MEMORY), "No space left on device");
        steer.fallocate = EOPNOTSUPP; /* the file system cannot reserve: pwrite finds out */
        steer.pwrite_at = (int)count;
        steer.pwrite = ENOSPC;
        assert_not_made(*state, count, 5000, XB_ERR_MEMORY);
        steer.pwrite = EDQUOT;
        assert_not_made(*state, count, 5000, XB_ERR_MEMORY);
        steer.pwrite = EIO;
        assert_not_made(*state, count, 5000, XB_ERR_RUNTIME);
    }
}

FIXTURE_TEST(test_not_on_the_disk)
{
    steer.fdatasync = EIO;
    assert_not_made(*state, 1, 5000, XB_ERR_RUNTIME);
    steer.syncfs = ENOSPC;
    assert_not_made(*state, 3, 5000, XB_ERR_MEMORY);
}

FIXTURE_TEST(test_signal)
{
    steer.signal_at = 2;
    assert_not_made(*state, 1, 5 << 20, XB_ERR_STOPPED);
    assert_not_made(*state, 3, 5000, XB_ERR_STOPPED);
}

FIXTURE_TEST(test_no_such_place)
{
    struct xb_files files;
    struct xb_error error;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/none", (const char *)*state);
    assert_int_equal(xb_files_make(path, 1, 1, false, 0, pattern, &files, &error), XB_ERR_RUNTIME);
    assert_string_equal(error.native_name, "ENOENT");
    assert_names(&error, path);
}

/* What a killed process leaves goes with the next one; what another one uses stays, and so does
 * what is not ours. */
FIXTURE_TEST(test_left_over)
{
    struct xb_files used;
    struct xb_error error;
    const char *root = *state;
    assert_int_equal(xb_files_make(root, 2, 10, false, 0, pattern, &used, &error), XB_OK);
    write_file(root, "xferbench-files-abc123/00000000.bin", "left");
    write_file(root, "xferbench-files-abc124/mine.txt", "not made by us");
    write_file(root, "xferbench-files-ab/00000000.bin", "another name");
    assert_int_equal(entries_in(root), 4);
    struct xb_files files;
    assert_int_equal(xb_files_make(root, 1, 10, false, 0, pattern, &files, &error), XB_OK);
    assert_int_equal(entries_in(root), 3);
    assert_contents(&used);
    xb_files_close(&files);
    xb_files_close(&used);
    assert_int_equal(entries_in(root), 2);
}

/* A process that is killed leaves no single file. */
FIXTURE_TEST(test_killed)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct xb_files files;
        struct xb_error error;
        if (xb_files_make(*state, 1, 5000, false, 0, pattern, &files, &error) != XB_OK)
            _exit(1);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(entries_in(*state), 0);
}

/* ---- opening ---- */

static enum xb_status open_below(const char *root, const char *name, struct xb_files *files,
                                 struct xb_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return xb_files_open(path, files, error);
}

FIXTURE_TEST(test_open_file)
{
    struct xb_files files;
    struct xb_error error;
    char label[XB_STORAGE_LABEL];
    write_file(*state, "a", "hello");
    assert_int_equal(open_below(*state, "a", &files, &error), XB_OK);
    assert_int_equal(files.count, 1);
    assert_int_equal(files.bytes, 5);
    assert_string_equal(files.entries[0].name, "a");
    assert_string_equal(xb_files_label(&files, 0, label), files.path);
    assert_true(files.file_system[0] != '\0');
    assert_false(files.is_made);
    xb_files_close(&files);
    assert_int_equal(entries_in(*state), 1);
}

FIXTURE_TEST(test_open_folder)
{
    struct xb_files files;
    struct xb_error error;
    char path[PATH_MAX];
    char label[XB_STORAGE_LABEL];
    write_file(*state, "b", "22");
    write_file(*state, "a", "1");
    write_file(*state, "empty", "");
    write_file(*state, "below/c", "333");
    snprintf(path, sizeof path, "%s/fifo", (const char *)*state);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/link", (const char *)*state);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_int_equal(open_below(*state, "", &files, &error), XB_OK);
    assert_int_equal(files.count, 2);
    assert_int_equal(files.bytes, 3);
    assert_string_equal(files.entries[0].name, "a");
    assert_string_equal(files.entries[1].name, "b");
    snprintf(path, sizeof path, "%s/b", (const char *)*state);
    assert_string_equal(xb_files_label(&files, 1, label), path);
    xb_files_close(&files);
}

static void assert_not_opened(const char *root, const char *name, enum xb_status status)
{
    struct xb_files files;
    struct xb_error error;
    char path[PATH_MAX];
    int before = open_descriptors();
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(xb_files_open(path, &files, &error), status);
    assert_names(&error, path);
    assert_int_equal(open_descriptors(), before);
}

FIXTURE_TEST(test_open_none)
{
    char path[PATH_MAX];
    write_file(*state, "folder/empty", "");
    write_file(*state, "file", "1");
    snprintf(path, sizeof path, "%s/loop", (const char *)*state);
    assert_int_equal(symlink("loop", path), 0);
    assert_not_opened(*state, "none", XB_ERR_USAGE);
    assert_not_opened(*state, "folder", XB_ERR_USAGE);
    assert_not_opened(*state, "folder/empty", XB_ERR_USAGE);
    assert_not_opened(*state, "file/below", XB_ERR_USAGE);
    assert_not_opened(*state, "loop", XB_ERR_RUNTIME);
    struct xb_files files;
    struct xb_error error;
    assert_int_equal(xb_files_open("/dev/null", &files, &error), XB_ERR_USAGE);
    assert_has(error.message, "no regular file");
}

FIXTURE_TEST(test_lengths)
{
    struct xb_files files;
    struct xb_error error;
    write_file(*state, "a", "hello");
    assert_int_equal(open_below(*state, "a", &files, &error), XB_OK);
    write_file(*state, "a", "hello, world");
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_has(error.message, "longer, 12 bytes now and 5 when");
    write_file(*state, "a", "h");
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_has(error.message, "shorter, 1 bytes now and 5 when");
    snprintf(error.message, sizeof error.message, "%s/a", (const char *)*state);
    assert_int_equal(unlink(error.message), 0);
    assert_int_equal(xb_files_check_lengths(&files, &error), XB_ERR_RUNTIME);
    assert_string_equal(error.native_name, "ENOENT");
    xb_files_close(&files);
}

/* ---- the page cache ---- */

FIXTURE_TEST(test_cached_share)
{
    struct xb_files files;
    struct xb_error error;
    double share = -1;
    assert_int_equal(xb_files_make(*state, 2, 40960, false, 0, pattern, &files, &error), XB_OK);
    assert_contents(&files); /* reads all of it */
    assert_int_equal(xb_files_cached_share(&files, files.bytes, &share, &error), XB_OK);
    assert_true(share > 0 && share <= 1); /* what is cached may go at any time */
    steer.all_cached = true;
    assert_int_equal(xb_files_cached_share(&files, files.bytes, &share, &error), XB_OK);
    assert_true(share == 1);
    xb_files_close(&files);
}

/* Of the files as one run of bytes, the first ones count. */
FIXTURE_TEST(test_cached_share_of_a_part)
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
    struct xb_files files;
    struct xb_error error;
    if (sysconf(_SC_PAGESIZE) != 4096)
        skip();
    assert_int_equal(xb_files_make(*state, 2, 10 * 4096, false, 0, pattern, &files, &error), XB_OK);
    steer.cached_pages = 5;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double share = -1;
        assert_int_equal(xb_files_cached_share(&files, rows[i].bytes, &share, &error), XB_OK);
        assert_true(fabs(share - rows[i].share) < 1e-12);
    }
    xb_files_close(&files);
}

/* Where the test runs either takes direct reads or is said not to. */
FIXTURE_TEST(test_direct)
{
    struct xb_files files;
    struct xb_error error;
    assert_int_equal(xb_files_make(*state, 1, 3 * 4096 + 5, false, 0, pattern, &files, &error),
                     XB_OK);
    enum xb_status status = xb_files_check_direct(&files, &error);
    if (status != XB_OK) {
        assert_int_equal(status, XB_ERR_UNSUPPORTED);
        assert_has(error.message, files.file_system);
    }
    steer.direct = EINVAL;
    assert_int_equal(xb_files_check_direct(&files, &error), XB_ERR_UNSUPPORTED);
    assert_has(error.message, "refuses O_DIRECT");
    assert_has(error.message, files.file_system);
    xb_files_close(&files);
}

FIXTURE_TEST(test_file_systems)
{
    char name[32];
    int fd = open("/proc/self", O_RDONLY);
    assert_string_equal(xb_file_system_name(fd, name, sizeof name), "proc");
    assert_false(xb_file_system_is_memory(fd));
    close(fd);
    assert_string_equal(xb_file_system_name(-1, name, sizeof name), "unknown");
}
