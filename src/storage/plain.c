/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_DIRECT */
#include "plain.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum xb_status unreadable(const struct xb_files *files, size_t file, uint64_t offset,
                                 int code, struct xb_error *error)
{
    char label[XB_STORAGE_LABEL];
    return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "pread", code, xb_errno_name(code),
                          "%.300s: cannot be read at %llu to check what was measured, %s",
                          xb_files_label(files, file, label), (unsigned long long)offset,
                          strerror(code));
}

static enum xb_status read_all(const struct xb_files *files, size_t file, int descriptor,
                               uint64_t offset, void *target, uint64_t bytes,
                               struct xb_error *error)
{
    char label[XB_STORAGE_LABEL];
    for (uint64_t done = 0; done < bytes;) {
        ssize_t count =
            pread(descriptor, (char *)target + done, bytes - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return unreadable(files, file, offset + done, errno, error);
        if (count == 0)
            return XB_FAIL(error, XB_ERR_RUNTIME,
                           "%.300s: ends at %llu, before what was measured: leave the files alone "
                           "while they are measured",
                           xb_files_label(files, file, label), (unsigned long long)(offset + done));
        done += (uint64_t)count;
    }
    return XB_OK;
}

enum xb_status xb_files_read(const struct xb_files *files, size_t file, uint64_t offset,
                             void *target, uint64_t bytes, struct xb_error *error)
{
    int descriptor = xb_files_open_one(files, file, 0);
    if (descriptor < 0)
        return unreadable(files, file, offset, errno, error);
    enum xb_status status = read_all(files, file, descriptor, offset, target, bytes, error);
    close(descriptor);
    return status;
}

enum xb_status xb_files_open_direct(const struct xb_files *files, size_t file, int *descriptor,
                                    struct xb_error *error)
{
    *descriptor = xb_files_open_one(files, file, O_DIRECT);
    return *descriptor < 0 ? xb_direct_refused(files, file, errno, error) : XB_OK;
}
