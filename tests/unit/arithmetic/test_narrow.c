/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "codec_memory.h"
#include "codecs/codec.h"
#include "codecs/formats.h"
#include "codecs/widen.h"
#include "random.h"

#include <math.h>

/*
 * A test of one way takes it as its state. That plain C rounds right is shown at every point where
 * the result may change; `bench/narrow --prove` shows that it changes nowhere else, and compares
 * all ways for all 2^32 values.
 */

static float float_of(uint32_t bits)
{
    union xb_float_bits both = {.bits = bits};
    return both.value;
}

static uint32_t bits_of(float value)
{
    union xb_float_bits both = {.value = value};
    return both.bits;
}

/* Skips the test where this CPU lacks its way. */
static const struct xb_narrow_way *way_of(void **state)
{
    const struct xb_narrow_way *way = *state;
    for (unsigned i = 0; xb_narrow_usable(i) != NULL; i++)
        if (xb_narrow_usable(i) == way)
            return way;
    print_message("this CPU has no %s\n", way->name);
    skip();
    return NULL;
}

static const struct small {
    enum xb_format format;
    unsigned sign;
    unsigned finite; /* the code of its largest finite value */
    unsigned quiet;  /* the bit of a quiet NaN; 0: all NaNs are one */
    unsigned (*widen)(unsigned code);
    double after; /* what would come behind the largest value */
} smalls[] = {
    {XB_FORMAT_FP16, 0x8000, 0x7BFF, 0x200, xb_widen_fp16, 65536},
    {XB_FORMAT_BF16, 0x8000, 0x7F7F, 0x40, xb_widen_bf16, 0x1p128},
    {XB_FORMAT_FP8, 0x80, 0x7E, 0, xb_widen_fp8, 480},
};

static unsigned code_at(const struct small *small, const void *made, uint64_t index)
{
    if (small->format == XB_FORMAT_FP8)
        return ((const uint8_t *)made)[index];
    return ((const uint16_t *)made)[index];
}

static void what_is_widened_narrows_back(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    float *source = aligned_bytes(0x10000 * sizeof *source);
    void *made = aligned_bytes(0x10000 * sizeof(uint16_t));
    for (size_t i = 0; i < COUNT_OF(smalls); i++) {
        const struct small *small = &smalls[i];
        unsigned codes = 2 * small->sign;
        for (unsigned code = 0; code < codes; code++)
            source[code] = float_of(small->widen(code));
        way->narrow[small->format](source, codes, made);
        for (unsigned code = 0; code < codes; code++) {
            unsigned expected = isnan(source[code]) ? code | small->quiet : code;
            if (code_at(small, made, code) != expected)
                fail_msg("%s %04x came back as %04x", xb_format_name(small->format), expected,
                         code_at(small, made, code));
        }
    }
    free(made);
    free(source);
}

static double value_of(const struct small *small, unsigned code)
{
    if (code > small->finite)
        return small->after;
    return (double)float_of(small->widen(code));
}

/* The nearer of two neighbours; the even one if both are as near. */
static unsigned nearest_of(const struct small *small, unsigned below, double value)
{
    double down = value - value_of(small, below);
    double up = value_of(small, below + 1) - value;
    assert_true(down >= 0 && up >= 0);
    unsigned nearest = down < up || (down == up && below % 2 == 0) ? below : below + 1;
    if (small->format == XB_FORMAT_FP8 && nearest > small->finite)
        nearest = small->finite; /* it saturates */
    return nearest;
}

/* In the middle of two neighbours, and one float32 to both sides of it. */
static void between_neighbours_the_nearest_is_taken(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    uint64_t most = UINT64_C(6) * 0x8000;
    float *source = aligned_bytes(most * sizeof *source);
    void *made = aligned_bytes(most * sizeof(uint16_t));
    for (size_t i = 0; i < COUNT_OF(smalls); i++) {
        const struct small *small = &smalls[i];
        uint64_t count = 0;
        for (unsigned code = 0; code <= small->finite; code++) {
            double middle = (value_of(small, code) + value_of(small, code + 1)) / 2;
            uint32_t bits = bits_of((float)middle);
            assert_true((double)float_of(bits) == middle);
            for (int sign = 0; sign < 2; sign++)
                for (int step = -1; step <= 1; step++)
                    source[count++] = float_of((bits + (uint32_t)step) | (uint32_t)sign << 31);
        }
        way->narrow[small->format](source, count, made);
        for (uint64_t j = 0; j < count; j++) {
            unsigned expected = nearest_of(small, (unsigned)(j / 6), fabs((double)source[j]));
            if (signbit(source[j]))
                expected |= small->sign;
            if (code_at(small, made, j) != expected)
                fail_msg("%a becomes %s %04x, not %04x", (double)source[j],
                         xb_format_name(small->format), expected, code_at(small, made, j));
        }
    }
    free(made);
    free(source);
}

struct known {
    uint32_t bits;
    uint16_t fp16, bf16;
    uint8_t fp8;
};

static void special_values_are_known(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    static const struct known known[] = {
        {0x00000000, 0x0000, 0x0000, 0x00}, /* 0 */
        {0x80000000, 0x8000, 0x8000, 0x80}, /* -0 */
        {0x3F800000, 0x3C00, 0x3F80, 0x38}, /* 1 */
        {0xC0490FDB, 0xC248, 0xC049, 0xC5}, /* -pi: fp8 has -3.25 */
        {0x00000001, 0x0000, 0x0000, 0x00}, /* the least denormal */
        {0x807FFFFF, 0x8000, 0x8080, 0x80}, /* the largest denormal, negative */
        {0x43E80000, 0x5F40, 0x43E8, 0x7E}, /* 464, in the middle of 448 and what would follow */
        {0x477FEFFF, 0x7BFF, 0x4780, 0x7E}, /* below 65520 */
        {0x477FF000, 0x7C00, 0x4780, 0x7E}, /* 65520: the first that is infinity in fp16 */
        {0x7F7FFFFF, 0x7C00, 0x7F80, 0x7E}, /* the largest */
        {0xFF800000, 0xFC00, 0xFF80, 0xFE}, /* -infinity */
        {0x7F800001, 0x7E00, 0x7FC0, 0x7F}, /* a signalling NaN with nothing in the upper bits */
        {0x7FC00000, 0x7E00, 0x7FC0, 0x7F}, /* the usual NaN */
        {0xFFC12345, 0xFE09, 0xFFC1, 0xFF}, /* NaNs with a payload */
        {0x7FFFFFFF, 0x7FFF, 0x7FFF, 0x7F}, {0xFFBFFFFF, 0xFFFF, 0xFFFF, 0xFF},
    };
    /* Twice: at the beginning, where vectors are whole, and at the end, where they are not. */
    enum { BEFORE = 64, COUNT = BEFORE + COUNT_OF(known) };
    float *source = aligned_bytes(COUNT * sizeof *source);
    void *made = aligned_bytes(COUNT * sizeof(uint16_t));
    for (size_t i = 0; i < COUNT; i++)
        source[i] = float_of(known[i % BEFORE % COUNT_OF(known)].bits);
    for (size_t i = 0; i < COUNT_OF(smalls); i++) {
        way->narrow[smalls[i].format](source, COUNT, made);
        for (size_t j = 0; j < COUNT; j++) {
            const struct known *row = &known[j % BEFORE % COUNT_OF(known)];
            const unsigned expected[] = {row->fp16, row->bf16, row->fp8};
            if (code_at(&smalls[i], made, j) != expected[i])
                fail_msg("%08x becomes %s %04x, not %04x", row->bits,
                         xb_format_name(smalls[i].format), expected[i],
                         code_at(&smalls[i], made, j));
        }
    }
    free(made);
    free(source);
}

/* That a way makes what plain C makes, in all formats, and writes nothing behind it. */
static void same_as_plain(const struct xb_narrow_way *way, const float *source, uint64_t values)
{
    const uint64_t guard = 64;
    for (int i = 0; i < XB_NARROW_FORMATS; i++) {
        enum xb_format format = (enum xb_format)i;
        uint64_t bytes = xb_narrow_bytes(format, values);
        unsigned char *made = aligned_bytes(bytes + guard);
        unsigned char *expected = aligned_bytes(bytes + guard);
        memset(made, 0xA5, bytes + guard);
        memset(expected, 0xA5, bytes + guard);
        way->narrow[i](source, values, made);
        assert_int_equal(xb_encode_plainly(format, source, values * sizeof *source, expected),
                         bytes);
        for (uint64_t j = 0; j < bytes + guard; j++)
            if (made[j] != expected[j])
                fail_msg("%s of %llu values: byte %llu is %02x, not %02x", xb_format_name(format),
                         (unsigned long long)values, (unsigned long long)j, expected[j], made[j]);
        free(expected);
        free(made);
    }
}

/* Fractions with one bit, with all bits below one, around both, and their complements. */
static uint32_t fraction(unsigned number)
{
    uint32_t bit = 1u << number / 6;
    const uint32_t near[] = {bit - 1, bit, bit + 1, bit | bit << 1, bit << 1 | 1, ~bit};
    return near[number % 6] & 0x7FFFFFu;
}

static void every_exponent_is_the_same_as_plain(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    enum { FRACTIONS = 6 * 23 };
    uint64_t values = UINT64_C(512) * FRACTIONS;
    float *source = aligned_bytes(values * sizeof *source);
    for (uint64_t i = 0; i < values; i++)
        source[i] = float_of((uint32_t)(i / FRACTIONS) << 23 | fraction((unsigned)(i % FRACTIONS)));
    same_as_plain(way, source, values);
    free(source);
}

static void random_bits_are_the_same_as_plain(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    uint64_t values = (UINT64_C(1) << 16) + 77;
    uint64_t random = 1;
    float *source = aligned_bytes(values * sizeof *source);
    for (uint64_t i = 0; i < values; i++)
        source[i] = float_of((uint32_t)next_bits(&random));
    same_as_plain(way, source, values);
    /* Of one magnitude in a block, so that int8 keeps most of them, and now and then a special. */
    for (uint64_t i = 0; i < values; i++) {
        source[i] = (float)ldexp(2 * uniform(&random) - 1, (int)(i / XB_INT8_BLOCK % 300) - 160);
        if (next_bits(&random) % 500 == 0)
            source[i] = i % 2 == 0 ? INFINITY : NAN;
    }
    same_as_plain(way, source, values);
    free(source);
}

static void every_length_is_the_same_as_plain(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    uint64_t random = 2;
    for (uint64_t values = 0; values <= 200; values++) {
        /* A memory of its own, so that a sanitizer sees what is read behind it. */
        float *source = aligned_bytes(values * sizeof *source);
        for (uint64_t i = 0; i < values; i++)
            source[i] = (float)normal(&random);
        same_as_plain(way, source, values);
        free(source);
    }
}

/* Narrows one chunk as int8 and looks at its scale and its first values. */
static void check_block(const struct xb_narrow_way *way, const float *begin, size_t count,
                        float scale, const signed char *expected)
{
    _Alignas(XB_FORMAT_ALIGNMENT) float source[XB_INT8_BLOCK] = {0};
    _Alignas(XB_FORMAT_ALIGNMENT) signed char made[XB_FORMAT_ALIGNMENT + XB_INT8_BLOCK];
    memcpy(source, begin, count * sizeof *begin);
    way->narrow[XB_FORMAT_INT8](source, XB_INT8_BLOCK, made);
    float made_scale;
    memcpy(&made_scale, made, sizeof made_scale);
    if (made_scale != scale)
        fail_msg("the scale is %a, not %a", (double)scale, (double)made_scale);
    for (size_t i = 0; i < XB_INT8_BLOCK; i++)
        assert_int_equal(made[XB_FORMAT_ALIGNMENT + i], i < count ? expected[i] : 0);
    for (size_t i = sizeof scale; i < XB_FORMAT_ALIGNMENT; i++)
        assert_int_equal(made[i], 0);
}

static void int8_blocks_are_known(void **state)
{
    const struct xb_narrow_way *way = way_of(state);
    /* With 127 as the largest the scale is 1, and what is rounded is the value itself. */
    static const float ties[] = {-127, 126.5f, 0.5f, 1.5f, 2.5f, -0.5f, -2.5f, -3.5f, 0.499f};
    static const signed char tied[] = {-127, 126, 0, 2, 2, 0, -2, -4, 0};
    check_block(way, ties, COUNT_OF(ties), 1, tied);
    static const float specials[] = {INFINITY, -INFINITY, NAN, 2, -1, 1e-30f};
    static const signed char special[] = {127, -127, 0, 127, -64, 0}; /* -63.5: to the even one */
    check_block(way, specials, COUNT_OF(specials), 2.0f / 127, special);
    static const float large[] = {0x1.fffffep127f, -0x1p127f};
    static const signed char largest[] = {127, -64}; /* just above -63.5 of 127, rounded to even */
    check_block(way, large, COUNT_OF(large), 0x1.fffffep127f / 127, largest);
    static const signed char nothing[8] = {0};
    static const float tiny[] = {0x1.fffffep-120f, -0x1p-149f, 0.0f, -0.0f};
    check_block(way, tiny, COUNT_OF(tiny), 0, nothing);
    static const float least[] = {-0x1p-119f, 0x1p-120f};
    static const signed char kept[] = {-127, 64}; /* 63.5 */
    check_block(way, least, COUNT_OF(least), 0x1p-119f / 127, kept);
    static const float endless[] = {INFINITY, NAN, -INFINITY};
    check_block(way, endless, COUNT_OF(endless), 0, nothing);
}

TEST(int8_is_off_by_half_a_step_at_most)
{
    enum { VALUES = 1000 };
    static _Alignas(XB_FORMAT_ALIGNMENT) float source[VALUES], decoded[VALUES];
    static _Alignas(XB_FORMAT_ALIGNMENT) unsigned char made[2 * VALUES];
    uint64_t random = 3;
    for (unsigned i = 0; i < VALUES; i++)
        source[i] = (float)normal(&random);
    uint64_t bytes = xb_encode(XB_FORMAT_INT8, source, sizeof source, made);
    assert_int_equal(bytes, xb_encoded_bound(XB_FORMAT_INT8, sizeof source));
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    xb_decode(XB_FORMAT_INT8, made, bytes, decoded, sizeof decoded, 0, &report);
    assert_int_equal(report.refused_blocks, 0);
    for (unsigned i = 0; i < VALUES; i++) {
        float scale;
        memcpy(&scale, made + i / XB_INT8_BLOCK * sizeof scale, sizeof scale);
        double off = fabs((double)source[i] - (double)decoded[i]);
        assert_true(off <= (double)scale * (0.5 + 1e-4)); /* rounding of the scale itself */
    }
}

TEST(the_fastest_way_is_named_and_used)
{
    for (int i = 0; i < XB_NARROW_FORMATS; i++) {
        enum xb_format format = (enum xb_format)i;
        assert_true(xb_format_is_lossy(format));
        assert_string_equal(xb_encoder_name(format), xb_narrow_usable(0)->name);
    }
    unsigned last = 0;
    while (xb_narrow_usable(last + 1) != NULL)
        last++;
    assert_ptr_equal(xb_narrow_usable(last), &xb_narrow_plain);
}

#define OF_WAY(test)                                                                               \
    {                                                                                              \
#test, test, NULL, NULL, NULL                                                              \
    }

__attribute__((constructor)) static void add_tests_of_ways(void)
{
    static const struct CMUnitTest tests[] = {
        OF_WAY(what_is_widened_narrows_back),
        OF_WAY(special_values_are_known),
        OF_WAY(between_neighbours_the_nearest_is_taken),
        OF_WAY(int8_blocks_are_known),
        OF_WAY(every_length_is_the_same_as_plain),
        OF_WAY(every_exponent_is_the_same_as_plain),
        OF_WAY(random_bits_are_the_same_as_plain),
    };
    const struct xb_narrow_way *ways[] = {
        &xb_narrow_plain,
#ifdef __x86_64__
        &xb_narrow_avx2,
        &xb_narrow_avx512,
#endif
    };
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
            struct CMUnitTest test = tests[i];
            test.initial_state = (void *)ways[w];
            add_test(__FILE__, test);
        }
    }
}
