/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Many copies at once in the fake backend: those of the host backend, damaged, in virtual time. */
#include "fake_internal.h"

#include <stdlib.h>

/* What a graph's copies cost, and which memory they touch. */
struct fake_graph {
    struct xb_graph base;
    struct xb_graph *damaged;
    const struct xb_buffer *target, *source;
    uint64_t bytes;
};

static void pay(const struct xb_queue *queue, const struct xb_buffer *target,
                const struct xb_buffer *source, uint64_t bytes)
{
    xb_fake_pass_time(queue, (double)bytes * XB_FAKE_SECONDS_PER_BYTE);
    xb_fake_note_memory(target, source, bytes);
}

static void pay_for_list(const struct xb_queue *queue, const struct xb_pieces *list)
{
    pay(queue, list->target, list->source, list->bytes);
    if (list->count > xb_fake.most_pieces)
        xb_fake.most_pieces = list->count;
}

enum xb_status xb_fake_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error)
{
    ENTER(pieces_open);
    enum xb_status status =
        xb_damage_pieces_open(device, target, source, pieces, count, list, error);
    xb_fake.lists_open += status == XB_OK;
    return status;
}

void xb_fake_pieces_close(struct xb_pieces *list)
{
    xb_fake.lists_open -= list != NULL;
    xb_damage_pieces_close(list);
}

enum xb_status xb_fake_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error)
{
    ENTER(queue_copy_pieces);
    pay_for_list(queue, list);
    return xb_damage_queue_copy_pieces(queue, list, error);
}

enum xb_status xb_fake_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, struct xb_error *error)
{
    ENTER(queue_kernel_pieces);
    pay_for_list(queue, list);
    if (xb_fake.more_blocks_are_faster && blocks > 0 && blocks < XB_FAKE_MULTIPROCESSORS)
        xb_fake_pass_time(queue, 1e-3 * (XB_FAKE_MULTIPROCESSORS - blocks));
    xb_fake.piece_blocks = blocks;
    return xb_damage_queue_kernel_pieces(queue, list, blocks, error);
}

enum xb_status xb_fake_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error)
{
    ENTER(graph_open);
    struct fake_graph *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    enum xb_status status = xb_damage_graph_open(queue, list, &opened->damaged, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base.device = queue->device;
    opened->target = list->target;
    opened->source = list->source;
    opened->bytes = list->bytes;
    xb_fake.graphs_open++;
    *graph = &opened->base;
    return XB_OK;
}

void xb_fake_graph_close(struct xb_graph *graph)
{
    if (graph == NULL)
        return;
    xb_fake.graphs_open--;
    xb_damage_graph_close(((struct fake_graph *)graph)->damaged);
    free(graph);
}

enum xb_status xb_fake_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error)
{
    const struct fake_graph *enqueued = (const struct fake_graph *)graph;
    ENTER(queue_graph);
    pay(queue, enqueued->target, enqueued->source, enqueued->bytes);
    return xb_damage_queue_graph(queue, enqueued->damaged, error);
}

enum xb_status xb_fake_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error)
{
    ENTER(queue_copy_rows);
    pay(queue, target.buffer, source.buffer, bytes * count);
    return xb_damage_queue_copy_rows(queue, target, source, bytes, count, error);
}
