/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "xferbench/sink.h"

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
#include <unistd.h>

#include <cmocka.h>

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

static void open_output(struct xb_output *output, const char *path)
{
    struct xb_error error = {0};
    if (xb_output_open(output, path, &error) != XB_OK)
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
    assert_int_equal(xb_output_open(&output, path, &error), XB_ERR_USAGE);
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
        RUN_TEST(a_link_stays_and_its_file_is_replaced),
        RUN_TEST(a_new_file_under_a_linked_directory),
        RUN_TEST(a_link_to_nothing_is_refused),
        RUN_TEST(a_directory_is_refused),
        RUN_TEST(a_path_that_cannot_be_is_refused),
        RUN_TEST(what_may_not_be_written_is_refused),
        RUN_TEST(a_full_device_is_reported),
        RUN_TEST(a_device_is_not_renamed_over),
        RUN_TEST(a_fifo_is_written_as_it_is),
        RUN_TEST(a_dash_is_standard_output),
        RUN_TEST(the_file_of_a_standard_stream_is_not_renamed_over),
        RUN_TEST(nothing_opened_is_discarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
