/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The HIP runtime, opened at run time so that the program also starts without it. The types come
 * from the headers of the build and are the same in ROCm 5 to 7, but for hipDeviceProp_t, which
 * changed with 6.0 and which we do not use. */

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "backends/symbols.h"
#include "xferbench/backend.h"

/* This variable names the library, instead of a search: for an unusual folder, and for tests. */
#define XB_HIP_OVERRIDE "XFERBENCH_HIP_LIBRARY"
/* Returns the value of that variable, or NULL if it is unset or empty, and in a program with more
 * rights than its caller, whose environment must not choose the code that runs. */
const char *xb_hip_override(void);

/* The functions of ROCm 5, and of 6 and 7. Headers declare only one of the two structures, so
 * nobody uses their fields; hip.c has the offsets that it needs. */
struct hipDeviceProp_tR0600;
typedef hipError_t xb_hip_get_properties_5(hipDeviceProp_t *properties, int device);
typedef hipError_t xb_hip_get_properties_6(struct hipDeviceProp_tR0600 *properties, int device);

/* What ROCm 7.1 brought, and headers before it do not declare: hipMemcpyBatchAsync and
 * hipMemcpyAttributes. */
struct xb_hip_location {
    int type, id;
};
struct xb_hip_copy_attributes {
    int source_order; /* one of XB_HIP_ORDER_* */
    struct xb_hip_location source, target;
    unsigned flags;
};
#define XB_HIP_ORDER_STREAM 1 /* hipMemcpySrcAccessOrderStream */
#define XB_HIP_ORDER_ANY 3    /* hipMemcpySrcAccessOrderAny */
_Static_assert(sizeof(struct xb_hip_copy_attributes) == 24, "not the layout of ROCm 7");
typedef hipError_t xb_hip_copy_batch(void **targets, void **sources, size_t *sizes, size_t count,
                                     struct xb_hip_copy_attributes *attributes, size_t *firsts,
                                     size_t attribute_count, size_t *failed, hipStream_t stream);

/*
 * Every function that we use: X(name in headers and library, field, what is lost without it; "" if
 * it is required), and TYPED(type, name, field, lost) where the headers lack it or redefine it. A
 * library that stands in for the runtime in tests is compiled against the same types, so a function
 * of another type is a compile error there.
 */
#define XB_HIP_FUNCTIONS(X, TYPED)                                                                 \
    X(hipRuntimeGetVersion, runtime_version, "")                                                   \
    X(hipGetErrorName, error_name, "")                                                             \
    X(hipGetErrorString, error_text, "")                                                           \
    X(hipGetDeviceCount, device_count, "")                                                         \
    X(hipDeviceGetName, device_name, "")                                                           \
    X(hipDeviceGetPCIBusId, bus_id, "")                                                            \
    X(hipDeviceGetAttribute, attribute, "")                                                        \
    X(hipDeviceTotalMem, total_memory, "")                                                         \
    X(hipSetDevice, set_device, "")                                                                \
    X(hipMemGetInfo, memory_info, "")                                                              \
    X(hipMalloc, allocate, "")                                                                     \
    X(hipFree, release, "")                                                                        \
    X(hipHostMalloc, allocate_host, "")                                                            \
    X(hipHostFree, release_host, "")                                                               \
    X(hipMemcpyAsync, copy, "")                                                                    \
    X(hipMemcpy, copy_blocking, "")                                                                \
    X(hipStreamCreateWithFlags, open_stream, "")                                                   \
    X(hipStreamDestroy, close_stream, "")                                                          \
    X(hipStreamSynchronize, wait_for_stream, "")                                                   \
    X(hipStreamWaitEvent, stream_wait_event, "")                                                   \
    X(hipEventCreate, open_event, "")                                                              \
    X(hipEventDestroy, close_event, "")                                                            \
    X(hipEventRecord, record_event, "")                                                            \
    X(hipEventSynchronize, wait_for_event, "")                                                     \
    X(hipEventElapsedTime, elapsed, "")                                                            \
    X(hipHostRegister, register_host, "register")                                                  \
    X(hipHostUnregister, unregister_host, "register")                                              \
    X(hipHostGetDevicePointer, device_pointer, "mapped")                                           \
    X(hipMallocAsync, allocate_pooled, "pools")                                                    \
    X(hipFreeAsync, release_pooled, "pools")                                                       \
    X(hipDeviceGetDefaultMemPool, default_pool, "pools")                                           \
    X(hipMemPoolSetAttribute, keep_in_pool, "pools")                                               \
    X(hipMemPoolTrimTo, trim_pool, "pools")                                                        \
    X(hipMallocManaged, allocate_managed, "managed")                                               \
    X(hipMemPrefetchAsync, prefetch, "managed")                                                    \
    X(hipMemAdvise, advise, "managed")                                                             \
    X(hipModuleLoadData, load_module, "kernels")                                                   \
    X(hipModuleUnload, unload_module, "kernels")                                                   \
    X(hipModuleGetFunction, find_kernel, "kernels")                                                \
    X(hipModuleLaunchKernel, launch, "kernels")                                                    \
    X(hipDeviceCanAccessPeer, can_access_peer, "peers")                                            \
    X(hipDeviceEnablePeerAccess, open_peer, "peers")                                               \
    X(hipDeviceDisablePeerAccess, close_peer, "peers")                                             \
    X(hipMemcpyPeerAsync, copy_peer, "peers")                                                      \
    TYPED(xb_hip_copy_batch, "hipMemcpyBatchAsync", copy_batch, "batches")                         \
    X(hipMemcpy2DAsync, copy_rows, "rows")                                                         \
    X(hipStreamBeginCapture, begin_capture, "graphs")                                              \
    X(hipStreamEndCapture, end_capture, "graphs")                                                  \
    X(hipGraphInstantiate, instantiate, "graphs")                                                  \
    X(hipGraphLaunch, launch_graph, "graphs")                                                      \
    X(hipGraphDestroy, release_graph, "graphs")                                                    \
    X(hipGraphExecDestroy, release_executable, "graphs")                                           \
    X(hipExtGetLinkTypeAndHopCount, link_type, "the kind of link between devices")                 \
    X(hipDeviceGetUuid, uuid, "a device's UUID")                                                   \
    TYPED(xb_hip_get_properties_6, "hipGetDevicePropertiesR0600", properties_6,                    \
          "the architecture (6, 7)")                                                               \
    TYPED(xb_hip_get_properties_5, "hipGetDeviceProperties", properties_5, "the architecture (5)")

/* The runtime's functions. A function that this library lacks is NULL. */
struct xb_hip_functions {
#define X(function, field, lost) __typeof__(function) *(field);
#define TYPED(type, symbol, field, lost) type *field;
    XB_HIP_FUNCTIONS(X, TYPED)
#undef X
#undef TYPED
};

extern const struct xb_symbol xb_hip_symbols[];
extern const size_t xb_hip_symbol_count;

struct xb_hip_library {
    void *handle;
    char path[XB_PATH_SIZE]; /* of the library's file, links followed */
    bool overridden;
    int version; /* of hipRuntimeGetVersion when the driver was opened: 50221153 for 5.2.21153 */
    struct xb_hip_functions functions;
};
#define XB_HIP_MAJOR(version) ((version) / 10000000)

/* xb_hip_library_open fills this for the backend's adapters. Everything is NULL before. */
extern struct xb_hip_library xb_hip;

/* Opens the library that the override names, or searches its usual names and folders, the newest
 * major version first. Finds its functions, but calls none. It stays open as long as the process
 * lives, because the runtime cannot be unloaded; a second call returns the same result.
 * XB_ERR_UNAVAILABLE with the reason. */
XB_MUST_CHECK enum xb_status xb_hip_library_open(struct xb_error *error);

/* Returns the first function that `lost` needs and the library lacks, or NULL. */
const char *xb_hip_missing(const char *lost);
