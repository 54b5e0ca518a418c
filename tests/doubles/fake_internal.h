/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared between the files of the fake backend. */

#include "fake_backend.h"

#include "backends/host/host.h"

/* Counts a call that may fail; true, with *error filled, if it is its turn. */
bool xb_fake_fails(const char *call, struct xb_error *error);

/* Whether `device` may reach the memory of `other`. */
bool xb_fake_peer_is_open(const struct xb_device *device, const struct xb_device *other);

/* Time that an operation takes on its device's first queue, beside what every operation takes. */
void xb_fake_pass_time(const struct xb_queue *queue, double seconds);

/* The virtual time until which the caller has waited for queues, in seconds. */
double xb_fake_host_time(void);

/* Notes which memory a large copy touches. */
void xb_fake_note_memory(const struct xb_buffer *target, const struct xb_buffer *source,
                         uint64_t bytes);

/* The next queue of that device is its first again. */
void xb_fake_number_queues_anew(unsigned device);

enum xb_status xb_fake_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error);
enum xb_status xb_fake_queue_open_blocking(struct xb_device *device, struct xb_queue **queue,
                                           struct xb_error *error);
void xb_fake_queue_close(struct xb_queue *queue);
enum xb_status xb_fake_queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                  struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                  struct xb_error *error);
enum xb_status xb_fake_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error);
enum xb_status xb_fake_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error);
enum xb_status xb_fake_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t to, struct xb_buffer *source, uint64_t from,
                                         uint64_t bytes, enum xb_access access, unsigned together,
                                         struct xb_error *error);
enum xb_status xb_fake_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t offset, uint64_t bytes, uint64_t steps,
                                     struct xb_error *error);
enum xb_status xb_fake_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   enum xb_access access, struct xb_error *error);
enum xb_status xb_fake_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                   struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                   struct xb_error *error);
enum xb_status xb_fake_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                      uint64_t bytes, bool to_device, struct xb_error *error);
enum xb_status xb_fake_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                       uint64_t to, struct xb_buffer *source, uint64_t from,
                                       uint64_t bytes, struct xb_error *error);
enum xb_status xb_fake_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error);
void xb_fake_pieces_close(struct xb_pieces *list);
enum xb_status xb_fake_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error);
enum xb_status xb_fake_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, struct xb_error *error);
enum xb_status xb_fake_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error);
void xb_fake_graph_close(struct xb_graph *graph);
enum xb_status xb_fake_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error);
enum xb_status xb_fake_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error);
enum xb_status xb_fake_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                    struct xb_error *error);
enum xb_status xb_fake_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                    uint64_t target_offset, struct xb_error *error);
enum xb_status xb_fake_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error);
enum xb_status xb_fake_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error);
enum xb_status xb_fake_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error);
enum xb_status xb_fake_queue_hold(struct xb_queue *queue, struct xb_error *error);
enum xb_status xb_fake_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error);
enum xb_status xb_fake_queue_wait(struct xb_queue *queue, struct xb_error *error);
enum xb_status xb_fake_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error);
void xb_fake_event_close(struct xb_event *event);
enum xb_status xb_fake_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error);
enum xb_status xb_fake_event_wait(struct xb_event *event, struct xb_error *error);
enum xb_status xb_fake_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error);
