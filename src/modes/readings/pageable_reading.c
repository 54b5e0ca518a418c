/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading how pageable memory compares with pinned memory and with a ring. */
#include "machine/pcie.h"
#include "modes/shared_options.h"
#include "readings.h"
#include "record/rows.h"

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
        xb_reading_remedy(reading, XB_EFFORT_DESIGN, gain.most,
                          "Memory that cannot be pinned: let threads copy it through a small "
                          "pinned ring, %s. How: --help pageable",
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

static void add_blocking(struct xb_reading *reading, const char *before, double share)
{
    xb_reading_phrase(reading,
                      share >= UNTIL_DONE ? "{text} blocks the calling thread until it is done"
                      : share < AT_ONCE
                          ? "{text} returns at once"
                          : "{text} blocks the calling thread for {share} of its time",
                      before, share);
}

/* The pageable copy to the device of that size, by the driver; NULL for none. */
static const struct xb_record_case *find_held(const struct xb_reading *reading, int device,
                                              uint64_t bytes)
{
    const struct xb_record_case *held =
        xb_usual_copy(reading, xb_reading_best_of_any(reading, device, bytes, XB_H2D, "pageable",
                                                      driver.variant));
    return held != NULL
               ? held
               : xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "pageable");
}

static bool say_blocking(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *free_at_once = xb_usual_copy(
        reading, xb_reading_best_of_any(reading, device, bytes, XB_H2D, "pinned", NULL));
    const struct xb_record_case *held = find_held(reading, device, bytes);
    if (free_at_once == NULL)
        free_at_once = xb_reading_faster(
            reading, xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "registered"),
            xb_reading_best_of_any(reading, device, bytes, XB_H2D, "async", "alloc"));
    double of_pageable = blocked_share(reading, held);
    double of_pinned = blocked_share(reading, free_at_once);
    if (!(of_pageable > 0) || !(of_pinned > 0))
        return false;
    add_blocking(reading, "To the GPU, a pageable copy", of_pageable);
    add_blocking(reading, "; a pinned one", of_pinned);
    xb_reading_phrase(reading,
                      ".{+share:pageable_blocked_share}{+share:pinned_blocked_share}{case}{case}",
                      of_pageable, of_pinned, held, free_at_once);
    return true;
}

#define LEAST_SIZES 3
#define NEARLY_ALL 0.9

/* From which size on a pageable copy blocks nearly all of its time, where smaller ones do not. */
static bool say_blocking_from(struct xb_reading *reading, int device)
{
    const struct xb_record_case *from = NULL, *smallest = NULL;
    size_t count = 0;
    bool is_open = true; /* all larger ones block so long */
    for (uint64_t bytes = UINT64_MAX;
         (bytes = xb_rows_size_below(xb_reading_record(reading), bytes)) > 0;) {
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
    xb_reading_phrase(
        reading,
        "To the GPU, a pageable copy blocks the calling thread for {share:share_smallest} of its "
        "time at {size:smallest}, and for 90 % or more from {size:from} on.{case}{case}",
        blocked_share(reading, smallest), smallest->bytes, from->bytes, smallest, from);
    return true;
}

/* ---- from which size page-locking pays ---- */

/*
 * Compared is one copy alone, from the call until it is done: what a program waits for that copies
 * once. Bandwidths would not do. For small pinned copies they leave out what it takes to start one,
 * because their queue is held; for pageable copies they hold it. On an H200 that makes 4.5 of 1.6
 * (d2h of 4 KiB, bench/results/h200/crossover.json).
 */

#define MOST_SIZES 64

/* Both ways at one size. */
struct pair {
    const struct xb_record_case *pinned, *pageable;
    double ratio;                /* how many times as fast the pinned one is */
    enum xb_reading_order order; /* of the pinned one to the other */
};

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
    double pinned_one = xb_reading_median(reading, pair->pinned, figure);
    double pageable_one = xb_reading_median(reading, pair->pageable, figure);
    pair->ratio = figure->more_is_better ? pinned_one / pageable_one : pageable_one / pinned_one;
    pair->order = xb_reading_judge_by(reading, pair->pinned, figure, pair->pageable, figure);
}

/* Lists the pairs of one direction that can be compared, from the largest size down; returns how
 * many. Sizes below one that cannot be compared are left out too: what is said of the smallest
 * holds for every larger one. */
static size_t list_pairs(const struct xb_reading *reading, int device, enum xb_direction direction,
                         struct pair pairs[MOST_SIZES])
{
    uint64_t bytes = UINT64_MAX;
    size_t count = 0;
    while (count < MOST_SIZES &&
           (bytes = xb_rows_size_below(xb_reading_record(reading), bytes)) > 0) {
        struct pair pair = {
            .pinned = xb_reading_best_of_any(reading, device, bytes, direction, "pinned", NULL),
            .pageable = xb_reading_best_of_any(reading, device, bytes, direction, "pageable",
                                               driver.variant)};
        if (pair.pinned == NULL || pair.pageable == NULL)
            continue;
        judge(reading, &pair);
        if (pair.order != XB_READING_UNKNOWN)
            pairs[count++] = pair;
        else if (count > 0)
            break;
    }
    return count;
}

/* The pairs go from the largest size down; pinning pays at the first `paying` of them. */
static void add_from(struct xb_reading *reading, const struct pair *pairs, size_t count,
                     size_t paying)
{
    const struct pair *from = paying > 0 ? &pairs[paying - 1] : NULL;
    const struct pair *below = paying < count ? &pairs[paying] : NULL;
    if (paying == 0)
        xb_reading_add(reading, "pinning pays at no size compared");
    else if (paying == count)
        xb_reading_phrase(
            reading,
            "pinned memory is faster at every size compared: {factor:ratio_from} at {size:from}",
            from->ratio, from->pinned->bytes);
    else
        xb_reading_phrase(reading,
                          "pinning pays from {size:from} on: {factor:ratio_from} as fast there",
                          from->pinned->bytes, from->ratio);
    if (paying > 1)
        xb_reading_phrase(reading, ", {factor:ratio_largest} at {size:largest}", pairs[0].ratio,
                          pairs[0].pinned->bytes);
    xb_reading_add(reading, ".");
    if (below == NULL)
        return;
    /* The largest size for which pinning does not pay. */
    xb_reading_phrase(reading,
                      below->order == XB_READING_ALIKE
                          ? " At {size:below} the difference is within the noise."
                      : below->ratio > 1 ? " At {size:below} it is {factor} as fast."
                                         : " At {size:below} pageable is {factor} as fast.",
                      below->pinned->bytes, below->ratio > 1 ? below->ratio : 1 / below->ratio);
    xb_reading_number(reading, "ratio_below", below->ratio, XB_UNIT_RATIO);
}

static bool say_from(struct xb_reading *reading, int device)
{
    static const enum xb_direction directions[] = {XB_H2D, XB_D2H};
    bool said = false;
    for (int d = 0; d < 2; d++) {
        struct pair pairs[MOST_SIZES];
        size_t count = list_pairs(reading, device, directions[d], pairs), paying = 0;
        while (paying < count && pairs[paying].order == XB_READING_FASTER &&
               pairs[paying].ratio >= XB_WORTH_SAYING)
            paying++;
        if (count < LEAST_SIZES)
            continue;
        if (said)
            xb_reading_next(reading);
        xb_reading_add(reading, d == 0 ? "To the GPU, " : "Back to the host, ");
        add_from(reading, pairs, count, paying);
        for (size_t i = 0; i < count && i <= paying; i++)
            xb_reading_phrase(reading, "{case}{case}", pairs[i].pinned, pairs[i].pageable);
        said = true;
    }
    return said;
}

/* "Pageable copies to the GPU keep 1.0 CPU cores busy while their call lasts, and the process does
 * not grow meanwhile." */
static bool say_costs(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *test =
        xb_reading_best(reading, device, bytes, XB_H2D, driver.mode, driver.variant);
    double cores = xb_reading_median(reading, test, &xb_figure_cpu_time) /
                   xb_reading_median(reading, test, &xb_figure_submit_time);
    double memory = xb_reading_median(reading, test, &xb_figure_peak_host_memory);
    char text[32];
    if (!isfinite(cores))
        return false;
    snprintf(text, sizeof text, "%.1f", cores);
    xb_reading_phrase(reading,
                      "{name} copies to the GPU keep {text} CPU cores busy while their "
                      "call lasts{+factor:cores}",
                      test, text, cores);
    if (memory > (double)bytes)
        xb_reading_phrase(reading, ", and the process grows by {size:memory_besides} meanwhile",
                          (uint64_t)memory - bytes);
    else if (memory >= (double)bytes)
        xb_reading_add(reading, ", and the process does not grow meanwhile");
    xb_reading_add(reading, ".");
    return true;
}

/* ---- into memory that was never touched ---- */

#define FRESH(variant)                                                                             \
    {                                                                                              \
        "pageable", variant, &xb_option_target, "fresh", "kept", &xb_figure_bandwidth,             \
            "Back to the host", "that was never touched",                                          \
            "Copy results into memory that you keep",                                              \
            "In PyTorch kept.copy_(tensor), not tensor.cpu()."                                     \
    }
static const struct xb_made_memory fresh_memory[] = {
    FRESH("driver"), FRESH("ring"), {.mode = NULL}};

XB_SAY(say_first_touch, xb_made_memory_say, fresh_memory)
/* ---- what is lost on the way ---- */

/* The rate at which a program waits for it; NAN where it was not measured. */
static double waited_rate(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return test != NULL
               ? (double)test->bytes / xb_reading_median(reading, test, &xb_figure_wall_time)
               : (double)NAN;
}

/* ", 54.6 with the calls"; nothing where it was not measured. */
static void add_loss(struct xb_reading *reading, const char *words, const char *name, double rate)
{
    if (!isfinite(rate))
        return;
    xb_reading_phrase(reading, ", {rate} {text}", rate, words);
    xb_reading_number(reading, name, rate, XB_UNIT_RATE);
}

/* "To the GPU: 63.0 GB/s raw, 60.4 without packet headers, 55.1 by the copy engine, 54.6 with the
 * calls, 9.2 from pageable memory." */
static bool say_losses(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_device *of = xb_record_device(record, device);
    bool said = false;
    if (of == NULL || of->shares_host_memory || !of->link_known)
        return false;
    const struct xb_ceiling *ceiling = &of->ceiling; /* of the narrowest link on the way */
    double raw = ceiling->known ? xb_pcie_raw_rate(ceiling->speed_gts, ceiling->width)
                                : xb_pcie_raw_rate(of->link_speed_gts, of->link_width);
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        bool is_in = direction == XB_H2D;
        const struct xb_record_case *fast = xb_usual_copy(
            reading, xb_reading_best(reading, device, bytes, direction, pinned.mode, NULL));
        const struct xb_record_case *slow =
            xb_usual_copy(reading, xb_reading_best(reading, device, bytes, direction, driver.mode,
                                                   driver.variant));
        double engine = xb_reading_median(reading, fast, &xb_figure_bandwidth);
        double carried = is_in ? ceiling->h2d : ceiling->d2h;
        /* A link that is slower than the copy was read wrongly, or it slept. */
        if (fast == NULL || slow == NULL || !(engine <= (ceiling->known ? carried : raw)) ||
            !xb_reading_device_timed(reading, fast))
            continue;
        const struct xb_record_case *made =
            is_in ? xb_find_twin(record, fast, xb_option_gpu_memory.name, "malloc")
                  : xb_find_twin(record, slow, xb_option_target.name, "fresh");
        if (said)
            xb_reading_next(reading);
        xb_reading_phrase(reading, "{text}: {rate:raw_rate} GB/s raw{case}{case}",
                          is_in ? "To the GPU" : "Back to the host", raw, fast, slow);
        if (ceiling->known)
            add_loss(reading, "without packet headers", "ceiling", carried);
        add_loss(reading, "by the copy engine", "by_engine", engine);
        add_loss(reading, "with the calls", "with_calls", waited_rate(reading, fast));
        if (is_in && made != fast)
            add_loss(reading, "with memory that is allocated for it", "with_malloc",
                     waited_rate(reading, made));
        add_loss(reading, is_in ? "from pageable memory" : "to pageable memory", "pageable",
                 waited_rate(reading, slow));
        if (!is_in && made != slow)
            add_loss(reading, "to new pages", "with_new_pages", waited_rate(reading, made));
        xb_reading_add(reading, ".");
        said = true;
    }
    return said;
}

/* What the threads of a ring could read at most; nothing of a device in the same memory. */
static bool say_host_memory(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *test =
        xb_reading_best(reading, device, bytes, XB_H2D, ring.mode, ring.variant);
    double rate = xb_reading_median(reading, test, &xb_figure_host_memory_rate);
    double own = xb_reading_median(reading, test, &xb_figure_bandwidth);
    if (!(rate > 0) || !(own > 0) ||
        xb_record_device(xb_reading_record(reading), device)->shares_host_memory)
        return false;
    xb_reading_phrase(reading,
                      "The CPUs near the GPU read the host's memory at {rate:host_memory_rate} "
                      "GB/s; {way} reads it at {rate:bandwidth}.",
                      rate, test, own);
    return true;
}

XB_SAY(say_alignment, xb_alignment_say, "pageable")

const struct xb_reading_line xb_pageable_reading[] = {
    {.label = "pinning", .code = "XB-PINNING", .say = say_pinning},
    {.label = "pin from", .code = "XB-PIN-FROM", .say_of_sizes = say_from},
    {.label = "ring", .code = "XB-RING", .say = say_ring},
    {.label = "blocking", .code = "XB-BLOCKING", .say = say_blocking},
    {.label = "blocks from", .code = "XB-BLOCKING-FROM", .say_of_sizes = say_blocking_from},
    {.label = "first touch", .code = "XB-FIRST-TOUCH", .say = say_first_touch},
    {.label = "costs", .code = "XB-COSTS", .say = say_costs},
    {.label = "host memory", .code = "XB-HOST-MEMORY", .say = say_host_memory},
    {.label = "losses", .code = "XB-LOSSES", .say = say_losses},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};

/* ---- what to try first ---- */

void xb_pinning_advise(struct xb_reading *reading, const struct xb_record_case *slow)
{
    enum xb_direction direction = strcmp(slow->direction, "h2d") == 0 ? XB_H2D : XB_D2H;
    struct xb_reading_gain gain;
    if (strcmp(slow->variant, driver.variant) != 0 && strcmp(slow->variant, "pageable") != 0)
        return;
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
