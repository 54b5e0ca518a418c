/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The order in which a kernel goes through the 8-byte words of a buffer: each visits every word
 * once, so that what was moved can be checked like any other copy. The kernels' compilers read this
 * too: built-in types only, no system headers. */

#include "xferbench/kernel_text.h"

enum xb_access {
    XB_ACCESS_SEQUENTIAL, /* neighbouring threads, neighbouring words */
    XB_ACCESS_STRIDED,    /* neighbouring threads are XB_ACCESS_STRIDE words apart: a page */
    XB_ACCESS_RANDOM,     /* a permutation without a pattern */
    XB_ACCESS_BULK        /* in order, not by loads and stores: see XB_CAP_BULK */
};

#define XB_ACCESS_STRIDE 512ULL

/* What bulk copies move, and begin at on both sides: multiples of so many bytes. */
#define XB_BULK_BYTES 16u

/* Column by column through a matrix whose rows are XB_ACCESS_STRIDE words long. */
XB_KERNEL_FUNCTION unsigned long long xb_access_strided(unsigned long long words,
                                                        unsigned long long turn)
{
    unsigned long long full = words / XB_ACCESS_STRIDE;   /* rows that are complete */
    unsigned long long longer = words % XB_ACCESS_STRIDE; /* columns with a word more */
    unsigned long long in_longer = longer * (full + 1ULL);
    if (turn < in_longer)
        return turn % (full + 1ULL) * XB_ACCESS_STRIDE + turn / (full + 1ULL);
    turn -= in_longer;
    return turn % full * XB_ACCESS_STRIDE + longer + turn / full;
}

/*
 * Multiplying by an odd number and folding the upper half into the lower are permutations of the
 * numbers below a power of two; what falls beyond `words` is sent through again (cycle walking:
 * Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002).
 */
XB_KERNEL_FUNCTION unsigned long long xb_access_random(unsigned long long words,
                                                       unsigned long long turn)
{
    unsigned bits = 1;
    while (bits < 63 && (1ULL << bits) < words)
        bits++;
    unsigned long long mask = (1ULL << bits) - 1ULL;
    unsigned fold = bits / 2 + 1;
    do {
        turn = (turn * 0x9E3779B97F4A7C15ULL) & mask;
        turn ^= turn >> fold;
        turn = (turn * 0xD1342543DE82EF95ULL) & mask;
        turn ^= turn >> fold;
    } while (turn >= words);
    return turn;
}

/* The word that is visited in turn `turn` < `words`. */
XB_KERNEL_FUNCTION unsigned long long
xb_access_word(enum xb_access access, unsigned long long words, unsigned long long turn)
{
    if (access == XB_ACCESS_STRIDED)
        return xb_access_strided(words, turn);
    if (access == XB_ACCESS_RANDOM)
        return xb_access_random(words, turn);
    return turn;
}

/* A chain: the first word of every line of a buffer holds the address of the next line's, in one of
 * the orders above; the last leads back to the first. Only the word that is loaded tells where the
 * next one is. A line is as long as the longest that GPUs fetch at once, so that no load brings the
 * next word along. */
#define XB_CHAIN_LINE 128ULL

/* Returns where the word lies that turn `turn` loads in a buffer of `bytes` (XB_CHAIN_LINE or
 * more), a multiple of XB_CHAIN_LINE. A chain begins at turn 0 and goes round for ever. */
XB_KERNEL_FUNCTION unsigned long long
xb_chain_offset(enum xb_access access, unsigned long long bytes, unsigned long long turn)
{
    unsigned long long lines = bytes / XB_CHAIN_LINE;
    return xb_access_word(access, lines, turn % lines) * XB_CHAIN_LINE;
}
