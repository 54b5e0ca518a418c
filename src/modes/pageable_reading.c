/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading how pageable memory compares with pinned memory and with a ring. */
#include "readings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- way against way ---- */

static const struct xb_reading_way pinned = {"pinned", NULL};
static const struct xb_reading_way driver = {"pageable", "driver"};
static const struct xb_reading_way ring = {"pageable", "ring"};

/* What memory gains that is pinned by the calls which the advice names; write-combined memory,
 * which may be faster to the GPU, is not made by them. */
static bool find_pinning(const struct xb_reading *reading, int device, uint64_t bytes,
                         struct xb_reading_way other, struct xb_reading_gain *gain)
{
    static const struct xb_reading_way ways[] = {{"pinned", "registered"}, {"pinned", "alloc"}};
    return xb_reading_find_gain(reading, device, bytes, ways[0], other, gain) ||
           xb_reading_find_gain(reading, device, bytes, ways[1], other, gain);
}

/* A gain of NULL: it was not measured. */
static void advise_pinning(struct xb_reading *reading, const struct xb_reading_gain *gain)
{
    const char *pin = xb_reading_call(reading, XB_CALL_PIN);
    const char *allocate = xb_reading_call(reading, XB_CALL_ALLOCATE_PINNED);
    if (gain == NULL || gain->most >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_CALL, gain != NULL ? gain->most : (double)NAN,
                          "Pin buffers that you copy more than once%s%s. %s for memory that you "
                          "have, %s for new; in PyTorch pin_memory=True and non_blocking=True. %s",
                          gain != NULL ? ": " : "", gain != NULL ? gain->words : "", pin, allocate,
                          gain != NULL ? "Cost: --mode pin"
                                       : "What that gains: --mode pageable,pinned");
}

static bool say_pinning(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_reading_gain gain;
    if (!xb_reading_compare(reading, device, bytes, pinned, driver, NULL))
        return false;
    if (find_pinning(reading, device, bytes, driver, &gain))
        advise_pinning(reading, &gain);
    return true;
}

/* A ring beside what it replaces, then beside what it spares. */
static bool say_ring(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_reading_gain gain;
    if (!xb_reading_compare(reading, device, bytes, ring, driver, &gain))
        return false;
    if (gain.most >= XB_WORTH_SAYING)
        xb_reading_remedy(
            reading, XB_EFFORT_DESIGN, gain.most,
            "Memory that cannot be pinned: let threads copy it through a small pinned "
            "ring, %s. How: --help pageable",
            gain.words);
    xb_reading_next(reading);
    (void)xb_reading_compare(reading, device, bytes, ring, pinned, NULL);
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

/* The pageable copy to the device of that size, by the driver; NULL for none. */
static const struct xb_record_case *find_held(const struct xb_reading *reading, int device,
                                              uint64_t bytes)
{
    const struct xb_record_case *held =
        xb_reading_best_of_any(reading, device, bytes, XB_H2D, "pageable", driver.variant);
    return held != NULL
               ? held
               : xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "pageable");
}

static bool say_blocking(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *free_at_once =
        xb_reading_best_of_any(reading, device, bytes, XB_H2D, "pinned", NULL);
    const struct xb_record_case *held = find_held(reading, device, bytes);
    if (free_at_once == NULL)
        free_at_once = xb_reading_faster(
            reading, xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "registered"),
            xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "alloc"));
    double of_pageable = blocked_share(reading, held);
    double of_pinned = blocked_share(reading, free_at_once);
    if (!(of_pageable > 0) || !(of_pinned > 0))
        return false;
    xb_reading_add(reading, "To the GPU, a pageable copy ");
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

#define LEAST_SIZES 3
#define NEARLY_ALL 0.9

/* From which size on a pageable copy blocks nearly all of its time, where a smaller one does not.
 */
static bool say_blocking_from(struct xb_reading *reading, int device)
{
    const struct xb_record_case *from = NULL, *smallest = NULL;
    size_t count = 0;
    bool is_open = true; /* all larger ones block so long */
    for (uint64_t bytes = UINT64_MAX; (bytes = xb_reading_size_below(reading, bytes)) > 0;) {
        const struct xb_record_case *held = find_held(reading, device, bytes);
        if (!(blocked_share(reading, held) > 0))
            continue;
        is_open = is_open && blocked_share(reading, held) >= NEARLY_ALL;
        from = is_open ? held : from;
        smallest = held;
        count++;
    }
    if (count < LEAST_SIZES || from == NULL || from == smallest)
        return false;
    xb_reading_phrase(reading,
                      "To the GPU, a pageable copy blocks the calling thread for "
                      "{share:share_smallest} of its time at {size:smallest}, and for 90 % or more "
                      "from {size:from} on.",
                      blocked_share(reading, smallest), smallest->bytes, from->bytes);
    xb_reading_rests_on(reading, smallest);
    xb_reading_rests_on(reading, from);
    return true;
}

/* ---- from which size page-locking pays ---- */

/*
 * Compared is one copy alone, from the call until it is done: what a program waits for that copies
 * once. Bandwidths would not do. Those of small pinned copies leave out what it takes to start one,
 * because their queue is held; those of pageable copies hold it. On an H200 that makes 4.5 of 1.6
 * (d2h of 4 KiB, bench/results/h200/crossover.json).
 */

#define MOST_SIZES 64

/* Both ways at one size. */
struct pair {
    const struct xb_record_case *pinned, *pageable;
    const struct xb_figure *figure; /* by which they are compared */
    enum xb_reading_order order;    /* of the pinned one to the other */
};

/* The pairs of one direction that can be compared, from the largest size down. */
struct pairs {
    struct pair all[MOST_SIZES];
    size_t count;
};

/* How many times as fast the pinned one is. */
static double ratio_of(const struct xb_reading *reading, const struct pair *pair)
{
    double pinned_one = xb_reading_median(reading, pair->pinned, pair->figure);
    double pageable_one = xb_reading_median(reading, pair->pageable, pair->figure);
    return pair->figure->more_is_better ? pinned_one / pageable_one : pageable_one / pinned_one;
}

/* Compares by the host's clock where both have an interval of that. Long copies have too few
 * samples of it (measurement.md): then by the row's own time, from which what the host does is
 * missing, which is next to nothing of it, if the samples themselves are one copy each, by one
 * clock. */
static void judge(const struct xb_reading *reading, struct pair *pair)
{
    const struct xb_figure *figure = &xb_figure_wall_time;
    if (!xb_reading_is_sure(reading, pair->pinned, figure) ||
        !xb_reading_is_sure(reading, pair->pageable, figure)) {
        figure = &xb_figure_bandwidth;
        if (!xb_reading_is_sure(reading, pair->pinned, figure) ||
            !xb_reading_is_sure(reading, pair->pageable, figure) ||
            xb_reading_iterations(reading, pair->pinned) != 1 ||
            xb_reading_iterations(reading, pair->pageable) != 1 ||
            xb_reading_device_timed(reading, pair->pinned) !=
                xb_reading_device_timed(reading, pair->pageable))
            return;
    }
    pair->figure = figure;
    pair->order = xb_reading_judge_by(reading, figure, pair->pinned, pair->pageable);
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
        if (pairs->count > 0)
            return;
    }
}

/* Adds the ratio at the largest size for which pinning does not pay. */
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

/* The pairs go from the largest size down; pinning pays at the first `paying` of them. */
static void add_from(struct xb_reading *reading, const struct pairs *pairs, size_t paying)
{
    const struct pair *from = &pairs->all[paying - 1];
    const struct pair *largest = &pairs->all[0];
    bool at_all = paying == pairs->count;
    if (at_all)
        xb_reading_phrase(reading, "pinned memory is faster at every size compared: ");
    else
        xb_reading_phrase(reading, "pinning pays from {size:from} on: ", from->pinned->bytes);
    xb_reading_phrase(reading, "{factor:ratio_from}", ratio_of(reading, from));
    if (at_all)
        xb_reading_phrase(reading, " at {size:from}", from->pinned->bytes);
    else
        xb_reading_add(reading, " as fast there");
    if (paying > 1)
        xb_reading_phrase(reading, ", {factor:ratio_largest} at {size:largest}",
                          ratio_of(reading, largest), largest->pinned->bytes);
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
           ratio_of(reading, &pairs.all[paying]) >= XB_WORTH_SAYING)
        paying++;
    if (pairs.count < LEAST_SIZES)
        return said;
    if (said)
        xb_reading_next(reading);
    xb_reading_add(reading, "%s, ", before);
    if (paying > 0) {
        add_from(reading, &pairs, paying);
    } else {
        xb_reading_add(reading, "pinning pays at no size compared.");
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
    bool said = say_from_one_way(reading, device, XB_H2D, "To the GPU", false);
    return say_from_one_way(reading, device, XB_D2H, "Back to the host", said);
}

XB_SAY(say_alignment, xb_alignment_say, "pageable")

const struct xb_reading_line xb_pageable_reading[] = {
    {.label = "pinning", .code = "XB-PINNING", .say = say_pinning},
    {.label = "pin from", .code = "XB-PIN-FROM", .say_of_sizes = say_from},
    {.label = "ring", .code = "XB-RING", .say = say_ring},
    {.label = "blocking", .code = "XB-BLOCKING", .say = say_blocking},
    {.label = "blocks from", .code = "XB-BLOCKING-FROM", .say_of_sizes = say_blocking_from},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};

/* ---- what to try first ---- */

void xb_pinning_advise(struct xb_reading *reading, const struct xb_record_case *slow)
{
    enum xb_direction direction = strcmp(slow->direction, "h2d") == 0 ? XB_H2D : XB_D2H;
    struct xb_reading_gain gain;
    if (xb_reading_best_of_any(reading, slow->device, slow->bytes, direction, pinned.mode, NULL) ==
        NULL)
        advise_pinning(reading, NULL);
    else if (xb_reading_try(reading, slow, pinned, &gain) &&
             xb_reading_best_of_any(reading, slow->device, slow->bytes, direction, driver.mode,
                                    driver.variant) == NULL &&
             find_pinning(reading, slow->device, slow->bytes,
                          (struct xb_reading_way){slow->mode, slow->variant}, &gain))
        advise_pinning(reading, &gain); /* else XB-PINNING does */
}

void xb_pageable_say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow)
{
    if (strcmp(slow->variant, driver.variant) == 0)
        xb_pinning_advise(reading, slow);
}
