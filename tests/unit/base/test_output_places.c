/* SPDX-License-Identifier: Apache-2.0 */
/* Links, devices, pipes, descriptors and streams that outputs are written to. */
#define _GNU_SOURCE
#include "output_fixture.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

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

RUN_TEST(one_file_by_two_names_is_seen)
{
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

RUN_TEST(an_output_over_another_file_is_seen)
{
    struct xb_output output;
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

RUN_TEST(a_link_stays_and_its_file_is_replaced)
{
    struct stat link;
    assert_int_equal(mkdir("sub", 0777), 0);
    write_file("sub/file.json", "old");
    assert_int_equal(symlink("sub/file.json", "link.json"), 0);
    replace("link.json", "new");
    assert_int_equal(lstat("link.json", &link), 0);
    assert_true(S_ISLNK(link.st_mode));
    assert_content("sub/file.json", "new");
}

RUN_TEST(a_new_file_under_a_linked_directory)
{
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(symlink("sub", "link"), 0);
    replace("link/new.json", "new");
    assert_content("sub/new.json", "new");
}

RUN_TEST(a_link_to_nothing_is_refused)
{
    assert_int_equal(symlink("nowhere.json", "link.json"), 0);
    assert_refused("link.json", ENOENT, "ENOENT");
    assert_int_equal(symlink("loop.json", "loop.json"), 0);
    assert_refused("loop.json", ELOOP, "ELOOP");
}

/* ---- what cannot be written ---- */

RUN_TEST(a_directory_is_refused)
{
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_refused("sub", EISDIR, "EISDIR");
    assert_refused("sub/", EISDIR, "EISDIR");
    assert_refused("missing/", ENOENT, "ENOENT");
    assert_refused("", ENOENT, "ENOENT");
}

RUN_TEST(a_path_that_cannot_be_is_refused)
{
    char name[NAME_MAX + 2];
    write_file("file", "old");
    assert_refused("missing/new.json", ENOENT, "ENOENT");
    assert_refused("file/new.json", ENOTDIR, "ENOTDIR");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_refused(name, ENAMETOOLONG, "ENAMETOOLONG");
    assert_refused("/proc/new.json", ENOENT, "ENOENT");
}

RUN_TEST(what_may_not_be_written_is_refused)
{
    if (geteuid() == 0)
        skip(); /* root may write everything */
    write_file("protected.json", "old");
    assert_int_equal(chmod("protected.json", 0444), 0);
    assert_refused("protected.json", EACCES, "EACCES");
    assert_int_equal(mkdir("closed", 0555), 0);
    assert_refused("closed/new.json", EACCES, "EACCES");
}

/* ---- what is written as it is ---- */

RUN_TEST(a_full_device_is_reported)
{
    struct xb_output output;
    struct xb_error error = {0};
    open_output(&output, "/dev/full");
    fputs("text", output.stream);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_int_equal(error.native_code, ENOSPC);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_non_null(strstr(error.message, "ENOSPC"));
}

RUN_TEST(a_device_is_not_renamed_over)
{
    struct stat null;
    assert_int_equal(symlink("/dev/null", "null"), 0);
    replace("/dev/null", "text");
    replace("null", "text");
    assert_int_equal(stat("/dev/null", &null), 0);
    assert_true(S_ISCHR(null.st_mode));
    assert_int_equal(file_count(), 1);
}

RUN_TEST(a_fifo_is_written_as_it_is)
{
    char text[8] = "";
    struct stat fifo;
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

RUN_TEST(a_fifo_without_a_reader_is_waited_for_until_the_deadline)
{
    struct xb_output output;
    struct xb_error error = {0};
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(open_at(&output, "fifo", xb_clock_now(), &error), XB_ERR_STOPPED);
    assert_non_null(strstr(error.message, "fifo"));
    assert_non_null(strstr(error.message, "reader"));
    assert_null(output.path);
}

/* More than a pipe holds, and a reader that is slower than the writer. */
RUN_TEST(a_pipe_takes_any_amount)
{
    static char text[1 << 20];
    static char read_back[sizeof text];
    int ends[2];
    char path[32];
    struct xb_output output;
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

RUN_TEST(an_open_descriptor_is_written_to)
{
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

RUN_TEST(a_descriptor_that_cannot_be_written_is_refused)
{
    char path[64];
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

RUN_TEST(a_dash_is_standard_output)
{
    replace_with_stream_at(stdout, "out", "-");
    assert_content("out", "before text after");
    assert_int_equal(file_count(), 1);
}

RUN_TEST(the_file_of_a_standard_stream_is_not_renamed_over)
{
    replace_with_stream_at(stdout, "out", "/dev/stdout");
    assert_content("out", "before text after");
    replace_with_stream_at(stdout, "out", "out");
    assert_content("out", "before text after");
    replace_with_stream_at(stderr, "err", "/dev/stderr");
    assert_content("err", "before text after");
    assert_int_equal(file_count(), 2);
}

RUN_TEST(nothing_opened_is_discarded)
{
    struct xb_output output = {0};
    xb_output_discard(&output);
}
