/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Many copies at once. Every slot enqueues one operation, and the queue's thread copies one piece
 * after the other. So a batch, a kernel and a graph do the same here: what they save is the
 * operations of the single copies.
 */
#include "host.h"

#include "xferbench/slot_checks.h"

#include <stdlib.h>
#include <string.h>

/* The pieces of a list, or of a graph. */
struct copies {
    struct xb_buffer *target, *source;
    struct xb_piece *pieces;
    size_t count;
};

struct host_pieces {
    struct xb_pieces base;
    struct copies copies;
};

struct host_graph {
    struct xb_graph base;
    struct copies copies; /* of its own, so that the list may be closed before */
};

static enum xb_status keep(struct copies *copies, struct xb_buffer *target,
                           struct xb_buffer *source, const struct xb_piece *pieces, size_t count,
                           struct xb_error *error)
{
    struct xb_piece *kept = calloc(count, sizeof *kept);
    if (kept == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", count);
    memcpy(kept, pieces, count * sizeof *kept);
    *copies = (struct copies){.target = target, .source = source, .pieces = kept, .count = count};
    return XB_OK;
}

enum xb_status xb_host_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error)
{
    XB_TRY(xb_pieces_check(target, source, pieces, count, error));
    struct host_pieces *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a list of pieces");
    enum xb_status status = keep(&opened->copies, target, source, pieces, count, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base =
        (struct xb_pieces){.device = device, .target = target, .source = source, .count = count};
    for (size_t i = 0; i < count; i++)
        opened->base.bytes += pieces[i].bytes;
    *list = &opened->base;
    return XB_OK;
}

void xb_host_pieces_close(struct xb_pieces *list)
{
    if (list == NULL)
        return;
    free(((struct host_pieces *)list)->copies.pieces);
    free(list);
}

static void run_pieces(const struct xb_host_work *work)
{
    char *target = work->target;
    const char *source = work->source;
    for (uint64_t i = 0; i < work->count; i++)
        memcpy(target + work->pieces[i].target_offset, source + work->pieces[i].source_offset,
               work->pieces[i].bytes);
}

static void run_rows(const struct xb_host_work *work)
{
    char *target = work->target;
    const char *source = work->source;
    for (uint64_t row = 0; row < work->count; row++)
        memcpy(target + row * work->target_pitch, source + row * work->source_pitch, work->bytes);
}

static enum xb_status enqueue(struct xb_queue *queue, const struct copies *copies,
                              struct xb_error *error)
{
    const struct xb_host_work work = {.run = run_pieces,
                                      .target = xb_host_buffer_address(copies->target),
                                      .source = xb_host_buffer_address(copies->source),
                                      .pieces = copies->pieces,
                                      .count = copies->count};
    return xb_host_queue_enqueue(queue, &work, error);
}

enum xb_status xb_host_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error)
{
    enum xb_status status = xb_copy_pieces_check(queue, list, error);
    return status != XB_OK ? status : enqueue(queue, &((struct host_pieces *)list)->copies, error);
}

enum xb_status xb_host_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, struct xb_error *error)
{
    (void)blocks; /* a queue's thread has one core, whatever is asked for */
    enum xb_status status = xb_kernel_pieces_check(queue, list, error);
    return status != XB_OK ? status : enqueue(queue, &((struct host_pieces *)list)->copies, error);
}

enum xb_status xb_host_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error)
{
    const struct copies *captured = &((struct host_pieces *)list)->copies;
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    struct host_graph *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    enum xb_status status = keep(&opened->copies, captured->target, captured->source,
                                 captured->pieces, captured->count, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base.device = queue->device;
    *graph = &opened->base;
    return XB_OK;
}

void xb_host_graph_close(struct xb_graph *graph)
{
    if (graph == NULL)
        return;
    free(((struct host_graph *)graph)->copies.pieces);
    free(graph);
}

enum xb_status xb_host_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error)
{
    enum xb_status status = xb_graph_check(queue, graph, error);
    return status != XB_OK ? status : enqueue(queue, &((struct host_graph *)graph)->copies, error);
}

enum xb_status xb_host_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error)
{
    XB_TRY(xb_rows_check(queue, &target, &source, bytes, count, error));
    const struct xb_host_work work = {
        .run = run_rows,
        .target = (char *)xb_host_buffer_address(target.buffer) + target.offset,
        .source = (char *)xb_host_buffer_address(source.buffer) + source.offset,
        .bytes = bytes,
        .count = count,
        .target_pitch = target.pitch,
        .source_pitch = source.pitch};
    return xb_host_queue_enqueue(queue, &work, error);
}
