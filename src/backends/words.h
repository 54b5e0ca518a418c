/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/pattern.h"

#include <stdbool.h>
#include <stdint.h>

/* Whole words of a pattern after a leap of steps, at any address. Words `index` and following are
 * those of the pattern from byte 8 * index on. */
struct xb_words {
    const char *name; /* of the instructions that it uses */
    void (*fill)(unsigned char *out, struct xb_pattern pattern, struct xb_compute_leap leap,
                 uint64_t index, uint64_t count);
    /* Whether memory holds these words. */
    bool (*match)(const unsigned char *in, struct xb_pattern pattern, struct xb_compute_leap leap,
                  uint64_t index, uint64_t count);
    /* What the words in memory, after the leap, add to a digest in which the first is `index`. */
    unsigned long long (*sum)(const unsigned char *in, struct xb_compute_leap leap, uint64_t index,
                              uint64_t count);
};

/* The way that suits this CPU best: a word takes three multiplications of 64 bits, and a CPU that
 * makes several at a time fills memory as fast as it can be written. Cheap to ask. */
const struct xb_words *xb_words_fastest(void);

/* For tests: the `number`-th way that this CPU can take, the fastest first; NULL behind the last.
 */
const struct xb_words *xb_words_usable(unsigned number);
