/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Paths, device names and drivers' messages may hold any byte: these make them harmless for
 * terminals and for the logs of CI systems. */

/* Length of the character at `text`: 1 to 4 bytes of well-formed UTF-8 (The Unicode Standard, table
 * 3-7). 0 at the end of the text, and for a byte that does not begin a well-formed character. */
size_t xb_utf8_length(const char *text);

/* Whether the character at `text` is a control character, invisible, one that changes the direction
 * of writing, one that XML cannot hold, or no UTF-8. */
bool xb_utf8_is_harmful(const char *text);

/* Writes `text` as one harmless line into `plain` of `size` bytes; returns `plain`. Harmful
 * characters become \n, \t, \r or \xNN. So does the second of two colons or hashes, because "::"
 * and "##[" begin commands of CI systems. What does not fit is left out. Doing it twice changes
 * nothing. */
const char *xb_plain_text(const char *text, char *plain, size_t size);

/* Prints "xferbench: " and the message to stderr: in one line, on a terminal in lines that fit. */
void xb_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* In a function whose last parameters are `format, ...`: prints these into `text`, of `size`. */
#define XB_FORMAT(text, size, format)                                                              \
    do {                                                                                           \
        va_list arguments_;                                                                        \
        va_start(arguments_, format);                                                              \
        (void)vsnprintf((text), (size), (format), arguments_);                                     \
        va_end(arguments_);                                                                        \
    } while (0)

/* Whether `word` is in a list such as "cpu,memory". The list "" holds the one word "". */
bool xb_list_has(const char *list, const char *word);

/* Numbers and texts that all formats write alike. */

/* Replaces a byte that is not UTF-8: U+FFFD REPLACEMENT CHARACTER. */
#define XB_UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* Writes a finite value with the fewest of 15 to 17 digits that read back as exactly this value. */
const char *xb_number_text(double value, char *text, size_t size);

/* How many decimals show four digits of `value`. Numbers beside it in a row use as many. */
int xb_decimals_for(double value);
/* With these: "55.44". `text` holds 32. */
const char *xb_decimal_text(double value, char *text, size_t size);

/* Texts in memory that lasts as long as the block in which the call stands. */
#define XB_NUMBER_TEXT(value) xb_number_text((value), (char[32]){0}, 32)
#define XB_DECIMAL_TEXT(value) xb_decimal_text((value), (char[32]){0}, 32)
#define XB_RATE_TEXT(bytes_per_second) XB_DECIMAL_TEXT((bytes_per_second) / 1e9) /* GB/s */

/* One line of a CSV after RFC 4180, written cell by cell. */
struct xb_csv_line {
    FILE *stream;
    bool begun; /* it has a cell */
};

/* NULL, an unknown value, and a number that is not finite, give an empty cell. */
void xb_csv_put(struct xb_csv_line *line, const char *text);
void xb_csv_put_whole(struct xb_csv_line *line, bool known, uint64_t value);
void xb_csv_put_number(struct xb_csv_line *line, bool known, double value);
void xb_csv_end(struct xb_csv_line *line);
