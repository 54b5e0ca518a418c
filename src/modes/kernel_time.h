/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/stage.h"
#include "xferbench/mode.h"

/* How long the kernel of a mode that computes on what it moves takes. */

/* --kernel-time */
extern const struct xb_option xb_option_kernel_time;

/* What xb_kernel_time_read says where the mode itself finds the time. */
#define XB_KERNEL_TIME_AUTO (-1.0)

/* With XB_KERNEL_TIME_AUTO the kernel takes so many times as long as what goes on beside it. A
 * little longer than that: then the computing sets the pace, and not a stage that takes now more,
 * now less time. */
#define XB_KERNEL_TUNED_LONGER 1.05

/* What --kernel-time, a parameter of the case's mode, says: seconds for one chunk; 0 for no kernel.
 * XB_ERR_USAGE. */
enum xb_status xb_kernel_time_read(const struct xb_case *test, double *seconds,
                                   struct xb_error *error);

/* Reads what `option` ("--gpu-time") says of a job's kernels: a time, or 'none' or 0 for none.
 * XB_ERR_USAGE. */
enum xb_status xb_gpu_time_parse(const char *option, const char *text, double *seconds,
                                 struct xb_error *error);

/* A kernel of more steps takes longer than anybody waits. And up to here the number of steps, which
 * is calculated as a double, is exact. */
#define XB_KERNEL_STEPS_MOST (UINT64_C(1) << 24)

/*
 * Finds the steps of the kernel (queue_compute in backend.h) with which that part of the line takes
 * `target` seconds, or comes nearest to that. It is nothing but kernels of *steps steps. Leaves all
 * of the line to be run. Blocks. XB_ERR_STOPPED where the run is to stop.
 */
enum xb_status xb_kernel_time_tune(struct xb_mode_context *context,
                                   const struct xb_line_part *kernels, double target,
                                   uint64_t *steps, struct xb_error *error);

/* Finds them for a line whose items are chunks of `bytes`, and whose stage with that index is the
 * kernel: the kernels of all items take `target` seconds. Runs only some of the items. */
enum xb_status xb_kernel_time_tune_stage(struct xb_mode_context *context, unsigned stage,
                                         uint64_t bytes, uint64_t chunk, double target,
                                         uint64_t *steps, struct xb_error *error);
