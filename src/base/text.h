/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "plain_text.h"

#include <stddef.h>

/* Numbers and texts that all formats write alike. */

/* Replaces a byte that is not UTF-8: U+FFFD REPLACEMENT CHARACTER. */
#define XB_UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* Writes a finite value with the fewest digits, 15 to 17, that read back as exactly this value.
 * `text` holds 32 bytes. */
const char *xb_number_text(double value, char *text, size_t size);

/* How many decimals show four digits of `value`. Numbers beside it in a row use as many. */
int xb_decimals_for(double value);
/* With these: "55.44". `text` holds 32. */
const char *xb_decimal_text(double value, char *text, size_t size);
/* Bytes per second as GB/s with four digits: "55.44". `text` holds 32. */
const char *xb_rate_text(double bytes_per_second, char *text, size_t size);

/* The same in memory that lasts as long as the block in which the call stands. */
#define XB_NUMBER_TEXT(value) xb_number_text((value), (char[32]){0}, 32)
#define XB_DECIMAL_TEXT(value) xb_decimal_text((value), (char[32]){0}, 32)
#define XB_RATE_TEXT(bytes_per_second) xb_rate_text((bytes_per_second), (char[32]){0}, 32)
