/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/narrow.h"

#include "codecs/narrow_parts.h"
#include "codecs/widen.h"

#include <string.h>

/*
 * What the encoders of every CPU must give bit by bit, written to be read beside docs/formats.md.
 * Chunks are little-endian, and so are the machines that this runs on.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "chunks are stored as they are computed");

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* `bits` without the `count` lowest, rounded to the nearest; to the even one if both are as near.
 */
static uint32_t rounded(uint32_t bits, unsigned count)
{
    uint32_t odd = bits >> count & 1u;
    return (bits + (1u << (count - 1)) - 1u + odd) >> count;
}

/*
 * The fraction of a number whose exponent is below the least of the small format: rounded to the
 * multiple of that format's least number. `shift` is by how many bits the significand is longer.
 */
static uint32_t denormal(uint32_t magnitude, unsigned shift)
{
    uint32_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
    /* Shifted by 25 or more, no significand reaches half of the least number. */
    return shift > 24 ? 0 : rounded(significand, shift);
}

static uint16_t fp16_of(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t exponent = magnitude >> 23;
    uint32_t small;
    if (magnitude > XB_INFINITY)
        small = 0x7E00u | (magnitude >> 13 & 0x3FFu);
    else if (exponent >= 143) /* 2^16 and above, infinity */
        small = 0x7C00u;
    else if (exponent >= 113) /* rounding may carry into infinity, as it should */
        small = rounded(magnitude - (112u << 23), 13);
    else
        small = denormal(magnitude, 126 - exponent);
    return (uint16_t)(sign | small);
}

static uint16_t bf16_of(float value)
{
    uint32_t bits = bits_of(value);
    if ((bits & 0x7FFFFFFFu) > XB_INFINITY)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)rounded(bits, 16);
}

static uint8_t fp8_of(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 24 & 0x80u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint32_t exponent = magnitude >> 23;
    uint32_t small;
    if (magnitude > XB_INFINITY)
        small = 0x7Fu;
    else if (magnitude >= bits_of(448.0f))
        small = 0x7Eu;
    else if (exponent >= 121)
        small = rounded(magnitude - (120u << 23), 20);
    else
        small = denormal(magnitude, 141 - exponent);
    return (uint8_t)(sign | small);
}

static void narrow_fp16(const float *source, uint64_t values, void *target)
{
    uint16_t *out = target;
    for (uint64_t i = 0; i < values; i++)
        out[i] = fp16_of(source[i]);
}

static void narrow_bf16(const float *source, uint64_t values, void *target)
{
    uint16_t *out = target;
    for (uint64_t i = 0; i < values; i++)
        out[i] = bf16_of(source[i]);
}

static void narrow_fp8(const float *source, uint64_t values, void *target)
{
    uint8_t *out = target;
    for (uint64_t i = 0; i < values; i++)
        out[i] = fp8_of(source[i]);
}

/* The nearest integer to a value between -127 and 127; the even one if two are as near. */
static signed char nearest(float value)
{
    /* Between 2^23 and 2^24 floats are integers, so the addition rounds. It must not be merged with
     * the caller's multiplication: that is why `value` is a float of its own. */
    float shifted = value + 0x1.8p23f;
    return (signed char)(shifted - 0x1.8p23f);
}

void xb_narrow_int8_block(const float *source, unsigned count, float *scale, signed char *target)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t magnitude = bits_of(source[i]) & 0x7FFFFFFFu;
        if (magnitude < XB_INFINITY && magnitude > most)
            most = magnitude; /* the bits of positive floats are in the order of the floats */
    }
    struct xb_int8_scaling scaling = xb_int8_scaling_of(most);
    *scale = scaling.scale;
    for (unsigned i = 0; i < count; i++) {
        float scaled = source[i] * scaling.factor;
        if (scaled != scaled) /* NaN, or an infinity times 0 */
            scaled = 0;
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

static void narrow_int8(const float *source, uint64_t values, void *target)
{
    xb_narrow_int8(source, values, target, whole_blocks);
}

const struct xb_narrow_way xb_narrow_plain = {
    .name = "plain C",
    .narrow = {narrow_fp16, narrow_bf16, narrow_int8, narrow_fp8},
};
