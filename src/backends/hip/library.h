/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The HIP runtime, opened at run time so that the program also starts without it. The types come
 * from the headers of the build and are the same in ROCm 5 to 7, but for hipDeviceProp_t, which
 * changed with 6.0 and which we do not use. */

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "backends/gpu/gpu.h"
#include "backends/symbols.h"

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
 * The functions that we use beside those of XB_GPU_CALLS: X(its name, what is lost without it; ""
 * if it is required), and TYPED(type, name, field, lost) where the headers lack it or redefine it.
 * A library that stands in for the runtime in tests is compiled against the same types, so a
 * function of another type is a compile error there.
 */
#define XB_HIP_FUNCTIONS(X, TYPED)                                                                 \
    X(hipRuntimeGetVersion, "")                                                                    \
    X(hipGetErrorName, "")                                                                         \
    X(hipGetErrorString, "")                                                                       \
    X(hipGetDeviceCount, "")                                                                       \
    X(hipDeviceGetName, "")                                                                        \
    X(hipDeviceGetPCIBusId, "")                                                                    \
    X(hipDeviceGetAttribute, "")                                                                   \
    X(hipDeviceTotalMem, "")                                                                       \
    X(hipFree, "")                                                                                 \
    X(hipHostMalloc, "")                                                                           \
    X(hipHostFree, "")                                                                             \
    X(hipMemPrefetchAsync, "managed")                                                              \
    X(hipModuleLoadData, "kernels")                                                                \
    X(hipModuleUnload, "kernels")                                                                  \
    X(hipModuleGetFunction, "kernels")                                                             \
    X(hipModuleLaunchKernel, "kernels")                                                            \
    TYPED(xb_hip_copy_batch, "hipMemcpyBatchAsync", hipMemcpyBatchAsync, "batches")                \
    X(hipGraphInstantiate, "graphs")                                                               \
    X(hipExtGetLinkTypeAndHopCount, "the kind of link between devices")                            \
    X(hipDeviceGetUuid, "a device's UUID")                                                         \
    TYPED(xb_hip_get_properties_6, "hipGetDevicePropertiesR0600", properties_6,                    \
          "the architecture (6, 7)")                                                               \
    TYPED(xb_hip_get_properties_5, "hipGetDeviceProperties", properties_5, "the architecture (5)")

/* The runtime's functions. A function that this library lacks is NULL. */
struct xb_hip_functions {
#define X(function, lost) __typeof__(function) *(function);
#define TYPED(type, symbol, field, lost) type *field;
#define SAME(slot, parameters, lost, function, ...) X(function, lost)
    XB_HIP_FUNCTIONS(X, TYPED) XB_GPU_CALLS(XB_GPU_NO_CALL, SAME, hip)
#undef X
#undef TYPED
#undef SAME
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
enum xb_status xb_hip_library_open(struct xb_error *error);

/* Returns the first function that `lost` needs and the library lacks, or NULL. */
const char *xb_hip_missing(const char *lost);
