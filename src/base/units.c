/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_ACCEPTED                                                                              \
    "a size is a whole number of bytes from %d to 2^63 - 1, such as 4096, 64K, 1.5G or 1GB (K M "  \
    "G T or KiB MiB GiB TiB are powers of 1024, KB MB GB TB powers of 1000)"
#define SIZES_ACCEPTED "give sizes and ranges with single commas between, such as 64K,1M or 4K..1G"
#define DURATION_ACCEPTED                                                                          \
    "a duration is a decimal number above 0 with ns, us, ms, s or m, or none for seconds, such "   \
    "as 500ms or 1.5"

/* A part of a text, so that parsing a list copies nothing. */
struct span {
    const char *text;
    size_t length;
};

/* The sizes that are allowed. */
struct bounds {
    uint64_t minimum, maximum;
};
static const struct bounds any_size = {1, INT64_MAX};

struct decimal {
    struct span whole;    /* one digit or more */
    struct span fraction; /* the digits after the point; may be empty */
    struct span suffix;   /* the rest of the text, not checked yet */
};

struct size_unit {
    const char *suffix;
    uint64_t bytes;
};

static const struct size_unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"KiB", UINT64_C(1) << 10},
    {"KB", UINT64_C(1000)},
    {"M", UINT64_C(1) << 20},
    {"MiB", UINT64_C(1) << 20},
    {"MB", UINT64_C(1000000)},
    {"G", UINT64_C(1) << 30},
    {"GiB", UINT64_C(1) << 30},
    {"GB", UINT64_C(1000000000)},
    {"T", UINT64_C(1) << 40},
    {"TiB", UINT64_C(1) << 40},
    {"TB", UINT64_C(1000000000000)},
};

struct duration_unit {
    const char *suffix;
    double factor; /* seconds = number * factor / 10^decimals; both are exact, unlike 1e-9 */
    size_t decimals;
};

static const struct duration_unit duration_units[] = {
    {"", 1.0, 0}, {"ns", 1.0, 9}, {"us", 1.0, 6}, {"ms", 1.0, 3}, {"s", 1.0, 0}, {"m", 60.0, 0},
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

/* The digits at the start of the span. This avoids isdigit(), because what counts as a number must
 * not depend on the locale. */
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

/* Reads the number that the digits stand for. Returns false if it does not fit in 63 bits. */
static bool digits_value(struct span digits, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < digits.length; i++) {
        uint64_t digit = (uint64_t)(digits.text[i] - '0');
        if (sum > (INT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}

/*
 * Computes 0.digits * unit. Returns false if that is not a whole number. It multiplies as on paper,
 * from the last digit to the first, so the result is exact for any number of digits. Each digit of
 * the product behind the point must be 0, and the carry is always less than `unit`.
 */
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

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const struct size_unit *find_size_unit(struct span suffix)
{
    for (size_t i = 0; i < COUNT_OF(size_units); i++) {
        const char *name = size_units[i].suffix;
        size_t k = 0;
        while (k < suffix.length && name[k] != '\0' &&
               ascii_lower(name[k]) == ascii_lower(suffix.text[k]))
            k++;
        if (k == suffix.length && name[k] == '\0')
            return &size_units[i];
    }
    return NULL;
}

static enum xb_status refuse_size(struct span span, struct bounds bounds, const char *why,
                                  struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE, "size \"%.*s\" %s; " SIZE_ACCEPTED, quoted(span), span.text,
                   why, bounds.minimum > 0);
}

static enum xb_status check_bounds(struct span span, struct bounds bounds, uint64_t bytes,
                                   struct xb_error *error)
{
    char minimum[32];
    char maximum[32];
    if (bytes >= bounds.minimum && bytes <= bounds.maximum)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "\"%.*s\" is not a size from %s to %s", quoted(span),
                   span.text, xb_size_format(bounds.minimum, minimum, sizeof minimum),
                   xb_size_format(bounds.maximum, maximum, sizeof maximum));
}

static enum xb_status parse_size(struct span span, struct bounds bounds, uint64_t *bytes,
                                 struct xb_error *error)
{
    struct decimal decimal;
    uint64_t whole = 0;
    uint64_t part = 0;
    if (!split_decimal(span, &decimal))
        return refuse_size(span, bounds, "is not a decimal number", error);
    const struct size_unit *unit = find_size_unit(decimal.suffix);
    if (unit == NULL)
        return refuse_size(span, bounds, "has an unknown suffix", error);
    if (!fraction_of(decimal.fraction, unit->bytes, &part))
        return refuse_size(span, bounds, "is not a whole number of bytes", error);
    if (!digits_value(decimal.whole, &whole) || whole > (INT64_MAX - part) / unit->bytes)
        return refuse_size(span, bounds, "is too large", error);
    uint64_t size = whole * unit->bytes + part;
    if (size == 0 && bounds.minimum > 0)
        return refuse_size(span, bounds, "is zero", error);
    enum xb_status status = check_bounds(span, bounds, size, error);
    if (status == XB_OK)
        *bytes = size;
    return status;
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

/* Adds a size, which the user wrote as `item`. The array doubles when the count is a power of two.
 */
static enum xb_status append_size(struct xb_sizes *sizes, uint64_t bytes, struct span item,
                                  struct xb_error *error)
{
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->bytes[i] == bytes) {
            char text[32];
            return XB_FAIL(error, XB_ERR_USAGE,
                           "size %s is named twice, again by \"%.*s\"; name each size once",
                           xb_size_format(bytes, text, sizeof text), quoted(item), item.text);
        }
    }
    if ((sizes->count & (sizes->count - 1)) == 0) {
        size_t capacity = sizes->count == 0 ? 1 : 2 * sizes->count;
        uint64_t *grown = realloc(sizes->bytes, capacity * sizeof *grown);
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu sizes", capacity);
        sizes->bytes = grown;
    }
    sizes->bytes[sizes->count++] = bytes;
    return XB_OK;
}

static enum xb_status append_range(struct xb_sizes *sizes, struct span item, size_t dots,
                                   struct bounds bounds, struct xb_error *error)
{
    uint64_t first = 0;
    uint64_t last = 0;
    if (dots == 0 || dots + 2 == item.length)
        return XB_FAIL(error, XB_ERR_USAGE, "range \"%.*s\" lacks a size; name both, as in 4K..1G",
                       quoted(item), item.text);
    enum xb_status status = parse_size((struct span){item.text, dots}, bounds, &first, error);
    if (status != XB_OK)
        return status;
    status = parse_size(skip(item, dots + 2), bounds, &last, error);
    if (status != XB_OK)
        return status;
    if (first == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" cannot double from 0; name 0 apart, as in 0,1..4K",
                       quoted(item), item.text);
    if (last < first)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" runs backwards; put the smaller size first, as in 4K..1G",
                       quoted(item), item.text);
    /* A size has at most 63 bits, so doubling the last one does not overflow. */
    for (uint64_t bytes = first; bytes <= last; bytes *= 2) {
        status = append_size(sizes, bytes, item, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

static enum xb_status append_item(struct xb_sizes *sizes, struct span item, struct bounds bounds,
                                  struct xb_error *error)
{
    for (size_t i = 0; i + 1 < item.length; i++)
        if (item.text[i] == '.' && item.text[i + 1] == '.')
            return append_range(sizes, item, i, bounds, error);
    uint64_t bytes = 0;
    enum xb_status status = parse_size(item, bounds, &bytes, error);
    if (status != XB_OK)
        return status;
    return append_size(sizes, bytes, item, error);
}

static enum xb_status append_items(struct xb_sizes *sizes, const char *text, struct bounds bounds,
                                   struct xb_error *error)
{
    const char *item = text;
    while (item != NULL) {
        const char *comma = strchr(item, ',');
        struct span span = {item, comma != NULL ? (size_t)(comma - item) : strlen(item)};
        if (span.length == 0)
            return XB_FAIL(error, XB_ERR_USAGE, "size list \"%.*s\" has an empty place; %s",
                           quoted(span_of(text)), text, SIZES_ACCEPTED);
        enum xb_status status = append_item(sizes, span, bounds, error);
        if (status != XB_OK)
            return status;
        item = comma != NULL ? comma + 1 : NULL;
    }
    return XB_OK;
}

enum xb_status xb_sizes_parse(const char *text, struct xb_sizes *sizes, struct xb_error *error)
{
    return xb_sizes_parse_within(text, any_size.minimum, any_size.maximum, sizes, error);
}

enum xb_status xb_sizes_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                     struct xb_sizes *sizes, struct xb_error *error)
{
    struct xb_sizes parsed = {NULL, 0};
    enum xb_status status = append_items(&parsed, text, (struct bounds){minimum, maximum}, error);
    if (status != XB_OK) {
        xb_sizes_free(&parsed);
        return status;
    }
    *sizes = parsed;
    return XB_OK;
}

void xb_sizes_free(struct xb_sizes *sizes)
{
    free(sizes->bytes);
    *sizes = (struct xb_sizes){NULL, 0};
}

static const struct duration_unit *find_duration_unit(struct span suffix)
{
    for (size_t i = 0; i < COUNT_OF(duration_units); i++) {
        const char *name = duration_units[i].suffix;
        if (strlen(name) == suffix.length && memcmp(name, suffix.text, suffix.length) == 0)
            return &duration_units[i];
    }
    return NULL;
}

/*
 * Computes (whole + 0.fraction) * factor / 10^decimals. If number * factor is below 2^53 and the
 * divisor is at most 10^22, both are exact, so the result is rounded only once and is the nearest
 * double (Clinger, "How to read floating point numbers accurately", PLDI 1990). Otherwise it is off
 * by at most 2 units in the last place. Digits past the 18th are dropped, because a double cannot
 * hold them.
 */
static double duration_seconds(uint64_t whole, struct span fraction,
                               const struct duration_unit *unit)
{
    uint64_t number = whole;
    double divisor = 1.0;
    for (size_t i = 0; i < fraction.length && number < UINT64_C(100000000000000000); i++) {
        number = number * 10 + (uint64_t)(fraction.text[i] - '0');
        divisor *= 10.0;
    }
    for (size_t i = 0; i < unit->decimals; i++)
        divisor *= 10.0;
    return (double)number * unit->factor / divisor;
}

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
    const struct duration_unit *unit = find_duration_unit(decimal.suffix);
    if (unit == NULL)
        return refuse_duration(span, "has an unknown unit", error);
    if (!digits_value(decimal.whole, &whole))
        return refuse_duration(span, "is too large", error);
    double value = duration_seconds(whole, decimal.fraction, unit);
    if (!(value > 0.0))
        return refuse_duration(span, "is zero", error);
    *seconds = value;
    return XB_OK;
}

const char *xb_size_format(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%" PRIu64 " %s", bytes, units[unit]);
    return text;
}

/* Writes digits / 10^decimals. It avoids printf's %f, whose decimal point depends on the locale. */
static void write_decimal(unsigned digits, int decimals, const char *unit, char *text, size_t size)
{
    if (decimals == 2)
        snprintf(text, size, "%u.%02u %s", digits / 100, digits % 100, unit);
    else if (decimals == 1)
        snprintf(text, size, "%u.%u %s", digits / 10, digits % 10, unit);
    else
        snprintf(text, size, "%u %s", digits, unit);
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
    /* Use the first unit in which the rounded value has at most three digits, so that 999.6 us
     * becomes "1.00 ms". */
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        double power = 100.0;
        for (int decimals = 2; decimals >= 0; decimals--, power /= 10.0) {
            double digits = floor(seconds * units[i].per_second * power + 0.5);
            if (digits < 1000.0) {
                write_decimal((unsigned)digits, decimals, units[i].name, text, size);
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
