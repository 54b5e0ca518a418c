/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

/* The text of a file, gzipped or not: it is unpacked as it is read. A build without zlib reads only
 * what is not gzipped. */
struct xb_gzip {
    int file;       /* stays the caller's */
    void *unpacker; /* gzip.c's own; NULL at first */
};

/* The next bytes, at most `size`, which is above 0; 0 at the end, also of what was cut short.
 * XB_ERR_USAGE: what is gzipped is broken. XB_ERR_UNSUPPORTED: this build lacks zlib.
 * XB_ERR_SYSTEM. */
XB_MUST_CHECK enum xb_status xb_gzip_read(struct xb_gzip *text, const char *path, void *bytes,
                                          unsigned size, size_t *got, struct xb_error *error);
void xb_gzip_end(struct xb_gzip *text);
