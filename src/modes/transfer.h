/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_TRANSFER_H
#define XFERBENCH_MODES_TRANSFER_H

#include "xferbench/mode.h"

/*
 * What modes that copy between a host buffer and a device buffer share: the buffers, their content,
 * and the proof that the data arrived. Each mode chooses the kind of host memory and submits the
 * copies its own way. The state of such a mode begins with struct xb_transfer.
 */

/* One direction, with buffers of its own. */
struct xb_way {
    enum xb_direction direction; /* XB_H2D or XB_D2H */
    struct xb_buffer *host;
    struct xb_buffer *device;
    struct xb_buffer *source; /* the one of the two that the direction reads */
    struct xb_buffer *target;
    unsigned long long seed;
};

struct xb_transfer {
    struct xb_way ways[XB_SPANS]; /* bidir has two: h2d, then d2h */
    size_t way_count;
    size_t queues_per_way;   /* a way's first queue is context->queues[way * queues_per_way] */
    struct xb_queue *filler; /* on which device buffers are filled */
    unsigned prepared;       /* how many times */
};

/* `needs`: each way takes a host buffer and a device buffer of the case's size. */
struct xb_needs xb_transfer_needs(const struct xb_case *test, const struct xb_config *config);

/*
 * Borrows the buffers and `queues_per_way` queues a way from the workspace, sets the context's
 * queues, spans and bytes_moved, one operation a way and, for page-locked memory, hold; then writes
 * one pattern to all buffers.
 */
XB_MUST_CHECK enum xb_status xb_transfer_setup(struct xb_mode_context *context,
                                               enum xb_memory memory, size_t queues_per_way,
                                               struct xb_error *error);

/* `prepare`: makes the targets wrong in every byte, by writing the other pattern to the device
 * buffers. */
XB_MUST_CHECK enum xb_status xb_transfer_prepare(struct xb_mode_context *context,
                                                 struct xb_error *error);

/* `submit`: copies each way's buffer in one operation, on the way's first queue. */
XB_MUST_CHECK enum xb_status xb_transfer_submit(struct xb_mode_context *context,
                                                struct xb_error *error);

/* `verify`: checks every byte of each target where it lies, and compares windows of it with the
 * source. */
XB_MUST_CHECK enum xb_status xb_transfer_verify(struct xb_mode_context *context,
                                                struct xb_result *result, struct xb_error *error);

#endif
