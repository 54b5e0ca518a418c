/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pageable memory: what page-locking is worth, and what a ring is. */
#include "readings.h"

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
    else
        xb_reading_phrase(reading, "blocks the calling thread for {share} of its time", share);
}

static bool say_blocking(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *free_at_once =
        xb_reading_best(reading, device, bytes, XB_H2D, "pinned", NULL);
    const struct xb_record_case *held =
        xb_reading_best(reading, device, bytes, XB_H2D, "pageable", driver.variant);
    if (free_at_once == NULL)
        free_at_once = xb_reading_faster(
            reading, xb_reading_best(reading, device, bytes, XB_H2D, "async", "registered"),
            xb_reading_best(reading, device, bytes, XB_H2D, "async", "alloc"));
    if (held == NULL)
        held = xb_reading_best(reading, device, bytes, XB_H2D, "async", "pageable");
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

/*
 * Compared is one copy alone, from the call until it is done: what a program waits for that copies
 * once. Bandwidths would not do. Those of small pinned copies leave out what it takes to start one,
 * because their queue is held; those of pageable copies hold it. On an H200 that makes 4.5 of 1.6
 * (d2h of 4 KiB, bench/results/h200/crossover.json).
 */

#define LEAST_SIZES 3

/* It pays where it is so many times as fast: small copies give each process another ratio, more
 * than its intervals say. */
#define PAYS 1.25

#define MOST_SIZES 64

/* Both ways at one size. */
struct pair {
    const struct xb_record_case *pinned, *pageable;
    const struct xb_figure *figure; /* by which they are compared */
    enum xb_reading_order order;    /* of the pinned one to the other */
};

/* Those of a direction that can be compared, from the largest size down. */
struct pairs {
    struct pair all[MOST_SIZES];
    size_t count;
    bool left_out; /* there are sizes with both ways that cannot */
};

/* How many times as fast the pinned one is. */
static double ratio_of(const struct xb_reading *reading, const struct pair *pair)
{
    double pinned_one = xb_reading_median(reading, pair->pinned, pair->figure);
    double pageable_one = xb_reading_median(reading, pair->pageable, pair->figure);
    return pair->figure->more_is_better ? pinned_one / pageable_one : pageable_one / pinned_one;
}

/* By the host's clock where both have an interval of that. Long copies have too few samples of it
 * (measurement.md): then by the row's own time, from which what the host does is missing, which is
 * next to nothing of it, if the samples themselves are one copy each, by one clock. */
static void judge(const struct xb_reading *reading, struct pair *pair)
{
    pair->figure = &xb_figure_wall_time;
    pair->order = xb_reading_judge_by(reading, pair->figure, pair->pinned, pair->pageable);
    if (pair->order != XB_READING_UNKNOWN || xb_reading_iterations(reading, pair->pinned) != 1 ||
        xb_reading_iterations(reading, pair->pageable) != 1 ||
        xb_reading_device_timed(reading, pair->pinned) !=
            xb_reading_device_timed(reading, pair->pageable))
        return;
    pair->figure = &xb_figure_bandwidth;
    pair->order = xb_reading_judge(reading, pair->pinned, pair->pageable);
}

/* Sizes below one that cannot be compared are left out too: what is said of the smallest holds for
 * every larger one. */
static void list_pairs(const struct xb_reading *reading, int device, enum xb_direction direction,
                       struct pairs *pairs)
{
    uint64_t bytes = UINT64_MAX;
    while (pairs->count < MOST_SIZES && (bytes = xb_reading_size_below(reading, bytes)) > 0) {
        struct pair pair = {
            .pinned = xb_reading_best_of_any(reading, device, bytes, direction, "pinned", NULL),
            .pageable = xb_reading_best_of_any(reading, device, bytes, direction, "pageable",
                                               driver.variant)};
        if (pair.pinned == NULL || pair.pageable == NULL)
            continue;
        judge(reading, &pair);
        if (pair.order != XB_READING_UNKNOWN) {
            pairs->all[pairs->count++] = pair;
            continue;
        }
        pairs->left_out = true;
        if (pairs->count > 0)
            return;
    }
}

/* What it is at the largest size for which it does not pay. */
static void add_below(struct xb_reading *reading, const struct pair *pair)
{
    double ratio = ratio_of(reading, pair);
    xb_reading_phrase(reading, " At {size:below}", pair->pinned->bytes);
    if (pair->order == XB_READING_ALIKE)
        xb_reading_add(reading, " the difference is within the noise.");
    else if (ratio > 1)
        xb_reading_phrase(reading, " it is {factor} as fast.", ratio);
    else
        xb_reading_phrase(reading, " pageable is {factor} as fast.", 1 / ratio);
    xb_reading_number(reading, "ratio_below", ratio, XB_UNIT_RATIO);
}

/* Of the largest to the smallest; it pays at the first `paying` of them. */
static void add_from(struct xb_reading *reading, const struct pairs *pairs, size_t paying)
{
    const struct pair *from = &pairs->all[paying - 1];
    const struct pair *largest = &pairs->all[0];
    bool at_all = paying == pairs->count;
    if (at_all)
        xb_reading_phrase(reading,
                          "pinning pays at every size {text}: at {size:from}, the smallest, it is "
                          "{factor:ratio_from} as fast",
                          pairs->left_out ? "that can be compared" : "measured",
                          from->pinned->bytes, ratio_of(reading, from));
    else
        xb_reading_phrase(reading,
                          "pinning pays from {size:from} up: it is {factor:ratio_from} as fast "
                          "there",
                          from->pinned->bytes, ratio_of(reading, from));
    if (paying > 1) {
        /* The size goes before its ratio among the numbers, and behind it in the words. */
        xb_reading_number(reading, "largest", (double)largest->pinned->bytes, XB_UNIT_BYTES);
        xb_reading_phrase(reading, ", and {factor:ratio_largest} as fast at {size}",
                          ratio_of(reading, largest), largest->pinned->bytes);
    }
    xb_reading_add(reading, ".");
    if (!at_all)
        add_below(reading, &pairs->all[paying]);
}

static bool say_from_one_way(struct xb_reading *reading, int device, enum xb_direction direction,
                             const char *before, bool said)
{
    struct pairs pairs = {.count = 0};
    size_t paying = 0;
    list_pairs(reading, device, direction, &pairs);
    while (paying < pairs.count && pairs.all[paying].order == XB_READING_FASTER &&
           ratio_of(reading, &pairs.all[paying]) >= PAYS)
        paying++;
    if (pairs.count < LEAST_SIZES)
        return said;
    if (said)
        xb_reading_next(reading);
    xb_reading_add(reading, "%s, one copy, from the call until it is done: ", before);
    if (paying > 0) {
        add_from(reading, &pairs, paying);
    } else {
        xb_reading_add(reading, "there is no size from which pinning pays.");
        add_below(reading, &pairs.all[0]);
    }
    for (size_t i = 0; i < pairs.count && i <= paying; i++) {
        xb_reading_rests_on(reading, pairs.all[i].pinned);
        xb_reading_rests_on(reading, pairs.all[i].pageable);
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
