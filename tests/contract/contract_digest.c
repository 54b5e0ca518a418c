/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Digests of what lies in a device's memory, against the host's own, which test_pattern.c holds
 * against the words' definition. */
#include "contract.h"

struct group digest_tests = {"digests", "digests", false, 0, {}};
#define OWN_GROUP digest_tests

/* A digest that nobody wrote over. */
#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

/* Where no range of these tests lies: the last whole word of a buffer. */
#define BEHIND (BYTES / 8 * 8 - 8)

/* The digest of that part of a pattern, by the host. */
static uint64_t right_digest(struct xb_pattern of, uint64_t offset, uint64_t bytes)
{
    void *memory = malloc(bytes);
    assert_non_null(memory);
    xb_host_fill(memory, offset, bytes, of);
    uint64_t digest = xb_digest_memory(memory, bytes);
    free(memory);
    return digest;
}

/* The digest of a range of f->there, by the device. What stood in its place does not count. */
static uint64_t digest_of(uint64_t offset, uint64_t bytes, struct xb_buffer *target, uint64_t to)
{
    MUST(queue_digest, f->queue, f->there, offset, bytes, false, target, to);
    return word_of(target, to);
}

TEST(every_short_length)
{
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    fill(pattern);
    for (uint64_t offset = 0; offset < 32; offset += 8)
        for (uint64_t bytes = 1; bytes <= 100; bytes++)
            assert_true(digest_of(offset, bytes, target, 8) ==
                        right_digest(pattern, offset, bytes));
    tested->buffer_free(target);
}

TEST(long_ranges)
{
    const struct {
        uint64_t offset, bytes;
    } ranges[] = {{0, BYTES},     {8, BYTES - 8},      {16, 65536},
                  {24, 65537},    {8, 1u << 20},       {4104, 1000003},
                  {0, 16 * 1024}, {0, 16 * 1024 + 16}, {8, 16 * 1024 - 8}};
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    fill(pattern);
    for (size_t i = 0; i < COUNT_OF(ranges); i++)
        assert_true(digest_of(ranges[i].offset, ranges[i].bytes, target, 16) ==
                    right_digest(pattern, ranges[i].offset, ranges[i].bytes));
    tested->buffer_free(target);
}

/* The range, and the words beside the digest, stay as they are. */
TEST(the_digest_may_lie_beside_its_range)
{
    NEEDS(XB_CAP_KERNELS);
    const struct {
        uint64_t offset, bytes, to;
    } places[] = {{16, 4096, 8}, {0, 4091, 4096}, {0, BEHIND, BEHIND}};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        uint64_t to = places[i].to;
        fill(pattern);
        assert_true(digest_of(places[i].offset, places[i].bytes, f->there, to) ==
                    right_digest(pattern, places[i].offset, places[i].bytes));
        const unsigned char *memory = bring_back();
        EXPECT_BYTES(memory, 0, to, pattern);
        EXPECT_BYTES(memory + to + 8, to + 8, BYTES - to - 8, pattern);
    }
}

/* It sees what was enqueued before it, and what comes behind sees it. */
TEST(digests_keep_the_order)
{
    struct xb_pattern computed = pattern;
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    computed.steps = 3;
    fill(pattern);
    for (uint64_t i = 0; i < 4; i++) { /* over the same word: the last one counts */
        MUST(queue_digest, f->queue, f->there, 0, BYTES, false, target, 0);
        MUST(queue_digest, f->queue, f->there, 0, 4099, false, target, 8 + 8 * i);
    }
    MUST(queue_compute, f->queue, f->there, 0, BYTES, 3);
    MUST(queue_digest, f->queue, f->there, 8, BYTES - 8, false, target, 40);
    fill(poison);
    assert_true(word_of(target, 0) == right_digest(pattern, 0, BYTES));
    for (uint64_t i = 0; i < 4; i++)
        assert_true(word_of(target, 8 + 8 * i) == right_digest(pattern, 0, 4099));
    assert_true(word_of(target, 40) == right_digest(computed, 8, BYTES - 8));
    tested->buffer_free(target);
}

/* Wherever one word is another, or two words have changed places. */
TEST(other_data_has_another_digest)
{
    const uint64_t places[] = {0, 7, 8, 15, 16, 4095, 4096, BYTES - 9, BYTES - 1};
    unsigned char *host = f->pinned->host_address;
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    const uint64_t right = right_digest(pattern, 0, BYTES);
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        xb_host_fill(host, 0, BYTES, pattern);
        host[places[i]] ^= 1;
        copy(f->there, 0, f->pinned, 0, BYTES);
        assert_true(digest_of(0, BYTES, target, 0) != right);
    }
    fill(pattern);
    copy(f->pinned, 0, f->there, 0, 16);
    copy(f->there, 0, f->pinned, 8, 8);
    copy(f->there, 8, f->pinned, 0, 8);
    await();
    assert_true(digest_of(0, BYTES, target, 0) != right);
    tested->buffer_free(target);
}

TEST(bad_digests_are_refused)
{
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    const struct {
        struct xb_buffer *buffer;
        uint64_t offset, bytes;
        struct xb_buffer *target;
        uint64_t to;
    } bad[] = {
        {f->there, 4, 8, target, 0},          {f->there, 0, 8, target, 4},
        {f->there, 8, BYTES, target, 0},      {f->there, UINT64_MAX - 7, 16, target, 0},
        {f->there, 0, 8, target, BEHIND + 8}, {f->there, 0, 8, target, UINT64_MAX - 7},
        {f->pinned, 0, 8, target, 0},         {f->there, 0, 8, f->pinned, 0},
        {f->there, 0, 8, f->there, 0},        {f->there, 0, 9, f->there, 8},
        {f->there, 8, 4096, f->there, 4096},
    };
    memset(f->pinned->host_address, 0x5a, 8);
    copy(target, 0, f->pinned, 0, 8);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        REFUSED(queue_digest, f->queue, bad[i].buffer, bad[i].offset, bad[i].bytes, false,
                bad[i].target, bad[i].to);
    assert_true(word_of(target, 0) == UNTOUCHED);
    tested->buffer_free(target);
}

/* The sum of the words of that part of the pattern, zeros behind the last byte. */
static uint64_t right_sum(uint64_t offset, uint64_t bytes)
{
    uint64_t sum = 0;
    for (uint64_t at = 0; at < bytes; at += 8) {
        uint64_t word = 0;
        xb_host_fill(&word, offset + at, bytes - at < 8 ? bytes - at : 8, pattern);
        sum += word;
    }
    return sum;
}

TEST(a_plain_digest_is_the_sum)
{
    const uint64_t lengths[] = {1, 7, 8, 9, 16, 24, 31, 4099, 16384, 16392, BYTES - 8};
    NEEDS(XB_CAP_KERNELS);
    struct xb_buffer *target = allocate(XB_MEMORY_DEVICE);
    fill(pattern);
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
        for (uint64_t offset = 0; offset <= 8; offset += 8) {
            MUST(queue_digest, f->queue, f->there, offset, lengths[i], true, target, 24);
            assert_true(word_of(target, 24) == right_sum(offset, lengths[i]));
        }
    tested->buffer_free(target);
}

TEST(counting_numbers_the_words)
{
    const uint64_t lengths[] = {0, 7, 8, 16, 24, 4099, 16384, 16392, BYTES};
    const uint64_t first = UINT64_C(0xfffffffd); /* to where 32 bits do not reach */
    NEEDS(XB_CAP_KERNELS);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        fill(pattern);
        MUST(queue_count, f->queue, f->there, lengths[i], first);
        const unsigned char *memory = bring_back();
        const uint64_t end = lengths[i] / 8 * 8;
        for (uint64_t at = 0; at < end; at += 8) {
            uint64_t word;
            memcpy(&word, memory + at, 8);
            assert_true(word == first + at / 8);
        }
        EXPECT_BYTES(memory + end, end, BYTES - end, pattern);
    }
    REFUSED(queue_count, f->queue, f->there, BYTES + 1, 0);
    REFUSED(queue_count, f->queue, f->pinned, 8, 0);
}
