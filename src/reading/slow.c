/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to move data that are far below the best one. */
#include "internal.h"

#include "record/mode_list.h"

#include <string.h>

/* A way with less than this share of the best is called slow. */
#define SLOW_BELOW 0.5

static bool is_to_device(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_goes(test, XB_H2D) && xb_reading_one_way(reading, test);
}

static bool is_from_device(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_goes(test, XB_D2H) && xb_reading_one_way(reading, test);
}

/* More modes and variants than these come from no run. */
#define MOST_WAYS 64

/* The fastest case of each mode and variant that `is_one` chooses of a device and size: those that
 * differ in parameters alone are one way. Returns how many. */
static size_t collect_ways(const struct xb_reading *reading, int device, uint64_t bytes,
                           xb_reading_choice *is_one, const struct xb_record_case *ways[MOST_WAYS])
{
    size_t count = 0;
    const struct xb_record_cases sized = xb_record_of_size(reading->record, bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (test->device != device || !is_one(reading, test))
            continue;
        size_t way = 0;
        while (way < count && (strcmp(ways[way]->mode, test->mode) != 0 ||
                               strcmp(ways[way]->variant, test->variant) != 0))
            way++;
        if (way < count)
            ways[way] = xb_reading_faster(reading, ways[way], test);
        else if (count < MOST_WAYS)
            ways[count++] = test;
    }
    return count;
}

/* "Host to device, pageable reaches 7.500 GB/s, 15 % of pinned alloc." */
static void say_one(struct xb_reading *reading, const struct xb_record_case *way,
                    const struct xb_record_case *best, const char *before)
{
    double rate = xb_reading_bandwidth(reading, way);
    double most = xb_reading_bandwidth(reading, best);
    xb_reading_add(reading, "%s, ", before);
    xb_reading_add_name(reading, way);
    xb_reading_add(reading, " reaches ");
    xb_reading_add_rate(reading, rate);
    xb_reading_add(reading, " GB/s, ");
    xb_reading_add_share(reading, rate / most);
    xb_reading_add(reading, " of ");
    xb_reading_add_name(reading, best);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "share", rate / most, XB_UNIT_RATIO);
    xb_reading_number(reading, "bandwidth", rate, XB_UNIT_RATE);
    xb_reading_number(reading, "best_bandwidth", most, XB_UNIT_RATE);
    const struct xb_mode *mode = xb_mode_find(way->mode);
    if (mode != NULL && mode->say_first_thing != NULL)
        (void)mode->say_first_thing(reading, way);
}

static bool say_slow(struct xb_reading *reading, int device, uint64_t bytes,
                     xb_reading_choice *is_one, const char *before)
{
    const struct xb_record_case *ways[MOST_WAYS];
    const struct xb_record_case *best = xb_reading_fastest(reading, device, bytes, is_one);
    size_t count = collect_ways(reading, device, bytes, is_one, ways);
    bool said = false;
    for (size_t i = 0; i < count; i++) {
        if (xb_reading_bandwidth(reading, ways[i]) >=
            SLOW_BELOW * xb_reading_bandwidth(reading, best))
            continue;
        if (said)
            xb_reading_next(reading);
        say_one(reading, ways[i], best, before);
        said = true;
    }
    return said;
}

bool xb_reading_say_slow_to(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, is_to_device, "Host to device");
}

bool xb_reading_say_slow_from(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, is_from_device, "Device to host");
}
