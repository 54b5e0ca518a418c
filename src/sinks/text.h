/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_TEXT_H
#define XFERBENCH_SINKS_TEXT_H

#include "../core/plain_text.h"

#include <locale.h>
#include <stddef.h>

/* What the sinks share: numbers and texts that read the same everywhere. */

/* What stands for a byte that is no UTF-8: U+FFFD REPLACEMENT CHARACTER. */
#define XB_UTF8_REPLACEMENT "\xEF\xBF\xBD"

/* The shortest of 15 to 17 digits that reads back as exactly this finite value. `text` holds 32. */
const char *xb_number_text(double value, char *text, size_t size);

/* Decimals that show four digits of `value`, and of what stands beside it in its row. */
int xb_decimals_for(double value);

/* Bytes per second as GB/s with four digits: "55.44". `text` holds 32. */
const char *xb_rate_text(double bytes_per_second, char *text, size_t size);

/* A PCIe link as "Gen5 x16"; "12 GT/s x16" for a rate of no generation. `text` holds 32. */
const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size);

/*
 * From enter to leave this thread prints and reads numbers with a point, whatever the user's
 * locale. Give to leave what enter returned.
 */
locale_t xb_plain_locale_enter(void);
void xb_plain_locale_leave(locale_t previous);

#endif
