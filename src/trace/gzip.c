/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "gzip.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct xb_gzip {
    gzFile file; /* NULL: there is no descriptor or memory for it */
};

struct xb_gzip *xb_gzip_begin(int file)
{
    struct xb_gzip *text = xb_new(1, sizeof *text);
    text->file = gzdopen(fcntl(file, F_DUPFD_CLOEXEC, 0), "rb");
    return text;
}

enum xb_status xb_gzip_read(struct xb_gzip *text, const char *path, void *bytes, unsigned size,
                            size_t *got, struct xb_error *error)
{
    int outcome = Z_ERRNO;
    int count = text->file != NULL ? gzread(text->file, bytes, size) : -1;
    int code = errno;
    *got = count > 0 ? (size_t)count : 0;
    if (count >= 0)
        return XB_OK;
    if (text->file != NULL)
        (void)gzerror(text->file, &outcome);
    if (outcome == Z_ERRNO)
        return XB_FAIL_ERRNO(error, "read", code, "%.300s: cannot be read: %s", path,
                             strerror(code));
    if (outcome == Z_MEM_ERROR)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to unpack %.300s", path);
    return XB_FAIL(error, XB_ERR_USAGE, "%.300s: broken gzip, behind byte %lld of its text", path,
                   (long long)gztell(text->file));
}

void xb_gzip_end(struct xb_gzip *text)
{
    if (text->file != NULL)
        (void)gzclose_r(text->file);
    free(text);
}
