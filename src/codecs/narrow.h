/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CODECS_NARROW_H
#define XFERBENCH_CODECS_NARROW_H

#include "xferbench/format.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes float32 values smaller, by several ways that all give the same bits. Source and target are
 * aligned to XB_FORMAT_ALIGNMENT; the target has room for xb_narrow_bytes. All of them need what
 * every program begins with: rounding to the nearest even, denormals not flushed to zero.
 */
typedef void xb_narrow_function(const float *source, uint64_t values, void *target);

/* The lossy formats are the first of enum xb_format. */
#define XB_NARROW_FORMATS 4

/* One way: a function for each format. */
struct xb_narrow_way {
    const char *name;
    xb_narrow_function *narrow[XB_NARROW_FORMATS]; /* by enum xb_format */
};

extern const struct xb_narrow_way xb_narrow_plain;

/* The ways that this CPU has, from 0, the fastest first and plain C last. NULL: no more. */
const struct xb_narrow_way *xb_narrow_usable(unsigned number);

/* The fastest of them. */
const struct xb_narrow_way *xb_narrow_fastest(void);

/* int8 in plain C from `first` on, which begins a block: what is left behind the last whole vector,
 * and a block with infinities or NaNs. Writes `count` values, at most XB_INT8_BLOCK. */
void xb_narrow_int8_block(const float *source, unsigned count, float *scale, signed char *target);

#endif
