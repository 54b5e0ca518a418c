/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "codecs/codec.h"
#include "codecs/formats.h"

#include "testing.h"

/* What all formats have in common. What is special to one is in test_narrow.c, test_for.c,
 * test_lz4.c. */

static void *allocate(uint64_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, XB_FORMAT_ALIGNMENT, bytes) != 0)
        fail_msg("no memory");
    return memory;
}

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
    float *source = allocate(bytes);
    float *decoded = allocate(bytes);
    unsigned char *encoded = allocate(bound);
    unsigned char *plain = allocate(bound);
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

TEST(every_format_refuses_a_chunk_cut_short)
{
    enum { BYTES = 4096 };
    static _Alignas(XB_FORMAT_ALIGNMENT) float source[BYTES / 4], decoded[BYTES / 4];
    for (int i = 0; i < XB_FORMATS; i++) {
        enum xb_format format = (enum xb_format)i;
        unsigned char *encoded = allocate(xb_encoded_bound(format, BYTES));
        uint64_t length = xb_encode(format, source, BYTES, encoded);
        struct xb_decode_report report = {0, XB_NONE_REFUSED};
        xb_decode(format, encoded, length - 1, decoded, BYTES, 65536, &report);
        assert_int_equal(report.refused_blocks, 1);
        assert_int_equal(report.first_refused, 65536);
        free(encoded);
    }
}
