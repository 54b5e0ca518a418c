/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters of the GPU backends for the CUDA runtime, which is linked statically. */
#include "cuda.h"
#include "cufile.h"

/* The location of managed memory: a struct in CUDA 13, whose prefetch also takes flags, of which
 * there are none yet; in CUDA 12 the device's ordinal or cudaCpuDeviceId. */
#if CUDART_VERSION >= 13000
typedef struct cudaMemLocation native_location;
#define HOST ((native_location){.type = cudaMemLocationTypeHost, .id = 0})
#define DEVICE(ordinal) ((native_location){.type = cudaMemLocationTypeDevice, .id = (ordinal)})
#define PREFETCH_FLAGS 0u,
#else
typedef int native_location;
#define HOST cudaCpuDeviceId
#define DEVICE(ordinal) (ordinal)
#define PREFETCH_FLAGS
#endif

static native_location native_location_of(int location)
{
    return location == XB_GPU_HOST ? HOST : DEVICE(location);
}

struct xb_gpu_outcome xb_cuda_outcome(cudaError_t code, const char *call)
{
    if (code != cudaSuccess)
        (void)cudaGetLastError();
    return (struct xb_gpu_outcome){.code = (int)code, .call = call};
}

XB_GPU_WORDS(error_name, cudaError_t, cudaGetErrorName)
XB_GPU_WORDS(error_text, cudaError_t, cudaGetErrorString)

/* A slot that is one call: of a function of the runtime, with these arguments. */
#define ADAPTER(slot, parameters, ...)                                                             \
    static struct xb_gpu_outcome slot parameters {                                                 \
        return XB_CUDA_CALL(__VA_ARGS__);                                                          \
    }
#define ATTRIBUTE(slot, native)                                                                    \
    ADAPTER(slot, (int ordinal, int *value), cudaDeviceGetAttribute, value, native, ordinal)

#define SAME(slot, parameters, lost, ...) ADAPTER(slot, parameters, __VA_ARGS__)
XB_GPU_CALLS(XB_GPU_NO_CALL, SAME, cuda)
ATTRIBUTE(clock_rate, cudaDevAttrClockRate)
ATTRIBUTE(multiprocessors, cudaDevAttrMultiProcessorCount)
ATTRIBUTE(max_pitch, cudaDevAttrMaxPitch)

static struct xb_gpu_outcome release(void *address)
{
    xb_cufile_forget(address);
    return XB_CUDA_CALL(cudaFree, address);
}

static struct xb_gpu_outcome allocate_host(void **address, size_t bytes, enum xb_memory memory)
{
    unsigned flags = memory == XB_MEMORY_WRITE_COMBINED ? cudaHostAllocWriteCombined
                     : memory == XB_MEMORY_MAPPED       ? cudaHostAllocMapped
                                                        : cudaHostAllocDefault;
    return XB_CUDA_CALL(cudaHostAlloc, address, bytes, flags);
}

ADAPTER(release_host, (void *address), cudaFreeHost, address)
ADAPTER(prefetch, (const void *address, size_t bytes, int location, void *stream),
        cudaMemPrefetchAsync, address, bytes, native_location_of(location), PREFETCH_FLAGS stream)

/* CUDA has this function since 12.8, and without the index of the failed copy since 13.0. Its
 * pointers got other qualifiers in between: void * suits all of them. It reads device sources in
 * the order of the stream, as cudaMemcpyAsync does, and host sources in any, because nothing on the
 * stream writes them; on an H200 that made no difference (2.5 GB/s either way, 131,072 pieces of 4
 * KiB in one call). */
#if CUDART_VERSION >= XB_CUDA_BATCH
static struct xb_gpu_outcome copy_batch(void **targets, void **sources, size_t *sizes, size_t count,
                                        enum xb_gpu_order order, void *stream)
{
    struct cudaMemcpyAttributes attributes = {
        .srcAccessOrder = order == XB_GPU_ANY_ORDER ? cudaMemcpySrcAccessOrderAny
                                                    : cudaMemcpySrcAccessOrderStream};
    size_t first = 0; /* the first copy that the attributes apply to */
#if CUDART_VERSION >= 13000
    return XB_CUDA_CALL(cudaMemcpyBatchAsync, (void *)targets, (void *)sources, sizes, count,
                        &attributes, &first, 1, stream);
#else
    size_t failed = 0;
    return XB_CUDA_CALL(cudaMemcpyBatchAsync, (void *)targets, (void *)sources, sizes, count,
                        &attributes, &first, 1, &failed, stream);
#endif
}
#define COPY_BATCH copy_batch
#else
#define COPY_BATCH NULL
#endif

/* cudaGraphInstantiate has other parameters in CUDA 11. */
ADAPTER(instantiate, (void **executable, void *graph), cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t *)executable, graph, 0)
ADAPTER(launch,
        (void *kernel, unsigned blocks, unsigned threads, unsigned shared_bytes, void **arguments,
         void *stream),
        cudaLaunchKernel, kernel, ((struct dim3){blocks, 1, 1}), ((struct dim3){threads, 1, 1}),
        arguments, shared_bytes, stream)

/* Shared memory of a block that the kernel for bulk copies does not divide among its warps. */
#define OTHER_SHARED_BYTES 1024

/* Has blocks that make bulk copies take all the shared memory that one can have. Without any of
 * their own the kernels are empty: code for older processors, which the driver translated. */
static enum xb_status grow_bulk(struct xb_gpu_device *device, size_t own_bytes,
                                struct xb_error *error)
{
    int most = 0;
    if ((device->base.info.capabilities & XB_CAP_BULK) == 0)
        return XB_OK;
    if (own_bytes == 0) {
        xb_device_withhold(&device->base.info, XB_CAP_BULK,
                           "this build has no code for it: build with CUDA 12.0 or newer, and for "
                           "sm_90 or newer (XFERBENCH_CUDA_ARCHITECTURES)");
        return XB_OK;
    }
    XB_TRY(XB_GPU(error, &xb_cuda_runtime,
                  XB_CUDA_CALL(cudaDeviceGetAttribute, &most,
                               cudaDevAttrMaxSharedMemoryPerBlockOptin, device->ordinal),
                  "cannot read how much shared memory a block has on CUDA device %u",
                  device->base.info.index));
    device->bulk_warps = (unsigned)(most - OTHER_SHARED_BYTES) / XB_GPU_BULK_BYTES;
    return XB_GPU(error, &xb_cuda_runtime,
                  XB_CUDA_CALL(cudaFuncSetAttribute, device->kernels[XB_GPU_BULK],
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               (int)(device->bulk_warps * XB_GPU_BULK_BYTES)),
                  "the kernel for bulk copies cannot have its shared memory on CUDA device %u",
                  device->base.info.index);
}

/* Asks for each kernel's attributes, which makes the runtime load it from the program. */
static enum xb_status load_kernels(struct xb_gpu_device *device, struct xb_error *error)
{
    struct cudaFuncAttributes attributes;
    for (int i = 0; i < XB_GPU_ALL_KERNELS; i++) {
        const void *kernel = xb_cuda_kernel((enum xb_gpu_kernel)i);
        device->kernels[i] = (void *)kernel;
        XB_TRY(XB_GPU(error, &xb_cuda_runtime,
                      XB_CUDA_CALL(cudaFuncGetAttributes, &attributes, kernel),
                      "cannot load xferbench's kernels (%s) onto CUDA device %u; this build has "
                      "code for sm_75 and newer",
                      device->base.info.architecture, device->base.info.index));
    }
    return grow_bulk(device, attributes.sharedSizeBytes, error); /* the last one is for bulk */
}

const struct xb_gpu_runtime xb_cuda_runtime = {
    XB_GPU_RUNTIME("CUDA", cuda),
    .hold_is_proven = true,  /* bench/hold_depth.c, bench/results/h200/hold-depth.json */
    .batch_is_proven = true, /* the contract tests, on an H200 */
    .out_of_memory = cudaErrorMemoryAllocation,
    .copy_batch = COPY_BATCH,
    .load_kernels = load_kernels,
};
