/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Files that fail, in a program that is otherwise xferbench. XB_FAILING_FILES in the environment
 * says which call fails, from which offset in its file on, and with what: "preadv 65536 EIO",
 * "pwrite 65536 ENOSPC"; "end" in place of an error is the end of the file, early
 * as of one that became shorter. "stat 0 more": files that are looked up by name in their folder
 * have a byte more from the so-manyth look on, counted from 0: "stat 1 more" is one that grows
 * after it was opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The linker puts the first of each pair in the other's place (tests/CMakeLists.txt). */
ssize_t __real_preadv(int descriptor, const struct iovec *parts, int count, off_t offset);
ssize_t __real_pread(int descriptor, void *memory, size_t bytes, off_t offset);
ssize_t __real_pwrite(int descriptor, const void *memory, size_t bytes, off_t offset);
int __real_fstatat(int folder, const char *name, struct stat *status, int flags);
int __real_fallocate(int descriptor, int mode, off_t offset, off_t bytes);

/* Whether that call is to fail at that offset: errno then says how, and 0 that the file ends. */
static int fails(const char *call, off_t offset)
{
    const char *what = getenv("XB_FAILING_FILES");
    char name[16];
    char how[16];
    long long from = 0;
    if (what == NULL || sscanf(what, "%15s %lld %15s", name, &from, how) != 3 ||
        strcmp(name, call) != 0 || offset < from)
        return 0;
    errno = strcmp(how, "EIO") == 0 ? EIO : strcmp(how, "ENOSPC") == 0 ? ENOSPC : 0;
    return 1;
}

ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    if (fails("preadv", offset))
        return errno != 0 ? -1 : 0;
    return __real_preadv(descriptor, parts, count, offset);
}

ssize_t __wrap_pread(int descriptor, void *memory, size_t bytes, off_t offset)
{
    if (fails("pread", offset))
        return errno != 0 ? -1 : 0;
    return __real_pread(descriptor, memory, bytes, offset);
}

ssize_t __wrap_pwrite(int descriptor, const void *memory, size_t bytes, off_t offset)
{
    return fails("pwrite", offset) ? -1 : __real_pwrite(descriptor, memory, bytes, offset);
}

int __wrap_fallocate(int descriptor, int mode, off_t offset, off_t bytes)
{
    return fails("fallocate", offset + bytes) ? -1
                                              : __real_fallocate(descriptor, mode, offset, bytes);
}

int __wrap_fstatat(int folder, const char *name, struct stat *status, int flags)
{
    static atomic_int looks;
    int code = __real_fstatat(folder, name, status, flags);
    if (code == 0 && fails("stat", atomic_fetch_add(&looks, 1)))
        status->st_size++;
    return code;
}
