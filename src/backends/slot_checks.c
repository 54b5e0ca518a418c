/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/backend.h"

static enum xb_status check_range(const struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                  const char *what, struct xb_error *error)
{
    if (offset <= buffer->bytes && bytes <= buffer->bytes - offset)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "the %s's range of %llu bytes at %llu leaves its buffer of %llu bytes", what,
                   (unsigned long long)bytes, (unsigned long long)offset,
                   (unsigned long long)buffer->bytes);
}

static enum xb_status check_both_ranges(const struct xb_buffer *target, uint64_t target_offset,
                                        const struct xb_buffer *source, uint64_t source_offset,
                                        uint64_t bytes, struct xb_error *error)
{
    enum xb_status status = check_range(target, target_offset, bytes, "target", error);
    if (status != XB_OK)
        return status;
    return check_range(source, source_offset, bytes, "source", error);
}

enum xb_status xb_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                             uint64_t target_offset, const struct xb_buffer *source,
                             uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    const struct xb_buffer *const ends[] = {target, source};
    size_t on_device = 0;
    for (size_t i = 0; i < 2; i++) {
        if (ends[i]->memory != XB_MEMORY_DEVICE)
            continue;
        on_device++;
        if (ends[i]->device != queue->device)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "a queue of device %u does not copy to or from the memory of device %u",
                           queue->device->info.index, ends[i]->device->info.index);
    }
    if (on_device == 0 || target->memory == XB_MEMORY_MANAGED ||
        source->memory == XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "a copy goes between host and device memory or within the device's, not "
                       "from %s to %s",
                       xb_memory_name(source->memory), xb_memory_name(target->memory));
    uint64_t apart = target_offset > source_offset ? target_offset - source_offset
                                                   : source_offset - target_offset;
    if (target == source && apart < bytes)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "a copy of %llu bytes from %llu to %llu of one buffer overlaps itself",
                       (unsigned long long)bytes, (unsigned long long)source_offset,
                       (unsigned long long)target_offset);
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
}

enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_DEVICE && buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "%s memory is not the device's to fill or check",
                       xb_memory_name(buffer->memory));
    return check_range(buffer, 0, bytes, "buffer", error);
}

/* Kernels access memory in words. */
static enum xb_status check_offset(uint64_t offset, struct xb_error *error)
{
    if (offset % 8 == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "a kernel's range begins at %llu, not at a whole word",
                   (unsigned long long)offset);
}

static enum xb_status check_in_reach(const struct xb_queue *queue, const struct xb_buffer *buffer,
                                     struct xb_error *error)
{
    if (xb_memory_in_reach(buffer->memory) && buffer->device == queue->device)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "a kernel of device %u cannot touch %s memory of device %u",
                   queue->device->info.index, xb_memory_name(buffer->memory),
                   buffer->device->info.index);
}

/* The same for memory that may be another device's: whether access to that is open, only the
 * runtime knows. */
static enum xb_status check_in_any_reach(const struct xb_queue *queue,
                                         const struct xb_buffer *buffer, struct xb_error *error)
{
    if (buffer->memory == XB_MEMORY_DEVICE || buffer->memory == XB_MEMORY_MAPPED)
        return XB_OK;
    return check_in_reach(queue, buffer, error);
}

enum xb_status xb_kernel_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                                    uint64_t target_offset, const struct xb_buffer *source,
                                    uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    enum xb_status status = check_in_any_reach(queue, target, error);
    if (status != XB_OK)
        return status;
    status = check_in_any_reach(queue, source, error);
    if (status != XB_OK)
        return status;
    status = check_offset(target_offset, error);
    if (status != XB_OK)
        return status;
    status = check_offset(source_offset, error);
    if (status != XB_OK)
        return status;
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
}

enum xb_status xb_compute_check(const struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_DEVICE)
        return XB_FAIL(error, XB_ERR_USAGE, "computing goes on in device memory, not in %s memory",
                       xb_memory_name(buffer->memory));
    enum xb_status status = check_offset(offset, error);
    if (status != XB_OK)
        return status;
    return check_range(buffer, offset, bytes, "buffer", error);
}

enum xb_status xb_chain_check(const struct xb_queue *queue, const struct xb_buffer *buffer,
                              uint64_t bytes, struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_DEVICE && buffer->memory != XB_MEMORY_MAPPED)
        return XB_FAIL(error, XB_ERR_USAGE, "a chain lies in device or mapped memory, not in %s",
                       xb_memory_name(buffer->memory));
    enum xb_status status = check_in_reach(queue, buffer, error);
    if (status != XB_OK)
        return status;
    if (bytes < XB_CHAIN_LINE)
        return XB_FAIL(error, XB_ERR_USAGE, "a chain needs a line of %llu bytes, not %llu",
                       XB_CHAIN_LINE, (unsigned long long)bytes);
    return check_range(buffer, 0, bytes, "chain", error);
}

enum xb_status xb_chase_check(const struct xb_queue *queue, const struct xb_buffer *chain,
                              const struct xb_buffer *cursor, struct xb_error *error)
{
    if (cursor->memory != XB_MEMORY_DEVICE)
        return XB_FAIL(error, XB_ERR_USAGE, "a cursor lies in device memory, not in %s memory",
                       xb_memory_name(cursor->memory));
    enum xb_status status = check_in_reach(queue, cursor, error);
    if (status != XB_OK)
        return status;
    status = check_range(cursor, 0, 8, "cursor", error);
    if (status != XB_OK)
        return status;
    /* Another device's memory: whether access to it is open, only the runtime knows. */
    if (chain->memory == XB_MEMORY_DEVICE && chain->device != queue->device)
        return check_range(chain, 0, XB_CHAIN_LINE, "chain", error);
    return xb_chain_check(queue, chain, XB_CHAIN_LINE, error);
}

enum xb_status xb_prefetch_check(const struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "only managed memory can be prefetched, not %s",
                       xb_memory_name(buffer->memory));
    return check_range(buffer, 0, bytes, "buffer", error);
}

enum xb_status xb_peer_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                                  uint64_t target_offset, const struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    if (target->memory != XB_MEMORY_DEVICE || source->memory != XB_MEMORY_DEVICE ||
        target->device == source->device ||
        (queue->device != target->device && queue->device != source->device))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "a peer copy goes between the memories of two devices, one of them the "
                       "queue's");
    return check_both_ranges(target, target_offset, source, source_offset, bytes, error);
}
