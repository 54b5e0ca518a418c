/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_PLACEMENT_H
#define XFERBENCH_MEASURE_PLACEMENT_H

#include "measure.h"

/*
 * Where the host's memory lies decides how fast copies both ways at once are, by a fifth on some
 * machines, while samples of one placement agree (docs/measurement.md). One placement would have a
 * narrow interval around a figure that the next process does not find. So such a case is set up and
 * sampled in several placements, and its interval is that of the median over them.
 */

/* For lanes that are set up: finds how many placements the case is measured in, and has their
 * memory ready. Fills measurement->placements. Warns where memory is short of it. */
void xb_placements_open(struct xb_measurement *measurement);

/* Whether this placement has its share of the samples: `fixed` are asked for (0: as many as the
 * time limit gives), `taken` it has, in `elapsed` seconds. For a case in several placements. */
bool xb_placement_is_full(const struct xb_measurement *measurement, uint64_t fixed, size_t taken,
                          double elapsed);

/* Notes that the samples from `before` on are of this placement. */
void xb_placement_close(struct xb_measurement *measurement, size_t before);

/* Computes how far the placements are apart. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_placements_compare(struct xb_result *result,
                                                   struct xb_error *error);

#endif
