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

#include <stddef.h>

/*
 * X(CUDA's name, HIP's name, text). Many of CUDA's have none in HIP; what is not here is unknown.
 * Without a driver that CUDA can use there is no device: that is all AMD's runtime would tell.
 */
#define STANDIN_ERRORS(X)                                                                          \
    X(InvalidValue, InvalidValue, "invalid argument")                                              \
    X(MemoryAllocation, OutOfMemory, "out of memory")                                              \
    X(InitializationError, NotInitialized, "initialization error")                                 \
    X(CudartUnloading, Deinitialized, "the runtime is shutting down")                              \
    X(InvalidConfiguration, InvalidConfiguration, "invalid configuration argument")                \
    X(InvalidSymbol, InvalidSymbol, "invalid device symbol")                                       \
    X(InvalidPitchValue, InvalidPitchValue, "invalid pitch argument")                              \
    X(InvalidMemcpyDirection, InvalidMemcpyDirection, "invalid direction of a copy")               \
    X(InvalidDeviceFunction, InvalidDeviceFunction, "invalid device function")                     \
    X(NoDevice, NoDevice, "no ROCm-capable device is detected")                                    \
    X(InsufficientDriver, NoDevice, "")                                                            \
    X(StubLibrary, NoDevice, "")                                                                   \
    X(SystemDriverMismatch, NoDevice, "")                                                          \
    X(CompatNotSupportedOnDevice, NoDevice, "")                                                    \
    X(InvalidDevice, InvalidDevice, "invalid device ordinal")                                      \
    X(InvalidKernelImage, InvalidImage, "device kernel image is invalid")                          \
    X(DeviceUninitialized, InvalidContext, "invalid device context")                               \
    X(MapBufferObjectFailed, MapFailed, "mapping of a buffer failed")                              \
    X(UnmapBufferObjectFailed, UnmapFailed, "unmapping of a buffer failed")                        \
    X(NoKernelImageForDevice, NoBinaryForGpu, "no kernel image for the device")                    \
    X(UnsupportedPtxVersion, NoBinaryForGpu, "")                                                   \
    X(ECCUncorrectable, ECCNotCorrectable, "uncorrectable memory error")                           \
    X(PeerAccessUnsupported, PeerAccessUnsupported, "peer access is not supported")                \
    X(InvalidPtx, InvalidKernelFile, "invalid kernel file")                                        \
    X(InvalidSource, InvalidSource, "invalid source")                                              \
    X(FileNotFound, FileNotFound, "file not found")                                                \
    X(SharedObjectSymbolNotFound, SharedObjectSymbolNotFound, "shared object symbol not found")    \
    X(SharedObjectInitFailed, SharedObjectInitFailed, "shared object initialization failed")       \
    X(OperatingSystem, OperatingSystem, "operating system call failed")                            \
    X(InvalidResourceHandle, InvalidHandle, "invalid resource handle")                             \
    X(IllegalState, IllegalState, "the operation cannot be performed in the present state")        \
    X(StreamCaptureUnsupported, StreamCaptureUnsupported, "not permitted while a stream captures") \
    X(StreamCaptureInvalidated, StreamCaptureInvalidated, "the capture became invalid")            \
    X(StreamCaptureWrongThread, StreamCaptureWrongThread, "another thread began the capture")      \
    X(SymbolNotFound, NotFound, "named symbol not found")                                          \
    X(NotReady, NotReady, "device not ready")                                                      \
    X(IllegalAddress, IllegalAddress, "an illegal memory access was encountered")                  \
    X(LaunchOutOfResources, LaunchOutOfResources, "too many resources requested for launch")       \
    X(LaunchTimeout, LaunchTimeOut, "the launch timed out and was terminated")                     \
    X(PeerAccessAlreadyEnabled, PeerAccessAlreadyEnabled, "peer access is already enabled")        \
    X(PeerAccessNotEnabled, PeerAccessNotEnabled, "peer access has not been enabled")              \
    X(ContextIsDestroyed, ContextIsDestroyed, "context is destroyed")                              \
    X(Assert, Assert, "device-side assert triggered")                                              \
    X(HostMemoryAlreadyRegistered, HostMemoryAlreadyRegistered,                                    \
      "part or all of the requested memory range is already mapped")                               \
    X(HostMemoryNotRegistered, HostMemoryNotRegistered,                                            \
      "pointer does not correspond to a registered memory region")                                 \
    X(LaunchFailure, LaunchFailure, "unspecified launch failure")                                  \
    X(NotSupported, NotSupported, "operation not supported")

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

int standin_device_count(int *count);
int standin_device_select(int device);
int standin_device_current(int *device);
int standin_device_describe(int device, struct standin_device *description);
int standin_device_bus_id(int device, char *text, int size);
int standin_device_attribute(int device, int attribute, int *value);
int standin_memory_info(size_t *free_bytes, size_t *total_bytes);

int standin_peer_accessible(int device, int peer, int *accessible);
int standin_peer_atomics(int device, int peer, int *native);
int standin_peer_enable(int peer);
int standin_peer_disable(int peer);

int standin_allocate(void **address, size_t bytes);
int standin_allocate_managed(void **address, size_t bytes, int for_host_only);
int standin_free(void *address);
int standin_allocate_host(void **address, size_t bytes, int write_combined);
int standin_free_host(void *address);
int standin_register(void *address, size_t bytes, int io_memory);
int standin_unregister(void *address);
int standin_mapped_address(void **address, void *host);
int standin_advise(const void *address, size_t bytes, int advice, int place);
int standin_prefetch(const void *address, size_t bytes, int place, void *stream);

int standin_copy(void *target, const void *source, size_t bytes, int kind, void *stream);
int standin_copy_peer(void *target, int target_device, const void *source, int source_device,
                      size_t bytes, void *stream);
/* `order` has the numbers that both have: 1 for the stream's, 3 for any. */
int standin_copy_batch(void **targets, void **sources, size_t *sizes, size_t count, int order,
                       size_t *failed, void *stream);
int standin_copy_rows(void *target, size_t target_pitch, const void *source, size_t source_pitch,
                      size_t bytes, size_t rows, int kind, void *stream);
int standin_capture_begin(void *stream);
int standin_capture_end(void *stream, void **graph);
int standin_graph_instantiate(void **executable, void *graph);
int standin_graph_launch(void *executable, void *stream);
int standin_graph_destroy(void *graph);
int standin_executable_destroy(void *executable);
int standin_stream_create(void **stream, int non_blocking);
int standin_stream_destroy(void *stream);
int standin_stream_wait(void *stream);
int standin_stream_wait_event(void *stream, void *event);
int standin_event_create(void **event);
int standin_event_destroy(void *event);
int standin_event_record(void *event, void *stream);
int standin_event_wait(void *event);
int standin_event_elapsed(float *milliseconds, void *start, void *stop);

int standin_library_load(void **library, const void *image);
int standin_library_unload(void *library);
int standin_library_kernel(void **kernel, void *library, const char *name);
int standin_launch(const struct standin_launch *launch);
