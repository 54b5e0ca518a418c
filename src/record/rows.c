/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

bool xb_case_is_of_pairs(const struct xb_record_case *test)
{
    return test->peer >= 0 || (test->device >= 0 && xb_record_is_sum(test));
}

/* Either may be NULL: not known. */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The parameter of that index, or behind it, that is not called `but`; NULL after the last. */
static const struct xb_record_fact *next_parameter(const struct xb_record_case *test, size_t *index,
                                                   const char *but)
{
    while (*index < test->parameter_count) {
        const struct xb_record_fact *parameter = &test->parameters[(*index)++];
        if (but == NULL || strcmp(parameter->name, but) != 0)
            return parameter;
    }
    return NULL;
}

/* Whether both have the same parameters, but for the one of that name. They are sorted. */
static bool same_parameters(const struct xb_record_case *a, const struct xb_record_case *b,
                            const char *but)
{
    for (size_t i = 0, k = 0;;) {
        const struct xb_record_fact *one = next_parameter(a, &i, but);
        const struct xb_record_fact *other = next_parameter(b, &k, but);
        if (one == NULL || other == NULL)
            return one == other;
        if (strcmp(one->name, other->name) != 0 || !same_text(one->value, other->value))
            return false;
    }
}

static bool alike(const struct xb_record_case *a, const struct xb_record_case *b, const char *but)
{
    return strcmp(a->mode, b->mode) == 0 && strcmp(a->variant, b->variant) == 0 &&
           strcmp(a->direction, b->direction) == 0 && same_parameters(a, b, but);
}

bool xb_cases_alike(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return a->bytes == b->bytes && alike(a, b, NULL);
}

bool xb_cases_alike_but_size(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return alike(a, b, NULL);
}

bool xb_cases_alike_but_node(const struct xb_record_case *a, const struct xb_record_case *b)
{
    return a->bytes == b->bytes && alike(a, b, XB_RECORD_NUMA);
}

/* Whether the case belongs to the sum that stands before it. */
static bool is_member(const struct xb_record_case *sum, const struct xb_record_case *test)
{
    return test->simultaneous && !xb_record_is_sum(test) && xb_cases_alike(sum, test);
}

size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test)
{
    size_t first = (size_t)(test - record->cases);
    if (!test->simultaneous)
        return 0;
    while (first > 0 && is_member(test, &record->cases[first]))
        first--;
    if (!xb_record_is_sum(&record->cases[first]) || !xb_cases_alike(&record->cases[first], test))
        return 0;
    size_t end = first + 1;
    while (end < record->case_count && is_member(test, &record->cases[end]))
        end++;
    return end - first - 1;
}

bool xb_case_is_in_matrix(const struct xb_record *record, const struct xb_record_case *test)
{
    return xb_case_is_of_pairs(test) &&
           (!xb_record_is_sum(test) || xb_group_size(record, test) > 0);
}

const char *xb_device_text(const struct xb_record *record, const struct xb_record_case *test,
                           char *text, size_t size)
{
    size_t together = xb_group_size(record, test);
    char device[32];
    xb_record_case_device(test, device, sizeof device);
    if (xb_record_is_sum(test) && !xb_case_is_of_pairs(test))
        snprintf(text, size, "sum of %zu", together);
    else if (!xb_record_is_sum(test) && together > 1)
        snprintf(text, size, "%s (with %zu other%s)", device, together - 1,
                 together > 2 ? "s" : "");
    else
        snprintf(text, size, "%s", device);
    return text;
}

bool xb_case_was_not_run(const struct xb_record *record, const struct xb_record_case *test)
{
    size_t rows = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (!row->is_there)
            continue;
        if (row->status != XB_RESULT_SKIPPED || !row->is_cut)
            return false;
        rows++;
    }
    return rows > 0;
}

uint64_t xb_rows_size_below(const struct xb_record *record, uint64_t below)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        uint64_t bytes = record->cases[i].bytes;
        if (bytes < below && bytes > largest)
            largest = bytes;
    }
    return largest;
}

bool xb_rows_name_devices(const struct xb_record *record)
{
    size_t devices = 0;
    xb_record_devices(record, &devices);
    bool named = devices > 1;
    for (size_t i = 0; i < record->case_count; i++)
        named = named || record->cases[i].simultaneous || record->cases[i].peer >= 0 ||
                record->cases[i].device != record->cases[0].device;
    return named;
}
