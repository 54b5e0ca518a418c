/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "codec_memory.h"
#include "codecs/codec.h"
#include "codecs/formats.h"
#include "codecs/widen.h"

#include <math.h>

/* What the small numbers are is computed here from their fields, as their standards have it. */

/* How a small format divides its bits: sign, exponent, fraction. */
static const struct fields {
    unsigned exponent_bits, fraction_bits;
    int bias;
    unsigned (*widen)(unsigned code);
} formats[] = {{5, 10, 15, xb_widen_fp16}, {8, 7, 127, xb_widen_bf16}, {4, 3, 7, xb_widen_fp8}};

/* The value of a number, as if its format had neither infinities nor NaNs. */
static double value_of(struct fields fields, unsigned code)
{
    unsigned fraction = code & ((1u << fields.fraction_bits) - 1);
    unsigned exponent = code >> fields.fraction_bits & ((1u << fields.exponent_bits) - 1);
    bool negative = code >> (fields.fraction_bits + fields.exponent_bits) != 0;
    unsigned significand = exponent == 0 ? fraction : fraction | 1u << fields.fraction_bits;
    int scale = (int)(exponent == 0 ? 1 : exponent) - fields.bias - (int)fields.fraction_bits;
    double value = ldexp(significand, scale);
    return negative ? -value : value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The bits that a small number has as a float32: fp8, E4M3, has no infinity and one NaN. */
static uint32_t wide(struct fields fields, unsigned code)
{
    unsigned fraction = code & ((1u << fields.fraction_bits) - 1);
    unsigned most = (1u << fields.exponent_bits) - 1;
    uint32_t sign = code >> (fields.fraction_bits + fields.exponent_bits);
    bool is_fp8 = fields.fraction_bits == 3;
    if ((code >> fields.fraction_bits & most) != most || (is_fp8 && fraction != 7))
        return bits_of((float)value_of(fields, code));
    return sign << 31 |
           (is_fp8 ? 0x7FC00000u : 0x7F800000u | fraction << (23 - fields.fraction_bits));
}

TEST(every_small_number_keeps_its_value)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        unsigned codes = 1u << (formats[i].exponent_bits + formats[i].fraction_bits + 1);
        for (unsigned code = 0; code < codes; code++)
            if (formats[i].widen(code) != wide(formats[i], code))
                fail_msg("format %zu: %04x is %08x, not %08x", i, code, wide(formats[i], code),
                         formats[i].widen(code));
    }
    assert_true(xb_widen_fp16(0x7BFF) == bits_of(65504.0f));
    assert_true(xb_widen_fp16(0x0001) == bits_of(0x1p-24f));
    assert_true(xb_widen_fp16(0xFC00) == bits_of(-INFINITY));
    assert_true(xb_widen_bf16(0x3F80) == bits_of(1.0f));
    assert_true(xb_widen_fp8(0x7E) == bits_of(448.0f));
    assert_true(xb_widen_fp8(0x01) == bits_of(0x1p-9f));
}

TEST(int8_is_a_multiple_of_its_scale)
{
    for (int value = -127; value <= 127; value++)
        assert_true(xb_widen_int8((signed char)value, 0.375f) == (float)(value * 0.375));
}

TEST(chunks_have_their_lengths)
{
    static const struct {
        uint64_t values, blocks, values_at;
    } rows[] = {
        {0, 0, 0},
        {1, 1, 128},
        {64, 1, 128},
        {65, 2, 128},
        {2048, 32, 128},
        {2049, 33, 256},
        {1 << 20, 16384, 65536},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t values = rows[i].values;
        assert_int_equal(xb_int8_blocks(values), rows[i].blocks);
        assert_int_equal(xb_int8_values_at(values), rows[i].values_at);
        assert_int_equal(xb_encoded_bound(XB_FORMAT_INT8, 4 * values), rows[i].values_at + values);
        assert_int_equal(xb_encoded_bound(XB_FORMAT_FP16, 4 * values), 2 * values);
        assert_int_equal(xb_encoded_bound(XB_FORMAT_BF16, 4 * values), 2 * values);
        assert_int_equal(xb_encoded_bound(XB_FORMAT_FP8, 4 * values), values);
    }
}

/* Chunks of 70 values, so that int8 has a second block. */
#define VALUES 70u

TEST(a_chunk_is_decoded_whole)
{
    static _Alignas(XB_FORMAT_ALIGNMENT) unsigned char encoded[4 * VALUES];
    static _Alignas(XB_FORMAT_ALIGNMENT) float decoded[VALUES + 1];
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    uint16_t *halves = (uint16_t *)(void *)encoded;
    for (unsigned i = 0; i < VALUES; i++)
        halves[i] = (uint16_t)(0x3C00 + i);
    decoded[VALUES] = 5;
    xb_decode(XB_FORMAT_FP16, encoded, sizeof(uint16_t) * VALUES, decoded, sizeof(float) * VALUES,
              0, &report);
    for (unsigned i = 0; i < VALUES; i++)
        assert_true(decoded[i] == 1 + (float)i / 1024);
    xb_decode(XB_FORMAT_BF16, encoded, sizeof(uint16_t) * VALUES, decoded, sizeof(float) * VALUES,
              0, &report);
    for (unsigned i = 0; i < VALUES; i++)
        assert_true(bits_of(decoded[i]) == (0x3C00 + i) << 16);
    for (unsigned i = 0; i < VALUES; i++)
        encoded[i] = (unsigned char)i;
    xb_decode(XB_FORMAT_FP8, encoded, VALUES, decoded, sizeof(float) * VALUES, 0, &report);
    for (unsigned i = 0; i < VALUES; i++)
        assert_true(decoded[i] == (float)value_of(formats[2], i));
    static const float scales[] = {0.5f, 3};
    memcpy(encoded, scales, sizeof scales);
    for (unsigned i = 0; i < VALUES; i++)
        encoded[XB_FORMAT_ALIGNMENT + i] = (unsigned char)(i - 40);
    xb_decode(XB_FORMAT_INT8, encoded, XB_FORMAT_ALIGNMENT + VALUES, decoded,
              sizeof(float) * VALUES, 0, &report);
    for (unsigned i = 0; i < VALUES; i++)
        assert_true(decoded[i] == ((float)i - 40) * scales[i / XB_INT8_BLOCK]);
    assert_true(decoded[VALUES] == 5);
    assert_int_equal(report.refused_blocks, 0);
}

/* ---- what all formats have in common ---- */

TEST(every_format_has_its_name_and_bound)
{
    static const char *const names[XB_FORMATS] = {"fp16", "bf16", "int8", "fp8", "for", "lz4"};
    for (int i = 0; i < XB_FORMATS; i++) {
        assert_string_equal(xb_format_name((enum xb_format)i), names[i]);
        assert_int_equal(xb_format_is_lossy((enum xb_format)i), i < 4);
        assert_true(strlen(xb_encoder_name((enum xb_format)i)) > 0);
    }
    assert_string_equal(xb_encoder_name(XB_FORMAT_FOR), xb_for_usable(0)->name);
    assert_int_equal(xb_encoded_bound(XB_FORMAT_FOR, 100000), xb_for_bound(100000));
    assert_int_equal(xb_encoded_bound(XB_FORMAT_LZ4, 100000), xb_lz4_bound(100000));
}

/* Small integers, which every format holds. For int8 a block of 64 values begins with 127, so that
 * its scale is 1; fp8 has no 127 and needs none. */
static float value(enum xb_format format, uint64_t i)
{
    return i % XB_INT8_BLOCK == 0 && format != XB_FORMAT_FP8 ? 127.0f : (float)(i % 8);
}

static void check_round_trip(enum xb_format format, uint64_t values)
{
    uint64_t bytes = values * sizeof(float);
    uint64_t bound = xb_encoded_bound(format, bytes);
    float *source = aligned_bytes(bytes);
    float *decoded = aligned_bytes(bytes);
    unsigned char *encoded = aligned_bytes(bound);
    unsigned char *plain = aligned_bytes(bound);
    for (uint64_t i = 0; i < values; i++)
        source[i] = value(format, i);
    uint64_t length = xb_encode(format, source, bytes, encoded);
    assert_true(xb_format_is_lossy(format) ? length == bound : length <= bound);
    assert_int_equal(xb_encode_plainly(format, source, bytes, plain), length);
    assert_memory_equal(encoded, plain, length);
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    xb_decode(format, encoded, length, decoded, bytes, 0, &report);
    assert_int_equal(report.refused_blocks, 0);
    assert_memory_equal(decoded, source, bytes);
    free(plain);
    free(encoded);
    free(decoded);
    free(source);
}

TEST(every_format_restores_what_it_can_hold)
{
    static const uint64_t lengths[] = {1, 63, 64, 1000, 1024, 40000};
    for (int i = 0; i < XB_FORMATS; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
            check_round_trip((enum xb_format)i, lengths[j]);
}

TEST(a_chunk_of_a_wrong_length_is_refused)
{
    static _Alignas(XB_FORMAT_ALIGNMENT) float source[VALUES], decoded[VALUES];
    for (int i = 0; i < XB_FORMATS; i++) {
        enum xb_format format = (enum xb_format)i;
        bool is_lossy = xb_format_is_lossy(format); /* then each byte too many is one */
        unsigned char *encoded = aligned_bytes(xb_encoded_bound(format, sizeof source) + 1);
        uint64_t right = xb_encode(format, source, sizeof source, encoded);
        struct xb_decode_report report = {0, XB_NONE_REFUSED};
        xb_decode(format, encoded, right, decoded, sizeof decoded, 0, &report);
        assert_int_equal(report.refused_blocks, 0);
        xb_decode(format, encoded, right - 1, decoded, sizeof decoded, 65536, &report);
        assert_int_equal(report.refused_blocks, 1);
        if (is_lossy)
            xb_decode(format, encoded, right + 1, decoded, sizeof decoded, 69632, &report);
        xb_decode(format, encoded, 0, decoded, sizeof decoded, 73728, &report);
        assert_int_equal(report.refused_blocks, is_lossy ? 3 : 2);
        assert_int_equal(report.first_refused, 65536);
        free(encoded);
    }
}
