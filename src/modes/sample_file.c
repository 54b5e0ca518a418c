/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* O_CLOEXEC */
#define _FILE_OFFSET_BITS 64
#include "sample_data.h"

#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum xb_status open_file(const char *path, int *descriptor, uint64_t *length,
                                struct xb_error *error)
{
    struct stat file;
    enum xb_status status = XB_OK;
    /* A pipe without a writer would not open otherwise. */
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0)
        return XB_FAIL_ERRNO(error, "open", errno, "--data file:%.300s: cannot be read: %s", path,
                             strerror(errno));
    if (fstat(*descriptor, &file) != 0)
        status = XB_FAIL_ERRNO(error, "fstat", errno, "--data file:%.300s: cannot be read: %s",
                               path, strerror(errno));
    else if (!S_ISREG(file.st_mode))
        status = XB_FAIL(error, XB_ERR_USAGE, "--data file:%.300s: is no regular file", path);
    else if (file.st_size == 0)
        status = XB_FAIL(error, XB_ERR_USAGE, "--data file:%.300s: is empty", path);
    else
        *length = (uint64_t)file.st_size;
    if (status != XB_OK)
        close(*descriptor);
    return status;
}

enum xb_status xb_sample_file_check(const char *path, struct xb_error *error)
{
    int descriptor;
    uint64_t length = 0;
    if (open_file(path, &descriptor, &length, error) != XB_OK)
        return error->status = XB_ERR_USAGE;
    close(descriptor);
    return XB_OK;
}

static enum xb_status read_all(int descriptor, const char *path, char *memory, uint64_t bytes,
                               struct xb_error *error)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t got = read(descriptor, memory + done, bytes - done);
        if (got == 0)
            return XB_FAIL(error, XB_ERR_SYSTEM,
                           "--data file:%.300s: became shorter while it was read", path);
        if (got > 0)
            done += (uint64_t)got;
        else if (errno != EINTR)
            return XB_FAIL_ERRNO(error, "read", errno, "--data file:%.300s: cannot be read: %s",
                                 path, strerror(errno));
    }
    return XB_OK;
}

/* What is repeated: the beginning of the memory. */
struct period {
    char *memory;
    uint64_t length;
};

/* Writes [begin, end) behind the first period: once from there, then by doubling what it wrote, or
 * a file of one byte would be as many copies as there are bytes. */
static void repeat(void *argument, uint64_t begin, uint64_t end)
{
    const struct period *period = argument;
    char *to = period->memory + period->length + begin;
    uint64_t phase = begin % period->length;
    uint64_t total = end - begin;
    uint64_t first = period->length - phase < total ? period->length - phase : total;
    memcpy(to, period->memory + phase, first);
    uint64_t done = period->length < total ? period->length : total;
    memcpy(to + first, period->memory, done - first);
    while (done < total) {
        uint64_t more = done < total - done ? done : total - done;
        memcpy(to + done, to, more);
        done += more;
    }
}

#define GRAIN (UINT64_C(1) << 20)

enum xb_status xb_sample_file_fill(const char *path, void *memory, uint64_t bytes,
                                   struct xb_error *error)
{
    int descriptor;
    uint64_t length = 0;
    enum xb_status status = open_file(path, &descriptor, &length, error);
    if (status != XB_OK)
        return status;
    status = read_all(descriptor, path, memory, length < bytes ? length : bytes, error);
    close(descriptor);
    if (status != XB_OK || length >= bytes)
        return status;
    struct period period = {.memory = memory, .length = length};
    xb_parallel_for(bytes - length, GRAIN, repeat, &period);
    return XB_OK;
}
