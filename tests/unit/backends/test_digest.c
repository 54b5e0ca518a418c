/* SPDX-License-Identifier: Apache-2.0 */
/* What the host makes of a digest, against the sum of the words, one by one. */
#include "backends/verify.h"

#include "testing.h"

/* More than one of the parts in which threads take it, and no multiple of anything. */
#define BYTES ((UINT64_C(9) << 20) + 13)

static const struct xb_pattern pattern = {.seed = 42, .flip = 0};

/* The sum by its definition; every step is taken. */
static uint64_t sum_of(const unsigned char *memory, uint64_t bytes, uint64_t steps)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; 8 * i < bytes; i++) {
        unsigned long long word = 0;
        size_t count = bytes - 8 * i < 8 ? (size_t)(bytes - 8 * i) : 8;
        for (size_t byte = 0; byte < count; byte++)
            word |= (unsigned long long)memory[8 * i + byte] << (8 * byte);
        for (uint64_t step = 0; count == 8 && step < steps; step++)
            word = xb_compute_step(word);
        sum += xb_digest_word(word, i);
    }
    return sum;
}

/* The output of SplitMix64 that test_pattern.c takes from other implementations: at seed 1234567,
 * whose first counter is a golden ratio behind it. */
TEST(test_a_word_is_an_output_of_splitmix64)
{
    const unsigned long long counter = 1234567ULL + 0x9E3779B97F4A7C15ULL;
    for (unsigned long long i = 0; i < 3; i++)
        assert_true(xb_digest_word(counter - (i + 1) * 0xD1342543DE82EF95ULL, i) ==
                    6457827717110365317ULL);
}

TEST(test_every_short_length_at_any_address)
{
    unsigned char memory[128];
    xb_host_fill(memory, 0, sizeof memory, pattern);
    assert_true(xb_digest_memory(memory, 0) == 0);
    for (uint64_t from = 0; from < 9; from++)
        for (uint64_t bytes = 1; bytes <= 100; bytes++) {
            uint64_t sum = sum_of(memory + from, bytes, 0);
            assert_true(xb_digest_memory(memory + from, bytes) == sum);
            assert_true(xb_digest_stepped(memory + from, bytes, 0) == sum);
        }
}

/* The word that is not whole takes no step, wherever the range ends in its pattern. */
TEST(test_steps_are_those_of_whole_words)
{
    unsigned char memory[128];
    unsigned char stepped[128];
    for (uint64_t steps = 0; steps < 4; steps++)
        for (uint64_t bytes = 1; bytes <= 100; bytes++) {
            const struct xb_pattern computed = {.seed = 42, .flip = 0, .steps = steps};
            xb_host_fill(memory, 16, bytes, pattern);
            xb_host_fill(stepped, 16, bytes, computed);
            uint64_t sum = sum_of(memory, bytes, steps);
            assert_true(xb_digest_stepped(memory, bytes, steps) == sum);
            assert_true(xb_digest_memory(stepped, bytes) == sum);
        }
}

/* However many threads share it. */
TEST(test_large_ranges)
{
    const struct xb_pattern plain = {.seed = 7, .flip = XB_PATTERN_POISON};
    unsigned char *memory = malloc(BYTES);
    assert_non_null(memory);
    xb_host_fill(memory, 4096, BYTES, plain);
    uint64_t sum = sum_of(memory, BYTES, 5);
    assert_true(xb_digest_stepped(memory, BYTES, 5) == sum);
    assert_true(xb_digest_memory(memory, BYTES) == sum_of(memory, BYTES, 0));
    free(memory);
}

TEST(test_accidents_show)
{
    unsigned char memory[4096];
    const struct xb_pattern other = {.seed = 43, .flip = 0};
    xb_host_fill(memory, 0, sizeof memory, pattern);
    const uint64_t right = xb_digest_memory(memory, sizeof memory);
    for (uint64_t i = 0; i < 8 * sizeof memory; i++) { /* every single bit */
        xb_host_fill(memory, 0, sizeof memory, pattern);
        memory[i / 8] ^= (unsigned char)(1u << (i % 8));
        assert_true(xb_digest_memory(memory, sizeof memory) != right);
        i += i < 64 ? 0 : 61;
    }
    for (uint64_t i = 0; i + 16 <= sizeof memory; i += 8) { /* neighbours that changed places */
        xb_host_fill(memory, 0, sizeof memory, pattern);
        unsigned char word[8];
        memcpy(word, memory + i, 8);
        memmove(memory + i, memory + i + 8, 8);
        memcpy(memory + i + 8, word, 8);
        assert_true(xb_digest_memory(memory, sizeof memory) != right);
    }
    xb_host_fill(memory, 8, sizeof memory, pattern);
    assert_true(xb_digest_memory(memory, sizeof memory) != right);
    xb_host_fill(memory, 0, sizeof memory, other);
    assert_true(xb_digest_memory(memory, sizeof memory) != right);
    memset(memory, 0, sizeof memory); /* zeros count by how many they are */
    assert_true(xb_digest_memory(memory, 8) != xb_digest_memory(memory, 16));
}
