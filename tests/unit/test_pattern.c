/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* More than one of the parts in which threads take it, and no multiple of anything. */
#define BYTES ((UINT64_C(9) << 20) + 13)

static const struct xb_pattern pattern = {.seed = 42, .flip = 0};

/*
 * The first outputs of SplitMix64 for this seed as other implementations give them (the reference
 * program at prng.di.unimi.it/splitmix64.c; Rosetta Code, "Pseudo-random numbers/Splitmix64").
 */
static void test_words_are_splitmix64(void **state)
{
    (void)state;
    const unsigned long long expected[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                           9817491932198370423ULL, 4593380528125082431ULL,
                                           16408922859458223821ULL};
    const struct xb_pattern seeded = {.seed = 1234567, .flip = 0};
    for (unsigned i = 0; i < 5; i++)
        assert_true(xb_pattern_word(seeded, i) == expected[i]);
}

static void test_bytes_are_little_endian_words(void **state)
{
    (void)state;
    unsigned char bytes[40];
    const struct xb_pattern seeded = {.seed = 1234567, .flip = 0};
    xb_host_fill(bytes, 0, sizeof bytes, seeded);
    /* 6457827717110365317 is 0x599ED017FB08FC85 */
    const unsigned char first[] = {0x85, 0xFC, 0x08, 0xFB, 0x17, 0xD0, 0x9E, 0x59};
    assert_memory_equal(bytes, first, sizeof first);
}

static void test_any_range_is_the_same_bytes(void **state)
{
    (void)state;
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
        }
    }
}

static void test_poison_differs_in_every_byte(void **state)
{
    (void)state;
    unsigned char plain[1001];
    unsigned char poisoned[1001];
    const struct xb_pattern poison = {.seed = 42, .flip = XB_PATTERN_POISON};
    xb_host_fill(plain, 0, sizeof plain, pattern);
    xb_host_fill(poisoned, 0, sizeof poisoned, poison);
    for (size_t i = 0; i < sizeof plain; i++)
        assert_int_not_equal(plain[i], poisoned[i]);
    assert_true(xb_host_check(poisoned, 0, sizeof poisoned, pattern).wrong_bytes == 1001);
}

static void test_check_finds_every_single_byte(void **state)
{
    (void)state;
    unsigned char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) {
        xb_host_fill(bytes, 5, sizeof bytes, pattern);
        bytes[i] ^= 0x01;
        struct xb_mismatch mismatch = xb_host_check(bytes, 5, sizeof bytes, pattern);
        assert_true(mismatch.wrong_bytes == 1);
        assert_true(mismatch.first_offset == 5 + i);
    }
}

/* What a short repeating pattern would let pass. */
static void test_shifts_and_swaps_show(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    const uint64_t shifts[] = {1, 8, 4096, 1 << 16, 2 << 20, 4 << 20};
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        xb_host_fill(bytes, shifts[i], BYTES, pattern);
        struct xb_mismatch mismatch = xb_host_check(bytes, 0, BYTES, pattern);
        assert_true(mismatch.wrong_bytes > BYTES / 100 * 98); /* bytes agree by chance, 1 in 256 */
        assert_true(mismatch.first_offset < 16);
    }
    free(bytes);
}

/* Over several threads' parts: nothing is skipped or counted twice, and the first is the first. */
static void test_large_ranges_are_whole(void **state)
{
    (void)state;
    unsigned char *bytes = malloc(BYTES);
    assert_non_null(bytes);
    xb_host_fill(bytes, 0, BYTES, pattern);
    assert_true(xb_host_check(bytes, 0, BYTES, pattern).wrong_bytes == 0);
    const uint64_t places[] = {(4 << 20) - 1, 4 << 20, 8 << 20, BYTES - 1};
    for (size_t i = 0; i < 4; i++)
        bytes[places[i]] ^= 0xFF;
    struct xb_mismatch mismatch = xb_host_check(bytes, 0, BYTES, pattern);
    assert_true(mismatch.wrong_bytes == 4);
    assert_true(mismatch.first_offset == places[0]);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_splitmix64),
        cmocka_unit_test(test_bytes_are_little_endian_words),
        cmocka_unit_test(test_any_range_is_the_same_bytes),
        cmocka_unit_test(test_poison_differs_in_every_byte),
        cmocka_unit_test(test_check_finds_every_single_byte),
        cmocka_unit_test(test_shifts_and_swaps_show),
        cmocka_unit_test(test_large_ranges_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
