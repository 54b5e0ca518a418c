/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include "base/terminal.h"
#include "mode_list.h"

#include <stdio.h>
#include <string.h>

bool xb_case_is_of_pairs(const struct xb_record_case *test)
{
    return test->peer >= 0 || (test->device >= 0 && xb_record_is_sum(test));
}

/* Whether the case belongs to the sum that stands before it. */
static bool is_member(const struct xb_record_case *sum, const struct xb_record_case *test)
{
    return !xb_record_is_sum(test) && xb_cases_order(sum, test, XB_BUT_DEVICES) == 0;
}

size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test)
{
    size_t first = (size_t)(test - record->cases);
    size_t least = first > XB_RUN_DEVICES ? first - XB_RUN_DEVICES : 0; /* no more ran at once */
    if (!test->simultaneous)
        return 0;
    while (first > least && is_member(test, &record->cases[first]))
        first--;
    if (!xb_record_is_sum(&record->cases[first]) ||
        xb_cases_order(&record->cases[first], test, XB_BUT_DEVICES) != 0)
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

/* ---- in words ---- */

const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const struct xb_variant_name *name = mode != NULL ? mode->names : NULL;
    while (name != NULL && name->variant != NULL && strcmp(name->variant, test->variant) != 0)
        name++;
    if (name != NULL && name->variant != NULL)
        snprintf(text, size, "%s", name->name);
    else if (mode != NULL && mode->variant_option == NULL)
        snprintf(text, size, "%s", test->mode);
    else
        snprintf(text, size, "%s %s", test->mode, test->variant);
    xb_make_plain(text);
    return text;
}

const char *xb_direction_words(const struct xb_record_case *test)
{
    if (strcmp(test->direction, "h2d") == 0)
        return "to the GPU";
    if (strcmp(test->direction, "d2h") == 0)
        return "back to the host";
    if (strcmp(test->direction, "bidir") == 0)
        return "both ways";
    return xb_case_is_of_pairs(test) ? "one way" : "within the GPU";
}
