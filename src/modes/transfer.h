/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/mode.h"

/*
 * What modes that copy between a host buffer and a device buffer share: the buffers, their content,
 * and the proof that the data arrived. Each mode chooses the kind of host memory and submits the
 * copies its own way. The state of such a mode begins with struct xb_transfer.
 */

/* One direction, with buffers of its own. The data begins at its offset in each; what lies before
 * it and behind it is written too, and no copy may change it. */
struct xb_way {
    enum xb_direction direction; /* XB_H2D or XB_D2H */
    struct xb_buffer *host;
    struct xb_buffer *device;
    uint64_t host_offset, device_offset;
    struct xb_buffer *source; /* the one of the two that the direction reads */
    struct xb_buffer *target;
    uint64_t source_offset, target_offset;
    unsigned long long seed;
};

/* `check`: XB_ERR_UNSUPPORTED where a call that blocks would keep the copies of the case apart: the
 * synchronous one, or any of a variant that is pageable memory; and for what --gpu-memory cannot
 * be. */
enum xb_status xb_transfer_check(const struct xb_mode_context *context, struct xb_error *error);

struct xb_transfer {
    struct xb_way ways[XB_SPANS]; /* bidir has two: h2d, then d2h */
    size_t way_count;
    uint64_t margin;         /* so much behind the data is watched; 0 where all offsets are 0 */
    size_t queues_per_way;   /* a way's first queue is context->queues[way * queues_per_way] */
    struct xb_queue *filler; /* on which device buffers are filled */
    struct xb_queue *own;    /* of a case that the host's clock times; NULL: the workspace's */
    bool makes, pools;       /* the device's memory, anew for each copy; from a pool */
    unsigned prepared;       /* how many times */
};

/* `buffers`: each way takes a host buffer, of the memory that the variant is, and a device buffer
 * of the case's size, and room for the largest offset, where --host-offset and --device-offset are
 * parameters of the mode. And for a mode's own `buffers`, which may take more: the same with that
 * memory. */
void xb_transfer_buffers(const struct xb_case *test, struct xb_buffers *all);
void xb_transfer_take(const struct xb_case *test, enum xb_memory memory, struct xb_buffers *all);

/*
 * Borrows the mode's buffers and `queues_per_way` queues a way from the workspace, sets the
 * context's queues, spans and bytes_moved, one operation a way and, for page-locked memory, hold;
 * then writes one pattern to the ways' buffers. A way whose `host` is set, to memory of the mode's
 * own of the case's size or more, keeps it. With --call sync, and with --gpu-memory malloc or pool,
 * where these are parameters of the mode, the case has a queue of its own and is timed by the
 * host's clock: until the synchronous call returns, unless that is before all is there, else until
 * it is. xb_transfer_teardown closes it.
 */
enum xb_status xb_transfer_setup(struct xb_mode_context *context, size_t queues_per_way,
                                 struct xb_error *error);

void xb_transfer_teardown(struct xb_mode_context *context);

/* `prepare`: makes the targets wrong in every byte, by writing the other pattern to the device
 * buffers. */
xb_submit xb_transfer_prepare;

/* `submit`: makes the device's memory, where --gpu-memory asks for that, and copies each way's
 * buffer in one operation, on the way's first queue. */
xb_submit xb_transfer_submit;

/* `verify`: checks every byte of each target where it lies, and compares windows of it with the
 * source. Where there are offsets it checks too that nothing round the target was touched. */
enum xb_status xb_transfer_verify(struct xb_mode_context *context, struct xb_result *result,
                                  struct xb_error *error);
