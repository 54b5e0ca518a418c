/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HOST_H
#define XFERBENCH_BACKENDS_HOST_H

#include "xferbench/backend.h"

/* Shared between the files of the host backend; the slots' contract stands in backend.h. */

extern const struct xb_backend xb_host_backend;

/* The buffer's pages, also for device memory. */
void *xb_host_buffer_address(struct xb_buffer *buffer);

enum xb_status xb_host_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error);
void xb_host_queue_close(struct xb_queue *queue);
enum xb_status xb_host_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error);
enum xb_status xb_host_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error);
enum xb_status xb_host_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error);
enum xb_status xb_host_queue_hold(struct xb_queue *queue, struct xb_error *error);
void xb_host_queue_release(struct xb_queue *queue);
enum xb_status xb_host_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error);
enum xb_status xb_host_queue_wait(struct xb_queue *queue, struct xb_error *error);
enum xb_status xb_host_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error);
void xb_host_event_close(struct xb_event *event);
enum xb_status xb_host_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error);
enum xb_status xb_host_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error);

#endif
