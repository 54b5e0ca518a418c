/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <time.h>

struct xb_arena;

static inline uint64_t xb_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where that would wrap around: the most that there is. */
static inline uint64_t xb_sum(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* A list of sizes in bytes, or of whole numbers. */
struct xb_numbers {
    uint64_t *values;
    size_t count;
};

/* Reads one size: a decimal number and a suffix of either case: K M G T (or KiB MiB GiB TiB) are
 * powers of 1024, KB MB GB TB powers of 1000, B or none is bytes. It must be a whole number from
 * `minimum` to `maximum`. XB_ERR_USAGE says what is wrong. */
enum xb_status xb_size_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                    uint64_t *bytes, struct xb_error *error);
#define xb_size_parse(text, bytes, error)                                                          \
    xb_size_parse_within((text), 1, INT64_MAX, (bytes), (error))

/* Reads a whole number from `minimum` to `maximum`: decimal digits. XB_ERR_USAGE says why not. */
enum xb_status xb_count_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *count,
                              struct xb_error *error);

/* Reads a list of sizes or of whole numbers, and of ranges: "64K,1M" or "1..16", which doubles from
 * the first, above 0, up to the last; "16..100000*4" has four times as much in each step, and then
 * the last. Keeps the order; none may be named twice. They lie in *memory. A maximum of 0 takes
 * every size that xb_size_parse does. XB_ERR_USAGE: then *numbers stays. */
enum xb_status xb_numbers_parse(const char *text, bool are_sizes, uint64_t minimum,
                                uint64_t maximum, struct xb_numbers *numbers,
                                struct xb_arena **memory, struct xb_error *error);

/* Reads a duration: a decimal number with ns, us, ms, s, m or h; none means seconds. Must be
 * > 0. */
enum xb_status xb_duration_parse(const char *text, double *seconds, struct xb_error *error);

/* "1 GiB", "1536 KiB", "64 KB", "1023 B": exact, in fewest digits, and then rather in 1024s. */
const char *xb_size_format(uint64_t bytes, char *text, size_t size);
/* Makes a name that programs keep and compare: "1 GiB", "64000 B". Exact, with the largest power of
 * 1024 that divides. */
const char *xb_size_key(uint64_t bytes, char *text, size_t size);

/* Three significant digits with a fitting unit: "3.31 us", "19.4 ms", "1.20 s". */
const char *xb_duration_format(double seconds, char *text, size_t size);

/* Texts in memory that lasts as long as the block in which the call stands. */
/* To so many digits: "3.2 MiB" where the base is 1024, "2.684 GB" where it is 1000. */
#define XB_ABOUT_TEXT(bytes, base, digits) xb_about_format((bytes), (base), (digits), (char[32]){0})
const char *xb_about_format(double bytes, unsigned base, int digits, char text[32]);
#define XB_SIZE_TEXT(bytes) xb_size_format((bytes), (char[32]){0}, 32)
#define XB_DURATION_TEXT(seconds) xb_duration_format((seconds), (char[32]){0}, 32)

/* Times of day, the same on all machines: seconds since 1970, UTC, to less than a microsecond. */

double xb_day_time_now(void);

#define XB_DAY_TIME 40
/* "2026-11-23T06:40:00.123456Z"; `text` holds XB_DAY_TIME bytes. Returns `text`. */
const char *xb_day_time_text(double when, char *text);
#define XB_DAY_TIME_TEXT(when) xb_day_time_text((when), (char[XB_DAY_TIME]){0})

/* Reads "2026-11-23T06:40:00Z" (UTC, also with a fraction of a second), or "@1795416000.5" (seconds
 * since 1970). XB_ERR_USAGE says what is wrong with the text. */
enum xb_status xb_day_time_parse(const char *text, double *when, struct xb_error *error);

/* The time of day of the first call, which main() makes first of all: when the program began. Names
 * of files and --start-at +10s must mean the same moment. */
struct timespec xb_began(void);
