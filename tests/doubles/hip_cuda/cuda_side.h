/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A stand-in libamdhip64 on the CUDA runtime, for testing the HIP backend with real data where only
 * NVIDIA's GPUs are. It implements what xferbench asks of HIP, as AMD's runtime would answer, and
 * says in its names and versions that it is none.
 *
 * CUDA's and HIP's headers cannot share a translation unit: their vector types collide. So this
 * header has neither, and stands between the files hip_*.c and cuda_side.c. What one side passes to
 * the other by number is the place of an entry in one of the lists below, in which both sides find
 * their own name: no number of one interface is ever taken for one of the other.
 *
 * Every function returns STANDIN_OK or the place of an error in STANDIN_ERRORS. Streams and events
 * are CUDA's own, as void *. The current device is the driver's, one a thread: two copies of the
 * runtime in one process, this library's and the program's, share it and the context.
 */

#include "../hip_errors.h"

#include <stddef.h>

#define STANDIN_ERROR_PLACE(cuda, hip, text) STANDIN_##cuda,
enum standin_result { STANDIN_OK, STANDIN_ERRORS(STANDIN_ERROR_PLACE) STANDIN_UNKNOWN };
#undef STANDIN_ERROR_PLACE

/*
 * X(HIP's name, CUDA's name). Pageable memory is the odd one: to HIP, "the device reads any memory"
 * means that its pages fault, which on AMD takes XNACK, and xferbench concludes from it whether
 * managed memory moves on demand. What tells that of an NVIDIA GPU is concurrent managed access;
 * CUDA's attribute of the same name asks for more, the sharing of malloc's memory.
 */
#define STANDIN_ATTRIBUTES(X)                                                                      \
    X(ClockRate, ClockRate)                                                                        \
    X(MemoryClockRate, MemoryClockRate)                                                            \
    X(Integrated, Integrated)                                                                      \
    X(ManagedMemory, ManagedMemory)                                                                \
    X(ConcurrentManagedAccess, ConcurrentManagedAccess)                                            \
    X(PageableMemoryAccess, ConcurrentManagedAccess)                                               \
    X(PageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables)              \
    X(DirectManagedMemAccessFromHost, DirectManagedMemAccessFromHost)                              \
    X(CanMapHostMemory, CanMapHostMemory)                                                          \
    X(HostRegisterSupported, HostRegisterSupported)                                                \
    X(MaxPitch, MaxPitch)                                                                          \
    X(MultiprocessorCount, MultiProcessorCount)                                                    \
    X(WarpSize, WarpSize)

/* X(the name both have) */
#define STANDIN_COPIES(X) X(HostToHost) X(HostToDevice) X(DeviceToHost) X(DeviceToDevice) X(Default)
#define STANDIN_ADVICES(X)                                                                         \
    X(SetReadMostly)                                                                               \
    X(UnsetReadMostly)                                                                             \
    X(SetPreferredLocation)                                                                        \
    X(UnsetPreferredLocation)                                                                      \
    X(SetAccessedBy) X(UnsetAccessedBy)

#define STANDIN_HOST (-1) /* the host, where a device's ordinal may stand too */

struct standin_device {
    char name[256];
    unsigned char uuid[16];
    int major;
    int minor;
    size_t memory_bytes;
};

struct standin_launch {
    void *kernel;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void **parameters;
};

/*
 * X(name, (parameters), the call of CUDA): a function int standin_<name>(parameters), which passes
 * on what the call returns. Only cuda_side.c knows what the calls mean.
 */
/* clang-format off */
#define STANDIN_FORWARDED(X)                                                                       \
    X(device_count, (int *count), cudaGetDeviceCount(count))                                       \
    X(device_select, (int device), cudaSetDevice(device))                                          \
    X(device_current, (int *device), cudaGetDevice(device))                                        \
    X(device_bus_id, (int device, char *text, int size), cudaDeviceGetPCIBusId(text, size, device))\
    X(device_attribute, (int device, int attribute, int *value),                                   \
      cudaDeviceGetAttribute(value, device_attributes[attribute], device))                         \
    X(memory_info, (size_t *free_bytes, size_t *total_bytes),                                      \
      cudaMemGetInfo(free_bytes, total_bytes))                                                     \
    X(peer_accessible, (int device, int peer, int *accessible),                                    \
      cudaDeviceCanAccessPeer(accessible, device, peer))                                           \
    X(peer_atomics, (int device, int peer, int *native),                                           \
      cudaDeviceGetP2PAttribute(native, cudaDevP2PAttrNativeAtomicSupported, device, peer))        \
    X(peer_enable, (int peer), cudaDeviceEnablePeerAccess(peer, 0))                                \
    X(peer_disable, (int peer), cudaDeviceDisablePeerAccess(peer))                                 \
    X(allocate, (void **address, size_t bytes), cudaMalloc(address, bytes))                        \
    X(allocate_managed, (void **address, size_t bytes, int for_host_only),                         \
      cudaMallocManaged(address, bytes, for_host_only ? cudaMemAttachHost : cudaMemAttachGlobal))  \
    X(free, (void *address), cudaFree(address))                                                    \
    /* HIP maps pinned memory into every device, whether told to or not: here it is told to. */    \
    X(allocate_host, (void **address, size_t bytes, int write_combined),                           \
      cudaHostAlloc(address, bytes, cudaHostAllocPortable | cudaHostAllocMapped |                  \
                    (write_combined ? cudaHostAllocWriteCombined : 0u)))                           \
    X(free_host, (void *address), cudaFreeHost(address))                                           \
    X(register, (void *address, size_t bytes, int io_memory),                                      \
      cudaHostRegister(address, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped |         \
                       (io_memory ? cudaHostRegisterIoMemory : 0u)))                               \
    X(unregister, (void *address), cudaHostUnregister(address))                                    \
    X(mapped_address, (void **address, void *host), cudaHostGetDevicePointer(address, host, 0))    \
    X(advise, (const void *address, size_t bytes, int advice, int place),                          \
      cudaMemAdvise(address, bytes, advices[advice], place_of(place)))                             \
    X(prefetch, (const void *address, size_t bytes, int place, void *stream),                      \
      cudaMemPrefetchAsync(address, bytes, place_of(place), PREFETCH_FLAGS(cudaStream_t) stream))  \
    X(copy, (void *target, const void *source, size_t bytes, int kind, void *stream),              \
      cudaMemcpyAsync(target, source, bytes, kinds[kind], (cudaStream_t)stream))                   \
    X(copy_peer, (void *target, int target_device, const void *source, int source_device,          \
                  size_t bytes, void *stream),                                                     \
      cudaMemcpyPeerAsync(target, target_device, source, source_device, bytes,                     \
                          (cudaStream_t)stream))                                                   \
    X(copy_rows, (void *target, size_t target_pitch, const void *source, size_t source_pitch,      \
                  size_t bytes, size_t rows, int kind, void *stream),                              \
      cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, bytes, rows, kinds[kind],      \
                        (cudaStream_t)stream))                                                     \
    X(capture_begin, (void *stream),                                                               \
      cudaStreamBeginCapture((cudaStream_t)stream, cudaStreamCaptureModeThreadLocal))              \
    X(capture_end, (void *stream, void **graph),                                                   \
      cudaStreamEndCapture((cudaStream_t)stream, (cudaGraph_t *)graph))                            \
    X(graph_instantiate, (void **executable, void *graph),                                         \
      cudaGraphInstantiateWithFlags((cudaGraphExec_t *)executable, (cudaGraph_t)graph, 0))         \
    X(graph_launch, (void *executable, void *stream),                                              \
      cudaGraphLaunch((cudaGraphExec_t)executable, (cudaStream_t)stream))                          \
    X(graph_destroy, (void *graph), cudaGraphDestroy((cudaGraph_t)graph))                          \
    X(executable_destroy, (void *executable), cudaGraphExecDestroy((cudaGraphExec_t)executable))   \
    X(stream_create, (void **stream, int non_blocking),                                            \
      cudaStreamCreateWithFlags((cudaStream_t *)stream,                                            \
                                non_blocking ? cudaStreamNonBlocking : cudaStreamDefault))         \
    X(stream_destroy, (void *stream), cudaStreamDestroy((cudaStream_t)stream))                     \
    X(stream_wait, (void *stream), cudaStreamSynchronize((cudaStream_t)stream))                    \
    X(stream_wait_event, (void *stream, void *event),                                              \
      cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0))                            \
    X(event_create, (void **event), cudaEventCreate((cudaEvent_t *)event))                         \
    X(event_destroy, (void *event), cudaEventDestroy((cudaEvent_t)event))                          \
    X(event_record, (void *event, void *stream),                                                   \
      cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream))                                   \
    X(event_wait, (void *event), cudaEventSynchronize((cudaEvent_t)event))                         \
    X(event_elapsed, (float *milliseconds, void *start, void *stop),                               \
      cudaEventElapsedTime(milliseconds, (cudaEvent_t)start, (cudaEvent_t)stop))                   \
    /* The runtime's libraries in place of the driver's modules, so that libcuda need not be       \
     * linked. A library belongs to no context: it is loaded into every one, or into each when it  \
     * first needs it (cudaLibraryLoadData's documentation), and a kernel of it runs on the device \
     * that is current. */                                                                         \
    X(library_load, (void **library, const void *image),                                           \
      cudaLibraryLoadData((cudaLibrary_t *)library, image, NULL, NULL, 0, NULL, NULL, 0))          \
    X(library_unload, (void *library), cudaLibraryUnload((cudaLibrary_t)library))
/* clang-format on */
#define STANDIN_DECLARE(name, parameters, call) int standin_##name parameters;
STANDIN_FORWARDED(STANDIN_DECLARE)

int standin_device_describe(int device, struct standin_device *description);
/* `order` has the numbers that both have: 1 for the stream's, 3 for any. */
int standin_copy_batch(void **targets, void **sources, size_t *sizes, size_t count, int order,
                       size_t *failed, void *stream);
int standin_library_kernel(void **kernel, void *library, const char *name);
int standin_launch(const struct standin_launch *launch);
