/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The data that is moved. Every 8-byte word depends on its position and on a seed, so that a copy
 * that is shifted, swapped, torn or left over from another case does not verify. The kernels'
 * compilers read this too: built-in types only, no system headers. */

#include "xferbench/kernel_text.h"

struct xb_pattern {
    unsigned long long seed;
    unsigned long long flip; /* XORed into every word: 0, or XB_PATTERN_POISON */
    /* How many steps of xb_compute_step each whole word has taken, but not the bytes behind the
     * last. 0: a plain pattern. */
    unsigned long long steps;
};

/* A pattern with this flip differs from the plain one in every byte: an unwritten byte shows. */
#define XB_PATTERN_POISON 0xFFFFFFFFFFFFFFFFULL

/*
 * Word `index` (byte offset / 8) of a pattern before any step: the output function of SplitMix64
 * (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) at counter
 * seed + index. Stored little-endian: byte j of the buffer is bits 8*(j%8)... of word j/8.
 */
XB_KERNEL_FUNCTION unsigned long long xb_pattern_word(struct xb_pattern pattern,
                                                      unsigned long long index)
{
    unsigned long long z = pattern.seed + (index + 1ULL) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) ^ pattern.flip;
}

/*
 * What word `index` of a range adds to the range's digest, which is the sum of all of them modulo
 * 2^64: the output function above at counter word + an odd multiple of the position, so that a word
 * in another place, or another word in its place, changes the sum. It is no cryptographic hash: it
 * finds accidents.
 */
XB_KERNEL_FUNCTION unsigned long long xb_digest_word(unsigned long long word,
                                                     unsigned long long index)
{
    unsigned long long z = word + (index + 1ULL) * 0xD1342543DE82EF95ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/*
 * What a compute kernel does to a word, once a step: the linear congruential generator of Knuth's
 * MMIX ("The Art of Computer Programming", vol. 2, 3.3.4, table 1).
 */
#define XB_COMPUTE_FACTOR 6364136223846793005ULL
#define XB_COMPUTE_ADDEND 1442695040888963407ULL
XB_KERNEL_FUNCTION unsigned long long xb_compute_step(unsigned long long word)
{
    return word * XB_COMPUTE_FACTOR + XB_COMPUTE_ADDEND;
}

/* Many steps at once: word * factor + addend. */
struct xb_compute_leap {
    unsigned long long factor, addend;
};

/* The leap that equals `steps` steps, by repeated squaring (Brown, "Random Number Generation with
 * Arbitrary Strides", Trans. American Nuclear Society 71, 1994). */
XB_KERNEL_FUNCTION struct xb_compute_leap xb_compute_leap_of(unsigned long long steps)
{
    struct xb_compute_leap leap = {1ULL, 0ULL};
    struct xb_compute_leap power = {XB_COMPUTE_FACTOR, XB_COMPUTE_ADDEND};
    for (; steps > 0; steps >>= 1) {
        if ((steps & 1ULL) != 0) {
            leap.factor *= power.factor;
            leap.addend = leap.addend * power.factor + power.addend;
        }
        power.addend = power.addend * power.factor + power.addend;
        power.factor *= power.factor;
    }
    return leap;
}
