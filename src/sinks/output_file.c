/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "xferbench/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whatever could not be opened or written, the user chooses another place: XB_ERR_USAGE. */
static enum xb_status refuse(struct xb_error *error, const char *path, const char *call, int code,
                             const char *advice)
{
    return XB_FAIL_NATIVE(error, XB_ERR_USAGE, call, code, xb_errno_name(code),
                          "cannot write '%.300s': %s (%s): %s", path, strerror(code),
                          xb_errno_name(code), advice);
}

static enum xb_status out_of_memory(struct xb_error *error, const char *path)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to open '%.300s'", path);
}

static const char *advice_for(int code)
{
    switch (code) {
    case ENOENT:
        return "create its directory first (or, if it is a link, the file that it names)";
    case EISDIR:
        return "name a file in it";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "free some space, or write to another place";
    default:
        return "write to a place where you may create files";
    }
}

/* The standard stream that is this file already, or NULL. A second opening would overwrite what
 * the stream writes, because each has its own position. */
static FILE *standard_stream(const struct stat *file)
{
    FILE *const streams[] = {stdout, stderr};
    for (size_t i = 0; i < 2; i++) {
        struct stat open_file;
        if (fstat(fileno(streams[i]), &open_file) == 0 && open_file.st_dev == file->st_dev &&
            open_file.st_ino == file->st_ino)
            return streams[i];
    }
    return NULL;
}

/*
 * The file that `path` stands for, links followed, so that renaming replaces the file and not the
 * link. The file itself need not exist. Returns NULL with errno set.
 */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    if (target != NULL || errno != ENOENT)
        return target;
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    struct stat link;
    if (base[0] == '\0' || lstat(path, &link) == 0) { /* "directory/", or a link to nothing */
        errno = ENOENT;
        return NULL;
    }
    char *directory = slash != NULL ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    char *resolved = directory != NULL ? realpath(directory, NULL) : NULL;
    free(directory);
    if (resolved != NULL && asprintf(&target, "%s/%s", resolved, base) < 0)
        target = NULL;
    int code = errno;
    free(resolved);
    errno = code;
    return target;
}

/* "directory/.xferbench-XXXXXX": a name of fixed length, however long the target's is. */
static char *temporary_name(const char *target)
{
    char *name = NULL;
    int directory = (int)(strrchr(target, '/') - target);
    if (asprintf(&name, "%.*s/.xferbench-XXXXXX", directory, target) < 0)
        return NULL;
    return name;
}

/* What open(2) would give a new file. There is no way to read the mask without setting it. */
static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static enum xb_status open_temporary(struct xb_output *output, mode_t mode, struct xb_error *error)
{
    char *name = temporary_name(output->target);
    if (name == NULL)
        return out_of_memory(error, output->path);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        int code = errno;
        free(name);
        return refuse(error, output->path, "mkostemp", code, advice_for(code));
    }
    output->temporary = name;
    if (fchmod(fd, mode) != 0) {
        int code = errno;
        close(fd);
        return refuse(error, output->path, "fchmod", code, advice_for(code));
    }
    output->stream = fdopen(fd, "w");
    if (output->stream == NULL) {
        close(fd);
        return out_of_memory(error, output->path);
    }
    return XB_OK;
}

/* A file that is renamed over when it is complete; `old` is NULL where there is none yet. */
static enum xb_status open_replacing(struct xb_output *output, const struct stat *old,
                                     struct xb_error *error)
{
    output->target = resolve(output->path);
    if (output->target == NULL) {
        int code = errno;
        return refuse(error, output->path, "realpath", code, advice_for(code));
    }
    /* Renaming needs no right to the old file: without this a protected one would be lost. */
    if (old != NULL && faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS) != 0)
        return refuse(error, output->path, "faccessat", errno,
                      "make the file writable, or choose another name");
    return open_temporary(output, old != NULL ? old->st_mode & 0777 : new_file_mode(), error);
}

/* A device, FIFO or the like; a directory fails with EISDIR. Not with fopen: its O_CREAT makes the
 * kernel refuse other users' FIFOs in /tmp (fs.protected_fifos in proc_sys_fs(5)). */
static enum xb_status open_as_it_is(struct xb_output *output, struct xb_error *error)
{
    int fd = open(output->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        int code = errno;
        return refuse(error, output->path, "open", code, advice_for(code));
    }
    output->stream = fdopen(fd, "w");
    if (output->stream == NULL) {
        close(fd);
        return out_of_memory(error, output->path);
    }
    return XB_OK;
}

static enum xb_status open_path(struct xb_output *output, struct xb_error *error)
{
    struct stat file;
    if (strcmp(output->path, "-") == 0) {
        output->stream = stdout;
        return XB_OK;
    }
    if (stat(output->path, &file) != 0) {
        int code = errno;
        if (code == ENOENT)
            return open_replacing(output, NULL, error);
        return refuse(error, output->path, "stat", code, advice_for(code));
    }
    output->stream = standard_stream(&file);
    if (output->stream != NULL)
        return XB_OK;
    if (S_ISREG(file.st_mode))
        return open_replacing(output, &file, error);
    return open_as_it_is(output, error);
}

enum xb_status xb_output_open(struct xb_output *output, const char *path, struct xb_error *error)
{
    memset(output, 0, sizeof *output);
    output->path = strdup(path);
    if (output->path == NULL)
        return out_of_memory(error, path);
    enum xb_status status = open_path(output, error);
    if (status != XB_OK)
        xb_output_discard(output);
    return status;
}

/* Closes what was opened; a standard stream stays open, others still write to it. */
static int close_stream(struct xb_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    return stream == NULL || stream == stdout || stream == stderr ? 0 : fclose(stream);
}

/* The first call that failed, NULL if all is written and in place. */
static const char *complete(struct xb_output *output)
{
    if (fflush(output->stream) != 0)
        return "fflush";
    if (output->temporary != NULL && fsync(fileno(output->stream)) != 0)
        return "fsync";
    if (close_stream(output) != 0)
        return "fclose";
    if (output->temporary != NULL && rename(output->temporary, output->target) != 0)
        return "rename";
    return NULL;
}

enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    /* An earlier write that failed leaves a mark on the stream, but no errno. */
    bool lost = ferror(output->stream) != 0;
    errno = 0;
    const char *call = lost ? "write" : complete(output);
    if (call != NULL) {
        int code = errno != 0 ? errno : EIO;
        status = XB_FAIL_ERRNO(error, call, code, "cannot write '%.300s': %s (%s): %s",
                               output->path, strerror(code), xb_errno_name(code), advice_for(code));
        if (strcmp(call, "rename") == 0) { /* complete, only not in its place: a mount point, say */
            status =
                XB_FAIL_ERRNO(error, call, code,
                              "cannot put '%.200s' in its place: %s (%s); what was to be "
                              "written is in '%.200s'",
                              output->path, strerror(code), xb_errno_name(code), output->temporary);
            call = NULL;
        }
    }
    if (call == NULL) { /* nothing to take away */
        free(output->temporary);
        output->temporary = NULL;
    }
    xb_output_discard(output);
    return status;
}

void xb_output_discard(struct xb_output *output)
{
    close_stream(output);
    if (output->temporary != NULL)
        unlink(output->temporary);
    free(output->temporary);
    free(output->target);
    free(output->path);
    memset(output, 0, sizeof *output);
}
