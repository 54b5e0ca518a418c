/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/slots.h"

/* Shared by the files of the host backend. backend.h has the contract of the slots. */

extern const struct xb_backend xb_host_backend;

/* Keeps the address of all kinds: xb_buffer has no host address for device memory. */
struct xb_host_buffer {
    struct xb_buffer base;
    void *address;
    bool callers; /* memory that was the caller's, and stays */
};

static inline void *xb_host_buffer_address(const struct xb_buffer *buffer)
{
    return ((const struct xb_host_buffer *)buffer)->address;
}

/* ---- work.c: the operations of a queue's thread ---- */

/* One operation on memory. `run` uses the fields that it needs. */
struct xb_host_work {
    void (*run)(const struct xb_host_work *work);
    struct xb_kernel base;
    struct xb_pattern pattern;
    const struct xb_piece *pieces;
    uint64_t count; /* of pieces or rows */
    uint64_t target_pitch, source_pitch;
};

/* Kernels are loops in a queue's thread. */
extern const struct xb_kernels xb_host_kernels;
enum xb_status xb_host_find_address(const struct xb_device *device, const struct xb_buffer *buffer,
                                    uint64_t offset, char **address, struct xb_error *error);

/* Enqueues a plain copy between any two addresses. Checks no rule of the slots. */
enum xb_status xb_host_queue_move(struct xb_queue *queue, void *target, const void *source,
                                  uint64_t bytes, struct xb_error *error);

/* ---- queue.c ---- */

bool xb_host_queue_blocks(const struct xb_queue *queue);

/* Appends a copy of *work to the queue. */
enum xb_status xb_host_queue_enqueue(struct xb_queue *queue, const struct xb_host_work *work,
                                     struct xb_error *error);

#define XB_HOST_SLOTS(X, prefix) XB_SLOTS(XB_NO_SLOT, X, XB_NO_SLOT, X, XB_NO_SLOT, prefix)
XB_HOST_SLOTS(XB_DECLARE_SLOT, xb_host_)
