/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The format `lz4`: what is encoded comes back, the bytes are those that docs/formats.md tells, and
 * what is damaged is refused. Streams are written by hand where liblz4 would not make them. */
#include "codecs/lz4.h"
#include "codecs/lz4_decode.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec_memory.h"

/* ---- a decoder by the document, one byte at a time ---- */

static bool length_by_document(const unsigned char **in, const unsigned char *end, size_t *length)
{
    for (unsigned char more = *length == 15 ? 255 : 0; more == 255; *length += more) {
        if (*in == end)
            return false;
        more = *(*in)++;
    }
    return true;
}

/* Whether a block is valid and restores exactly `size` bytes. */
static bool by_document(const unsigned char *in, size_t length, unsigned char *out, size_t size)
{
    const unsigned char *end = in + length;
    size_t done = 0;
    while (in < end) {
        size_t literals = *in >> 4, match = *in & 15;
        in++;
        if (!length_by_document(&in, end, &literals) || literals > (size_t)(end - in) ||
            literals > size - done)
            return false;
        for (; literals > 0; literals--)
            out[done++] = *in++;
        if (in == end)
            return done == size;
        if (end - in < 2)
            return false;
        size_t offset = (size_t)in[0] | (size_t)in[1] << 8;
        in += 2;
        if (!length_by_document(&in, end, &match) || offset == 0 || offset > done ||
            match + 4 > size - done)
            return false;
        for (match += 4; match > 0; match--, done++)
            out[done] = out[done - offset];
    }
    return false;
}

/* ---- decoding by several lanes ---- */

/*
 * A GPU's lanes go through a block next to each other. Here each goes through all of it, one after
 * the other, so a lane may read what a later one has not written yet. They do so again until
 * nothing changes: then each byte was written by the lane that has to, from bytes that are right.
 */
static int decompress_by_lanes(const unsigned char *in, size_t length, struct target *target,
                               unsigned lanes)
{
    unsigned char *before = aligned_bytes(target->size);
    int valid;
    do {
        memcpy(before, target->bytes, target->size);
        valid = xb_lz4_decompress(in, (unsigned)length, target->bytes, (unsigned)target->size, 0,
                                  lanes);
        for (unsigned lane = 1; lane < lanes; lane++)
            assert_int_equal(valid, xb_lz4_decompress(in, (unsigned)length, target->bytes,
                                                      (unsigned)target->size, lane, lanes));
    } while (lanes > 1 && memcmp(before, target->bytes, target->size) != 0);
    free(before);
    return valid;
}

static const unsigned lane_counts[] = {1, 5, 16, 32, 64};
#define LANE_COUNTS (sizeof lane_counts / sizeof *lane_counts)

/* Decodes a block, from exactly its memory, by several numbers of lanes. All agree with the
 * document. Returns whether it is valid. */
static bool check_block(const unsigned char *block, size_t length, size_t size)
{
    unsigned char *in = aligned_copy(block, length);
    unsigned char *expected = aligned_bytes(size);
    bool valid = by_document(in, length, expected, size);
    for (size_t i = 0; i < LANE_COUNTS; i++) {
        struct target target = target_open(size);
        assert_int_equal(valid, decompress_by_lanes(in, length, &target, lane_counts[i]));
        if (valid)
            assert_memory_equal(expected, target.bytes, size);
        target_close(&target);
    }
    free(expected);
    free(in);
    return valid;
}

/* ---- streams by hand ---- */

struct stream {
    unsigned char bytes[70000];
    size_t length, size; /* here, and of what it restores */
};

static void put_length(struct stream *stream, size_t length)
{
    if (length < 15)
        return;
    for (length -= 15; length >= 255; length -= 255)
        stream->bytes[stream->length++] = 255;
    stream->bytes[stream->length++] = (unsigned char)length;
}

/* A sequence; without a match (0) it is the last one. */
static void put(struct stream *stream, size_t literals, size_t offset, size_t match)
{
    size_t in_token = match == 0 ? 0 : match - 4;
    stream->bytes[stream->length++] =
        (unsigned char)((literals < 15 ? literals : 15) << 4 | (in_token < 15 ? in_token : 15));
    put_length(stream, literals);
    for (size_t i = 0; i < literals; i++)
        stream->bytes[stream->length++] = (unsigned char)(stream->size + i * 7 + 1);
    stream->size += literals + match;
    if (match == 0)
        return;
    stream->bytes[stream->length++] = (unsigned char)offset;
    stream->bytes[stream->length++] = (unsigned char)(offset >> 8);
    put_length(stream, in_token);
}

static bool check_stream(const struct stream *stream)
{
    return check_block(stream->bytes, stream->length, stream->size);
}

static void matches_may_overlap(void **state)
{
    (void)state;
    for (size_t offset = 1; offset <= 40; offset++)
        for (size_t match = 4; match <= 300; match += match < 45 ? 1 : 51) {
            struct stream stream = {.length = 0};
            put(&stream, offset, offset, match);
            put(&stream, 3, offset + 2, 5); /* it reads the end of the one before */
            put(&stream, 1, 0, 0);
            assert_true(check_stream(&stream));
        }
}

static void runs_may_be_long(void **state)
{
    (void)state;
    static const size_t lengths[] = {14,  15,       16,       17,        269,  270,
                                     271, 15 + 510, 15 + 511, 15 + 1020, 20000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            struct stream stream = {.length = 0};
            put(&stream, lengths[i], 13, lengths[k] + 4);
            put(&stream, 0, lengths[k], 4);
            put(&stream, lengths[k], 0, 0);
            assert_true(check_stream(&stream));
        }
}

/* Each reads what the one before it wrote. */
static void short_sequences_follow_each_other(void **state)
{
    (void)state;
    struct stream stream = {.length = 0};
    uint64_t random = 1;
    put(&stream, 14, 14, 18);
    for (unsigned i = 0; i < 150; i++) {
        size_t literals = made_number(&random) % 15;
        size_t most = stream.size + literals < 60 ? stream.size + literals : 60;
        put(&stream, literals, 1 + made_number(&random) % most, 4 + made_number(&random) % 17);
    }
    put(&stream, 5, 0, 0);
    assert_true(check_stream(&stream));
}

/* The example of docs/formats.md. */
static const unsigned char example[] = {0x35, 'a', 'b', 'c', 3, 0, 0x20, 'd', 'e'};
#define EXAMPLE_SIZE 14 /* "abc", nine more of them, "de" */

static void example_is_restored(void **state)
{
    (void)state;
    struct target target = target_open(EXAMPLE_SIZE);
    assert_true(decompress_by_lanes(example, sizeof example, &target, 32));
    assert_memory_equal("abcabcabcabcde", target.bytes, EXAMPLE_SIZE);
    target_close(&target);
    assert_true(check_block(example, sizeof example, EXAMPLE_SIZE));
}

static void what_is_no_block_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        unsigned char bytes[32];
        size_t length, size;
    } rows[] = {
        {"nothing", {0}, 0, 4},
        {"no literals where there is room", {0}, 1, 4},
        {"literals beyond the input", {0x50, 1, 2, 3, 4}, 5, 5},
        {"literals beyond the output", {0x50, 1, 2, 3, 4, 5}, 6, 4},
        {"too short", {0x50, 1, 2, 3, 4, 5}, 6, 6},
        {"a length that ends", {0xF0, 255, 255}, 3, 600},
        {"literals that are missing", {0xF0, 255, 255, 0}, 4, 525},
        {"half an offset", {0x10, 1, 1}, 3, 5},
        {"no last literals", {0x10, 1, 1, 0}, 4, 5},
        {"offset 0", {0x10, 1, 0, 0, 0x10, 9}, 6, 6},
        {"offset 0 in a long sequence", {0x1F, 1, 0, 0, 0, 0x10, 9}, 7, 21},
        {"before the block", {0x10, 1, 2, 0, 0x10, 9}, 6, 6},
        {"far before the block", {0x10, 1, 0xFF, 0xFF, 0x10, 9}, 6, 6},
        {"far before the block in a long sequence", {0x1F, 1, 0xFF, 0xFF, 0, 0x10, 9}, 7, 21},
        {"a match beyond the output", {0x14, 1, 1, 0, 0x10, 9}, 6, 6},
        {"a long match beyond the output", {0x1F, 1, 1, 0, 255, 255, 9, 0x10, 9}, 9, 21},
        {"a match whose length ends", {0x1F, 1, 1, 0, 255}, 5, 280},
        {"bytes behind the end", {0x10, 1, 1, 0, 0x10, 9, 0}, 7, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (check_block(rows[i].bytes, rows[i].length, rows[i].size))
            fail_msg("not refused: %s", rows[i].why);
}

static void damaged_blocks_are_as_the_document_says(void **state)
{
    (void)state;
    struct stream stream = {.length = 0};
    put(&stream, 4, 3, 9);
    put(&stream, 17, 20, 21);
    put(&stream, 2, 1, 30);
    put(&stream, 0, 44, 4);
    put(&stream, 6, 0, 0);
    assert_true(check_stream(&stream));
    for (size_t at = 0; at < stream.length; at++) {
        assert_false(check_block(stream.bytes, at, stream.size)); /* truncated */
        for (unsigned flip = 1; flip < 256; flip++) {
            stream.bytes[at] ^= (unsigned char)flip;
            (void)check_stream(&stream);
            stream.bytes[at] ^= (unsigned char)flip;
        }
    }
}

/* ---- chunks ---- */

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void put_word(unsigned char *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
}

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

/* Words, which LZ4 makes smaller, or bytes that it does not. */
static void make(unsigned char *bytes, size_t count, bool text)
{
    uint64_t random = 7;
    static const char *const words[] = {"what ", "is ", "encoded ", "comes ", "back, ", "always "};
    for (size_t at = 0; at < count;) {
        const char *word = words[made_number(&random) % 6];
        for (; text && *word != '\0' && at < count; word++)
            bytes[at++] = (unsigned char)*word;
        if (at < count) /* so that it is never quite the same */
            bytes[at++] = (unsigned char)(made_number(&random) >> (text ? 29 : 0));
    }
}

static void sizes_come_back(void **state)
{
    (void)state;
    static unsigned char bytes[2 * 65536 + 100];
    for (int text = 0; text < 2; text++) {
        uint64_t encoded_bytes;
        make(bytes, sizeof bytes, text);
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

static void layout_is_that_of_the_document(void **state)
{
    (void)state;
    static unsigned char bytes[3 * 65536 + 5], restored[65536];
    make(bytes, sizeof bytes, true);
    make(bytes + 65536, 65536, false);
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

/* What liblz4 makes, and not only streams by hand. */
static void lanes_share_a_block(void **state)
{
    (void)state;
    static unsigned char bytes[1500];
    make(bytes, sizeof bytes, true);
    uint64_t encoded_bytes;
    unsigned char *encoded = encode(bytes, sizeof bytes, &encoded_bytes);
    assert_true(check_block(encoded + 128, (size_t)encoded_bytes - 128, sizeof bytes));
    free(encoded);
    /* A stored one, by the function that kernels call. */
    make(bytes, sizeof bytes, false);
    encoded = encode(bytes, 1003, &encoded_bytes);
    struct target target = target_open(1003);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(
            1, xb_lz4_decode_block(encoded, encoded_bytes, target.bytes, 1003, 0, lane, 32));
    assert_memory_equal(bytes, target.bytes, 1003);
    assert_int_equal(0, xb_lz4_decode_block(encoded, encoded_bytes, target.bytes, 1003, 1, 0, 32));
    target_close(&target);
    free(encoded);
}

static void truncated_chunks_are_refused(void **state)
{
    (void)state;
    static unsigned char bytes[65536 + 300];
    make(bytes, sizeof bytes, true);
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

/* Of a chunk of two blocks: the first one is the document's example and more of the letter d, the
 * second one stored. */
static void absurd_directories_are_refused(void **state)
{
    (void)state;
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

static void reports_are_added_to(void **state)
{
    (void)state;
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_may_overlap),
        cmocka_unit_test(runs_may_be_long),
        cmocka_unit_test(short_sequences_follow_each_other),
        cmocka_unit_test(example_is_restored),
        cmocka_unit_test(what_is_no_block_is_refused),
        cmocka_unit_test(damaged_blocks_are_as_the_document_says),
        cmocka_unit_test(sizes_come_back),
        cmocka_unit_test(layout_is_that_of_the_document),
        cmocka_unit_test(lanes_share_a_block),
        cmocka_unit_test(truncated_chunks_are_refused),
        cmocka_unit_test(absurd_directories_are_refused),
        cmocka_unit_test(reports_are_added_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
