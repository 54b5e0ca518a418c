/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_ROWS_H
#define XFERBENCH_SINKS_ROWS_H

#include "xferbench/run.h"

/* Which rows a reading may speak of, and compare with which. */

/* Smaller copies are about latency: they say nothing of a path. */
#define XB_LARGE_BYTES (UINT64_C(16) << 20)

/* Measured for bandwidth, verified, and large enough. */
bool xb_row_usable(const struct xb_result *result);

/* Of one device that had the machine for itself, between it and the host. */
bool xb_row_alone(const struct xb_result *result);

/*
 * A usable row whose bandwidth is that of the buffer moved once, h2d or d2h, by a device alone. Not
 * of a mode that computes as well, nor of data that was read several times.
 */
bool xb_row_one_way(const struct xb_result *result);

bool xb_row_has_mode(const struct xb_result *result, const char *mode);

/* The fastest usable row of a device alone, of that mode, direction and size; of that variant, or
 * of any for NULL. NULL: there is none. */
const struct xb_result *xb_row_best(const struct xb_run *run, unsigned device, uint64_t bytes,
                                    enum xb_direction direction, const char *mode,
                                    const char *variant);

/* The faster of two rows, either of which may be NULL. */
const struct xb_result *xb_row_faster(const struct xb_result *a, const struct xb_result *b);

/* The largest size below `below` of any row; 0 where there is none. */
uint64_t xb_rows_size_below(const struct xb_run *run, uint64_t below);

#endif
