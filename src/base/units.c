/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, whole numbers, lists and ranges of both, durations and times of day: read and written. */
#define _GNU_SOURCE /* strptime, timegm */
#include "units.h"

#include "day_time.h"
#include "memory.h"

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
    "a duration is a decimal number above 0 with ns, us, ms, s or m, or none for seconds, such "   \
    "as 500ms or 1.5"

/* A part of a text, so that parsing a list copies nothing. */
struct span {
    const char *text;
    size_t length;
};

/* The numbers that are allowed. */
struct bounds {
    uint64_t minimum, maximum;
};
static const struct bounds any_size = {1, INT64_MAX};

struct decimal {
    struct span whole;    /* one digit or more */
    struct span fraction; /* the digits after the point; may be empty */
    struct span suffix;   /* the rest of the text, not checked yet */
};

/* A value is number * factor / 10^decimals; both are exact, unlike 1e-9. */
struct unit {
    const char *suffix;
    uint64_t factor;
    size_t decimals;
};

#define UNITS_OF(letter, binary, decimal)                                                          \
    {letter, (binary), 0}, {letter "iB", (binary), 0},                                             \
    {                                                                                              \
        letter "B", (decimal), 0                                                                   \
    }
static const struct unit size_units[] = {
    {"", 1, 0},
    {"B", 1, 0},
    UNITS_OF("K", UINT64_C(1) << 10, 1000),
    UNITS_OF("M", UINT64_C(1) << 20, 1000000),
    UNITS_OF("G", UINT64_C(1) << 30, 1000000000),
    UNITS_OF("T", UINT64_C(1) << 40, 1000000000000),
};

static const struct unit duration_units[] = {
    {"", 1, 0}, {"ns", 1, 9}, {"us", 1, 6}, {"ms", 1, 3}, {"s", 1, 0}, {"m", 60, 0},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* How many characters an error quotes. The rest of the message must fit behind them. */
static int quoted(struct span span)
{
    return span.length < 80 ? (int)span.length : 80;
}

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static struct span skip(struct span span, size_t length)
{
    return (struct span){span.text + length, span.length - length};
}

/* The digits at the start of the span. */
static struct span leading_digits(struct span span)
{
    size_t length = 0;
    while (length < span.length && span.text[length] >= '0' && span.text[length] <= '9')
        length++;
    return (struct span){span.text, length};
}

static bool split_decimal(struct span span, struct decimal *decimal)
{
    decimal->whole = leading_digits(span);
    if (decimal->whole.length == 0)
        return false;
    decimal->suffix = skip(span, decimal->whole.length);
    decimal->fraction = (struct span){decimal->suffix.text, 0};
    if (decimal->suffix.length == 0 || decimal->suffix.text[0] != '.')
        return true;
    decimal->fraction = leading_digits(skip(decimal->suffix, 1));
    decimal->suffix = skip(decimal->suffix, 1 + decimal->fraction.length);
    return decimal->fraction.length > 0;
}

static const struct unit *find_unit(const struct unit *units, size_t count, struct span suffix,
                                    int (*compare)(const char *a, const char *b, size_t length))
{
    for (size_t i = 0; i < count; i++)
        if (strlen(units[i].suffix) == suffix.length &&
            compare(units[i].suffix, suffix.text, suffix.length) == 0)
            return &units[i];
    return NULL;
}

/* Reads the number that the digits stand for. Returns false if it is more than `most`. */
static bool digits_value(struct span digits, uint64_t most, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint64_t digit = (uint64_t)(digits.text[i] - '0');
        if (*value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/* Computes 0.digits * unit. Returns false if that is not a whole number. It multiplies as on paper,
 * from the last digit to the first, so the result is exact for any number of digits. Each digit of
 * the product behind the point must be 0, and the carry is always less than `unit`. */
static bool fraction_of(struct span digits, uint64_t unit, uint64_t *value)
{
    uint64_t carry = 0;
    for (size_t i = digits.length; i-- > 0;) {
        uint64_t product = (uint64_t)(digits.text[i] - '0') * unit + carry;
        if (product % 10 != 0)
            return false;
        carry = product / 10;
    }
    *value = carry;
    return true;
}

static enum xb_status refuse_size(struct span span, struct bounds bounds, const char *why,
                                  struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE, "size \"%.*s\" %s; " SIZE_ACCEPTED, quoted(span), span.text,
                   why, bounds.minimum > 0);
}

static enum xb_status parse_size(struct span span, struct bounds bounds, uint64_t *bytes,
                                 struct xb_error *error)
{
    struct decimal decimal;
    uint64_t whole = 0;
    uint64_t part = 0;
    if (!split_decimal(span, &decimal))
        return refuse_size(span, bounds, "is not a decimal number", error);
    const struct unit *unit =
        find_unit(size_units, COUNT_OF(size_units), decimal.suffix, strncasecmp);
    if (unit == NULL)
        return refuse_size(span, bounds, "has an unknown suffix", error);
    if (!fraction_of(decimal.fraction, unit->factor, &part))
        return refuse_size(span, bounds, "is not a whole number of bytes", error);
    if (!digits_value(decimal.whole, INT64_MAX, &whole) ||
        whole > (INT64_MAX - part) / unit->factor)
        return refuse_size(span, bounds, "is too large", error);
    uint64_t size = whole * unit->factor + part;
    if (size == 0 && bounds.minimum > 0)
        return refuse_size(span, bounds, "is zero", error);
    if (size < bounds.minimum || size > bounds.maximum)
        return XB_FAIL(error, XB_ERR_USAGE, "\"%.*s\" is not a size from %s to %s", quoted(span),
                       span.text, XB_SIZE_TEXT(bounds.minimum), XB_SIZE_TEXT(bounds.maximum));
    *bytes = size;
    return XB_OK;
}

enum xb_status xb_size_parse(const char *text, uint64_t *bytes, struct xb_error *error)
{
    return parse_size(span_of(text), any_size, bytes, error);
}

enum xb_status xb_size_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                    uint64_t *bytes, struct xb_error *error)
{
    return parse_size(span_of(text), (struct bounds){minimum, maximum}, bytes, error);
}

static enum xb_status parse_count(struct span span, struct bounds bounds, uint64_t *count,
                                  struct xb_error *error)
{
    uint64_t number = 0;
    bool fits = span.length > 0 && leading_digits(span).length == span.length &&
                digits_value(span, UINT64_MAX, &number);
    if (!fits || number < bounds.minimum || number > bounds.maximum)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.*s\" is not a whole number from %" PRIu64 " to %" PRIu64, quoted(span),
                       span.text, bounds.minimum, bounds.maximum);
    *count = number;
    return XB_OK;
}

enum xb_status xb_count_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *count,
                              struct xb_error *error)
{
    return parse_count(span_of(text), (struct bounds){minimum, maximum}, count, error);
}

/* ---- lists and ranges that double ---- */

/* What a list is of, and how messages speak of it. */
struct kind {
    enum xb_status (*parse)(struct span item, struct bounds bounds, uint64_t *number,
                            struct xb_error *error);
    const char *list, *noun, *items, *range, *range_with_0;
};

static const struct kind of_sizes = {parse_size,         "size list ", "size",
                                     "64K,1M or 4K..1G", "4K..1G",     "0,1..4K"};
static const struct kind of_counts = {parse_count,      "",      "number",
                                      "1,2,4 or 1..16", "1..16", "0,1..16"};

struct list {
    const struct kind *kind;
    struct bounds bounds;
    struct xb_numbers numbers;
};

/* Adds a number, which the user wrote as `item`. */
static enum xb_status append(struct list *list, uint64_t number, struct span item,
                             struct xb_error *error)
{
    struct xb_numbers *numbers = &list->numbers;
    for (size_t i = 0; i < numbers->count; i++) {
        if (numbers->values[i] == number && list->kind == &of_sizes)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "size %s is named twice, again by \"%.*s\"; name each size once",
                           XB_SIZE_TEXT(number), quoted(item), item.text);
        if (numbers->values[i] == number)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%" PRIu64 " is named twice, again by \"%.*s\"; name it once", number,
                           quoted(item), item.text);
    }
    numbers->values = xb_grow(numbers->values, numbers->count, sizeof *numbers->values);
    numbers->values[numbers->count++] = number;
    return XB_OK;
}

/* `dots` is where the two points stand. */
static enum xb_status append_range(struct list *list, struct span item, size_t dots,
                                   struct xb_error *error)
{
    const struct kind *kind = list->kind;
    struct span end = skip(item, dots + 2);
    uint64_t first = 0;
    uint64_t last = 0;
    if (dots == 0 || end.length == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "range \"%.*s\" lacks a %s; name both, as in %s",
                       quoted(item), item.text, kind->noun, kind->range);
    XB_TRY(kind->parse((struct span){item.text, dots}, list->bounds, &first, error));
    XB_TRY(kind->parse(end, list->bounds, &last, error));
    if (first == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" cannot double from 0; name 0 apart, as in %s", quoted(item),
                       item.text, kind->range_with_0);
    if (last < first)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" runs backwards; put the smaller %s first, as in %s",
                       quoted(item), item.text, kind->noun, kind->range);
    for (uint64_t number = first;; number *= 2) {
        XB_TRY(append(list, number, item, error));
        if (number > last / 2)
            return XB_OK;
    }
}

/* On failure nothing is left to free, and *numbers stays. */
static enum xb_status parse_list(const char *text, const struct kind *kind, struct bounds bounds,
                                 struct xb_numbers *numbers, struct xb_error *error)
{
    struct list list = {.kind = kind, .bounds = bounds};
    const char *rest = text;
    enum xb_status status = XB_OK;
    for (bool more = true; more && status == XB_OK;) {
        struct span item = {rest, strcspn(rest, ",")};
        const char *dots = strstr(rest, "..");
        uint64_t number = 0;
        if (item.length == 0)
            status = XB_FAIL(error, XB_ERR_USAGE,
                             "%s\"%.80s\" has an empty place; give %ss and ranges with single "
                             "commas between, such as %s",
                             kind->list, text, kind->noun, kind->items);
        else if (dots != NULL && dots < rest + item.length)
            status = append_range(&list, item, (size_t)(dots - rest), error);
        else if ((status = kind->parse(item, bounds, &number, error)) == XB_OK)
            status = append(&list, number, item, error);
        more = rest[item.length] == ',';
        rest += item.length + 1;
    }
    if (status == XB_OK)
        *numbers = list.numbers;
    else
        free(list.numbers.values);
    return status;
}

enum xb_status xb_sizes_parse(const char *text, uint64_t minimum, uint64_t maximum,
                              struct xb_numbers *sizes, struct xb_error *error)
{
    struct bounds bounds = maximum > 0 ? (struct bounds){minimum, maximum} : any_size;
    return parse_list(text, &of_sizes, bounds, sizes, error);
}

enum xb_status xb_counts_parse(const char *text, uint64_t minimum, uint64_t maximum,
                               struct xb_numbers *counts, struct xb_error *error)
{
    return parse_list(text, &of_counts, (struct bounds){minimum, maximum}, counts, error);
}

void xb_numbers_free(struct xb_numbers *numbers)
{
    free(numbers->values);
    *numbers = (struct xb_numbers){NULL, 0};
}

/* ---- durations ---- */

static enum xb_status refuse_duration(struct span span, const char *why, struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE, "duration \"%.*s\" %s; %s", quoted(span), span.text, why,
                   DURATION_ACCEPTED);
}

enum xb_status xb_duration_parse(const char *text, double *seconds, struct xb_error *error)
{
    struct span span = span_of(text);
    struct decimal decimal;
    uint64_t whole = 0;
    if (!split_decimal(span, &decimal))
        return refuse_duration(span, "is not a decimal number", error);
    const struct unit *unit =
        find_unit(duration_units, COUNT_OF(duration_units), decimal.suffix, strncmp);
    if (unit == NULL)
        return refuse_duration(span, "has an unknown unit", error);
    if (!digits_value(decimal.whole, INT64_MAX, &whole))
        return refuse_duration(span, "is too large", error);
    /* Computes (whole + 0.fraction) * factor / 10^decimals. If number * factor is below 2^53 and
     * the divisor is at most 10^22, both are exact, so the result is rounded only once and is the
     * nearest double (Clinger, "How to read floating point numbers accurately", PLDI 1990).
     * Otherwise it is off by at most 2 units in the last place. Digits past the 18th are dropped,
     * because a double cannot hold them. */
    uint64_t number = whole;
    double divisor = 1.0;
    for (size_t i = 0; i < decimal.fraction.length && number < UINT64_C(100000000000000000); i++) {
        number = number * 10 + (uint64_t)(decimal.fraction.text[i] - '0');
        divisor *= 10.0;
    }
    for (size_t i = 0; i < unit->decimals; i++)
        divisor *= 10.0;
    double value = (double)number * (double)unit->factor / divisor;
    if (!(value > 0.0))
        return refuse_duration(span, "is zero", error);
    *seconds = value;
    return XB_OK;
}

/* ---- written ---- */

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

/* ---- times of day ---- */

#define DIGITS "0123456789"
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

/* Reads `text` up to `end` where that is digits, and at most one point between them. */
static bool read_decimal(const char *text, const char *end, double *value)
{
    size_t length = (size_t)(end - text);
    size_t whole = strspn(text, DIGITS);
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
    if (whole == 0 || whole > 12 || length > 30 ||
        whole + (fraction > 0 ? fraction + 1 : 0) != length)
        return false;
    *value = strtod(text, NULL);
    return true;
}

/* The date and the whole minutes; `rest` is left at the seconds. timegm() takes a 31 February for a
 * 3 March, which would be another day than was meant. */
static bool read_minutes(const char *text, const char **rest, double *when)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:";
    struct tm utc = {.tm_isdst = 0};
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    *rest = strptime(text, "%Y-%m-%dT%H:%M:", &utc);
    if (*rest == NULL)
        return false;
    struct tm given = utc;
    *when = (double)timegm(&utc);
    return given.tm_mday == utc.tm_mday && given.tm_mon == utc.tm_mon;
}

enum xb_status xb_day_time_parse(const char *text, double *when, struct xb_error *error)
{
    const char *end = text + strlen(text);
    const char *rest = NULL;
    double seconds = 0;
    bool is_read = false;
    *when = 0;
    if (text[0] == '@')
        is_read = read_decimal(text + 1, end, &seconds);
    else if (read_minutes(text, &rest, when) && end[-1] == 'Z')
        is_read = read_decimal(rest, end - 1, &seconds) && strcspn(rest, ".Z") == 2 && seconds < 60;
    *when += seconds;
    if (is_read && *when >= 0 && *when <= LAST_SECOND)
        return XB_OK;
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
