/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/verify.h"
#include "backends/words.h"
#include "testing.h"

/* More than one of the parts in which threads take it, and no multiple of anything. */
#define BYTES ((UINT64_C(9) << 20) + 13)

static const struct xb_pattern pattern = {.seed = 42, .flip = 0};

/*
 * The first outputs of SplitMix64 for this seed as other implementations give them (the reference
 * program at prng.di.unimi.it/splitmix64.c; Rosetta Code, "Pseudo-random numbers/Splitmix64").
 */
TEST(test_words_are_splitmix64)
{
    const unsigned long long expected[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                           9817491932198370423ULL, 4593380528125082431ULL,
                                           16408922859458223821ULL};
    const struct xb_pattern seeded = {.seed = 1234567, .flip = 0};
    for (unsigned i = 0; i < 5; i++)
        assert_true(xb_pattern_word(seeded, i) == expected[i]);
}

TEST(test_bytes_are_little_endian_words)
{
    unsigned char bytes[40];
    const struct xb_pattern seeded = {.seed = 1234567, .flip = 0};
    xb_host_fill(bytes, 0, sizeof bytes, seeded);
    /* 6457827717110365317 is 0x599ED017FB08FC85 */
    const unsigned char first[] = {0x85, 0xFC, 0x08, 0xFB, 0x17, 0xD0, 0x9E, 0x59};
    assert_memory_equal(bytes, first, sizeof first);
}

/* And a wrong one is found wherever it is. */
TEST(test_any_range_is_the_same_bytes)
{
    unsigned char whole[64];
    unsigned char part[64 + 8];
    xb_host_fill(whole, 1000, sizeof whole, pattern);
    for (uint64_t from = 0; from < 20; from++) {
        for (uint64_t length = 0; from + length <= sizeof whole; length++) {
            memset(part, 0xEE, sizeof part);
            xb_host_fill(part + 3, 1000 + from, length, pattern); /* at an odd address */
            assert_memory_equal(part + 3, whole + from, length);
            assert_int_equal(part[2], 0xEE);
            assert_int_equal(part[3 + length], 0xEE);
            if (length == 0)
                continue;
            uint64_t wrong = from * 7 % length;
            part[3 + wrong] ^= 0x01;
            struct xb_mismatch found = xb_host_check(part + 3, 1000 + from, length, pattern);
            assert_int_equal(found.wrong_bytes, 1);
            assert_int_equal(found.first_offset, 1000 + from + wrong);
        }
    }
}

TEST(test_poison_differs_in_every_byte)
{
    unsigned char plain[1001];
    unsigned char poisoned[1001];
    const struct xb_pattern poison = {.seed = 42, .flip = XB_PATTERN_POISON};
    xb_host_fill(plain, 0, sizeof plain, pattern);
    xb_host_fill(poisoned, 0, sizeof poisoned, poison);
    for (size_t i = 0; i < sizeof plain; i++)
        assert_int_not_equal(plain[i], poisoned[i]);
    assert_true(xb_host_check(poisoned, 0, sizeof poisoned, pattern).wrong_bytes == 1001);
}

/* ---- memory that changes while it is checked ---- */

static unsigned char *changing; /* a byte that is wrong when it is first read; NULL: none */

static bool match_then_repair(const unsigned char *in, struct xb_pattern seeded,
                              struct xb_compute_leap leap, uint64_t index, uint64_t count)
{
    bool matched = xb_words_usable(0)->match(in, seeded, leap, index, count);
    if (!matched && changing != NULL)
        *changing ^= 0x01;
    return matched;
}

/* The linker puts it in the place of the one without __wrap_ (tests/CMakeLists.txt). */
const struct xb_words *__wrap_xb_words_fastest(void);
const struct xb_words *__wrap_xb_words_fastest(void)
{
    static _Thread_local struct xb_words way;
    way = *xb_words_usable(0);
    way.match = match_then_repair;
    return &way;
}

/* As a copy that is late makes it: wrong bytes that were seen are not forgotten. */
TEST(test_what_was_wrong_once_is_wrong)
{
    static unsigned char bytes[3 * 4096];
    xb_host_fill(bytes, 8, sizeof bytes, pattern);
    changing = &bytes[5000];
    *changing ^= 0x01;
    struct xb_mismatch found = xb_host_check(bytes, 8, sizeof bytes, pattern);
    changing = NULL;
    assert_int_equal(found.wrong_bytes, 1);
    assert_int_equal(found.first_offset, 8 + 4096);
    assert_int_equal(xb_host_check(bytes, 8, sizeof bytes, pattern).wrong_bytes, 0);
}

/* ---- steps of a computation ---- */

static unsigned long long stepped(unsigned long long word, unsigned long long steps)
{
    while (steps-- > 0)
        word = xb_compute_step(word);
    return word;
}

TEST(test_a_leap_is_so_many_steps)
{
    const unsigned long long counts[] = {0, 1, 2, 3, 4, 7, 8, 255, 256, 1000, 65537, 1000003};
    const unsigned long long words[] = {0, 1, 42, ~0ULL, 0x0123456789ABCDEFULL};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct xb_compute_leap leap = xb_compute_leap_of(counts[c]);
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
            assert_true(words[w] * leap.factor + leap.addend == stepped(words[w], counts[c]));
    }
}

/* Too many to take one by one: the generator's period is 2^64, and leaps can be put together. */
TEST(test_large_leaps_add_up)
{
    const unsigned long long counts[] = {1ULL << 40, 0x0123456789ABCDEFULL, 1ULL << 63};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct xb_compute_leap there = xb_compute_leap_of(counts[c]);
        struct xb_compute_leap back = xb_compute_leap_of(0ULL - counts[c]);
        unsigned long long word = 42ULL * there.factor + there.addend;
        assert_true(word != 42);
        assert_true(word * back.factor + back.addend == 42);
        struct xb_compute_leap next = xb_compute_leap_of(counts[c] + 1);
        assert_true(42ULL * next.factor + next.addend == xb_compute_step(word));
    }
}

static const unsigned long long step_counts[] = {0, 1, 2, 1000, 1ULL << 40};
#define STEP_COUNTS (sizeof step_counts / sizeof step_counts[0])

/* Whole words take the steps, each from its own place in the pattern; what is behind them none. */
TEST(test_fill_takes_the_steps)
{
    unsigned char plain[1024 + 8];
    unsigned char out[1024 + 8];
    const uint64_t offset = 800;
    for (size_t c = 0; c < STEP_COUNTS; c++) {
        struct xb_pattern with = {.seed = 42, .flip = 0, .steps = step_counts[c]};
        struct xb_compute_leap leap = xb_compute_leap_of(step_counts[c]);
        for (uint64_t length = 0; length <= 40; length++) {
            xb_host_fill(plain, offset, length, pattern);
            memset(out, 0xEE, sizeof out);
            xb_host_fill(out + 1, offset, length, with);
            uint64_t whole = length / 8 * 8;
            for (uint64_t at = 0; at < whole; at += 8) {
                unsigned long long from;
                unsigned long long to;
                memcpy(&from, plain + at, 8);
                memcpy(&to, out + 1 + at, 8);
                assert_true(to == from * leap.factor + leap.addend);
                if (step_counts[c] <= 1000)
                    assert_true(to == stepped(from, step_counts[c]));
            }
            assert_memory_equal(out + 1 + whole, plain + whole, length - whole);
            assert_int_equal(out[0], 0xEE);
            assert_int_equal(out[1 + length], 0xEE);
            assert_true(xb_host_check(out + 1, offset, length, with).wrong_bytes == 0);
        }
    }
}

/* Over several threads' parts, where only the last has a tail: nothing is skipped or counted twice,
 * and the first is the first. */
TEST(test_large_ranges_are_whole)
{
    const uint64_t places[] = {(4 << 20) - 1, 4 << 20, 8 << 20, BYTES - 1};
    unsigned char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    for (uint64_t steps = 0; steps < 100; steps += 77) {
        const struct xb_pattern with = {.seed = 42, .flip = 0, .steps = steps};
        xb_host_fill(bytes, 0, BYTES, pattern);
        for (uint64_t at = 0; at + 8 <= BYTES; at += 8) {
            unsigned long long word;
            memcpy(&word, bytes + at, 8);
            word = stepped(word, steps);
            memcpy(bytes + at, &word, 8);
        }
        assert_true(xb_host_check(bytes, 0, BYTES, with).wrong_bytes == 0);
        for (size_t i = 0; i < 4; i++)
            bytes[places[i]] ^= 0xFF;
        struct xb_mismatch mismatch = xb_host_check(bytes, 0, BYTES, with);
        assert_true(mismatch.wrong_bytes == 4);
        assert_true(mismatch.first_offset == places[0]);
    }
    free(bytes);
}

/* Every word, not only some: one pass too few must not look like a few bad bytes. */
TEST(test_wrong_steps_show_in_every_word)
{
    unsigned char bytes[8 * 100 + 5];
    for (size_t a = 0; a < STEP_COUNTS; a++) {
        for (size_t b = 0; b < STEP_COUNTS; b++) {
            const struct xb_pattern made = {.seed = 42, .flip = 0, .steps = step_counts[a]};
            const struct xb_pattern wanted = {.seed = 42, .flip = 0, .steps = step_counts[b]};
            xb_host_fill(bytes, 0, sizeof bytes, made);
            for (uint64_t word = 0; word < 100; word++) {
                struct xb_mismatch found = xb_host_check(bytes + 8 * word, 8 * word, 8, wanted);
                assert_true((found.wrong_bytes == 0) == (a == b));
            }
            assert_true(xb_host_check(bytes + 800, 800, 5, wanted).wrong_bytes == 0);
        }
    }
}

/* ---- whole words, by whatever instructions this CPU has ---- */

TEST(test_every_way_fills_the_same_words)
{
    const struct xb_pattern flipped = {.seed = ~0ULL - 5, .flip = XB_PATTERN_POISON};
    const struct xb_compute_leap leap = xb_compute_leap_of(77);
    const uint64_t indexes[] = {0, 3, (1ULL << 33) - 9, (1ULL << 61) - 1};
    const struct xb_words *way;
    assert_non_null(xb_words_usable(0));
    for (unsigned number = 0; (way = xb_words_usable(number)) != NULL; number++)
        for (uint64_t count = 0; count < 70; count++) {
            unsigned char out[8 * 70 + 2];
            uint64_t index = indexes[count % 4];
            memset(out, 0xEE, sizeof out);
            way->fill(out + 1, flipped, leap, index, count); /* at an odd address */
            for (uint64_t i = 0; i < count; i++) {
                unsigned long long word;
                memcpy(&word, out + 1 + 8 * i, 8);
                assert_true(word == stepped(xb_pattern_word(flipped, index + i), 77));
            }
            assert_int_equal(out[0], 0xEE);
            assert_int_equal(out[1 + 8 * count], 0xEE);
            assert_true(way->match(out + 1, flipped, leap, index, count));
        }
}

TEST(test_every_way_finds_every_byte)
{
    const struct xb_compute_leap none = xb_compute_leap_of(0);
    const struct xb_words *way;
    for (unsigned number = 0; (way = xb_words_usable(number)) != NULL; number++)
        for (uint64_t count = 1; count < 40; count++) {
            unsigned char bytes[8 * 40 + 1];
            way->fill(bytes + 1, pattern, none, 7, count);
            for (uint64_t i = 1; i <= 8 * count; i++) {
                bytes[i] ^= 0x80;
                assert_false(way->match(bytes + 1, pattern, none, 7, count));
                bytes[i] ^= 0x80;
            }
            assert_true(way->match(bytes + 1, pattern, none, 7, count));
        }
}

/* More of them than a check looks at in one go, all in one block, and at both ends of blocks. */
TEST(test_wrong_bytes_are_counted_across_blocks)
{
    static unsigned char bytes[3 * 4096 + 24];
    const uint64_t places[] = {5, 6, 4094, 4095, 4096, 8200, 12287, 12288, 12311};
    for (uint64_t offset = 0; offset < 17; offset++) {
        xb_host_fill(bytes, offset, sizeof bytes, pattern);
        for (size_t i = sizeof places / sizeof places[0]; i-- > 0;) {
            bytes[places[i]] ^= 0xFF;
            struct xb_mismatch found = xb_host_check(bytes, offset, sizeof bytes, pattern);
            assert_int_equal(found.wrong_bytes, sizeof places / sizeof places[0] - i);
            assert_int_equal(found.first_offset, offset + places[i]);
        }
    }
}

/* ---- the digest, against the sum of the words, one by one ---- */

/* The sum by its definition; every step is taken. */
static uint64_t sum_of(const unsigned char *memory, uint64_t bytes, uint64_t steps)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; 8 * i < bytes; i++) {
        unsigned long long word = 0;
        size_t count = bytes - 8 * i < 8 ? (size_t)(bytes - 8 * i) : 8;
        for (size_t byte = 0; byte < count; byte++)
            word |= (unsigned long long)memory[8 * i + byte] << (8 * byte);
        if (count == 8)
            word = stepped(word, steps);
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
