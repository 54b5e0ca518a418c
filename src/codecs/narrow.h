/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/format.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes float32 values smaller, in several ways that all give the same bits. Source and target are
 * aligned to XB_FORMAT_ALIGNMENT; the target has room for xb_narrow_bytes. All of them need the
 * floating point settings that every program begins with: to the nearest even, denormals kept.
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
#ifdef __x86_64__
extern const struct xb_narrow_way xb_narrow_avx2;   /* needs AVX2 and F16C */
extern const struct xb_narrow_way xb_narrow_avx512; /* needs AVX-512 F and BW */
#endif

/* The ways that this CPU has, from 0, the fastest first and plain C last. NULL: no more. */
const struct xb_narrow_way *xb_narrow_usable(unsigned number);
