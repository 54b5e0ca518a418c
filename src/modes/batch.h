/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_BATCH_H
#define XFERBENCH_MODES_BATCH_H

#include "xferbench/mode.h"

/* What the files of the mode batch share: its options and figures, for its Reading. */

extern const struct xb_option xb_option_piece;
extern const struct xb_figure xb_figure_pieces_per_second, xb_figure_time_per_piece;
extern const struct xb_figure xb_figure_blocks;

/* batch_reading.c; ends with a label of NULL */
extern const struct xb_reading_line xb_batch_reading[];

#endif
