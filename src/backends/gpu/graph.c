/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: copies that are captured once and then enqueued by one call. */
#include "gpu.h"

#include "xferbench/slot_checks.h"

#include <stdlib.h>

struct gpu_graph {
    struct xb_graph base;
    void *executable;
};

static enum xb_status copy_each(struct xb_queue *queue, const struct xb_pieces *list,
                                struct xb_error *error)
{
    const struct xb_piece *pieces = xb_gpu_pieces_of(list);
    for (size_t i = 0; i < list->count; i++)
        XB_TRY(xb_gpu_copy(queue, list->target, pieces[i].target_offset, list->source,
                           pieces[i].source_offset, pieces[i].bytes, error));
    return XB_OK;
}

/* Captures the copies on the queue's device, which is selected. */
static enum xb_status capture(struct xb_queue *queue, const struct xb_pieces *list, void **graph,
                              struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
    struct xb_error ignored;
    XB_TRY(XB_GPU(error, runtime, runtime->begin_capture(xb_gpu_stream(queue)),
                  "copies on a stream cannot be captured"));
    enum xb_status status = copy_each(queue, list, error);
    /* End the capture also if a copy failed, because the queue is used on. */
    enum xb_status ended = XB_GPU(status == XB_OK ? error : &ignored, runtime,
                                  runtime->end_capture(xb_gpu_stream(queue), graph),
                                  "%zu captured copies did not become a graph", list->count);
    return status != XB_OK ? status : ended;
}

enum xb_status xb_gpu_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                 struct xb_graph **graph, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
    XB_TRY(xb_copy_pieces_check(queue, list, error));
    XB_TRY(xb_gpu_require(queue->device, XB_CAP_GRAPH, "no graphs", error));
    XB_TRY(xb_gpu_select(queue->device, error));
    struct gpu_graph *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a graph");
    void *captured = NULL;
    enum xb_status status = capture(queue, list, &captured, error);
    if (status == XB_OK)
        status = XB_GPU(error, runtime, runtime->instantiate(&opened->executable, captured),
                        "a graph of %zu copies cannot be made ready", list->count);
    if (captured != NULL)
        (void)runtime->release_graph(captured);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base.device = queue->device;
    *graph = &opened->base;
    return XB_OK;
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
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
    XB_TRY(xb_graph_check(queue, graph, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU(
        error, runtime,
        runtime->launch_graph(((struct gpu_graph *)graph)->executable, xb_gpu_stream(queue)),
        "a graph of copies could not be launched");
}
