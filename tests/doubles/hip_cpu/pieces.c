/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Many copies by one call: batches and rows. */
#include "internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A build of AMD's runtime ended the process with a fault of the GPU where there were more. */
#define COPIES_AT_MOST 8192

/* As the headers of ROCm 7.1 declare them: a mistake of the backend is to come to light. */
_Static_assert(offsetof(struct xb_hip_copy_attributes, source_order) == 0 &&
                   offsetof(struct xb_hip_copy_attributes, source) == 4 &&
                   offsetof(struct xb_hip_copy_attributes, target) == 12 &&
                   offsetof(struct xb_hip_copy_attributes, flags) == 20,
               "not the layout of ROCm 7");

static bool batch_is(const char *asked_for)
{
    const char *asked = getenv("XB_STANDIN_BATCH");
    return asked != NULL && strcmp(asked, asked_for) == 0;
}

static hipError_t check_attributes(const struct xb_hip_copy_attributes *attributes,
                                   const size_t *firsts, size_t number, size_t count)
{
    if (number == 0)
        return hipSuccess;
    if (batch_is("no-attributes"))
        return hipErrorNotSupported;
    if (attributes == NULL || firsts == NULL || firsts[0] != 0 || number > count)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < number; i++) {
        /* AMD's takes flags and hints of places too; here nobody gives any. */
        if (attributes[i].source_order < 1 || attributes[i].source_order > 3 ||
            attributes[i].flags != 0 || attributes[i].source.type != 0 ||
            attributes[i].target.type != 0)
            return hipErrorInvalidValue;
        if (i > 0 && (firsts[i] <= firsts[i - 1] || firsts[i] >= count))
            return hipErrorInvalidValue;
    }
    return hipSuccess;
}

/* With the lock held. */
static hipError_t copy_all(void **targets, void **sources, const size_t *sizes, size_t count,
                           size_t *failed, hipStream_t stream)
{
    if (standin_stream_device(stream) < 0)
        return hipErrorInvalidHandle;
    if (*standin_captured(stream) != NULL) /* AMD's copies at once, and captures nothing */
        return hipErrorStreamCaptureUnsupported;
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
    if (batch_is("refused"))
        return hipErrorNotSupported;
    if (targets == NULL || sources == NULL || sizes == NULL || count == 0 || failed == NULL)
        return hipErrorInvalidValue;
    hipError_t result = check_attributes(attributes, firsts, attribute_count, count);
    if (result != hipSuccess)
        return result;
    if (count > COPIES_AT_MOST)
        return hipErrorIllegalAddress;
    *failed = SIZE_MAX;
    pthread_mutex_lock(&standin_lock);
    result = copy_all(targets, sources, sizes, count, failed, stream);
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t bytes, size_t rows, hipMemcpyKind kind, hipStream_t stream)
{
    STANDIN_ENTER(hipMemcpy2DAsync);
    if (bytes > to_pitch || bytes > from_pitch || to_pitch > INT32_MAX || from_pitch > INT32_MAX)
        return hipErrorInvalidPitchValue;
    struct standin_operation operation = {.kind = STANDIN_COPY,
                                          .to = to,
                                          .from = from,
                                          .bytes = rows > 0 ? bytes : 0,
                                          .rows = rows,
                                          .to_pitch = to_pitch,
                                          .from_pitch = from_pitch,
                                          .way = kind};
    pthread_mutex_lock(&standin_lock);
    hipError_t result = standin_copy(&operation, stream);
    pthread_mutex_unlock(&standin_lock);
    return result;
}
