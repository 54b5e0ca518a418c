/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters of the GPU backends for the HIP runtime. */
#include "hip.h"

XB_GPU_WORDS(error_name, hipError_t, xb_hip.functions.hipGetErrorName)
XB_GPU_WORDS(error_text, hipError_t, xb_hip.functions.hipGetErrorString)

static int native_location_of(int location)
{
    return location == XB_GPU_HOST ? hipCpuDeviceId : location;
}

/* A slot that is one call: of the library's function of this name, with these arguments. */
#define ADAPTER(slot, parameters, ...)                                                             \
    static struct xb_gpu_outcome slot parameters {                                                 \
        return XB_HIP_CALL(__VA_ARGS__);                                                           \
    }
#define SAME(slot, parameters, lost, ...) ADAPTER(slot, parameters, __VA_ARGS__)
#define ATTRIBUTE(slot, native)                                                                    \
    ADAPTER(slot, (int ordinal, int *value), hipDeviceGetAttribute, value, native, ordinal)

XB_GPU_CALLS(XB_GPU_NO_CALL, SAME, hip)
ATTRIBUTE(clock_rate, hipDeviceAttributeClockRate)
ATTRIBUTE(multiprocessors, hipDeviceAttributeMultiprocessorCount)
ATTRIBUTE(max_pitch, hipDeviceAttributeMaxPitch)
ADAPTER(release, (void *address), hipFree, address)

/* Asks for coherent memory, because otherwise HIP_HOST_COHERENT decides, and for the user's NUMA
 * policy, because otherwise the runtime takes the node that it considers nearest, even if the
 * thread is bound to another. */
static struct xb_gpu_outcome allocate_host(void **address, size_t bytes, enum xb_memory memory)
{
    unsigned flags = hipHostMallocCoherent | hipHostMallocNumaUser;
    if (memory == XB_MEMORY_MAPPED)
        flags |= hipHostMallocMapped;
    return XB_HIP_CALL(hipHostMalloc, address, bytes, flags);
}

ADAPTER(release_host, (void *address), hipHostFree, address)
ADAPTER(prefetch, (const void *address, size_t bytes, int location, void *stream),
        hipMemPrefetchAsync, address, bytes, native_location_of(location), stream)

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
    return XB_HIP_CALL(hipMemcpyBatchAsync, targets, sources, sizes, count,
                       told ? &attributes : NULL, told ? &first : NULL, told ? 1 : 0, &failed,
                       stream);
}

ADAPTER(instantiate, (void **executable, void *graph), hipGraphInstantiate,
        (hipGraphExec_t *)executable, graph, NULL, NULL, 0)
ADAPTER(launch,
        (void *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes, void **arguments,
         void *stream),
        hipModuleLaunchKernel, kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments,
        NULL)

const struct xb_gpu_runtime xb_hip_runtime = {
    XB_GPU_RUNTIME("HIP", hip),
    .hold_is_proven = false, /* never run on AMD's hardware */
    .batch_is_proven = false,
    .batch_at_once = 8192, /* a build of ROCm 7.15 faulted on more: vllm-project/vllm#43018 */
    .out_of_memory = hipErrorOutOfMemory,
    .copy_batch = copy_batch,
    .load_kernels = xb_hip_load_kernels,
    .unload_kernels = xb_hip_unload_kernels,
};
