/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The format `lz4`: what is encoded comes back, the bytes are those that docs/formats.md tells, and
 * what is damaged is refused. test_lz4_blocks.c tests what a block holds. */
#include "codecs/formats.h"
#include "codecs/lz4_decode.h"

#include <lz4.h>

#include "testing.h"

#include "codec_memory.h"

static struct xb_decode_report decode(const unsigned char *encoded, uint64_t encoded_bytes,
                                      struct target *target)
{
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    xb_lz4_decode(encoded, encoded_bytes, target->bytes, target->size, 1000, &report);
    return report;
}

/* Encodes and decodes. The caller frees what it became. */
static unsigned char *encode(const void *source, uint64_t bytes, uint64_t *encoded_bytes)
{
    unsigned char *copy = aligned_copy(source, (size_t)bytes);
    uint64_t bound = xb_lz4_bound(bytes);
    unsigned char *encoded = aligned_bytes((size_t)bound);
    memset(encoded, 0xA5, (size_t)bound);
    *encoded_bytes = xb_lz4_encode(copy, bytes, encoded);
    assert_true(*encoded_bytes <= bound);
    unsigned char *exact = aligned_copy(encoded, (size_t)*encoded_bytes);
    free(encoded);
    struct target target = target_open((size_t)bytes);
    struct xb_decode_report report = decode(exact, *encoded_bytes, &target);
    assert_int_equal(0, report.refused_blocks);
    assert_true(report.first_refused == XB_NONE_REFUSED);
    assert_memory_equal(copy, target.bytes, (size_t)bytes);
    target_close(&target);
    free(copy);
    return exact;
}

TEST(sizes_come_back)
{
    static unsigned char bytes[2 * 65536 + 100];
    for (int text = 0; text < 2; text++) {
        uint64_t encoded_bytes;
        made_bytes(bytes, sizeof bytes, text);
        for (uint64_t size = 1; size <= 5000; size += size < 40 ? 1 : 127)
            free(encode(bytes, size, &encoded_bytes));
        for (uint64_t size = 65536 - 3; size < sizeof bytes;
             size += size % 65536 == 4 ? 65529 : 1) {
            free(encode(bytes, size, &encoded_bytes));
            if (text)
                assert_true(encoded_bytes < size);
            else /* nothing but the directory is added */
                assert_int_equal(128 + size, encoded_bytes);
        }
    }
}

TEST(layout_is_that_of_the_document)
{
    static unsigned char bytes[3 * 65536 + 5], restored[65536];
    made_bytes(bytes, sizeof bytes, true);
    made_bytes(bytes + 65536, 65536, false);
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(bytes, sizeof bytes, &encoded_bytes);
    const uint32_t stored = 0x80000000;
    uint32_t ends[5] = {0};
    for (unsigned i = 0; i < 5; i++)
        ends[i] = word_at(encoded + 4 * i) & ~stored;
    assert_int_equal(0, word_at(encoded)); /* compressed, from the beginning */
    assert_int_equal(ends[1] | stored, word_at(encoded + 4));
    assert_int_equal((ends[1] + 15) / 16 * 16 + 65536, ends[2]);
    assert_int_equal(ends[2], word_at(encoded + 8));
    assert_int_equal(ends[3] | stored, word_at(encoded + 12)); /* five bytes do not get smaller */
    assert_int_equal((ends[3] + 15) / 16 * 16 + 5, ends[4]);
    assert_int_equal(128 + ends[4], encoded_bytes);
    for (unsigned i = 20; i < 128; i++)
        assert_int_equal(0, encoded[i]);
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t at = ends[i]; at % 16 != 0; at++)
            assert_int_equal(0, encoded[128 + at]);
    assert_memory_equal(bytes + 65536, encoded + 128 + (ends[1] + 15) / 16 * 16, 65536);
    /* A compressed block is one that liblz4 restores. */
    assert_int_equal(65536, LZ4_decompress_safe((const char *)encoded + 128, (char *)restored,
                                                (int)ends[1], sizeof restored));
    assert_memory_equal(bytes, restored, sizeof restored);
    free(encoded);
}

/* By the function that kernels call. */
TEST(lanes_share_a_stored_block)
{
    static unsigned char bytes[1003];
    uint64_t encoded_bytes;
    made_bytes(bytes, sizeof bytes, false);
    unsigned char *encoded = encode(bytes, 1003, &encoded_bytes);
    struct target target = target_open(1003);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(
            1, xb_lz4_decode_block(encoded, encoded_bytes, target.bytes, 1003, 0, lane, 32));
    assert_memory_equal(bytes, target.bytes, 1003);
    assert_int_equal(0, xb_lz4_decode_block(encoded, encoded_bytes, target.bytes, 1003, 1, 0, 32));
    target_close(&target);
    free(encoded);
}

TEST(truncated_chunks_are_refused)
{
    static unsigned char bytes[65536 + 300];
    made_bytes(bytes, sizeof bytes, true);
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(bytes, sizeof bytes, &encoded_bytes);
    uint64_t first_end = 128 + word_at(encoded + 4);
    for (uint64_t length = 0; length < encoded_bytes;
         length += length < 130 || length + 5 > first_end ? 1 : 997) {
        unsigned char *truncated = aligned_copy(encoded, (size_t)length);
        struct target target = target_open(sizeof bytes);
        struct xb_decode_report report = decode(truncated, length, &target);
        assert_int_equal(length < first_end ? 2 : 1, report.refused_blocks);
        assert_int_equal(length < first_end ? 1000 : 1000 + 65536, report.first_refused);
        target_close(&target);
        free(truncated);
    }
    free(encoded);
}

/* Of a chunk of two blocks, the second one of three bytes and stored. */
TEST(absurd_directories_are_refused)
{
    const uint32_t stored = 0x80000000;
    static unsigned char bytes[65536 + 3];
    memset(bytes, 'd', sizeof bytes);
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(bytes, sizeof bytes, &encoded_bytes);
    uint32_t end = word_at(encoded + 4) & ~stored, last = word_at(encoded + 8);
    const struct {
        uint32_t entries[3];
        unsigned refused;
    } rows[] = {
        {{0, end | stored, last}, 0},
        {{0, end | stored, last | stored}, 0}, /* nobody looks at the last one's bit */
        {{stored, end | stored, last}, 1},
        {{0, end, last}, 1},
        {{16, end | stored, last}, 1},
        {{0, (end - 1) | stored, last}, 1},
        {{0, (end + 1) | stored, last}, 1},
        {{0, end | stored, last + 1}, 1},
        {{0, end | stored, last - 1}, 1},
        {{0, end | stored, 0}, 1},
        {{0, 0x7FFFFFFF | stored, last}, 2},
        {{0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF}, 2},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, 2},
        {{0, 0, 0}, 2},
        {{stored, stored, stored}, 2},
        {{last, end | stored, 0}, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < 3; k++)
            put_word(encoded + 4 * k, rows[i].entries[k]);
        struct target target = target_open(sizeof bytes);
        struct xb_decode_report report = decode(encoded, encoded_bytes, &target);
        if (report.refused_blocks != rows[i].refused)
            fail_msg("row %zu: %llu refused", i, report.refused_blocks);
        target_close(&target);
    }
    free(encoded);
}

/* What is compressed and did not get smaller is refused: its lengths have no bound. And no encoder
 * makes it: of some bytes liblz4 makes just as many. */
TEST(compressed_blocks_are_smaller)
{
    unsigned char *chunk = aligned_bytes(128 + 5);
    memset(chunk, 0, 128);
    memcpy(chunk + 128,
           "\x40"
           "abcd",
           5);
    put_word(chunk + 4, 5);
    struct target target = target_open(4);
    assert_int_equal(1, decode(chunk, 128 + 5, &target).refused_blocks);
    target_close(&target);
    free(chunk);

    unsigned char bytes[64];
    unsigned as_long = 0;
    made_bytes(bytes, sizeof bytes, false);
    for (size_t match = 4; match < 12; match++) {
        char compressed[128];
        uint64_t encoded_bytes;
        memcpy(bytes + 20, bytes, match);
        int size = (int)(20 + match + 20);
        if (LZ4_compress_default((const char *)bytes, compressed, size, sizeof compressed) != size)
            continue;
        as_long++;
        free(encode(bytes, (uint64_t)size, &encoded_bytes));
        assert_int_equal(128 + size, encoded_bytes);
    }
    assert_true(as_long > 0);
}

/* With 31 blocks the directory fills its line, with 32 it takes two. */
TEST(directories_may_take_several_lines)
{
    unsigned char *bytes = aligned_bytes(32 * 65536);
    memset(bytes, 0, 32 * 65536);
    for (uint64_t blocks = 31; blocks <= 32; blocks++) {
        uint64_t encoded_bytes;
        unsigned char *encoded = encode(bytes, blocks * 65536, &encoded_bytes);
        assert_int_equal((blocks - 30) * 128 + word_at(encoded + 4 * blocks), encoded_bytes);
        free(encoded);
    }
    free(bytes);
}

TEST(reports_are_added_to)
{
    struct target target = target_open(65537);
    unsigned char *encoded = aligned_bytes(0);
    struct xb_decode_report report = {3, 70000};
    xb_lz4_decode(encoded, 0, target.bytes, target.size, 5000, &report);
    assert_int_equal(5, report.refused_blocks);
    assert_int_equal(5000, report.first_refused);
    xb_lz4_decode(encoded, 0, target.bytes, target.size, 6000, &report);
    assert_int_equal(5000, report.first_refused);
    free(encoded);
    target_close(&target);
}
