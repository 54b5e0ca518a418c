/* SPDX-License-Identifier: Apache-2.0 */
/* Which case of the baseline is compared with which of the candidate. */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"

#include "record/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

/* NULL where the case does not have it, or its value is not known. */
static const char *value_of(const struct xb_record_case *test, const char *name)
{
    const struct xb_record_fact *own =
        xb_record_fact_find(test->parameters, test->parameter_count, name);
    return own != NULL ? own->value : NULL;
}

/* The parameter of that index, or behind it, that is not at its default: one that a case lacks is
 * as good as one at its default. NULL after the last. */
static const struct xb_record_fact *next_unusual(const struct xb_comparison *comparison,
                                                 const struct xb_record_case *test, size_t *index)
{
    const struct xb_comparison_request *request = &comparison->request;
    while (*index < test->parameter_count) {
        const struct xb_record_fact *own = &test->parameters[(*index)++];
        if (own->value == NULL || !xb_parameter_is_default(request->defaults, request->rows, own))
            return own;
    }
    return NULL;
}

/* Orders cases by their parameters; 0 for the same. */
static int order_parameters(const struct xb_comparison *comparison, const struct xb_record_case *a,
                            const struct xb_record_case *b)
{
    int order = 0;
    for (size_t i = 0, k = 0; order == 0;) {
        const struct xb_record_fact *left = next_unusual(comparison, a, &i);
        const struct xb_record_fact *right = next_unusual(comparison, b, &k);
        if (left == NULL || right == NULL)
            return (left != NULL) - (right != NULL);
        order = strcmp(left->name, right->name);
        if (order == 0)
            order = strcmp(left->value != NULL ? left->value : "",
                           right->value != NULL ? right->value : "");
    }
    return order;
}

/* ---- cases that differ in parameters ---- */

/* A case that the other file does not have just so. */
struct leftover {
    const struct xb_record_case *test;
    size_t item; /* of the pairs */
};

static int order_alike(const struct leftover *a, const struct leftover *b)
{
    return xb_cases_order(a->test, b->test, XB_BUT_PARAMETERS);
}

static int by_all(const void *a, const void *b, void *comparison)
{
    const struct leftover *left = a;
    const struct leftover *right = b;
    int order = order_alike(left, right);
    if (order == 0)
        order = order_parameters(comparison, left->test, right->test);
    return order != 0 ? order : (left->item > right->item) - (left->item < right->item);
}

/* How many from the first on are the same but for parameters. */
static size_t alike(const struct leftover *leftovers, size_t count)
{
    size_t length = 1;
    while (length < count && order_alike(&leftovers[0], &leftovers[length]) == 0)
        length++;
    return length;
}

static void join(struct xb_pairs *pairs, const struct leftover *before,
                 const struct leftover *after, bool is_other)
{
    struct xb_pair *pair = &pairs->items[before->item];
    pair->candidate = after->test;
    pair->is_other = is_other;
    pairs->items[after->item].candidate = NULL; /* it does not stand alone */
}

/* Cases that are alike: joins those that are the same, then what is left over, if that is one of
 * either file. */
static void join_alike(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                       const struct leftover *before, size_t n, const struct leftover *after,
                       size_t m)
{
    const struct leftover *left = NULL, *right = NULL;
    size_t same = 0;
    for (size_t i = 0, k = 0; i < n || k < m;) {
        int order = i == n   ? 1
                    : k == m ? -1
                             : order_parameters(comparison, before[i].test, after[k].test);
        if (order == 0) {
            join(pairs, &before[i], &after[k], false);
            same++;
        }
        left = order < 0 ? &before[i] : left;
        right = order > 0 ? &after[k] : right;
        i += order <= 0;
        k += order >= 0;
    }
    if (n == same + 1 && m == same + 1)
        join(pairs, left, right, true);
}

/* Both are sorted. */
static void join_leftovers(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                           const struct leftover *before, size_t n, const struct leftover *after,
                           size_t m)
{
    while (n > 0 && m > 0) {
        int order = order_alike(before, after);
        size_t left = order <= 0 ? alike(before, n) : 0;
        size_t right = order >= 0 ? alike(after, m) : 0;
        join_alike(comparison, pairs, before, left, after, right);
        before += left;
        n -= left;
        after += right;
        m -= right;
    }
}

/* ---- all pairs ---- */

/* Adds the cases of a file: the baseline's with the candidate's that are the same, of the
 * candidate's those that only it has. Collects what has no partner, and returns how many. */
static size_t add_side(struct xb_pairs *pairs, const struct xb_record *record,
                       const struct xb_record *other, bool is_candidate, struct leftover *leftovers)
{
    size_t count = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        const struct xb_record_case *same = xb_record_find(other, test);
        if (is_candidate && same != NULL)
            continue;
        if (same == NULL)
            leftovers[count++] = (struct leftover){test, pairs->count};
        pairs->items[pairs->count++] = is_candidate
                                           ? (struct xb_pair){.candidate = test}
                                           : (struct xb_pair){.baseline = test, .candidate = same};
    }
    return count;
}

enum xb_status xb_pairs_make(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                             struct xb_error *error)
{
    size_t most = comparison->baseline->case_count + comparison->candidate->case_count;
    struct leftover *leftovers = calloc(most + 1, sizeof *leftovers);
    *pairs = (struct xb_pairs){.items = calloc(most + 1, sizeof *pairs->items)};
    if (leftovers == NULL || pairs->items == NULL) {
        free(leftovers);
        xb_pairs_free(pairs);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", most);
    }
    size_t n = add_side(pairs, comparison->baseline, comparison->candidate, false, leftovers);
    size_t m = add_side(pairs, comparison->candidate, comparison->baseline, true, leftovers + n);
    qsort_r(leftovers, n, sizeof *leftovers, by_all, (void *)comparison);
    qsort_r(leftovers + n, m, sizeof *leftovers, by_all, (void *)comparison);
    join_leftovers(comparison, pairs, leftovers, n, leftovers + n, m);
    size_t kept = 0; /* without what stands for nothing */
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->items[i].baseline != NULL || pairs->items[i].candidate != NULL)
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
    free(leftovers);
    return XB_OK;
}

void xb_pairs_free(struct xb_pairs *pairs)
{
    free(pairs->items);
    *pairs = (struct xb_pairs){0};
}

/* ---- what is told of it ---- */

/* " chunk 64 KiB, streams 2": those of `test` that `other` does not have so. */
static void add_parameters(const struct xb_record_case *test, const struct xb_record_case *other,
                           char *text, size_t size)
{
    char value[40];
    size_t length = strlen(text);
    const char *separator = " ";
    for (size_t i = 0; i < test->parameter_count && length < size; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        const char *others = value_of(other, own->name);
        if (own->value == NULL || (others != NULL && strcmp(own->value, others) == 0))
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s%.40s %s", separator, own->name,
                                   xb_parameter_text(test, own->name, value, sizeof value));
        separator = ", ";
    }
    if (separator[0] == ' ' && length < size)
        snprintf(text + length, size - length, " no such parameter");
}

const char *xb_pair_parameters_text(const struct xb_pair *pair, char *text, size_t size)
{
    snprintf(text, size, "measured with");
    add_parameters(pair->candidate, pair->baseline, text, size);
    size_t length = strlen(text);
    snprintf(text + length, size - length, ", the baseline with");
    add_parameters(pair->baseline, pair->candidate, text, size);
    return text;
}
