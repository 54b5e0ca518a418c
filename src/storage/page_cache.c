/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT, mincore, statx */
#include "internal.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What statx(2) says of O_DIRECT on a file. */
struct direct_needs {
    bool possible;   /* it is there; false also where nobody tells */
    unsigned offset; /* alignment in the file, bytes */
    unsigned memory; /* and in memory */
};

static struct direct_needs read_needs(int descriptor)
{
    struct direct_needs needs = {.possible = false};
#ifdef STATX_DIOALIGN /* Linux 6.1 and later */
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 &&
        (status.stx_mask & STATX_DIOALIGN) != 0) {
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
    struct direct_needs needs = read_needs(descriptor);
    if (needs.offset <= XB_STORAGE_BLOCK && needs.memory <= XB_STORAGE_BLOCK)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%.300s: O_DIRECT on this %s needs blocks of %u bytes in the file and %u in "
                   "memory, and direct reads here have blocks of %llu: read through the page cache",
                   XB_FILE_LABEL(files, file), files->file_system, needs.offset, needs.memory,
                   (unsigned long long)XB_STORAGE_BLOCK);
}

/* ---- how much is cached ---- */

/* How much of a file is mapped at once: the answer has a byte for each of its pages. */
#define WINDOW_BYTES (UINT64_C(256) << 20)

static enum xb_status failed(const struct xb_files *files, size_t file, const char *call, int code,
                             struct xb_error *error)
{
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, code, xb_errno_name(code),
                          "%.300s (%s): how much of it is in the page cache is not known, %s",
                          XB_FILE_LABEL(files, file), files->file_system, strerror(code));
}

/* mincore(2) says "all" to whoever neither owns the file nor may write it, since Linux 5.2. */
static bool may_look(int descriptor)
{
    struct stat status;
    char path[32];
    if (fstat(descriptor, &status) == 0 && status.st_uid == geteuid())
        return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Counts pages of [begin, begin + bytes), from a page on. Returns 0, or errno with the call. */
static int count_window(int descriptor, uint64_t begin, uint64_t bytes, uint64_t *cached,
                        const char **call)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t pages = (bytes + page - 1) / page;
    unsigned char *states = malloc(pages);
    *call = "malloc";
    if (states == NULL)
        return ENOMEM;
    *call = "mmap";
    void *window = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, (off_t)begin);
    int code = window == MAP_FAILED ? errno : 0;
    if (code == 0) {
        *call = "mincore";
        if (mincore(window, bytes, states) != 0)
            code = errno;
        munmap(window, bytes);
    }
    for (uint64_t i = 0; code == 0 && i < pages; i++)
        *cached += states[i] & 1;
    free(states);
    return code;
}

enum xb_status xb_files_cached_share(const struct xb_files *files, uint64_t bytes, double *share,
                                     struct xb_error *error)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t cached = 0, pages = 0;
    *share = 0;
    for (size_t i = 0; bytes > 0 && i < files->count; i++) {
        uint64_t part = files->entries[i].bytes < bytes ? files->entries[i].bytes : bytes;
        const char *call = NULL;
        int fd = xb_files_open_one(files, i, 0), code = 0;
        if (fd < 0)
            return failed(files, i, "open", errno, error);
        if (!may_look(fd)) {
            close(fd);
            return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                           "%.300s: Linux tells only the owner of a file, or who may write it, how "
                           "much of it is in the page cache",
                           XB_FILE_LABEL(files, i));
        }
        for (uint64_t at = 0; code == 0 && at < part; at += WINDOW_BYTES)
            code = count_window(fd, at, part - at < WINDOW_BYTES ? part - at : WINDOW_BYTES,
                                &cached, &call);
        close(fd);
        if (code == ENODEV) /* of mmap: some file systems in user space map nothing */
            return XB_FAIL_NATIVE(error, XB_ERR_UNSUPPORTED, call, code, xb_errno_name(code),
                                  "%.300s: this file system cannot map files, so how much of it is "
                                  "in the page cache is not known",
                                  XB_FILE_LABEL(files, i));
        if (code != 0)
            return failed(files, i, call, code, error);
        pages += (part + page - 1) / page;
        bytes -= part;
    }
    *share = pages > 0 ? (double)cached / (double)pages : 0;
    return XB_OK;
}

/* ---- whether direct reads pass it by ---- */

/* Whether the block at `begin` is in the page cache. */
static int look(int descriptor, uint64_t begin, uint64_t bytes, bool *is_cached)
{
    const char *call;
    uint64_t cached = 0;
    int code = count_window(descriptor, begin, bytes, &cached, &call);
    *is_cached = cached > 0;
    return code;
}

/* Puts the block out of the page cache. First as little as will do: a large folio goes only as a
 * whole, and a file that others use had better stay. */
static int write_out(int descriptor, uint64_t begin, uint64_t bytes, bool *is_cached)
{
    static const uint64_t around[] = {UINT64_C(1) << 12, UINT64_C(1) << 22, UINT64_C(1) << 62};
    (void)fdatasync(descriptor); /* dirty pages stay; it may fail where nothing can be dirty */
    int code = look(descriptor, begin, bytes, is_cached);
    for (size_t i = 0; code == 0 && *is_cached && i < sizeof around / sizeof around[0]; i++) {
        uint64_t from = begin / around[i] * around[i];
        (void)posix_fadvise(descriptor, (off_t)from, 0, POSIX_FADV_DONTNEED);
        code = look(descriptor, begin, bytes, is_cached);
    }
    return code;
}

static int read_block(int descriptor, uint64_t begin)
{
    void *block = NULL;
    ssize_t got;
    if (posix_memalign(&block, XB_STORAGE_BLOCK, XB_STORAGE_BLOCK) != 0)
        return ENOMEM;
    do
        got = pread(descriptor, block, XB_STORAGE_BLOCK, (off_t)begin);
    while (got < 0 && errno == EINTR);
    int code = got < 0 ? errno : got == 0 ? ENODATA : 0;
    free(block);
    return code;
}

static enum xb_status through_cache(const struct xb_files *files, const char *seen,
                                    struct xb_error *error)
{
    return XB_FAIL(
        error, XB_ERR_UNSUPPORTED,
        "%.300s: its file system, %s, takes O_DIRECT, %s: read through the page cache, or "
        "have the file on another one",
        XB_FILE_LABEL(files, 0), files->file_system, seen);
}

static enum xb_status prove(const struct xb_files *files, int descriptor, struct xb_error *error)
{
    uint64_t bytes = files->entries[0].bytes;
    uint64_t begin = (bytes - 1) / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK;
    bool before = false;
    bool after = false;
    if (xb_file_system_is_memory(descriptor))
        return through_cache(files, "but has its files in the page cache only", error);
    /* Where nobody lets us look, the kernel's own word has to do. */
    bool promised = read_needs(descriptor).possible;
    if (!may_look(descriptor))
        return promised ? XB_OK
                        : through_cache(
                              files, "and nobody but the file's owner can see what it does", error);
    int code = write_out(descriptor, begin, bytes - begin, &before);
    if (code != 0)
        return failed(files, 0, "mincore", code, error);
    code = read_block(descriptor, begin);
    if (code == EINVAL)
        return xb_direct_refused(files, 0, code, error);
    if (code != 0)
        return failed(files, 0, "pread", code, error);
    code = look(descriptor, begin, bytes - begin, &after);
    if (code != 0)
        return failed(files, 0, "mincore", code, error);
    if (before && !promised)
        return through_cache(
            files, "but its pages stay in the page cache: nobody can see what it does", error);
    return before || !after
               ? XB_OK
               : through_cache(files, "but a block that was read so is in the page cache", error);
}

enum xb_status xb_files_check_direct(const struct xb_files *files, struct xb_error *error)
{
    int fd;
    XB_TRY(xb_files_open_to_read(files, 0, true, &fd, error));
    enum xb_status status = xb_direct_check_needs(files, 0, fd, error);
    if (status == XB_OK)
        status = prove(files, fd, error);
    close(fd);
    return status;
}
