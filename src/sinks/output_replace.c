/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fallocate, mkostemp, O_TMPFILE */
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

/* The target's name in its directory. */
static const char *base_of(const struct xb_output *output)
{
    return strrchr(output->target, '/') + 1;
}

/* Draws a name for the new file: of fixed length, however long the target's is. */
static bool draw_name(struct xb_output *output)
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return false;
    snprintf(output->temporary, sizeof output->temporary, ".xferbench-%016llx", number);
    return true;
}

static int open_named(struct xb_output *output, mode_t mode)
{
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES && draw_name(output); i++) {
        fd = openat(output->directory, output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        output->temporary[0] = '\0'; /* nothing of ours has that name */
    return fd;
}

/* The path of an open file that may have no name. */
static void descriptor_path(char path[32], int fd)
{
    snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* A file without a name goes away with the process, also with one that is killed. Not every file
 * system has them; without /proc it could not be given a name. */
static int open_unnamed(const struct xb_output *output, mode_t mode)
{
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    return openat(output->directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
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

enum xb_status xb_replacement_open(struct xb_output *output, struct xb_error *error)
{
    mode_t mode = output->is_there ? 0600 : 0666; /* a new one's mode is the umask's business */
    int fd = open_unnamed(output, mode);
    if (fd < 0)
        fd = open_named(output, mode);
    if (fd < 0)
        return xb_output_refuse(error, output->path, "open", errno);
    output->in_place = output->is_there && !keep_access(fd, output->target, &output->file);
    output->stream = fdopen(fd, "w");
    if (output->stream != NULL)
        return XB_OK;
    close(fd);
    return xb_output_no_memory(error, output->path);
}

/* ---- copies ---- */

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

/* A copy that has a name, for a file without one that the system lets have none. */
static const char *copy_to_named(struct xb_output *output)
{
    struct stat own;
    char path[32];
    int from = fileno(output->stream);
    int fd = open_named(output, 0600);
    if (fd < 0)
        return "open";
    descriptor_path(path, from);
    bool copied = fstat(from, &own) == 0 && copy(from, fd) &&
                  (output->in_place || keep_access(fd, path, &own));
    int code = errno;
    if (close(fd) == 0 && copied)
        return NULL;
    errno = copied ? errno : code;
    code = errno;
    (void)unlinkat(output->directory, output->temporary, 0);
    output->temporary[0] = '\0';
    errno = code;
    return "write";
}

/* The same in another folder; its path, to be freed, or NULL. */
static char *copy_to_folder(const struct xb_output *output, const char *folder)
{
    char *path = NULL;
    if (folder == NULL || asprintf(&path, "%s/xferbench-XXXXXX", folder) < 0)
        return NULL;
    int fd = mkostemp(path, O_CLOEXEC);
    bool copied = fd >= 0 && copy(fileno(output->stream), fd);
    if (fd >= 0 && close(fd) == 0 && copied)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* ---- in its place ---- */

/* Gives a file without a name one beside the target: linkat() replaces nothing. */
static const char *give_name(struct xb_output *output)
{
    char from[32];
    descriptor_path(from, fileno(output->stream));
    for (int i = 0; i < TRIES && draw_name(output); i++) {
        if (linkat(AT_FDCWD, from, output->directory, output->temporary, AT_SYMLINK_FOLLOW) == 0)
            return NULL;
        if (errno != EEXIST)
            break;
    }
    return copy_to_named(output);
}

/* The whole space first: where the disk is full the old content is still there. */
static bool reserve(int fd, off_t size)
{
    int failed;
    do
        failed = size > 0 ? fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) : 0;
    while (failed != 0 && errno == EINTR);
    return failed == 0 || errno == EOPNOTSUPP || errno == ENOSYS; /* not every file system can */
}

/* Puts the new content into the open target `fd`. */
static const char *fill(const struct xb_output *output, int fd)
{
    struct stat target;
    struct stat own;
    int from = fileno(output->stream);
    if (fstat(fd, &target) != 0 || fstat(from, &own) != 0)
        return "fstat";
    if (!xb_is_same_file(&target, &output->file)) {
        errno = ESTALE; /* another file has its name by now */
        return "open";
    }
    if (!reserve(fd, own.st_size))
        return "fallocate";
    return copy(from, fd) && ftruncate(fd, own.st_size) == 0 && fsync(fd) == 0 ? NULL : "write";
}

/* For a file that a replacement would take from its owner: the same file with another content. */
static const char *write_over(const struct xb_output *output)
{
    int fd = openat(output->directory, base_of(output),
                    O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return "open";
    const char *failed = fill(output, fd);
    int code = errno;
    if (close(fd) != 0 && failed == NULL)
        return "close";
    errno = code;
    return failed;
}

static const char *rename_over(struct xb_output *output)
{
    if (renameat(output->directory, output->temporary, output->directory, base_of(output)) != 0)
        return "rename";
    output->temporary[0] = '\0'; /* it is the target now */
    return NULL;
}

/* The path of a file that has what was written, although it is not in its place. */
static char *keep(struct xb_output *output)
{
    char *path = NULL;
    int length = (int)(base_of(output) - output->target);
    if (output->temporary[0] == '\0') { /* the directory takes no files any more */
        path = copy_to_folder(output, secure_getenv("TMPDIR"));
        return path != NULL ? path : copy_to_folder(output, "/tmp");
    }
    if (asprintf(&path, "%.*s%s", length, output->target, output->temporary) < 0)
        return NULL;
    output->temporary[0] = '\0'; /* not to be removed */
    return path;
}

const char *xb_replacement_finish(struct xb_output *output, char **kept)
{
    const char *failed = output->temporary[0] == '\0' ? give_name(output) : NULL;
    if (failed == NULL)
        failed = output->in_place ? write_over(output) : rename_over(output);
    int code = errno;
    if (failed != NULL)
        *kept = keep(output);
    FILE *stream = output->stream;
    output->stream = NULL;
    if (fclose(stream) != 0 && failed == NULL)
        return "fclose";
    errno = code;
    return failed;
}
