/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

enum xb_status xb_gzip_read(void **unpacker, int file, const char *path, void *bytes, unsigned size,
                            size_t *got, struct xb_error *error)
{
    if (*unpacker == NULL) /* it stays so without a descriptor or memory for it */
        *unpacker = gzdopen(fcntl(file, F_DUPFD_CLOEXEC, 0), "rb");
    int outcome = Z_ERRNO, count = -1;
    if (*unpacker != NULL)
        count = gzread(*unpacker, bytes, size);
    *got = count > 0 ? (size_t)count : 0;
    if (count >= 0)
        return XB_OK;
    if (*unpacker != NULL)
        (void)gzerror(*unpacker, &outcome);
    if (outcome == Z_ERRNO)
        return XB_FAIL_ERRNO(error, "read", errno, "%.300s: cannot be read: %s", path,
                             strerror(errno));
    if (outcome == Z_MEM_ERROR)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to unpack %.300s", path);
    return XB_FAIL(error, XB_ERR_USAGE, "%.300s: broken gzip, behind byte %lld of its text", path,
                   (long long)gztell(*unpacker));
}

void xb_gzip_end(void *unpacker)
{
    if (unpacker != NULL)
        (void)gzclose_r(unpacker);
}
