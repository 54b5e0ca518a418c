/* SPDX-License-Identifier: Apache-2.0 */
/* Which case of the baseline is compared with which of the candidate. */
#include "pairs.h"

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

/* Whether every parameter of `one` has the same value in `other`. */
static bool agrees(const struct xb_comparison *comparison, const struct xb_record_case *one,
                   const struct xb_record_case *other)
{
    const struct xb_comparison_request *request = &comparison->request;
    for (size_t i = 0; i < one->parameter_count; i++) {
        const struct xb_record_fact *own = &one->parameters[i];
        const char *others = value_of(other, own->name);
        if (own->value == NULL ||
            (others != NULL ? strcmp(own->value, others) != 0
                            : !xb_parameter_is_default(request->defaults, request->rows, own)))
            return false;
    }
    return true;
}

/* Whether both have the same parameters, where one that a case lacks is at its default. */
static bool are_same(const struct xb_comparison *comparison, const struct xb_record_case *before,
                     const struct xb_record_case *after)
{
    return agrees(comparison, before, after) && agrees(comparison, after, before);
}

/* ---- cases that differ in parameters ---- */

/* A case that the other file does not have just so. */
struct leftover {
    const struct xb_record_case *test;
    size_t item; /* of the pairs */
};

static int by_all_but_parameters(const void *a, const void *b)
{
    return xb_record_order_alike(((const struct leftover *)a)->test,
                                 ((const struct leftover *)b)->test);
}

/* How many from the first on are the same but for parameters. */
static size_t alike(const struct leftover *leftovers, size_t count)
{
    size_t length = 1;
    while (length < count && by_all_but_parameters(&leftovers[0], &leftovers[length]) == 0)
        length++;
    return length;
}

static void join(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                 const struct leftover *before, const struct leftover *after)
{
    struct xb_pair *pair = &pairs->items[before->item];
    pair->candidate = after->test;
    pair->is_other = !are_same(comparison, before->test, after->test);
    pairs->items[after->item].candidate = NULL; /* it does not stand alone */
}

/* Joins a case with the one that is the same, if there is one. */
static bool join_same(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                      const struct leftover *before, const struct leftover *after, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pairs->items[after[i].item].candidate != NULL &&
            are_same(comparison, before->test, after[i].test)) {
            join(comparison, pairs, before, &after[i]);
            return true;
        }
    return false;
}

/* Cases that are alike: joins those that are the same, then what is left over, if that is one of
 * either file. */
static void join_alike(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                       const struct leftover *before, size_t n, const struct leftover *after,
                       size_t m)
{
    const struct leftover *left = NULL, *right = NULL;
    size_t lefts = 0, rights = 0;
    for (size_t i = 0; i < n; i++)
        if (!join_same(comparison, pairs, &before[i], after, m)) {
            left = &before[i];
            lefts++;
        }
    for (size_t i = 0; i < m; i++)
        if (pairs->items[after[i].item].candidate != NULL) {
            right = &after[i];
            rights++;
        }
    if (lefts == 1 && rights == 1)
        join(comparison, pairs, left, right);
}

/* Both are sorted. */
static void join_leftovers(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                           const struct leftover *before, size_t n, const struct leftover *after,
                           size_t m)
{
    while (n > 0 && m > 0) {
        int order = by_all_but_parameters(before, after);
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

/* First every case of the baseline with the one that is the same, then what only the candidate has.
 * Collects what has no partner of either side, and returns how many. */
static size_t pair_baseline(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                            struct leftover *leftovers)
{
    const struct xb_record *baseline = comparison->baseline;
    size_t count = 0;
    for (size_t i = 0; i < baseline->case_count; i++) {
        const struct xb_record_case *test = &baseline->cases[i];
        const struct xb_record_case *same = xb_record_find(comparison->candidate, test);
        if (same == NULL)
            leftovers[count++] = (struct leftover){test, pairs->count};
        pairs->items[pairs->count++] = (struct xb_pair){.baseline = test, .candidate = same};
    }
    return count;
}

static size_t add_candidate(const struct xb_comparison *comparison, struct xb_pairs *pairs,
                            struct leftover *leftovers)
{
    const struct xb_record *candidate = comparison->candidate;
    size_t count = 0;
    for (size_t i = 0; i < candidate->case_count; i++) {
        const struct xb_record_case *test = &candidate->cases[i];
        if (xb_record_find(comparison->baseline, test) != NULL)
            continue;
        leftovers[count++] = (struct leftover){test, pairs->count};
        pairs->items[pairs->count++] = (struct xb_pair){.candidate = test};
    }
    return count;
}

/* Leaves out what stands for nothing. */
static void keep_used(struct xb_pairs *pairs)
{
    size_t kept = 0;
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->items[i].baseline != NULL || pairs->items[i].candidate != NULL)
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
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
    size_t n = pair_baseline(comparison, pairs, leftovers);
    size_t m = add_candidate(comparison, pairs, leftovers + n);
    qsort(leftovers, n, sizeof *leftovers, by_all_but_parameters);
    qsort(leftovers + n, m, sizeof *leftovers, by_all_but_parameters);
    join_leftovers(comparison, pairs, leftovers, n, leftovers + n, m);
    keep_used(pairs);
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
