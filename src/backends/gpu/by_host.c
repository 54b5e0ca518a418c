/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling and checking device memory without kernels: the host writes or compares the pattern in a
 * window of pinned memory, and copies move it. Slower, and a check that leans on copies, which the
 * rows say; but a copy back of what was never written does not match the pattern either.
 */
#include "gpu.h"

#define WINDOW_BYTES (UINT64_C(4) << 20)

static enum xb_status open_window(const struct xb_queue *queue, struct xb_buffer **window,
                                  struct xb_error *error)
{
    struct xb_gpu_device *device = (struct xb_gpu_device *)queue->device;
    enum xb_status status = XB_OK;
    if (device->window == NULL)
        status = xb_gpu_buffer_allocate(queue->device, XB_MEMORY_PINNED, WINDOW_BYTES,
                                        &device->window, error);
    *window = device->window;
    return status;
}

static uint64_t part_of(uint64_t bytes, uint64_t offset)
{
    return bytes - offset < WINDOW_BYTES ? bytes - offset : WINDOW_BYTES;
}

enum xb_status xb_gpu_fill_by_host(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    enum xb_status status = open_window(queue, &window, error);
    /* The window may be in use by what was enqueued before: every part waits for its copy. */
    for (uint64_t offset = 0; status == XB_OK && offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        xb_host_fill(window->host_address, offset, part, pattern);
        status = xb_gpu_queue_copy(queue, buffer, offset, window, 0, part, error);
        if (status == XB_OK)
            status = xb_gpu_queue_wait(queue, error);
    }
    return status;
}

enum xb_status xb_gpu_check_by_host(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t bytes, struct xb_pattern pattern,
                                    struct xb_mismatch *mismatch, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    struct xb_mismatch found = {.wrong_bytes = 0, .first_offset = UINT64_MAX};
    enum xb_status status = open_window(queue, &window, error);
    if (status == XB_OK)
        status = xb_gpu_queue_wait(queue, error);
    for (uint64_t offset = 0; status == XB_OK && offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        /* What a copy that moves nothing would leave here must not be what is looked for. */
        xb_host_fill(
            window->host_address, offset, part,
            (struct xb_pattern){.seed = pattern.seed, .flip = pattern.flip ^ XB_PATTERN_POISON});
        status = xb_gpu_queue_copy(queue, window, 0, buffer, offset, part, error);
        if (status == XB_OK)
            status = xb_gpu_queue_wait(queue, error);
        if (status != XB_OK)
            break;
        struct xb_mismatch here = xb_host_check(window->host_address, offset, part, pattern);
        if (here.wrong_bytes > 0 && found.wrong_bytes == 0)
            found.first_offset = here.first_offset;
        found.wrong_bytes += here.wrong_bytes;
    }
    if (status == XB_OK)
        *mismatch = found;
    return status;
}
