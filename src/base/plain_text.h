/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Paths, device names and drivers' messages may hold any byte. These functions make them harmless
 * for a reader's terminal and for the log of a CI system. */

/*
 * Length of the character at `text`: 1 to 4 bytes of well-formed UTF-8 (The Unicode Standard, table
 * 3-7). 0 at the end of the text, and for a byte that does not begin a well-formed character.
 */
size_t xb_utf8_length(const char *text);

/* Whether the character of `length` bytes at `text`, as xb_utf8_length() told it, is a control
 * character, one that is invisible or changes the direction of writing, one that XML cannot hold,
 * or no UTF-8 (0). */
bool xb_utf8_is_harmful(const char *text, size_t length);

/*
 * Writes `text` as one harmless line into `plain`, which holds `size` bytes; returns `plain`.
 * Control characters, characters that are invisible or change the direction of writing, and bytes
 * that are not UTF-8 become \n, \t, \r or \xNN. So does the second of two colons or hashes in a
 * row, because "::" and "##[" begin the commands of CI systems. Text that does not fit is left out.
 * Converting a converted text changes nothing.
 */
const char *xb_plain_text(const char *text, char *plain, size_t size);

/* Prints "xferbench: " and the message as plain text to stderr: in one line, on a terminal in lines
 * that fit (src/base/note.c, which knows of lines). */
void xb_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
