/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters of the GPU backends for the HIP runtime. */
#include "hip.h"

static const char *error_name(int code)
{
    return xb_hip.functions.error_name((hipError_t)code);
}

static const char *error_text(int code)
{
    return xb_hip.functions.error_text((hipError_t)code);
}

static struct xb_gpu_outcome set_device(int ordinal)
{
    return XB_HIP_CALL(set_device, "hipSetDevice", ordinal);
}

static struct xb_gpu_outcome clock_rate(int ordinal, int *kilohertz)
{
    return XB_HIP_CALL(attribute, "hipDeviceGetAttribute", kilohertz, hipDeviceAttributeClockRate,
                       ordinal);
}

static struct xb_gpu_outcome multiprocessors(int ordinal, int *count)
{
    return XB_HIP_CALL(attribute, "hipDeviceGetAttribute", count,
                       hipDeviceAttributeMultiprocessorCount, ordinal);
}

static struct xb_gpu_outcome max_pitch(int ordinal, int *bytes)
{
    return XB_HIP_CALL(attribute, "hipDeviceGetAttribute", bytes, hipDeviceAttributeMaxPitch,
                       ordinal);
}

static struct xb_gpu_outcome memory_info(size_t *free_bytes, size_t *total)
{
    return XB_HIP_CALL(memory_info, "hipMemGetInfo", free_bytes, total);
}

static struct xb_gpu_outcome allocate(void **address, size_t bytes)
{
    return XB_HIP_CALL(allocate, "hipMalloc", address, bytes);
}

static struct xb_gpu_outcome release(void *address)
{
    return XB_HIP_CALL(release, "hipFree", address);
}

/*
 * Asks for coherent memory explicitly, because otherwise the variable HIP_HOST_COHERENT decides.
 * Asks for the user's NUMA policy, because otherwise the runtime uses the node that it considers
 * nearest, even if the thread is bound to another.
 */
static struct xb_gpu_outcome allocate_host(void **address, size_t bytes, enum xb_memory memory)
{
    unsigned flags = hipHostMallocCoherent | hipHostMallocNumaUser;

    if (memory == XB_MEMORY_MAPPED)
        flags |= hipHostMallocMapped;
    return XB_HIP_CALL(allocate_host, "hipHostMalloc", address, bytes, flags);
}

static struct xb_gpu_outcome release_host(void *address)
{
    return XB_HIP_CALL(release_host, "hipHostFree", address);
}

static struct xb_gpu_outcome register_host(void *address, size_t bytes, bool mapped)
{
    return XB_HIP_CALL(register_host, "hipHostRegister", address, bytes,
                       mapped ? hipHostRegisterMapped | hipHostRegisterPortable
                              : hipHostRegisterDefault);
}

static struct xb_gpu_outcome unregister_host(void *address)
{
    return XB_HIP_CALL(unregister_host, "hipHostUnregister", address);
}

static struct xb_gpu_outcome device_pointer(void **seen, void *host_address)
{
    return XB_HIP_CALL(device_pointer, "hipHostGetDevicePointer", seen, host_address, 0);
}

static struct xb_gpu_outcome allocate_managed(void **address, size_t bytes)
{
    return XB_HIP_CALL(allocate_managed, "hipMallocManaged", address, bytes, hipMemAttachGlobal);
}

static int native_location_of(int location)
{
    return location == XB_GPU_HOST ? hipCpuDeviceId : location;
}

static struct xb_gpu_outcome advise(const void *address, size_t bytes, enum xb_gpu_advice advice,
                                    int location)
{
    hipMemoryAdvise native = advice == XB_GPU_PREFER     ? hipMemAdviseSetPreferredLocation
                             : advice == XB_GPU_UNPREFER ? hipMemAdviseUnsetPreferredLocation
                             : advice == XB_GPU_MAP      ? hipMemAdviseSetAccessedBy
                                                         : hipMemAdviseUnsetAccessedBy;
    return XB_HIP_CALL(advise, "hipMemAdvise", address, bytes, native,
                       native_location_of(location));
}

static struct xb_gpu_outcome prefetch(const void *address, size_t bytes, int location, void *stream)
{
    return XB_HIP_CALL(prefetch, "hipMemPrefetchAsync", address, bytes,
                       native_location_of(location), stream);
}

static struct xb_gpu_outcome open_stream(void **stream)
{
    return XB_HIP_CALL(open_stream, "hipStreamCreateWithFlags", (hipStream_t *)stream,
                       hipStreamNonBlocking);
}

static struct xb_gpu_outcome close_stream(void *stream)
{
    return XB_HIP_CALL(close_stream, "hipStreamDestroy", stream);
}

static struct xb_gpu_outcome wait_for_stream(void *stream)
{
    return XB_HIP_CALL(wait_for_stream, "hipStreamSynchronize", stream);
}

static struct xb_gpu_outcome stream_wait_event(void *stream, void *event)
{
    return XB_HIP_CALL(stream_wait_event, "hipStreamWaitEvent", stream, event, 0);
}

static struct xb_gpu_outcome open_event(void **event)
{
    return XB_HIP_CALL(open_event, "hipEventCreate", (hipEvent_t *)event);
}

static struct xb_gpu_outcome close_event(void *event)
{
    return XB_HIP_CALL(close_event, "hipEventDestroy", event);
}

static struct xb_gpu_outcome record_event(void *event, void *stream)
{
    return XB_HIP_CALL(record_event, "hipEventRecord", event, stream);
}

static struct xb_gpu_outcome wait_for_event(void *event)
{
    return XB_HIP_CALL(wait_for_event, "hipEventSynchronize", event);
}

static struct xb_gpu_outcome elapsed(float *milliseconds, void *start, void *stop)
{
    return XB_HIP_CALL(elapsed, "hipEventElapsedTime", milliseconds, start, stop);
}

static hipMemcpyKind kind_of(enum xb_gpu_way way)
{
    return way == XB_GPU_TO_DEVICE ? hipMemcpyHostToDevice
           : way == XB_GPU_TO_HOST ? hipMemcpyDeviceToHost
                                   : hipMemcpyDeviceToDevice;
}

static struct xb_gpu_outcome copy(void *target, const void *source, size_t bytes,
                                  enum xb_gpu_way way, void *stream)
{
    return XB_HIP_CALL(copy, "hipMemcpyAsync", target, source, bytes, kind_of(way), stream);
}

/* ROCm 7.2 refuses attributes, and takes a batch without any: ROCm/clr#273. The index of a copy
 * that failed gets a place always, because no source says that it may be NULL in every release. */
static struct xb_gpu_outcome copy_batch(void **targets, void **sources, size_t *sizes, size_t count,
                                        enum xb_gpu_order order, void *stream)
{
    struct xb_hip_copy_attributes attributes = {
        .source_order = order == XB_GPU_ANY_ORDER ? XB_HIP_ORDER_ANY : XB_HIP_ORDER_STREAM};
    bool told = order != XB_GPU_ORDER_UNSAID;
    size_t first = 0; /* the first copy that the attributes apply to */
    size_t failed = 0;
    return XB_HIP_CALL(copy_batch, "hipMemcpyBatchAsync", targets, sources, sizes, count,
                       told ? &attributes : NULL, told ? &first : NULL, told ? 1 : 0, &failed,
                       stream);
}

static struct xb_gpu_outcome copy_rows(void *target, size_t target_pitch, const void *source,
                                       size_t source_pitch, size_t bytes, size_t count,
                                       enum xb_gpu_way way, void *stream)
{
    return XB_HIP_CALL(copy_rows, "hipMemcpy2DAsync", target, target_pitch, source, source_pitch,
                       bytes, count, kind_of(way), stream);
}

/* In this mode only the calling thread's own calls are kept from breaking the capture; other
 * threads may use other devices meanwhile. */
static struct xb_gpu_outcome begin_capture(void *stream)
{
    return XB_HIP_CALL(begin_capture, "hipStreamBeginCapture", stream,
                       hipStreamCaptureModeThreadLocal);
}

static struct xb_gpu_outcome end_capture(void *stream, void **graph)
{
    return XB_HIP_CALL(end_capture, "hipStreamEndCapture", stream, (hipGraph_t *)graph);
}

static struct xb_gpu_outcome instantiate(void **executable, void *graph)
{
    return XB_HIP_CALL(instantiate, "hipGraphInstantiate", (hipGraphExec_t *)executable, graph,
                       NULL, NULL, 0);
}

static struct xb_gpu_outcome launch_graph(void *executable, void *stream)
{
    return XB_HIP_CALL(launch_graph, "hipGraphLaunch", executable, stream);
}

static struct xb_gpu_outcome release_graph(void *graph)
{
    return XB_HIP_CALL(release_graph, "hipGraphDestroy", graph);
}

static struct xb_gpu_outcome release_executable(void *executable)
{
    return XB_HIP_CALL(release_executable, "hipGraphExecDestroy", executable);
}

static struct xb_gpu_outcome copy_peer(void *target, int target_ordinal, const void *source,
                                       int source_ordinal, size_t bytes, void *stream)
{
    return XB_HIP_CALL(copy_peer, "hipMemcpyPeerAsync", target, target_ordinal, source,
                       source_ordinal, bytes, stream);
}

static struct xb_gpu_outcome launch(void *kernel, unsigned blocks, unsigned threads,
                                    void **arguments, void *stream)
{
    return XB_HIP_CALL(launch, "hipModuleLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0,
                       stream, arguments, NULL);
}

static struct xb_gpu_outcome can_access_peer(int *can_access, int ordinal, int other)
{
    return XB_HIP_CALL(can_access_peer, "hipDeviceCanAccessPeer", can_access, ordinal, other);
}

static struct xb_gpu_outcome open_peer(int other)
{
    return XB_HIP_CALL(open_peer, "hipDeviceEnablePeerAccess", other, 0);
}

static struct xb_gpu_outcome close_peer(int other)
{
    return XB_HIP_CALL(close_peer, "hipDeviceDisablePeerAccess", other);
}

const struct xb_gpu_runtime xb_hip_runtime = {
    .name = "HIP",
    .hold_is_proven = false, /* never run on AMD's hardware */
    .batch_is_proven = false,
    .batch_at_once = 8192, /* a build of ROCm 7.15 faulted on more: vllm-project/vllm#43018 */
    .out_of_memory = hipErrorOutOfMemory,
    .peer_already_open = hipErrorPeerAccessAlreadyEnabled,
    .invalid_value = hipErrorInvalidValue,
    .not_supported = hipErrorNotSupported,
    .error_name = error_name,
    .error_text = error_text,
    .set_device = set_device,
    .clock_rate = clock_rate,
    .multiprocessors = multiprocessors,
    .max_pitch = max_pitch,
    .memory_info = memory_info,
    .allocate = allocate,
    .release = release,
    .allocate_host = allocate_host,
    .release_host = release_host,
    .register_host = register_host,
    .unregister_host = unregister_host,
    .device_pointer = device_pointer,
    .allocate_managed = allocate_managed,
    .advise = advise,
    .prefetch = prefetch,
    .open_stream = open_stream,
    .close_stream = close_stream,
    .wait_for_stream = wait_for_stream,
    .stream_wait_event = stream_wait_event,
    .open_event = open_event,
    .close_event = close_event,
    .record_event = record_event,
    .wait_for_event = wait_for_event,
    .elapsed = elapsed,
    .copy = copy,
    .copy_batch = copy_batch,
    .copy_rows = copy_rows,
    .begin_capture = begin_capture,
    .end_capture = end_capture,
    .instantiate = instantiate,
    .launch_graph = launch_graph,
    .release_graph = release_graph,
    .release_executable = release_executable,
    .copy_peer = copy_peer,
    .launch = launch,
    .can_access_peer = can_access_peer,
    .open_peer = open_peer,
    .close_peer = close_peer,
    .load_kernels = xb_hip_load_kernels,
    .unload_kernels = xb_hip_unload_kernels,
};
