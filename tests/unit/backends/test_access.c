/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"
#include "xferbench/access.h"

static const enum xb_access orders[] = {XB_ACCESS_SEQUENTIAL, XB_ACCESS_STRIDED, XB_ACCESS_RANDOM};

/* Every word once: none beyond the end, none twice, so none is left out. */
static void expect_permutation(enum xb_access access, unsigned long long words)
{
    unsigned char *seen = calloc(words + 1, 1);
    assert_non_null(seen);
    for (unsigned long long turn = 0; turn < words; turn++) {
        unsigned long long word = xb_access_word(access, words, turn);
        if (word >= words || seen[word]++ != 0)
            fail_msg("order %d of %llu words: turn %llu visits word %llu, %s", (int)access, words,
                     turn, word, word >= words ? "beyond the end" : "again");
    }
    free(seen);
}

TEST(test_every_word_is_visited_once)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        for (unsigned long long words = 1; words <= 1100;
             words++) /* two rows, and all remainders */
            expect_permutation(orders[i], words);
        for (unsigned bits = 11; bits <= 20; bits++)
            for (unsigned long long words = (1ULL << bits) - 1; words <= (1ULL << bits) + 1;
                 words++)
                expect_permutation(orders[i], words);
        expect_permutation(orders[i], 1000003);
        expect_permutation(orders[i], 512ULL * 700);
        expect_permutation(orders[i], 512ULL * 700 + 511);
    }
}

static unsigned long long distance(unsigned long long a, unsigned long long b)
{
    return a > b ? a - b : b - a;
}

/* How many pairs of neighbouring turns visit words that lie `apart`. */
static unsigned long long count_apart(enum xb_access access, unsigned long long words,
                                      unsigned long long apart)
{
    unsigned long long count = 0;
    for (unsigned long long turn = 1; turn < words; turn++)
        count += distance(xb_access_word(access, words, turn - 1),
                          xb_access_word(access, words, turn)) == apart;
    return count;
}

TEST(test_sequential_neighbours_are_neighbours)
{
    assert_true(count_apart(XB_ACCESS_SEQUENTIAL, 100003, 1) == 100002);
    assert_true(xb_access_word(XB_ACCESS_SEQUENTIAL, 100003, 0) == 0);
}

/* A column has one turn for each row; between two columns alone the distance is another. */
TEST(test_strided_neighbours_are_a_page_apart)
{
    const unsigned long long sizes[] = {1024, 100003, 512ULL * 700};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_true(count_apart(XB_ACCESS_STRIDED, sizes[i], 512) == sizes[i] - 512);
    assert_true(XB_ACCESS_STRIDE * 8 == 4096);
}

/* A true shuffle of n words leaves 2 neighbours side by side; allow some, not a pattern. */
TEST(test_random_neighbours_are_anywhere)
{
    const unsigned long long sizes[] = {4096, 100003, 1ULL << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned long long near = 0; /* in a cache line or nearly: 14 pairs in a shuffle */
        unsigned long long half = 0; /* further than half of it all: a quarter in a shuffle */
        for (unsigned long long turn = 1; turn < sizes[i]; turn++) {
            unsigned long long apart =
                distance(xb_access_word(XB_ACCESS_RANDOM, sizes[i], turn - 1),
                         xb_access_word(XB_ACCESS_RANDOM, sizes[i], turn));
            near += apart < 8;
            half += apart > sizes[i] / 2;
        }
        assert_true(near < sizes[i] / 50);
        assert_true(half > sizes[i] / 8 && half < sizes[i] / 2);
        assert_true(count_apart(XB_ACCESS_RANDOM, sizes[i], 1) < sizes[i] / 100);
    }
}
