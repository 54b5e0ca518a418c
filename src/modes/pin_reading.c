/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of page-locking. */
#include "pin.h"
#include "readings.h"

#include <stdio.h>
#include <string.h>

#define WAYS 5

/* The rows of one direction: to the device, or back where there are none. By their ways; NULL where
 * one is not there. Returns how many there are. */
static size_t find_ways(const struct xb_reading *reading, int device, uint64_t bytes,
                        const struct xb_record_case *found[WAYS])
{
    static const enum xb_direction directions[] = {XB_H2D, XB_D2H};
    size_t count = 0;
    for (size_t d = 0; d < 2 && count == 0; d++)
        for (size_t i = 0; i < WAYS; i++) {
            found[i] =
                xb_reading_best(reading, device, bytes, directions[d], "pin", xb_pin_words[i]);
            count += found[i] != NULL;
        }
    return count;
}

/* ---- what it costs ---- */

static double setup_of(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_setup_time);
}

/* Whether every process whose row counts has the figure. */
static bool have_all(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *figure)
{
    const struct xb_record *record = xb_reading_record(reading);
    double medians[XB_RECORD_PROCESSES];
    return xb_record_medians(record, test, figure->name, medians) ==
           xb_record_medians(record, test, xb_figure_bandwidth.name, medians);
}

/* Whether and when it has paid: of several processes what none of them contradicts. Adds nothing
 * where that was not measured. */
static void add_outcome(struct xb_reading *reading, const struct xb_record_case *test,
                        const struct xb_figure *reference, const struct xb_figure *copies,
                        const char *against)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct xb_statistics own, other;
    double count = xb_reading_median(reading, test, copies); /* NAN: no process has it */
    if (!xb_record_describe(record, test, xb_figure_bandwidth.name, &own) ||
        !xb_record_describe(record, test, reference->name, &other))
        return;
    if (count > 0 && have_all(reading, test, copies))
        xb_reading_add(reading, ", paid back after %.0f cop%s against %s", count,
                       count > 1 ? "ies" : "y", against);
    else if (!(count > 0) && xb_pin_judge((double)test->bytes, &own, &other) == XB_PIN_NEVER_PAYS)
        xb_reading_add(reading, ", never paid back against %s", against);
    else
        xb_reading_add(reading, ", too close to tell against %s", against);
}

/* "register takes least: 44.0 ms, paid back after 1 copy against ..." The numbers are called
 * "new_best_setup_time" and so on. */
static void add_way(struct xb_reading *reading, const struct xb_record_case *test,
                    const char *takes, const char *memory, const char *which)
{
    const struct xb_figure *const numbers[] = {&xb_figure_setup_time, &xb_figure_break_even_copies,
                                               &xb_figure_break_even_copies_ring};
    char name[64];
    xb_reading_phrase(reading, "{text} takes{text} {duration}", test->variant, takes,
                      setup_of(reading, test));
    add_outcome(reading, test, &xb_figure_pageable_time, &xb_figure_break_even_copies,
                "the driver's copies");
    add_outcome(reading, test, &xb_figure_ring_time, &xb_figure_break_even_copies_ring, "the ring");
    xb_reading_add(reading, ".");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!have_all(reading, test, numbers[i]))
            continue;
        snprintf(name, sizeof name, "%s_%s_%s", memory, which, numbers[i]->name);
        xb_reading_number(reading, name, xb_reading_median(reading, test, numbers[i]),
                          numbers[i]->unit);
    }
    xb_reading_rests_on(reading, test);
}

/* Ways that do the same work: they find the memory alike. */
struct alike {
    const char *text, *name;
    enum xb_pin_way ways[2];
};

static bool say_of_alike(struct xb_reading *reading, const struct alike *alike,
                         const struct xb_record_case *const ways[WAYS], const char *separator)
{
    const struct xb_record_case *best = NULL;
    const struct xb_record_case *worst = NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct xb_record_case *way = ways[alike->ways[i]];
        double setup = setup_of(reading, way);
        bool locks = setup > 0;
        /* Where a backend says that it locks nothing, what that takes is no page lock's time. */
        for (size_t r = 0; locks && r < xb_reading_record(reading)->process_count; r++)
            for (size_t k = 0; k < way->rows[r].detail_count; k++)
                locks = locks && strcmp(way->rows[r].details[k].name, "pinned_memory") != 0;
        if (!locks)
            continue;
        best = best == NULL || setup < setup_of(reading, best) ? way : best;
        worst = worst == NULL || setup > setup_of(reading, worst) ? way : worst;
    }
    if (best == NULL)
        return false;
    xb_reading_add(reading, "%sTo page-lock %s, ", separator, alike->text);
    add_way(reading, best, best == worst ? "" : " least:", alike->name, "best");
    if (best == worst)
        return true;
    xb_reading_add(reading, " ");
    add_way(reading, worst, " most:", alike->name, "worst");
    return true;
}

/* Of `copy`, the memory is page-locked as that of `alloc` is. */
static bool say_cost(struct xb_reading *reading, int device, uint64_t bytes)
{
    static const struct alike of_new = {"new memory", "new", {XB_PIN_ALLOC, XB_PIN_REGISTER}};
    static const struct alike of_used = {
        "memory that is in use", "used", {XB_PIN_USED, XB_PIN_USED_HUGE}};
    const struct xb_record_case *ways[WAYS];
    find_ways(reading, device, bytes, ways);
    bool any = say_of_alike(reading, &of_new, ways, "");
    return say_of_alike(reading, &of_used, ways, any ? " " : "") || any;
}

/* ---- how much memory it takes ---- */

/* Of less data, what the kernel and a library count besides would be a visible part. */
#define LEAST_FOR_MEMORY (UINT64_C(256) << 20)

static bool say_memory(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *ways[WAYS];
    const char *separator = "Host memory at the peak, as a multiple of the data: ";
    bool any = false;
    if (bytes < LEAST_FOR_MEMORY)
        return false;
    find_ways(reading, device, bytes, ways);
    for (size_t i = 0; i < WAYS; i++) {
        double factor =
            xb_reading_median(reading, ways[i], &xb_figure_peak_host_memory) / (double)bytes;
        if (!(factor > 0)) /* also where the kernel does not count what a driver maps */
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s_multiple",
                 i == XB_PIN_USED_HUGE ? "used_huge" : xb_pin_words[i]);
        xb_reading_add(reading, "%s%s %.2f", separator, xb_pin_words[i], factor);
        xb_reading_number(reading, name, factor, XB_UNIT_RATIO);
        xb_reading_rests_on(reading, ways[i]);
        separator = ", ";
        any = true;
    }
    if (any)
        xb_reading_add(reading, ".");
    return any;
}

const struct xb_reading_line xb_pin_reading[] = {
    {.label = "pinning cost", .code = "XB-PIN-COST", .say = say_cost},
    {.label = "pin memory", .code = "XB-PIN-MEMORY", .say = say_memory},
    {.label = NULL},
};
