/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/workspace.h"

#include <stdlib.h>

struct xb_workspace {
    struct xb_device *device;
    uint64_t host_hint, device_hint;
    struct xb_buffer *host_buffer;
    struct xb_buffer *device_buffer;
    struct xb_queue **queues;
    size_t queue_count;
};

enum xb_status xb_workspace_open(struct xb_device *device, uint64_t host_hint, uint64_t device_hint,
                                 struct xb_workspace **workspace, struct xb_error *error)
{
    struct xb_workspace *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a workspace");
    opened->device = device;
    opened->host_hint = host_hint;
    opened->device_hint = device_hint;
    *workspace = opened;
    return XB_OK;
}

void xb_workspace_close(struct xb_workspace *workspace)
{
    if (workspace == NULL)
        return;
    const struct xb_backend *backend = workspace->device->backend;
    for (size_t i = 0; i < workspace->queue_count; i++)
        backend->queue_close(workspace->queues[i]);
    free(workspace->queues);
    backend->buffer_free(workspace->host_buffer);
    backend->buffer_free(workspace->device_buffer);
    free(workspace);
}

/* Allocates a buffer of any host memory; registered memory is made in two steps. */
static enum xb_status allocate_host(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                                    struct xb_buffer **buffer, struct xb_error *error)
{
    const struct xb_backend *backend = device->backend;
    if (memory != XB_MEMORY_REGISTERED)
        return backend->buffer_allocate(device, memory, bytes, buffer, error);
    if ((device->info.capabilities & XB_CAP_REGISTER) == 0)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "the %s backend cannot register memory here",
                       backend->name);
    struct xb_buffer *made = NULL;
    enum xb_status status =
        backend->buffer_allocate(device, XB_MEMORY_PAGEABLE, bytes, &made, error);
    if (status == XB_OK)
        status = backend->buffer_register(made, error);
    if (status != XB_OK) {
        backend->buffer_free(made);
        return status;
    }
    *buffer = made;
    return XB_OK;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

enum xb_status xb_workspace_host(struct xb_workspace *workspace, enum xb_memory memory,
                                 uint64_t bytes, struct xb_buffer **buffer, struct xb_error *error)
{
    struct xb_buffer *kept = workspace->host_buffer;
    if (kept == NULL || kept->memory != memory || kept->bytes < bytes) {
        workspace->device->backend->buffer_free(kept);
        workspace->host_buffer = NULL;
        enum xb_status status =
            allocate_host(workspace->device, memory, larger(bytes, workspace->host_hint),
                          &workspace->host_buffer, error);
        if (status == XB_ERR_MEMORY && bytes < workspace->host_hint) /* the hint was only that */
            status =
                allocate_host(workspace->device, memory, bytes, &workspace->host_buffer, error);
        if (status != XB_OK)
            return status;
    }
    *buffer = workspace->host_buffer;
    return XB_OK;
}

const struct xb_buffer *xb_workspace_kept_host(const struct xb_workspace *workspace)
{
    return workspace->host_buffer;
}

enum xb_status xb_workspace_device(struct xb_workspace *workspace, uint64_t bytes,
                                   struct xb_buffer **buffer, struct xb_error *error)
{
    const struct xb_backend *backend = workspace->device->backend;
    struct xb_buffer *kept = workspace->device_buffer;
    if (kept == NULL || kept->bytes < bytes) {
        backend->buffer_free(kept);
        workspace->device_buffer = NULL;
        enum xb_status status = backend->buffer_allocate(workspace->device, XB_MEMORY_DEVICE,
                                                         larger(bytes, workspace->device_hint),
                                                         &workspace->device_buffer, error);
        if (status == XB_ERR_MEMORY && bytes < workspace->device_hint)
            status = backend->buffer_allocate(workspace->device, XB_MEMORY_DEVICE, bytes,
                                              &workspace->device_buffer, error);
        if (status != XB_OK)
            return status;
    }
    *buffer = workspace->device_buffer;
    return XB_OK;
}

enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                   struct xb_queue ***queues, struct xb_error *error)
{
    if (count > workspace->queue_count) {
        struct xb_queue **grown = realloc(workspace->queues, count * sizeof(struct xb_queue *));
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu queues", count);
        workspace->queues = grown;
        while (workspace->queue_count < count) {
            enum xb_status status = workspace->device->backend->queue_open(
                workspace->device, &grown[workspace->queue_count], error);
            if (status != XB_OK)
                return status;
            workspace->queue_count++;
        }
    }
    *queues = workspace->queues;
    return XB_OK;
}
