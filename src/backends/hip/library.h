/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The HIP runtime, opened at run time so that the program also starts on machines without it. The
 * types come from the headers of the build and are the same in ROCm 5 to 7. We do not use
 * hipDeviceProp_t, because its layout changed with 6.0.
 */

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "backends/symbols.h"
#include "xferbench/backend.h"

/* This variable names the library to open, instead of a search: for a runtime in an unusual folder,
 * and for tests. */
#define XB_HIP_OVERRIDE "XFERBENCH_HIP_LIBRARY"
/* The value of that variable, or NULL if it is unset or empty. Also NULL in a program with more
 * rights than its caller, whose environment must not choose the code that runs. */
const char *xb_hip_override(void);

/* The functions of ROCm 5, and of 6 and 7. The headers of a release declare only one of the two
 * structures, so nobody uses their fields; device.c has the offsets that it needs. */
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
 * Every function that we use: X(type, name in the library, field, what is lost without it). The
 * headers may redefine names by macros, so the library's names are strings. The last argument is ""
 * for a function that is required. A library that stands in for the runtime in tests is compiled
 * against the same types, so a function of another type is a compile error there.
 */
#define XB_HIP_FUNCTIONS(X)                                                                        \
    X(__typeof__(hipRuntimeGetVersion) *, "hipRuntimeGetVersion", runtime_version, "")             \
    X(__typeof__(hipGetErrorName) *, "hipGetErrorName", error_name, "")                            \
    X(__typeof__(hipGetErrorString) *, "hipGetErrorString", error_text, "")                        \
    X(__typeof__(hipGetDeviceCount) *, "hipGetDeviceCount", device_count, "")                      \
    X(__typeof__(hipDeviceGetName) *, "hipDeviceGetName", device_name, "")                         \
    X(__typeof__(hipDeviceGetPCIBusId) *, "hipDeviceGetPCIBusId", bus_id, "")                      \
    X(__typeof__(hipDeviceGetAttribute) *, "hipDeviceGetAttribute", attribute, "")                 \
    X(__typeof__(hipDeviceTotalMem) *, "hipDeviceTotalMem", total_memory, "")                      \
    X(__typeof__(hipSetDevice) *, "hipSetDevice", set_device, "")                                  \
    X(__typeof__(hipMemGetInfo) *, "hipMemGetInfo", memory_info, "")                               \
    X(__typeof__(hipMalloc) *, "hipMalloc", allocate, "")                                          \
    X(__typeof__(hipFree) *, "hipFree", release, "")                                               \
    X(__typeof__(hipHostMalloc) *, "hipHostMalloc", allocate_host, "")                             \
    X(__typeof__(hipHostFree) *, "hipHostFree", release_host, "")                                  \
    X(__typeof__(hipMemcpyAsync) *, "hipMemcpyAsync", copy, "")                                    \
    X(__typeof__(hipStreamCreateWithFlags) *, "hipStreamCreateWithFlags", open_stream, "")         \
    X(__typeof__(hipStreamDestroy) *, "hipStreamDestroy", close_stream, "")                        \
    X(__typeof__(hipStreamSynchronize) *, "hipStreamSynchronize", wait_for_stream, "")             \
    X(__typeof__(hipStreamWaitEvent) *, "hipStreamWaitEvent", stream_wait_event, "")               \
    X(__typeof__(hipEventCreate) *, "hipEventCreate", open_event, "")                              \
    X(__typeof__(hipEventDestroy) *, "hipEventDestroy", close_event, "")                           \
    X(__typeof__(hipEventRecord) *, "hipEventRecord", record_event, "")                            \
    X(__typeof__(hipEventSynchronize) *, "hipEventSynchronize", wait_for_event, "")                \
    X(__typeof__(hipEventElapsedTime) *, "hipEventElapsedTime", elapsed, "")                       \
    X(__typeof__(hipHostRegister) *, "hipHostRegister", register_host, "register")                 \
    X(__typeof__(hipHostUnregister) *, "hipHostUnregister", unregister_host, "register")           \
    X(__typeof__(hipHostGetDevicePointer) *, "hipHostGetDevicePointer", device_pointer, "mapped")  \
    X(__typeof__(hipMallocManaged) *, "hipMallocManaged", allocate_managed, "managed")             \
    X(__typeof__(hipMemPrefetchAsync) *, "hipMemPrefetchAsync", prefetch, "managed")               \
    X(__typeof__(hipMemAdvise) *, "hipMemAdvise", advise, "managed")                               \
    X(__typeof__(hipModuleLoadData) *, "hipModuleLoadData", load_module, "kernels")                \
    X(__typeof__(hipModuleUnload) *, "hipModuleUnload", unload_module, "kernels")                  \
    X(__typeof__(hipModuleGetFunction) *, "hipModuleGetFunction", find_kernel, "kernels")          \
    X(__typeof__(hipModuleLaunchKernel) *, "hipModuleLaunchKernel", launch, "kernels")             \
    X(__typeof__(hipDeviceCanAccessPeer) *, "hipDeviceCanAccessPeer", can_access_peer, "peers")    \
    X(__typeof__(hipDeviceEnablePeerAccess) *, "hipDeviceEnablePeerAccess", open_peer, "peers")    \
    X(__typeof__(hipDeviceDisablePeerAccess) *, "hipDeviceDisablePeerAccess", close_peer, "peers") \
    X(__typeof__(hipMemcpyPeerAsync) *, "hipMemcpyPeerAsync", copy_peer, "peers")                  \
    X(xb_hip_copy_batch *, "hipMemcpyBatchAsync", copy_batch, "batches")                           \
    X(__typeof__(hipMemcpy2DAsync) *, "hipMemcpy2DAsync", copy_rows, "rows")                       \
    X(__typeof__(hipStreamBeginCapture) *, "hipStreamBeginCapture", begin_capture, "graphs")       \
    X(__typeof__(hipStreamEndCapture) *, "hipStreamEndCapture", end_capture, "graphs")             \
    X(__typeof__(hipGraphInstantiate) *, "hipGraphInstantiate", instantiate, "graphs")             \
    X(__typeof__(hipGraphLaunch) *, "hipGraphLaunch", launch_graph, "graphs")                      \
    X(__typeof__(hipGraphDestroy) *, "hipGraphDestroy", release_graph, "graphs")                   \
    X(__typeof__(hipGraphExecDestroy) *, "hipGraphExecDestroy", release_executable, "graphs")      \
    X(__typeof__(hipExtGetLinkTypeAndHopCount) *, "hipExtGetLinkTypeAndHopCount", link_type,       \
      "the kind of link between devices")                                                          \
    X(__typeof__(hipDeviceGetUuid) *, "hipDeviceGetUuid", uuid, "a device's UUID")                 \
    X(xb_hip_get_properties_6 *, "hipGetDevicePropertiesR0600", properties_6,                      \
      "the architecture (6, 7)")                                                                   \
    X(xb_hip_get_properties_5 *, "hipGetDeviceProperties", properties_5, "the architecture (5)")

/* The runtime's functions. A function that this library lacks is NULL. */
struct xb_hip_functions {
#define X(type, symbol, field, lost) type field;
    XB_HIP_FUNCTIONS(X)
#undef X
};

extern const struct xb_symbol xb_hip_symbols[];
extern const size_t xb_hip_symbol_count;

struct xb_hip_library {
    void *handle;
    char path[XB_PATH_SIZE]; /* of the library's file, links followed */
    bool overridden;
    struct xb_hip_functions functions;
};

/* xb_hip_library_open fills this for the backend's adapters. Everything is NULL before. */
extern struct xb_hip_library xb_hip;

/*
 * Opens the library that the override names, or searches its usual names and folders, the newest
 * major version first. Finds its functions, but calls none of them. The library stays open as long
 * as the process lives, because the runtime cannot be unloaded; a second call returns the same
 * result. XB_ERR_UNAVAILABLE with the reason.
 */
XB_MUST_CHECK enum xb_status xb_hip_library_open(struct xb_error *error);

/* Whether the library has every function that `lost` needs. If not, *missing becomes the name of
 * the first that it lacks; `missing` may be NULL. */
bool xb_hip_has(const char *lost, const char **missing);
