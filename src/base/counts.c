/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers that are no sizes: one, or a list of them and of ranges that double. */
#include "xferbench/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A part of a text. */
struct span {
    const char *text;
    size_t length;
};

/* A list while it is read. */
struct list {
    uint64_t minimum, maximum;
    struct xb_counts counts;
};

/* How many characters an error quotes. */
static int quoted(struct span span)
{
    return span.length < 80 ? (int)span.length : 80;
}

static enum xb_status parse_count(struct span span, uint64_t minimum, uint64_t maximum,
                                  uint64_t *count, struct xb_error *error)
{
    /* Check the digits here, because strtoull accepts spaces and signs. */
    bool is_number = span.length > 0 && strspn(span.text, "0123456789") >= span.length;
    errno = 0;
    uint64_t number = is_number ? strtoull(span.text, NULL, 10) : 0;
    if (!is_number || errno == ERANGE || number < minimum || number > maximum)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.*s\" is not a whole number from %" PRIu64 " to %" PRIu64, quoted(span),
                       span.text, minimum, maximum);
    *count = number;
    return XB_OK;
}

enum xb_status xb_count_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                     uint64_t *count, struct xb_error *error)
{
    return parse_count((struct span){text, strlen(text)}, minimum, maximum, count, error);
}

/* The array doubles when the count is a power of two. */
static enum xb_status append(struct xb_counts *counts, uint64_t number, struct span item,
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

/* Of the item "1..16", in which `dots` characters stand before the dots. */
static enum xb_status append_range(struct list *list, struct span item, size_t dots,
                                   struct xb_error *error)
{
    const struct span ends[] = {{item.text, dots}, {item.text + dots + 2, item.length - dots - 2}};
    uint64_t numbers[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i].length == 0)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "range \"%.*s\" lacks a number; name both, as in 1..16", quoted(item),
                           item.text);
        enum xb_status status =
            parse_count(ends[i], list->minimum, list->maximum, &numbers[i], error);
        if (status != XB_OK)
            return status;
    }
    if (numbers[0] == 0)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" cannot double from 0; name 0 apart, as in 0,1..16",
                       quoted(item), item.text);
    if (numbers[1] < numbers[0])
        return XB_FAIL(error, XB_ERR_USAGE,
                       "range \"%.*s\" runs backwards; put the smaller number first, as in 1..16",
                       quoted(item), item.text);
    enum xb_status status = append(&list->counts, numbers[0], item, error);
    while (status == XB_OK && numbers[0] <= numbers[1] / 2) { /* twice the last could overflow */
        numbers[0] *= 2;
        status = append(&list->counts, numbers[0], item, error);
    }
    return status;
}

static enum xb_status append_item(struct list *list, struct span item, struct xb_error *error)
{
    uint64_t number = 0;
    for (size_t i = 0; i + 1 < item.length; i++)
        if (item.text[i] == '.' && item.text[i + 1] == '.')
            return append_range(list, item, i, error);
    enum xb_status status = parse_count(item, list->minimum, list->maximum, &number, error);
    return status == XB_OK ? append(&list->counts, number, item, error) : status;
}

static enum xb_status append_items(struct list *list, const char *text, struct xb_error *error)
{
    const char *item = text;
    for (;;) {
        size_t length = strcspn(item, ",");
        if (length == 0)
            return XB_FAIL(error, XB_ERR_USAGE,
                           "\"%.80s\" has an empty place; give numbers and ranges with single "
                           "commas between, such as 1,4 or 1..16",
                           text);
        enum xb_status status = append_item(list, (struct span){item, length}, error);
        if (status != XB_OK || item[length] == '\0')
            return status;
        item += length + 1;
    }
}

enum xb_status xb_counts_parse_within(const char *text, uint64_t minimum, uint64_t maximum,
                                      struct xb_counts *counts, struct xb_error *error)
{
    struct list list = {.minimum = minimum, .maximum = maximum};
    enum xb_status status = append_items(&list, text, error);
    if (status != XB_OK) {
        xb_counts_free(&list.counts);
        return status;
    }
    *counts = list.counts;
    return XB_OK;
}

void xb_counts_free(struct xb_counts *counts)
{
    free(counts->values);
    *counts = (struct xb_counts){NULL, 0};
}
