/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PATTERN_H
#define XFERBENCH_PATTERN_H

/*
 * The data that is moved. Every 8-byte word depends on its position in the buffer and on a seed, so
 * that a copy that is shifted, swapped, torn or left over from another case does not verify.
 *
 * This header is also read by the kernels' compilers: built-in types only, no includes.
 */

#ifdef __CUDACC__
#define XB_PATTERN_FUNCTION static __host__ __device__ inline
#else
#define XB_PATTERN_FUNCTION static inline
#endif

struct xb_pattern {
    unsigned long long seed;
    unsigned long long flip; /* XORed into every word: 0, or XB_PATTERN_POISON */
};

/* A pattern with this flip differs from the plain one in every byte: an unwritten byte shows. */
#define XB_PATTERN_POISON 0xFFFFFFFFFFFFFFFFULL

/*
 * Word `index` (byte offset / 8) of a pattern: the output function of SplitMix64 (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) at counter seed + index.
 * Stored little-endian: byte j of the buffer is bits 8*(j%8)... of word j/8.
 */
XB_PATTERN_FUNCTION unsigned long long xb_pattern_word(struct xb_pattern pattern,
                                                       unsigned long long index)
{
    unsigned long long z = pattern.seed + (index + 1ULL) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) ^ pattern.flip;
}

#endif
