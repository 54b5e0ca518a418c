/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fallocate, mkostemp, O_TMPFILE, renameat2 */
#include "output.h"

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

/* How many random names to try if others exist already. */
#define TRIES 10

/* Values of xb_output.descriptor: the path names none, or one of another process. */
enum { NO_DESCRIPTOR = -1, FOREIGN_DESCRIPTOR = -2 };

/* The outputs of this process that will replace a file and are open, for xb_outputs_abandon. */
static struct {
    pthread_mutex_t lock;
    struct xb_output *first;
    pid_t process; /* a child forked meanwhile has the list too, but not the files */
} replacing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum xb_status cannot_write(const struct xb_output *output, enum xb_status status,
                                   const char *call, int code, const char *advice,
                                   struct xb_error *error)
{
    return XB_FAIL_NATIVE(error, status, call, code, xb_errno_name(code),
                          "cannot write '%.300s': %s (%s): %s", output->path, strerror(code),
                          xb_errno_name(code), advice);
}

/* XB_ERR_USAGE, because the user can choose another path. */
static enum xb_status refuse(const struct xb_output *output, const char *call, int code,
                             struct xb_error *error)
{
    return cannot_write(output, XB_ERR_USAGE, call, code, xb_output_advice(code), error);
}

enum xb_status xb_output_fail(const struct xb_output *output, const char *call, int code,
                              struct xb_error *error)
{
    return cannot_write(output, XB_ERR_SYSTEM, call, code, xb_output_advice(code), error);
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

/* What follows the last slash. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Returns the directory of a path with links followed, or NULL with errno set. */
static char *directory_of(const char *path)
{
    size_t length = (size_t)(base_of(path) - path);
    char *directory = length > 0 ? xb_copy_part(path, length) : xb_copy(".");
    char *resolved = realpath(directory, NULL);
    int code = errno;
    free(directory);
    errno = code;
    return resolved;
}

/* Returns the file that `path` leads to, with links followed, so that renaming replaces the file
 * and not the link. The file itself need not exist. Returns NULL with errno set on failure. */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    if (target != NULL || errno != ENOENT)
        return target;
    struct stat link;
    if (*base_of(path) == '\0' || lstat(path, &link) == 0) { /* "directory/", or a dangling link */
        errno = ENOENT;
        return NULL;
    }
    char *directory = directory_of(path);
    if (directory != NULL)
        target = xb_print("%s/%s", directory, base_of(path));
    free(directory);
    return target;
}

/* The descriptor that a path such as /proc/self/fd/9 names, also through links: 40, as in Linux. */
static int descriptor_of(const char *path)
{
    char *here = xb_copy(path);
    int fd = NO_DESCRIPTOR;
    for (int i = 0; here != NULL && fd == NO_DESCRIPTOR && i <= 40; i++) {
        const char *base = base_of(here);
        char *directory = directory_of(here);
        char link[PATH_MAX];
        ssize_t length = directory != NULL ? readlink(here, link, sizeof link - 1) : -1;
        char *next = NULL;
        if (directory != NULL && *base != '\0' && strspn(base, "0123456789") == strlen(base) &&
            strlen(base) <= 9 &&
            (fnmatch("/proc/[0-9]*/fd", directory, FNM_PATHNAME) == 0 ||
             fnmatch("/proc/[0-9]*/task/[0-9]*/fd", directory, FNM_PATHNAME) == 0))
            fd = atoi(directory + strlen("/proc/")) == getpid() ? atoi(base) : FOREIGN_DESCRIPTOR;
        else if (length > 0)
            next = xb_print("%s/%.*s", link[0] == '/' ? "" : directory, (int)length, link);
        free(directory);
        free(here);
        here = next;
    }
    free(here);
    return fd;
}

enum xb_status xb_output_find(struct xb_output *output, const char *path, struct xb_error *error)
{
    *output = (struct xb_output){.path = xb_copy(path)};
    enum xb_status status = XB_OK;
    int fd = strcmp(path, "-") == 0 ? STDOUT_FILENO : descriptor_of(path);
    output->descriptor = fd;
    output->is_there = (fd >= 0 ? fstat(fd, &output->file) : stat(path, &output->file)) == 0;
    if (!output->is_there && (fd != NO_DESCRIPTOR || errno != ENOENT))
        status = refuse(output, "stat", errno, error);
    else if (output->is_there && S_ISDIR(output->file.st_mode))
        status = refuse(output, "stat", EISDIR, error);
    /* A standard stream that already writes to this file: a second one would overwrite what it
     * writes. main.c replaces a stream that the caller closed by /dev/null, open for reading only.
     */
    FILE *const streams[] = {stdout, stderr};
    for (size_t i = 0; output->is_there && output->standard == NULL && i < 2; i++) {
        struct stat open_file;
        if (is_writable(fileno(streams[i])) && fstat(fileno(streams[i]), &open_file) == 0 &&
            xb_is_same_file(&open_file, &output->file))
            output->standard = streams[i];
    }
    output->is_stdout = output->standard == stdout;
    bool is_file = !output->is_there || S_ISREG(output->file.st_mode);
    if (status == XB_OK && is_file && output->standard == NULL && fd == NO_DESCRIPTOR) {
        output->target = resolve(path);
        if (output->target == NULL)
            status = refuse(output, "realpath", errno, error);
    }
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

/* Leads to an open file, even if the file has no name. */
#define DESCRIPTOR_PATH "/proc/self/fd/%d"

/* Gives the new file a random name, without the target's, which may be as long as can be: creates
 * it or, where there is one without a name at the path `from`, links that. Returns what the call
 * does: -1 with errno set for a failure. */
static int open_named(struct xb_output *output, const char *from, mode_t mode)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, folder = output->directory;
    char *name = output->temporary;
    unsigned long long number = 0;
    int made = -1;
    for (int i = 0; made < 0 && i < TRIES && (i == 0 || errno == EEXIST); i++) {
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
            break;
        snprintf(name, sizeof output->temporary, ".xferbench-%016llx", number);
        made = from != NULL ? linkat(AT_FDCWD, from, folder, name, AT_SYMLINK_FOLLOW)
                            : openat(folder, name, flags, mode);
    }
    if (made < 0)
        name[0] = '\0'; /* a file with this name is not ours to remove */
    return made;
}

/* Removes the name of the new file, if it has one. Keeps errno. */
static void remove_temporary(struct xb_output *output)
{
    int code = errno;
    if (output->temporary[0] != '\0')
        (void)unlinkat(output->directory, output->temporary, 0);
    output->temporary[0] = '\0';
    errno = code;
}

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
    /* The directory may have a default list, and that may grant more than the old file did. */
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

/* fdopen() only lacks memory: the descriptor was opened for writing. */
static FILE *open_stream(int fd)
{
    FILE *stream = fdopen(fd, "w");
    if (stream == NULL)
        xb_memory_end(BUFSIZ);
    return stream;
}

/* Opens a new file that will replace the target when it is complete. Keeps a descriptor of the
 * directory, because the directory may be renamed in the meantime. */
static enum xb_status open_replacement(struct xb_output *output, struct xb_error *error)
{
    const char *base = base_of(output->target);
    char *directory = xb_copy_part(output->target, (size_t)(base - output->target));
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = errno;
    free(directory);
    if (fd < 0)
        return refuse(output, "open", code, error);
    output->directory = fd;
    (void)pthread_mutex_lock(&replacing.lock);
    output->next = replacing.process == getpid() ? replacing.first : NULL;
    replacing.first = output;
    replacing.process = getpid();
    xb_memory_end_also(xb_outputs_abandon);
    (void)pthread_mutex_unlock(&replacing.lock);
    /* Renaming over a file needs no permission to write it: this protects write-protected files. */
    if (output->is_there && faccessat(fd, base, W_OK, AT_EACCESS) != 0)
        return cannot_write(output, XB_ERR_USAGE, "faccessat", errno,
                            "make the file writable, or choose another name", error);
    mode_t mode = output->is_there ? 0600 : 0666; /* for a new file the umask decides */
    /* A file without a name: the kernel removes it when the process ends, even by SIGKILL. Fails if
     * the file system does not support this, or without /proc, which give_name needs. */
    fd = access("/proc/self/fd", X_OK) == 0
             ? openat(output->directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode)
             : -1;
    if (fd < 0)
        fd = open_named(output, NULL, mode);
    if (fd < 0)
        return refuse(output, "open", errno, error);
    output->in_place = output->is_there && !keep_access(fd, output->target, &output->file);
    output->stream = open_stream(fd);
    return XB_OK;
}

/* Opens what is not replaced: a descriptor, a device, a FIFO or the like. */
static enum xb_status open_as_it_is(struct xb_output *output, double deadline,
                                    struct xb_error *error)
{
    bool is_pipe = S_ISFIFO(output->file.st_mode);
    int callers = output->standard != NULL ? fileno(output->standard) : output->descriptor;
    const char *call = "open";
    int fd = -1;
    if (callers >= 0) {
        if (!is_writable(callers))
            return refuse(output, "fcntl", EBADF, error);
        /* A duplicate shares its position and O_APPEND with the caller's, which stays open. A pipe
         * is opened again if possible: O_NONBLOCK of a duplicate would change the caller's too. */
        char path[32];
        snprintf(path, sizeof path, DESCRIPTOR_PATH, callers);
        if (is_pipe)
            fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            fd = fcntl(callers, F_DUPFD_CLOEXEC, 0);
        call = "fcntl";
    } else if (is_pipe) {
        fd = xb_fifo_open(output->path, deadline);
        if (fd < 0 && (errno == EINTR || errno == ETIMEDOUT))
            return XB_FAIL(
                error, XB_ERR_STOPPED,
                "cannot write '%.300s': nobody opened this FIFO for reading before %s; start its "
                "reader first",
                output->path, errno == EINTR ? "a signal ended the wait" : "the deadline");
    } else {
        /* Appends to a file that another process has open. Not by fopen: for its O_CREAT the kernel
         * refuses other users' FIFOs in /tmp (fs.protected_fifos in proc_sys_fs(5)). */
        int flags = output->descriptor == FOREIGN_DESCRIPTOR ? O_APPEND : 0;
        fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);
    }
    if (fd < 0)
        return refuse(output, call, errno, error);
    output->stream = is_pipe ? xb_pipe_stream(fd, deadline) : open_stream(fd);
    return XB_OK;
}

enum xb_status xb_output_open(struct xb_output *output, double deadline, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    if (output->target != NULL)
        status = open_replacement(output, error);
    else if (output->standard != NULL && !S_ISFIFO(output->file.st_mode))
        output->stream = output->standard;
    else
        status = open_as_it_is(output, deadline, error);
    if (status != XB_OK)
        xb_output_discard(output);
    return status;
}

void xb_output_unbuffer(struct xb_output *output)
{
    if (output->stream != NULL)
        (void)setvbuf(output->stream, NULL, _IONBF, 0); /* if it fails, it is right but mixes */
}

/* ---- the new file in its place ---- */

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

/* Gives a file without a name a temporary name beside the target: linkat() replaces no file, so it
 * cannot take the target's own. Where the system refuses to link it, copies it to a file that has a
 * name. Returns the call that failed, or NULL, as the functions below do. */
static const char *give_name(struct xb_output *output)
{
    char from[32];
    int own = fileno(output->stream);
    snprintf(from, sizeof from, DESCRIPTOR_PATH, own);
    if (open_named(output, from, 0) == 0)
        return NULL;
    struct stat file;
    int fd = open_named(output, NULL, 0600);
    if (fd < 0)
        return "open";
    bool copied = fstat(own, &file) == 0 && copy(own, fd) &&
                  (output->in_place || keep_access(fd, from, &file));
    int code = errno;
    (void)close(fd);
    errno = code;
    if (!copied)
        remove_temporary(output);
    return copied ? NULL : "write";
}

/* Writes the new content into the old file `fd`: a new one could not keep its owner and rights. */
static const char *write_over(const struct xb_output *output, int fd)
{
    struct stat target, own;
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

/* Gives the new file the target's name. Where none should be there, the kernel looks once more, if
 * this file system can: ranks of a job end in the same moment. */
static int take_name(const struct xb_output *output)
{
    int directory = output->directory;
    const char *base = base_of(output->target);
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

static const char *write_in_place(struct xb_output *output)
{
    const char *failed = output->temporary[0] == '\0' ? give_name(output) : NULL;
    if (failed != NULL)
        return failed;
    if (!output->in_place)
        return take_name(output) != 0 ? "rename" : NULL;
    int fd = openat(output->directory, base_of(output->target),
                    O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return "open";
    failed = write_over(output, fd);
    int code = errno;
    (void)close(fd);
    errno = code;
    return failed;
}

/* Saves what could not be put in its place: under its temporary name or, where no file could be
 * created beside the target, in the folder for temporary files. Returns its path, to be freed, or
 * NULL. */
static char *keep(struct xb_output *output)
{
    if (output->temporary[0] != '\0') {
        int length = (int)(base_of(output->target) - output->target);
        char *path = xb_print("%.*s%s", length, output->target, output->temporary);
        output->temporary[0] = '\0'; /* so that xb_output_discard does not remove it */
        return path;
    }
    const char *const folders[] = {secure_getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        if (folders[i] == NULL)
            continue;
        char *path = xb_print("%s/xferbench-XXXXXX", folders[i]);
        int fd = mkostemp(path, O_CLOEXEC);
        bool copied = fd >= 0 && copy(fileno(output->stream), fd);
        if (fd >= 0)
            (void)close(fd);
        if (copied)
            return path;
        if (fd >= 0)
            unlink(path);
        free(path);
    }
    return NULL;
}

/* ---- closing ---- */

/* Closes the stream, unless it is a standard stream: others still write to those. */
static int close_stream(struct xb_output *output)
{
    FILE *stream = output->stream;
    output->stream = NULL;
    return stream == NULL || stream == stdout || stream == stderr ? 0 : fclose(stream);
}

enum xb_status xb_output_commit(struct xb_output *output, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    const char *failed = NULL;
    char *kept = NULL;
    errno = 0;
    if (ferror(output->stream) != 0) {
        failed = "write"; /* earlier: its errno is gone */
    } else if (fflush(output->stream) != 0) {
        failed = "fflush";
    } else if (output->target == NULL) {
        failed = close_stream(output) != 0 ? "fclose" : NULL;
    } else if (fsync(fileno(output->stream)) != 0) {
        failed = "fsync";
    } else {
        /* The rest does not matter to readers: xb_output_discard() does it and reports nothing. */
        failed = write_in_place(output);
        int code = errno;
        if (failed != NULL)
            kept = keep(output);
        errno = code;
    }
    int code = errno != 0 ? errno : EIO;
    if (kept != NULL) /* the file is complete but not in its place, for example at a mount point */
        status =
            XB_FAIL_ERRNO(error, failed, code,
                          "what was to be written is in '%s': cannot put '%.200s' in its "
                          "place: %s (%s)%s%s",
                          kept, output->path, strerror(code), xb_errno_name(code),
                          code == EEXIST ? ": " : "", code == EEXIST ? xb_output_advice(code) : "");
    else if (failed != NULL)
        status = xb_output_fail(output, failed, code, error);
    free(kept);
    xb_output_discard(output);
    return status;
}

void xb_output_discard(struct xb_output *output)
{
    (void)close_stream(output);
    remove_temporary(output);
    (void)pthread_mutex_lock(&replacing.lock);
    struct xb_output **at = &replacing.first;
    while (*at != NULL && *at != output)
        at = &(*at)->next;
    if (*at != NULL)
        *at = output->next;
    (void)pthread_mutex_unlock(&replacing.lock);
    if (output->directory > 0)
        close(output->directory);
    free(output->target);
    free(output->path);
    memset(output, 0, sizeof *output);
}

void xb_outputs_abandon(void)
{
    (void)pthread_mutex_lock(&replacing.lock);
    if (replacing.process == getpid())
        for (struct xb_output *at = replacing.first; at != NULL; at = at->next)
            remove_temporary(at);
    (void)pthread_mutex_unlock(&replacing.lock);
}
