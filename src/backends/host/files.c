/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Files of the host backend: pread(2) into the memory that plays the device's. */
#include "host.h"

#include "xferbench/slot_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What O_DIRECT asks of offsets, lengths and addresses: the page, which no disk's block exceeds. */
#define BLOCK UINT64_C(4096)

struct host_file {
    struct xb_file base;
    int direct;   /* the caller's, opened with O_DIRECT */
    int buffered; /* the same file without, for what is not in whole blocks */
};

enum xb_status xb_host_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error)
{
    struct host_file *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a file");
    char path[48];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int buffered = open(path, O_RDONLY | O_CLOEXEC);
    if (buffered < 0) {
        int code = errno;
        free(opened);
        return XB_FAIL_ERRNO(error, "open", code, "a file cannot be opened again by %s", path);
    }
    *opened =
        (struct host_file){.base = {.device = device}, .direct = descriptor, .buffered = buffered};
    *file = &opened->base;
    return XB_OK;
}

void xb_host_file_close(struct xb_file *file)
{
    if (file == NULL)
        return;
    close(((struct host_file *)file)->buffered);
    free(file);
}

enum xb_status xb_host_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error)
{
    const struct host_file *from = (const struct host_file *)file;
    XB_TRY(xb_file_read_check(file, buffer, offset, bytes, error));
    char *target = (char *)xb_host_buffer_address(buffer) + offset;
    for (uint64_t left = bytes; left > 0;) {
        bool in_blocks =
            file_offset % BLOCK == 0 && (uintptr_t)target % BLOCK == 0 && left >= BLOCK;
        ssize_t count = pread(in_blocks ? from->direct : from->buffered, target,
                              in_blocks ? left / BLOCK * BLOCK : left, (off_t)file_offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "pread", errno, xb_errno_name(errno),
                                  "a file cannot be read at %llu", (unsigned long long)file_offset);
        if (count == 0)
            return XB_FAIL(error, XB_ERR_RUNTIME, "a file ends at %llu, %llu bytes too early",
                           (unsigned long long)file_offset, (unsigned long long)left);
        target += count;
        file_offset += (uint64_t)count;
        left -= (uint64_t)count;
    }
    return XB_OK;
}

enum xb_status xb_host_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error)
{
    (void)file;
    (void)error;
    *way = (struct xb_file_way){.is_direct = true};
    snprintf(way->how, sizeof way->how, "pread into the device's memory, which is the host's");
    return XB_OK;
}
