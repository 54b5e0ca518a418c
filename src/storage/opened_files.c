/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT */
#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* ---- file systems ---- */

/* Not in linux/magic.h: no part of the kernel, or they keep their number to themselves. */
#define ZFS_MAGIC 0x2fc12fc1
#define LUSTRE_MAGIC 0x0bd00bd0
#define GPFS_MAGIC 0x47504653
#define BEEGFS_MAGIC 0x19830326
#define BCACHEFS_MAGIC 0xca451a4e

static const struct {
    unsigned long magic;
    const char *name;
} names[] = {
    {EXT4_SUPER_MAGIC, "ext4"}, /* ext2 and ext3 have the same number */
    {XFS_SUPER_MAGIC, "xfs"},
    {BTRFS_SUPER_MAGIC, "btrfs"},
    {F2FS_SUPER_MAGIC, "f2fs"},
    {TMPFS_MAGIC, "tmpfs"},
    {RAMFS_MAGIC, "ramfs"},
    {HUGETLBFS_MAGIC, "hugetlbfs"},
    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
    {FUSE_SUPER_MAGIC, "fuse"}, /* virtiofs has the same number */
    {V9FS_MAGIC, "9p"},
    {NFS_SUPER_MAGIC, "nfs"},
    {CIFS_SUPER_MAGIC, "cifs"},
    {SMB2_SUPER_MAGIC, "smb2"},
    {CEPH_SUPER_MAGIC, "ceph"},
    {SQUASHFS_MAGIC, "squashfs"},
    {EROFS_SUPER_MAGIC_V1, "erofs"},
    {ISOFS_SUPER_MAGIC, "iso9660"},
    {MSDOS_SUPER_MAGIC, "vfat"},
    {ECRYPTFS_SUPER_MAGIC, "ecryptfs"},
    {PROC_SUPER_MAGIC, "proc"},
    {SYSFS_MAGIC, "sysfs"},
    {ZFS_MAGIC, "zfs"},
    {LUSTRE_MAGIC, "lustre"},
    {GPFS_MAGIC, "gpfs"},
    {BEEGFS_MAGIC, "beegfs"},
    {BCACHEFS_MAGIC, "bcachefs"},
};

/* The number of its file system, of 32 bits whatever the type's sign; 0: the kernel does not
 * say. */
static unsigned long magic_of(int descriptor)
{
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 ? (unsigned long)system.f_type & 0xffffffffUL : 0;
}

const char *xb_file_system_name(int descriptor, char *text, size_t size)
{
    unsigned long magic = magic_of(descriptor);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].magic == magic) {
            snprintf(text, size, "%s", names[i].name);
            return text;
        }
    if (magic != 0)
        snprintf(text, size, "0x%lx", magic);
    else
        snprintf(text, size, "unknown");
    return text;
}

bool xb_file_system_is_memory(int descriptor)
{
    unsigned long magic = magic_of(descriptor);
    return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC || magic == HUGETLBFS_MAGIC;
}

const char *xb_files_label(const struct xb_files *files, size_t file, char text[XB_STORAGE_LABEL])
{
    size_t length = strlen(files->path);
    /* The path of a folder ends with a slash here, that of a file cannot. */
    bool is_folder = length > 0 && files->path[length - 1] == '/';
    snprintf(text, XB_STORAGE_LABEL, "%s%s", files->path,
             is_folder ? files->entries[file].name : "");
    return text;
}

int xb_files_open_one(const struct xb_files *files, size_t file, int flags)
{
    int descriptor;
    do
        descriptor = openat(files->folder, files->entries[file].name, O_RDONLY | O_CLOEXEC | flags);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

void xb_files_add(struct xb_files *files, const char *name, uint64_t bytes)
{
    files->entries = xb_grow(files->entries, files->count, sizeof *files->entries);
    files->entries[files->count++] = (struct xb_file_entry){xb_copy(name), bytes};
    files->bytes += bytes;
}

void xb_files_close(struct xb_files *files)
{
    if (files->path == NULL)
        return; /* all zero: descriptor 0 is not ours */
    int code = errno, stays = 0;
    size_t length = strlen(files->path);
    bool is_folder = files->is_made && length > 0 && files->path[length - 1] == '/';
    for (size_t i = 0; is_folder && files->folder >= 0 && i < files->count; i++)
        if (unlinkat(files->folder, files->entries[i].name, 0) != 0 && errno != ENOENT &&
            stays == 0)
            stays = errno;
    if (is_folder && rmdir(files->path) != 0 && errno != ENOENT) {
        stays = stays != 0 ? stays : errno;
        xb_say("'%.300s' cannot be removed: %s (%s): remove it yourself, with what is in it",
               files->path, strerror(stays), xb_errno_name(stays));
    }
    errno = code;
    if (files->folder >= 0)
        close(files->folder);
    for (size_t i = 0; i < files->count; i++)
        free(files->entries[i].name);
    free(files->entries);
    free(files->path);
    *files = (struct xb_files){.folder = -1};
}

enum xb_status xb_direct_refused(const struct xb_files *files, size_t file, int code,
                                 struct xb_error *error)
{
    const char *label = XB_FILE_LABEL(files, file);
    if (code == EINVAL || code == EOPNOTSUPP)
        return XB_FAIL_NATIVE(
            error, XB_ERR_UNSUPPORTED, "open", code, xb_errno_name(code),
            "%.300s: its file system, %s, refuses O_DIRECT: read through the page "
            "cache, or have the file on another one",
            label, files->file_system);
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "open", code, xb_errno_name(code),
                          "%.300s: cannot be opened, %s%s", label, strerror(code),
                          code == EMFILE ? ": raise the limit, ulimit -n" : "");
}

/* ---- opening ---- */

static enum xb_status unreadable(struct xb_error *error, const char *call, int code,
                                 const char *path, const char *name)
{
    bool is_none = code == ENOENT || code == ENOTDIR;
    return XB_FAIL_NATIVE(error, is_none ? XB_ERR_USAGE : XB_ERR_RUNTIME, call, code,
                          xb_errno_name(code), "%.300s%.100s: cannot be read, %s", path, name,
                          strerror(code));
}

/* Adds a file if it is one to read. Opens it once, so that one that may not be read shows now. */
static enum xb_status add_readable(struct xb_files *files, const char *name, const char *shown,
                                   struct xb_error *error)
{
    struct stat status;
    if (fstatat(files->folder, name, &status, 0) != 0) {
        if (errno == ENOENT && *shown != '\0') /* a link to nothing, or it has just gone */
            return XB_OK;
        return unreadable(error, "fstatat", errno, files->path, shown);
    }
    /* A pipe without a writer would not open. */
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return XB_OK;
    int fd = openat(files->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return unreadable(error, "openat", errno, files->path, shown);
    if (files->count == 0)
        xb_file_system_name(fd, files->file_system, sizeof files->file_system);
    close(fd);
    xb_files_add(files, name, (uint64_t)status.st_size);
    return XB_OK;
}

XB_COMPARER(by_name, struct xb_file_entry, strcmp(a->name, b->name))

static enum xb_status open_folder(const char *path, struct xb_files *files, struct xb_error *error)
{
    size_t length = strlen(path);
    bool has_slash = length > 0 && path[length - 1] == '/';
    files->path = xb_print("%s%s", path, has_slash ? "" : "/");
    files->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder < 0)
        return unreadable(error, "open", errno, path, "");
    int fd = openat(files->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return unreadable(error, "opendir", code, files->path, "");
    }
    enum xb_status status = XB_OK;
    const struct dirent *entry;
    while (errno = 0, status == XB_OK && (entry = readdir(folder)) != NULL)
        status = add_readable(files, entry->d_name, entry->d_name, error);
    if (status == XB_OK && errno != 0)
        status = unreadable(error, "readdir", errno, files->path, "");
    closedir(folder);
    if (status == XB_OK && files->count == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "%.300s: no regular file in it has a byte to read",
                       path);
    if (status == XB_OK)
        qsort(files->entries, files->count, sizeof files->entries[0], by_name);
    return status;
}

/* The folder of a file and its name there. */
static enum xb_status open_file(const char *path, struct xb_files *files, struct xb_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *parent = slash != NULL ? xb_copy_part(path, length) : xb_copy(".");
    files->path = xb_copy(path);
    files->folder = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = errno;
    free(parent);
    if (files->folder < 0)
        return unreadable(error, "open", code, path, "");
    return add_readable(files, name, "", error);
}

enum xb_status xb_files_open(const char *path, struct xb_files *files, struct xb_error *error)
{
    struct stat kind;
    *files = (struct xb_files){.folder = -1};
    if (stat(path, &kind) != 0)
        return unreadable(error, "stat", errno, path, "");
    if (!S_ISDIR(kind.st_mode) && !S_ISREG(kind.st_mode))
        return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is no regular file and no folder", path);
    enum xb_status status =
        S_ISDIR(kind.st_mode) ? open_folder(path, files, error) : open_file(path, files, error);
    if (status == XB_OK && files->count == 0)
        status = XB_FAIL(error, XB_ERR_USAGE, "%.300s: is empty", path);
    if (status != XB_OK)
        xb_files_close(files);
    return status;
}

enum xb_status xb_files_check_lengths(const struct xb_files *files, struct xb_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        struct stat status;
        const struct xb_file_entry *entry = &files->entries[i];
        if (fstatat(files->folder, entry->name, &status, 0) != 0)
            return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "fstatat", errno, xb_errno_name(errno),
                                  "%.300s: is not there any more, %s: leave the files alone "
                                  "while they are measured",
                                  XB_FILE_LABEL(files, i), strerror(errno));
        uint64_t bytes = (uint64_t)status.st_size;
        if (bytes != entry->bytes)
            return XB_FAIL(error, XB_ERR_RUNTIME,
                           "%.300s: became %s, %llu bytes now and %llu when it was opened: leave "
                           "the files alone while they are measured",
                           XB_FILE_LABEL(files, i), bytes < entry->bytes ? "shorter" : "longer",
                           (unsigned long long)bytes, (unsigned long long)entry->bytes);
    }
    return XB_OK;
}

/* ---- read to check ---- */

static enum xb_status not_to_check(const struct xb_files *files, size_t file, uint64_t offset,
                                   int code, struct xb_error *error)
{
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "pread", code, xb_errno_name(code),
                          "%.300s: cannot be read at %llu to check what was measured, %s",
                          XB_FILE_LABEL(files, file), (unsigned long long)offset, strerror(code));
}

enum xb_status xb_files_read(const struct xb_files *files, size_t file, uint64_t offset,
                             void *target, uint64_t bytes, struct xb_error *error)
{
    int descriptor = xb_files_open_one(files, file, 0);
    if (descriptor < 0)
        return not_to_check(files, file, offset, errno, error);
    enum xb_status status = XB_OK;
    for (uint64_t done = 0; status == XB_OK && done < bytes;) {
        ssize_t count =
            pread(descriptor, (char *)target + done, bytes - done, (off_t)(offset + done));
        if (count < 0 && errno != EINTR)
            status = not_to_check(files, file, offset + done, errno, error);
        else if (count == 0)
            status = XB_FAIL(error, XB_ERR_RUNTIME,
                             "%.300s: ends at %llu, before what was measured: leave the files "
                             "alone while they are measured",
                             XB_FILE_LABEL(files, file), (unsigned long long)(offset + done));
        else if (count > 0)
            done += (uint64_t)count;
    }
    close(descriptor);
    return status;
}

/* The error of an open with O_DIRECT is right for one without too: only EINVAL differs. */
enum xb_status xb_files_open_to_read(const struct xb_files *files, size_t file, bool is_direct,
                                     int *descriptor, struct xb_error *error)
{
    *descriptor = xb_files_open_one(files, file, is_direct ? O_DIRECT : 0);
    return *descriptor < 0 ? xb_direct_refused(files, file, errno, error) : XB_OK;
}

enum xb_status xb_read_failed(const struct xb_read *read, const char *call, int code,
                              uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, code, xb_errno_name(code),
                          "%.300s: %llu bytes at offset %llu cannot be read, %s%s",
                          XB_FILE_LABEL(read->files, read->file), (unsigned long long)bytes,
                          (unsigned long long)offset, strerror(code),
                          code == EIO ? ": the disk or the way to it fails, see dmesg" : "");
}

enum xb_status xb_read_ended(const struct xb_read *read, uint64_t offset, struct xb_error *error)
{
    return XB_FAIL(
        error, XB_ERR_RUNTIME,
        "%.300s: ends before offset %llu, where %llu bytes from %llu on were to be read: "
        "it is shorter than when it was opened; leave the files alone while they are "
        "measured",
        XB_FILE_LABEL(read->files, read->file), (unsigned long long)(offset + 1),
        (unsigned long long)read->bytes, (unsigned long long)read->offset);
}
