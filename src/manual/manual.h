/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
