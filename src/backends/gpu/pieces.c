/* SPDX-License-Identifier: Apache-2.0 */
/* Many copies by one call: a batch of the runtime, a kernel, rows, or a graph. */
#include "gpu.h"

#include "backends/slot_checks.h"

#include <stdlib.h>
#include <string.h>

struct gpu_pieces {
    struct xb_pieces base;
    struct xb_piece *pieces;
    /* For the runtime's batch; they lie behind the pieces. */
    void **targets, **sources;
    size_t *sizes;
    /* For the kernel: NULL where it cannot reach both buffers. */
    struct xb_piece *device_list; /* in device memory, of pieces that are cut */
    uint64_t device_count;
    char *kernel_target, *kernel_source;
    unsigned slot; /* of bulk copies: as long as the longest, a power of two */
};

void xb_gpu_pieces_close(struct xb_pieces *list)
{
    if (list == NULL)
        return;
    struct gpu_pieces *closing = (struct gpu_pieces *)list;
    struct xb_error ignored;
    if (closing->device_list != NULL) {
        (void)xb_gpu_select(list->device, &ignored);
        (void)xb_gpu_device_of(list->device)->runtime->release(closing->device_list);
    }
    free(closing->pieces);
    free(closing);
}

/* ---- the list for the batch ---- */

static enum xb_status list_addresses(struct gpu_pieces *opening, const struct xb_piece *pieces,
                                     struct xb_error *error)
{
    struct xb_pieces *base = &opening->base;
    char *target = xb_gpu_buffer_address(base->target, 0);
    char *source = xb_gpu_buffer_address(base->source, 0);
    /* All arrays in one piece of memory: their items are all as large as a word, or some words. */
    opening->pieces = calloc(base->count, sizeof *pieces + 2 * sizeof(void *) + sizeof(size_t));
    if (opening->pieces == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", base->count);
    opening->targets = (void **)(void *)(opening->pieces + base->count);
    opening->sources = opening->targets + base->count;
    opening->sizes = (size_t *)(void *)(opening->sources + base->count);
    memcpy(opening->pieces, pieces, base->count * sizeof *pieces);
    for (size_t i = 0; i < base->count; i++) {
        opening->targets[i] = target + pieces[i].target_offset;
        opening->sources[i] = source + pieces[i].source_offset;
        opening->sizes[i] = pieces[i].bytes;
        base->bytes += pieces[i].bytes;
    }
    return XB_OK;
}

/* ---- the list for the kernel ---- */

/* Cuts the long pieces, and returns how many there are then. Only counts where `to` is NULL. A cut
 * keeps the alignment of the piece. */
static uint64_t cut(struct xb_piece *to, const struct xb_piece *pieces, size_t count)
{
    const struct xb_piece *piece = pieces;
    uint64_t made = 0, at = 0;
    do { /* no list is empty, nor is a piece */
        uint64_t left = piece->bytes - at;
        uint64_t bytes = left < XB_GPU_PIECE_BYTES ? left : XB_GPU_PIECE_BYTES;
        if (to != NULL)
            to[made] = (struct xb_piece){.source_offset = piece->source_offset + at,
                                         .target_offset = piece->target_offset + at,
                                         .bytes = bytes};
        made++;
        at = bytes < left ? at + bytes : 0;
        piece += at == 0;
    } while (piece < pieces + count);
    return made;
}

/* Copies the list to the device, which is selected, on a stream of its own: no queue of the
 * caller's has to be idle for it. */
static enum xb_status send_list(struct gpu_pieces *opening, const struct xb_piece *list,
                                size_t bytes, struct xb_error *error)
{
    const struct xb_device *device = opening->base.device;
    void *stream = NULL;
    XB_TRY(XB_GPU_CALL(error, device, allocate((void **)&opening->device_list, bytes),
                       "no device memory for a list of %zu pieces", opening->base.count));
    XB_TRY(XB_GPU_CALL(error, device, open_stream(&stream),
                       "cannot create a stream to send a list of pieces on"));
    enum xb_status status = XB_GPU_CALL(
        error, device, copy(opening->device_list, list, bytes, XB_GPU_TO_DEVICE, stream),
        "a list of %zu pieces could not be sent to the device", opening->base.count);
    /* Wait in any case: `list` is freed afterwards. */
    enum xb_status waited = XB_GPU_CALL(error, device, wait_for_stream(stream),
                                        "a list of pieces did not reach the device");
    (void)xb_gpu_device_of(device)->runtime->close_stream(stream);
    return status != XB_OK ? status : waited;
}

static enum xb_status list_for_kernel(struct gpu_pieces *opening, const struct xb_piece *pieces,
                                      struct xb_error *error)
{
    struct xb_pieces *base = &opening->base;
    if ((base->device->info.capabilities & XB_CAP_KERNELS) == 0 ||
        !xb_memory_in_reach(base->target->memory, base->device) ||
        !xb_memory_in_reach(base->source->memory, base->device))
        return XB_OK;
    XB_TRY(xb_gpu_find_address(base->device, base->target, 0, &opening->kernel_target, error));
    XB_TRY(xb_gpu_find_address(base->device, base->source, 0, &opening->kernel_source, error));
    XB_TRY(xb_gpu_select(base->device, error));
    opening->slot = XB_GPU_BULK_BYTES / XB_GPU_LANES;
    for (size_t i = 0; i < base->count; i++)
        while (opening->slot < XB_GPU_PIECE_BYTES && opening->slot < pieces[i].bytes)
            opening->slot *= 2;
    opening->device_count = cut(NULL, pieces, base->count);
    struct xb_piece *list = calloc(opening->device_count, sizeof *list);
    if (list == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu pieces", base->count);
    (void)cut(list, pieces, base->count);
    enum xb_status status = send_list(opening, list, opening->device_count * sizeof *list, error);
    free(list);
    return status;
}

enum xb_status xb_gpu_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                  struct xb_buffer *source, const struct xb_piece *pieces,
                                  size_t count, struct xb_pieces **list, struct xb_error *error)
{
    XB_TRY(xb_pieces_check(target, source, pieces, count, error));
    struct gpu_pieces *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a list of pieces");
    opened->base =
        (struct xb_pieces){.device = device, .target = target, .source = source, .count = count};
    enum xb_status status = list_addresses(opened, pieces, error);
    if (status == XB_OK)
        status = list_for_kernel(opened, pieces, error);
    return XB_OPENED(status, opened, xb_gpu_pieces_close(&opened->base), list);
}

/* ---- the slots that enqueue ---- */

/* Makes as few calls as the runtime takes at once. Sources on the host may be read before what was
 * enqueued earlier is done: the CPU has written them by now. */
enum xb_status xb_gpu_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                        struct xb_error *error)
{
    const struct gpu_pieces *pieces = (const struct gpu_pieces *)list;
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    enum xb_gpu_order order = device->batch_order_unsaid                 ? XB_GPU_ORDER_UNSAID
                              : list->source->memory != XB_MEMORY_DEVICE ? XB_GPU_ANY_ORDER
                                                                         : XB_GPU_STREAM_ORDER;
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    XB_TRY(xb_capability_check(queue->device, XB_CAP_BATCH, "no batches of copies", error));
    XB_TRY(xb_gpu_select(queue->device, error));
    size_t most = device->runtime->batch_at_once;
    for (size_t first = 0, count; first < list->count; first += count) {
        count = list->count - first;
        count = most > 0 && count > most ? most : count;
        XB_TRY(XB_GPU_CALL(error, queue->device,
                           copy_batch(&pieces->targets[first], &pieces->sources[first],
                                      &pieces->sizes[first], count, order, xb_gpu_stream(queue)),
                           "a batch of %zu copies from %s to %s memory failed", count,
                           xb_memory_name(list->source->memory),
                           xb_memory_name(list->target->memory)));
    }
    return XB_OK;
}

enum xb_status xb_gpu_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                          unsigned blocks, bool bulk, struct xb_error *error)
{
    struct gpu_pieces *pieces = (struct gpu_pieces *)list;
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    XB_TRY(xb_kernel_pieces_check(queue, list, bulk, error));
    /* The kernel for loads and stores has no more than the first four parameters. */
    return xb_gpu_launch(
        queue, bulk ? XB_GPU_BULK : XB_GPU_PIECES, blocks > 0 ? blocks : device->multiprocessors,
        bulk ? device->bulk_warps * XB_GPU_LANES : XB_GPU_PIECE_THREADS,
        (void *[]){&pieces->kernel_target, &pieces->kernel_source, &pieces->device_list,
                   &pieces->device_count, &pieces->slot, &list->bytes},
        "copies pieces", error);
}

enum xb_status xb_gpu_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                      struct xb_rows source, uint64_t bytes, uint64_t count,
                                      struct xb_error *error)
{
    uint64_t most = xb_gpu_device_of(queue->device)->max_pitch;
    uint64_t pitch = target.pitch > most ? target.pitch : source.pitch;
    XB_TRY(xb_rows_check(queue, &target, &source, bytes, count, error));
    XB_TRY(xb_capability_check(queue->device, XB_CAP_ROWS, "no copies of rows", error));
    if (pitch > most)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "device %u copies rows that begin every %llu bytes at most, not every %llu",
                       queue->device->info.index, (unsigned long long)most,
                       (unsigned long long)pitch);
    XB_TRY(xb_gpu_select(queue->device, error));
    if (bytes == 0 || count == 0) /* nothing to ask the runtime for */
        return XB_OK;
    return XB_GPU_CALL(
        error, queue->device,
        copy_rows(xb_gpu_buffer_address(target.buffer, target.offset), target.pitch,
                  xb_gpu_buffer_address(source.buffer, source.offset), source.pitch, bytes, count,
                  xb_gpu_way_between(target.buffer, source.buffer), xb_gpu_stream(queue)),
        "a copy of %llu rows of %llu bytes from %s to %s memory failed", (unsigned long long)count,
        (unsigned long long)bytes, xb_memory_name(source.buffer->memory),
        xb_memory_name(target.buffer->memory));
}

/* ---- graphs: copies that are captured once and then enqueued by one call ---- */

struct gpu_graph {
    struct xb_graph base;
    void *executable;
};

/* Captures the copies on the queue's device, which is selected. */
static enum xb_status capture(struct xb_queue *queue, const struct xb_pieces *list, void **graph,
                              struct xb_error *error)
{
    struct xb_error ignored;
    XB_TRY(XB_GPU_CALL(error, queue->device, begin_capture(xb_gpu_stream(queue)),
                       "copies on a stream cannot be captured"));
    const struct xb_piece *pieces = ((const struct gpu_pieces *)list)->pieces;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < list->count; i++)
        status = xb_gpu_copy(queue, list->target, pieces[i].target_offset, list->source,
                             pieces[i].source_offset, pieces[i].bytes, error);
    /* End the capture also if a copy failed, because the queue is used on. */
    enum xb_status ended = XB_GPU_CALL(status == XB_OK ? error : &ignored, queue->device,
                                       end_capture(xb_gpu_stream(queue), graph),
                                       "%zu captured copies did not become a graph", list->count);
    return status != XB_OK ? status : ended;
}

enum xb_status xb_gpu_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                 struct xb_graph **graph, struct xb_error *error)
{
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    XB_TRY(xb_capability_check(queue->device, XB_CAP_GRAPH, "no graphs", error));
    XB_TRY(xb_gpu_select(queue->device, error));
    struct gpu_graph *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    void *captured = NULL;
    enum xb_status status = capture(queue, list, &captured, error);
    if (status == XB_OK)
        status = XB_GPU_CALL(error, queue->device, instantiate(&opened->executable, captured),
                             "a graph of %zu copies cannot be made ready", list->count);
    if (captured != NULL)
        (void)xb_gpu_device_of(queue->device)->runtime->release_graph(captured);
    opened->base.device = queue->device;
    return XB_OPENED(status, opened, free(opened), graph);
}

void xb_gpu_graph_close(struct xb_graph *graph)
{
    if (graph == NULL)
        return;
    struct gpu_graph *closing = (struct gpu_graph *)graph;
    struct xb_error ignored;
    (void)xb_gpu_select(graph->device, &ignored);
    (void)xb_gpu_device_of(graph->device)->runtime->release_executable(closing->executable);
    free(closing);
}

enum xb_status xb_gpu_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                  struct xb_error *error)
{
    void *executable = ((struct gpu_graph *)graph)->executable;
    XB_TRY(xb_graph_check(queue, graph, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(error, queue->device, launch_graph(executable, xb_gpu_stream(queue)),
                       "a graph of copies could not be launched");
}
