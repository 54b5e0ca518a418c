/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "output_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Names are drawn again where one is taken. */
#define TRIES 10

/* ---- names ---- */

/* "directory/.xferbench-0123456789abcdef": of fixed length, however long the target's name is. */
static char *temporary_name(const char *target)
{
    char *name = NULL;
    unsigned long long number = 0;
    int directory = (int)(strrchr(target, '/') - target);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number ||
        asprintf(&name, "%.*s/.xferbench-%016llx", directory, target, number) < 0)
        return NULL;
    return name;
}

static int open_named(struct xb_output *output, mode_t mode)
{
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        free(output->temporary);
        output->temporary = temporary_name(output->target);
        if (output->temporary == NULL)
            return -1;
        fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) { /* nothing of ours has that name */
        int code = errno;
        free(output->temporary);
        output->temporary = NULL;
        errno = code;
    }
    return fd;
}

/* A file without a name goes away with the process, also with one that is killed. Not every file
 * system has them; without /proc it could not be given a name. */
static int open_unnamed(const struct xb_output *output, mode_t mode)
{
    int length = (int)(strrchr(output->target, '/') - output->target);
    char *directory = length > 0 ? strndup(output->target, (size_t)length) : strdup("/");
    int fd = -1;
    if (directory != NULL && access("/proc/self/fd", X_OK) == 0)
        fd = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    free(directory);
    return fd;
}

/* ---- who may do what with it ---- */

/* Gives the new file the access list of the one at `path`; none where that has none. */
static bool keep_access_list(int fd, const char *path)
{
    static const char attribute[] = "system.posix_acl_access";
    char list[4096];
    ssize_t size = getxattr(path, attribute, list, sizeof list);
    if (size >= 0)
        return fsetxattr(fd, attribute, list, (size_t)size, 0) == 0;
    if (errno != ENODATA)
        return errno == ENOTSUP || errno == ENOENT;
    /* The directory may hand one down to new files, with more rights than the old one gave. */
    return fremovexattr(fd, attribute) == 0 || errno == ENODATA || errno == ENOTSUP;
}

/* Gives the new file the owner, group, access list and mode that the old one has. */
static bool keep_access(int fd, const char *path, const struct stat *old)
{
    struct stat own;
    if (fstat(fd, &own) != 0)
        return false;
    bool same = own.st_uid == old->st_uid && own.st_gid == old->st_gid;
    return (same || fchown(fd, old->st_uid, old->st_gid) == 0) && keep_access_list(fd, path) &&
           fchmod(fd, old->st_mode & 0777) == 0;
}

enum xb_status xb_replacement_open(struct xb_output *output, const struct stat *old,
                                   struct xb_error *error)
{
    mode_t mode = old != NULL ? 0600 : 0666; /* a new one's mode is the umask's business */
    int fd = open_unnamed(output, mode);
    if (fd < 0)
        fd = open_named(output, mode);
    if (fd < 0)
        return xb_output_refuse(error, output->path, "open", errno);
    output->in_place = old != NULL && !keep_access(fd, output->target, old);
    output->stream = fdopen(fd, "w");
    if (output->stream != NULL)
        return XB_OK;
    close(fd);
    return xb_output_no_memory(error, output->path);
}

/* ---- in its place ---- */

/* Copies all of a file to another one and syncs that; false with errno set. */
static bool copy(int from, int to)
{
    char piece[65536];
    ssize_t got;
    if (lseek(from, 0, SEEK_SET) != 0)
        return false;
    while ((got = read(from, piece, sizeof piece)) > 0)
        for (ssize_t done = 0; done < got;) {
            ssize_t written = write(to, piece + done, (size_t)(got - done));
            if (written < 0)
                return false;
            done += written;
        }
    return got == 0 && fsync(to) == 0;
}

/* For a file that a replacement would take from its owner: the same file with another content. */
static const char *write_over(const struct xb_output *output)
{
    int fd = open(output->target, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return "open";
    bool copied = copy(fileno(output->stream), fd);
    int code = errno;
    if (close(fd) == 0 && copied)
        return NULL;
    errno = copied ? errno : code;
    return "write";
}

/* A copy with a name, where the system gives files without one none. */
static const char *copy_to_named(struct xb_output *output)
{
    struct stat own;
    int from = fileno(output->stream);
    int fd = open_named(output, 0600);
    if (fd < 0)
        return "open";
    bool copied = fstat(from, &own) == 0 && copy(from, fd) &&
                  (output->in_place || keep_access(fd, output->target, &own));
    int code = errno;
    if (close(fd) == 0 && copied)
        return NULL;
    errno = copied ? errno : code;
    return "write";
}

/* Gives a file without a name one beside the target: linkat() replaces nothing. */
static const char *give_name(struct xb_output *output)
{
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(output->stream));
    for (int i = 0; i < TRIES; i++) {
        char *name = temporary_name(output->target);
        if (name == NULL)
            return "getrandom";
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            return NULL;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    return copy_to_named(output);
}

static const char *close_replacement(struct xb_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    return fclose(stream) == 0 ? NULL : "fclose";
}

const char *xb_replacement_finish(struct xb_output *output, bool *kept)
{
    const char *failed = output->in_place ? write_over(output) : NULL;
    int code = errno;
    if (output->in_place && failed == NULL)
        return close_replacement(output);
    const char *call = output->temporary == NULL ? give_name(output) : NULL;
    if (call == NULL)
        call = close_replacement(output);
    if (call != NULL)
        return call;
    if (failed == NULL && rename(output->temporary, output->target) == 0) {
        free(output->temporary); /* it is the target now */
        output->temporary = NULL;
        return NULL;
    }
    *kept = true;
    errno = failed != NULL ? code : errno;
    return failed != NULL ? failed : "rename";
}
