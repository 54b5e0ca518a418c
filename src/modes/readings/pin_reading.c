/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of page-locking. */
#include "modes/pin.h"
#include "readings.h"

#include <stdio.h>
#include <string.h>

#define WAYS 5

/* The rows of one direction: to the device, or back where there are none. By their ways; NULL where
 * one is not there. */
static void find_ways(const struct xb_reading *reading, int device, uint64_t bytes,
                      const struct xb_record_case *found[WAYS])
{
    static const enum xb_direction directions[] = {XB_H2D, XB_D2H};
    bool any = false;
    for (size_t d = 0; d < 2 && !any; d++)
        for (size_t i = 0; i < WAYS; i++) {
            found[i] = xb_reading_best_of_any(reading, device, bytes, directions[d], "pin",
                                              xb_pin_words[i]);
            any = any || found[i] != NULL;
        }
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

/* " It pays off after 1 pageable copy, and never against a ring.": of several processes what none
 * of them contradicts. Adds nothing where that was not measured. */
static void add_outcomes(struct xb_reading *reading, const struct xb_record_case *test)
{
    static const struct {
        const struct xb_figure *reference, *copies;
        const char *before, *behind, *all;
    } others[] = {
        {&xb_figure_pageable_time, &xb_figure_break_even_copies, "pageable ", "",
         "pageable copies"},
        {&xb_figure_ring_time, &xb_figure_break_even_copies_ring, "", " through a ring", "a ring"}};
    const struct xb_record *record = xb_reading_record(reading);
    const char *begin = " It pays off";
    for (size_t i = 0; i < 2; i++) {
        struct xb_statistics own, other;
        double count = xb_reading_median(reading, test, others[i].copies); /* NAN: none has it */
        if (!xb_record_describe(record, test, xb_figure_bandwidth.name, &own) ||
            !xb_record_describe(record, test, others[i].reference->name, &other))
            continue;
        if (count > 0 && have_all(reading, test, others[i].copies))
            xb_reading_add(reading, "%s after %.0f %scop%s%s", begin, count, others[i].before,
                           count > 1 ? "ies" : "y", others[i].behind);
        else if (!(count > 0) &&
                 xb_pin_judge((double)test->bytes, &own, &other) == XB_PIN_NEVER_PAYS)
            xb_reading_add(reading, "%s never against %s", begin, others[i].all);
        else
            xb_reading_add(reading, "%s perhaps against %s (too close to tell)", begin,
                           others[i].all);
        begin = ", and";
    }
    xb_reading_add(reading, "%s", begin[0] == ',' ? "." : "");
}

/* Whether it page-locks memory: where a backend says that it locks nothing, what that takes is no
 * page lock's time. */
static bool locks(const struct xb_reading *reading, const struct xb_record_case *test)
{
    if (!(setup_of(reading, test) > 0))
        return false;
    for (size_t r = 0; r < xb_reading_record(reading)->process_count; r++)
        if (xb_record_detail_find(&test->rows[r], "pinned_memory") != NULL)
            return false;
    return true;
}

/* To pin memory that a program has, if copies of it are faster for certain. */
static void advise(struct xb_reading *reading, const struct xb_record_case *test)
{
    struct xb_statistics own, pageable;
    double copies = xb_reading_median(reading, test, &xb_figure_break_even_copies);
    double gain = xb_reading_median(reading, test, &xb_figure_pageable_time) *
                  xb_reading_median(reading, test, &xb_figure_bandwidth) / (double)test->bytes;
    bool is_of_any = strcmp(test->variant, xb_pin_words[XB_PIN_USED]) == 0 ||
                     strcmp(test->variant, xb_pin_words[XB_PIN_REGISTER]) == 0;
    if (is_of_any && gain >= XB_WORTH_SAYING && copies > 0 &&
        have_all(reading, test, &xb_figure_break_even_copies) &&
        xb_record_describe(xb_reading_record(reading), test, xb_figure_bandwidth.name, &own) &&
        xb_record_describe(xb_reading_record(reading), test, xb_figure_pageable_time.name,
                           &pageable) &&
        xb_pin_judge((double)test->bytes, &own, &pageable) == XB_PIN_PAYS)
        xb_reading_remedy(reading, XB_EFFORT_CALL, gain,
                          "Pin memory that you copy: %s as fast. %s takes %s once for %s, "
                          "which pays off after %.0f cop%s.",
                          xb_reading_factor_text(gain, (char[32]){0}, 32),
                          xb_reading_call(reading, XB_CALL_PIN),
                          XB_DURATION_TEXT(setup_of(reading, test)), XB_SIZE_TEXT(test->bytes),
                          copies, copies > 1 ? "ies" : "y");
}

/* "cudaHostRegister() on huge pages, 12 ms.": what a program does for that, and whether it pays.
 * Its numbers are called "new_best_setup_time" and so on. */
static void add_way(struct xb_reading *reading, const struct xb_record_case *test,
                    const char *memory, bool is_best)
{
    const struct xb_figure *const numbers[] = {&xb_figure_setup_time, &xb_figure_break_even_copies,
                                               &xb_figure_break_even_copies_ring};
    bool is_new = strcmp(test->variant, xb_pin_words[XB_PIN_ALLOC]) == 0;
    bool is_huge = strcmp(test->variant, xb_pin_words[XB_PIN_USED_HUGE]) == 0;
    char name[64];
    xb_reading_phrase(reading, "{text}{text}, {duration}.{case}",
                      xb_reading_call(reading, is_new ? XB_CALL_ALLOCATE_PINNED : XB_CALL_PIN),
                      is_huge ? " on huge pages" : "", setup_of(reading, test), test);
    if (is_best)
        add_outcomes(reading, test);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!have_all(reading, test, numbers[i]))
            continue;
        snprintf(name, sizeof name, "%s_%s_%s", memory, is_best ? "best" : "worst",
                 numbers[i]->name);
        xb_reading_number(reading, name, xb_reading_median(reading, test, numbers[i]),
                          numbers[i]->unit);
    }
    advise(reading, test);
}

/* Memory of `copy` is pinned as that of `alloc` is. */
bool xb_pin_say_cost(struct xb_reading *reading, int device, uint64_t bytes)
{
    /* Ways that do the same work: they find the memory alike. */
    static const struct {
        const char *text, *name;
        enum xb_pin_way ways[2];
    } kinds[] = {{"new memory", "new", {XB_PIN_ALLOC, XB_PIN_REGISTER}},
                 {"memory in use", "used", {XB_PIN_USED, XB_PIN_USED_HUGE}}};
    const struct xb_record_case *ways[WAYS];
    bool said = false;
    find_ways(reading, device, bytes, ways);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct xb_record_case *best = ways[kinds[i].ways[0]], *worst;
        const struct xb_record_case *other = ways[kinds[i].ways[1]];
        best = locks(reading, best) ? best : NULL;
        other = locks(reading, other) ? other : NULL;
        if (best == NULL && other == NULL)
            continue;
        worst = best = best != NULL ? best : other;
        if (other != NULL && setup_of(reading, other) < setup_of(reading, best))
            best = other;
        else if (other != NULL && setup_of(reading, other) > setup_of(reading, best))
            worst = other;
        xb_reading_add(reading, "%s%s to pin %s: ", said ? " " : "",
                       best != worst ? "Quickest way" : "Time", kinds[i].text);
        add_way(reading, best, kinds[i].name, true);
        if (best != worst) {
            xb_reading_add(reading, " Slowest: ");
            add_way(reading, worst, kinds[i].name, false);
        }
        said = true;
    }
    return said;
}

/* ---- how much memory it takes ---- */

/* With less data, what the kernel and a library count besides would be a visible part. */
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
            xb_reading_median(reading, ways[i], &xb_figure_pin_peak_host_memory) / (double)bytes;
        if (!(factor > 0)) /* also where the kernel does not count what a driver maps */
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s_multiple",
                 i == XB_PIN_USED_HUGE ? "used_huge" : xb_pin_words[i]);
        xb_reading_add(reading, "%s%s %.2f", separator, xb_pin_words[i], factor);
        xb_reading_phrase(reading, "{+factor:*}{case}", factor, name, ways[i]);
        separator = ", ";
        any = true;
    }
    if (any)
        xb_reading_add(reading, ".");
    return any;
}

const struct xb_reading_line xb_pin_reading[] = {
    {.label = "pinning cost", .code = "XB-PIN-COST", .say = xb_pin_say_cost},
    {.label = "pin memory", .code = "XB-PIN-MEMORY", .say = say_memory},
    {.label = NULL},
};
