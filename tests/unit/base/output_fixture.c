/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "output_fixture.h"

#include "checks.h"
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "testing.h"

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
    clear_faults();
    return start_directory < 0 || mkdtemp(directory) == NULL || chdir(directory) != 0;
}

int teardown(NO_STATE)
{
    clear_faults();
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
