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

/* How many random names to try if others exist already. */
#define TRIES 10

/* ---- names ---- */

/* The target's name in its directory. */
static const char *base_of(const struct xb_output *output)
{
    return strrchr(output->target, '/') + 1;
}

/* Picks a random name for the new file. It does not contain the target's name, which may be as long
 * as the file system allows. */
static bool pick_name(struct xb_output *output)
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
    for (int i = 0; fd < 0 && i < TRIES && pick_name(output); i++) {
        fd = openat(output->directory, output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        output->temporary[0] = '\0'; /* a file with this name is not ours to remove */
    return fd;
}

/* Writes a path that leads to an open file, even if the file has no name. */
static void descriptor_path(char path[32], int fd)
{
    snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* ---- who may do what with it ---- */

/* Gives the new file the access list of the file at `path`, or none if that has none. */
static bool keep_access_list(int fd, const char *path)
{
    static const char attribute[] = "system.posix_acl_access";
    char list[4096];
    ssize_t size = getxattr(path, attribute, list, sizeof list);
    if (size >= 0)
        return fsetxattr(fd, attribute, list, (size_t)size, 0) == 0;
    if (errno != ENODATA)
        return errno == ENOTSUP || errno == ENOENT;
    /* The new file may have inherited a default list from the directory. Remove it, because it may
     * grant more than the old file did. */
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
    mode_t mode = output->is_there ? 0600 : 0666; /* for a new file the umask decides */
    int fd = -1;
    /* A file without a name: the kernel removes it when the process ends, even by SIGKILL. Fails if
     * the file system does not support this, or without /proc, which give_name needs. */
    if (access("/proc/self/fd", X_OK) == 0)
        fd = openat(output->directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
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

/* Copies a whole file to another one and syncs it. Returns false with errno set on failure. What
 * fsync() said is on the disk is there, whatever closing the file says afterwards. */
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

/* Copies the file without a name to one with a name, because the system refused to link it. Returns
 * the call that failed, or NULL. */
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
    (void)close(fd);
    if (copied)
        return NULL;
    (void)unlinkat(output->directory, output->temporary, 0);
    output->temporary[0] = '\0';
    errno = code;
    return "write";
}

/* Copies the new file to another folder. Returns its path, to be freed, or NULL. */
static char *copy_to_folder(const struct xb_output *output, const char *folder)
{
    char *path = NULL;
    if (folder == NULL || asprintf(&path, "%s/xferbench-XXXXXX", folder) < 0)
        return NULL;
    int fd = mkostemp(path, O_CLOEXEC);
    bool copied = fd >= 0 && copy(fileno(output->stream), fd);
    if (fd >= 0)
        (void)close(fd);
    if (copied)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* ---- in its place ---- */

/* Gives a file without a name a temporary name beside the target. It cannot take the target's own
 * name, because linkat() replaces no file. */
static const char *give_name(struct xb_output *output)
{
    char from[32];
    descriptor_path(from, fileno(output->stream));
    for (int i = 0; i < TRIES && pick_name(output); i++) {
        if (linkat(AT_FDCWD, from, output->directory, output->temporary, AT_SYMLINK_FOLLOW) == 0)
            return NULL;
        if (errno != EEXIST)
            break;
    }
    return copy_to_named(output);
}

/* Writes the new content into the open target `fd`. */
static const char *fill(const struct xb_output *output, int fd)
{
    struct stat target;
    struct stat own;
    int from = fileno(output->stream);
    if (fstat(fd, &target) != 0 || fstat(from, &own) != 0)
        return "fstat";
    if (!xb_is_same_file(&target, &output->file)) {
        errno = ESTALE; /* another file has the target's name by now */
        return "open";
    }
    /* Reserves all the space before anything is written over: if the disk is full, the old content
     * is still there. Not every file system can. */
    int failed;
    do
        failed = own.st_size > 0 ? fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, own.st_size) : 0;
    while (failed != 0 && errno == EINTR);
    if (failed != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
        return "fallocate";
    return copy(from, fd) && ftruncate(fd, own.st_size) == 0 && fsync(fd) == 0 ? NULL : "write";
}

/* Writes the new content into the old file, because a new file could not keep its owner and rights.
 */
static const char *write_over(const struct xb_output *output)
{
    int fd = openat(output->directory, base_of(output),
                    O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return "open";
    const char *failed = fill(output, fd);
    int code = errno;
    (void)close(fd);
    errno = code;
    return failed;
}

/* Gives the new file the target's name. Where none should be there, the kernel looks once more, if
 * this file system can: ranks of a job end in the same moment. */
static int take_name(const struct xb_output *output)
{
    int directory = output->directory;
    const char *base = base_of(output);
    struct stat now;
    if (output->keeps_others && fstatat(directory, base, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        (!output->is_there || !xb_is_same_file(&now, &output->file))) {
        errno = EEXIST; /* somebody else's, put there since the target was looked for */
        return -1;
    }
    bool is_new = output->keeps_others && !output->is_there;
    int failed =
        renameat2(directory, output->temporary, directory, base, is_new ? RENAME_NOREPLACE : 0);
    if (failed == 0 || !is_new || (errno != EINVAL && errno != ENOSYS))
        return failed;
    /* A file system that cannot rename without replacing, such as NFS: a link replaces nothing. */
    if (linkat(directory, output->temporary, directory, base, 0) == 0)
        return 0;
    return errno == EEXIST ? -1 : renameat(directory, output->temporary, directory, base);
}

/* Saves what was written, although it could not be put in its place. Returns the path of that file,
 * to be freed, or NULL. */
static char *keep(struct xb_output *output)
{
    char *path = NULL;
    int length = (int)(base_of(output) - output->target);
    if (output->temporary[0] == '\0') { /* no file could be created in the directory */
        path = copy_to_folder(output, secure_getenv("TMPDIR"));
        return path != NULL ? path : copy_to_folder(output, "/tmp");
    }
    if (asprintf(&path, "%.*s%s", length, output->target, output->temporary) < 0)
        return NULL;
    output->temporary[0] = '\0'; /* so that xb_output_discard does not remove it */
    return path;
}

const char *xb_replacement_finish(struct xb_output *output, char **kept)
{
    const char *failed = output->temporary[0] == '\0' ? give_name(output) : NULL;
    if (failed == NULL && output->in_place)
        failed = write_over(output);
    else if (failed == NULL && take_name(output) != 0)
        failed = "rename";
    int code = errno;
    if (failed != NULL)
        *kept = keep(output);
    errno = code;
    return failed;
}
