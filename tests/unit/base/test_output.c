/* SPDX-License-Identifier: Apache-2.0 */
/* How a new file comes to its place, whose it is then, and what becomes of the old one: on systems
 * that lack something, and where calls fail. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/memory.h"
#include "base/output.h"
#include "checks.h"
#include "faults.h"
#include "fixture_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Each test runs in an empty directory of its own. */
static char directory[PATH_MAX];
static int start_directory;

static int setup(void **state)
{
    clear_faults();
    umask(022);
    start_directory = open(".", O_RDONLY | O_DIRECTORY);
    if (start_directory < 0 || make_tree(state) != 0)
        return -1;
    snprintf(directory, sizeof directory, "%s", (const char *)*state);
    return chdir(directory);
}

static int teardown(void **state)
{
    clear_faults();
    int failed = fchdir(start_directory);
    close(start_directory);
    return remove_tree(state) != 0 || failed;
}

#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

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
    size_t before = entries_in(".");
    assert_int_equal(open_at(&output, path, 0, &error), XB_ERR_USAGE);
    assert_int_equal(error.native_code, code);
    assert_names(&error, path);
    assert_non_null(strstr(error.message, name));
    assert_null(output.path);
    assert_null(output.stream);
    assert_int_equal(entries_in("."), before);
    xb_output_discard(&output);
}

/* Whether the file system of that directory has O_TMPFILE. */
static bool has_unnamed_files(void)
{
    int fd = open(".", O_RDWR | O_TMPFILE, 0600);
    return fd >= 0 && close(fd) == 0;
}

/* ---- what a system may lack ---- */

static void lack_unnamed_files(void)
{
    faults[FAULT_OPENAT] = (struct fault){.code = EOPNOTSUPP, .flags = O_TMPFILE};
}

static void lack_links(void)
{
    faults[FAULT_LINKAT].code = EPERM;
}

/* As NFS, which can link. */
static void lack_exclusive_rename(void)
{
    faults[FAULT_RENAMEAT2] = (struct fault){.code = EINVAL, .flags = RENAME_NOREPLACE};
}

static void lack_links_and_exclusive_rename(void)
{
    lack_links();
    lack_exclusive_rename();
}

static void lack_chown(void)
{
    faults[FAULT_FCHOWN].code = EPERM;
}

static void lack_chown_and_unnamed_files(void)
{
    lack_chown();
    lack_unnamed_files();
}

/* Not every file system can reserve space. */
static void lack_chown_and_reserving(void)
{
    lack_chown();
    faults[FAULT_FALLOCATE].code = EOPNOTSUPP;
}

static void lack_nothing(void)
{
}

static void (*const lacks[])(void) = {lack_nothing,
                                      lack_unnamed_files,
                                      lack_links,
                                      lack_exclusive_rename,
                                      lack_links_and_exclusive_rename,
                                      lack_chown,
                                      lack_chown_and_unnamed_files,
                                      lack_chown_and_reserving};
#define EACH_LACK(lack) for (size_t lack = 0; lack < sizeof lacks / sizeof lacks[0]; lack++)

static void begin_lack(size_t lack)
{
    print_message("lack %zu\n", lack);
    clear_faults();
    lacks[lack]();
}

/* ---- on all of them ---- */

RUN_TEST(nothing_opened_is_discarded)
{
    struct xb_output output = {0};
    xb_output_discard(&output);
}

RUN_TEST(a_new_file_appears_when_committed_with_the_mode_of_the_umask)
{
    EACH_LACK(lack)
    for (int keeps = 0; keeps < 2; keeps++) {
        struct xb_output output;
        begin_lack(lack);
        umask(keeps ? 022 : 027);
        open_output(&output, "new.json");
        output.keeps_others = keeps != 0;
        fputs("new", output.stream);
        assert_int_not_equal(access("new.json", F_OK), 0);
        commit(&output);
        assert_content("new.json", "new");
        assert_int_equal(mode_of("new.json"), keeps ? 0644 : 0640);
        assert_int_equal(umask(022), keeps ? 022 : 027);
        assert_int_equal(entries_in("."), 1);
        assert_int_equal(unlink("new.json"), 0);
    }
}

RUN_TEST(an_old_file_keeps_its_mode_and_survives_a_discard)
{
    EACH_LACK(lack)
    {
        struct xb_output output;
        begin_lack(lack);
        write_file(".", "old.json", "old");
        assert_int_equal(chmod("old.json", 0606), 0);
        open_output(&output, "old.json");
        fputs("half a docu", output.stream);
        fflush(output.stream);
        xb_output_discard(&output);
        xb_output_discard(&output);
        assert_content("old.json", "old");
        assert_int_equal(entries_in("."), 1);
        replace("old.json", "new");
        assert_content("old.json", "new");
        assert_int_equal(mode_of("old.json"), 0606);
        assert_int_equal(entries_in("."), 1);
        assert_int_equal(unlink("old.json"), 0);
    }
}

/* ---- whose it is ---- */

#define SOMEBODY 12345
#define SOME_GROUP 23456

static void put_of_somebody(const char *path)
{
    write_file(".", path, "old and longer");
    assert_int_equal(chown(path, SOMEBODY, SOME_GROUP), 0);
    assert_int_equal(chmod(path, 0640), 0);
}

/* Where a file cannot be given away it is written over. */
RUN_TEST(an_old_file_keeps_its_owner)
{
    if (geteuid() != 0)
        skip(); /* others cannot give a file away */
    EACH_LACK(lack)
    {
        struct stat before, now;
        begin_lack(lack);
        put_of_somebody("old.json");
        assert_int_equal(stat("old.json", &before), 0);
        replace("old.json", "new");
        assert_content("old.json", "new");
        assert_int_equal(stat("old.json", &now), 0);
        assert_int_equal(now.st_uid, SOMEBODY);
        assert_int_equal(now.st_gid, SOME_GROUP);
        assert_int_equal(now.st_mode & 07777, 0640);
        assert_int_equal(now.st_ino == before.st_ino, faults[FAULT_FCHOWN].code != 0);
        assert_int_equal(entries_in("."), 1);
    }
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
    write_file(".", "old.json", "old");
    if (setxattr("old.json", name, list, sizeof list, 0) != 0)
        skip(); /* this file system has none */
    replace("old.json", "new");
    assert_content("old.json", "new");
    assert_int_equal(getxattr("old.json", name, found, sizeof found), sizeof list);
    assert_memory_equal(found, list, sizeof list);
}

/* ---- what fails ---- */

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

/* "new" at the path, on a system that lacks what is armed already. */
static enum xb_status write_new(const char *path, bool keeps_others, struct xb_error *error)
{
    struct xb_output output;
    enum xb_status status = open_at(&output, path, 0, error);
    if (status != XB_OK)
        return status;
    output.keeps_others = keeps_others;
    fputs("new", output.stream);
    return xb_output_commit(&output, error);
}

/* What fails once, and whether its only effect may be that it says so: the file is complete by
 * then, and the descriptor and the name are gone all the same. */
static const struct {
    enum fault_kind kind;
    int code;
    bool is_cleaning_up;
    bool spoils; /* while the old file is written over */
    bool fails;  /* one of its calls, on one of the systems, keeps the new file from its place */
} failures[] = {
    {FAULT_OPEN, EIO, false, false, true},     {FAULT_OPENAT, EIO, false, false, true},
    {FAULT_LINKAT, EIO, false, false, false},  {FAULT_RENAMEAT2, EIO, false, false, true},
    {FAULT_FCHOWN, EIO, false, false, true},   {FAULT_FALLOCATE, ENOSPC, false, false, true},
    {FAULT_READ, EIO, false, true, true},      {FAULT_FSTAT, EIO, false, false, true},
    {FAULT_UNLINKAT, EIO, true, false, false}, {FAULT_CLOSE, EIO, true, false, false},
    {FAULT_FCLOSE, EIO, true, false, false},
};

/* The n-th call of that kind fails. Returns whether it was met. */
static bool fail_once(size_t lack, size_t failure, unsigned n, bool keeps_others, bool *failed)
{
    enum fault_kind kind = failures[failure].kind;
    struct xb_error error = {.status = XB_OK, .message = ""};
    write_file(".", "old.json", "old and longer");
    if (geteuid() == 0)
        put_of_somebody("old.json");
    begin_lack(lack);
    arm_fault(kind, failures[failure].code, n);
    faults[kind].does_it = failures[failure].is_cleaning_up;
    enum xb_status status = write_new("old.json", keeps_others, &error);
    bool met = disarm_fault(kind);
    clear_faults();
    print_message("kind %d, call %u: %s\n", (int)kind, n, error.message);
    assert_int_equal(error.status, status);
    assert_true(status == XB_OK || !failures[failure].is_cleaning_up);
    *failed = *failed || status != XB_OK;
    if (status == XB_ERR_SYSTEM)
        assert_kept(&error, "new");
    else if (status != XB_OK) /* before it was begun */
        assert_int_equal(status, XB_ERR_USAGE);
    if (status == XB_OK)
        assert_content("old.json", "new");
    else if (!failures[failure].spoils)
        assert_content("old.json", "old and longer");
    assert_int_equal(entries_in("."), 1);
    assert_int_equal(unlink("old.json"), 0);
    return met;
}

/* The first, the second, ... call of each kind, on each system: what is at the path is the new text
 * whole, or the old one, and then the new one is where the error says or was not begun. */
RUN_TEST(whichever_call_fails_nothing_is_lost)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        bool failed = false;
        EACH_LACK(lack)
        for (int keeps = 0; keeps < 2; keeps++)
            for (unsigned n = 1; fail_once(lack, i, n, keeps != 0, &failed); n++)
                assert_true(n < 20);
        if (geteuid() == 0)
            assert_int_equal(failed, failures[i].fails);
    }
}

/* A limit on the size of files stands for a disk that is full: when it is committed, or before. Or
 * nobody says so before it is synced, as where the disk is another machine's. */
RUN_TEST(an_old_file_survives_a_full_disk)
{
    enum { COMMITTED, BEFORE, SYNCED };
    signal(SIGXFSZ, SIG_IGN);
    EACH_LACK(lack)
    for (int told = COMMITTED; told <= SYNCED; told++) {
        struct rlimit kept;
        struct xb_output output;
        struct xb_error error = {0};
        begin_lack(lack);
        write_file(".", "old.json", "old");
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
        open_output(&output, "old.json");
        if (told == SYNCED)
            arm_fault(FAULT_FSYNC, EFBIG, 1);
        else
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8, kept.rlim_max}), 0);
        fputs("longer than the limit", output.stream);
        assert_true(told != BEFORE || fflush(output.stream) == EOF);
        if (told == BEFORE)
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
        enum xb_status status = xb_output_commit(&output, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
        assert_int_equal(status, XB_ERR_SYSTEM);
        if (told != BEFORE)
            assert_int_equal(error.native_code, EFBIG);
        assert_non_null(strstr(error.message, "old.json"));
        assert_content("old.json", "old");
        assert_int_equal(entries_in("."), 1);
    }
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
    assert_int_equal(entries_in("."), 2);
}

/* ---- what others do meanwhile ---- */

static void be_first(unsigned call)
{
    if (call == 1)
        write_file(".", "new.json", "another's");
}

/* Ranks of a node that have one name by mistake end in the same moment. */
RUN_TEST(what_another_wrote_in_the_same_moment_is_kept)
{
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        struct xb_error error = {0};
        clear_faults();
        if (!exclusive)
            lack_exclusive_rename();
        faults[FAULT_RENAMEAT2].before = be_first;
        assert_int_equal(write_new("new.json", true, &error), XB_ERR_SYSTEM);
        assert_non_null(strstr(error.message, "EEXIST"));
        assert_content("new.json", "another's");
        assert_kept(&error, "new");
        assert_int_equal(entries_in("."), 1);
        assert_int_equal(unlink("new.json"), 0);
    }
}

/* A link, or another file of its name: neither is written over. */
RUN_TEST(what_has_its_name_by_now_is_not_written_over)
{
    if (geteuid() != 0)
        skip();
    for (int is_link = 0; is_link < 2; is_link++) {
        struct xb_output output;
        struct xb_error error = {0};
        put_of_somebody("old.json");
        lack_chown();
        open_output(&output, "old.json");
        fputs("new", output.stream);
        write_file(".", "other.json", "other");
        if (is_link) {
            assert_int_equal(unlink("old.json"), 0);
            assert_int_equal(symlink("nowhere", "old.json"), 0);
        } else
            assert_int_equal(rename("other.json", "old.json"), 0);
        assert_int_equal(xb_output_commit(&output, &error), XB_ERR_SYSTEM);
        assert_kept(&error, "new");
        assert_content(is_link ? "other.json" : "old.json", "other");
        assert_int_equal(entries_in("."), is_link ? 2 : 1);
        assert_int_equal(unlink("old.json"), 0);
        (void)unlink("other.json");
    }
}

RUN_TEST(a_directory_takes_its_file_along)
{
    for (int i = 0; i < 2; i++) {
        struct xb_output output;
        begin_lack((size_t)i);
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
        assert_int_equal(entries_in("."), i == 0 ? 1 : 0);
        assert_kept(&error, "new");
    }
    if (kept != NULL)
        setenv("TMPDIR", kept, 1);
    free(kept);
}

/* ---- names ---- */

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
    assert_int_equal(entries_in("."), 1);
}

/* Nor where the system does without: it goes with what was discarded. */
RUN_TEST(a_file_has_no_name_before_it_is_complete)
{
    struct xb_output output;
    if (!has_unnamed_files())
        skip();
    for (int named = 0; named < 2; named++) {
        begin_lack((size_t)named);
        open_output(&output, "new.json");
        fputs("new", output.stream);
        assert_int_equal(fflush(output.stream), 0);
        assert_int_equal(entries_in("."), named);
        xb_output_discard(&output);
        assert_int_equal(entries_in("."), 0);
    }
}

/* ---- an end without cleaning up ---- */

/* A forked process ends so too, and the files are its parent's. */
RUN_TEST(an_end_without_cleaning_up_leaves_no_temporary_file)
{
    struct xb_output outputs[3];
    lack_unnamed_files();
    for (int i = 0; i < 3; i++)
        open_output(&outputs[i], (const char *[]){"a.json", "b.json", "c.json"}[i]);
    xb_output_discard(&outputs[1]);
    pid_t child = fork();
    if (child == 0) {
        xb_outputs_abandon();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(entries_in("."), 2);
    xb_outputs_abandon();
    assert_int_equal(entries_in("."), 0);
    xb_output_discard(&outputs[0]);
    xb_output_discard(&outputs[2]);
}

/* Where memory is lacking, the program removes its own and leaves those of its parent. */
RUN_TEST(a_program_without_memory_leaves_no_temporary_file)
{
    struct xb_output parents, own;
    lack_unnamed_files();
    open_output(&parents, "a.json");
    for (size_t opens = 0; opens < 2; opens++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            if (opens > 0)
                open_output(&own, "b.json");
            if (entries_in(".") == 1 + opens)
                xb_memory_end(1);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
        assert_int_equal(entries_in("."), 1);
    }
    commit(&parents);
    assert_int_equal(entries_in("."), 1);
    assert_content("a.json", "");
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

/* What places of every kind there are. */
static void make_places(void)
{
    write_file(".", "old.json", "old");
    write_file(".", "sub/file.json", "old");
    assert_int_equal(link("old.json", "hard.json"), 0);
    assert_int_equal(symlink("old.json", "soft.json"), 0);
    assert_int_equal(symlink(".", "here"), 0);
    assert_int_equal(symlink("nowhere.json", "lost.json"), 0);
    assert_int_equal(symlink("loop.json", "loop.json"), 0);
}

RUN_TEST(one_file_by_two_names_is_seen)
{
    static const struct {
        const char *one, *other;
        bool same;
    } rows[] = {{"old.json", "old.json", true},      {"old.json", "hard.json", true},
                {"old.json", "soft.json", true},     {"new.json", "sub/../new.json", true},
                {"new.json", "here/new.json", true}, {"new.json", "sub/new.json", false},
                {"old.json", "new.json", false},     {"/dev/null", "/dev/null", false}};
    make_places();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(is_same(rows[i].one, rows[i].other), rows[i].same);
}

RUN_TEST(an_output_over_another_file_is_seen)
{
    struct xb_output output;
    write_file(".", "old.json", "old");
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

/* ---- links, and what cannot be written ---- */

RUN_TEST(a_link_stays_and_its_file_is_replaced)
{
    struct stat link;
    make_places();
    replace("soft.json", "new");
    assert_int_equal(lstat("soft.json", &link), 0);
    assert_true(S_ISLNK(link.st_mode));
    assert_content("old.json", "new");
    replace("here/new.json", "new");
    assert_content("new.json", "new");
}

RUN_TEST(a_path_that_cannot_be_is_refused)
{
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct {
        const char *path;
        int code;
        const char *name;
    } rows[] = {{"lost.json", ENOENT, "ENOENT"},
                {"loop.json", ELOOP, "ELOOP"},
                {"sub", EISDIR, "EISDIR"},
                {"sub/", EISDIR, "EISDIR"},
                {"missing/", ENOENT, "ENOENT"},
                {"", ENOENT, "ENOENT"},
                {"missing/new.json", ENOENT, "ENOENT"},
                {"old.json/new.json", ENOTDIR, "ENOTDIR"},
                {name, ENAMETOOLONG, "ENAMETOOLONG"},
                {"/proc/new.json", ENOENT, "ENOENT"},
                {"/dev/fd/987", EBADF, "EBADF"}};
    make_places();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_refused(rows[i].path, rows[i].code, rows[i].name);
}

RUN_TEST(what_may_not_be_written_is_refused)
{
    if (geteuid() == 0)
        skip(); /* root may write everything */
    write_file(".", "protected.json", "old");
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
    assert_int_equal(entries_in("."), 1);
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
    pid_t child = fork();
    if (child == 0) {
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
    assert_int_equal(waitpid(child, &code, 0), child);
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
    write_file(".", "log", "first ");
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
    assert_int_equal(entries_in("."), 3);
}

RUN_TEST(a_descriptor_that_cannot_be_written_is_refused)
{
    char path[64];
    write_file(".", "input", "text");
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
    assert_int_equal(entries_in("."), 1);
}

RUN_TEST(the_file_of_a_standard_stream_is_not_renamed_over)
{
    replace_with_stream_at(stdout, "out", "/dev/stdout");
    assert_content("out", "before text after");
    replace_with_stream_at(stdout, "out", "out");
    assert_content("out", "before text after");
    replace_with_stream_at(stderr, "err", "/dev/stderr");
    assert_content("err", "before text after");
    assert_int_equal(entries_in("."), 2);
}
