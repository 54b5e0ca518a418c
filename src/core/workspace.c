/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/workspace.h"

#include <stdlib.h>

enum side { SIDE_HOST, SIDE_DEVICE, SIDES };

struct place {
    struct xb_buffer *buffer;
    bool borrowed; /* by the case that runs now */
};

struct xb_workspace {
    struct xb_device *device;
    uint64_t hint;
    uint64_t case_bytes; /* of the case that runs now */
    struct place places[SIDES][XB_WORKSPACE_PLACES];
    struct xb_queue **queues;
    size_t queue_count;
};

enum xb_status xb_workspace_open(struct xb_device *device, uint64_t hint,
                                 struct xb_workspace **workspace, struct xb_error *error)
{
    struct xb_workspace *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a workspace");
    opened->device = device;
    opened->hint = hint;
    *workspace = opened;
    return XB_OK;
}

static void give_up(struct xb_workspace *workspace, struct place *place)
{
    workspace->device->backend->buffer_free(place->buffer);
    *place = (struct place){.buffer = NULL};
}

void xb_workspace_close(struct xb_workspace *workspace)
{
    if (workspace == NULL)
        return;
    for (size_t i = 0; i < workspace->queue_count; i++)
        workspace->device->backend->queue_close(workspace->queues[i]);
    free(workspace->queues);
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < XB_WORKSPACE_PLACES; i++)
            give_up(workspace, &workspace->places[side][i]);
    free(workspace);
}

void xb_workspace_begin(struct xb_workspace *workspace, uint64_t bytes)
{
    workspace->case_bytes = bytes;
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < XB_WORKSPACE_PLACES; i++)
            workspace->places[side][i].borrowed = false;
}

/* Frees what the case that runs now has not borrowed. */
static void give_up_idle(struct xb_workspace *workspace)
{
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < XB_WORKSPACE_PLACES; i++)
            if (!workspace->places[side][i].borrowed)
                give_up(workspace, &workspace->places[side][i]);
}

enum xb_status xb_workspace_buffer(struct xb_workspace *workspace, unsigned place,
                                   enum xb_memory memory, uint64_t bytes, struct xb_buffer **buffer,
                                   struct xb_error *error)
{
    const struct xb_backend *backend = workspace->device->backend;
    struct place *kept =
        &workspace->places[memory == XB_MEMORY_DEVICE ? SIDE_DEVICE : SIDE_HOST][place];
    if (kept->buffer == NULL || kept->buffer->memory != memory || kept->buffer->bytes < bytes) {
        /* Rings and slots do not grow with the case. */
        bool grows = bytes == workspace->case_bytes && bytes < workspace->hint;
        uint64_t wanted = grows ? workspace->hint : bytes;
        give_up(workspace, kept);
        enum xb_status status =
            backend->buffer_allocate(workspace->device, memory, wanted, &kept->buffer, error);
        if (status == XB_ERR_MEMORY) { /* the hint was only that, and others may be idle */
            give_up_idle(workspace);
            status =
                backend->buffer_allocate(workspace->device, memory, bytes, &kept->buffer, error);
        }
        if (status != XB_OK)
            return status;
    }
    kept->borrowed = true;
    *buffer = kept->buffer;
    return XB_OK;
}

const struct xb_buffer *xb_workspace_host_buffer(const struct xb_workspace *workspace)
{
    const struct place *first = &workspace->places[SIDE_HOST][0];
    return first->borrowed ? first->buffer : NULL;
}

static uint64_t kept_on(const struct place places[XB_WORKSPACE_PLACES])
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < XB_WORKSPACE_PLACES; i++)
        if (places[i].buffer != NULL)
            bytes += places[i].buffer->bytes;
    return bytes;
}

void xb_workspace_kept(const struct xb_workspace *workspace, uint64_t *host_bytes,
                       uint64_t *device_bytes)
{
    *host_bytes = kept_on(workspace->places[SIDE_HOST]);
    *device_bytes = kept_on(workspace->places[SIDE_DEVICE]);
    for (size_t i = 0; i < XB_WORKSPACE_PLACES; i++) {
        const struct xb_buffer *buffer = workspace->places[SIDE_HOST][i].buffer;
        if (buffer != NULL && buffer->memory == XB_MEMORY_MANAGED)
            *device_bytes += buffer->bytes;
    }
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
