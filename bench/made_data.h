/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the benchmarks of the formats without loss make smaller: always the same data. */

#include <stddef.h>
#include <stdint.h>

static inline uint64_t made_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Integers of so many random bits, 0 to 32, over 1,000. */
static inline void made_integers(uint32_t *values, size_t count, unsigned bits)
{
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t random = made_random(&state);
        values[i] = 1000 + (bits == 0 ? 0 : (uint32_t)(random >> (64 - bits)));
    }
}

/* Words of 2 to 10 letters, a few of them often and most seldom. LZ4 makes it half as long. */
#define MADE_WORDS 1024
static inline void made_text(char *text, size_t bytes)
{
    static char words[MADE_WORDS][12];
    uint64_t state = 1;
    for (size_t i = 0; i < MADE_WORDS; i++) {
        size_t length = 2 + made_random(&state) % 9;
        for (size_t k = 0; k < length; k++)
            words[i][k] = (char)('a' + made_random(&state) % 26);
        words[i][length] = ' ';
    }
    for (size_t at = 0; at < bytes;) {
        uint64_t random = made_random(&state);
        size_t first = random % MADE_WORDS, second = (random >> 20) % MADE_WORDS;
        const char *word = words[first * second / MADE_WORDS];
        for (size_t k = 0; at < bytes && (k == 0 || word[k - 1] != ' '); k++)
            text[at++] = word[k];
    }
}
