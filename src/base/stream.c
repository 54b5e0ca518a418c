/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fopencookie, F_GETPIPE_SZ */
#include "stream.h"

#include "clock.h"
#include "interrupt.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

const char *xb_output_advice(int code)
{
    static const struct {
        int code;
        const char *text;
    } advice[] = {
        {EEXIST, "somebody else wrote it meanwhile: give each process a file of its own, as with "
                 "%h and %r in its name"},
        {ENOENT, "create its directory first (or, if it is a link, the file that it names)"},
        {ENOTDIR, "what stands before the last '/' is no directory"},
        {EISDIR, "name a file in it"},
        {ENAMETOOLONG, "take a shorter name"},
        {ELOOP, "this link leads back to itself: name the file"},
        {ENXIO, "this socket or device cannot be opened: name a file or a pipe"},
        {EBADF, "that descriptor is not open for writing: the shell's '9>file' opens number 9"},
        {EROFS, "this file system is read-only: write to another place"},
        {ENOSPC, "free some space, or write to another place"},
        {EDQUOT, "free some space, or write to another place"},
        {EFBIG, "free some space, or write to another place"},
        {EMFILE, "too many files are open: raise the limit (ulimit -n)"},
        {ENFILE, "too many files are open: raise the limit (ulimit -n)"},
        {EPIPE, "its reader has gone"},
        {EINTR, "a signal came while its reader took nothing"},
        {ETIMEDOUT, "its reader took nothing, and the deadline is over"}};
    for (size_t i = 0; i < sizeof advice / sizeof advice[0]; i++)
        if (advice[i].code == code)
            return advice[i].text;
    return "write to a place where you may create files";
}

enum xb_status xb_stream_fail(const char *what, int code, struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, "write", code, "cannot write %s: %s (%s): %s", what, strerror(code),
                         xb_errno_name(code), xb_output_advice(code));
}

enum xb_status xb_stream_finish(FILE *stream, const char *what, struct xb_error *error)
{
    bool written = !ferror(stream);
    return fflush(stream) == 0 && written ? XB_OK : xb_stream_fail(what, errno, error);
}

/* The write function for fopencookie(). */
static ssize_t append(void *cookie, const char *piece, size_t size)
{
    struct xb_memory_text *text = cookie;
    if (text->room - text->length <= size) {
        text->room = 2 * (text->length + size + 1);
        text->text = xb_resize(text->text, text->room);
    }
    memcpy(text->text + text->length, piece, size);
    text->length += size;
    text->text[text->length] = '\0';
    return (ssize_t)size;
}

/* For ftell(): nobody moves in such a text. */
static int tell(void *cookie, off64_t *offset, int whence)
{
    (void)whence;
    *offset = (off64_t)((const struct xb_memory_text *)cookie)->length;
    return 0;
}

FILE *xb_memory_text_begin(struct xb_memory_text *text)
{
    (void)append(text, "", 0); /* so that a text of nothing is one too */
    text->stream = fopencookie(text, "w", (cookie_io_functions_t){.write = append, .seek = tell});
    if (text->stream == NULL)
        xb_memory_end(sizeof *text);
    return text->stream;
}

void xb_memory_text_end(struct xb_memory_text *text)
{
    (void)fclose(text->stream); /* nothing that it writes can fail */
    text->stream = NULL;
}

const char *xb_memory_text_keep(struct xb_memory_text *text, struct xb_arena **arena)
{
    xb_memory_text_end(text);
    const char *kept = xb_arena_copy(arena, text->text);
    free(text->text);
    return kept;
}

/* While waiting, look for a signal and at the clock this often. */
#define POLL_MS 50
/* After the deadline, a reader has this long to read the results. */
#define GRACE_S 10.0

int xb_fifo_open(const char *path, double deadline)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    bool told = false;
    for (;;) {
        /* A plain open() would block, where nobody looks for a signal or at the deadline. */
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 || (errno != ENXIO && errno != EINTR))
            return fd;
        if (xb_interrupt_signal() != 0 || (deadline > 0 && xb_clock_now() >= deadline)) {
            errno = xb_interrupt_signal() != 0 ? EINTR : ETIMEDOUT;
            return -1;
        }
        if (!told)
            xb_say("'%.300s' is a FIFO that nobody reads yet: waiting for its reader", path);
        told = true;
        (void)nanosleep(&pause, NULL);
    }
}

struct pipe_end {
    int fd;
    double deadline;
    bool begun;   /* the first write happened, so that the two fields below are set */
    double until; /* wait no longer than this for a reader that reads nothing; 0 means for ever */
    int signals;  /* how many came before the first write: one may be the reason for writing */
    bool failed;  /* write nothing more, not even when the stream is closed */
};

/* Waits until the pipe has room for PIPE_BUF bytes, or no reader any more. Returns false with errno
 * set if a signal or the deadline comes first. */
static bool wait_for_room(const struct pipe_end *end)
{
    for (;;) {
        struct pollfd room = {.fd = end->fd, .events = POLLOUT};
        int ready = poll(&room, 1, POLL_MS);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        bool is_signal = xb_interrupt_count() > end->signals;
        if (is_signal || (end->until > 0 && xb_clock_now() >= end->until)) {
            errno = is_signal ? EINTR : ETIMEDOUT;
            return false;
        }
    }
}

/* The write function for fopencookie(): it reports a failure by returning less than `size`. After
 * poll() sees room, writing that much does not block, unless somebody else filled the pipe in
 * between. A descriptor with O_NONBLOCK then returns EAGAIN, and we wait again. */
static ssize_t write_pieces(void *cookie, const char *text, size_t size)
{
    struct pipe_end *end = cookie;
    size_t done = 0;
    if (!end->begun) {
        double now = xb_clock_now();
        end->begun = true;
        end->signals = xb_interrupt_count();
        if (end->deadline > 0)
            end->until = (now > end->deadline ? now : end->deadline) + GRACE_S;
    }
    while (done < size && !end->failed) {
        if (!wait_for_room(end)) {
            end->failed = true;
            break;
        }
        /* What neither blocks nor is mixed with what others write: PIPE_BUF bytes where there is
         * room at all, as many as the pipe holds where it is empty. */
        int holds = fcntl(end->fd, F_GETPIPE_SZ), queued = 1;
        bool is_empty = ioctl(end->fd, FIONREAD, &queued) == 0 && queued == 0;
        size_t room = is_empty && holds > PIPE_BUF ? (size_t)holds : PIPE_BUF;
        ssize_t written = write(end->fd, text + done, size - done < room ? size - done : room);
        end->failed = written < 0 && errno != EAGAIN;
        done += written > 0 ? (size_t)written : 0;
    }
    return (ssize_t)done;
}

static int close_end(void *cookie)
{
    struct pipe_end *end = cookie;
    int failed = close(end->fd);
    free(end);
    return failed;
}

FILE *xb_pipe_stream(int fd, double deadline)
{
    struct pipe_end *end = xb_new(1, sizeof *end);
    *end = (struct pipe_end){.fd = fd, .deadline = deadline};
    FILE *stream =
        fopencookie(end, "w", (cookie_io_functions_t){.write = write_pieces, .close = close_end});
    if (stream == NULL)
        xb_memory_end(sizeof *end);
    return stream;
}
