/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Memory: who allocated what, and which use of an address is refused. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 4096

struct allocation {
    struct standin_head head; /* of one of the first four kinds */
    bool portable;            /* a registration that is good for other devices too */
    char *base;
    size_t bytes;
};

/* ---- the list; all with the lock held ---- */

/* An allocation that shares a byte with the range; NULL if none does: pageable memory. */
static struct allocation *find(const void *address, size_t bytes)
{
    uintptr_t first = (uintptr_t)address;
    for (int kind = STANDIN_DEVICE_MEMORY; kind <= STANDIN_MANAGED_MEMORY; kind++)
        for (struct standin_head *at = standin_open[kind]; at != NULL; at = at->next) {
            struct allocation *known = (struct allocation *)at;
            uintptr_t base = (uintptr_t)known->base;
            if (first < base + known->bytes && base < first + bytes)
                return known;
        }
    return NULL;
}

/* Whether the whole range lies in the allocation. */
static bool contains(const struct allocation *known, const void *address, size_t bytes)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)known->base; /* huge where it is before it */
    return offset < known->bytes && bytes <= known->bytes - offset;
}

static size_t used_bytes(int device)
{
    size_t used = 0;
    for (const struct standin_head *at = standin_open[STANDIN_DEVICE_MEMORY]; at; at = at->next)
        used += at->device == device ? ((const struct allocation *)at)->bytes : 0;
    return used;
}

static hipError_t note(enum standin_object kind, void *base, size_t bytes, bool portable)
{
    struct allocation *known = malloc(sizeof *known);
    REFUSE_IF(known == NULL, hipErrorOutOfMemory);
    *known = (struct allocation){.portable = portable, .base = base, .bytes = bytes};
    standin_keep(known, kind);
    return hipSuccess;
}

/* Whether kernels of the device reach it. */
static bool reaches(int device, const struct allocation *known)
{
    if (known->head.kind == STANDIN_DEVICE_MEMORY)
        return standin_peer_is_open(device, known->head.device);
    return known->head.kind != STANDIN_REGISTRATION || known->portable ||
           known->head.device == device;
}

bool standin_is_reachable(const void *address, int device)
{
    const struct allocation *known = find(address, 1);
    if (known == NULL) /* a GPU that can fault takes the host's pages as they are */
        return address != NULL && standin_setting("XB_STANDIN_XNACK", 1) != 0;
    return reaches(device, known);
}

/* ---- allocating and freeing ---- */

static hipError_t allocate(enum standin_object kind, void **address, size_t bytes)
{
    REFUSE_IF(address == NULL, hipErrorInvalidValue);
    *address = NULL;
    if (bytes == 0)
        return hipSuccess;
    pthread_mutex_lock(&standin_lock);
    hipError_t result = hipErrorOutOfMemory;
    bool fits = kind != STANDIN_DEVICE_MEMORY ||
                bytes <= STANDIN_MEMORY_BYTES - used_bytes(standin_current);
    void *base = NULL;
    if (fits && posix_memalign(&base, ALIGNMENT, bytes) == 0)
        result = note(kind, base, bytes, false);
    pthread_mutex_unlock(&standin_lock);
    if (result == hipSuccess)
        *address = base;
    else
        free(base);
    return result;
}

/* Frees what begins at `address` if it is of one of two kinds; else returns `unknown`. Waits for
 * the device as HIP does, since what is enqueued may still use the memory. */
static hipError_t release(void *address, enum standin_object kind, enum standin_object other,
                          hipError_t unknown)
{
    pthread_mutex_lock(&standin_lock);
    standin_finish_all();
    struct allocation *known = find(address, 1);
    bool fits = known != NULL && known->base == address &&
                (known->head.kind == kind || known->head.kind == other);
    if (fits) {
        (void)standin_forget(known, known->head.kind);
        if (known->head.kind != STANDIN_REGISTRATION)
            free(known->base);
        free(known);
    }
    pthread_mutex_unlock(&standin_lock);
    return fits ? hipSuccess : unknown;
}

hipError_t hipMemGetInfo(size_t *available, size_t *total)
{
    STANDIN_ENTER(hipMemGetInfo);
    REFUSE_IF(available == NULL || total == NULL, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    *available = STANDIN_MEMORY_BYTES - used_bytes(standin_current);
    pthread_mutex_unlock(&standin_lock);
    *total = STANDIN_MEMORY_BYTES;
    return hipSuccess;
}

hipError_t hipMalloc(void **address, size_t bytes)
{
    STANDIN_ENTER(hipMalloc);
    return allocate(STANDIN_DEVICE_MEMORY, address, bytes);
}

hipError_t hipFree(void *address)
{
    int asked_for = standin_called(CALL_hipFree);
    hipError_t result = hipSuccess;
    if (address != NULL)
        result =
            release(address, STANDIN_DEVICE_MEMORY, STANDIN_MANAGED_MEMORY, hipErrorInvalidValue);
    return standin_freed(asked_for, result);
}

/* ---- the pool: it keeps nothing, but wants to be told to keep all, or it would be no pool ---- */

static bool keeps_all;

hipError_t hipMallocAsync(void **address, size_t bytes, hipStream_t stream)
{
    STANDIN_ENTER(hipMallocAsync);
    pthread_mutex_lock(&standin_lock);
    bool known = standin_stream_device(stream) >= 0 && keeps_all;
    pthread_mutex_unlock(&standin_lock);
    return known ? allocate(STANDIN_DEVICE_MEMORY, address, bytes) : hipErrorInvalidHandle;
}

hipError_t hipFreeAsync(void *address, hipStream_t stream)
{
    int asked_for = standin_called(CALL_hipFreeAsync);
    (void)stream; /* waits for all */
    return standin_freed(asked_for, release(address, STANDIN_DEVICE_MEMORY, STANDIN_DEVICE_MEMORY,
                                            hipErrorInvalidValue));
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device)
{
    STANDIN_ENTER(hipDeviceGetDefaultMemPool);
    REFUSE_IF(pool == NULL || !standin_is_device(device), hipErrorInvalidValue);
    *pool = (hipMemPool_t)&keeps_all;
    return hipSuccess;
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value)
{
    STANDIN_ENTER(hipMemPoolSetAttribute);
    bool fits = pool == (hipMemPool_t)&keeps_all && value != NULL &&
                attribute == hipMemPoolAttrReleaseThreshold;
    keeps_all = fits && *(const uint64_t *)value == UINT64_MAX;
    return fits ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t kept)
{
    STANDIN_ENTER(hipMemPoolTrimTo);
    (void)kept;
    return pool == (hipMemPool_t)&keeps_all ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipHostMalloc(void **address, size_t bytes, unsigned flags)
{
    STANDIN_ENTER(hipHostMalloc);
    const unsigned exclusive = hipHostMallocCoherent | hipHostMallocNonCoherent;
    const unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                           hipHostMallocWriteCombined | hipHostMallocNumaUser | exclusive;
    REFUSE_IF((flags & ~known) != 0 || (flags & exclusive) == exclusive, hipErrorInvalidValue);
    return allocate(STANDIN_HOST_MEMORY, address, bytes);
}

hipError_t hipHostFree(void *address)
{
    int asked_for = standin_called(CALL_hipHostFree);
    hipError_t result = hipSuccess;
    if (address != NULL)
        result = release(address, STANDIN_HOST_MEMORY, STANDIN_HOST_MEMORY, hipErrorInvalidValue);
    return standin_freed(asked_for, result);
}

hipError_t hipHostRegister(void *address, size_t bytes, unsigned flags)
{
    STANDIN_ENTER(hipHostRegister);
    const unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
                           hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained;
    REFUSE_IF(address == NULL || bytes == 0 || (flags & ~known) != 0, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    hipError_t result = hipErrorHostMemoryAlreadyRegistered;
    const struct allocation *other = find(address, bytes);
    if (other == NULL)
        result = note(STANDIN_REGISTRATION, address, bytes, (flags & hipHostRegisterPortable) != 0);
    else if (other->head.kind == STANDIN_DEVICE_MEMORY)
        result = hipErrorInvalidValue;
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t hipHostUnregister(void *address)
{
    STANDIN_FREE(hipHostUnregister, release(address, STANDIN_REGISTRATION, STANDIN_REGISTRATION,
                                            hipErrorHostMemoryNotRegistered));
}

hipError_t hipHostGetDevicePointer(void **device_address, void *address, unsigned flags)
{
    STANDIN_ENTER(hipHostGetDevicePointer);
    REFUSE_IF(device_address == NULL || flags != 0, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    const struct allocation *known = find(address, 1);
    bool fits =
        known != NULL &&
        (known->head.kind == STANDIN_HOST_MEMORY || known->head.kind == STANDIN_REGISTRATION) &&
        reaches(standin_current, known);
    pthread_mutex_unlock(&standin_lock);
    REFUSE_IF(!fits, hipErrorInvalidValue);
    *device_address = address;
    return hipSuccess;
}

/* ---- managed memory ---- */

hipError_t hipMallocManaged(void **address, size_t bytes, unsigned flags)
{
    STANDIN_ENTER(hipMallocManaged);
    REFUSE_IF(flags != hipMemAttachGlobal && flags != hipMemAttachHost, hipErrorInvalidValue);
    return allocate(STANDIN_MANAGED_MEMORY, address, bytes);
}

/* With the lock held. */
static hipError_t check_managed(const void *address, size_t bytes, int device)
{
    REFUSE_IF(device != hipCpuDeviceId && !standin_is_device(device), hipErrorInvalidDevice);
    const struct allocation *known = bytes > 0 ? find(address, bytes) : NULL;
    REFUSE_IF(known == NULL || known->head.kind != STANDIN_MANAGED_MEMORY ||
                  !contains(known, address, bytes),
              hipErrorInvalidValue);
    return hipSuccess;
}

hipError_t hipMemPrefetchAsync(const void *address, size_t bytes, int device, hipStream_t stream)
{
    STANDIN_ENTER(hipMemPrefetchAsync);
    const struct standin_operation operation = {.kind = STANDIN_NOTHING};
    pthread_mutex_lock(&standin_lock);
    hipError_t result = standin_stream_device(stream) >= 0 ? check_managed(address, bytes, device)
                                                           : hipErrorInvalidHandle;
    if (result == hipSuccess)
        result = standin_enqueue(stream, &operation);
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t hipMemAdvise(const void *address, size_t bytes, hipMemoryAdvise advice, int device)
{
    STANDIN_ENTER(hipMemAdvise);
    bool known = (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
                 advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
    REFUSE_IF(!known, hipErrorInvalidValue);
    return STANDIN_LOCKED(check_managed(address, bytes, device));
}

/* ---- copies ---- */

static bool is_of(const struct allocation *memory, enum standin_object kind)
{
    return memory != NULL && memory->head.kind == kind; /* NULL is pageable memory */
}

/* Whether copies of the kind may have the two ends. */
static bool direction_fits(hipMemcpyKind kind, const struct allocation *to,
                           const struct allocation *from)
{
    bool to_device = is_of(to, STANDIN_DEVICE_MEMORY);
    bool from_device = is_of(from, STANDIN_DEVICE_MEMORY);
    bool device_takes = to_device || is_of(to, STANDIN_MANAGED_MEMORY);
    bool device_gives = from_device || is_of(from, STANDIN_MANAGED_MEMORY);
    return kind == hipMemcpyDefault ||
           (kind == hipMemcpyHostToHost && !to_device && !from_device) ||
           (kind == hipMemcpyHostToDevice && device_takes && !from_device) ||
           (kind == hipMemcpyDeviceToHost && !to_device && device_gives) ||
           (kind == hipMemcpyDeviceToDevice && device_takes && device_gives);
}

/* The way that HIP finds by itself. */
static hipMemcpyKind kind_between(const struct allocation *to, const struct allocation *from)
{
    bool from_device = is_of(from, STANDIN_DEVICE_MEMORY);
    if (is_of(to, STANDIN_DEVICE_MEMORY))
        return from_device ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice;
    return from_device ? hipMemcpyDeviceToHost : hipMemcpyHostToHost;
}

static bool asks_for_damage(hipMemcpyKind kind)
{
    const char *asked = getenv("XB_STANDIN_DAMAGE");
    return asked != NULL && ((kind == hipMemcpyHostToDevice && strcmp(asked, "h2d") == 0) ||
                             (kind == hipMemcpyDeviceToHost && strcmp(asked, "d2h") == 0) ||
                             (kind == hipMemcpyDeviceToDevice && strcmp(asked, "peer") == 0));
}

/* From the first byte of the rows to behind the last. */
static size_t span_of(const struct standin_operation *operation, size_t pitch)
{
    return operation->rows > 1 ? (operation->rows - 1) * pitch + operation->bytes
                               : operation->bytes;
}

/* Refuses what HIP refuses, and fills in what a copy does. */
static hipError_t check_copy(struct standin_operation *operation)
{
    REFUSE_IF(operation->to == NULL || operation->from == NULL, hipErrorInvalidValue);
    size_t to_bytes = span_of(operation, operation->to_pitch);
    size_t from_bytes = span_of(operation, operation->from_pitch);
    const struct allocation *to = find(operation->to, to_bytes);
    const struct allocation *from = find(operation->from, from_bytes);
    REFUSE_IF((to != NULL && !contains(to, operation->to, to_bytes)) ||
                  (from != NULL && !contains(from, operation->from, from_bytes)),
              hipErrorInvalidValue);
    REFUSE_IF(!direction_fits(operation->way, to, from), hipErrorInvalidMemcpyDirection);
    if (operation->way == hipMemcpyDefault)
        operation->way = kind_between(to, from);
    operation->damage = asks_for_damage(operation->way);
    return hipSuccess;
}

static bool is_pageable(const void *address)
{
    return find(address, 1) == NULL;
}

hipError_t standin_copy(struct standin_operation *operation, hipStream_t stream)
{
    REFUSE_IF(standin_stream_device(stream) < 0, hipErrorInvalidHandle);
    if (operation->bytes == 0)
        return hipSuccess;
    hipError_t result = check_copy(operation);
    if (result == hipSuccess)
        result = standin_enqueue(stream, operation);
    /* HIP may stage pageable memory: a caller that counts on a quick return is wrong. */
    if (result == hipSuccess && (is_pageable(operation->to) || is_pageable(operation->from)))
        standin_finish(stream);
    return result;
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream)
{
    STANDIN_ENTER(hipMemcpyAsync);
    struct standin_operation operation = {
        .kind = STANDIN_COPY, .to = to, .from = from, .bytes = bytes, .way = kind};
    return STANDIN_LOCKED(standin_copy(&operation, stream));
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
    STANDIN_ENTER(hipMemcpy);
    struct standin_operation operation = {
        .kind = STANDIN_COPY, .to = to, .from = from, .bytes = bytes, .way = kind};
    pthread_mutex_lock(&standin_lock);
    hipError_t result = bytes > 0 ? check_copy(&operation) : hipSuccess;
    pthread_mutex_unlock(&standin_lock);
    if (result == hipSuccess && bytes > 0) {
        memmove(to, from, bytes);
        ((unsigned char *)to)[bytes / 2] ^= operation.damage ? 0x10 : 0;
    }
    return result;
}

static bool lies_on(int device, const void *address, size_t bytes)
{
    const struct allocation *known = find(address, bytes);
    return known != NULL && known->head.kind == STANDIN_DEVICE_MEMORY &&
           known->head.device == device && contains(known, address, bytes);
}

/* Without access between the two HIP stages the copy itself: no reason to refuse it. */
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, hipStream_t stream)
{
    STANDIN_ENTER(hipMemcpyPeerAsync);
    REFUSE_IF(!standin_is_device(to_device) || !standin_is_device(from_device),
              hipErrorInvalidDevice);
    struct standin_operation operation = {.kind = STANDIN_COPY,
                                          .to = to,
                                          .from = from,
                                          .bytes = bytes,
                                          .way = hipMemcpyDeviceToDevice};
    pthread_mutex_lock(&standin_lock);
    hipError_t result = hipErrorInvalidValue;
    if (bytes == 0 || (lies_on(to_device, to, bytes) && lies_on(from_device, from, bytes)))
        result = standin_copy(&operation, stream);
    pthread_mutex_unlock(&standin_lock);
    return result;
}

/* ---- many copies by one call: batches and rows ---- */

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
