/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's memory, streams, events and modules, on CUDA. */
#include "hip_side.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): HIP's versions differ in it */

/* What HIP 5.2 defines, and so all that xferbench may use. */
#define HOST_MALLOC_FLAGS                                                                          \
    (0u | hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |               \
     hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent)
#define HOST_REGISTER_FLAGS                                                                        \
    (0u | hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory |              \
     hipExtHostRegisterCoarseGrained)
#define COHERENCE (hipHostMallocCoherent | hipHostMallocNonCoherent)

/* A function is HIP's handle of a kernel; it lives as long as its module. */
struct ihipModuleSymbol_t {
    struct ihipModuleSymbol_t *next;
    void *kernel;
    int device; /* its module's */
};

struct ihipModule_t {
    void *library;
    int device; /* which was current when it was loaded */
    struct ihipModuleSymbol_t *functions;
};

static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

FORWARD(hipMemGetInfo, (size_t * free_bytes, size_t *total_bytes),
        free_bytes != NULL && total_bytes != NULL, hipErrorInvalidValue,
        memory_info(free_bytes, total_bytes))
hipError_t hipMalloc(void **address, size_t bytes)
{
    REFUSE_UNLESS(address != NULL, hipErrorInvalidValue);
    *address = NULL;
    return bytes == 0 ? hipSuccess : standin_hip_error(standin_allocate(address, bytes));
}

FORWARD(hipFree, (void *address), true, hipSuccess, free(address))
/*
 * Two flags have no counterpart: what cudaHostAlloc gives is coherent always, and placed by the
 * calling thread's memory policy always, which is what NumaUser asks of HIP. So NonCoherent memory
 * is coherent here, which the caller cannot see but by its speed.
 */
hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags)
{
    REFUSE_UNLESS(address != NULL && (flags & ~HOST_MALLOC_FLAGS) == 0, hipErrorInvalidValue);
    REFUSE_UNLESS((flags & COHERENCE) != COHERENCE, hipErrorInvalidValue);
    *address = NULL;
    if (bytes == 0)
        return hipSuccess;
    return standin_hip_error(
        standin_allocate_host(address, bytes, (flags & hipHostMallocWriteCombined) != 0));
}

FORWARD(hipHostFree, (void *address), true, hipSuccess, free_host(address))
/* Coarse grain has no counterpart, as above. */
FORWARD(hipHostRegister, (void *address, size_t bytes, unsigned flags),
        address != NULL && bytes > 0 && (flags & ~HOST_REGISTER_FLAGS) == 0, hipErrorInvalidValue,
        register(address, bytes, (flags & hipHostRegisterIoMemory) != 0))
FORWARD(hipHostUnregister, (void *address), address != NULL, hipErrorInvalidValue,
        unregister(address))
FORWARD(hipHostGetDevicePointer, (void **address, void *host, unsigned flags),
        address != NULL && host != NULL && flags == 0, hipErrorInvalidValue,
        mapped_address(address, host))
hipError_t hipMallocManaged(void **address, size_t bytes, unsigned flags)
{
    REFUSE_UNLESS(address != NULL && bytes > 0, hipErrorInvalidValue);
    REFUSE_UNLESS(flags == hipMemAttachGlobal || flags == hipMemAttachHost, hipErrorInvalidValue);
    return standin_hip_error(standin_allocate_managed(address, bytes, flags == hipMemAttachHost));
}

/* The place a device's number means, host included. */
static bool find_place(int device, int *place)
{
    *place = device == hipCpuDeviceId ? STANDIN_HOST : device;
    return device == hipCpuDeviceId || device >= 0;
}

hipError_t hipMemAdvise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
#define ADVICE(name) hipMemAdvise##name,
    static const hipMemoryAdvise advices[] = {STANDIN_ADVICES(ADVICE)};
#undef ADVICE
    int place;
    REFUSE_UNLESS(address != NULL && bytes > 0, hipErrorInvalidValue);
    REFUSE_UNLESS(find_place(device, &place), hipErrorInvalidDevice);
    for (int i = 0; i < (int)(sizeof advices / sizeof advices[0]); i++)
        if (advices[i] == advice)
            return standin_hip_error(standin_advise(address, bytes, i, place));
    return hipErrorInvalidValue; /* coarse grain among them, which CUDA has not */
}

hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
    int place;
    REFUSE_UNLESS(address != NULL && bytes > 0, hipErrorInvalidValue);
    REFUSE_UNLESS(find_place(device, &place), hipErrorInvalidDevice);
    return standin_hip_error(standin_prefetch(address, bytes, place, stream));
}

/* The place of a kind among STANDIN_COPIES, -1 if it is none. */
static int find_kind(hipMemcpyKind kind)
{
#define COPY(name) hipMemcpy##name,
    static const hipMemcpyKind kinds[] = {STANDIN_COPIES(COPY)};
#undef COPY
    for (int i = 0; i < (int)(sizeof kinds / sizeof kinds[0]); i++)
        if (kinds[i] == kind)
            return i;
    return -1;
}

hipError_t hipMemcpyAsync(void *target, const void *source, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream)
{
    int place = find_kind(kind);
    REFUSE_UNLESS(bytes == 0 || (target != NULL && source != NULL), hipErrorInvalidValue);
    REFUSE_UNLESS(place >= 0, hipErrorInvalidMemcpyDirection);
    return standin_hip_error(standin_copy(target, source, bytes, place, stream));
}

hipError_t hipMemcpy(void *target, const void *source, size_t bytes, hipMemcpyKind kind)
{
    hipError_t result = hipMemcpyAsync(target, source, bytes, kind, NULL);
    return result != hipSuccess ? result : standin_hip_error(standin_stream_wait(NULL));
}

hipError_t hipMemcpy2DAsync(void *target, size_t target_pitch, const void *source,
                            size_t source_pitch, size_t bytes, size_t rows, hipMemcpyKind kind,
                            hipStream_t stream)
{
    int place = find_kind(kind);
    REFUSE_UNLESS(place >= 0, hipErrorInvalidMemcpyDirection);
    REFUSE_UNLESS(bytes <= target_pitch && bytes <= source_pitch, hipErrorInvalidPitchValue);
    return standin_hip_error(
        standin_copy_rows(target, target_pitch, source, source_pitch, bytes, rows, place, stream));
}

__attribute__((visibility("default"))) xb_hip_copy_batch hipMemcpyBatchAsync;

/* Only one set of attributes, which is all that xferbench gives. */
hipError_t hipMemcpyBatchAsync(void **targets, void **sources, size_t *sizes, size_t count,
                               struct xb_hip_copy_attributes *attributes, size_t *firsts,
                               size_t attribute_count, size_t *failed, hipStream_t stream)
{
    hipError_t error = standin_check_batch(targets, sources, sizes, count, attributes, firsts,
                                           attribute_count, failed);
    if (error != hipSuccess)
        return error;
    REFUSE_UNLESS(attribute_count <= 1, hipErrorInvalidValue);
    int order = attribute_count > 0 ? (int)attributes->source_order : 1;
    for (size_t i = 0; i < count; i++) {
        *failed = i;
        REFUSE_UNLESS(sizes[i] > 0, hipErrorInvalidValue);
    }
    return standin_hip_error(
        standin_copy_batch(targets, sources, sizes, count, order, failed, stream));
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    REFUSE_UNLESS(stream != NULL, hipErrorStreamCaptureUnsupported);
    REFUSE_UNLESS(mode == hipStreamCaptureModeThreadLocal, hipErrorInvalidValue);
    return standin_hip_error(standin_capture_begin(stream));
}

FORWARD(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *graph), graph != NULL,
        hipErrorInvalidValue, capture_end(stream, (void **)graph))
/* What is wrong with a graph, CUDA tells in another way; xferbench does not ask for it. */
hipError_t hipGraphInstantiate(hipGraphExec_t *executable, hipGraph_t graph, hipGraphNode_t *wrong,
                               char *log, size_t log_bytes)
{
    REFUSE_UNLESS(executable != NULL && graph != NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(wrong == NULL && log == NULL && log_bytes == 0, hipErrorNotSupported);
    return standin_hip_error(standin_graph_instantiate((void **)executable, graph));
}

FORWARD(hipGraphLaunch, (hipGraphExec_t executable, hipStream_t stream), executable != NULL,
        hipErrorInvalidValue, graph_launch(executable, stream))
FORWARD(hipGraphDestroy, (hipGraph_t graph), graph != NULL, hipErrorInvalidValue,
        graph_destroy(graph))
FORWARD(hipGraphExecDestroy, (hipGraphExec_t executable), executable != NULL, hipErrorInvalidValue,
        executable_destroy(executable))
FORWARD(hipMemcpyPeerAsync,
        (void *target, int target_device, const void *source, int source_device, size_t bytes,
         hipStream_t stream),
        true, hipSuccess, copy_peer(target, target_device, source, source_device, bytes, stream))
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
    REFUSE_UNLESS(stream != NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(flags == hipStreamDefault || flags == hipStreamNonBlocking, hipErrorInvalidValue);
    return standin_hip_error(standin_stream_create((void **)stream, flags == hipStreamNonBlocking));
}

FORWARD(hipStreamDestroy, (hipStream_t stream), stream != NULL, hipErrorInvalidHandle,
        stream_destroy(stream)) /* the default stream stays */
FORWARD(hipStreamSynchronize, (hipStream_t stream), true, hipSuccess, stream_wait(stream))
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    REFUSE_UNLESS(flags == 0, hipErrorInvalidValue);
    REFUSE_UNLESS(event != NULL, hipErrorInvalidHandle);
    return standin_hip_error(standin_stream_wait_event(stream, event));
}

FORWARD(hipEventCreate, (hipEvent_t * event), event != NULL, hipErrorInvalidValue,
        event_create((void **)event))
FORWARD(hipEventDestroy, (hipEvent_t event), event != NULL, hipErrorInvalidHandle,
        event_destroy(event))
FORWARD(hipEventRecord, (hipEvent_t event, hipStream_t stream), event != NULL,
        hipErrorInvalidHandle, event_record(event, stream))
FORWARD(hipEventSynchronize, (hipEvent_t event), event != NULL, hipErrorInvalidHandle,
        event_wait(event))
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    REFUSE_UNLESS(milliseconds != NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(start != NULL && stop != NULL, hipErrorInvalidHandle);
    return standin_hip_error(standin_event_elapsed(milliseconds, start, stop));
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image)
{
    REFUSE_UNLESS(module != NULL && image != NULL, hipErrorInvalidValue);
    struct ihipModule_t *loaded = calloc(1, sizeof *loaded);
    REFUSE_UNLESS(loaded != NULL, hipErrorOutOfMemory);
    int result = standin_device_current(&loaded->device);
    if (result == STANDIN_OK)
        result = standin_library_load(&loaded->library, image);
    if (result != STANDIN_OK) {
        free(loaded);
        return standin_hip_error(result);
    }
    *module = loaded;
    return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module)
{
    REFUSE_UNLESS(module != NULL, hipErrorInvalidHandle);
    int result = standin_library_unload(module->library);
    while (module->functions != NULL) {
        struct ihipModuleSymbol_t *first = module->functions;
        module->functions = first->next;
        free(first);
    }
    free(module);
    return standin_hip_error(result);
}

/*
 * A module of AMD's belongs to the device that was current when it was loaded; asked for a function
 * with another current, the runtime ends the process. CUDA's kernels would run on any device: here
 * the use on another is refused, so that it comes to light without AMD's device.
 */
static hipError_t check_device(int device)
{
    int current = 0;
    int result = standin_device_current(&current);
    if (result != STANDIN_OK)
        return standin_hip_error(result);
    return current == device ? hipSuccess : hipErrorInvalidDeviceFunction;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name)
{
    REFUSE_UNLESS(function != NULL && name != NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(module != NULL, hipErrorInvalidHandle);
    hipError_t error = check_device(module->device);
    if (error != hipSuccess)
        return error;
    struct ihipModuleSymbol_t *found = calloc(1, sizeof *found);
    REFUSE_UNLESS(found != NULL, hipErrorOutOfMemory);
    int result = standin_library_kernel(&found->kernel, module->library, name);
    if (result != STANDIN_OK) {
        free(found);
        return standin_hip_error(result);
    }
    found->device = module->device;
    pthread_mutex_lock(&functions_lock);
    found->next = module->functions;
    module->functions = found;
    pthread_mutex_unlock(&functions_lock);
    *function = found;
    return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void **parameters, void **extra)
{
    REFUSE_UNLESS(function != NULL, hipErrorInvalidHandle);
    REFUSE_UNLESS(parameters == NULL || extra == NULL, hipErrorInvalidValue);
    REFUSE_UNLESS(extra == NULL, hipErrorNotSupported); /* xferbench has no use for it */
    hipError_t error = check_device(function->device);
    if (error != hipSuccess)
        return error;
    struct standin_launch launch = {.kernel = function->kernel,
                                    .grid = {grid_x, grid_y, grid_z},
                                    .block = {block_x, block_y, block_z},
                                    .shared_bytes = shared_bytes,
                                    .stream = stream,
                                    .parameters = parameters};
    return standin_hip_error(standin_launch(&launch));
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
