/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, whole numbers, lists and ranges of both, durations and times of day: read and written. */
#define _GNU_SOURCE /* strptime, timegm */
#include "units.h"

#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIZE_ACCEPTED                                                                              \
    "a size is a whole number of bytes from %d to 2^63 - 1, such as 4096, 64K, 1.5G or 1GB (K M "  \
    "G T or KiB MiB GiB TiB are powers of 1024, KB MB GB TB powers of 1000)"
#define DURATION_ACCEPTED                                                                          \
    "a duration is a decimal number above 0 with ns, us, ms, s, m or h, or none for seconds, "     \
    "such as 500ms or 1.5"

/* A value is number * factor, of a duration times a power of ten: "e-9". */
struct unit {
    const char *suffix;
    uint64_t factor;
    const char *power;
};

#define UNITS_OF(letter, binary, decimal)                                                          \
    {letter, (binary), ""}, {letter "iB", (binary), ""},                                           \
    {                                                                                              \
        letter "B", (decimal), ""                                                                  \
    }
static const struct unit size_units[] = {{"", 1, ""},
                                         {"B", 1, ""},
                                         UNITS_OF("K", UINT64_C(1) << 10, 1000),
                                         UNITS_OF("M", UINT64_C(1) << 20, 1000000),
                                         UNITS_OF("G", UINT64_C(1) << 30, 1000000000),
                                         UNITS_OF("T", UINT64_C(1) << 40, 1000000000000),
                                         {NULL, 0, ""}};

static const struct unit duration_units[] = {{"", 1, ""},      {"ns", 1, "e-9"}, {"us", 1, "e-6"},
                                             {"ms", 1, "e-3"}, {"s", 1, ""},     {"m", 60, ""},
                                             {"h", 3600, ""},  {NULL, 0, ""}};

#define DIGITS "0123456789"

/* What follows a decimal number: digits, perhaps with a point and digits behind it. NULL where the
 * text does not begin with one. */
static const char *behind_decimal(const char *text)
{
    const char *point = text + strspn(text, DIGITS);
    if (point == text || *point != '.')
        return point != text ? point : NULL;
    const char *end = point + 1 + strspn(point + 1, DIGITS);
    return end > point + 1 ? end : NULL;
}

static const struct unit *find_unit(const struct unit *units, const char *suffix,
                                    int (*compare)(const char *a, const char *b))
{
    while (units->suffix != NULL && compare(units->suffix, suffix) != 0)
        units++;
    return units->suffix != NULL ? units : NULL;
}

/* Computes 0.digits * unit as on paper, from the last digit to the first: exact for any number of
 * digits. Returns false if that is not a whole number. The carry is always less than `unit`. */
static bool fraction_of(const char *digits, uint64_t unit, uint64_t *value)
{
    *value = 0;
    for (size_t i = strspn(digits, DIGITS); i-- > 0; *value /= 10) {
        *value += (uint64_t)(digits[i] - '0') * unit;
        if (*value % 10 != 0)
            return false;
    }
    return true;
}

enum xb_status xb_size_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                    uint64_t *bytes, struct xb_error *error)
{
    const char *suffix = behind_decimal(text), *why = NULL;
    const struct unit *unit = suffix != NULL ? find_unit(size_units, suffix, strcasecmp) : NULL;
    const char *point = text + strspn(text, DIGITS);
    uint64_t whole = strtoull(text, NULL, 10); /* UINT64_MAX where it is more */
    uint64_t part = 0;
    if (suffix == NULL)
        why = "is not a decimal number";
    else if (unit == NULL)
        why = "has an unknown suffix";
    else if (*point == '.' && !fraction_of(point + 1, unit->factor, &part))
        why = "is not a whole number of bytes";
    else if (whole > (INT64_MAX - part) / unit->factor)
        why = "is too large";
    else if (whole == 0 && part == 0 && minimum > 0)
        why = "is zero";
    if (why != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "size \"%.80s\" %s; " SIZE_ACCEPTED, text, why,
                       minimum > 0);
    uint64_t size = whole * unit->factor + part;
    if (size < minimum || size > maximum)
        return XB_FAIL(error, XB_ERR_USAGE, "\"%.80s\" is not a size from %s to %s", text,
                       XB_SIZE_TEXT(minimum), XB_SIZE_TEXT(maximum));
    *bytes = size;
    return XB_OK;
}

enum xb_status xb_count_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *count,
                              struct xb_error *error)
{
    errno = 0;
    uint64_t number = strtoull(text, NULL, 10);
    if (text[0] == '\0' || text[strspn(text, DIGITS)] != '\0' || errno == ERANGE ||
        number < minimum || number > maximum)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.80s\" is not a whole number from %" PRIu64 " to %" PRIu64, text,
                       minimum, maximum);
    *count = number;
    return XB_OK;
}

/* ---- lists and ranges that double ---- */

/* What a list is of, and how messages speak of it. */
struct kind {
    enum xb_status (*parse)(const char *item, uint64_t minimum, uint64_t maximum, uint64_t *number,
                            struct xb_error *error);
    const char *list, *noun, *items, *range, *range_with_0;
};

static const struct kind of_sizes = {xb_size_parse_within, "size list ", "size",
                                     "64K,1M or 4K..1G",   "4K..1G",     "0,1..4K"};
static const struct kind of_counts = {xb_count_parse,   "",      "number",
                                      "1,2,4 or 1..16", "1..16", "0,1..16"};

/* Adds a number, which the user wrote as `item`. */
static enum xb_status append(struct xb_numbers *numbers, const struct kind *kind, uint64_t number,
                             const char *item, struct xb_error *error)
{
    bool of_size = kind == &of_sizes;
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->values[i] == number)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s%s is named twice, again by \"%.80s\"; name %s once",
                           of_size ? "size " : "", of_size ? XB_SIZE_TEXT(number) : digits, item,
                           of_size ? "each size" : "it");
    numbers->values[numbers->count++] = number;
    return XB_OK;
}

/* Adds a number, or a range: where `item` has two points. It may be written to. A range doubles, or
 * takes the step behind its '*' and then both of its ends. */
static enum xb_status append_item(struct xb_numbers *numbers, const struct kind *kind,
                                  uint64_t minimum, uint64_t maximum, char *item,
                                  struct xb_error *error)
{
    char *dots = strstr(item, ".."), *star = dots != NULL ? strchr(dots, '*') : NULL;
    uint64_t first = 0, last = 0, step = 2;
    if (dots == NULL) {
        XB_TRY(kind->parse(item, minimum, maximum, &first, error));
        return append(numbers, kind, first, item, error);
    }
    if (dots == item || dots[2] == '\0')
        return XB_FAIL(error, XB_ERR_USAGE, "range \"%.80s\" lacks a %s; name both, as in %s", item,
                       kind->noun, kind->range);
    *dots = '\0';
    XB_TRY(kind->parse(item, minimum, maximum, &first, error));
    *dots = '.';
    if (star != NULL) {
        XB_TRY(xb_count_parse(star + 1, 2, UINT32_MAX, &step, error));
        *star = '\0';
    }
    XB_TRY(kind->parse(dots + 2, minimum, maximum, &last, error));
    if (star != NULL)
        *star = '*';
    if (first == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.80s\" cannot double from 0; name 0 apart, as in %s", item,
                       kind->range_with_0);
    if (last < first)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.80s\" runs backwards; put the smaller %s first, as in %s", item,
                       kind->noun, kind->range);
    for (;; first *= step) {
        XB_TRY(append(numbers, kind, first, item, error));
        if (first > last / step)
            break;
    }
    return star != NULL && first < last ? append(numbers, kind, last, item, error) : XB_OK;
}

enum xb_status xb_numbers_parse(const char *text, bool are_sizes, uint64_t minimum,
                                uint64_t maximum, struct xb_numbers *numbers,
                                struct xb_arena **memory, struct xb_error *error)
{
    const struct kind *kind = are_sizes ? &of_sizes : &of_counts;
    size_t most = 1, length = strlen(text);
    for (size_t i = 0; i < length; i++) /* a range has 65 numbers at the most */
        most += text[i] == ',' ? 1 : strncmp(text + i, "..", 2) == 0 ? 65 : 0;
    struct xb_numbers read = {.values = xb_arena_new(memory, most * sizeof *read.values)};
    char *rest = memcpy(xb_arena_new(memory, length + 1), text, length);
    if (are_sizes && maximum == 0) {
        minimum = 1;
        maximum = INT64_MAX;
    }
    while (rest != NULL) {
        char *item = strsep(&rest, ",");
        if (item[0] == '\0')
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%s\"%.80s\" has an empty place; give %ss and ranges with single "
                           "commas between, such as %s",
                           kind->list, text, kind->noun, kind->items);
        XB_TRY(append_item(&read, kind, minimum, maximum, item, error));
    }
    *numbers = read;
    return XB_OK;
}

enum xb_status xb_duration_parse(const char *text, double *seconds, struct xb_error *error)
{
    const char *suffix = behind_decimal(text), *why = NULL;
    const struct unit *unit = suffix != NULL ? find_unit(duration_units, suffix, strcmp) : NULL;
    double value = 0;
    if (unit != NULL) {
        char *number = xb_print("%.*s%s", (int)(suffix - text), text, unit->power);
        /* The nearest double; of minutes one with digits to spare, so that 4.1m is 246 s. */
        value = unit->factor == 1 ? strtod(number, NULL)
                                  : (double)(strtold(number, NULL) * (long double)unit->factor);
        free(number);
    }
    if (suffix == NULL)
        why = "is not a decimal number";
    else if (unit == NULL)
        why = "has an unknown unit";
    else if (strtoull(text, NULL, 10) > INT64_MAX)
        why = "is too large";
    else if (!(value > 0.0))
        why = "is zero";
    if (why != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "duration \"%.80s\" %s; %s", text, why,
                       DURATION_ACCEPTED);
    *seconds = value;
    return XB_OK;
}

/* With the largest power of `step` that divides it. */
static void write_size(uint64_t bytes, uint64_t step, const char *const units[], char *text,
                       size_t size)
{
    size_t unit = 0;
    for (; bytes != 0 && bytes % step == 0; unit++)
        bytes /= step;
    snprintf(text, size, "%" PRIu64 " %s", bytes, units[unit]);
}

const char *xb_size_key(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    write_size(bytes, 1024, units, text, size);
    return text;
}

const char *xb_size_format(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    char decimal[32];
    write_size(bytes, 1000, units, decimal, sizeof decimal);
    if (strcspn(decimal, " ") < strcspn(xb_size_key(bytes, text, size), " "))
        snprintf(text, size, "%s", decimal);
    return text;
}

const char *xb_about_format(double bytes, unsigned base, int digits, char text[32])
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
    size_t unit = 0, last = base == 1024 ? 4 : 6;
    for (; bytes >= 1000 && unit < last; unit++)
        bytes /= base;
    snprintf(text, 32, "%.*g %s%sB", digits, bytes, units[unit],
             base == 1024 && unit > 0 ? "i" : "");
    return text;
}

const char *xb_duration_format(double seconds, char *text, size_t size)
{
    static const struct {
        const char *name;
        double per_second;
    } units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1.0}};
    if (!(seconds > 0.0) || isinf(seconds)) {
        snprintf(text, size, "%g s", seconds);
        return text;
    }
    /* The first unit in which the rounded value has three digits at most: 999.6 us is "1.00 ms". */
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double power = 100.0;
        for (int decimals = 2; decimals >= 0; decimals--, power /= 10.0) {
            double digits = floor(seconds * units[i].per_second * power + 0.5);
            if (digits < 1000.0) {
                snprintf(text, size, "%.*f %s", decimals, digits / power, units[i].name);
                return text;
            }
        }
    }
    double step = 10.0;
    while (seconds / step >= 1000.0)
        step *= 10.0;
    snprintf(text, size, "%.0f s", floor(seconds / step + 0.5) * step);
    return text;
}

/* The end of the year 9999: what comes later is no time of day, but a mistake. */
#define LAST_SECOND 253402300799.0

double xb_day_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *xb_day_time_text(double when, char *text)
{
    long long microseconds = llround(when * 1e6);
    time_t seconds = (time_t)(microseconds / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t length = strftime(text, XB_DAY_TIME, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, XB_DAY_TIME - length, ".%06dZ", (int)(microseconds % 1000000));
    return text;
}

enum xb_status xb_day_time_parse(const char *text, double *when, struct xb_error *error)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:";
    bool is_date = text[0] != '@', is_read = true;
    const char *seconds = text + 1;
    *when = 0;
    for (size_t i = 0; is_date && is_read && shape[i] != '\0'; i++)
        is_read = shape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == shape[i];
    if (is_date && is_read) {
        struct tm utc = {.tm_isdst = 0};
        seconds = text + sizeof shape - 1;
        is_read = strptime(text, "%Y-%m-%dT%H:%M:", &utc) == seconds;
        /* timegm() takes a 31 February for a 3 March, which would be another day than was meant. */
        struct tm given = utc;
        *when = (double)timegm(&utc);
        is_read = is_read && given.tm_mday == utc.tm_mday && given.tm_mon == utc.tm_mon;
    }
    const char *end = is_read ? behind_decimal(seconds) : NULL;
    if (end != NULL && strcmp(end, is_date ? "Z" : "") == 0 && end - seconds <= 30) {
        size_t digits = strspn(seconds, DIGITS);
        double number = strtod(seconds, NULL);
        *when += number;
        if ((is_date ? digits == 2 && number < 60 : digits <= 12) && *when >= 0 &&
            *when <= LAST_SECOND)
            return XB_OK;
    }
    return XB_FAIL(error, XB_ERR_USAGE,
                   "\"%.60s\" is no time: write it in UTC as 2026-11-23T06:40:00Z, or as "
                   "@1795416000, the seconds since 1970",
                   text);
}

struct timespec xb_began(void)
{
    static struct timespec began;
    if (began.tv_sec == 0)
        (void)clock_gettime(CLOCK_REALTIME, &began); /* fails only for a clock that is not there */
    return began;
}
