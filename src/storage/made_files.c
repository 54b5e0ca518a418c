/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_TMPFILE, fallocate, syncfs, secure_getenv */
#include "backends/verify.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/units.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* One file has no name, so that the kernel removes it with the process, even by SIGKILL. Loaders
 * of many open them by name: these lie in a folder that is locked as long as it is used. One
 * that a killed process left unlocked is removed by the next of this user's that makes files in
 * its place. */
#define FOLDER_PREFIX "xferbench-files-"
#define FOLDER_RANDOM "XXXXXX"
#define NAME_SUFFIX ".bin"

/* How much is written between two looks for a signal. */
#define PIECE_BYTES (UINT64_C(4) << 20)
/* How many new folders to try: somebody else's sweep can take one before it is locked. */
#define TRIES 10

struct making {
    const char *where;
    const char *advice; /* where they cannot be made */
    size_t count;
    uint64_t bytes_each;
    double end_at;
    struct xb_pattern pattern;
    void *piece; /* PIECE_BYTES */
};

/* ---- what was made before ---- */

static void remove_left_over(int where, const char *name)
{
    struct stat status;
    int fd = openat(where, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        int list = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *folder = list >= 0 ? fdopendir(list) : NULL;
        const struct dirent *entry;
        while (folder != NULL && (entry = readdir(folder)) != NULL) {
            /* Only names that make_many() writes: others are of files of the user's. */
            size_t digits = strspn(entry->d_name, "0123456789");
            if (digits > 0 && strcmp(entry->d_name + digits, NAME_SUFFIX) == 0)
                (void)unlinkat(list, entry->d_name, 0);
        }
        if (folder != NULL)
            closedir(folder);
        else if (list >= 0)
            close(list);
        (void)unlinkat(where, name, AT_REMOVEDIR);
    }
    close(fd);
}

/* Removes the folders that killed processes left behind, as far as that can be done. */
static void sweep(const char *where)
{
    DIR *folder = opendir(where);
    if (folder == NULL)
        return;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, FOLDER_PREFIX, strlen(FOLDER_PREFIX)) == 0 &&
            strlen(entry->d_name) == strlen(FOLDER_PREFIX FOLDER_RANDOM))
            remove_left_over(dirfd(folder), entry->d_name);
    closedir(folder);
}

/* ---- what fails ---- */

static enum xb_status failed(const struct making *making, const char *call, int code,
                             struct xb_error *error)
{
    bool is_full = code == ENOSPC || code == EDQUOT;
    return XB_FAIL_NATIVE(error, is_full ? XB_ERR_MEMORY : XB_ERR_RUNTIME, call, code,
                          xb_errno_name(code), "%.300s: %zu %s of %s cannot be made here, %s: %s",
                          making->where, making->count, making->count == 1 ? "file" : "files",
                          XB_SIZE_TEXT(making->bytes_each), strerror(code), making->advice);
}

static enum xb_status do_not_fit(const struct making *making, const char *what, uint64_t needed,
                                 uint64_t left, struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY,
                   "%.300s: %zu %s of %llu bytes %s %llu %s, and %llu are free: %s", making->where,
                   making->count, making->count == 1 ? "file" : "files",
                   (unsigned long long)making->bytes_each, making->count == 1 ? "needs" : "need",
                   (unsigned long long)needed, what, (unsigned long long)left, making->advice);
}

/* Whether the files fit, before anything is made. */
static enum xb_status check_space(const struct making *making, struct xb_error *error)
{
    struct statvfs system;
    uint64_t bytes;
    if (statvfs(making->where, &system) != 0)
        return failed(making, "statvfs", errno, error);
    uint64_t block = system.f_frsize > 0 ? system.f_frsize : 1;
    if (making->bytes_each > INT64_MAX / 2 ||
        __builtin_mul_overflow((making->bytes_each + block - 1) / block * block,
                               (uint64_t)making->count, &bytes))
        bytes = UINT64_MAX;
    /* A file system without limits has no blocks, one that makes inodes as needed no files. */
    if (system.f_blocks > 0 && bytes > (uint64_t)system.f_bavail * block)
        return do_not_fit(making, "bytes", bytes, (uint64_t)system.f_bavail * block, error);
    if (system.f_files > 0 && making->count >= system.f_favail)
        return do_not_fit(making, "inodes", (uint64_t)making->count + 1, system.f_favail, error);
    return XB_OK;
}

/* ---- contents ---- */

static enum xb_status fill(const struct making *making, size_t index, int fd,
                           struct xb_error *error)
{
    uint64_t begin = (uint64_t)index * making->bytes_each;
    int outcome;
    /* Has the file system keep the space, if it can: a full disk shows before the writing. */
    do
        outcome = fallocate(fd, 0, 0, (off_t)making->bytes_each);
    while (outcome != 0 && errno == EINTR && xb_interrupt_signal() == 0);
    if (outcome != 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
        return failed(making, "fallocate", errno, error);
    for (uint64_t done = 0; done < making->bytes_each;) {
        if (xb_interrupt_signal() != 0 || (making->end_at > 0 && xb_clock_now() >= making->end_at))
            return XB_FAIL(error, XB_ERR_STOPPED, "files were not made to the end");
        uint64_t left = making->bytes_each - done;
        uint64_t bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        xb_host_fill(making->piece, begin + done, bytes, making->pattern);
        ssize_t written = pwrite(fd, making->piece, bytes, (off_t)done);
        if (written == 0 || (written < 0 && errno != EINTR))
            return failed(making, "pwrite", written == 0 ? EIO : errno, error);
        done += written > 0 ? (uint64_t)written : 0;
    }
    return XB_OK;
}

/* ---- one ---- */

/* A file without a name, or -1 with errno. */
static int open_unnamed(const char *where)
{
    int fd = open(where, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd;
    /* The file system or the kernel has none: one with a name, for a moment. */
    char *path = xb_print("%s/" FOLDER_PREFIX FOLDER_RANDOM, where);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    int code = errno;
    free(path);
    errno = code;
    return fd;
}

static enum xb_status make_one(const struct making *making, struct xb_files *files,
                               struct xb_error *error)
{
    /* openat(2) takes an absolute path in any folder, so the file itself is in its place. */
    char name[32];
    files->path = xb_print("%s: the file made there", making->where);
    files->folder = open_unnamed(making->where);
    if (files->folder < 0)
        return failed(making, "open", errno, error);
    xb_file_system_name(files->folder, files->file_system, sizeof files->file_system);
    snprintf(name, sizeof name, "/proc/self/fd/%d", files->folder);
    enum xb_status status = fill(making, 0, files->folder, error);
    if (status == XB_OK && fdatasync(files->folder) != 0)
        status = failed(making, "fdatasync", errno, error);
    if (status == XB_OK)
        xb_files_add(files, name, making->bytes_each);
    return status;
}

/* Whether a file without a name can be opened again here: not without /proc. */
static bool can_open_again(const char *where)
{
    char name[32];
    int fd = open_unnamed(where);
    if (fd < 0)
        return true; /* let making it say why */
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int again = open(name, O_RDONLY | O_CLOEXEC);
    if (again >= 0)
        close(again);
    close(fd);
    return again >= 0;
}

/* ---- many ---- */

static enum xb_status make_folder(const struct making *making, struct xb_files *files,
                                  struct xb_error *error)
{
    struct stat own, there;
    for (int i = 0; i < TRIES; i++) {
        free(files->path);
        files->path = xb_print("%s/" FOLDER_PREFIX FOLDER_RANDOM "/", making->where);
        char *slash = files->path + strlen(files->path) - 1;
        *slash = '\0'; /* mkdtemp wants the X at the end */
        if (mkdtemp(files->path) == NULL)
            return failed(making, "mkdtemp", errno, error);
        files->folder = open(files->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        /* Whether it is locked and still there. Where no file system locks, nobody removes it. */
        bool held = files->folder >= 0 &&
                    (flock(files->folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                    fstat(files->folder, &own) == 0 && stat(files->path, &there) == 0 &&
                    own.st_ino == there.st_ino && own.st_dev == there.st_dev;
        *slash = '/';
        if (held)
            return XB_OK;
        int code = files->folder < 0 ? errno : EBUSY;
        if (files->folder >= 0)
            close(files->folder);
        files->folder = -1;
        if (code != EBUSY && code != ENOENT)
            return failed(making, "open", code, error);
    }
    return failed(making, "flock", EBUSY, error);
}

static enum xb_status make_many(const struct making *making, struct xb_files *files,
                                struct xb_error *error)
{
    /* What needs memory first: where it is lacking nothing is left behind. */
    for (size_t i = 0; i < making->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%08zu" NAME_SUFFIX, i);
        xb_files_add(files, name, making->bytes_each);
    }
    XB_TRY(make_folder(making, files, error));
    for (size_t i = 0; i < making->count; i++) {
        int fd = openat(files->folder, files->entries[i].name,
                        O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            return failed(making, "openat", errno, error);
        enum xb_status status = fill(making, i, fd, error);
        if (i == 0)
            xb_file_system_name(fd, files->file_system, sizeof files->file_system);
        if (close(fd) != 0 && status == XB_OK)
            status = failed(making, "close", errno, error);
        XB_TRY(status);
    }
    /* One call for all: an fsync(2) for each of thousands of files takes minutes on some disks. */
    return syncfs(files->folder) == 0 ? XB_OK : failed(making, "syncfs", errno, error);
}

enum xb_status xb_files_make(const char *where, size_t count, uint64_t bytes_each, bool need_names,
                             double end_at, struct xb_pattern pattern, struct xb_files *files,
                             struct xb_error *error)
{
    const char *usual = secure_getenv("TMPDIR");
    struct making making = {.where = where,
                            .advice = where != NULL ? "name another folder, or make less"
                                                    : "name another place by TMPDIR, or make less",
                            .count = count,
                            .bytes_each = bytes_each,
                            .end_at = end_at,
                            .pattern = pattern};
    if (where == NULL)
        making.where = usual != NULL && usual[0] != '\0' ? usual : "/var/tmp";
    *files = (struct xb_files){.folder = -1};
    if (count == 0 || bytes_each == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "no file to be made: %zu of %llu bytes were asked for",
                       count, (unsigned long long)bytes_each);
    sweep(making.where);
    XB_TRY(check_space(&making, error));
    making.piece = malloc(PIECE_BYTES);
    if (making.piece == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for what is written to files");
    files->is_made = true;
    enum xb_status status = count == 1 && !need_names && can_open_again(making.where)
                                ? make_one(&making, files, error)
                                : make_many(&making, files, error);
    free(making.piece);
    if (status != XB_OK)
        xb_files_close(files);
    return status;
}

/* ---- kept for the next case ---- */

/* No case of a run has it: those are counted from 1 << 40 on. */
#define SEED (1ULL << 32)

void xb_store_close(struct xb_store *store)
{
    xb_files_close(&store->files);
    *store = (struct xb_store){.end_at = store->end_at};
}

enum xb_status xb_store_files(struct xb_store *store, const char *where, size_t count,
                              uint64_t bytes_each, bool need_names, const struct xb_files **files,
                              struct xb_error *error)
{
    const struct xb_pattern pattern = {.seed = SEED};
    *files = &store->files;
    if (store->files.count == count && store->bytes_each == bytes_each &&
        (store->has_names || !need_names))
        return XB_OK;
    xb_store_close(store);
    XB_TRY(xb_files_make(where, count, bytes_each, need_names, store->end_at, pattern,
                         &store->files, error));
    store->bytes_each = bytes_each;
    store->has_names = need_names || count > 1;
    store->pattern = pattern;
    return XB_OK;
}
