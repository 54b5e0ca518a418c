/* SPDX-License-Identifier: Apache-2.0 */
/* The side of the stand-in that knows CUDA; see cuda_side.h. */
#include "cuda_side.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <string.h>

#if CUDART_VERSION < 12080
#error "the stand-in loads kernels by cudaLibraryLoadData, which CUDA 12.8 brought"
#endif

/*
 * The place of an error in the list. The runtime also keeps it as its last error, which the caller
 * could only read through HIP: it is taken away, so that no later call seems to have failed. Errors
 * that broke the context come again by themselves.
 */
static int result_of(cudaError_t code)
{
#define CODE(cuda, hip, text) cudaError##cuda,
    static const cudaError_t codes[] = {cudaSuccess, STANDIN_ERRORS(CODE)};
#undef CODE
    if (code == cudaSuccess)
        return STANDIN_OK;
    (void)cudaGetLastError();
    for (int i = 1; i < STANDIN_UNKNOWN; i++)
        if (codes[i] == code)
            return i;
    return STANDIN_UNKNOWN;
}

int standin_device_count(int *count)
{
    return result_of(cudaGetDeviceCount(count));
}

int standin_device_select(int device)
{
    return result_of(cudaSetDevice(device));
}

int standin_device_current(int *device)
{
    return result_of(cudaGetDevice(device));
}

int standin_device_describe(int device, struct standin_device *description)
{
    struct cudaDeviceProp properties;
    int result = result_of(cudaGetDeviceProperties(&properties, device));
    if (result != STANDIN_OK)
        return result;
    memset(description, 0, sizeof *description);
    snprintf(description->name, sizeof description->name, "%s", properties.name);
    memcpy(description->uuid, properties.uuid.bytes, sizeof description->uuid);
    description->major = properties.major;
    description->minor = properties.minor;
    description->memory_bytes = properties.totalGlobalMem;
    return STANDIN_OK;
}

int standin_device_bus_id(int device, char *text, int size)
{
    return result_of(cudaDeviceGetPCIBusId(text, size, device));
}

int standin_device_attribute(int device, int attribute, int *value)
{
    /* Clock rates too: CUDA 13 has them no longer among the properties, but as attributes. */
#define ATTRIBUTE(hip, cuda) cudaDevAttr##cuda,
    static const enum cudaDeviceAttr attributes[] = {STANDIN_ATTRIBUTES(ATTRIBUTE)};
#undef ATTRIBUTE
    return result_of(cudaDeviceGetAttribute(value, attributes[attribute], device));
}

int standin_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    return result_of(cudaMemGetInfo(free_bytes, total_bytes));
}

int standin_peer_accessible(int device, int peer, int *accessible)
{
    return result_of(cudaDeviceCanAccessPeer(accessible, device, peer));
}

int standin_peer_atomics(int device, int peer, int *native)
{
    return result_of(
        cudaDeviceGetP2PAttribute(native, cudaDevP2PAttrNativeAtomicSupported, device, peer));
}

int standin_peer_enable(int peer)
{
    return result_of(cudaDeviceEnablePeerAccess(peer, 0));
}

int standin_peer_disable(int peer)
{
    return result_of(cudaDeviceDisablePeerAccess(peer));
}

int standin_allocate(void **address, size_t bytes)
{
    return result_of(cudaMalloc(address, bytes));
}

int standin_allocate_managed(void **address, size_t bytes, int for_host_only)
{
    return result_of(
        cudaMallocManaged(address, bytes, for_host_only ? cudaMemAttachHost : cudaMemAttachGlobal));
}

int standin_free(void *address)
{
    return result_of(cudaFree(address));
}

/* HIP maps pinned memory into every device, whether told to or not: here it is told to. */
int standin_allocate_host(void **address, size_t bytes, int write_combined)
{
    unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped;
    if (write_combined)
        flags |= cudaHostAllocWriteCombined;
    return result_of(cudaHostAlloc(address, bytes, flags));
}

int standin_free_host(void *address)
{
    return result_of(cudaFreeHost(address));
}

int standin_register(void *address, size_t bytes, int io_memory)
{
    unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (io_memory)
        flags |= cudaHostRegisterIoMemory;
    return result_of(cudaHostRegister(address, bytes, flags));
}

int standin_unregister(void *address)
{
    return result_of(cudaHostUnregister(address));
}

int standin_mapped_address(void **address, void *host)
{
    return result_of(cudaHostGetDevicePointer(address, host, 0));
}

/* CUDA 13 describes a place by a struct; HIP and CUDA 12 have an ordinal, or -1 for the host. */
#if CUDART_VERSION >= 13000
static struct cudaMemLocation place_of(int place)
{
    if (place == STANDIN_HOST)
        return (struct cudaMemLocation){.type = cudaMemLocationTypeHost, .id = 0};
    return (struct cudaMemLocation){.type = cudaMemLocationTypeDevice, .id = place};
}
#define PREFETCH_FLAGS 0u,
#else
static int place_of(int place)
{
    return place == STANDIN_HOST ? cudaCpuDeviceId : place;
}
#define PREFETCH_FLAGS
#endif

int standin_advise(const void *address, size_t bytes, int advice, int place)
{
#define ADVICE(name) cudaMemAdvise##name,
    static const enum cudaMemoryAdvise advices[] = {STANDIN_ADVICES(ADVICE)};
#undef ADVICE
    return result_of(cudaMemAdvise(address, bytes, advices[advice], place_of(place)));
}

int standin_prefetch(const void *address, size_t bytes, int place, void *stream)
{
    return result_of(
        cudaMemPrefetchAsync(address, bytes, place_of(place), PREFETCH_FLAGS(cudaStream_t) stream));
}

#define COPY(name) cudaMemcpy##name,
static const enum cudaMemcpyKind kinds[] = {STANDIN_COPIES(COPY)};
#undef COPY

int standin_copy(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    return result_of(cudaMemcpyAsync(target, source, bytes, kinds[kind], (cudaStream_t)stream));
}

_Static_assert(cudaMemcpySrcAccessOrderStream == 1 && cudaMemcpySrcAccessOrderAny == 3,
               "the orders have HIP's numbers");

/* CUDA has no batch without attributes: HIP's then means the order of the stream. CUDA 13 does not
 * tell which copy failed, and changed the qualifiers of the arrays. */
int standin_copy_batch(void **targets, void **sources, size_t *sizes, size_t count, int order,
                       size_t *failed, void *stream)
{
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder =
                                                  (enum cudaMemcpySrcAccessOrder)order};
    size_t first = 0;
    *failed = (size_t)-1;
#if CUDART_VERSION >= 13000
    return result_of(cudaMemcpyBatchAsync((void *)targets, (void *)sources, sizes, count,
                                          &attributes, &first, 1, (cudaStream_t)stream));
#else
    return result_of(cudaMemcpyBatchAsync((void *)targets, (void *)sources, sizes, count,
                                          &attributes, &first, 1, failed, (cudaStream_t)stream));
#endif
}

int standin_copy_rows(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t bytes, size_t rows, int kind, void *stream)
{
    return result_of(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, bytes, rows,
                                       kinds[kind], (cudaStream_t)stream));
}

int standin_capture_begin(void *stream)
{
    return result_of(
        cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal));
}

int standin_capture_end(void *stream, void **graph)
{
    return result_of(cudaStreamEndCapture((cudaStream_t)stream, (cudaGraph_t *)graph));
}

int standin_graph_instantiate(void **executable, void *graph)
{
    return result_of(
        cudaGraphInstantiateWithFlags((cudaGraphExec_t *)executable, (cudaGraph_t)graph, 0));
}

int standin_graph_launch(void *executable, void *stream)
{
    return result_of(cudaGraphLaunch((cudaGraphExec_t)executable, (cudaStream_t)stream));
}

int standin_graph_destroy(void *graph)
{
    return result_of(cudaGraphDestroy((cudaGraph_t)graph));
}

int standin_executable_destroy(void *executable)
{
    return result_of(cudaGraphExecDestroy((cudaGraphExec_t)executable));
}

int standin_copy_peer(void *target, int target_device, const void *source, int source_device,
                      size_t bytes, void *stream)
{
    return result_of(cudaMemcpyPeerAsync(target, target_device, source, source_device, bytes,
                                         (cudaStream_t)stream));
}

int standin_stream_create(void **stream, int non_blocking)
{
    return result_of(cudaStreamCreateWithFlags(
        (cudaStream_t *)stream, non_blocking ? cudaStreamNonBlocking : cudaStreamDefault));
}

int standin_stream_destroy(void *stream)
{
    return result_of(cudaStreamDestroy((cudaStream_t)stream));
}

int standin_stream_wait(void *stream)
{
    return result_of(cudaStreamSynchronize((cudaStream_t)stream));
}

int standin_stream_wait_event(void *stream, void *event)
{
    return result_of(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}

int standin_event_create(void **event)
{
    return result_of(cudaEventCreate((cudaEvent_t *)event));
}

int standin_event_destroy(void *event)
{
    return result_of(cudaEventDestroy((cudaEvent_t)event));
}

int standin_event_record(void *event, void *stream)
{
    return result_of(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}

int standin_event_wait(void *event)
{
    return result_of(cudaEventSynchronize((cudaEvent_t)event));
}

int standin_event_elapsed(float *milliseconds, void *start, void *stop)
{
    return result_of(cudaEventElapsedTime(milliseconds, (cudaEvent_t)start, (cudaEvent_t)stop));
}

/*
 * The runtime's libraries in place of the driver's modules, so that libcuda need not be linked. A
 * library belongs to no context: it is loaded into every one, or into each when it first needs it
 * (cudaLibraryLoadData's documentation), and a kernel of it runs on the device that is current.
 */
int standin_library_load(void **library, const void *image)
{
    return result_of(
        cudaLibraryLoadData((cudaLibrary_t *)library, image, NULL, NULL, 0, NULL, NULL, 0));
}

int standin_library_unload(void *library)
{
    return result_of(cudaLibraryUnload((cudaLibrary_t)library));
}

/*
 * Asking for its attributes loads the kernel onto the current device, if nothing has before. HIP
 * loads a module whole; loading at the first launch may wait for the device to be idle, which it is
 * never while a kernel spins on what the host writes later: a held queue.
 */
int standin_library_kernel(void **kernel, void *library, const char *name)
{
    cudaKernel_t found = NULL;
    int result = result_of(cudaLibraryGetKernel(&found, (cudaLibrary_t)library, name));
    if (result != STANDIN_OK)
        return result;
    struct cudaFuncAttributes ignored;
    *kernel = found;
    return result_of(cudaFuncGetAttributes(&ignored, (const void *)found));
}

int standin_launch(const struct standin_launch *launch)
{
    dim3 grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
    dim3 block = {launch->block[0], launch->block[1], launch->block[2]};
    return result_of(cudaLaunchKernel(launch->kernel, grid, block, launch->parameters,
                                      launch->shared_bytes, (cudaStream_t)launch->stream));
}
