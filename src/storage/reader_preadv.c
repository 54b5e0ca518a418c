/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* preadv */
#include "internal.h"
#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

/* One call reads 2 GiB less a page at most; a multiple of the block keeps direct reads aligned. */
#define MOST_BYTES (UINT64_C(1) << 30)

enum xb_status xb_read_failed(const struct xb_read *read, const char *call, int code,
                              uint64_t offset, uint64_t bytes, struct xb_error *error)
{
    char label[XB_STORAGE_LABEL];
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, code, xb_errno_name(code),
                          "%.300s: %llu bytes at offset %llu cannot be read, %s%s",
                          xb_files_label(read->files, read->file, label), (unsigned long long)bytes,
                          (unsigned long long)offset, strerror(code),
                          code == EIO ? ": the disk or the way to it fails, see dmesg" : "");
}

enum xb_status xb_read_ended(const struct xb_read *read, uint64_t offset, struct xb_error *error)
{
    char label[XB_STORAGE_LABEL];
    return XB_FAIL(
        error, XB_ERR_RUNTIME,
        "%.300s: ends before offset %llu, where %llu bytes from %llu on were to be read: "
        "it is shorter than when it was opened; leave the files alone while they are "
        "measured",
        xb_files_label(read->files, read->file, label), (unsigned long long)(offset + 1),
        (unsigned long long)read->bytes, (unsigned long long)read->offset);
}

/* How much to ask for behind the first `done` bytes. */
static uint64_t next_bytes(const struct xb_read *read, uint64_t done)
{
    uint64_t bytes = read->bytes - done;
    if (read->is_direct)
        bytes = (bytes + XB_STORAGE_BLOCK - 1) / XB_STORAGE_BLOCK * XB_STORAGE_BLOCK;
    return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

enum xb_status xb_read_by_preadv(const struct xb_read *read, struct xb_error *error)
{
    for (uint64_t done = 0; done < read->bytes;) {
        struct iovec part = {.iov_base = read->target + done, .iov_len = next_bytes(read, done)};
        uint64_t offset = read->offset + done;
        ssize_t got = preadv(read->descriptor, &part, 1, (off_t)offset);
        if (got < 0 && errno == EAGAIN) {
            /* A file system that wants to be asked again: not at once, which would only spin. */
            (void)poll(NULL, 0, 1);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return xb_read_failed(read, "preadv", errno, offset, part.iov_len, error);
        uint64_t more = (uint64_t)got;
        /* A direct read goes on at a block: less than one is only there where the file ends. */
        if (read->is_direct && done + more < read->bytes)
            more -= more % XB_STORAGE_BLOCK;
        if (more == 0)
            return xb_read_ended(read, offset + (uint64_t)got, error);
        done += more;
    }
    return XB_OK;
}
