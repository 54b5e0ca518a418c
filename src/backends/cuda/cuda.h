/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_CUDA_H
#define XFERBENCH_BACKENDS_CUDA_H

#include "kernels.h"

#include "xferbench/backend.h"

#include <cuda_runtime_api.h>

/* Shared between the files of the CUDA backend; the slots' contract stands in backend.h. */

struct xb_cuda_device {
    struct xb_device base;
    int ordinal;
    long long hold_limit;        /* cycles after which a hold gives way */
    struct xb_cuda_check *found; /* device memory: what a check found */
    struct xb_cuda_check *seen;  /* the host's copy of it, pinned */
};

/*
 * XB_OK for cudaSuccess; else fills *error with the call (its text up to the parenthesis), code and
 * name, behind the given message, and clears the runtime's last error.
 */
enum xb_status xb_cuda_status(struct xb_error *error, cudaError_t code, const char *call,
                              const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Makes the call and turns what it returns into a status. */
#define XB_CUDA(error, call, ...)                                                                  \
    xb_cuda_status((error), (call), #call, __FILE__, __LINE__, __VA_ARGS__)

/* Makes the device of an object the calling thread's: nearly free where it is already. */
enum xb_status xb_cuda_select(const struct xb_device *device, struct xb_error *error);

/* driver.c */
enum xb_status xb_cuda_driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                   struct xb_error *error);
void xb_cuda_driver_close(struct xb_driver *driver);
enum xb_status xb_cuda_device_info(struct xb_driver *driver, unsigned index,
                                   struct xb_device_info *info, struct xb_error *error);

/* buffer.c */
enum xb_status xb_cuda_buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error);
void xb_cuda_buffer_free(struct xb_buffer *buffer);
/* What copies take: the device pointer of a DEVICE buffer, the host address of any other. */
void *xb_cuda_buffer_address(const struct xb_buffer *buffer);
/* What kernels take, of a buffer in their reach (xb_memory_in_reach). */
void *xb_cuda_kernel_address(const struct xb_buffer *buffer);

/* managed.c */
enum xb_status xb_cuda_buffer_advise(struct xb_buffer *buffer, enum xb_advice advice,
                                     struct xb_error *error);
enum xb_status xb_cuda_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                      uint64_t bytes, bool to_device, struct xb_error *error);

/* queue.c */
cudaStream_t xb_cuda_stream(const struct xb_queue *queue);
enum xb_status xb_cuda_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error);
void xb_cuda_queue_close(struct xb_queue *queue);
enum xb_status xb_cuda_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error);
enum xb_status xb_cuda_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error);
enum xb_status xb_cuda_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error);
enum xb_status xb_cuda_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t target_offset, struct xb_buffer *source,
                                         uint64_t source_offset, uint64_t bytes,
                                         enum xb_access access, struct xb_error *error);
enum xb_status xb_cuda_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t offset, uint64_t bytes, uint64_t steps,
                                     struct xb_error *error);
enum xb_status xb_cuda_queue_hold(struct xb_queue *queue, struct xb_error *error);
void xb_cuda_queue_release(struct xb_queue *queue);
enum xb_status xb_cuda_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error);
enum xb_status xb_cuda_queue_wait(struct xb_queue *queue, struct xb_error *error);
enum xb_status xb_cuda_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error);
void xb_cuda_event_close(struct xb_event *event);
enum xb_status xb_cuda_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error);
enum xb_status xb_cuda_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error);

/* peer.c */
enum xb_status xb_cuda_peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                 struct xb_peer_info *info, struct xb_error *error);
enum xb_status xb_cuda_peer_open(struct xb_device *device, struct xb_device *other,
                                 struct xb_error *error);
void xb_cuda_peer_close(struct xb_device *device, struct xb_device *other);
enum xb_status xb_cuda_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                       uint64_t target_offset, struct xb_buffer *source,
                                       uint64_t source_offset, uint64_t bytes,
                                       struct xb_error *error);

/* ranges.c */
void xb_cuda_range_push(const char *name);
void xb_cuda_range_pop(void);

#endif
