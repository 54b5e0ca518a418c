/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"

/*
 * Data for modes that make it smaller: how much smaller depends on what it is. Everything that is
 * made up depends on the seed and on the position alone, so fewer bytes are the beginning of more.
 */

/* --data: what is made smaller. */
extern const struct xb_option xb_option_data;

/* Values of 32 bits that have their upper 21 bits in common: a block of 'integers'. */
#define XB_DATA_BLOCK_VALUES 1024u
/* The low bits of 'integers', which are uniform. */
#define XB_DATA_INTEGER_BITS 11u
/* 'floats' lie in [XB_DATA_FLOAT_LEAST, XB_DATA_FLOAT_LEAST + XB_DATA_FLOAT_RANGE). */
#define XB_DATA_FLOAT_LEAST 300.0f
#define XB_DATA_FLOAT_RANGE 20.0f

/* XB_ERR_USAGE for a word of --data that is unknown, or whose file cannot be read or is empty. */
enum xb_status xb_data_check(const char *word, struct xb_error *error);

/*
 * Fills memory with what the word, which xb_data_check took, stands for. A file is read once, from
 * its beginning, and repeated where it is shorter. Several threads; blocks until done. Only for a
 * file: XB_ERR_SYSTEM and XB_ERR_USAGE with its path, also where it became shorter meanwhile.
 */
enum xb_status xb_data_fill(const char *word, unsigned long long seed, void *memory, uint64_t bytes,
                            struct xb_error *error);

/* Fills memory with float32 values to quantise: the sign and the mantissa are random, and so is the
 * exponent; magnitudes lie in [2^-6, 2), where halves and E4M3 have no denormal values. */
void xb_weights_fill(unsigned long long seed, void *memory, uint64_t bytes);

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
