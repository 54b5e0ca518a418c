/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw, pipe */
/* How a file is read whole, or why it is not: file_text.txt. Calls fail, and files change. */
#include "base/file_text.h"
#include "cases.h"
#include "faults.h"
#include "fixture_tree.h"

#include <sys/socket.h>
#include <sys/un.h>

static const char *edited;  /* what the second look at the file shows otherwise, or NULL */
static const char *command; /* what the shell does before the read of that number */
static unsigned happens_at;

static void begin(void)
{
    clear_faults();
    edited = command = NULL;
    begin_in_tree();
}

/* ---- what there is ---- */

static void run_socket(UNTOLD, char **words)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", words[1]);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address, sizeof address), 0);
    close(descriptor);
}

/* pipe BYTES: number 99, and nobody writes any more. */
static void run_pipe(UNTOLD, char **words)
{
    static char text[65536];
    size_t size = (size_t)number_of(words[1]);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    memset(text, 'z', sizeof text);
    assert_int_equal(write(ends[1], text, size), size);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], 99), 99);
    close(ends[0]);
}

/* short BYTES: so many at most come of a read. */
static void run_short(UNTOLD, char **words)
{
    faults[FAULT_READ].most = faults[FAULT_PREAD].most = (size_t)number_of(words[1]);
}

/* ---- reading ---- */

/* The lowest number that is free. */
static int next_descriptor(void)
{
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    return next;
}

static void tell_text(FILE *told, const char *text, size_t length)
{
    size_t equal = 0;
    while (equal < length && text[equal] == text[0])
        equal++;
    if (equal > 40)
        fprintf(told, "%zu times %c", equal, text[0]);
    for (size_t i = equal > 40 ? equal : 0; i < length; i++)
        fputs(text[i] != '\0' ? (const char[]){text[i], '\0'} : "\\0", told);
    fputs(length > 0 ? "\n" : "nothing\n", told);
}

/* read PATH [most=BYTES] [pipes=1] */
static void tell_read(FILE *told, char **words)
{
    char *text = NULL;
    size_t length = 0, most = (size_t)number_or(words, "most", 1 << 20);
    struct xb_error error = {.status = XB_OK};
    int next = next_descriptor();
    faults[FAULT_FSTAT].calls = 0;
    enum xb_status status =
        xb_file_text_read(words[1], most, value_of(words, "pipes") != NULL, &text, &length, &error);
    assert_int_equal(next_descriptor(), next);
    assert_int_equal(error.status, status);
    if (edited != NULL)
        fprintf(told, "%u looks: ", faults[FAULT_FSTAT].calls);
    if (status == XB_OK) {
        assert_int_equal(text[length], '\0');
        tell_text(told, text, length);
    } else {
        assert_null(text);
        fprintf(told, "%s: %s\n",
                status == XB_ERR_USAGE    ? "refused"
                : status == XB_ERR_MEMORY ? "no memory"
                                          : "failed",
                error.message);
    }
    free(text);
}

/* The same, and nothing is read of it. */
static void tell_unread(FILE *told, char **words)
{
    faults[FAULT_READ] = (struct fault){.counts = true};
    tell_read(told, words);
    assert_int_equal(faults[FAULT_READ].calls, 0);
}

/* ---- what happens meanwhile ---- */

static char *own_file[4] = {"read", "file"};
#define CONTENT "0123456789abcdef0123456789ABCDEF"

static void before_read(unsigned call)
{
    if (call == happens_at)
        assert_int_equal(system(command), 0);
}

/* change FIRST COMMAND [most=BYTES]: before that read and each of those behind it; there are five,
 * one of nothing. */
static void tell_change(FILE *told, char **words)
{
    command = words[2];
    own_file[2] = words[3];
    for (happens_at = (unsigned)number_of(words[1]); happens_at <= 5; happens_at++) {
        write_file(".", "file", CONTENT);
        faults[FAULT_READ] = (struct fault){.most = 8, .before = before_read};
        faults[FAULT_PREAD] = (struct fault){.most = 8, .counts = true};
        tell_read(told, own_file);
    }
    own_file[2] = NULL;
}

static void edit_look(void *found, unsigned call)
{
    static struct stat first;
    struct stat *file = found;
    if (call == 1)
        first = *file;
    else if (strcmp(edited, "as the first") == 0) {
        file->st_size = first.st_size;
        file->st_mtim = first.st_mtim;
    } else {
        file->st_size += strcmp(edited, "longer") == 0;
        file->st_mtim.tv_sec += strcmp(edited, "later") == 0;
        file->st_mtim.tv_nsec ^= strcmp(edited, "a bit later") == 0;
    }
}

/* look WHAT: what the second one at the file shows. */
static void run_look(UNTOLD, char **words)
{
    edited = words[1];
    faults[FAULT_FSTAT].edit = edit_look;
}

/* fail CALL ERRNO: the first such call, the second, ..., and the one that is not there. */
static void tell_failures(FILE *told, char **words)
{
    static const char *const names[FAULT_KINDS] = {[FAULT_READ] = "read",
                                                   [FAULT_FSTAT] = "fstat",
                                                   [FAULT_PREAD] = "pread",
                                                   [FAULT_MEMORY] = "malloc"};
    enum fault_kind kind = 0;
    int code = 1;
    while (names[kind] == NULL || strcmp(names[kind], words[1]) != 0)
        kind++;
    while (strcmp(xb_errno_name(code), words[2]) != 0)
        code++;
    write_file(".", "file", CONTENT);
    for (unsigned n = 1, met = 1; met; n++) {
        clear_faults();
        arm_fault(kind, code, n);
        faults[FAULT_READ].most = faults[FAULT_PREAD].most = 8;
        tell_read(told, own_file);
        met = disarm_fault(kind);
    }
}

static const struct verb verbs[] = {
    {"$", tell_shell},       {"socket", run_socket},
    {"pipe", run_pipe},      {"short", run_short},
    {"read", tell_read},     {"unread", tell_unread},
    {"change", tell_change}, {"look", run_look},
    {"fail", tell_failures}, {NULL, NULL},
};

TEST(files_are_read_whole_or_not_at_all)
{
    run_cases("base/file_text", verbs, begin);
    end_in_tree();
}

TEST(what_may_not_be_read_is_told)
{
    if (geteuid() == 0)
        skip();
    run_cases("base/file_text_protected", verbs, begin);
    end_in_tree();
}
