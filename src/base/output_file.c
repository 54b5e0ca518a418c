/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "output_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

const char *xb_output_advice(int code)
{
    switch (code) {
    case EEXIST:
        return "somebody else wrote it meanwhile: give each process a file of its own, as with %h "
               "and %r in its name";
    case ENOENT:
        return "create its directory first (or, if it is a link, the file that it names)";
    case ENOTDIR:
        return "what stands before the last '/' is no directory";
    case EISDIR:
        return "name a file in it";
    case ENAMETOOLONG:
        return "take a shorter name";
    case ELOOP:
        return "this link leads back to itself: name the file";
    case ENXIO:
        return "this socket or device cannot be opened: name a file or a pipe";
    case EBADF:
        return "that descriptor is not open for writing: the shell's '9>file' opens number 9";
    case EROFS:
        return "this file system is read-only: write to another place";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "free some space, or write to another place";
    case EMFILE:
    case ENFILE:
        return "too many files are open: raise the limit (ulimit -n)";
    case EPIPE:
        return "its reader has gone";
    case EINTR:
        return "a signal came while its reader took nothing";
    case ETIMEDOUT:
        return "its reader took nothing, and the deadline is over";
    default:
        return "write to a place where you may create files";
    }
}

enum xb_status xb_output_refuse(struct xb_error *error, const char *path, const char *call,
                                int code)
{
    return XB_FAIL_NATIVE(error, XB_ERR_USAGE, call, code, xb_errno_name(code),
                          "cannot write '%.300s': %s (%s): %s", path, strerror(code),
                          xb_errno_name(code), xb_output_advice(code));
}

enum xb_status xb_output_no_memory(struct xb_error *error, const char *path)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to open '%.300s'", path);
}

/* ---- what a path stands for ---- */

bool xb_is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_writable(int fd)
{
    int mode = fcntl(fd, F_GETFL);
    return mode >= 0 && (mode & O_ACCMODE) != O_RDONLY;
}

/* Finds the standard stream that already writes to this file, or returns NULL. Opening the file a
 * second time would overwrite what the stream writes, because each has its own position. main.c
 * replaces a stream that the caller closed by /dev/null, open for reading only, so is_writable
 * skips it. */
static FILE *standard_stream(const struct stat *file)
{
    FILE *const streams[] = {stdout, stderr};
    for (size_t i = 0; i < 2; i++) {
        struct stat open_file;
        if (is_writable(fileno(streams[i])) && fstat(fileno(streams[i]), &open_file) == 0 &&
            xb_is_same_file(&open_file, file))
            return streams[i];
    }
    return NULL;
}

/* Returns the directory of a path with links followed, or NULL with errno set. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = slash != NULL ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    char *resolved = directory != NULL ? realpath(directory, NULL) : NULL;
    int code = errno;
    free(directory);
    errno = code;
    return resolved;
}

/*
 * Returns the file that `path` leads to, with links followed, so that renaming replaces the file
 * and not the link. The file itself need not exist. Returns NULL with errno set on failure.
 */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    if (target != NULL || errno != ENOENT)
        return target;
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    struct stat link;
    if (base[0] == '\0' || lstat(path, &link) == 0) { /* "directory/", or a dangling link */
        errno = ENOENT;
        return NULL;
    }
    char *resolved = directory_of(path);
    if (resolved != NULL && asprintf(&target, "%s/%s", resolved, base) < 0)
        target = NULL;
    int code = errno;
    free(resolved);
    errno = code;
    return target;
}

/* The path names no descriptor, or one of another process. */
enum { NO_DESCRIPTOR = -1, FOREIGN_DESCRIPTOR = -2 };

/* The descriptor that a path such as /proc/self/fd/9 names without following a link in its last
 * component. */
static int descriptor_at(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *number = slash != NULL ? slash + 1 : path;
    if (number[0] == '\0' || strlen(number) > 9 || strspn(number, "0123456789") != strlen(number))
        return NO_DESCRIPTOR;
    char *directory = directory_of(path);
    int found = NO_DESCRIPTOR;
    if (directory != NULL && (fnmatch("/proc/[0-9]*/fd", directory, FNM_PATHNAME) == 0 ||
                              fnmatch("/proc/[0-9]*/task/[0-9]*/fd", directory, FNM_PATHNAME) == 0))
        found = atoi(directory + strlen("/proc/")) == getpid() ? atoi(number) : FOREIGN_DESCRIPTOR;
    free(directory);
    return found;
}

/* The descriptor that a path names, also through links such as /dev/stdout. Follows 40 links, as
 * the kernel does. */
static int descriptor_of(const char *path)
{
    char *here = strdup(path);
    int fd = here != NULL ? descriptor_at(here) : NO_DESCRIPTOR;
    for (int i = 0; here != NULL && fd == NO_DESCRIPTOR && i < 40; i++) {
        char link[PATH_MAX];
        ssize_t length = readlink(here, link, sizeof link - 1);
        char *directory = length > 0 ? directory_of(here) : NULL;
        if (directory == NULL)
            break;
        link[length] = '\0';
        free(here);
        if (asprintf(&here, "%s/%s", link[0] == '/' ? "" : directory, link) < 0)
            here = NULL;
        free(directory);
        fd = here != NULL ? descriptor_at(here) : NO_DESCRIPTOR;
    }
    free(here);
    return fd;
}

static enum xb_status find(struct xb_output *output, struct xb_error *error)
{
    bool dash = strcmp(output->path, "-") == 0;
    int fd = dash ? STDOUT_FILENO : descriptor_of(output->path);
    output->descriptor = fd;
    output->is_there =
        (fd >= 0 ? fstat(fd, &output->file) : stat(output->path, &output->file)) == 0;
    if (!output->is_there && (fd != NO_DESCRIPTOR || errno != ENOENT))
        return xb_output_refuse(error, output->path, "stat", errno);
    if (output->is_there && S_ISDIR(output->file.st_mode))
        return xb_output_refuse(error, output->path, "stat", EISDIR);
    if (output->is_there)
        output->standard = standard_stream(&output->file);
    output->is_stdout = output->standard == stdout;
    bool is_file = !output->is_there || S_ISREG(output->file.st_mode);
    if (!is_file || output->standard != NULL || fd != NO_DESCRIPTOR)
        return XB_OK;
    output->target = resolve(output->path);
    return output->target != NULL ? XB_OK
                                  : xb_output_refuse(error, output->path, "realpath", errno);
}

enum xb_status xb_output_find(struct xb_output *output, const char *path, struct xb_error *error)
{
    memset(output, 0, sizeof *output);
    output->path = strdup(path);
    if (output->path == NULL)
        return xb_output_no_memory(error, path);
    enum xb_status status = find(output, error);
    if (status != XB_OK)
        xb_output_discard(output);
    return status;
}

bool xb_output_is_same(const struct xb_output *output, const struct xb_output *other)
{
    if (output->path == NULL || other->path == NULL)
        return false;
    if (output->is_there && other->is_there)
        return !S_ISCHR(output->file.st_mode) && xb_is_same_file(&output->file, &other->file);
    return output->target != NULL && other->target != NULL &&
           strcmp(output->target, other->target) == 0;
}

bool xb_output_is_over(const struct xb_output *output, const char *path)
{
    struct stat file;
    return output->is_there && !S_ISCHR(output->file.st_mode) && stat(path, &file) == 0 &&
           xb_is_same_file(&output->file, &file);
}

/* ---- opening ---- */

/* Opens a new file that will replace the target when it is complete. Keeps a descriptor of the
 * directory, because the directory may be renamed in the meantime. */
static enum xb_status open_replacing(struct xb_output *output, struct xb_error *error)
{
    const char *base = strrchr(output->target, '/') + 1;
    char *directory = strndup(output->target, (size_t)(base - output->target));
    if (directory == NULL)
        return xb_output_no_memory(error, output->path);
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = errno;
    free(directory);
    if (fd < 0)
        return xb_output_refuse(error, output->path, "open", code);
    output->directory = fd;
    /* Renaming over a file needs no permission to write it. Without this check we would replace a
     * write-protected file. */
    if (output->is_there && faccessat(fd, base, W_OK, AT_EACCESS) != 0) {
        code = errno;
        return XB_FAIL_NATIVE(error, XB_ERR_USAGE, "faccessat", code, xb_errno_name(code),
                              "cannot write '%.300s': %s (%s): make the file writable, or choose "
                              "another name",
                              output->path, strerror(code), xb_errno_name(code));
    }
    return xb_replacement_open(output, error);
}

/* Opens a stream on the descriptor, which then belongs to the stream; closes it on failure. */
static enum xb_status open_stream(struct xb_output *output, int fd, double deadline,
                                  struct xb_error *error)
{
    bool pipe = S_ISFIFO(output->file.st_mode);
    output->stream = pipe ? xb_pipe_stream(fd, deadline) : fdopen(fd, "w");
    if (output->stream != NULL)
        return XB_OK;
    close(fd);
    return xb_output_no_memory(error, output->path);
}

/* Writes to a duplicate of an open descriptor, so that closing it leaves the caller's open. Both
 * share their position and O_APPEND, so output lands where the caller expects it. A pipe is opened
 * again if that is possible, because a duplicate shares its flags: O_NONBLOCK would change the
 * caller's descriptor too. */
static enum xb_status open_descriptor(struct xb_output *output, int fd, double deadline,
                                      struct xb_error *error)
{
    if (!is_writable(fd))
        return xb_output_refuse(error, output->path, "fcntl", EBADF);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool is_pipe = S_ISFIFO(output->file.st_mode);
    int own = is_pipe ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (own < 0)
        own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return xb_output_refuse(error, output->path, "fcntl", errno);
    return open_stream(output, own, deadline, error);
}

/* Writes to a device, a FIFO or the like as it is. Appends to a file that another process has open.
 * Does not use fopen, because its O_CREAT makes the kernel refuse other users' FIFOs in /tmp
 * (fs.protected_fifos in proc_sys_fs(5)). */
static enum xb_status open_as_it_is(struct xb_output *output, double deadline,
                                    struct xb_error *error)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    int fd = -1;
    enum xb_status status = XB_OK;
    if (S_ISFIFO(output->file.st_mode))
        status = xb_fifo_open(output->path, deadline, &fd, error);
    else if ((fd = open(output->path,
                        output->descriptor == FOREIGN_DESCRIPTOR ? flags | O_APPEND : flags)) < 0)
        status = xb_output_refuse(error, output->path, "open", errno);
    return status == XB_OK ? open_stream(output, fd, deadline, error) : status;
}

void xb_output_unbuffer(struct xb_output *output)
{
    if (output->stream != NULL)
        (void)setvbuf(output->stream, NULL, _IONBF,
                      0); /* else it mixes, and is right all the same */
}

enum xb_status xb_output_open(struct xb_output *output, double deadline, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    int fd = output->standard != NULL ? fileno(output->standard) : output->descriptor;
    if (output->target != NULL)
        status = open_replacing(output, error);
    else if (output->standard != NULL && !S_ISFIFO(output->file.st_mode))
        output->stream = output->standard;
    else if (fd >= 0)
        status = open_descriptor(output, fd, deadline, error);
    else
        status = open_as_it_is(output, deadline, error);
    if (status != XB_OK)
        xb_output_discard(output);
    return status;
}

/* ---- closing ---- */

/* Closes the stream, unless it is a standard stream: others still write to those. */
static int close_stream(struct xb_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    return stream == NULL || stream == stdout || stream == stderr ? 0 : fclose(stream);
}

/* Writes everything and puts the file in its place. Returns the call that failed, or NULL. */
static const char *complete(struct xb_output *output, char **kept)
{
    if (fflush(output->stream) != 0)
        return "fflush";
    if (output->target == NULL)
        return close_stream(output) != 0 ? "fclose" : NULL;
    if (fsync(fileno(output->stream)) != 0)
        return "fsync";
    return xb_replacement_finish(output, kept);
}

enum xb_status xb_output_fail(const struct xb_output *output, const char *call, int code,
                              struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, call, code, "cannot write '%.300s': %s (%s): %s", output->path,
                         strerror(code), xb_errno_name(code), xb_output_advice(code));
}

enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    char *kept = NULL;
    /* A write that failed earlier set the stream's error flag, but its errno is gone. */
    bool lost = ferror(output->stream) != 0;
    errno = 0;
    const char *call = lost ? "write" : complete(output, &kept);
    int code = errno != 0 ? errno : EIO;
    if (kept != NULL) /* the file is complete but not in its place, for example at a mount point */
        status =
            XB_FAIL_ERRNO(error, call, code,
                          "what was to be written is in '%s': cannot put '%.200s' in its "
                          "place: %s (%s)%s%s",
                          kept, output->path, strerror(code), xb_errno_name(code),
                          code == EEXIST ? ": " : "", code == EEXIST ? xb_output_advice(code) : "");
    else if (call != NULL)
        status = xb_output_fail(output, call, code, error);
    free(kept);
    xb_output_discard(output);
    return status;
}

void xb_output_discard(struct xb_output *output)
{
    (void)close_stream(output);
    if (output->temporary[0] != '\0')
        (void)unlinkat(output->directory, output->temporary, 0);
    if (output->directory > 0)
        close(output->directory);
    free(output->target);
    free(output->path);
    memset(output, 0, sizeof *output);
}
