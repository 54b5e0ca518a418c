/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pageable memory: what page-locking is worth, and what a ring is. */
#include "pageable_reading.h"

#include "alignment.h"

#include "xferbench/reading.h"

#include <stdio.h>
#include <string.h>

/* ---- way against way ---- */

static const struct xb_reading_way pinned = {"pinned", NULL};
static const struct xb_reading_way driver = {"pageable", "driver"};
static const struct xb_reading_way ring = {"pageable", "ring"};

static bool say_pinning(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_reading_compare(reading, device, bytes, pinned, driver);
}

/* A ring beside what it replaces, then beside what it spares. */
static bool say_ring(struct xb_reading *reading, int device, uint64_t bytes)
{
    if (!xb_reading_compare(reading, device, bytes, ring, driver))
        return false;
    xb_reading_next(reading);
    (void)xb_reading_compare(reading, device, bytes, ring, pinned);
    return true;
}

/* ---- whose caller waits ---- */

/* The share of a copy's time for which the call that starts it blocks; NAN where that was not
 * measured. */
static double blocked_share(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_submit_time) /
           xb_reading_median(reading, test, &xb_figure_wall_time);
}

/* A call that blocks for this share of its time or more blocks until the copy is done. One that
 * blocks for less than the other share returns at once. */
#define UNTIL_DONE 0.99
#define AT_ONCE 0.01

static void add_blocking(struct xb_reading *reading, double share)
{
    if (share >= UNTIL_DONE)
        xb_reading_add(reading, "blocks the calling thread until it is done");
    else if (share < AT_ONCE)
        xb_reading_add(reading, "returns at once");
    else {
        xb_reading_add(reading, "blocks the calling thread for ");
        xb_reading_add_share(reading, share);
        xb_reading_add(reading, " of its time");
    }
}

static const struct xb_record_case *find_pageable(const struct xb_reading *reading, int device,
                                                  uint64_t bytes)
{
    const struct xb_record_case *found =
        xb_reading_best(reading, device, bytes, XB_H2D, "pageable", driver.variant);
    return found != NULL ? found
                         : xb_reading_best(reading, device, bytes, XB_H2D, "async", "pageable");
}

static const struct xb_record_case *find_pinned(const struct xb_reading *reading, int device,
                                                uint64_t bytes)
{
    const struct xb_record_case *found =
        xb_reading_best(reading, device, bytes, XB_H2D, "pinned", NULL);
    return found != NULL
               ? found
               : xb_reading_faster(
                     reading,
                     xb_reading_best(reading, device, bytes, XB_H2D, "async", "registered"),
                     xb_reading_best(reading, device, bytes, XB_H2D, "async", "alloc"));
}

static bool say_blocking(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *free_at_once = find_pinned(reading, device, bytes);
    const struct xb_record_case *held = find_pageable(reading, device, bytes);
    double of_pageable = blocked_share(reading, held);
    double of_pinned = blocked_share(reading, free_at_once);
    if (!(of_pageable > 0) || !(of_pinned > 0))
        return false;
    xb_reading_add(reading, "Host to device, a pageable copy ");
    add_blocking(reading, of_pageable);
    xb_reading_add(reading, "; a pinned one ");
    add_blocking(reading, of_pinned);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "pageable_blocked_share", of_pageable, XB_UNIT_RATIO);
    xb_reading_number(reading, "pinned_blocked_share", of_pinned, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, held);
    xb_reading_rests_on(reading, free_at_once);
    return true;
}

/* ---- from which size page-locking pays ---- */

#define LEAST_SIZES 3
#define MOST_SIZES 64

/* Both ways at one size. */
struct pair {
    const struct xb_record_case *pinned, *pageable;
    enum xb_reading_order order; /* of the pinned one to the other */
};

static double rate_of(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_bandwidth);
}

static double ratio_of(const struct xb_reading *reading, const struct pair *pair)
{
    return rate_of(reading, pair->pinned) / rate_of(reading, pair->pageable);
}

/* Every size that has both ways, by one clock and with intervals, from the largest down. */
static size_t list_pairs(const struct xb_reading *reading, int device, enum xb_direction direction,
                         struct pair pairs[MOST_SIZES])
{
    size_t count = 0;
    for (uint64_t bytes = UINT64_MAX;
         count < MOST_SIZES && (bytes = xb_reading_size_below(reading, bytes)) > 0;) {
        struct pair pair = {
            xb_reading_best_of_any(reading, device, bytes, direction, "pinned", NULL),
            xb_reading_best_of_any(reading, device, bytes, direction, "pageable", driver.variant),
            XB_READING_UNKNOWN};
        if (pair.pinned == NULL || pair.pageable == NULL ||
            xb_reading_device_timed(reading, pair.pinned) !=
                xb_reading_device_timed(reading, pair.pageable))
            continue;
        pair.order = xb_reading_judge(reading, pair.pinned, pair.pageable);
        if (pair.order != XB_READING_UNKNOWN)
            pairs[count++] = pair;
    }
    return count;
}

/* "2.31 times as fast" */
static void add_pair(struct xb_reading *reading, const struct pair *pair, const char *size,
                     const char *ratio)
{
    xb_reading_add_factor(reading, ratio_of(reading, pair));
    xb_reading_add(reading, " as fast");
    xb_reading_number(reading, size, (double)pair->pinned->bytes, "B");
    xb_reading_number(reading, ratio, ratio_of(reading, pair), XB_UNIT_RATIO);
}

/* What it is at the largest size for which it does not pay. */
static void add_below(struct xb_reading *reading, const struct pair *pair)
{
    double ratio = ratio_of(reading, pair);
    xb_reading_add(reading, " At ");
    xb_reading_add_size(reading, pair->pinned->bytes);
    if (pair->order == XB_READING_ALIKE) {
        xb_reading_add(reading, " the difference is within the noise.");
    } else {
        xb_reading_add(reading, " pageable is ");
        xb_reading_add_factor(reading, 1 / ratio);
        xb_reading_add(reading, " as fast.");
    }
    xb_reading_number(reading, "below", (double)pair->pinned->bytes, "B");
    xb_reading_number(reading, "ratio_below", ratio, XB_UNIT_RATIO);
}

/* The device's clock counts what the host needs to start a copy where the queue was not held. */
static bool was_held(const struct xb_record_case *test)
{
    const struct xb_record_row *row = &test->rows[0];
    for (size_t i = 0; i < row->detail_count; i++)
        if (strcmp(row->details[i].name, "held") == 0 && row->details[i].text != NULL)
            return strcmp(row->details[i].text, "yes") == 0;
    return false;
}

static void add_clock(struct xb_reading *reading, const struct pair *pair)
{
    if (was_held(pair->pinned) && !was_held(pair->pageable))
        xb_reading_add(reading, " Starting a copy counts in the pageable figures only.");
}

/* Of pairs[0], the largest, to pairs[count - 1]; it pays at the first `paying` of them. */
static void add_from(struct xb_reading *reading, const struct pair *pairs, size_t count,
                     size_t paying)
{
    const struct pair *from = &pairs[paying - 1];
    if (paying == count) {
        xb_reading_add(reading, "pinning pays at every size measured: at ");
        xb_reading_add_size(reading, from->pinned->bytes);
        xb_reading_add(reading, ", the smallest, it is ");
    } else {
        xb_reading_add(reading, "pinning pays from ");
        xb_reading_add_size(reading, from->pinned->bytes);
        xb_reading_add(reading, " up: it is ");
    }
    add_pair(reading, from, "from", "ratio_from");
    if (paying < count)
        xb_reading_add(reading, " there");
    if (paying > 1) {
        xb_reading_add(reading, ", and ");
        add_pair(reading, &pairs[0], "largest", "ratio_largest");
        xb_reading_add(reading, " at ");
        xb_reading_add_size(reading, pairs[0].pinned->bytes);
    }
    xb_reading_add(reading, ".");
    if (paying < count)
        add_below(reading, &pairs[paying]);
}

static bool say_from_one_way(struct xb_reading *reading, int device, enum xb_direction direction,
                             const char *before, bool said)
{
    struct pair pairs[MOST_SIZES];
    size_t count = list_pairs(reading, device, direction, pairs);
    size_t paying = 0;
    while (paying < count && pairs[paying].order == XB_READING_FASTER)
        paying++;
    if (count < LEAST_SIZES)
        return said;
    if (said)
        xb_reading_next(reading);
    xb_reading_add(reading, "%s, ", before);
    if (paying > 0) {
        add_from(reading, pairs, count, paying);
    } else {
        xb_reading_add(reading, "there is no size from which pinning pays.");
        add_below(reading, &pairs[0]);
    }
    add_clock(reading, &pairs[count - 1]);
    for (size_t i = 0; i < count && i <= paying; i++) {
        xb_reading_rests_on(reading, pairs[i].pinned);
        xb_reading_rests_on(reading, pairs[i].pageable);
    }
    return true;
}

static bool say_from(struct xb_reading *reading, int device)
{
    bool said = say_from_one_way(reading, device, XB_H2D, "Host to device", false);
    return say_from_one_way(reading, device, XB_D2H, "Device to host", said);
}

static bool say_alignment(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_alignment_say(reading, device, bytes, "pageable");
}

const struct xb_reading_line xb_pageable_reading[] = {
    {.label = "pinning", .code = "XB-PINNING", .say = say_pinning},
    {.label = "pin from", .code = "XB-PIN-FROM", .say_of_sizes = say_from},
    {.label = "ring", .code = "XB-RING", .say = say_ring},
    {.label = "blocking", .code = "XB-BLOCKING", .say = say_blocking},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};

/* ---- what to try first ---- */

bool xb_pageable_say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow)
{
    if (strcmp(slow->variant, ring.variant) == 0)
        return false;
    return xb_reading_try(reading, slow, ring, "--staging ring") ||
           xb_reading_try(reading, slow, pinned, "page-locked memory");
}
