/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Many copies by one call: batches and rows. */
#include "internal.h"

/* With the lock held. */
static hipError_t copy_all(void **targets, void **sources, const size_t *sizes, size_t count,
                           size_t *failed, hipStream_t stream)
{
    REFUSE_IF(standin_stream_device(stream) < 0, hipErrorInvalidHandle);
    REFUSE_IF(*standin_captured(stream) != NULL,
              hipErrorStreamCaptureUnsupported); /* AMD's copies at once, and captures nothing */
    for (size_t i = 0; i < count; i++) {
        struct standin_operation operation = {.kind = STANDIN_COPY,
                                              .to = targets[i],
                                              .from = sources[i],
                                              .bytes = sizes[i],
                                              .way = hipMemcpyDefault};
        hipError_t result = sizes[i] > 0 ? standin_copy(&operation, stream) : hipErrorInvalidValue;
        if (result != hipSuccess) {
            *failed = i;
            return result;
        }
    }
    return hipSuccess;
}

__attribute__((visibility("default"))) xb_hip_copy_batch hipMemcpyBatchAsync;
hipError_t hipMemcpyBatchAsync(void **targets, void **sources, size_t *sizes, size_t count,
                               struct xb_hip_copy_attributes *attributes, size_t *firsts,
                               size_t attribute_count, size_t *failed, hipStream_t stream)
{
    STANDIN_ENTER(hipMemcpyBatchAsync);
    hipError_t result = standin_check_batch(targets, sources, sizes, count, attributes, firsts,
                                            attribute_count, failed);
    if (result != hipSuccess)
        return result;
    *failed = SIZE_MAX;
    return STANDIN_LOCKED(copy_all(targets, sources, sizes, count, failed, stream));
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t bytes, size_t rows, hipMemcpyKind kind, hipStream_t stream)
{
    STANDIN_ENTER(hipMemcpy2DAsync);
    REFUSE_IF(bytes > to_pitch || bytes > from_pitch || to_pitch > INT32_MAX ||
                  from_pitch > INT32_MAX,
              hipErrorInvalidPitchValue);
    struct standin_operation operation = {.kind = STANDIN_COPY,
                                          .to = to,
                                          .from = from,
                                          .bytes = rows > 0 ? bytes : 0,
                                          .rows = rows,
                                          .to_pitch = to_pitch,
                                          .from_pitch = from_pitch,
                                          .way = kind};
    return STANDIN_LOCKED(standin_copy(&operation, stream));
}
