/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

/* For backends: these check a call of the slot named against its rules in backend.h. XB_ERR_USAGE
 * for one that breaks them. They look at what is given and call no runtime. */

/* XB_ERR_UNSUPPORTED, with the reason, where the device lacks it: callers should ask first. `what`
 * follows "device 0 has". The checks of kernels ask for XB_CAP_KERNELS themselves. */
enum xb_status xb_capability_check(const struct xb_device *device, uint32_t capability,
                                   const char *what, struct xb_error *error);

/* buffer_register */
enum xb_status xb_register_check(const void *address, uint64_t bytes, struct xb_error *error);

/* queue_copy */
enum xb_status xb_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                             uint64_t target_offset, const struct xb_buffer *source,
                             uint64_t source_offset, uint64_t bytes, struct xb_error *error);

/* queue_fill and queue_check */
enum xb_status xb_device_range_check(const struct xb_buffer *buffer, uint64_t bytes,
                                     struct xb_error *error);

/* queue_prefetch, queue_copy_peer */
enum xb_status xb_prefetch_check(const struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_error *error);
enum xb_status xb_peer_copy_check(const struct xb_queue *queue, const struct xb_buffer *target,
                                  uint64_t target_offset, const struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error);

/* file_read */
enum xb_status xb_file_read_check(const struct xb_file *file, const struct xb_buffer *buffer,
                                  uint64_t offset, uint64_t bytes, struct xb_error *error);

/* queue_decode */
enum xb_status xb_decode_check(const struct xb_queue *queue, const struct xb_decoding *decoding,
                               struct xb_error *error);

/* pieces_open, queue_copy_pieces with graph_open, queue_kernel_pieces, queue_graph,
 * queue_copy_rows */
enum xb_status xb_pieces_check(const struct xb_buffer *target, const struct xb_buffer *source,
                               const struct xb_piece *pieces, size_t count, struct xb_error *error);
enum xb_status xb_copy_pieces_check(const struct xb_queue *queue, const struct xb_pieces *list,
                                    struct xb_error *error);
enum xb_status xb_kernel_pieces_check(const struct xb_queue *queue, const struct xb_pieces *list,
                                      bool bulk, struct xb_error *error);
enum xb_status xb_graph_check(const struct xb_queue *queue, const struct xb_graph *graph,
                              struct xb_error *error);
enum xb_status xb_rows_check(const struct xb_queue *queue, const struct xb_rows *target,
                             const struct xb_rows *source, uint64_t bytes, uint64_t count,
                             struct xb_error *error);
