/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading when to prefetch managed memory, and up to which share of it faults are
 * faster than moving all. */
#include "modes/shared_options.h"
#include "readings.h"

#include <stdio.h>
#include <string.h>

/* How many times as fast touching is as moving all of it first; 0 where that is not certain: the
 * intervals of the two times meet, or the medians differ by less than 2 %. */
static double find_gain(const struct xb_reading *reading, const struct xb_record_case *test)
{
    const struct xb_record *record = xb_reading_record(reading);
    double bytes = (double)xb_reading_bytes_moved(reading, test);
    struct xb_statistics full, rate;
    if (!xb_record_describe(record, test, xb_figure_full_copy_time.name, &full) ||
        !xb_record_describe(record, test, xb_figure_bandwidth.name, &rate) || !full.has_interval ||
        !rate.has_interval)
        return 0;
    double gain = full.median / (bytes / rate.median);
    bool is_faster = bytes / rate.ci95_low < full.ci95_low && gain >= 1.02;
    bool is_slower = bytes / rate.ci95_high > full.ci95_high && gain <= 0.98;
    return is_faster || is_slower ? gain : 0;
}

/* What one statement is about. */
struct touching {
    const char *direction, *order, *words;
};

static bool is_of(const struct xb_record_case *test, int device, const struct touching *touching)
{
    return strcmp(test->mode, "managed") == 0 && strcmp(test->variant, "fault") == 0 &&
           test->device == device && !test->simultaneous &&
           strcmp(test->direction, touching->direction) == 0 &&
           strcmp(xb_record_parameter(test, xb_option_touch_order.name), touching->order) == 0;
}

/* "To the GPU, touching 1 % of managed memory is 12 times as fast as moving all of it first; 50 %
 * is 33 % as fast." */
static bool say(struct xb_reading *reading, int device, uint64_t bytes,
                const struct touching *touching)
{
    const struct xb_record_cases sized = xb_record_of_size(xb_reading_record(reading), bytes);
    bool said = false;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        const char *percent = xb_record_parameter(test, xb_option_touched.name);
        char name[32];
        if (!is_of(test, device, touching) || !xb_reading_usable(reading, test))
            continue;
        double gain = find_gain(reading, test);
        if (!(gain > 0))
            continue;
        snprintf(name, sizeof name, "gain_%s", percent);
        xb_reading_add(reading, said ? "%s%s %% is " : "%s, touching %s %% of managed memory is ",
                       said ? "; " : touching->words, percent);
        xb_reading_phrase(reading, "{speed}{text}{+factor:*}{case}", gain,
                          said ? "" : " as moving all of it first", gain, name, test);
        said = true;
    }
    if (said)
        xb_reading_add(reading, ".");
    return said;
}

static bool say_touched(struct xb_reading *reading, int device, uint64_t bytes)
{
    static const struct touching all[] = {
        {"h2d", "sequential", "To the GPU"},
        {"h2d", "random", "To the GPU, in random order"},
        {"d2h", "sequential", "Back to the host"},
        {"d2h", "random", "Back to the host, in random order"},
    };
    size_t said = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        xb_reading_next(reading);
        said += say(reading, device, bytes, &all[i]);
    }
    return said > 0;
}

static const struct xb_reading_way by_prefetch = {"managed", "prefetch"};
static const struct xb_reading_way by_fault = {"managed", "fault"};

static bool say_prefetching(struct xb_reading *reading, int device, uint64_t bytes)
{
    struct xb_reading_gain gain;
    if (!xb_reading_compare(reading, device, bytes, by_prefetch, by_fault, &gain))
        return false;
    if (gain.most >= XB_WORTH_SAYING)
        xb_reading_remedy(reading, XB_EFFORT_CALL, gain.most,
                          "Prefetch managed memory before it is used: %s. %s does that.",
                          gain.words, xb_reading_call(reading, XB_CALL_PREFETCH));
    return true;
}

/* What to do stands with the comparison of the two. */
void xb_managed_say_first_thing(struct xb_reading *reading, const struct xb_record_case *slow)
{
    struct xb_reading_gain ignored;
    if (strcmp(slow->variant, by_fault.variant) == 0)
        (void)xb_reading_try(reading, slow, by_prefetch, &ignored);
}

const struct xb_reading_line xb_managed_reading[] = {
    {.label = "managed", .code = "XB-PREFETCH", .say = say_prefetching},
    {.label = "touched", .code = "XB-TOUCHED", .say = say_touched},
    {.label = NULL},
};
