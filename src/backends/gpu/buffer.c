/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and frees buffers of every kind of memory, and says where managed pages belong. */
#include "gpu.h"

#include "machine/host_memory.h"

#include "backends/slot_checks.h"

#include <stdlib.h>

/* We allocate whole blocks, because the runtime packs small allocations together: so a small buffer
 * is aligned like a large one and shares no page with memory that is polled or has other advice. */
#define BLOCK (UINT64_C(2) << 20)

static uint64_t whole_blocks(uint64_t bytes)
{
    return bytes <= UINT64_MAX - BLOCK ? (bytes + BLOCK - 1) / BLOCK * BLOCK : bytes;
}

static const struct xb_gpu_runtime *runtime_of(const struct xb_gpu_buffer *buffer)
{
    return xb_gpu_device_of(buffer->base.device)->runtime;
}

/* Finds where a selected device sees registered memory: on some at another address than the host's
 * (cudaDevAttrCanUseHostPointerForRegisteredMem). */
static enum xb_status find_mapping(const struct xb_gpu_buffer *buffer,
                                   const struct xb_device *device, void **address,
                                   struct xb_error *error)
{
    void *seen = NULL;
    XB_TRY(XB_GPU_CALL(error, device, device_pointer(&seen, buffer->address),
                       "host memory was mapped, but %s device %u cannot reach it",
                       XB_GPU_NAMED(device)));
    if (seen == NULL)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "host memory was mapped, but %s device %u has no address for it",
                       XB_GPU_NAMED(device));
    *address = seen;
    return XB_OK;
}

enum xb_status xb_gpu_find_address(const struct xb_device *device, const struct xb_buffer *buffer,
                                   uint64_t offset, char **address, struct xb_error *error)
{
    void *begin = xb_gpu_kernel_address(buffer);
    if (buffer->memory == XB_MEMORY_MAPPED && buffer->device != device) {
        XB_TRY(xb_gpu_select(device, error));
        XB_TRY(find_mapping((const struct xb_gpu_buffer *)buffer, device, &begin, error));
    }
    *address = (char *)begin + offset;
    return XB_OK;
}

static enum xb_status register_pages(struct xb_gpu_buffer *buffer, struct xb_error *error)
{
    uint64_t bytes = buffer->base.bytes;
    bool mapped = buffer->base.memory == XB_MEMORY_MAPPED;
    char limit[128];
    XB_TRY(XB_GPU_CALL(error, buffer->base.device, register_host(buffer->address, bytes, mapped),
                       "cannot page-lock %llu bytes of host memory%s", (unsigned long long)bytes,
                       xb_host_memory_lock_limit(bytes, limit, sizeof limit)));
    if (!mapped)
        return XB_OK;
    enum xb_status status =
        find_mapping(buffer, buffer->base.device, &buffer->kernel_address, error);
    if (status != XB_OK)
        (void)runtime_of(buffer)->unregister_host(buffer->address);
    return status;
}

enum xb_status xb_gpu_device_memory(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error)
{
    size_t free_now = 0, total = 0;
    XB_TRY(xb_gpu_select(device, error));
    XB_TRY(XB_GPU_CALL(error, device, memory_info(&free_now, &total),
                       "cannot read the free memory of %s device %u", XB_GPU_NAMED(device)));
    *free_bytes = free_now;
    return XB_OK;
}

/* The runtime allocates more managed memory than a device holds, and then moves pages out while
 * others come in: another experiment. So we allow only half of the free memory, and what the host
 * has room for, because the pages move there too. */
static enum xb_status allocate_managed(struct xb_gpu_buffer *buffer, struct xb_error *error)
{
    struct xb_device *device = buffer->base.device;
    uint64_t bytes = buffer->base.bytes;
    uint64_t free_now = 0;
    XB_TRY(xb_gpu_device_memory(device, &free_now, error));
    if (whole_blocks(bytes) > free_now / 2)
        return XB_FAIL(error, XB_ERR_MEMORY,
                       "%llu bytes of managed memory are more than half of the %llu bytes that "
                       "are free on %s device %u; try a smaller size",
                       (unsigned long long)bytes, (unsigned long long)free_now,
                       XB_GPU_NAMED(device));
    XB_TRY(xb_host_memory_check(bytes, error));
    XB_TRY(XB_GPU_CALL(error, device, allocate_managed(&buffer->address, whole_blocks(bytes)),
                       "cannot allocate %llu bytes of managed memory; try a smaller size",
                       (unsigned long long)bytes));
    buffer->kernel_address = buffer->address;
    return XB_OK;
}

/* Refuses a kind of memory that the device does not have. */
static enum xb_status check_kind(const struct xb_device *device, enum xb_memory memory,
                                 struct xb_error *error)
{
    uint32_t needed = memory == XB_MEMORY_REGISTERED       ? XB_CAP_REGISTER
                      : memory == XB_MEMORY_WRITE_COMBINED ? XB_CAP_WRITE_COMBINED
                      : memory == XB_MEMORY_MAPPED         ? XB_CAP_MAPPED
                      : memory == XB_MEMORY_MANAGED        ? XB_CAP_MANAGED
                                                           : 0;
    if ((device->info.capabilities & needed) == needed)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "%s device %u has no %s memory", XB_GPU_NAMED(device),
                   xb_memory_name(memory));
}

/* Checks for free host memory before pinning any: the machine suffers if more is pinned than it has
 * to spare. */
static enum xb_status allocate_memory(struct xb_gpu_buffer *buffer, struct xb_error *error)
{
    const struct xb_device *device = buffer->base.device;
    enum xb_memory memory = buffer->base.memory;
    const struct xb_gpu_runtime *runtime = runtime_of(buffer);
    uint64_t bytes = buffer->base.bytes;
    char limit[128];
    enum xb_status status;
    XB_TRY(check_kind(device, memory, error));
    XB_TRY(xb_gpu_select(device, error));
    switch (memory) {
    case XB_MEMORY_DEVICE:
        XB_TRY(XB_GPU(error, runtime,
                      buffer->queue != NULL
                          ? runtime->allocate_pooled(&buffer->address, whole_blocks(bytes),
                                                     xb_gpu_stream(buffer->queue))
                          : runtime->allocate(&buffer->address, whole_blocks(bytes)),
                      "cannot allocate %llu bytes of device memory; try a smaller size",
                      (unsigned long long)bytes));
        buffer->kernel_address = buffer->address;
        return XB_OK;
    case XB_MEMORY_PAGEABLE:
        XB_TRY(xb_pages_map(bytes, &buffer->address, error));
        if (xb_memory_in_reach(memory, device))
            buffer->kernel_address = buffer->address;
        return XB_OK;
    case XB_MEMORY_PINNED:
    case XB_MEMORY_WRITE_COMBINED:
        XB_TRY(xb_host_memory_check(bytes, error));
        return XB_GPU_CALL(error, device,
                           allocate_host(&buffer->address, whole_blocks(bytes), memory),
                           "cannot allocate %llu bytes of %s host memory%s; try a smaller size",
                           (unsigned long long)bytes, xb_memory_name(memory),
                           xb_host_memory_lock_limit(bytes, limit, sizeof limit));
    case XB_MEMORY_REGISTERED:
    case XB_MEMORY_MAPPED:
        /* Huge pages, which several threads touch and the runtime then page-locks. Its allocator
         * locks small pages one by one and is many times slower, also for mapped memory (CUDA on
         * the H200: setup_time in bench/results/h200/host-memory.json). */
        if (!buffer->callers)
            XB_TRY(xb_pages_map_huge(bytes, &buffer->address, error));
        status = register_pages(buffer, error);
        if (status != XB_OK && !buffer->callers)
            xb_pages_unmap(buffer->address, bytes);
        return status;
    case XB_MEMORY_MANAGED:
        return allocate_managed(buffer, error);
    }
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "there is no %s memory", xb_memory_name(memory));
}

static enum xb_status make(const struct xb_gpu_buffer *wanted, struct xb_buffer **buffer,
                           struct xb_error *error)
{
    struct xb_gpu_buffer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe a buffer");
    *made = *wanted;
    enum xb_status status = allocate_memory(made, error);
    made->base.host_address = made->base.memory == XB_MEMORY_DEVICE ? NULL : made->address;
    return XB_OPENED(status, made, free(made), buffer);
}

enum xb_status xb_gpu_buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error)
{
    const struct xb_gpu_buffer wanted = {
        .base = {.device = device, .memory = memory, .bytes = bytes}};
    return make(&wanted, buffer, error);
}

/* Has the pool keep what is given back, until the queue is closed. */
static enum xb_status use_pool(struct xb_queue *queue, struct xb_error *error)
{
    struct xb_gpu_queue *using = (struct xb_gpu_queue *)queue;
    const struct xb_device *device = queue->device;
    uint64_t most = UINT64_MAX;
    void *pool = NULL;
    if (using->pool != NULL)
        return XB_OK;
    XB_TRY(XB_GPU_CALL(error, device, default_pool(&pool, xb_gpu_device_of(device)->ordinal),
                       "%s device %u has no memory pool", XB_GPU_NAMED(device)));
    XB_TRY(XB_GPU_CALL(error, device, keep_in_pool(pool, &most),
                       "the memory pool of %s device %u cannot be told to keep memory",
                       XB_GPU_NAMED(device)));
    using->pool = pool;
    return XB_OK;
}

enum xb_status xb_gpu_queue_allocate(struct xb_queue *queue, uint64_t bytes,
                                     struct xb_buffer **buffer, struct xb_error *error)
{
    const struct xb_gpu_buffer wanted = {
        .base = {.device = queue->device, .memory = XB_MEMORY_DEVICE, .bytes = bytes},
        .queue = queue};
    XB_TRY(xb_capability_check(queue->device, XB_CAP_POOL, "no memory pool", error));
    XB_TRY(xb_gpu_select(queue->device, error));
    XB_TRY(use_pool(queue, error));
    return make(&wanted, buffer, error);
}

enum xb_status xb_gpu_buffer_register(struct xb_device *device, void *address, uint64_t bytes,
                                      struct xb_buffer **buffer, struct xb_error *error)
{
    const struct xb_gpu_buffer wanted = {
        .base = {.device = device, .memory = XB_MEMORY_REGISTERED, .bytes = bytes},
        .address = address,
        .callers = true};
    XB_TRY(xb_register_check(address, bytes, error));
    return make(&wanted, buffer, error);
}

enum xb_status xb_gpu_buffer_advise(struct xb_buffer *buffer, enum xb_advice advice,
                                    struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "only managed memory takes advice, not %s",
                       xb_memory_name(buffer->memory));
    void *address = xb_gpu_buffer_address(buffer, 0);
    bool stay = advice == XB_ADVICE_STAY_ON_HOST;
    /* Do not take back advice that was never given: older ROCm refuses that. */
    if (!stay && !((struct xb_gpu_buffer *)buffer)->advised)
        return XB_OK;
    ((struct xb_gpu_buffer *)buffer)->advised = stay;
    XB_TRY(xb_gpu_select(buffer->device, error));
    XB_TRY(XB_GPU_CALL(
        error, buffer->device,
        advise(address, buffer->bytes, stay ? XB_GPU_PREFER : XB_GPU_UNPREFER, XB_GPU_HOST),
        "the runtime does not take advice on where managed memory belongs"));
    return XB_GPU_CALL(error, buffer->device,
                       advise(address, buffer->bytes, stay ? XB_GPU_MAP : XB_GPU_UNMAP,
                              xb_gpu_device_of(buffer->device)->ordinal),
                       "the runtime does not take advice on who uses managed memory");
}

void xb_gpu_buffer_free(struct xb_buffer *buffer)
{
    if (buffer == NULL)
        return;
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(buffer->device)->runtime;
    struct xb_error ignored;
    void *address = xb_gpu_buffer_address(buffer, 0);
    enum xb_memory memory = buffer->memory;
    bool is_pageable = memory == XB_MEMORY_PAGEABLE; /* which the runtime does not know */
    bool is_locked = memory == XB_MEMORY_REGISTERED || memory == XB_MEMORY_MAPPED;
    if (!is_pageable)
        (void)xb_gpu_select(buffer->device, &ignored);
    const struct xb_queue *queue = ((const struct xb_gpu_buffer *)buffer)->queue;
    if (queue != NULL)
        (void)runtime->release_pooled(address, xb_gpu_stream(queue));
    else if (memory == XB_MEMORY_DEVICE || memory == XB_MEMORY_MANAGED)
        (void)runtime->release(address);
    else if (is_locked)
        (void)runtime->unregister_host(address);
    else if (!is_pageable)
        (void)runtime->release_host(address);
    if (is_pageable || (is_locked && !((const struct xb_gpu_buffer *)buffer)->callers))
        xb_pages_unmap(address, buffer->bytes);
    free(buffer);
}
