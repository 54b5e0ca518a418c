/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HIP_LIBRARY_H
#define XFERBENCH_BACKENDS_HIP_LIBRARY_H

/*
 * The HIP runtime, opened at run time, so that one program starts where there is none. Types come
 * from the headers it was compiled with; they hold for ROCm 5 to 7, which is why hipDeviceProp_t,
 * whose layout changed at 6.0, is not among them.
 */

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "xferbench/backend.h"

/* Names the library to open in place of the search. For a runtime in an unusual place, and for
 * tests. */
#define XB_HIP_OVERRIDE "XFERBENCH_HIP_LIBRARY"
/* What it names; NULL where it is not set or empty, and in a program that has more rights than its
 * caller: there his environment does not say what is loaded. */
const char *xb_hip_override(void);

/* As in the headers of ROCm 5, and of 6 and 7. Either header knows only one of the structures, and
 * nobody here looks into it by its fields: offsets in it stand in device.c. */
struct hipDeviceProp_tR0600;
typedef hipError_t xb_hip_get_properties_5(hipDeviceProp_t *properties, int device);
typedef hipError_t xb_hip_get_properties_6(struct hipDeviceProp_tR0600 *properties, int device);

/*
 * Every function that is used: X(type, name, what is lost without it). The names are those of the
 * library, whatever the headers' macros make of them. An empty third argument: required.
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
    X(__typeof__(hipExtGetLinkTypeAndHopCount) *, "hipExtGetLinkTypeAndHopCount", link_type,       \
      "the kind of link between devices")                                                          \
    X(__typeof__(hipDeviceGetUuid) *, "hipDeviceGetUuid", uuid, "a device's UUID")                 \
    X(xb_hip_get_properties_6 *, "hipGetDevicePropertiesR0600", properties_6,                      \
      "the architecture (6, 7)")                                                                   \
    X(xb_hip_get_properties_5 *, "hipGetDeviceProperties", properties_5, "the architecture (5)")

/* The runtime's functions, each NULL where this library has it not. */
struct xb_hip_functions {
#define X(type, symbol, field, lost) type field;
    XB_HIP_FUNCTIONS(X)
#undef X
};

struct xb_hip_symbol {
    const char *name;
    size_t place;     /* in struct xb_hip_functions */
    const char *lost; /* what is lost without it; "" if it is required */
};
extern const struct xb_hip_symbol xb_hip_symbols[];
extern const size_t xb_hip_symbol_count;

struct xb_hip_library {
    void *handle;
    char path[XB_PATH_SIZE]; /* the file, links followed */
    bool overridden;
    struct xb_hip_functions functions;
};

/* Filled by xb_hip_library_open; all NULL before. For the backend's adapters. */
extern struct xb_hip_library xb_hip;

/*
 * Opens the library by the override, or by its usual names and places, newest major first, and
 * resolves the functions; calls none of them. It stays open for the process's life, because the
 * runtime cannot be unloaded; calling again costs nothing. XB_ERR_UNAVAILABLE with the reason.
 */
XB_MUST_CHECK enum xb_status xb_hip_library_open(struct xb_error *error);

/* Whether the library has every function without which `lost` is lost. Where not, `missing` is the
 * first of them; it may be NULL. */
bool xb_hip_has(const char *lost, const char **missing);

#endif
