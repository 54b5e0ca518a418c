/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "piece_layout.h"

/* What the files of the mode batch share. */

extern const struct xb_option xb_option_piece;  /* --piece */
extern const struct xb_option xb_option_pieces; /* --pieces */
extern const struct xb_option xb_option_kv;     /* --kv: kv_cache.h */
#define XB_GRID_VALUES 64                       /* the most of either where a grid is measured */

/* batch_skip.c: for a case of a grid (--pieces). XB_ERR_UNSUPPORTED, with the reason for a skipped
 * row, where earlier results of the run make it needless. `a_call` is --call-pieces. */
enum xb_status xb_batch_check_needed(const struct xb_mode_context *context,
                                     const struct xb_option *a_call, struct xb_error *error);

/* sm_tax.c: what a transfer takes from kernels that compute at the same time */
extern const struct xb_figure xb_figure_sm_tax;

/* How many bytes of device memory the computing kernels work on: so many that each has some tens of
 * times as many blocks as there is room for, and one block more or less in a row makes no step. */
#define XB_SM_TAX_BYTES (UINT64_C(256) << 20)

/*
 * Measures the SM tax of one iteration of `submit`, which takes about `seconds`, and adds its
 * samples to the result: kernels compute one after the other on queue 1 of the context, alone and
 * beside the iteration, and the tax is the time that they lose by the time that the iteration
 * takes. 0.1 is a tenth of their speed. They are enqueued right after the iteration or, where
 * `keeps_caller` says that its submit waits for part of the work, before it. Device buffer `number`
 * of the workspace is theirs. Adds nothing where the run is to stop. Blocks.
 */
enum xb_status xb_sm_tax_measure(struct xb_mode_context *context, xb_submit *submit, double seconds,
                                 bool keeps_caller, unsigned number, struct xb_result *result,
                                 struct xb_error *error);
