/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/workspace.h"
#include "base/memory.h"
#include "base/units.h"
#include "crew.h"
#include "xferbench/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side { SIDE_HOST, SIDE_DEVICE, SIDES };

struct kept {
    struct xb_buffer *buffer; /* NULL: none yet */
    bool borrowed;            /* by the case that runs now */
    uint64_t asked;           /* bytes that it borrowed */
};

/* On either side; only the host's side has more than XB_WORKSPACE_BUFFERS of them. */
#define SLOTS (XB_WORKSPACE_BUFFERS + XB_PLACEMENTS - 1)

/* More sweeps of a mode that remembers something are run by nobody. */
#define REMEMBERED 256

struct xb_workspace {
    struct xb_device *device;
    uint64_t hint;
    uint64_t case_bytes; /* of the case that runs now */
    unsigned placement;  /* likewise */
    bool shared;         /* likewise: several pairs of it borrow here */
    struct kept buffers[SIDES][SLOTS];
    struct xb_queue *queues[XB_WORKSPACE_QUEUES];
    size_t queue_count;
    struct xb_crew *crew; /* NULL: none yet */
    struct {
        char name[XB_WORKSPACE_NAME];
        uint64_t number;
    } remembered[REMEMBERED];
    size_t remembered_count;
};

struct xb_workspace *xb_workspace_open(struct xb_device *device, uint64_t hint)
{
    struct xb_workspace *opened = xb_new(1, sizeof *opened);
    opened->device = device;
    opened->hint = hint;
    return opened;
}

static void give_up(struct xb_workspace *workspace, struct kept *kept)
{
    workspace->device->backend->buffer_free(kept->buffer);
    *kept = (struct kept){.buffer = NULL};
}

static void close_queues(struct xb_workspace *workspace)
{
    while (workspace->queue_count > 0)
        workspace->device->backend->queue_close(workspace->queues[--workspace->queue_count]);
}

void xb_workspace_close(struct xb_workspace *workspace)
{
    if (workspace == NULL)
        return;
    xb_crew_close(workspace->crew);
    close_queues(workspace);
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < SLOTS; i++)
            give_up(workspace, &workspace->buffers[side][i]);
    free(workspace);
}

void xb_workspace_begin(struct xb_workspace *workspace, uint64_t bytes)
{
    workspace->case_bytes = bytes;
    workspace->placement = 0;
    workspace->shared = false;
    if (workspace->device->info.engine_by_history)
        close_queues(workspace);
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < SLOTS; i++)
            workspace->buffers[side][i].borrowed = false;
}

void xb_workspace_share(struct xb_workspace *workspace)
{
    workspace->shared = true;
    for (size_t i = 0; i < SLOTS; i++) {
        struct kept *kept = &workspace->buffers[SIDE_DEVICE][i];
        if (kept->buffer != NULL && kept->buffer->bytes > workspace->case_bytes)
            give_up(workspace, kept);
    }
}

void xb_workspace_give_up_idle(struct xb_workspace *workspace)
{
    for (size_t side = 0; side < SIDES; side++)
        for (size_t i = 0; i < SLOTS; i++)
            if (!workspace->buffers[side][i].borrowed)
                give_up(workspace, &workspace->buffers[side][i]);
}

enum xb_status xb_workspace_buffer(struct xb_workspace *workspace, unsigned number,
                                   enum xb_memory memory, uint64_t bytes, bool follows,
                                   struct xb_buffer **buffer, struct xb_error *error)
{
    struct xb_device *device = workspace->device;
    /* What follows the case's size will have to be larger for a larger case. */
    bool grows = follows && !workspace->shared && workspace->case_bytes < workspace->hint;
    uint64_t wanted = grows ? workspace->hint + (bytes - workspace->case_bytes) : bytes;
    struct kept *kept = memory == XB_MEMORY_DEVICE
                            ? &workspace->buffers[SIDE_DEVICE][number]
                            : &workspace->buffers[SIDE_HOST][workspace->placement + number];
    enum xb_status status = XB_OK;
    if (kept->buffer == NULL || kept->buffer->memory != memory || kept->buffer->bytes < bytes) {
        give_up(workspace, kept);
        status = device->backend->buffer_allocate(device, memory, wanted, &kept->buffer, error);
    }
    if (status == XB_ERR_MEMORY) {
        /* Without the hint, and without the buffers that this case does not use, it may still fit.
         */
        xb_workspace_give_up_idle(workspace);
        status = device->backend->buffer_allocate(device, memory, bytes, &kept->buffer, error);
    }
    XB_TRY(status);
    kept->borrowed = true;
    kept->asked = bytes;
    *buffer = kept->buffer;
    return XB_OK;
}

uint64_t xb_workspace_borrowed(const struct xb_workspace *workspace, bool on_host)
{
    const struct kept *kept = workspace->buffers[on_host ? SIDE_HOST : SIDE_DEVICE];
    uint64_t bytes = 0;
    for (size_t i = 0; i < SLOTS; i++)
        bytes += kept[i].borrowed ? kept[i].asked : 0;
    return bytes;
}

void xb_take(struct xb_buffers *all, enum xb_taking how, enum xb_memory memory, uint64_t bytes,
             size_t place)
{
    if (all->count == XB_CASE_BUFFERS)
        abort(); /* a bug of the mode */
    if (bytes > 0 && (how == XB_OF_CASE || how == XB_OF_PEER))
        bytes = xb_sum(bytes, all->beyond);
    all->list[all->count++] = (struct xb_taken){how, memory, bytes, place};
}

enum xb_status xb_borrow(struct xb_mode_context *context, const struct xb_buffers *all,
                         size_t queues, struct xb_error *error)
{
    struct xb_buffers listed = {.count = 0};
    if (all == NULL) {
        context->test->mode->buffers(context->test, &listed);
        all = &listed;
    }
    unsigned own = XB_SHARED_BUFFERS * context->share.number, on_host = own;
    unsigned peers = XB_SHARED_BUFFERS * context->peer_share.number;
    for (const struct xb_taken *one = all->list; one < all->list + all->count; one++) {
        bool of_peer = one->how == XB_OF_PEER;
        struct xb_workspace *from = of_peer ? context->peer_workspace : context->workspace;
        unsigned *next = one->memory != XB_MEMORY_DEVICE ? &on_host : of_peer ? &peers : &own;
        unsigned number = (*next)++;
        bool follows = one->how != XB_FIXED && one->bytes == context->test->bytes + all->beyond;
        struct xb_buffer **buffer = (void *)((char *)context->state + one->place);
        if (one->bytes > 0 && one->how != XB_COUNTED && *buffer == NULL)
            XB_TRY(
                xb_workspace_buffer(from, number, one->memory, one->bytes, follows, buffer, error));
    }
    return queues > 0 ? xb_borrow_queues(context, queues, error) : XB_OK;
}

enum xb_status xb_borrow_queues(struct xb_mode_context *context, size_t count,
                                struct xb_error *error)
{
    size_t before = context->share.number * count; /* of others */
    XB_TRY(xb_workspace_queues(context->workspace, before + count, &context->queues, error));
    context->queues += before;
    context->queue_count = count;
    return XB_OK;
}

const struct xb_buffer *xb_workspace_host_buffer(const struct xb_workspace *workspace,
                                                 unsigned number)
{
    const struct kept *kept = &workspace->buffers[SIDE_HOST][workspace->placement + number];
    return kept->borrowed ? kept->buffer : NULL;
}

void xb_workspace_place(struct xb_workspace *workspace, unsigned placement)
{
    workspace->placement = placement;
}

unsigned xb_workspace_spread(struct xb_workspace *workspace, unsigned most, struct xb_error *error)
{
    const struct kept *host = workspace->buffers[SIDE_HOST];
    unsigned own = 0, placements = 1;
    while (own < XB_WORKSPACE_BUFFERS && host[own].borrowed)
        own++;
    while (own > 0 && placements < most && placements < XB_PLACEMENTS) {
        struct xb_buffer *buffer = NULL;
        if (xb_workspace_buffer(workspace, own - 1 + placements, host[0].buffer->memory,
                                host[0].asked, true, &buffer, error) != XB_OK)
            break;
        placements++;
    }
    return placements;
}

uint64_t xb_workspace_kept(const struct xb_workspace *workspace, bool on_host)
{
    uint64_t bytes = 0;
    for (size_t i = 0; workspace != NULL && i < SLOTS; i++) {
        const struct xb_buffer *host = workspace->buffers[SIDE_HOST][i].buffer;
        const struct xb_buffer *device = workspace->buffers[SIDE_DEVICE][i].buffer;
        if (host != NULL && (on_host || host->memory == XB_MEMORY_MANAGED))
            bytes += host->bytes;
        if (device != NULL && !on_host)
            bytes += device->bytes;
    }
    return bytes;
}

enum xb_status xb_workspace_queues(struct xb_workspace *workspace, size_t count,
                                   struct xb_queue ***queues, struct xb_error *error)
{
    if (count > XB_WORKSPACE_QUEUES)
        abort(); /* a bug of the mode */
    for (; workspace->queue_count < count; workspace->queue_count++)
        XB_TRY(workspace->device->backend->queue_open(
            workspace->device, &workspace->queues[workspace->queue_count], error));
    *queues = workspace->queues;
    return XB_OK;
}

enum xb_status xb_workspace_crew(struct xb_workspace *workspace, unsigned threads,
                                 struct xb_crew **crew, struct xb_error *error)
{
    if (workspace->crew == NULL || xb_crew_threads(workspace->crew) != threads) {
        xb_crew_close(workspace->crew);
        workspace->crew = NULL;
        XB_TRY(xb_crew_open(threads, &workspace->crew, error));
    }
    *crew = workspace->crew;
    return XB_OK;
}

/* ---- numbers ---- */

bool xb_workspace_recall(const struct xb_workspace *workspace, const char *name, uint64_t *number)
{
    for (size_t i = 0; i < workspace->remembered_count; i++)
        if (strcmp(workspace->remembered[i].name, name) == 0) {
            *number = workspace->remembered[i].number;
            return true;
        }
    return false;
}

void xb_workspace_remember(struct xb_workspace *workspace, const char *name, uint64_t number)
{
    size_t place = workspace->remembered_count;
    if (place == REMEMBERED || strlen(name) >= XB_WORKSPACE_NAME)
        return;
    snprintf(workspace->remembered[place].name, XB_WORKSPACE_NAME, "%s", name);
    workspace->remembered[place].number = number;
    workspace->remembered_count++;
}
