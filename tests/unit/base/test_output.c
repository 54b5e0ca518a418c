/* SPDX-License-Identifier: Apache-2.0 */
/* How a new file comes to its place, whose it is then, and what becomes of the old one: on systems
 * that lack something, and where calls fail. Texts beside this file tell most of it. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/memory.h"
#include "base/output.h"
#include "cases.h"
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

/* Each test and each case of a text has an empty directory of its own. */
static char directory[PATH_MAX];

static int setup(void **state)
{
    clear_faults();
    umask(022);
    (void)signal(SIGXFSZ, SIG_IGN); /* of a limit on the size of files */
    return enter_tree(state) != 0 || getcwd(directory, sizeof directory) == NULL;
}

static int teardown(void **state)
{
    clear_faults();
    return leave_tree(state);
}

#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

static const char *content_of(const char *path)
{
    static char text[256];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("no %s", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void assert_content(const char *path, const char *expected)
{
    assert_string_equal(content_of(path), expected);
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

/* ---- what a system may lack ---- */

/* Any of these words; "" for none. */
static void lack(const char *what)
{
    print_message("lacking: %s\n", what);
    clear_faults();
    if (strstr(what, "unnamed") != NULL) /* files, that is O_TMPFILE */
        faults[FAULT_OPENAT] = (struct fault){.code = EOPNOTSUPP, .flags = O_TMPFILE};
    if (strstr(what, "links") != NULL)
        faults[FAULT_LINKAT].code = EPERM;
    if (strstr(what, "exclusive") != NULL) /* renaming; as NFS, which can link */
        faults[FAULT_RENAMEAT2] = (struct fault){.code = EINVAL, .flags = RENAME_NOREPLACE};
    if (strstr(what, "chown") != NULL)
        faults[FAULT_FCHOWN].code = EPERM;
    if (strstr(what, "reserving") != NULL) /* space, which not every file system can */
        faults[FAULT_FALLOCATE].code = EOPNOTSUPP;
    if (strstr(what, "room") != NULL) /* which is told as late as can be, as by NFS */
        faults[FAULT_FSYNC].code = ENOSPC;
}

static const char *const lacks[] = {
    "",      "unnamed",       "links",          "exclusive", "links exclusive",
    "chown", "chown unnamed", "chown reserving"};
static size_t lacking;
#define EACH_LACK for (lacking = 0; lacking < COUNT_OF(lacks); lacking++)

/* ---- what fails ---- */

/* Where the error says that the results are, or NULL. */
static const char *kept_at(const struct xb_error *error)
{
    static const char before[] = "what was to be written is in '";
    static char path[PATH_MAX];
    const char *kept = strstr(error->message, before);
    if (kept == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s", kept + strlen(before));
    char *end = strstr(path, "': cannot put '");
    assert_non_null(end);
    *end = '\0';
    return path;
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

#define SOMEBODY 12345
#define SOME_GROUP 23456

static void put_of_somebody(const char *path)
{
    write_file(".", path, "old and longer");
    assert_int_equal(chown(path, SOMEBODY, SOME_GROUP), 0);
    assert_int_equal(chmod(path, 0640), 0);
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

static void assert_kept(const struct xb_error *error)
{
    const char *path = kept_at(error);
    assert_non_null(path);
    assert_content(path, "new");
    assert_int_equal(unlink(path), 0);
}

/* The n-th call of that kind fails. Returns whether it was met. */
static bool fail_once(size_t failure, unsigned n, bool keeps_others, bool *failed)
{
    enum fault_kind kind = failures[failure].kind;
    struct xb_error error = {.status = XB_OK, .message = ""};
    write_file(".", "old.json", "old and longer");
    if (geteuid() == 0)
        put_of_somebody("old.json");
    lack(lacks[lacking]);
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
        assert_kept(&error);
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
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        bool failed = false;
        EACH_LACK
        for (int keeps = 0; keeps < 2; keeps++)
            for (unsigned n = 1; fail_once(i, n, keeps != 0, &failed); n++)
                assert_true(n < 20);
        if (geteuid() == 0)
            assert_int_equal(failed, failures[i].fails);
    }
}

/* ---- whose it is ---- */

/* Where a file cannot be given away it is written over. */
RUN_TEST(an_old_file_keeps_its_owner)
{
    if (geteuid() != 0)
        skip(); /* others cannot give a file away */
    EACH_LACK
    {
        struct stat before, now;
        lack(lacks[lacking]);
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

/* ---- texts ---- */

static struct xb_output opened;
static void *tree;
static char usual_tmpdir[PATH_MAX]; /* "": none */

/* tmpdir [FOLDER] */
static void set_tmpdir(const char *folder)
{
    if (folder == NULL || folder[0] == '\0')
        unsetenv("TMPDIR");
    else
        setenv("TMPDIR", folder, 1);
}

static int remember_tmpdir(NO_STATE)
{
    const char *usual = getenv("TMPDIR");
    snprintf(usual_tmpdir, sizeof usual_tmpdir, "%s", usual != NULL ? usual : "");
    return 0;
}
GROUP(remember_tmpdir, NULL)

static void leave_case(void)
{
    xb_output_discard(&opened);
    set_tmpdir(usual_tmpdir);
    if (tree != NULL)
        assert_int_equal(teardown(&tree), 0);
    tree = NULL;
}

static void begin_case(void)
{
    leave_case();
    assert_int_equal(setup(&tree), 0);
    lack(lacks[lacking]);
}

static void be_first(unsigned call)
{
    if (call == 1)
        write_file(".", "new.json", "another's");
}

/* lack WHAT; umask MODE; tmpdir [FOLDER]; be-first: somebody else is, when the new file is to get
 * its name; limit BYTES|none: of a file. */
static void run_world(UNTOLD, char **words)
{
    struct rlimit limit;
    const char *word = words[1];
    if (strcmp(words[0], "lack") == 0)
        lack(word);
    else if (strcmp(words[0], "umask") == 0)
        umask((mode_t)strtoul(word, NULL, 8));
    else if (strcmp(words[0], "be-first") == 0)
        faults[FAULT_RENAMEAT2].before = be_first;
    else if (strcmp(words[0], "limit") == 0) {
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = strcmp(word, "none") == 0 ? limit.rlim_max : (rlim_t)number_of(word);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    } else
        set_tmpdir(word);
}

/* descriptor r|a PATH: number 99; hear: what comes of it */
static void run_descriptor(UNTOLD, char **words)
{
    int fd = open(words[2], words[1][0] == 'a' ? O_WRONLY | O_APPEND : O_RDONLY | O_NONBLOCK);
    assert_int_equal(dup2(fd, 99), 99);
    close(fd);
}

static void tell_heard(FILE *told, NO_WORDS)
{
    char text[100] = "";
    assert_true(read(99, text, sizeof text - 1) >= 0);
    fprintf(told, "%s\n", text);
}

/* LONG is a name as long as can be, LONGER is longer. */
static const char *path_of(const char *word)
{
    static char name[NAME_MAX + 2];
    memset(name, 'n', NAME_MAX + 1);
    name[NAME_MAX + (strcmp(word, "LONGER") == 0)] = '\0';
    return strncmp(word, "LONG", 4) == 0 ? name : word;
}

/* Why it failed, and what is kept where, but for its random name. */
static void tell_status(FILE *told, enum xb_status status, const struct xb_error *error)
{
    static const char *const kinds[XB_ERR_INTERNAL] = {
        [XB_ERR_USAGE] = "refused", [XB_ERR_SYSTEM] = "failed", [XB_ERR_STOPPED] = "stopped"};
    if (status == XB_OK)
        return;
    assert_int_equal(error->status, status);
    assert_true(opened.path == NULL && opened.stream == NULL);
    fprintf(told, "%s%s%s: %s\n", kinds[status], error->call[0] != '\0' ? " " : "", error->call,
            strstr(error->message, "cannot "));
    const char *kept = kept_at(error);
    if (kept != NULL) {
        bool is_here = strncmp(kept, directory, strlen(directory)) == 0;
        int folder = (int)(strrchr(kept, '/') - kept);
        fprintf(told, "in %.*s: %s\n", is_here ? 1 : folder, is_here ? "." : kept,
                content_of(kept));
        assert_int_equal(unlink(kept), 0);
    }
}

/* open PATH [now|keeps-others]: now, or never, somebody reads it. */
static void tell_open(FILE *told, char **words)
{
    struct xb_error error = {0};
    const char *how = words[2] != NULL ? words[2] : "";
    double deadline = strcmp(how, "now") == 0 ? xb_clock_now() : 0;
    size_t before = entries_in(".");
    enum xb_status status = open_at(&opened, path_of(words[1]), deadline, &error);
    tell_status(told, status, &error);
    assert_true(status == XB_OK || entries_in(".") == before);
    opened.keeps_others = strcmp(how, "keeps-others") == 0;
}

/* print TEXT; flush TEXT */
static void run_print(UNTOLD, char **words)
{
    fputs(words[1], opened.stream);
    if (words[0][0] == 'f')
        fflush(opened.stream);
}

static void tell_commit(FILE *told, NO_WORDS)
{
    struct xb_error error = {0};
    tell_status(told, xb_output_commit(&opened, &error), &error);
    assert_true(opened.path == NULL && opened.stream == NULL);
}

static void run_discard(UNTOLD, NO_WORDS)
{
    xb_output_discard(&opened);
    xb_output_discard(&opened);
}

/* put PATH TEXT [stdout|stderr FILE]: while that goes to a file in which "before" stands. */
static void run_put(UNTOLD, char **words)
{
    if (words[3] == NULL) {
        replace(path_of(words[1]), words[2]);
        return;
    }
    FILE *stream = strcmp(words[3], "stdout") == 0 ? stdout : stderr;
    fflush(stream);
    int kept = dup(fileno(stream));
    int redirected = open(words[4], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(redirected, fileno(stream));
    close(redirected);
    fputs("before ", stream);
    replace(words[1], words[2]);
    fputs(" after", stream);
    fflush(stream);
    dup2(kept, fileno(stream));
    close(kept);
}

/* same ONE OTHER: whether both are one output */
static void tell_same(FILE *told, char **words)
{
    struct xb_output other;
    open_output(&opened, words[1]);
    open_output(&other, words[2]);
    bool same = xb_output_is_same(&opened, &other);
    assert_true(xb_output_is_same(&other, &opened) == same);
    fputs(same ? "yes\n" : "no\n", told);
    xb_output_discard(&other);
    xb_output_discard(&opened);
}

/* over PATH: whether what is open would replace that */
static void tell_over(FILE *told, char **words)
{
    fputs(xb_output_is_over(&opened, words[1]) ? "yes\n" : "no\n", told);
}

static const struct verb verbs[] = {
    {"$", tell_shell},
    {"lack", run_world},
    {"umask", run_world},
    {"tmpdir", run_world},
    {"be-first", run_world},
    {"limit", run_world},
    {"descriptor", run_descriptor},
    {"hear", tell_heard},
    {"open", tell_open},
    {"print", run_print},
    {"flush", run_print},
    {"commit", tell_commit},
    {"discard", run_discard},
    {"put", run_put},
    {"same", tell_same},
    {"over", tell_over},
    {NULL, NULL},
};

static void run_text(const char *name)
{
    run_cases(name, verbs, begin_case);
    leave_case();
}

TEST(a_file_is_new_when_it_is_complete_on_every_system)
{
    EACH_LACK
    run_text("base/output_everywhere");
}

TEST(what_a_path_stands_for_is_written)
{
    lacking = 0;
    run_text("base/output");
}

/* Where the system knows no files without a name, a directory is not empty. */
TEST(what_has_no_name_leaves_nothing)
{
    int fd = open(usual_tmpdir[0] != '\0' ? usual_tmpdir : "/tmp", O_RDWR | O_TMPFILE, 0600);
    if (fd < 0 || close(fd) != 0)
        skip();
    lacking = 0;
    run_text("base/output_unnamed");
}

TEST(of_somebody_else_nothing_is_written_over)
{
    lacking = 0;
    if (geteuid() != 0)
        skip(); /* others cannot give a file away */
    run_text("base/output_of_others");
}

TEST(what_may_not_be_written_is_refused)
{
    lacking = 0;
    if (geteuid() == 0)
        skip(); /* root may write everything */
    run_text("base/output_protected");
}

/* ---- an end without cleaning up ---- */

/* A forked process ends so too, and the files are its parent's. */
RUN_TEST(an_end_without_cleaning_up_leaves_no_temporary_file)
{
    struct xb_output outputs[3];
    lack("unnamed");
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
    lack("unnamed");
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

/* ---- pipes ---- */

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
