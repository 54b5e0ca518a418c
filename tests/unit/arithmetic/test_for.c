/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The format `for`: what is encoded comes back, by every way to encode it the bytes are those that
 * docs/formats.md tells, and what is damaged is refused or restored inside the target. */
#include "codec_memory.h"
#include "codecs/for_decode.h"
#include "codecs/formats.h"

/* ---- a decoder by the document, bit by bit ---- */

/* Whether a block is valid; value `i` of it is then *value. */
static bool value_by_document(const unsigned char *chunk, uint64_t encoded_bytes, uint64_t bytes,
                              uint64_t block, unsigned i, uint32_t *value)
{
    uint64_t blocks = (bytes + 4095) / 4096;
    uint64_t directory = (blocks * 8 + 127) / 128 * 128;
    if (directory > encoded_bytes)
        return false;
    uint32_t reference = word_at(chunk + 8 * block), place = word_at(chunk + 8 * block + 4);
    unsigned bits = place & 63;
    uint64_t begin = directory + (uint64_t)(place >> 6) * 128;
    if (bits > 32 || begin + 128 * bits > encoded_bytes)
        return false;
    *value = 0;
    for (unsigned k = 0; k < bits; k++) {
        unsigned bit = i / 32 * bits + k;
        uint32_t word = word_at(chunk + begin + 4 * (bit / 32 * 32 + i % 32));
        *value |= (word >> bit % 32 & 1) << k;
    }
    *value += reference;
    return true;
}

/* Decodes, and compares all that it does with what the document says. */
static void check_decoding(const unsigned char *chunk, uint64_t encoded_bytes, uint64_t bytes)
{
    struct target target = target_open((size_t)bytes);
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    xb_for_decode(chunk, encoded_bytes, target.bytes, bytes, 1 << 20, &report);
    uint64_t refused = 0, first = XB_NONE_REFUSED;
    for (uint64_t at = 0; at < bytes; at++) {
        uint64_t block = at / 4096;
        uint32_t value;
        if (value_by_document(chunk, encoded_bytes, bytes, block, (unsigned)(at % 4096 / 4),
                              &value)) {
            assert_int_equal(value >> (8 * (at % 4)) & 0xFF, target.bytes[at]);
            continue;
        }
        assert_int_equal(GUARD_BYTE, target.bytes[at]); /* nothing is written */
        refused += at % 4096 == 0;
        if (first == XB_NONE_REFUSED)
            first = at + (1 << 20);
    }
    assert_int_equal(refused, report.refused_blocks);
    assert_true(first == report.first_refused);
    target_close(&target);
}

/* ---- encoding ---- */

/* Encodes by every way and decodes. The caller frees what it became. */
static unsigned char *encode(const void *source, uint64_t bytes, uint64_t *encoded_bytes)
{
    const struct xb_for_way *way;
    uint64_t bound = xb_for_bound(bytes);
    unsigned char *encoded = encode_by(&(struct coder){xb_for_bound, xb_for_encode, xb_for_decode},
                                       source, bytes, encoded_bytes);
    unsigned char *copy = aligned_copy(source, (size_t)bytes);
    for (unsigned number = 0; (way = xb_for_usable(number)) != NULL; number++) {
        unsigned char *again = aligned_bytes((size_t)bound);
        memset(again, 0x5A, (size_t)bound);
        assert_int_equal(*encoded_bytes, way->encode(copy, bytes, again));
        assert_memory_equal(encoded, again, (size_t)*encoded_bytes);
        free(again);
    }
    free(copy);
    return encoded;
}

static void check_round_trip(const void *source, uint64_t bytes)
{
    uint64_t encoded_bytes;
    free(encode(source, bytes, &encoded_bytes));
}

TEST(sizes_come_back)
{
    static uint32_t values[17 * 1024];
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof values / 4; i++)
        values[i] = made_number(&random) % 1000 + 70000;
    for (uint64_t bytes = 1; bytes <= 5000; bytes += bytes < 40 ? 1 : 37)
        check_round_trip(values, bytes);
    for (uint64_t blocks = 1; blocks <= 8; blocks++)
        for (uint64_t tail = 0; tail < 9; tail++)
            check_round_trip(values, blocks * 4096 + tail - 4);
    /* With 16 blocks the directory fills its line, with 17 it takes two. */
    for (uint64_t blocks = 16; blocks <= 17; blocks++) {
        uint64_t encoded_bytes;
        unsigned char *encoded = encode(values, blocks * 4096, &encoded_bytes);
        assert_int_equal((blocks - 15) * 128 + blocks * 10 * 128, encoded_bytes);
        check_decoding(encoded, encoded_bytes, blocks * 4096);
        free(encoded);
    }
}

TEST(widths_come_back)
{
    static uint32_t values[1024];
    static const uint32_t references[] = {0, 1, 0x7FFFFFFF, 0xFFFFFFFF};
    for (unsigned bits = 0; bits <= 32; bits++) {
        uint32_t most = bits == 0 ? 0 : UINT32_MAX >> (32 - bits);
        for (size_t k = 0; k < sizeof references / 4; k++) {
            uint64_t random = bits + 1, encoded_bytes;
            uint32_t reference =
                references[k] > UINT32_MAX - most ? UINT32_MAX - most : references[k];
            for (size_t i = 0; i < 1024; i++)
                values[i] = reference + (made_number(&random) & most);
            values[100] = reference;
            values[611] = reference + most;
            unsigned char *encoded = encode(values, sizeof values, &encoded_bytes);
            assert_int_equal(128 + 128 * bits, encoded_bytes);
            assert_int_equal(reference, word_at(encoded));
            assert_int_equal(bits, word_at(encoded + 4));
            check_decoding(encoded, encoded_bytes, sizeof values);
            free(encoded);
        }
    }
}

/* The example of docs/formats.md: 35 values, of which the last three are in a second row. */
TEST(bytes_are_those_of_the_document)
{
    uint32_t values[35];
    for (uint32_t i = 0; i < 32; i++)
        values[i] = 1000 + i % 4;
    values[32] = 1003;
    values[33] = 1000;
    values[34] = 1005;
    unsigned char expected[128 + 3 * 128] = {0xE8, 0x03, 0, 0, 0x03, 0, 0, 0};
    for (size_t i = 0; i < 32; i++)
        expected[128 + 4 * i] = i % 4;
    expected[128] = 0 | 3 << 3;
    expected[128 + 4] = 1 | 0 << 3;
    expected[128 + 8] = 2 | 5 << 3;
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(values, sizeof values, &encoded_bytes);
    assert_int_equal(sizeof expected, encoded_bytes);
    assert_memory_equal(expected, encoded, sizeof expected);
    free(encoded);
}

TEST(values_may_begin_in_one_word_and_end_in_the_next)
{
    uint32_t values[1024] = {0};
    values[2 * 32 + 5] = 0x7FF; /* 11 bits, 22 to 32 of lane 5 */
    unsigned char expected[128 + 11 * 128] = {0, 0, 0, 0, 11};
    put_word(expected + 128 + 4 * 5, 0xFFC00000);
    put_word(expected + 128 + 4 * (32 + 5), 1);
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(values, sizeof values, &encoded_bytes);
    assert_int_equal(sizeof expected, encoded_bytes);
    assert_memory_equal(expected, encoded, sizeof expected);
    free(encoded);
}

TEST(padding_makes_no_block_wider)
{
    static const unsigned char values[] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(values, 8, &encoded_bytes);
    assert_int_equal(128 + 128, encoded_bytes); /* one bit */
    free(encoded);
    encoded = encode(values, 4, &encoded_bytes);
    assert_int_equal(128, encoded_bytes); /* no bits */
    assert_int_equal(0xFFFFFFFE, word_at(encoded));
    free(encoded);
    encoded = encode(values + 4, 3, &encoded_bytes); /* the missing byte is 0 */
    assert_int_equal(128, encoded_bytes);
    assert_int_equal(0x00FFFFFF, word_at(encoded));
    free(encoded);
}

TEST(what_takes_32_bits_is_stored)
{
    static uint32_t values[2048];
    for (uint32_t i = 0; i < 2048; i++)
        values[i] = i < 1024 ? 5 + i * 4194308u : 9;
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(values, sizeof values, &encoded_bytes);
    assert_int_equal(128 + 4096, encoded_bytes);
    assert_int_equal(0, word_at(encoded));
    assert_int_equal(32, word_at(encoded + 4));
    assert_memory_equal(values, encoded + 128, 4096);
    assert_int_equal(9, word_at(encoded + 8));
    assert_int_equal(32 << 6, word_at(encoded + 12)); /* behind 32 units, no bits */
    free(encoded);
}

TEST(the_encoder_has_a_name)
{
    unsigned last = 0;
    while (xb_for_usable(last + 1) != NULL)
        last++;
    assert_string_equal("plain C", xb_for_usable(last)->name);
    assert_ptr_equal(xb_for_encode_plainly, xb_for_usable(last)->encode);
}

/* ---- damage ---- */

/* Blocks of 3, 1 and 2 bits, the last one not whole. */
static unsigned char *three_blocks(uint64_t *bytes, uint64_t *encoded_bytes)
{
    static uint32_t values[2 * 1024 + 10];
    for (uint32_t i = 0; i < sizeof values / 4; i++)
        values[i] = i < 1024 ? 500 + i % 8 : i < 2048 ? i % 2 : 77 + i % 3;
    *bytes = sizeof values - 1;
    unsigned char *encoded = encode(values, *bytes, encoded_bytes);
    assert_int_equal(128 + (3 + 1 + 2) * 128, *encoded_bytes);
    return encoded;
}

/* Every bit of the last block's entry, and bytes of all. */
TEST(every_flipped_byte_is_refused_or_harmless)
{
    uint64_t bytes, encoded_bytes;
    unsigned char *encoded = three_blocks(&bytes, &encoded_bytes);
    for (size_t at = 0; at < encoded_bytes; at += at < 24 ? 1 : 5)
        for (unsigned flip = 1; flip < 256; flip += at < 16 || at >= 24 ? 254 : at < 20 ? 85 : 1) {
            encoded[at] ^= (unsigned char)flip;
            check_decoding(encoded, encoded_bytes, bytes);
            encoded[at] ^= (unsigned char)flip;
        }
    free(encoded);
}

TEST(truncated_chunks_are_refused)
{
    uint64_t bytes, encoded_bytes;
    unsigned char *encoded = three_blocks(&bytes, &encoded_bytes);
    for (uint64_t length = 0; length < encoded_bytes; length += length < 130 ? 1 : 7) {
        unsigned char *truncated = aligned_copy(encoded, (size_t)length);
        check_decoding(truncated, length, bytes);
        free(truncated);
    }
    free(encoded);
}

TEST(absurd_directories_are_refused)
{
    static const struct {
        uint32_t place;
        bool valid;
    } rows[] = {
        {0, true},           {6 << 6, true}, /* at the end, with no bits */
        {7 << 6, false},     {6, true},           {7, false},          {5 << 6 | 1, true},
        {5 << 6 | 2, false}, {0xFFFFFFFF, false}, {0xFFFFFFC0, false}, {0xFFFFFFC0 | 32, false},
        {33, false},         {63, false}};
    uint64_t bytes, encoded_bytes;
    unsigned char *encoded = three_blocks(&bytes, &encoded_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_word(encoded + 8 + 4, rows[i].place);
        struct target target = target_open((size_t)bytes);
        struct xb_decode_report report = {3, 5000};
        xb_for_decode(encoded, encoded_bytes, target.bytes, bytes, 0, &report);
        /* It adds to the report. */
        assert_int_equal(rows[i].valid ? 3 : 4, report.refused_blocks);
        assert_int_equal(rows[i].valid ? 5000 : 4096, report.first_refused);
        target_close(&target);
        check_decoding(encoded, encoded_bytes, bytes);
    }
    free(encoded);
}

/* More bits than a value has, and all the words that they would take. */
TEST(too_many_bits_are_refused)
{
    static unsigned char encoded[128 + 63 * 128] __attribute__((aligned(128)));
    for (uint32_t bits = 32; bits < 64; bits++) {
        put_word(encoded + 4, bits);
        check_decoding(encoded, sizeof encoded, 4096);
    }
}

TEST(blocks_that_are_not_there_are_refused)
{
    uint64_t bytes, encoded_bytes;
    unsigned char *encoded = three_blocks(&bytes, &encoded_bytes);
    struct target target = target_open((size_t)bytes);
    assert_int_equal(
        0, xb_for_decode_lane(encoded, encoded_bytes, target.bytes, bytes, UINT64_MAX, 0));
    assert_int_equal(0, xb_for_decode_lane(encoded, encoded_bytes, target.bytes, bytes, 3, 31));
    assert_int_equal(1, xb_for_decode_lane(encoded, encoded_bytes, target.bytes, bytes, 2, 31));
    target_close(&target);
    free(encoded);
}
