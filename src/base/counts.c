/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers, lists of them, and ranges that double. */
#include "xferbench/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A part of a text. */
struct part {
    const char *text;
    size_t length;
};

struct bounds {
    uint64_t minimum, maximum;
};

/* How much of a part a message quotes. */
static int quoted(struct part part)
{
    return part.length < 80 ? (int)part.length : 80;
}

static enum xb_status refuse(struct part part, struct bounds bounds, struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE,
                   "\"%.*s\" is not a whole number from %" PRIu64 " to %" PRIu64, quoted(part),
                   part.text, bounds.minimum, bounds.maximum);
}

static enum xb_status parse_part(struct part part, struct bounds bounds, uint64_t *count,
                                 struct xb_error *error)
{
    uint64_t number = 0;
    for (size_t i = 0; i < part.length; i++) {
        unsigned digit = (unsigned)(unsigned char)part.text[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return refuse(part, bounds, error);
        number = 10 * number + digit;
    }
    if (part.length == 0 || number < bounds.minimum || number > bounds.maximum)
        return refuse(part, bounds, error);
    *count = number;
    return XB_OK;
}

enum xb_status xb_count_parse(const char *text, uint64_t minimum, uint64_t maximum, uint64_t *count,
                              struct xb_error *error)
{
    return parse_part((struct part){text, strlen(text)}, (struct bounds){minimum, maximum}, count,
                      error);
}

/* Adds a number, which the user wrote as `item`. The array doubles when the count is a power of
 * two. */
static enum xb_status append(struct xb_counts *counts, uint64_t number, struct part item,
                             struct xb_error *error)
{
    for (size_t i = 0; i < counts->count; i++)
        if (counts->values[i] == number)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "%" PRIu64 " is named twice, again by \"%.*s\"; name it once", number,
                           quoted(item), item.text);
    if ((counts->count & (counts->count - 1)) == 0) {
        size_t capacity = counts->count == 0 ? 1 : 2 * counts->count;
        uint64_t *grown = realloc(counts->values, capacity * sizeof *grown);
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %zu numbers", capacity);
        counts->values = grown;
    }
    counts->values[counts->count++] = number;
    return XB_OK;
}

/* `dots` is where the two points stand. */
static enum xb_status append_range(struct xb_counts *counts, struct part item, size_t dots,
                                   struct bounds bounds, struct xb_error *error)
{
    struct part end = {item.text + dots + 2, item.length - dots - 2};
    uint64_t first = 0;
    uint64_t last = 0;
    if (dots == 0 || end.length == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "range \"%.*s\" lacks a number; name both, as in 1..16",
                       quoted(item), item.text);
    enum xb_status status = parse_part((struct part){item.text, dots}, bounds, &first, error);
    if (status != XB_OK)
        return status;
    status = parse_part(end, bounds, &last, error);
    if (status != XB_OK)
        return status;
    if (first == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" cannot double from 0; name 0 apart, as in 0,1..16",
                       quoted(item), item.text);
    if (last < first)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" runs backwards; put the smaller number first, as in 1..16",
                       quoted(item), item.text);
    for (uint64_t number = first;; number *= 2) {
        status = append(counts, number, item, error);
        if (status != XB_OK || number > last / 2)
            return status;
    }
}

static enum xb_status append_item(struct xb_counts *counts, struct part item, struct bounds bounds,
                                  struct xb_error *error)
{
    for (size_t i = 0; i + 1 < item.length; i++)
        if (item.text[i] == '.' && item.text[i + 1] == '.')
            return append_range(counts, item, i, bounds, error);
    uint64_t number = 0;
    enum xb_status status = parse_part(item, bounds, &number, error);
    return status != XB_OK ? status : append(counts, number, item, error);
}

static enum xb_status append_items(struct xb_counts *counts, const char *text, struct bounds bounds,
                                   struct xb_error *error)
{
    const char *rest = text;
    for (bool more = true; more;) {
        struct part item = {rest, strcspn(rest, ",")};
        if (item.length == 0)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "\"%.80s\" has an empty place; give numbers and ranges with single "
                           "commas between, such as 1,2,4 or 1..16",
                           text);
        enum xb_status status = append_item(counts, item, bounds, error);
        if (status != XB_OK)
            return status;
        more = rest[item.length] == ',';
        rest += item.length + 1;
    }
    return XB_OK;
}

enum xb_status xb_counts_parse(const char *text, uint64_t minimum, uint64_t maximum,
                               struct xb_counts *counts, struct xb_error *error)
{
    struct xb_counts parsed = {NULL, 0};
    enum xb_status status = append_items(&parsed, text, (struct bounds){minimum, maximum}, error);
    if (status != XB_OK) {
        xb_counts_free(&parsed);
        return status;
    }
    *counts = parsed;
    return XB_OK;
}

void xb_counts_free(struct xb_counts *counts)
{
    free(counts->values);
    *counts = (struct xb_counts){NULL, 0};
}
