/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/mode.h"

/*
 * What modes share that time a load: one thread follows a chain (xferbench/access.h) through
 * memory, and what it takes by the number of its loads is the latency of one. Where the thread ends
 * after all of them proves each: a load that brought another word would have led it elsewhere for
 * good.
 */

/* The loads of one iteration: so many that it lasts milliseconds, and that starting its kernel,
 * some microseconds, is no part of the latency. */
#define XB_CHASE_LOADS UINT64_C(16384)
/* The least memory, which is the size by default: a line for each load of an iteration. In less, a
 * load could find its line in the cache of its own processor. */
#define XB_CHASE_LEAST_BYTES (XB_CHASE_LOADS * XB_CHAIN_LINE)

extern const struct xb_figure xb_figure_load_latency;

/* The memory of the chain, and who follows it. The state of such a mode begins with it. */
struct xb_chase {
    struct xb_queue *reader;
    struct xb_buffer *chain;
    struct xb_buffer *cursor; /* on the reader's device: where the chase stands */
    struct xb_buffer *word;   /* for it, where the CPU reads it */
    enum xb_access access;
    uint64_t loads; /* so far */
};

/* What every such mode has. */
#define XB_CHASE_MODE                                                                              \
    .variant_option = &xb_option_access, .figures = XB_FIGURES(&xb_figure_load_latency),           \
    .latency = &xb_figure_load_latency, .bytes_by_default = XB_CHASE_LEAST_BYTES

/* `check`: XB_ERR_UNSUPPORTED where the case is smaller than XB_CHASE_LEAST_BYTES. */
enum xb_status xb_chase_check_size(const struct xb_mode_context *context, struct xb_error *error);

/* `buffers`: the chain, in host memory for h2d. */
void xb_chase_buffers(const struct xb_case *test, struct xb_buffers *all);

/*
 * Borrows the chain, and all else from `reader`; writes the chain in the order of the case's
 * variant, puts the cursor to its beginning and makes the first load. Sets the context's queues,
 * operations, bytes_moved and hold. Blocks.
 */
enum xb_status xb_chase_setup(struct xb_mode_context *context, struct xb_workspace *reader,
                              struct xb_error *error);

/* `prepare`: nothing, because the chain's end proves every load since setup. */
xb_submit xb_chase_prepare;

/* `submit`: XB_CHASE_LOADS loads, from where the last iteration ended. */
xb_submit xb_chase_submit;

/* `verify`: whether the chase ended where it must, and the samples of the latency. */
enum xb_status xb_chase_verify(struct xb_mode_context *context, struct xb_result *result,
                               struct xb_error *error);
