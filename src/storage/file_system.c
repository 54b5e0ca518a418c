/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* statx */
#include "internal.h"
#include "reader.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* Not in linux/magic.h: OpenZFS, Lustre, GPFS, BeeGFS and vboxsf are no part of the kernel or keep
 * their number to themselves. */
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

/* 0 where the kernel does not say. The kernel's numbers have 32 bits; the type's sign is no part of
 * them. */
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

struct xb_direct_needs xb_direct_needs_of(int descriptor)
{
    struct xb_direct_needs needs = {.known = false};
#ifdef STATX_DIOALIGN /* Linux 6.1 and later */
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
        (status.stx_mask & STATX_DIOALIGN) != 0) {
        needs.known = true;
        needs.offset = status.stx_dio_offset_align;
        needs.memory = status.stx_dio_mem_align;
        needs.possible = needs.offset != 0 && needs.memory != 0;
    }
#else
    (void)descriptor;
#endif
    return needs;
}

enum xb_status xb_direct_check_needs(const struct xb_files *files, size_t file, int descriptor,
                                     struct xb_error *error)
{
    char label[XB_STORAGE_LABEL];
    struct xb_direct_needs needs = xb_direct_needs_of(descriptor);
    if (needs.offset <= XB_STORAGE_BLOCK && needs.memory <= XB_STORAGE_BLOCK)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%.300s: O_DIRECT on this %s needs blocks of %u bytes in the file and %u in "
                   "memory, and direct reads here have blocks of %llu: read through the page cache",
                   xb_files_label(files, file, label), files->file_system, needs.offset,
                   needs.memory, (unsigned long long)XB_STORAGE_BLOCK);
}
