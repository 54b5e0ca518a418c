/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The format `lz4`: what is encoded comes back, the bytes are those that docs/formats.md tells, and
 * what is damaged is refused. Its blocks, by any number of lanes: what is valid is restored, the
 * rest is refused. Streams are written by hand where liblz4 would not make them. */
static void meet(void);
#define XB_LANES_SYNC() meet()
#include "codec_memory.h"
#include "codecs/formats.h"
#include "codecs/lz4_decode.h"
#include "rows.h"

#include <lz4.h>
#include <ucontext.h>

/* ---- chunks ---- */

static struct xb_decode_report decode(const unsigned char *encoded, uint64_t encoded_bytes,
                                      struct target *target)
{
    struct xb_decode_report report = {0, XB_NONE_REFUSED};
    xb_lz4_decode(encoded, encoded_bytes, target->bytes, target->size, 1000, &report);
    return report;
}

static unsigned char *encode(const void *source, uint64_t bytes, uint64_t *encoded_bytes)
{
    return encode_by(&(struct coder){xb_lz4_bound, xb_lz4_encode, xb_lz4_decode}, source, bytes,
                     encoded_bytes);
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

/* ==== blocks ==== */

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
 * Lanes in step, as threads of a GPU are only where they meet: a lane runs alone until it comes to
 * XB_LANES_SYNC, then the next one does. A lane that reads what another one writes before they meet
 * finds it missing, in one of the two orders.
 */
#define MOST_LANES 64
static struct {
    ucontext_t scheduler, lanes[MOST_LANES];
    unsigned char stacks[MOST_LANES][65536];
    unsigned count; /* 0: a lane runs through at once */
    unsigned running;
    unsigned ended;
    int valid[MOST_LANES];
    const unsigned char *in;
    size_t length;
    struct target *target;
} group;

static void meet(void)
{
    if (group.count > 0)
        (void)swapcontext(&group.lanes[group.running], &group.scheduler);
}

static int decompress_alone(unsigned lane, unsigned lanes)
{
    return xb_lz4_decompress(group.in, (unsigned)group.length, group.target->bytes,
                             (unsigned)group.target->size, lane, lanes);
}

static void run_lane(void)
{
    unsigned lane = group.running;
    group.valid[lane] = decompress_alone(lane, group.count);
    group.ended++;
}

static int decompress_in_step(unsigned lanes, bool reversed)
{
    group.count = lanes;
    group.ended = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        ucontext_t *context = &group.lanes[lane];
        assert_int_equal(0, getcontext(context));
        context->uc_stack.ss_sp = group.stacks[lane];
        context->uc_stack.ss_size = sizeof group.stacks[lane];
        context->uc_link = &group.scheduler;
        makecontext(context, run_lane, 0);
    }
    while (group.ended == 0) {
        for (unsigned i = 0; i < lanes; i++) {
            group.running = reversed ? lanes - 1 - i : i;
            assert_int_equal(0, swapcontext(&group.scheduler, &group.lanes[group.running]));
        }
    }
    group.count = 0;
    assert_int_equal(lanes, group.ended); /* they met equally often */
    for (unsigned lane = 1; lane < lanes; lane++)
        assert_int_equal(group.valid[0], group.valid[lane]);
    return group.valid[0];
}

/* Decodes a block, from exactly its memory, by several numbers of lanes. All agree with the
 * document. Returns whether it is valid. */
static bool check_block(const unsigned char *block, size_t length, size_t size, bool in_step)
{
    static const unsigned lane_counts[] = {1, 16, 32, MOST_LANES};
    unsigned char *in = aligned_copy(block, length);
    unsigned char *expected = aligned_bytes(size);
    bool valid = by_document(in, length, expected, size);
    for (unsigned i = 0; i < 8; i++) {
        unsigned lanes = lane_counts[i / 2], lane = i % 2 == 0 ? 0 : lanes - 1;
        struct target target = target_open(size);
        group.in = in;
        group.length = length;
        group.target = &target;
        int found = in_step ? decompress_in_step(lanes, i % 2 == 0) : decompress_alone(lane, lanes);
        assert_int_equal(valid, found);
        if (valid && (in_step || lanes == 1))
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
    return check_block(stream->bytes, stream->length, stream->size, true);
}

TEST(matches_may_overlap)
{
    for (size_t offset = 1; offset <= 40; offset++)
        for (size_t match = 4; match <= 300; match += match < 21 ? 1 : match < 40 ? 6 : 47) {
            struct stream stream = {.length = 0};
            put(&stream, offset, offset, match);
            put(&stream, 3, offset + 2, 5); /* it reads the end of the one before */
            put(&stream, 1, 0, 0);
            assert_true(check_stream(&stream));
        }
}

TEST(runs_may_be_long)
{
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
TEST(short_sequences_follow_each_other)
{
    struct stream stream = {.length = 0};
    uint64_t random = 1;
    put(&stream, 14, 14, 18);
    for (unsigned i = 0; i < 400; i++) {
        size_t literals = made_number(&random) % 15;
        size_t far = i % 2 == 0 ? 60 : 300;
        size_t most = stream.size + literals < far ? stream.size + literals : far;
        put(&stream, literals, 1 + made_number(&random) % most, 4 + made_number(&random) % 17);
    }
    put(&stream, 5, 0, 0);
    assert_true(check_stream(&stream));
}

/* The example of docs/formats.md. */
static const unsigned char example[] = {0x35, 'a', 'b', 'c', 3, 0, 0x20, 'd', 'e'};
#define EXAMPLE_SIZE 14 /* "abc", nine more of them, "de" */

TEST(example_is_restored)
{
    unsigned char restored[EXAMPLE_SIZE];
    assert_true(by_document(example, sizeof example, restored, sizeof restored));
    assert_memory_equal("abcabcabcabcde", restored, sizeof restored);
    assert_true(check_block(example, sizeof example, EXAMPLE_SIZE, true));
}

static void say_block(const struct row *row, char said[ROW_TEXT])
{
    unsigned char bytes[32];
    size_t length = 0;
    for (char *at = (char *)row->part[1]; *at != '\0';)
        bytes[length++] = (unsigned char)strtoul(at, &at, 0);
    bool valid = check_block(bytes, length, (size_t)row_number(row, 2), true);
    say_also(said, valid ? "restored" : "refused");
}
TEST_ROWS(what_is_no_block_is_refused, say_block)

TEST(damaged_blocks_are_as_the_document_says)
{
    struct stream stream = {.length = 0};
    put(&stream, 4, 3, 9);
    put(&stream, 17, 20, 21);
    put(&stream, 2, 1, 30);
    put(&stream, 0, 44, 4);
    put(&stream, 6, 0, 0);
    assert_true(check_stream(&stream));
    for (size_t at = 0; at < stream.length; at++) {
        assert_false(check_block(stream.bytes, at, stream.size, true)); /* truncated */
        for (unsigned flip = 1; flip < 256; flip++) {
            stream.bytes[at] ^= (unsigned char)flip;
            (void)check_block(stream.bytes, stream.length, stream.size, flip % 64 == 1);
            stream.bytes[at] ^= (unsigned char)flip;
        }
    }
}

/* What liblz4 makes, and not only streams by hand. */
TEST(lanes_share_what_liblz4_made)
{
    static unsigned char bytes[1500];
    char block[sizeof bytes];
    made_bytes(bytes, sizeof bytes, true);
    int length = LZ4_compress_default((const char *)bytes, block, sizeof bytes, sizeof block);
    assert_in_range(length, 1, sizeof block);
    assert_true(check_block((const unsigned char *)block, (size_t)length, sizeof bytes, true));
}
