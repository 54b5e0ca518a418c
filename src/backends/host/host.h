/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HOST_H
#define XFERBENCH_BACKENDS_HOST_H

#include "xferbench/backend.h"

/* Shared by the files of the host backend. backend.h has the contract of the slots. */

extern const struct xb_backend xb_host_backend;

/* The address of the buffer's pages, also for device memory. */
void *xb_host_buffer_address(struct xb_buffer *buffer);

/* ---- work.c: the operations of a queue's thread ---- */

/* One operation on memory. `run` uses the fields that it needs. */
struct xb_host_work {
    void (*run)(const struct xb_host_work *work);
    void *target;
    const void *source;
    uint64_t bytes;
    struct xb_pattern pattern;
    enum xb_access access;
    uint64_t loads;
    const struct xb_piece *pieces;
    uint64_t count; /* of pieces or rows */
    uint64_t target_pitch, source_pitch;
    enum xb_format format;
    uint64_t source_bytes; /* of an encoded chunk */
    uint64_t offset;       /* of the target in its buffer */
    struct xb_decode_report *report;
};

/* Enqueues a plain copy between any two addresses. Checks no rule of the slots. */
enum xb_status xb_host_queue_move(struct xb_queue *queue, void *target, const void *source,
                                  uint64_t bytes, struct xb_error *error);
enum xb_status xb_host_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error);
enum xb_status xb_host_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error);
enum xb_status xb_host_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error);
enum xb_status xb_host_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t target_offset, struct xb_buffer *source,
                                         uint64_t source_offset, uint64_t bytes,
                                         enum xb_access access, unsigned together,
                                         struct xb_error *error);
enum xb_status xb_host_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t offset, uint64_t bytes, uint64_t steps,
                                     struct xb_error *error);
enum xb_status xb_host_queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   enum xb_access access, struct xb_error *error);
enum xb_status xb_host_queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                   struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                   struct xb_error *error);
enum xb_status xb_host_queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                    struct xb_error *error);

enum xb_status xb_host_queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                    uint64_t target_offset, struct xb_error *error);

/* ---- files.c: files, read to the device's memory ---- */

enum xb_status xb_host_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error);
void xb_host_file_close(struct xb_file *file);
enum xb_status xb_host_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error);
enum xb_status xb_host_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error);

/* ---- pieces.c: many copies at once ---- */

enum xb_status xb_host_pieces_open(struct xb_device *device, struct xb_buffer *target,
                                   struct xb_buffer *source, const struct xb_piece *pieces,
                                   size_t count, struct xb_pieces **list, struct xb_error *error);
void xb_host_pieces_close(struct xb_pieces *list);
enum xb_status xb_host_queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                         struct xb_error *error);
enum xb_status xb_host_queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                           unsigned blocks, struct xb_error *error);
enum xb_status xb_host_graph_open(struct xb_queue *queue, struct xb_pieces *list,
                                  struct xb_graph **graph, struct xb_error *error);
void xb_host_graph_close(struct xb_graph *graph);
enum xb_status xb_host_queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                   struct xb_error *error);
enum xb_status xb_host_queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                       struct xb_rows source, uint64_t bytes, uint64_t count,
                                       struct xb_error *error);

/* ---- queue.c: queues and events ---- */

enum xb_status xb_host_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error);
void xb_host_queue_close(struct xb_queue *queue);
/* Appends a copy of *work to the queue. */
enum xb_status xb_host_queue_enqueue(struct xb_queue *queue, const struct xb_host_work *work,
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
enum xb_status xb_host_event_wait(struct xb_event *event, struct xb_error *error);
enum xb_status xb_host_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error);

#endif
