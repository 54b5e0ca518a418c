/* SPDX-License-Identifier: Apache-2.0 */
/* In place of gzip.c in a build without zlib. */
#define _POSIX_C_SOURCE 200809L
#include "profile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum xb_status xb_gzip_read(void **unpacker, int file, const char *path, void *bytes, unsigned size,
                            size_t *got, struct xb_error *error)
{
    (void)unpacker;
    ssize_t count;
    do
        count = read(file, bytes, size);
    while (count < 0 && errno == EINTR);
    *got = count > 0 ? (size_t)count : 0;
    if (count < 0)
        return XB_FAIL_ERRNO(error, "read", errno, "%.300s: cannot be read: %s", path,
                             strerror(errno));
    if (*got < 2 || memcmp(bytes, "\x1f\x8b", 2) != 0) /* which JSON never has, wherever this is */
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "%.300s: is gzipped, and zlib is not in this build; unpack it with gunzip",
                   path);
}

void xb_gzip_end(void *unpacker)
{
    (void)unpacker;
}
