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

/* Clock rates too: CUDA 13 has them no longer among the properties, but as attributes. */
#define ATTRIBUTE(hip, cuda) cudaDevAttr##cuda,
static const enum cudaDeviceAttr device_attributes[] = {STANDIN_ATTRIBUTES(ATTRIBUTE)};
#define ADVICE(name) cudaMemAdvise##name,
static const enum cudaMemoryAdvise advices[] = {STANDIN_ADVICES(ADVICE)};
#define COPY(name) cudaMemcpy##name,
static const enum cudaMemcpyKind kinds[] = {STANDIN_COPIES(COPY)};

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

#define DEFINE(name, parameters, call)                                                             \
    int standin_##name parameters                                                                  \
    {                                                                                              \
        return result_of(call);                                                                    \
    }
STANDIN_FORWARDED(DEFINE)

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
