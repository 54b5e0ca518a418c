/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills and checks device memory without kernels: the host writes or compares the pattern in a
 * window of pinned memory, and copies move it. This is slower, and the check relies on the copies
 * that it is to verify; the rows say so. It still finds memory that was never written, because its
 * content does not match the pattern.
 */
#include "gpu.h"

#define WINDOW_BYTES (UINT64_C(4) << 20)

static enum xb_status open_window(const struct xb_queue *queue, struct xb_buffer **window,
                                  struct xb_error *error)
{
    struct xb_gpu_device *device = (struct xb_gpu_device *)queue->device;
    if (device->window == NULL) {
        XB_TRY(xb_gpu_buffer_allocate(queue->device, XB_MEMORY_PINNED, WINDOW_BYTES,
                                      &device->window, error));
    }
    *window = device->window;
    return XB_OK;
}

static uint64_t part_of(uint64_t bytes, uint64_t offset)
{
    return bytes - offset < WINDOW_BYTES ? bytes - offset : WINDOW_BYTES;
}

enum xb_status xb_gpu_fill_by_host(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    XB_TRY(open_window(queue, &window, error));
    /* Wait for the copy of every part, because the next part overwrites the window. */
    for (uint64_t offset = 0; offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        xb_host_fill(window->host_address, offset, part, pattern);
        XB_TRY(xb_gpu_queue_copy(queue, buffer, offset, window, 0, part, error));
        XB_TRY(xb_gpu_queue_wait(queue, error));
    }
    return XB_OK;
}

enum xb_status xb_gpu_check_by_host(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t bytes, struct xb_pattern pattern,
                                    struct xb_mismatch *mismatch, struct xb_error *error)
{
    struct xb_buffer *window = NULL;
    struct xb_mismatch found = {.wrong_bytes = 0, .first_offset = UINT64_MAX};
    XB_TRY(open_window(queue, &window, error));
    XB_TRY(xb_gpu_queue_wait(queue, error));
    for (uint64_t offset = 0; offset < bytes; offset += WINDOW_BYTES) {
        uint64_t part = part_of(bytes, offset);
        pattern.steps = 0;
        /* Fill the window with wrong bytes first, so that a copy that moves nothing is found. */
        xb_host_fill(
            window->host_address, offset, part,
            (struct xb_pattern){.seed = pattern.seed, .flip = pattern.flip ^ XB_PATTERN_POISON});
        XB_TRY(xb_gpu_queue_copy(queue, window, 0, buffer, offset, part, error));
        XB_TRY(xb_gpu_queue_wait(queue, error));
        struct xb_mismatch in_part = xb_host_check(window->host_address, offset, part, pattern);
        if (in_part.wrong_bytes > 0 && found.wrong_bytes == 0)
            found.first_offset = in_part.first_offset;
        found.wrong_bytes += in_part.wrong_bytes;
    }
    *mismatch = found;
    return XB_OK;
}
