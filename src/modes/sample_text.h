/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_SAMPLE_TEXT_H
#define XFERBENCH_MODES_SAMPLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Text of made-up words with frequencies like a language's, in sentences and lines. It begins anew
 * in every block, so that blocks can be written by several threads; a word may be cut at its end.
 */
#define XB_TEXT_BLOCK 65536u

/* How many words there are, and the longest one's letters with a closing zero. */
#define XB_TEXT_WORDS 2000u
#define XB_TEXT_WORD_SIZE 13u

/* Writes word `rank` (0: the most frequent), in small letters, with a closing zero, and returns its
 * length. No two are alike. */
size_t xb_text_word(unsigned rank, char word[XB_TEXT_WORD_SIZE]);

/* Fills memory with text: each byte depends on the seed and its position alone. Several threads. */
void xb_text_fill(unsigned long long seed, void *memory, uint64_t bytes);

#endif
