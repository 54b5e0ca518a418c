/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "output_fixture.h"

#include "checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

/* ---- systems that lack something: the linker puts these in the place of the calls ---- */

bool without_unnamed_files, without_links, without_chown, without_exclusive_rename;
bool another_is_first, cleaning_up_fails;
int allocation_error;

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

int __real_renameat2(int from_directory, const char *from, int to_directory, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_directory, const char *from, int to_directory, const char *to,
                     unsigned flags);
int __wrap_renameat2(int from_directory, const char *from, int to_directory, const char *to,
                     unsigned flags)
{
    if (another_is_first)
        write_file(to, "another's"); /* the working directory is the target's */
    if (without_exclusive_rename && flags != 0) {
        errno = EINVAL;
        return -1;
    }
    return __real_renameat2(from_directory, from, to_directory, to, flags);
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

/* The descriptor and the name are gone all the same. */
static int clean_up(int outcome)
{
    if (!cleaning_up_fails)
        return outcome;
    errno = EIO;
    return -1;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    return clean_up(__real_close(fd));
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream)
{
    return clean_up(__real_fclose(stream));
}

int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags)
{
    return clean_up(__real_unlinkat(folder, name, flags));
}

/* Each test runs in an empty directory of its own. */
char directory[PATH_MAX];
static int start_directory;

int setup(NO_STATE)
{
    const char *parent = getenv("TMPDIR");
    start_directory = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(directory, sizeof directory, "%s/xferbench-test-XXXXXX",
             parent != NULL ? parent : "/tmp");
    umask(022);
    without_unnamed_files = without_links = without_chown = false;
    without_exclusive_rename = another_is_first = cleaning_up_fails = false;
    allocation_error = 0;
    return start_directory < 0 || mkdtemp(directory) == NULL || chdir(directory) != 0;
}

int teardown(NO_STATE)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    int failed = fchdir(start_directory);
    close(start_directory);
    return system(command) != 0 || failed;
}

size_t file_count(void)
{
    size_t count = 0;
    DIR *stream = opendir(".");
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count - 2; /* . and .. */
}

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void assert_content(const char *path, const char *expected)
{
    char text[256];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("no %s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

mode_t mode_of(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_mode & 07777;
}

enum xb_status open_at(struct xb_output *output, const char *path, double deadline,
                       struct xb_error *error)
{
    enum xb_status status = xb_output_find(output, path, error);
    return status == XB_OK ? xb_output_open(output, deadline, error) : status;
}

void open_output(struct xb_output *output, const char *path)
{
    struct xb_error error = {0};
    if (open_at(output, path, 0, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_non_null(output->stream);
}

void commit(struct xb_output *output)
{
    struct xb_error error = {0};
    if (xb_output_commit(output, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_null(output->path);
    assert_null(output->stream);
    xb_output_discard(output);
}

void replace(const char *path, const char *text)
{
    struct xb_output output;
    open_output(&output, path);
    assert_true(fputs(text, output.stream) >= 0);
    commit(&output);
}

/* Opening fails, names the path and the errno, and leaves nothing behind. */
void assert_refused(const char *path, int code, const char *name)
{
    struct xb_output output;
    struct xb_error error = {0};
    size_t before = file_count();
    assert_int_equal(open_at(&output, path, 0, &error), XB_ERR_USAGE);
    assert_int_equal(error.native_code, code);
    assert_names(&error, path);
    assert_non_null(strstr(error.message, name));
    assert_null(output.path);
    assert_null(output.stream);
    assert_int_equal(file_count(), before);
    xb_output_discard(&output);
}

bool has_unnamed_files(void)
{
    int fd = open(".", O_RDWR | O_TMPFILE, 0600);
    return fd >= 0 && close(fd) == 0;
}
