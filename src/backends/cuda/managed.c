/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory: where its pages are to be. */
#include "cuda.h"

/*
 * Where pages may lie. CUDA 13 describes a place by a struct, and prefetching takes flags, of which
 * there are none yet; CUDA 12 has the device's ordinal or cudaCpuDeviceId. The rest of this file
 * does not tell them apart.
 */
#if CUDART_VERSION >= 13000
typedef struct cudaMemLocation place;
#define HOST ((place){.type = cudaMemLocationTypeHost, .id = 0})
#define DEVICE(ordinal) ((place){.type = cudaMemLocationTypeDevice, .id = (ordinal)})
#define PREFETCH_FLAGS 0u,
#else
typedef int place;
#define HOST cudaCpuDeviceId
#define DEVICE(ordinal) (ordinal)
#define PREFETCH_FLAGS
#endif

static place place_of(const struct xb_device *device)
{
    return DEVICE(((const struct xb_cuda_device *)device)->ordinal);
}

enum xb_status xb_cuda_buffer_advise(struct xb_buffer *buffer, enum xb_advice advice,
                                     struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "only managed memory takes advice, not %s",
                       xb_memory_name(buffer->memory));
    void *address = xb_cuda_buffer_address(buffer);
    bool stay = advice == XB_ADVICE_STAY_ON_HOST;
    enum xb_status status = xb_cuda_select(buffer->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error,
                         cudaMemAdvise(address, buffer->bytes,
                                       stay ? cudaMemAdviseSetPreferredLocation
                                            : cudaMemAdviseUnsetPreferredLocation,
                                       HOST),
                         "the runtime does not take advice on where managed memory belongs");
    if (status == XB_OK)
        status =
            XB_CUDA(error,
                    cudaMemAdvise(address, buffer->bytes,
                                  stay ? cudaMemAdviseSetAccessedBy : cudaMemAdviseUnsetAccessedBy,
                                  place_of(buffer->device)),
                    "the runtime does not take advice on who uses managed memory");
    return status;
}

enum xb_status xb_cuda_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                      uint64_t bytes, bool to_device, struct xb_error *error)
{
    enum xb_status status = xb_prefetch_check(buffer, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status != XB_OK || bytes == 0) /* the runtime refuses to move nothing */
        return status;
    return XB_CUDA(error,
                   cudaMemPrefetchAsync(xb_cuda_buffer_address(buffer), bytes,
                                        to_device ? place_of(queue->device) : HOST,
                                        PREFETCH_FLAGS xb_cuda_stream(queue)),
                   "%llu bytes of managed memory could not be moved to the %s",
                   (unsigned long long)bytes, to_device ? "device" : "host");
}
