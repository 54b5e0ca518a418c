/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_PLAIN_TEXT_H
#define XFERBENCH_CORE_PLAIN_TEXT_H

#include <stddef.h>

/* Paths, names of devices and drivers' words hold any byte. What they may do to a reader's terminal
 * or to the log of a CI system is stopped here. */

/*
 * Length of the character at `text`: 1 to 4 bytes of well-formed UTF-8 (The Unicode Standard, table
 * 3-7), or 0 for a byte that begins none and at the end of the text.
 */
size_t xb_utf8_length(const char *text);

/*
 * Writes `text` as one harmless line into `plain`, which holds `size` bytes; returns `plain`.
 * Control characters, characters that cannot be seen or turn the direction of writing, and bytes
 * that are no UTF-8 become \n, \t, \r or \xNN. So does the second of two colons or hashes in a row:
 * "::" and "##[" begin the commands of CI systems. What does not fit is left out. To do it twice
 * changes nothing more.
 */
const char *xb_plain_text(const char *text, char *plain, size_t size);

/* Prints one line to stderr: "xferbench: " and the words as plain text. */
void xb_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
