/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of page-locking. */
#include "modes/pin.h"
#include "readings.h"

#include <stdio.h>
#include <string.h>

#define WAYS 5

/* The rows of one direction: to the device, or back where there are none. By their ways; NULL where
 * one is not there. */
static void find_ways(const struct xb_reading *reading, const struct xb_record_case *found[WAYS])
{
    bool any = false;
    for (enum xb_direction direction = XB_H2D; direction <= XB_D2H && !any; direction <<= 1)
        for (size_t i = 0; i < WAYS; i++) {
            found[i] = xb_reading_best_of_any(reading, direction, NULL, xb_pin_words[i]);
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
    double medians[XB_RECORD_PROCESSES];
    return xb_record_medians(reading->record, test, figure->name, medians) ==
           xb_record_medians(reading->record, test, xb_figure_bandwidth.name, medians);
}

/* Whether a copy is faster than that reference; false: one of them was not measured. */
static bool judge(const struct xb_reading *reading, const struct xb_record_case *test,
                  const struct xb_figure *reference, enum xb_pin_outcome *outcome)
{
    struct xb_statistics own, other;
    bool is_known = xb_record_describe(reading->record, test, xb_figure_bandwidth.name, &own) &&
                    xb_record_describe(reading->record, test, reference->name, &other);
    if (is_known)
        *outcome = xb_pin_judge((double)test->bytes, &own, &other);
    return is_known;
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
    const char *begin = " It pays off";
    for (size_t i = 0; i < 2; i++) {
        enum xb_pin_outcome outcome;
        double count = xb_reading_median(reading, test, others[i].copies); /* NAN: none has it */
        if (!judge(reading, test, others[i].reference, &outcome))
            continue;
        if (count > 0 && have_all(reading, test, others[i].copies))
            xb_tell(reading, "{text} after {whole} {text}cop{text}{text}", begin, count,
                    others[i].before, count > 1 ? "ies" : "y", others[i].behind);
        else if (!(count > 0) && outcome == XB_PIN_NEVER_PAYS)
            xb_tell(reading, "{text} never against {text}", begin, others[i].all);
        else
            xb_tell(reading, "{text} perhaps against {text} (too close to tell)", begin,
                    others[i].all);
        begin = ", and";
    }
    xb_tell(reading, begin[0] == ',' ? "." : "");
}

/* Whether it page-locks memory: where a backend says that it locks nothing, what that takes is no
 * page lock's time. */
static bool locks(const struct xb_reading *reading, const struct xb_record_case *test)
{
    if (!(setup_of(reading, test) > 0))
        return false;
    for (size_t r = 0; r < reading->record->process_count; r++)
        if (xb_record_detail_find(&test->rows[r], "pinned_memory") != NULL)
            return false;
    return true;
}

/* To pin memory that a program has, if copies of it are faster for certain. */
static void advise(struct xb_reading *reading, const struct xb_record_case *test)
{
    enum xb_pin_outcome outcome;
    double copies = xb_reading_median(reading, test, &xb_figure_break_even_copies);
    double gain = xb_reading_median(reading, test, &xb_figure_pageable_time) *
                  xb_reading_bandwidth(reading, test) / (double)test->bytes;
    bool is_of_any = strcmp(test->variant, xb_pin_words[XB_PIN_USED]) == 0 ||
                     strcmp(test->variant, xb_pin_words[XB_PIN_REGISTER]) == 0;
    if (is_of_any && copies > 0 && have_all(reading, test, &xb_figure_break_even_copies) &&
        judge(reading, test, &xb_figure_pageable_time, &outcome) && outcome == XB_PIN_PAYS)
        xb_remedy_if_worth(reading, XB_EFFORT_CALL, gain,
                           "Pin memory that you copy: {gain} as fast. {call} takes {duration} once "
                           "for {size}, which pays off after {whole} cop{text}.",
                           XB_CALL_PIN, setup_of(reading, test), test->bytes, copies,
                           copies > 1 ? "ies" : "y");
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
    xb_tell(reading, "{call}{text}, {duration}.{case}",
            is_new ? XB_CALL_ALLOCATE_PINNED : XB_CALL_PIN, is_huge ? " on huge pages" : "",
            setup_of(reading, test), test);
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
void xb_pin_say_cost(struct xb_reading *reading)
{
    /* Ways that do the same work: they find the memory alike. */
    static const struct {
        const char *text, *name;
        enum xb_pin_way ways[2];
    } kinds[] = {{"new memory", "new", {XB_PIN_ALLOC, XB_PIN_REGISTER}},
                 {"memory in use", "used", {XB_PIN_USED, XB_PIN_USED_HUGE}}};
    const struct xb_record_case *ways[WAYS];
    find_ways(reading, ways);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct xb_record_case *best = NULL, *worst = NULL;
        for (size_t k = 0; k < 2; k++) {
            const struct xb_record_case *way = ways[kinds[i].ways[k]];
            double setup = setup_of(reading, way);
            if (!locks(reading, way))
                continue;
            best = best == NULL || setup < setup_of(reading, best) ? way : best;
            worst = worst == NULL || setup > setup_of(reading, worst) ? way : worst;
        }
        if (best == NULL)
            continue;
        xb_tell(reading, " {text} to pin {text}: ", best != worst ? "Quickest way" : "Time",
                kinds[i].text);
        add_way(reading, best, kinds[i].name, true);
        if (best != worst) {
            xb_tell(reading, " Slowest: ");
            add_way(reading, worst, kinds[i].name, false);
        }
    }
}

/* ---- how much memory it takes ---- */

/* With less data, what the kernel and a library count besides would be a visible part. */
#define LEAST_FOR_MEMORY (UINT64_C(256) << 20)

static void say_memory(struct xb_reading *reading)
{
    const struct xb_record_case *ways[WAYS];
    const char *before = "Host memory at the peak, as a multiple of the data: ";
    if (reading->bytes < LEAST_FOR_MEMORY)
        return;
    find_ways(reading, ways);
    for (size_t i = 0; i < WAYS; i++) {
        double factor = xb_reading_median(reading, ways[i], &xb_figure_pin_peak_host_memory) /
                        (double)reading->bytes;
        if (!(factor > 0)) /* also where the kernel does not count what a driver maps */
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s_multiple",
                 i == XB_PIN_USED_HUGE ? "used_huge" : xb_pin_words[i]);
        xb_words_add(&reading->words, "%s%s %.2f", before, xb_pin_words[i], factor);
        xb_tell(reading, "{+factor:*}{case}", factor, name, ways[i]);
        before = ", ";
    }
    xb_tell(reading, before[0] == ',' ? "." : "");
}

const struct xb_reading_line xb_pin_reading[] = {
    {.label = "pinning cost", .code = "XB-PIN-COST", .say = xb_pin_say_cost},
    {.label = "pin memory", .code = "XB-PIN-MEMORY", .say = say_memory},
    {.label = NULL},
};
