/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "xferbench/sink.h"

#include "../../src/core/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- systems that lack something: the linker puts these in the place of the calls ---- */

static bool without_unnamed_files, without_links, without_chown;
static int allocation_error;

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (without_unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_openat(folder, path, flags, mode);
}

int __real_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (allocation_error != 0) {
        errno = allocation_error;
        return -1;
    }
    return __real_fallocate(fd, mode, offset, length);
}

int __real_linkat(int from_directory, const char *from, int to_directory, const char *to,
                  int flags);
int __wrap_linkat(int from_directory, const char *from, int to_directory, const char *to,
                  int flags);
int __wrap_linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    if (without_links) {
        errno = EPERM;
        return -1;
    }
    return __real_linkat(from_directory, from, to_directory, to, flags);
}

int __real_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fchown(int fd, uid_t owner, gid_t group);
int __wrap_fchown(int fd, uid_t owner, gid_t group)
{
    if (without_chown) {
        errno = EPERM;
        return -1;
    }
    return __real_fchown(fd, owner, group);
}

/* Each test runs in an empty directory of its own. */
static char directory[PATH_MAX];
static int start_directory;

static int setup(void **state)
{
    const char *parent = getenv("TMPDIR");
    (void)state;
    start_directory = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(directory, sizeof directory, "%s/xferbench-test-XXXXXX",
             parent != NULL ? parent : "/tmp");
    umask(022);
    without_unnamed_files = without_links = without_chown = false;
    allocation_error = 0;
    return start_directory < 0 || mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    int failed = fchdir(start_directory);
    close(start_directory);
    return system(command) != 0 || failed;
}

static size_t file_count(void)
{
    size_t count = 0;
    DIR *stream = opendir(".");
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count - 2; /* . and .. */
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *expected)
{
    char text[256];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("no %s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static mode_t mode_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_mode & 07777;
}

static enum xb_status open_at(struct xb_output *output, const char *path, double deadline,
                              struct xb_error *error)
{
    enum xb_status status = xb_output_find(output, path, error);
    return status == XB_OK ? xb_output_open(output, deadline, error) : status;
}

static void open_output(struct xb_output *output, const char *path)
{
    struct xb_error error = {0};
    if (open_at(output, path, 0, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_non_null(output->stream);
}

static void commit(struct xb_output *output)
{
    struct xb_error error = {0};
    if (xb_output_commit(output, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_null(output->path);
    assert_null(output->stream);
    xb_output_discard(output);
}

static void replace(const char *path, const char *text)
{
    struct xb_output output;
    open_output(&output, path);
    assert_true(fputs(text, output.stream) >= 0);
    commit(&output);
}

/* Opening fails, names the path and the errno, and leaves nothing behind. */
static void assert_refused(const char *path, int code, const char *name)
{
    struct xb_output output;
    struct xb_error error = {0};
    size_t before = file_count();
    assert_int_equal(open_at(&output, path, 0, &error), XB_ERR_USAGE);
    assert_int_equal(error.native_code, code);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, name));
    assert_null(output.path);
    assert_null(output.stream);
    assert_int_equal(file_count(), before);
    xb_output_discard(&output);
}

/* ---- files ---- */

static void a_new_file_appears_when_committed(void **state)
{
    struct xb_output output;
    (void)state;
    open_output(&output, "new.json");
    fputs("new", output.stream);
    assert_int_not_equal(access("new.json", F_OK), 0);
    commit(&output);
    assert_content("new.json", "new");
    assert_int_equal(file_count(), 1);
}

static void a_new_file_has_the_mode_of_the_umask(void **state)
{
    (void)state;
    umask(027);
    replace("new.json", "new");
    assert_int_equal(mode_of("new.json"), 0640);
    assert_int_equal(umask(022), 027);
}

static void an_old_file_keeps_its_mode(void **state)
{
    (void)state;
    write_file("old.json", "old");
    assert_int_equal(chmod("old.json", 0606), 0);
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(mode_of("old.json"), 0606);
    assert_int_equal(file_count(), 1);
}

static void an_old_file_survives_a_discard(void **state)
{
    struct xb_output output;
    (void)state;
    write_file("old.json", "old");
    open_output(&output, "old.json");
    fputs("half a docu", output.stream);
    fflush(output.stream);
    xb_output_discard(&output);
    xb_output_discard(&output);
    assert_content("old.json", "old");
    assert_int_equal(file_count(), 1);
}

/* A limit on the size of files stands for a disk that is full. */
static void an_old_file_survives_a_full_disk(void **state)
{
    struct rlimit kept;
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    write_file("old.json", "old");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    open_output(&output, "old.json");
    fputs("longer than the limit", output.stream);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, kept.rlim_max}), 0);
    enum xb_status status = xb_output_commit(&output, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_int_equal(status, XB_ERR_SYSTEM);
    assert_int_equal(error.native_code, EFBIG);
    assert_non_null(strstr(error.message, "old.json"));
    assert_content("old.json", "old");
    assert_int_equal(file_count(), 1);
}

static void a_write_that_failed_earlier_is_not_forgotten(void **state)
{
    struct rlimit kept;
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    write_file("old.json", "old");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    open_output(&output, "old.json");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, kept.rlim_max}), 0);
    fputs("longer than the limit", output.stream);
    assert_int_equal(fflush(output.stream), EOF);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_content("old.json", "old");
    assert_int_equal(file_count(), 1);
}

static void a_rename_that_fails_is_reported(void **state)
{
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    open_output(&output, "new.json");
    assert_int_equal(mkdir("new.json", 0777), 0);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.call, "rename");
    assert_non_null(strstr(error.message, "EISDIR"));
    assert_non_null(strstr(error.message, ".xferbench-")); /* where the results are now */
    assert_int_equal(file_count(), 2);
}

static void the_longest_name_is_possible(void **state)
{
    char name[NAME_MAX + 1];
    (void)state;
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    replace(name, "new");
    replace(name, "newer");
    assert_content(name, "newer");
}

static void a_file_in_another_directory_is_replaced_there(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    replace("sub/../sub/new.json", "new");
    assert_content("sub/new.json", "new");
    assert_int_equal(file_count(), 1);
}

/* ---- how the new file comes to its place ---- */

static bool has_unnamed_files(void)
{
    int fd = open(".", O_RDWR | O_TMPFILE, 0600);
    return fd >= 0 && close(fd) == 0;
}

static void a_file_has_no_name_before_it_is_complete(void **state)
{
    struct xb_output output;
    (void)state;
    if (!has_unnamed_files())
        skip();
    open_output(&output, "new.json");
    fputs("new", output.stream);
    assert_int_equal(fflush(output.stream), 0);
    assert_int_equal(file_count(), 0);
    commit(&output);
    assert_content("new.json", "new");
    assert_int_equal(file_count(), 1);
}

static void a_file_system_without_unnamed_files_will_do(void **state)
{
    struct xb_output output;
    (void)state;
    without_unnamed_files = true;
    open_output(&output, "new.json");
    assert_int_equal(file_count(), 1);
    xb_output_discard(&output);
    assert_int_equal(file_count(), 0);
    replace("new.json", "new");
    assert_content("new.json", "new");
    assert_int_equal(mode_of("new.json"), 0644);
    assert_int_equal(chmod("new.json", 0600), 0);
    replace("new.json", "newer");
    assert_content("new.json", "newer");
    assert_int_equal(mode_of("new.json"), 0600);
    assert_int_equal(file_count(), 1);
}

static void a_file_that_gets_no_name_is_copied(void **state)
{
    (void)state;
    without_links = true;
    replace("new.json", "new");
    assert_content("new.json", "new");
    assert_int_equal(mode_of("new.json"), 0644);
    assert_int_equal(chmod("new.json", 0606), 0);
    replace("new.json", "newer");
    assert_content("new.json", "newer");
    assert_int_equal(mode_of("new.json"), 0606);
    assert_int_equal(file_count(), 1);
}

/* ---- whose it is ---- */

#define SOMEBODY 12345
#define GROUP 23456

static void put_of_somebody(const char *path)
{
    if (geteuid() != 0)
        skip(); /* others cannot give a file away */
    write_file(path, "old and longer");
    assert_int_equal(chown(path, SOMEBODY, GROUP), 0);
    assert_int_equal(chmod(path, 0640), 0);
}

static void assert_of_somebody(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_uid, SOMEBODY);
    assert_int_equal(file.st_gid, GROUP);
    assert_int_equal(file.st_mode & 07777, 0640);
}

static void an_old_file_keeps_its_owner(void **state)
{
    (void)state;
    put_of_somebody("old.json");
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_of_somebody("old.json");
    without_links = true;
    replace("old.json", "newer");
    assert_content("old.json", "newer");
    assert_of_somebody("old.json");
    assert_int_equal(file_count(), 1);
}

static void a_file_that_cannot_be_given_away_is_written_over(void **state)
{
    struct stat before;
    struct stat now;
    (void)state;
    put_of_somebody("old.json");
    assert_int_equal(stat("old.json", &before), 0);
    without_chown = true;
    for (int i = 0; i < 2; i++) {
        replace("old.json", "new");
        assert_content("old.json", "new");
        assert_of_somebody("old.json");
        assert_int_equal(stat("old.json", &now), 0);
        assert_int_equal(now.st_ino, before.st_ino);
        assert_int_equal(file_count(), 1);
        without_unnamed_files = true;
    }
}

static void what_cannot_be_written_over_is_kept(void **state)
{
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    put_of_somebody("old.json");
    without_chown = true;
    open_output(&output, "old.json");
    fputs("new", output.stream);
    assert_int_equal(unlink("old.json"), 0);
    assert_int_equal(symlink("nowhere", "old.json"), 0);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    const char *name = strstr(error.message, ".xferbench-");
    assert_non_null(name);
    char kept[64];
    snprintf(kept, sizeof kept, "%.27s", name);
    assert_content(kept, "new");
    assert_int_equal(file_count(), 2);
}

/* Where the error says that the results are. */
static void assert_kept(const struct xb_error *error, const char *text)
{
    static const char before[] = "what was to be written is in '";
    char path[PATH_MAX];
    const char *kept = strstr(error->message, before);
    assert_non_null(kept);
    snprintf(path, sizeof path, "%s", kept + strlen(before));
    char *end = strstr(path, "': cannot put '");
    assert_non_null(end);
    *end = '\0';
    assert_content(path, text);
    assert_int_equal(unlink(path), 0);
}

static void a_full_disk_leaves_what_would_be_written_over(void **state)
{
    (void)state;
    put_of_somebody("old.json");
    without_chown = true;
    allocation_error = ENOSPC;
    for (int i = 0; i < 2; i++) {
        struct xb_output output;
        struct xb_error error = {0};
        open_output(&output, "old.json");
        fputs("longer than the old one", output.stream);
        assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
        assert_int_equal(error.native_code, ENOSPC);
        assert_content("old.json", "old and longer");
        assert_kept(&error, "longer than the old one");
        assert_int_equal(file_count(), 1);
        without_unnamed_files = true;
    }
}

/* Not every file system can reserve space. */
static void what_cannot_be_reserved_is_written_over_all_the_same(void **state)
{
    (void)state;
    put_of_somebody("old.json");
    without_chown = true;
    allocation_error = EOPNOTSUPP;
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(file_count(), 1);
}

static void another_file_of_its_name_is_not_written_over(void **state)
{
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    put_of_somebody("old.json");
    without_chown = true;
    open_output(&output, "old.json");
    fputs("new", output.stream);
    write_file("other.json", "other");
    assert_int_equal(rename("other.json", "old.json"), 0);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_content("old.json", "other");
    assert_kept(&error, "new");
    assert_int_equal(file_count(), 1);
}

static void a_directory_takes_its_file_along(void **state)
{
    struct xb_output output;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mkdir("sub", 0777), 0);
        open_output(&output, "sub/new.json");
        fputs("new", output.stream);
        assert_int_equal(rename("sub", "moved"), 0);
        assert_int_equal(mkdir("sub", 0777), 0); /* another one, with which it has nothing to do */
        commit(&output);
        assert_content("moved/new.json", "new");
        assert_int_equal(unlink("moved/new.json"), 0);
        assert_int_equal(rmdir("moved"), 0); /* and empty */
        assert_int_equal(rmdir("sub"), 0);
        without_unnamed_files = true;
    }
}

static void what_has_no_directory_any_more_is_kept_elsewhere(void **state)
{
    const char *const folders[] = {directory, "/nonexistent", NULL};
    const char *before = getenv("TMPDIR");
    char *kept = before != NULL ? strdup(before) : NULL;
    (void)state;
    if (!has_unnamed_files())
        skip(); /* then the directory is not empty, and stays */
    for (size_t i = 0; i < 3; i++) {
        struct xb_output output;
        struct xb_error error = {0};
        if (folders[i] != NULL)
            setenv("TMPDIR", folders[i], 1);
        else
            unsetenv("TMPDIR");
        assert_int_equal(mkdir("sub", 0777), 0);
        open_output(&output, "sub/new.json");
        fputs("new", output.stream);
        assert_int_equal(rmdir("sub"), 0);
        assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
        assert_int_equal(error.native_code, ENOENT);
        assert_int_equal(file_count(), i == 0 ? 1 : 0);
        assert_kept(&error, "new");
    }
    if (kept != NULL)
        setenv("TMPDIR", kept, 1);
    free(kept);
}

/* user::rw-, user:SOMEBODY:r--, group::---, mask::r--, other::--- as the kernel stores it. */
static void an_old_file_keeps_its_access_list(void **state)
{
    static const unsigned char list[] = {
        2, 0,    0,    0,    1,    0,    6,    0, 0xFF, 0xFF, 0xFF, 0xFF, 2,    0,    4,
        0, 0x39, 0x30, 0,    0,    4,    0,    0, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0,
        4, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0x20, 0, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF};
    static const char name[] = "system.posix_acl_access";
    unsigned char found[sizeof list];
    (void)state;
    write_file("old.json", "old");
    if (setxattr("old.json", name, list, sizeof list, 0) != 0)
        skip(); /* this file system has none */
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(getxattr("old.json", name, found, sizeof found), sizeof list);
    assert_memory_equal(found, list, sizeof list);
}

/* ---- the same file twice ---- */

static bool is_same(const char *one, const char *other)
{
    struct xb_output first;
    struct xb_output second;
    open_output(&first, one);
    open_output(&second, other);
    bool same = xb_output_is_same(&first, &second);
    assert_true(xb_output_is_same(&second, &first) == same);
    xb_output_discard(&first);
    xb_output_discard(&second);
    return same;
}

static void one_file_by_two_names_is_seen(void **state)
{
    (void)state;
    write_file("old.json", "old");
    assert_int_equal(link("old.json", "hard.json"), 0);
    assert_int_equal(symlink("old.json", "soft.json"), 0);
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(symlink(".", "here"), 0);
    assert_true(is_same("old.json", "old.json"));
    assert_true(is_same("old.json", "hard.json"));
    assert_true(is_same("old.json", "soft.json"));
    assert_true(is_same("new.json", "sub/../new.json"));
    assert_true(is_same("new.json", "here/new.json"));
    assert_false(is_same("new.json", "sub/new.json"));
    assert_false(is_same("old.json", "new.json"));
    assert_false(is_same("/dev/null", "/dev/null"));
}

static void an_output_over_another_file_is_seen(void **state)
{
    struct xb_output output;
    (void)state;
    write_file("old.json", "old");
    assert_int_equal(symlink("old.json", "soft.json"), 0);
    open_output(&output, "soft.json");
    assert_true(xb_output_is_over(&output, "old.json"));
    assert_false(xb_output_is_over(&output, "missing.json"));
    assert_false(xb_output_is_over(&output, "."));
    xb_output_discard(&output);
    open_output(&output, "/dev/null");
    assert_false(xb_output_is_over(&output, "/dev/null"));
    xb_output_discard(&output);
}

/* ---- links ---- */

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    struct stat link;
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    write_file("sub/file.json", "old");
    assert_int_equal(symlink("sub/file.json", "link.json"), 0);
    replace("link.json", "new");
    assert_int_equal(lstat("link.json", &link), 0);
    assert_true(S_ISLNK(link.st_mode));
    assert_content("sub/file.json", "new");
}

static void a_new_file_under_a_linked_directory(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(symlink("sub", "link"), 0);
    replace("link/new.json", "new");
    assert_content("sub/new.json", "new");
}

static void a_link_to_nothing_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink("nowhere.json", "link.json"), 0);
    assert_refused("link.json", ENOENT, "ENOENT");
    assert_int_equal(symlink("loop.json", "loop.json"), 0);
    assert_refused("loop.json", ELOOP, "ELOOP");
}

/* ---- what cannot be written ---- */

static void a_directory_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_refused("sub", EISDIR, "EISDIR");
    assert_refused("sub/", EISDIR, "EISDIR");
    assert_refused("missing/", ENOENT, "ENOENT");
    assert_refused("", ENOENT, "ENOENT");
}

static void a_path_that_cannot_be_is_refused(void **state)
{
    char name[NAME_MAX + 2];
    (void)state;
    write_file("file", "old");
    assert_refused("missing/new.json", ENOENT, "ENOENT");
    assert_refused("file/new.json", ENOTDIR, "ENOTDIR");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_refused(name, ENAMETOOLONG, "ENAMETOOLONG");
    assert_refused("/proc/new.json", ENOENT, "ENOENT");
}

static void what_may_not_be_written_is_refused(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* root may write everything */
    write_file("protected.json", "old");
    assert_int_equal(chmod("protected.json", 0444), 0);
    assert_refused("protected.json", EACCES, "EACCES");
    assert_int_equal(mkdir("closed", 0555), 0);
    assert_refused("closed/new.json", EACCES, "EACCES");
}

/* ---- what is written as it is ---- */

static void a_full_device_is_reported(void **state)
{
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    open_output(&output, "/dev/full");
    fputs("text", output.stream);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_int_equal(error.native_code, ENOSPC);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_non_null(strstr(error.message, "ENOSPC"));
}

static void a_device_is_not_renamed_over(void **state)
{
    struct stat null;
    (void)state;
    assert_int_equal(symlink("/dev/null", "null"), 0);
    replace("/dev/null", "text");
    replace("null", "text");
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_true(S_ISCHR(null.st_mode));
    assert_int_equal(file_count(), 1);
}

static void a_fifo_is_written_as_it_is(void **state)
{
    char text[8] = "";
    struct stat fifo;
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    replace("fifo", "text");
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    close(reader);
    assert_int_equal(stat("fifo", &fifo), 0);
    assert_true(S_ISFIFO(fifo.st_mode));
}

static void a_fifo_without_a_reader_is_waited_for_until_the_deadline(void **state)
{
    struct xb_output output;
    struct xb_error error = {0};
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(open_at(&output, "fifo", xb_clock_now(), &error), XB_ERR_STOPPED);
    assert_non_null(strstr(error.message, "fifo"));
    assert_non_null(strstr(error.message, "reader"));
    assert_null(output.path);
}

/* More than a pipe holds, and a reader that is slower than the writer. */
static void a_pipe_takes_any_amount(void **state)
{
    static char text[1 << 20];
    static char read_back[sizeof text];
    int ends[2];
    char path[32];
    struct xb_output output;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    pid_t writer = fork();
    if (writer == 0) {
        struct xb_error error;
        close(ends[0]);
        bool done = open_at(&output, path, 0, &error) == XB_OK &&
                    fwrite(text, 1, sizeof text, output.stream) == sizeof text &&
                    xb_output_commit(&output, &error) == XB_OK;
        _exit(done ? 0 : 1);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < sizeof read_back; length += (size_t)got)
        got = read(ends[0], read_back + length, sizeof read_back - length);
    close(ends[0]);
    int code = -1;
    assert_int_equal(waitpid(writer, &code, 0), writer);
    assert_int_equal(code, 0);
    assert_int_equal(length, sizeof text);
    assert_memory_equal(read_back, text, sizeof text);
}

/* ---- open descriptors ---- */

static void assert_appends_to(const char *folder, int fd)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%d", folder, fd);
    replace(path, "more ");
}

static void an_open_descriptor_is_written_to(void **state)
{
    (void)state;
    write_file("log", "first ");
    int fd = open("log", O_WRONLY | O_APPEND);
    assert_true(fd > STDERR_FILENO);
    assert_appends_to("/dev/fd", fd);
    assert_appends_to("/proc/self/fd", fd);
    assert_int_equal(symlink("/dev/fd", "folder"), 0);
    assert_appends_to("folder", fd);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(symlink(path, "link"), 0);
    replace("link", "and last");
    assert_int_equal(write(fd, ".", 1), 1);
    assert_int_equal(close(fd), 0);
    assert_content("log", "first more more more and last.");
    assert_int_equal(file_count(), 3);
}

static void a_descriptor_that_cannot_be_written_is_refused(void **state)
{
    char path[64];
    (void)state;
    assert_refused("/dev/fd/987", EBADF, "EBADF");
    write_file("input", "text");
    int fd = open("input", O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_refused(path, EBADF, "EBADF");
    assert_int_equal(close(fd), 0);
    assert_content("input", "text");
}

/* ---- standard streams ---- */

/* Runs replace() while `stream` goes to a file in which "before" stands already. */
static void replace_with_stream_at(FILE *stream, const char *file, const char *path)
{
    fflush(stream);
    int kept = dup(fileno(stream));
    int redirected = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(redirected, fileno(stream));
    close(redirected);
    fputs("before ", stream);
    replace(path, "text");
    fputs(" after", stream);
    fflush(stream);
    dup2(kept, fileno(stream));
    close(kept);
}

static void a_dash_is_standard_output(void **state)
{
    (void)state;
    replace_with_stream_at(stdout, "out", "-");
    assert_content("out", "before text after");
    assert_int_equal(file_count(), 1);
}

static void the_file_of_a_standard_stream_is_not_renamed_over(void **state)
{
    (void)state;
    replace_with_stream_at(stdout, "out", "/dev/stdout");
    assert_content("out", "before text after");
    replace_with_stream_at(stdout, "out", "out");
    assert_content("out", "before text after");
    replace_with_stream_at(stderr, "err", "/dev/stderr");
    assert_content("err", "before text after");
    assert_int_equal(file_count(), 2);
}

static void nothing_opened_is_discarded(void **state)
{
    struct xb_output output = {0};
    (void)state;
    xb_output_discard(&output);
}

int main(void)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RUN_TEST(a_new_file_appears_when_committed),
        RUN_TEST(a_new_file_has_the_mode_of_the_umask),
        RUN_TEST(an_old_file_keeps_its_mode),
        RUN_TEST(an_old_file_survives_a_discard),
        RUN_TEST(an_old_file_survives_a_full_disk),
        RUN_TEST(a_write_that_failed_earlier_is_not_forgotten),
        RUN_TEST(a_rename_that_fails_is_reported),
        RUN_TEST(the_longest_name_is_possible),
        RUN_TEST(a_file_in_another_directory_is_replaced_there),
        RUN_TEST(a_file_has_no_name_before_it_is_complete),
        RUN_TEST(a_file_system_without_unnamed_files_will_do),
        RUN_TEST(a_file_that_gets_no_name_is_copied),
        RUN_TEST(an_old_file_keeps_its_owner),
        RUN_TEST(a_file_that_cannot_be_given_away_is_written_over),
        RUN_TEST(what_cannot_be_written_over_is_kept),
        RUN_TEST(a_full_disk_leaves_what_would_be_written_over),
        RUN_TEST(what_cannot_be_reserved_is_written_over_all_the_same),
        RUN_TEST(another_file_of_its_name_is_not_written_over),
        RUN_TEST(a_directory_takes_its_file_along),
        RUN_TEST(what_has_no_directory_any_more_is_kept_elsewhere),
        RUN_TEST(an_old_file_keeps_its_access_list),
        RUN_TEST(one_file_by_two_names_is_seen),
        RUN_TEST(an_output_over_another_file_is_seen),
        RUN_TEST(a_link_stays_and_its_file_is_replaced),
        RUN_TEST(a_new_file_under_a_linked_directory),
        RUN_TEST(a_link_to_nothing_is_refused),
        RUN_TEST(a_directory_is_refused),
        RUN_TEST(a_path_that_cannot_be_is_refused),
        RUN_TEST(what_may_not_be_written_is_refused),
        RUN_TEST(a_full_device_is_reported),
        RUN_TEST(a_device_is_not_renamed_over),
        RUN_TEST(a_fifo_is_written_as_it_is),
        RUN_TEST(a_fifo_without_a_reader_is_waited_for_until_the_deadline),
        RUN_TEST(a_pipe_takes_any_amount),
        RUN_TEST(an_open_descriptor_is_written_to),
        RUN_TEST(a_descriptor_that_cannot_be_written_is_refused),
        RUN_TEST(a_dash_is_standard_output),
        RUN_TEST(the_file_of_a_standard_stream_is_not_renamed_over),
        RUN_TEST(nothing_opened_is_discarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
