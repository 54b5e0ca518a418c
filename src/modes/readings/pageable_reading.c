/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading how pageable memory compares with pinned memory and with a ring. */
#include "machine/pcie.h"
#include "modes/shared_options.h"
#include "readings.h"

#include <math.h>
#include <string.h>

/* ---- way against way ---- */

static const struct xb_reading_way pinned = {"pinned", NULL};
static const struct xb_reading_way driver = {"pageable", "driver"};
static const struct xb_reading_way ring = {"pageable", "ring"};

#define PIN_BUFFERS                                                                                \
    "Pin buffers that you copy more than once{text}{text}. {call} for memory that you have, "      \
    "{call} for new; in PyTorch pin_memory=True and non_blocking=True. {text}"

/* What memory gains that is pinned by the calls which the advice names; write-combined memory,
 * which may be faster to the GPU, is not made by them. */
static void advise_pinning(struct xb_reading *reading, struct xb_reading_way other)
{
    static const struct xb_reading_way ways[] = {{"pinned", "registered"}, {"pinned", "alloc"}};
    struct xb_reading_gain gain = xb_reading_find_gain(reading, ways[0], other);
    if (!isfinite(gain.most))
        gain = xb_reading_find_gain(reading, ways[1], other);
    xb_remedy_if_worth(reading, XB_EFFORT_CALL, gain.most, PIN_BUFFERS, ": ", gain.words,
                       XB_CALL_PIN, XB_CALL_ALLOCATE_PINNED, "Cost: --mode pin");
}

static void say_pinning(struct xb_reading *reading)
{
    struct xb_reading_gain ignored;
    if (xb_reading_compare(reading, pinned, driver, &ignored))
        advise_pinning(reading, driver);
}

/* A ring beside what it replaces, then beside what it spares. */
static void say_ring(struct xb_reading *reading)
{
    struct xb_reading_gain gain;
    if (!xb_reading_compare(reading, ring, driver, &gain))
        return;
    xb_remedy_if_worth(reading, XB_EFFORT_DESIGN, gain.most,
                       "Memory that cannot be pinned: let threads copy it through a small pinned "
                       "ring, {text}. How: --help pageable",
                       gain.words);
    xb_tell_next(reading);
    (void)xb_reading_compare(reading, ring, pinned, &gain);
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
    xb_tell(reading,
            share >= UNTIL_DONE ? "{text} blocks the calling thread until it is done"
            : share < AT_ONCE   ? "{text} returns at once"
                                : "{text} blocks the calling thread for {share} of its time",
            before, share);
}

/* The pageable copy to the device, by the driver; NULL for none. */
static const struct xb_record_case *find_held(const struct xb_reading *reading)
{
    const struct xb_record_case *held = xb_usual_copy(
        reading, xb_reading_best_of_any(reading, XB_H2D, driver.mode, driver.variant));
    return held != NULL ? held : xb_reading_best_of_any(reading, XB_H2D, "async", "pageable");
}

static void say_blocking(struct xb_reading *reading)
{
    const struct xb_record_case *free_at_once =
        xb_usual_copy(reading, xb_reading_best_of_any(reading, XB_H2D, pinned.mode, NULL));
    const struct xb_record_case *held = find_held(reading);
    if (free_at_once == NULL)
        free_at_once = xb_reading_faster(
            reading, xb_reading_best_of_any(reading, XB_H2D, "async", "registered"),
            xb_reading_best_of_any(reading, XB_H2D, "async", "alloc"));
    double of_pageable = blocked_share(reading, held);
    double of_pinned = blocked_share(reading, free_at_once);
    if (!(of_pageable > 0) || !(of_pinned > 0))
        return;
    add_blocking(reading, "To the GPU, a pageable copy", of_pageable);
    add_blocking(reading, "; a pinned one", of_pinned);
    xb_tell(reading, ".{+share:pageable_blocked_share}{+share:pinned_blocked_share}{case}{case}",
            of_pageable, of_pinned, held, free_at_once);
}

#define LEAST_SIZES 3
#define NEARLY_ALL 0.9

/* From which size on a pageable copy blocks nearly all of its time, where smaller ones do not. */
static void say_blocking_from(struct xb_reading *reading)
{
    const struct xb_record_case *from = NULL, *smallest = NULL;
    size_t count = 0;
    bool is_open = true; /* all larger ones block so long */
    while (xb_reading_next_size(reading)) {
        const struct xb_record_case *held = find_held(reading);
        if (!(blocked_share(reading, held) > 0))
            continue;
        is_open = is_open && blocked_share(reading, held) >= NEARLY_ALL;
        from = is_open ? held : from;
        smallest = held;
        count++;
    }
    if (count < LEAST_SIZES || from == NULL || from == smallest)
        return;
    xb_tell(reading,
            "To the GPU, a pageable copy blocks the calling thread for {share:share_smallest} of "
            "its time at {size:smallest}, and for 90 % or more from {size:from} on.{case}{case}",
            blocked_share(reading, smallest), smallest->bytes, from->bytes, smallest, from);
}

/* ---- from which size page-locking pays ---- */

/*
 * Compared is one copy alone, from the call until it is done: what a program waits for that copies
 * once. Bandwidths would not do. For small pinned copies they leave out what it takes to start one,
 * because their queue is held; for pageable copies they hold it. On an H200 that makes 4.5 of 1.6
 * (d2h of 4 KiB, bench/results/h200/crossover.json).
 */

#define MOST_SIZES 64

static bool are_sure(const struct xb_reading *reading, const struct xb_reading_pair *pair,
                     const struct xb_figure *figure)
{
    struct xb_statistics ignored;
    return xb_reading_is_sure(reading, pair->way, figure, &ignored) &&
           xb_reading_is_sure(reading, pair->other, figure, &ignored);
}

/* Whether each sample of a case is one copy, in every process. */
static bool is_single(const struct xb_reading *reading, const struct xb_record_case *test)
{
    double most = 0;
    for (size_t i = 0; i < reading->record->process_count; i++)
        most = fmax(most, xb_record_fact_number(
                              xb_record_detail_find(&test->rows[i], "iterations_per_sample")));
    return most == 1;
}

/* Compares by the host's clock where both have an interval of that. Long copies have too few
 * samples of it (measurement.md): then by the row's own time, from which what the host does is
 * missing, which is next to nothing of it, if the samples themselves are one copy each, by one
 * clock. */
static void judge(const struct xb_reading *reading, struct xb_reading_pair *pair)
{
    const struct xb_figure *figure =
        are_sure(reading, pair, &xb_figure_wall_time) ? &xb_figure_wall_time : &xb_figure_bandwidth;
    if (figure == &xb_figure_bandwidth &&
        (!are_sure(reading, pair, figure) || !is_single(reading, pair->way) ||
         !is_single(reading, pair->other) ||
         xb_reading_device_timed(reading, pair->way) !=
             xb_reading_device_timed(reading, pair->other)))
        return;
    pair->ratio = xb_reading_median(reading, pair->way, figure) /
                  xb_reading_median(reading, pair->other, figure);
    pair->ratio = figure->more_is_better ? pair->ratio : 1 / pair->ratio;
    pair->order = xb_reading_judge_by(reading, pair->way, figure, pair->other, figure);
}

/* Lists the pairs of one direction that can be compared, from the largest size down; returns how
 * many. Sizes below one that cannot be compared are left out too: what is said of the smallest
 * holds for every larger one. */
static size_t list_pairs(struct xb_reading *reading, enum xb_direction direction,
                         struct xb_reading_pair pairs[MOST_SIZES])
{
    size_t count = 0;
    reading->bytes = UINT64_MAX;
    while (count < MOST_SIZES && xb_reading_next_size(reading)) {
        struct xb_reading_pair pair = {
            .way = xb_reading_best_of_any(reading, direction, pinned.mode, NULL),
            .other = xb_reading_best_of_any(reading, direction, driver.mode, driver.variant)};
        if (pair.way == NULL || pair.other == NULL)
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
static void add_from(struct xb_reading *reading, const struct xb_reading_pair *pairs, size_t count,
                     size_t paying)
{
    const struct xb_reading_pair *from = paying > 0 ? &pairs[paying - 1] : NULL;
    const struct xb_reading_pair *below = paying < count ? &pairs[paying] : NULL;
    if (paying == 0)
        xb_tell(reading, "pinning pays at no size compared");
    else if (paying == count)
        xb_tell(reading,
                "pinned memory is faster at every size compared: {factor:ratio_from} at "
                "{size:from}",
                from->ratio, from->way->bytes);
    else
        xb_tell(reading, "pinning pays from {size:from} on: {factor:ratio_from} as fast there",
                from->way->bytes, from->ratio);
    xb_tell(reading, "[, {factor:ratio_largest} at {size:largest}].",
            paying > 1 ? pairs[0].ratio : 0, pairs[0].way->bytes);
    if (below != NULL) /* the largest size for which pinning does not pay */
        xb_tell(reading,
                below->order == XB_READING_ALIKE
                    ? " At {size:below} the difference is within the noise."
                      "{+factor}{+factor:ratio_below}"
                : below->ratio > 1
                    ? " At {size:below} it is {factor} as fast.{+factor:ratio_below}"
                    : " At {size:below} pageable is {factor} as fast.{+factor:ratio_below}",
                below->way->bytes, below->ratio > 1 ? below->ratio : 1 / below->ratio,
                below->ratio);
}

static void say_from(struct xb_reading *reading)
{
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        struct xb_reading_pair pairs[MOST_SIZES];
        size_t count = list_pairs(reading, direction, pairs), paying = 0;
        while (paying < count && pairs[paying].order == XB_READING_FASTER &&
               pairs[paying].ratio >= XB_WORTH_SAYING)
            paying++;
        if (count < LEAST_SIZES)
            continue;
        xb_tell_next(reading);
        xb_tell(reading, "{to}, ", pairs[0].way);
        add_from(reading, pairs, count, paying);
        for (size_t i = 0; i < count && i <= paying; i++)
            xb_tell(reading, "{case}{case}", pairs[i].way, pairs[i].other);
    }
}

/* "Pageable copies to the GPU keep 1.0 CPU cores busy while their call lasts, and the process does
 * not grow meanwhile." */
static void say_costs(struct xb_reading *reading)
{
    const struct xb_record_case *test =
        xb_reading_best(reading, XB_H2D, driver.mode, driver.variant);
    double cores = xb_reading_median(reading, test, &xb_figure_cpu_time) /
                   xb_reading_median(reading, test, &xb_figure_submit_time);
    double memory = xb_reading_median(reading, test, &xb_figure_peak_host_memory);
    double besides = memory - (double)reading->bytes;
    if (!isfinite(cores))
        return;
    xb_tell(reading,
            "{name} copies to the GPU keep {one:cores} CPU cores busy while their call lasts"
            "[, and the process grows by {size:memory_besides} meanwhile]",
            test, cores, besides > 0 ? (uint64_t)besides : 0);
    xb_tell(reading, besides == 0 ? ", and the process does not grow meanwhile." : ".");
}

/* ---- into memory that was never touched ---- */

#define FRESH(variant)                                                                             \
    {                                                                                              \
        variant, &xb_option_target, "fresh", &xb_figure_bandwidth, "that was never touched",       \
            "Copy results into memory that you keep: {gain} as fast. In PyTorch "                  \
            "kept.copy_(tensor), not tensor.cpu()."                                                \
    }
static const struct xb_made_memory fresh_memory[] = {
    FRESH("driver"), FRESH("ring"), {.option = NULL}};

/* ---- what is lost on the way ---- */

/* The rate at which a program waits for it; NAN where it was not measured. */
static double waited_rate(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return test != NULL
               ? (double)test->bytes / xb_reading_median(reading, test, &xb_figure_wall_time)
               : (double)NAN;
}

/* "To the GPU: 63.0 GB/s raw, 60.4 without packet headers, 55.1 by the copy engine, 54.6 with the
 * calls, 9.2 from pageable memory." Leaves out what was not measured. */
static void say_losses(struct xb_reading *reading)
{
    const struct xb_record_device *of = xb_record_device(reading->record, reading->device);
    if (of == NULL || of->shares_host_memory || !of->link_known)
        return;
    const struct xb_ceiling *ceiling = &of->ceiling; /* of the narrowest link on the way */
    double raw = ceiling->known ? xb_pcie_raw_rate(ceiling->speed_gts, ceiling->width)
                                : xb_pcie_raw_rate(of->link_speed_gts, of->link_width);
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H; direction <<= 1) {
        bool is_in = direction == XB_H2D;
        const struct xb_record_case *fast =
            xb_usual_copy(reading, xb_reading_best(reading, direction, pinned.mode, NULL));
        const struct xb_record_case *slow = xb_usual_copy(
            reading, xb_reading_best(reading, direction, driver.mode, driver.variant));
        double engine = xb_reading_bandwidth(reading, fast);
        double carried = ceiling->known ? is_in ? ceiling->h2d : ceiling->d2h : 0;
        /* A link that is slower than the copy was read wrongly, or it slept. */
        if (fast == NULL || slow == NULL || !(engine <= (ceiling->known ? carried : raw)) ||
            !xb_reading_device_timed(reading, fast))
            continue;
        const struct xb_record_case *made =
            is_in ? xb_twin(reading, fast, &xb_option_gpu_memory, "malloc")
                  : xb_twin(reading, slow, &xb_option_target, "fresh");
        double made_rate = made != fast && made != slow ? waited_rate(reading, made) : 0;
        xb_tell_next(reading);
        xb_tell(
            reading,
            "{to}: {rate:raw_rate} GB/s raw{case}{case}[, {rate:ceiling} without packet headers]"
            "[, {rate:by_engine} by the copy engine][, {rate:with_calls} with the calls]"
            "[, {rate:with_malloc} with memory that is allocated for it]"
            "[, {rate:pageable} {text} pageable memory][, {rate:with_new_pages} to new pages].",
            fast, raw, fast, slow, carried, engine, waited_rate(reading, fast),
            is_in ? made_rate : 0, waited_rate(reading, slow), is_in ? "from" : "to",
            is_in ? 0 : made_rate);
    }
}

/* What the threads of a ring could read at most; nothing of a device in the same memory. */
static void say_host_memory(struct xb_reading *reading)
{
    const struct xb_record_case *test = xb_reading_best(reading, XB_H2D, ring.mode, ring.variant);
    if (test != NULL && !xb_record_device(reading->record, reading->device)->shares_host_memory)
        xb_tell(reading,
                "[{case}The CPUs near the GPU read the host's memory at {rate=host_memory_rate} "
                "GB/s; {way} reads it at {rate=bandwidth}.]",
                test, test);
}

const struct xb_reading_line xb_pageable_reading[] = {
    {.label = "pinning", .code = "XB-PINNING", .say = say_pinning},
    {.label = "pin from", .code = "XB-PIN-FROM", .say_of_sizes = say_from},
    {.label = "ring", .code = "XB-RING", .say = say_ring},
    {.label = "blocking", .code = "XB-BLOCKING", .say = say_blocking},
    {.label = "blocks from", .code = "XB-BLOCKING-FROM", .say_of_sizes = say_blocking_from},
    XB_LINE("first touch", "XB-FIRST-TOUCH", xb_made_memory_say, fresh_memory),
    {.label = "costs", .code = "XB-COSTS", .say = say_costs},
    {.label = "host memory", .code = "XB-HOST-MEMORY", .say = say_host_memory},
    {.label = "losses", .code = "XB-LOSSES", .say = say_losses},
    XB_LINE("alignment", "XB-ALIGNMENT", xb_alignment_say, NULL),
    {.label = NULL},
};

/* ---- what to try first ---- */

void xb_pinning_advise(struct xb_reading *reading, const struct xb_record_case *slow)
{
    enum xb_direction direction = strcmp(slow->direction, "h2d") == 0 ? XB_H2D : XB_D2H;
    struct xb_reading_gain ignored;
    if (strcmp(slow->variant, driver.variant) != 0 && strcmp(slow->variant, "pageable") != 0)
        return;
    if (xb_reading_best_of_any(reading, direction, pinned.mode, NULL) == NULL)
        xb_remedy(reading, XB_EFFORT_CALL, (double)NAN, PIN_BUFFERS, "", "", XB_CALL_PIN,
                  XB_CALL_ALLOCATE_PINNED, "What that gains: --mode pageable,pinned");
    else if (xb_reading_try(reading, slow, pinned, &ignored) &&
             xb_reading_best_of_any(reading, direction, driver.mode, driver.variant) == NULL)
        advise_pinning(reading, (struct xb_reading_way){slow->mode, slow->variant});
    /* else XB-PINNING does */
}
