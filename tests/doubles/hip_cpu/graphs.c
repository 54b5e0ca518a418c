/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Graphs: what a stream captures, and runs again later. */
#include "internal.h"

#include <stdlib.h>

/* Both a graph and what is made of it to be launched. */
struct ihipGraph {
    struct standin_head head; /* of STANDIN_GRAPH or STANDIN_EXECUTABLE */
    pthread_t owner;          /* who captures it */
    bool is_captured;         /* it is still its stream's, and nobody else's */
    struct standin_operation *operations;
    size_t count, room;
};

/* With the lock held. */
static bool is_graph(const void *graph, enum standin_object kind)
{
    return standin_is(graph, kind) && !((const struct ihipGraph *)graph)->is_captured;
}

static struct ihipGraph *make(enum standin_object kind, int device)
{
    struct ihipGraph *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    standin_keep(made, kind);
    made->head.device = device;
    made->owner = pthread_self();
    return made;
}

hipError_t standin_append(struct ihipGraph *graph, const struct standin_operation *template)
{
    if (graph->count == graph->room) {
        size_t room = graph->room > 0 ? 2 * graph->room : 64;
        struct standin_operation *larger = realloc(graph->operations, room * sizeof *larger);
        if (larger == NULL)
            return hipErrorOutOfMemory;
        graph->operations = larger;
        graph->room = room;
    }
    graph->operations[graph->count++] = *template;
    return hipSuccess;
}

void standin_drop_graph(struct ihipGraph *graph)
{
    (void)standin_forget(graph, graph->head.kind);
    free(graph->operations);
    free(graph);
}

/* With the lock held. */
static hipError_t begin(hipStream_t stream)
{
    int device = standin_stream_device(stream);
    REFUSE_IF(device < 0, hipErrorInvalidHandle);
    struct ihipGraph **captured = standin_captured(stream);
    REFUSE_IF(*captured != NULL, hipErrorIllegalState);
    *captured = make(STANDIN_GRAPH, device);
    REFUSE_IF(*captured == NULL, hipErrorOutOfMemory);
    (*captured)->is_captured = true;
    return hipSuccess;
}

/* Only the mode that concerns nobody but the calling thread. */
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    STANDIN_ENTER(hipStreamBeginCapture);
    REFUSE_IF(mode != hipStreamCaptureModeThreadLocal, hipErrorInvalidValue);
    return STANDIN_LOCKED(begin(stream));
}

/* With the lock held. */
static hipError_t end(hipStream_t stream, hipGraph_t *graph)
{
    REFUSE_IF(standin_stream_device(stream) < 0, hipErrorInvalidHandle);
    struct ihipGraph **captured = standin_captured(stream);
    REFUSE_IF(*captured == NULL, hipErrorIllegalState);
    REFUSE_IF(!pthread_equal((*captured)->owner, pthread_self()), hipErrorStreamCaptureWrongThread);
    (*captured)->is_captured = false;
    *graph = *captured;
    *captured = NULL;
    return hipSuccess;
}

/* It ends the capture also where a test has it fail, and there is no graph then. */
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
    int asked_for = standin_called(CALL_hipStreamEndCapture);
    REFUSE_IF(graph == NULL, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    hipError_t result = end(stream, graph);
    if (result == hipSuccess && asked_for != 0) {
        standin_drop_graph(*graph);
        *graph = NULL;
    }
    pthread_mutex_unlock(&standin_lock);
    return standin_freed(asked_for, result);
}

/* With the lock held. */
static hipError_t instantiate(hipGraphExec_t *executable, hipGraph_t graph)
{
    const struct ihipGraph *from = graph;
    REFUSE_IF(!is_graph(graph, STANDIN_GRAPH), hipErrorInvalidValue);
    struct ihipGraph *made = make(STANDIN_EXECUTABLE, from->head.device);
    REFUSE_IF(made == NULL, hipErrorOutOfMemory);
    for (size_t i = 0; i < from->count; i++) {
        if (standin_append(made, &from->operations[i]) != hipSuccess) {
            standin_drop_graph(made);
            return hipErrorOutOfMemory;
        }
    }
    *executable = (hipGraphExec_t)(void *)made;
    return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *executable, hipGraph_t graph, hipGraphNode_t *wrong,
                               char *log, size_t log_bytes)
{
    STANDIN_ENTER(hipGraphInstantiate);
    REFUSE_IF(executable == NULL || wrong != NULL || log != NULL || log_bytes != 0,
              hipErrorInvalidValue);
    return STANDIN_LOCKED(instantiate(executable, graph));
}

/* With the lock held. */
static hipError_t launch(hipGraphExec_t executable, hipStream_t stream)
{
    const struct ihipGraph *graph = (const struct ihipGraph *)(void *)executable;
    int device = standin_stream_device(stream);
    REFUSE_IF(!is_graph(graph, STANDIN_EXECUTABLE), hipErrorInvalidValue);
    REFUSE_IF(device < 0 || device != graph->head.device, hipErrorInvalidHandle);
    REFUSE_IF(*standin_captured(stream) != NULL, hipErrorStreamCaptureUnsupported);
    for (size_t i = 0; i < graph->count; i++) {
        hipError_t result = standin_enqueue(stream, &graph->operations[i]);
        if (result != hipSuccess)
            return result;
    }
    return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream)
{
    STANDIN_ENTER(hipGraphLaunch);
    return STANDIN_LOCKED(launch(executable, stream));
}

static hipError_t destroy(void *graph, enum standin_object kind)
{
    pthread_mutex_lock(&standin_lock);
    bool known = is_graph(graph, kind);
    if (known)
        standin_drop_graph(graph);
    pthread_mutex_unlock(&standin_lock);
    return known ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGraphDestroy(hipGraph_t graph)
{
    STANDIN_FREE(hipGraphDestroy, destroy(graph, STANDIN_GRAPH));
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable)
{
    STANDIN_FREE(hipGraphExecDestroy, destroy(executable, STANDIN_EXECUTABLE));
}
