/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

ssize_t xb_gzip_read(void **unpacker, int file, void *bytes, unsigned size, const char **problem)
{
    if (*unpacker == NULL) /* it stays so without a descriptor or memory for it */
        *unpacker = gzdopen(fcntl(file, F_DUPFD_CLOEXEC, 0), "rb");
    ssize_t count = *unpacker != NULL ? gzread(*unpacker, bytes, size) : -1;
    int outcome = Z_ERRNO;
    if (count < 0 && *unpacker != NULL)
        (void)gzerror(*unpacker, &outcome);
    *problem = outcome == Z_ERRNO ? strerror(errno) : "is broken gzip, or memory is lacking";
    return count;
}

void xb_gzip_end(void *unpacker)
{
    if (unpacker != NULL)
        (void)gzclose_r(unpacker);
}
