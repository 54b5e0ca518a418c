/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "codecs/formats.h"

#include <string.h>

/* What the encoders for several kinds of CPU share. */

/* A float32's bits. */
#define XB_INFINITY 0x7F800000 /* also the exponent's field; NaNs are above it */
#define XB_EXPONENT 0x7F800000
#define XB_QUIET 0x00400000 /* tells a quiet NaN from a signalling one */

/*
 * How vectors become fp8. With the value's own exponent e, or the least one of fp8 where that is
 * more, the `unit` 2^(e + 20) has a last place of 2^(e - 3), which is the step of fp8 there. So
 * value + unit is rounded to a step, to the nearest even, and its bits tell how many steps the
 * value has. Eight steps and more have the hidden bit in them, which carries into the exponent as
 * it should, and fewer are a denormal: code = 8 * (e - least exponent) + steps.
 */
#define XB_FP8_MOST 0x43E00000         /* 448 */
#define XB_FP8_LEAST_NORMAL 0x3C800000 /* 2^-6 */
#define XB_FP8_TO_UNIT (20 << 23)

#ifdef __x86_64__
/* For a thread by itself streaming stores are about as fast (bench/results/h200/narrow.txt), but
 * what they write goes to memory and the device fetches it from there. With ordinary ones it
 * fetches from the cache, and the whole was a fifth faster (quantize-stores.txt beside it). */
#ifndef XB_NARROW_STREAMING
#define XB_NARROW_STREAMING 0
#endif

/* Makes streaming stores visible to whoever hears from this thread that the chunk is done. */
static inline void xb_narrow_finish(void)
{
    if (XB_NARROW_STREAMING)
        __builtin_ia32_sfence();
}

/* Defines an encoder: pack() makes a vector of `step` values, and the file's put() stores it. The
 * file's TARGET names the instructions. Plain C takes the values that are left. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type has none */
#define XB_DEFINE_NARROW(name, pack, format, type, step)                                           \
    TARGET static void name(const float *source, uint64_t values, void *target)                    \
    {                                                                                              \
        type *out = target;                                                                        \
        uint64_t i = 0;                                                                            \
        for (; i + (step) <= values; i += (step))                                                  \
            put(out + i, pack(source + i));                                                        \
        xb_narrow_plain.narrow[format](source + i, values - i, out + i);                           \
        xb_narrow_finish();                                                                        \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
#endif

struct xb_int8_scaling {
    float scale, factor;
};

/* The scale of an int8 block and what its values are multiplied by. `most`: the bits of its largest
 * finite magnitude. Below 2^-119 the scale would be a denormal, which some devices take for 0. */
static inline struct xb_int8_scaling xb_int8_scaling_of(uint32_t most)
{
    float amax;
    memcpy(&amax, &most, sizeof amax);
    struct xb_int8_scaling scaling = {0, 0};
    if (amax >= 0x1p-119f) {
        scaling.scale = amax / 127;
        scaling.factor = 127 / amax;
    }
    return scaling;
}

/* Narrows blocks of XB_INT8_BLOCK values. */
typedef void xb_narrow_blocks(const float *source, uint64_t blocks, float *scales,
                              signed char *target);

/* A whole int8 chunk: all whole blocks by `whole_blocks`, the rest in plain C. */
void xb_narrow_int8(const float *source, uint64_t values, void *target,
                    xb_narrow_blocks *whole_blocks);

/* One block in plain C, whatever is in it; `count` is XB_INT8_BLOCK, or less for the last block. */
void xb_narrow_int8_block(const float *source, unsigned count, float *scale, signed char *target);

/* Defines the file's way: its narrow_fp16(), narrow_bf16(), narrow_fp8() and whole_blocks(). */
#define XB_DEFINE_WAY(way, named)                                                                  \
    static void narrow_int8(const float *source, uint64_t values, void *target)                    \
    {                                                                                              \
        xb_narrow_int8(source, values, target, whole_blocks);                                      \
    }                                                                                              \
    const struct xb_narrow_way way = {                                                             \
        .name = (named), .narrow = {narrow_fp16, narrow_bf16, narrow_int8, narrow_fp8}};
