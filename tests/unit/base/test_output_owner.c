/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a replaced file is, and what is kept where it cannot be replaced. */
#define _GNU_SOURCE
#include "output_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "testing.h"

/* ---- whose it is ---- */

#define SOMEBODY 12345
#define SOME_GROUP 23456

static void put_of_somebody(const char *path)
{
    if (geteuid() != 0)
        skip(); /* others cannot give a file away */
    write_file(path, "old and longer");
    assert_int_equal(chown(path, SOMEBODY, SOME_GROUP), 0);
    assert_int_equal(chmod(path, 0640), 0);
}

static void assert_of_somebody(const char *path)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_uid, SOMEBODY);
    assert_int_equal(file.st_gid, SOME_GROUP);
    assert_int_equal(file.st_mode & 07777, 0640);
}

RUN_TEST(an_old_file_keeps_its_owner)
{
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

RUN_TEST(a_file_that_cannot_be_given_away_is_written_over)
{
    struct stat before;
    struct stat now;
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

RUN_TEST(what_cannot_be_written_over_is_kept)
{
    struct xb_output output;
    struct xb_error error = {0};
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

RUN_TEST(a_full_disk_leaves_what_would_be_written_over)
{
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

/* It is on the disk by then: replaced by a rename, by a link, and written over. */
RUN_TEST(a_complete_file_is_no_failure_whatever_follows)
{
    for (int i = 0; i < 3 - (geteuid() != 0); i++) { /* others cannot give a file away */
        struct xb_output output;
        struct xb_error error = {0};
        without_exclusive_rename = i == 1;
        without_chown = i == 2;
        if (i == 2)
            put_of_somebody("new.json");
        open_output(&output, "new.json");
        output.keeps_others = true;
        fputs("new", output.stream);
        cleaning_up_fails = true;
        enum xb_status status = xb_output_commit(&output, &error);
        cleaning_up_fails = false;
        if (status != XB_OK)
            fail_msg("%d: %s", i, error.message);
        assert_content("new.json", "new");
        assert_int_equal(file_count(), 1);
        assert_int_equal(unlink("new.json"), 0);
    }
}

/* Not every file system can reserve space. */
RUN_TEST(what_cannot_be_reserved_is_written_over_all_the_same)
{
    put_of_somebody("old.json");
    without_chown = true;
    allocation_error = EOPNOTSUPP;
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(file_count(), 1);
}

RUN_TEST(another_file_of_its_name_is_not_written_over)
{
    struct xb_output output;
    struct xb_error error = {0};
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

RUN_TEST(a_directory_takes_its_file_along)
{
    struct xb_output output;
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

RUN_TEST(what_has_no_directory_any_more_is_kept_elsewhere)
{
    const char *const folders[] = {directory, "/nonexistent", NULL};
    const char *before = getenv("TMPDIR");
    char *kept = before != NULL ? strdup(before) : NULL;
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
RUN_TEST(an_old_file_keeps_its_access_list)
{
    static const unsigned char list[] = {
        2, 0,    0,    0,    1,    0,    6,    0, 0xFF, 0xFF, 0xFF, 0xFF, 2,    0,    4,
        0, 0x39, 0x30, 0,    0,    4,    0,    0, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0,
        4, 0,    0xFF, 0xFF, 0xFF, 0xFF, 0x20, 0, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF};
    static const char name[] = "system.posix_acl_access";
    unsigned char found[sizeof list];
    write_file("old.json", "old");
    if (setxattr("old.json", name, list, sizeof list, 0) != 0)
        skip(); /* this file system has none */
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(getxattr("old.json", name, found, sizeof found), sizeof list);
    assert_memory_equal(found, list, sizeof list);
}
