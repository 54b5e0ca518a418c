/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Turns the small number formats back into float32, and says where their parts lie in a chunk.
 * docs/formats.md describes them. Nothing here rounds: every value of a small format is a float32.
 *
 * This header is also read by the kernels' compilers: built-in types only, no system headers.
 */

#include "xferbench/format.h"
#include "xferbench/kernel_text.h"

/* A float32 and its bits. */
union xb_float_bits {
    float value;
    unsigned bits;
};

/*
 * A number with the exponent field 0 has no hidden bit. In `bits` its fraction already stands where
 * float32 has it, below the exponent field `exponent` << 23. The subtraction takes away the hidden
 * bit that this exponent brings; it is exact and meets no denormal float32, so that it gives the
 * same on devices which flush those to zero.
 */
XB_KERNEL_FUNCTION unsigned xb_without_hidden_bit(unsigned bits, unsigned exponent)
{
    union xb_float_bits with, hidden;
    hidden.bits = exponent << 23;
    with.bits = hidden.bits + bits;
    with.value -= hidden.value;
    return with.bits;
}

/* The bits of the float32 that equals an fp16. A NaN keeps its payload. */
XB_KERNEL_FUNCTION unsigned xb_widen_fp16(unsigned bits)
{
    unsigned sign = (bits & 0x8000u) << 16;
    unsigned rest = (bits & 0x7FFFu) << 13;
    unsigned normal = rest + (112u << 23);                   /* biases are 127 and 15 */
    unsigned special = rest < (31u << 23) ? 0u : 112u << 23; /* infinity, NaN: to exponent 255 */
    unsigned wide = rest < (1u << 23) ? xb_without_hidden_bit(rest, 113u) : normal + special;
    return sign | wide;
}

/* The bits of the float32 that equals a bf16. */
XB_KERNEL_FUNCTION unsigned xb_widen_bf16(unsigned bits)
{
    return bits << 16;
}

/* The bits of the float32 that equals an fp8 (E4M3). It has no infinity and one NaN of each sign.
 */
XB_KERNEL_FUNCTION unsigned xb_widen_fp8(unsigned bits)
{
    unsigned sign = (bits & 0x80u) << 24;
    unsigned rest = (bits & 0x7Fu) << 20;
    unsigned normal = rest + (120u << 23); /* biases are 127 and 7 */
    unsigned wide = rest < (1u << 23) ? xb_without_hidden_bit(rest, 121u) : normal;
    return sign | (rest == (0x7Fu << 20) ? 0x7FC00000u : wide);
}

XB_KERNEL_FUNCTION float xb_widen_int8(signed char value, float scale)
{
    return (float)value * scale;
}

/* How many scales begin an int8 chunk of so many values. */
XB_KERNEL_FUNCTION unsigned long long xb_int8_blocks(unsigned long long values)
{
    return (values + XB_INT8_BLOCK - 1) / XB_INT8_BLOCK;
}

/* Where its values begin: behind the scales, on the next XB_FORMAT_ALIGNMENT. */
XB_KERNEL_FUNCTION unsigned long long xb_int8_values_at(unsigned long long values)
{
    unsigned long long scales = xb_int8_blocks(values) * sizeof(float);
    return (scales + XB_FORMAT_ALIGNMENT - 1) / XB_FORMAT_ALIGNMENT * XB_FORMAT_ALIGNMENT;
}

/* How many bytes a chunk of so many values becomes in a lossy format; 0 for another format. */
XB_KERNEL_FUNCTION unsigned long long xb_narrow_bytes(enum xb_format format,
                                                      unsigned long long values)
{
    switch (format) {
    case XB_FORMAT_FP16:
    case XB_FORMAT_BF16:
        return values * 2;
    case XB_FORMAT_INT8:
        return xb_int8_values_at(values) + values;
    case XB_FORMAT_FP8:
        return values;
    default:
        return 0;
    }
}
