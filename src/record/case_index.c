/* SPDX-License-Identifier: Apache-2.0 */
/* Which case is which. */
#include "internal.h"
#include "making.h"

#include <stdlib.h>
#include <string.h>

/* The first difference decides. NULL, a value that is not known, comes first. */
static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Both are sorted by name. A text is not the number that reads like it. */
static int compare_parameters(const struct xb_record_case *a, const struct xb_record_case *b)
{
    int order = compare_numbers((int64_t)a->parameter_count, (int64_t)b->parameter_count);
    for (size_t i = 0; order == 0 && i < a->parameter_count; i++) {
        const struct xb_record_fact *left = &a->parameters[i];
        const struct xb_record_fact *right = &b->parameters[i];
        order = compare_texts(left->name, right->name);
        if (order == 0)
            order = compare_texts(left->value, right->value);
        if (order == 0)
            order = compare_numbers(left->is_text, right->is_text);
    }
    return order;
}

int xb_record_order_alike(const struct xb_record_case *a, const struct xb_record_case *b)
{
    const int orders[] = {
        compare_texts(a->mode, b->mode),
        compare_texts(a->variant, b->variant),
        compare_texts(a->direction, b->direction),
        compare_numbers((int64_t)a->bytes, (int64_t)b->bytes),
        compare_numbers(a->device, b->device),
        compare_numbers(a->peer, b->peer),
        compare_numbers(a->latency, b->latency),
        compare_numbers(a->simultaneous, b->simultaneous),
    };
    size_t i = 0;
    while (i + 1 < sizeof orders / sizeof orders[0] && orders[i] == 0)
        i++;
    return orders[i];
}

int xb_record_compare_cases(const struct xb_record_case *a, const struct xb_record_case *b)
{
    int order = xb_record_order_alike(a, b);
    return order != 0 ? order : compare_parameters(a, b);
}

static int by_key(const void *a, const void *b)
{
    return xb_record_compare_cases(*(const struct xb_record_case *const *)a,
                                   *(const struct xb_record_case *const *)b);
}

bool xb_record_make_index(struct xb_record *record)
{
    record->index = calloc(record->case_count + 1, sizeof(struct xb_record_case *));
    if (record->index == NULL)
        return false;
    for (size_t i = 0; i < record->case_count; i++)
        record->index[i] = &record->cases[i];
    qsort(record->index, record->case_count, sizeof(struct xb_record_case *), by_key);
    return true;
}

void xb_record_keep(struct xb_record *record, xb_record_case_test *keeps, const void *what)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->case_count; i++)
        if (keeps(&record->cases[i], what))
            record->cases[kept++] = record->cases[i];
        else
            free(record->cases[i].rows);
    record->case_count = kept;
    for (size_t i = 0; i < kept; i++)
        record->index[i] = &record->cases[i];
    qsort(record->index, kept, sizeof(struct xb_record_case *), by_key);
}

const struct xb_record_case *xb_record_find(const struct xb_record *record,
                                            const struct xb_record_case *test)
{
    const struct xb_record_case *const *found =
        record->case_count > 0 ? bsearch(&test, record->index, record->case_count,
                                         sizeof(struct xb_record_case *), by_key)
                               : NULL;
    return found != NULL ? *found : NULL;
}
