/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, mkfifo */
#include "base/file_text.h"
#include "checks.h"
#include "faults.h"
#include "fixture_tree.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

static int begin(void **state);

#define WITH_TREE(test) TEST_WITH(test, begin, remove_tree)

/* Something happens to a file between two calls, at the same place every time. */
static struct {
    size_t at;                        /* before which read */
    void (*happen)(const char *root); /* what it is */
    const char *root;
    void (*edit)(struct stat *file); /* what the second fstat shows otherwise */
} steer;

static void before_read(unsigned call)
{
    if (call == steer.at)
        steer.happen(steer.root);
}

static void edit_second(void *file, unsigned call)
{
    if (call == 2)
        steer.edit(file);
}

#define LARGEST ((size_t)1 << 20)
#define CONTENT "0123456789abcdef0123456789ABCDEF"

static const char *path_of(const char *root, const char *name)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

/* The lowest number that is free. */
static int next_descriptor(void)
{
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    return next;
}

static void assert_read(const char *path, size_t largest, bool pipes, const char *content,
                        size_t size)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_error error;
    int next = next_descriptor();
    if (xb_file_text_read(path, largest, pipes, &text, &length, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(next_descriptor(), next);
    assert_int_equal(length, size);
    assert_memory_equal(text, content, size);
    assert_int_equal(text[size], '\0');
    free(text);
}

static void assert_refused(const char *path, size_t largest, bool pipes, enum xb_status status,
                           const char *piece)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_error error = {.status = XB_OK};
    int next = next_descriptor();
    assert_int_equal(xb_file_text_read(path, largest, pipes, &text, &length, &error), status);
    assert_int_equal(next_descriptor(), next);
    assert_int_equal(error.status, status);
    assert_names(&error, path);
    if (strstr(error.message, piece) == NULL)
        fail_msg("expected \"%s\" in: %s", piece, error.message);
    assert_null(text);
}

/* ---- files that stay as they are ---- */

WITH_TREE(reads_whole_files)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", path_of(*state, "file"));
    static char large[(1 << 20) + 2];
    write_file(*state, "file", "");
    assert_read(path, LARGEST, false, "", 0);
    assert_read(path, 0, false, "", 0);
    write_file(*state, "file", "x");
    assert_read(path, LARGEST, false, "x", 1);
    assert_read(path, 1, true, "x", 1);
    int descriptor = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(descriptor, "a\0b\0", 4), 4);
    close(descriptor);
    assert_read(path, 4, false, "a\0b\0", 4);
    memset(large, 'y', LARGEST);
    write_file(*state, "file", large);
    assert_read(path, LARGEST, false, large, LARGEST);
    faults[FAULT_READ].most = faults[FAULT_PREAD].most = 1000; /* less than was asked for */
    assert_read(path, LARGEST, false, large, LARGEST);
    assert_int_equal(symlink(path, path_of(*state, "link")), 0);
    assert_read(path_of(*state, "link"), LARGEST, false, large, LARGEST);
}

WITH_TREE(refuses_what_is_larger)
{
    const char *path = path_of(*state, "file");
    static char large[(1 << 20) + 2];
    memset(large, 'y', LARGEST + 1);
    write_file(*state, "file", large);
    assert_refused(path, LARGEST, false, XB_ERR_USAGE, ": larger than 1 MiB");
    assert_refused(path, LARGEST, true, XB_ERR_USAGE, ": larger than 1 MiB");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* a hole */
    faults[FAULT_READ].counts = true;
    assert_refused(path, LARGEST, false, XB_ERR_USAGE, ": larger than 1 MiB");
    assert_int_equal(faults[FAULT_READ].calls, 0); /* its size alone tells */
}

WITH_TREE(refuses_what_is_no_file)
{
    const char *root = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    faults[FAULT_READ].counts = true;
    const struct {
        const char *path;
        enum xb_status status;
        const char *piece;
    } rows[] = {{root, XB_ERR_USAGE, ": is a directory; name a file in it"},
                {"/dev/zero", XB_ERR_USAGE, ": is a character device; name a regular file"},
                {"/dev/null", XB_ERR_USAGE, ": is a character device; name a regular file"},
                {"none/none", XB_ERR_SYSTEM, ": cannot be read"},
                {"", XB_ERR_SYSTEM, ": cannot be read"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_refused(rows[i].path, LARGEST, false, rows[i].status, rows[i].piece);
    assert_refused("/dev/zero", LARGEST, true, XB_ERR_USAGE, ", neither a regular file nor a pipe");
    /* A socket's address holds no long path. */
    int folder = open(root, O_RDONLY | O_DIRECTORY);
    assert_true(folder >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", folder);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    close(folder);
    assert_refused(path_of(root, "socket"), LARGEST, false, XB_ERR_USAGE, ": is a socket");
    assert_refused(path_of(root, "socket"), LARGEST, true, XB_ERR_USAGE, ": is a socket");
    close(descriptor);
    assert_int_equal(faults[FAULT_READ].calls, 0);
}

WITH_TREE(refuses_what_may_not_be_read)
{
    const char *path = path_of(*state, "file");
    if (geteuid() == 0)
        skip();
    write_file(*state, "file", "x");
    assert_int_equal(chmod(path, 0), 0);
    assert_refused(path, LARGEST, false, XB_ERR_SYSTEM, ": cannot be opened");
}

/* Nobody writes to it: whoever opened it to read would wait. */
WITH_TREE(does_not_wait_for_a_writer)
{
    const char *path = path_of(*state, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, LARGEST, false, XB_ERR_USAGE, ": is a pipe; name a regular file");
}

WITH_TREE(reads_pipes_where_allowed)
{
    static char large[65536];
    int ends[2];
    char path[64];
    for (int many = 0; many < 2; many++) {
        assert_int_equal(pipe(ends), 0);
        memset(large, 'z', sizeof large);
        size_t size = many ? 4097 : 4096;
        assert_int_equal(write(ends[1], large, size), size);
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_refused(path, 4096, false, XB_ERR_USAGE, ": is a pipe");
        if (many)
            assert_refused(path, 4096, true, XB_ERR_USAGE, ": larger than");
        else
            assert_read(path, 4096, true, large, 4096);
        close(ends[0]);
    }
}

/* ---- files that do not ---- */

static void write_to(const char *root, int flags, const char *text)
{
    int descriptor = open(path_of(root, "file"), O_WRONLY | flags);
    assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
}

static void append_one(const char *root)
{
    write_to(root, O_APPEND, "x");
}

static void append_much(const char *root)
{
    write_to(root, O_APPEND, CONTENT CONTENT CONTENT);
}

/* In place, as large as before. */
static void rewrite(const char *root)
{
    write_to(root, 0, "################################");
}

static void cut_to_half(const char *root)
{
    assert_int_equal(truncate(path_of(root, "file"), (off_t)strlen(CONTENT) / 2), 0);
}

static void empty(const char *root)
{
    assert_int_equal(truncate(path_of(root, "file"), 0), 0);
}

static void replace(const char *root)
{
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s", path_of(root, "other"));
    write_file(root, "other", "another content, longer than the one that was there");
    assert_int_equal(rename(other, path_of(root, "file")), 0);
}

static void begin_change(const char *root, void (*happen)(const char *), size_t at)
{
    steer.root = root;
    steer.happen = happen;
    steer.at = at;
    clear_faults();
    /* Five reads: four with something, one without. */
    faults[FAULT_READ] = (struct fault){.most = 8, .before = before_read};
    faults[FAULT_PREAD] = (struct fault){.most = 8, .counts = true};
    write_file(root, "file", CONTENT);
}

WITH_TREE(notices_changes)
{
    static void (*const changes[])(const char *) = {append_one, append_much, cut_to_half, empty,
                                                    rewrite};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        for (size_t at = 2; at <= 5; at++) {
            print_message("change %zu before read %zu\n", i, at);
            begin_change(*state, changes[i], at);
            assert_refused(path_of(*state, "file"), LARGEST, false, XB_ERR_USAGE,
                           ": changed while it was read; try again when its writer is done");
        }
}

/* At its limit a file that grows is one that changes, or too large: refused either way. */
WITH_TREE(notices_growth_at_the_limit)
{
    begin_change(*state, append_one, 2);
    assert_refused(path_of(*state, "file"), strlen(CONTENT), false, XB_ERR_USAGE, ": larger than");
}

static struct stat first;

static void as_before(struct stat *file)
{
    file->st_size = first.st_size;
    file->st_mtim = first.st_mtim;
}

/* Within one tick of the clock that files' times go by. */
WITH_TREE(notices_changes_that_no_time_tells)
{
    for (size_t at = 2; at <= 5; at++) {
        begin_change(*state, rewrite, at);
        assert_int_equal(stat(path_of(*state, "file"), &first), 0);
        steer.edit = as_before;
        faults[FAULT_FSTAT].edit = edit_second;
        assert_refused(path_of(*state, "file"), LARGEST, false, XB_ERR_USAGE, ": changed while");
        assert_int_equal(faults[FAULT_FSTAT].calls, 2);
    }
}

static unsigned other; /* what the second look shows otherwise */

static void show_other(struct stat *file)
{
    file->st_size += other == 0;
    file->st_mtim.tv_sec += other == 1;
    file->st_mtim.tv_nsec ^= other == 2;
}

/* Changed and changed back: what was read in between may be anything. */
WITH_TREE(notices_changes_that_only_times_tell)
{
    for (other = 0; other < 3; other++) {
        begin_change(*state, NULL, 0);
        steer.edit = show_other;
        faults[FAULT_FSTAT].edit = edit_second;
        assert_refused(path_of(*state, "file"), LARGEST, false, XB_ERR_USAGE, ": changed while");
    }
}

/* Who replaces a file by a whole other one disturbs nobody who reads it. */
WITH_TREE(reads_on_where_it_is_replaced)
{
    for (size_t at = 1; at <= 5; at++) {
        begin_change(*state, replace, at);
        assert_read(path_of(*state, "file"), LARGEST, false, CONTENT, strlen(CONTENT));
    }
}

/* ---- calls that fail ---- */

/* Whichever of them fails, the first, the second, ... */
WITH_TREE(says_which_call_fails_and_goes_on_after_a_signal)
{
    static const struct {
        enum fault_kind kind;
        int code;
        enum xb_status status;
        const char *piece;
        unsigned calls; /* without a fault */
    } rows[] = {
        {FAULT_READ, EIO, XB_ERR_SYSTEM, ": cannot be read", 5},
        {FAULT_READ, EINTR, XB_OK, NULL, 5},
        {FAULT_FSTAT, EIO, XB_ERR_SYSTEM, ": cannot be read", 2},
        {FAULT_PREAD, EIO, XB_ERR_USAGE, ": changed while", 4},
        {FAULT_PREAD, EINTR, XB_OK, NULL, 4},
        {FAULT_MEMORY, ENOMEM, XB_ERR_MEMORY, "no memory to read ", 1},
    };
    begin_change(*state, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = path_of(*state, "file");
        for (unsigned n = 1, met = 1; met; n++) {
            clear_faults();
            arm_fault(rows[i].kind, rows[i].code, n);
            faults[FAULT_READ].most = faults[FAULT_PREAD].most = 8;
            if (rows[i].status == XB_OK || n > rows[i].calls)
                assert_read(path, LARGEST, false, CONTENT, strlen(CONTENT));
            else
                assert_refused(path, LARGEST, false, rows[i].status, rows[i].piece);
            met = disarm_fault(rows[i].kind);
            assert_int_equal(met, n <= rows[i].calls);
        }
    }
}

static int begin(void **state)
{
    clear_faults();
    memset(&steer, 0, sizeof steer);
    return make_tree(state);
}
