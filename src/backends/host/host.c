/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The CPU as a device: its own memory, a worker thread for each queue (queue.c) that copies and
 * computes (work.c), and events from the monotonic clock. With it the tools run without a GPU, and
 * it gives a baseline for the host's own memory. */
#include "host.h"

#include "machine/environment.h"
#include "machine/host_memory.h"

#include "backends/slot_checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How many operations may be enqueued behind a hold: any, because the queue is a list. */
#define HELD_OPERATIONS 1024u

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    memset(probe, 0, sizeof *probe);
    probe->device_count = 1;
    xb_probe_add(probe, true, "the CPU", "always there");
    return xb_driver_make(&xb_host_backend, "host", driver, error);
}

static enum xb_status device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    (void)driver;
    if (index != 0)
        return XB_FAIL(error, XB_ERR_USAGE, "the host backend has one device, 0; there is no %u",
                       index);
    memset(info, 0, sizeof *info);
    struct xb_host_facts facts;
    xb_host_facts_read(&facts);
    /* Not every architecture tells its CPUs' name. */
    snprintf(info->name, sizeof info->name, "%s",
             facts.cpu_model[0] != '\0' ? facts.cpu_model : "CPU");
    info->memory_bytes = facts.memory_bytes;
    info->capabilities = XB_CAP_REGISTER | XB_CAP_HOLD | XB_CAP_KERNELS | XB_CAP_MAPPED |
                         XB_CAP_BATCH | XB_CAP_GRAPH | XB_CAP_ROWS | XB_CAP_FILE | XB_CAP_PAGEABLE;
    xb_device_withhold(info, XB_CAP_POOL, "the host has no memory pool");
    info->held_operations = HELD_OPERATIONS;
    info->shares_host_memory = true;
    info->host_clock = true;
    info->pinned_note = "populated, not locked: a CPU copy needs no page lock";
    return XB_OK;
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    struct xb_device_info info;
    XB_TRY(device_info(driver, index, &info, error));
    struct xb_device *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open the host's device");
    *opened = (struct xb_device){&xb_host_backend, info};
    *device = opened;
    return XB_OK;
}

static void device_close(struct xb_device *device)
{
    free(device);
}

static enum xb_status device_memory(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error)
{
    (void)device;
    return xb_host_memory_available(free_bytes, error);
}

/* `callers`: its memory; NULL: it is allocated. */
static enum xb_status make(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                           void *callers, struct xb_buffer **buffer, struct xb_error *error)
{
    struct xb_host_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a buffer");
    made->address = callers;
    made->callers = callers != NULL;
    enum xb_status status = made->callers ? XB_OK
                            : memory == XB_MEMORY_REGISTERED
                                ? xb_pages_map_huge(bytes, &made->address, error)
                                : xb_pages_map(bytes, &made->address, error);
    void *host_address = memory == XB_MEMORY_DEVICE ? NULL : made->address;
    made->base = (struct xb_buffer){device, memory, bytes, host_address};
    return XB_OPENED(status, made, free(made), buffer);
}

static enum xb_status buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error)
{
    if (memory == XB_MEMORY_WRITE_COMBINED || memory == XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "the host backend has no %s memory",
                       xb_memory_name(memory));
    return make(device, memory, bytes, NULL, buffer, error);
}

/* Nothing is locked here, as nothing is that this backend allocates (info.pinned_note). */
static enum xb_status buffer_register(struct xb_device *device, void *address, uint64_t bytes,
                                      struct xb_buffer **buffer, struct xb_error *error)
{
    XB_TRY(xb_register_check(address, bytes, error));
    return make(device, XB_MEMORY_REGISTERED, bytes, address, buffer, error);
}

static void buffer_free(struct xb_buffer *buffer)
{
    if (buffer == NULL)
        return;
    if (!((const struct xb_host_buffer *)buffer)->callers)
        xb_pages_unmap(xb_host_buffer_address(buffer), buffer->bytes);
    free(buffer);
}

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

const struct xb_backend xb_host_backend = {
    .name = "host",
    .summary = "the CPU copying within its own memory; a baseline, never a stand-in for a GPU",
    .automatic = false,
    .driver_open = driver_open,
    .driver_close = xb_driver_drop,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .buffer_allocate = buffer_allocate,
    .buffer_register = buffer_register,
    .buffer_free = buffer_free,
    XB_FILL_KERNELS(xb_host_kernels) XB_FILL(XB_HOST_SLOTS, xb_host_),
};
