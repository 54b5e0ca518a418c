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

enum xb_status xb_copy_check(const struct xb_buffer *target, uint64_t target_offset,
                             const struct xb_buffer *source, uint64_t source_offset, uint64_t bytes,
                             struct xb_error *error)
{
    if ((target->memory == XB_MEMORY_DEVICE) == (source->memory == XB_MEMORY_DEVICE))
        return XB_FAIL(error, XB_ERR_USAGE,
                       "a copy goes between host and device memory, not from %s to %s",
                       xb_memory_name(source->memory), xb_memory_name(target->memory));
    enum xb_status status = check_range(target, target_offset, bytes, "target", error);
    if (status == XB_OK)
        status = check_range(source, source_offset, bytes, "source", error);
    return status;
}

enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_DEVICE)
        return XB_FAIL(error, XB_ERR_USAGE, "%s memory is not the device's to fill or check",
                       xb_memory_name(buffer->memory));
    return check_range(buffer, 0, bytes, "buffer", error);
}
