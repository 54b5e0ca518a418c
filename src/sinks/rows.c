/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <string.h>

bool xb_row_usable(const struct xb_result *result)
{
    return result->status == XB_RESULT_OK && result->verified == XB_VERIFIED_TRUE &&
           !result->test.latency && result->bandwidth.n > 0 && result->test.bytes >= XB_LARGE_BYTES;
}

bool xb_row_alone(const struct xb_result *result)
{
    return !result->test.simultaneous && !result->test.sum && result->test.peer < 0;
}

bool xb_row_has_mode(const struct xb_result *result, const char *mode)
{
    return strcmp(result->test.mode->name, mode) == 0;
}

bool xb_row_one_way(const struct xb_result *result)
{
    static const char *const modes[] = {"pageable", "pinned", "async", "zero-copy", "managed"};
    bool known = false;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        known = known || xb_row_has_mode(result, modes[i]);
    return known && xb_row_usable(result) && xb_row_alone(result) &&
           (result->test.direction == XB_H2D || result->test.direction == XB_D2H) &&
           result->bytes_moved == result->test.bytes &&
           !(xb_result_number(result, "passes", 1) > 1);
}

const struct xb_result *xb_row_faster(const struct xb_result *a, const struct xb_result *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    return b->bandwidth.median > a->bandwidth.median ? b : a;
}

const struct xb_result *xb_row_best(const struct xb_run *run, unsigned device, uint64_t bytes,
                                    enum xb_direction direction, const char *mode,
                                    const char *variant)
{
    const struct xb_result *best = NULL;
    for (size_t i = 0; i < run->case_count; i++) {
        const struct xb_result *result = &run->results[i];
        const struct xb_case *test = &result->test;
        if (xb_row_usable(result) && xb_row_alone(result) && test->device == device &&
            test->bytes == bytes && test->direction == direction && xb_row_has_mode(result, mode) &&
            (variant == NULL || strcmp(test->variant, variant) == 0))
            best = xb_row_faster(best, result);
    }
    return best;
}

uint64_t xb_rows_size_below(const struct xb_run *run, uint64_t below)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < run->case_count; i++) {
        uint64_t bytes = run->results[i].test.bytes;
        if (bytes < below && bytes > largest)
            largest = bytes;
    }
    return largest;
}
