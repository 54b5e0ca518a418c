/* SPDX-License-Identifier: Apache-2.0 */
/* How a new file comes to its place, and what becomes of the old one. */
#define _GNU_SOURCE
#include "output_fixture.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

/* ---- files ---- */

RUN_TEST(a_new_file_appears_when_committed)
{
    struct xb_output output;
    open_output(&output, "new.json");
    fputs("new", output.stream);
    assert_int_not_equal(access("new.json", F_OK), 0);
    commit(&output);
    assert_content("new.json", "new");
    assert_int_equal(file_count(), 1);
}

RUN_TEST(a_new_file_has_the_mode_of_the_umask)
{
    umask(027);
    replace("new.json", "new");
    assert_int_equal(mode_of("new.json"), 0640);
    assert_int_equal(umask(022), 027);
}

RUN_TEST(an_old_file_keeps_its_mode)
{
    write_file("old.json", "old");
    assert_int_equal(chmod("old.json", 0606), 0);
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(mode_of("old.json"), 0606);
    assert_int_equal(file_count(), 1);
}

RUN_TEST(an_old_file_survives_a_discard)
{
    struct xb_output output;
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
RUN_TEST(an_old_file_survives_a_full_disk)
{
    struct rlimit kept;
    struct xb_output output;
    struct xb_error error = {0};
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

RUN_TEST(a_write_that_failed_earlier_is_not_forgotten)
{
    struct rlimit kept;
    struct xb_output output;
    struct xb_error error = {0};
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

RUN_TEST(a_rename_that_fails_is_reported)
{
    struct xb_output output;
    struct xb_error error = {0};
    open_output(&output, "new.json");
    assert_int_equal(mkdir("new.json", 0777), 0);
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_string_equal(error.call, "rename");
    assert_non_null(strstr(error.message, "EISDIR"));
    assert_non_null(strstr(error.message, ".xferbench-")); /* where the results are now */
    assert_int_equal(file_count(), 2);
}

RUN_TEST(the_longest_name_is_possible)
{
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    replace(name, "new");
    replace(name, "newer");
    assert_content(name, "newer");
}

RUN_TEST(a_file_in_another_directory_is_replaced_there)
{
    assert_int_equal(mkdir("sub", 0777), 0);
    replace("sub/../sub/new.json", "new");
    assert_content("sub/new.json", "new");
    assert_int_equal(file_count(), 1);
}

/* ---- how the new file comes to its place ---- */

RUN_TEST(a_file_has_no_name_before_it_is_complete)
{
    struct xb_output output;
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

RUN_TEST(a_file_system_without_unnamed_files_will_do)
{
    struct xb_output output;
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

/* A forked process ends so too, and the files are its parent's. */
RUN_TEST(an_end_without_cleaning_up_leaves_no_temporary_file)
{
    struct xb_output outputs[3];
    without_unnamed_files = true;
    for (int i = 0; i < 3; i++)
        open_output(&outputs[i], (const char *[]){"a.json", "b.json", "c.json"}[i]);
    xb_output_discard(&outputs[1]);
    pid_t child = fork();
    if (child == 0) {
        xb_outputs_abandon();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(file_count(), 2);
    xb_outputs_abandon();
    assert_int_equal(file_count(), 0);
    xb_output_discard(&outputs[0]);
    xb_output_discard(&outputs[2]);
}

/* Where memory is lacking, the program removes its own and leaves those of its parent. */
RUN_TEST(a_program_without_memory_leaves_no_temporary_file)
{
    struct xb_output parents, own;
    without_unnamed_files = true;
    open_output(&parents, "a.json");
    for (size_t opens = 0; opens < 2; opens++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            if (opens > 0)
                open_output(&own, "b.json");
            if (file_count() == 1 + opens)
                xb_memory_end(1);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
        assert_int_equal(file_count(), 1);
    }
    commit(&parents);
    assert_int_equal(file_count(), 1);
    assert_content("a.json", "");
}

RUN_TEST(a_file_that_gets_no_name_is_copied)
{
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

static void assert_others_is_kept(void)
{
    struct xb_output output;
    struct xb_error error = {0};
    open_output(&output, "new.json");
    output.keeps_others = true;
    fputs("new", output.stream);
    another_is_first = true;
    assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, "EEXIST"));
    assert_non_null(strstr(error.message, ".xferbench-"));
    assert_content("new.json", "another's");
    assert_int_equal(file_count(), 2);
}

/* Ranks of a node that have one name by mistake end in the same moment. */
RUN_TEST(what_another_wrote_in_the_same_moment_is_kept)
{
    assert_others_is_kept();
}

/* NFS cannot rename so, but link. */
RUN_TEST(it_is_kept_on_any_file_system_with_links)
{
    without_exclusive_rename = true;
    assert_others_is_kept();
}

RUN_TEST(a_new_file_needs_no_exclusive_rename)
{
    struct xb_output output;
    without_exclusive_rename = true;
    for (int i = 0; i < 2; i++) { /* the second time without links too */
        open_output(&output, "new.json");
        output.keeps_others = true;
        fputs("new", output.stream);
        commit(&output);
        assert_content("new.json", "new");
        assert_int_equal(file_count(), 1);
        assert_int_equal(unlink("new.json"), 0);
        without_links = true;
    }
}
