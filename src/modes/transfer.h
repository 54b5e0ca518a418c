/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_TRANSFER_H
#define XFERBENCH_MODES_TRANSFER_H

#include "xferbench/mode.h"

/*
 * What modes that copy one host buffer to or from one device buffer share: the two buffers, their
 * content, and the proof that the data arrived. What the modes differ in, the kind of host memory
 * and how the copy is submitted, stays with them. The state of such a mode begins with this.
 */
struct xb_transfer {
    struct xb_buffer *host;
    struct xb_buffer *device;
    struct xb_buffer *source; /* the one of the two that the direction reads */
    struct xb_buffer *target;
};

/* One host buffer and one device buffer of the case's size. */
struct xb_needs xb_transfer_needs(const struct xb_case *test, const struct xb_config *config);

/*
 * Borrows the buffers and `queue_count` queues from the workspace, sets the context's queues, one
 * operation an iteration and, for page-locked memory, hold; then writes one pattern to both
 * buffers.
 */
XB_MUST_CHECK enum xb_status xb_transfer_setup(struct xb_mode_context *context,
                                               enum xb_memory memory, size_t queue_count,
                                               struct xb_error *error);

/* `prepare`: makes the target wrong in every byte, by turning the device buffer around. */
XB_MUST_CHECK enum xb_status xb_transfer_prepare(struct xb_mode_context *context,
                                                 struct xb_error *error);

/* `submit`: the whole buffer in one copy on the first queue. */
XB_MUST_CHECK enum xb_status xb_transfer_submit(struct xb_mode_context *context,
                                                struct xb_error *error);

/*
 * `verify`: checks every byte of the target where it lies, the device's memory by a kernel, the
 * host's by the CPU. Then compares windows of both buffers byte by byte on the host, without a
 * pattern, so that a generator and a checker that share a mistake do not agree unnoticed.
 */
XB_MUST_CHECK enum xb_status xb_transfer_verify(struct xb_mode_context *context,
                                                struct xb_result *result, struct xb_error *error);

#endif
