/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MANUAL_MANUAL_H
#define XFERBENCH_MANUAL_MANUAL_H

#include "xferbench/options.h"

#include <stdio.h>

/*
 * A program of the build: writes the man page and the completions of shells from the rows that
 * declare commands, options, modes and columns. Nothing of those is listed here by hand. Whether
 * the stream took it all is for the caller to check.
 */

/* xferbench.1, with that date (1970-12-31) in its corner. */
void xb_manual_write_page(FILE *stream, const char *date);
void xb_manual_write_bash(FILE *stream);
void xb_manual_write_zsh(FILE *stream);
void xb_manual_write_fish(FILE *stream);

/* Whether several words can be given, with commas between. */
bool xb_manual_takes_several(const struct xb_option *option);

/* What a menu says of an option: what it says in brief, else the first sentence of its help. */
const char *xb_manual_brief(const struct xb_option *option, char *text, size_t size);

/* Writes the text with a backslash before each character of `special`. Within the single quotes of
 * a shell an apostrophe is written as `quote` has it. */
void xb_manual_put_escaped(FILE *stream, const char *text, const char *special, const char *quote);

/* Writes each word behind a blank. */
void xb_manual_put_words(FILE *stream, const char *const *words);

#endif
