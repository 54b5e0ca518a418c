/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/formats.h"

#include "codecs/narrow_parts.h"
#include "codecs/widen.h"

#include <string.h>

/*
 * What the encoders of every CPU must give bit by bit. Both sides of every choice are computed, so
 * that compilers can make vector code of the loops.
 *
 * Chunks are little-endian, and so are the machines that this runs on.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "chunks are stored as they are computed");

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* `bits` without the `count` lowest, rounded to the nearest; to the even one if both are as near.
 */
static uint32_t rounded(uint32_t bits, unsigned count)
{
    uint32_t odd = bits >> count & 1u;
    return (bits + (1u << (count - 1)) - 1u + odd) >> count;
}

/*
 * A magnitude below the least normal number of a small format, in steps of the format there. The
 * last place of `unit` is such a step, so that the addition rounds to one.
 */
static uint32_t denormal(uint32_t magnitude, float unit)
{
    float sum = float_of(magnitude) + unit;
    return bits_of(sum) - bits_of(unit);
}

static uint16_t fp16_of(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t normal = rounded(magnitude - (112u << 23), 13); /* biases are 127 and 15 */
    uint32_t small = magnitude < bits_of(0x1p-14f) ? denormal(magnitude, 0.5f) : normal;
    small = small > 0x7C00u ? 0x7C00u : small;
    small = magnitude > XB_INFINITY ? 0x7E00u | (magnitude >> 13 & 0x3FFu) : small;
    return (uint16_t)(sign | small);
}

static uint16_t bf16_of(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    return (uint16_t)(magnitude > XB_INFINITY ? (bits | XB_QUIET) >> 16 : rounded(bits, 16));
}

static uint8_t fp8_of(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 24 & 0x80u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t normal = rounded(magnitude - (120u << 23), 20); /* biases are 127 and 7 */
    uint32_t small = magnitude < bits_of(0x1p-6f) ? denormal(magnitude, 0x1p14f) : normal;
    small = small > 0x7Eu ? 0x7Eu : small;
    small = magnitude > XB_INFINITY ? 0x7Fu : small;
    return (uint8_t)(sign | small);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a type has none */
#define DEFINE_NARROW(format, type)                                                                \
    static void narrow_##format(const float *source, uint64_t values, void *target)                \
    {                                                                                              \
        type *out = target;                                                                        \
        for (uint64_t i = 0; i < values; i++)                                                      \
            out[i] = format##_of(source[i]);                                                       \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
DEFINE_NARROW(fp16, uint16_t)
DEFINE_NARROW(bf16, uint16_t)
DEFINE_NARROW(fp8, uint8_t)

/* The nearest integer to a value between -127 and 127; the even one if two are as near. */
static signed char nearest(float value)
{
    /* Between 2^23 and 2^24 floats are integers, so the addition rounds. It must not be merged with
     * the caller's multiplication: that is why `value` is a float of its own. */
    float shifted = value + 0x1.8p23f;
    return (signed char)(shifted - 0x1.8p23f);
}

void xb_narrow_int8_block(const float *restrict source, unsigned count, float *restrict scale,
                          signed char *restrict target)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t magnitude = bits_of(source[i]) & 0x7FFFFFFFu;
        magnitude = magnitude < XB_INFINITY ? magnitude : 0;
        most = magnitude > most ? magnitude : most; /* in the order of the floats */
    }
    struct xb_int8_scaling scaling = xb_int8_scaling_of(most);
    *scale = scaling.scale;
    for (unsigned i = 0; i < count; i++) {
        float scaled = source[i] * scaling.factor;
        scaled = scaled == scaled ? scaled : 0; /* NaN, or an infinity times 0 */
        scaled = scaled > 127 ? 127 : scaled;
        scaled = scaled < -127 ? -127 : scaled;
        target[i] = nearest(scaled);
    }
}

void xb_narrow_int8(const float *source, uint64_t values, void *target,
                    xb_narrow_blocks *whole_blocks)
{
    uint64_t blocks = xb_int8_blocks(values);
    uint64_t whole = values / XB_INT8_BLOCK;
    uint64_t done = whole * XB_INT8_BLOCK;
    uint64_t begin = xb_int8_values_at(values);
    float *scales = target;
    signed char *out = (signed char *)target + begin;
    whole_blocks(source, whole, scales, out);
    if (blocks > whole)
        xb_narrow_int8_block(source + done, (unsigned)(values - done), scales + whole, out + done);
    memset(scales + blocks, 0, begin - blocks * sizeof *scales);
}

static void whole_blocks(const float *source, uint64_t blocks, float *scales, signed char *target)
{
    for (uint64_t i = 0; i < blocks; i++)
        xb_narrow_int8_block(source + i * XB_INT8_BLOCK, XB_INT8_BLOCK, scales + i,
                             target + i * XB_INT8_BLOCK);
}

XB_DEFINE_WAY(xb_narrow_plain, "plain C")
