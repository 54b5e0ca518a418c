/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/format.h"

#include <stdbool.h>
#include <stdint.h>

/* The formats of codec.h, which docs/formats.md describes. A chunk has 1 to XB_FORMAT_CHUNK_MOST
 * bytes. */

/* Tells that a block at that place of the target was refused. */
static inline void xb_decode_refuse(struct xb_decode_report *report, uint64_t at)
{
    report->refused_blocks++;
    if (at < report->first_refused)
        report->first_refused = at;
}

/* ---- `for`: frame of reference and bit packing, without loss ---- */

uint64_t xb_for_bound(uint64_t bytes);
uint64_t xb_for_encode(const void *source, uint64_t bytes, void *target);
uint64_t xb_for_encode_plainly(const void *source, uint64_t bytes, void *target);
void xb_for_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);

/* A way to encode. All ways make the same bytes. */
struct xb_for_way {
    const char *name; /* of the instructions that it uses */
    uint64_t (*encode)(const void *source, uint64_t bytes, void *target);
};

/* The `number`-th way that this CPU can take, the fastest first; NULL behind the last. */
const struct xb_for_way *xb_for_usable(unsigned number);

/* ---- `lz4`: raw LZ4 blocks, without loss ---- */

/* Makes a raw LZ4 block, by liblz4. Returns its length; 0 where it does not fit into `room`, and in
 * a build without liblz4. */
unsigned xb_lz4_compress(const void *source, unsigned size, void *target, unsigned room);

uint64_t xb_lz4_bound(uint64_t bytes);
uint64_t xb_lz4_encode(const void *source, uint64_t bytes, void *target);
void xb_lz4_decode(const void *encoded, uint64_t encoded_bytes, void *target, uint64_t bytes,
                   uint64_t offset, struct xb_decode_report *report);

/* ---- the lossy ones ---- */

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
