/* SPDX-License-Identifier: Apache-2.0 */
/* In place of reader_uring.c in a build without liburing: preadv(2) reads the files. */
#include "internal.h"

#include <errno.h>

int xb_uring_open(const struct xb_reader_plan *plan, const int *descriptors, size_t count,
                  struct xb_uring **opened, int *buffer_error)
{
    (void)plan;
    (void)descriptors;
    (void)count;
    *buffer_error = 0;
    *opened = NULL;
    return ENOSYS;
}

void xb_uring_close(struct xb_uring *ring)
{
    (void)ring;
}

enum xb_status xb_read_by_uring(struct xb_uring *ring, const struct xb_read *read,
                                struct xb_error *error)
{
    (void)ring;
    return xb_read_failed(read, "io_uring", ENOSYS, read->offset, read->bytes, error);
}
