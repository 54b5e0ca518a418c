/* SPDX-License-Identifier: Apache-2.0 */
/* Says in the Reading when managed memory should be moved before it is touched. */
#include "modes/shared_options.h"
#include "readings.h"

#include <string.h>

static const struct xb_reading_way by_prefetch = {"managed", "prefetch"};
static const struct xb_reading_way by_fault = {"managed", "fault"};

static void say_prefetching(struct xb_reading *reading)
{
    struct xb_reading_gain gain;
    if (xb_reading_compare(reading, by_prefetch, by_fault, &gain))
        xb_remedy_if_worth(reading, XB_EFFORT_CALL, gain.most,
                           "Prefetch managed memory before it is used: {text}. {call} does that.",
                           gain.words, XB_CALL_PREFETCH);
}

/* What to do stands with the comparison of the two. */
void xb_managed_try(struct xb_reading *reading, const struct xb_record_case *slow)
{
    struct xb_reading_gain ignored;
    if (strcmp(slow->variant, by_fault.variant) == 0)
        (void)xb_reading_try(reading, slow, by_prefetch, &ignored);
}

/* How many times as fast touching is as moving all of it first; 0 where that is not certain: the
 * intervals of the two times meet, or the medians do not visibly differ. */
static double find_gain(const struct xb_reading *reading, const struct xb_record_case *test)
{
    double bytes = (double)xb_reading_row(reading, test)->bytes_moved;
    struct xb_statistics full, rate;
    if (!xb_reading_is_sure(reading, test, &xb_figure_full_copy_time, &full) ||
        !xb_reading_is_sure(reading, test, &xb_figure_bandwidth, &rate))
        return 0;
    double gain = full.median / (bytes / rate.median);
    bool is_faster = bytes / rate.ci95_low < full.ci95_low && gain >= 1 + XB_VISIBLE;
    bool is_slower = bytes / rate.ci95_high > full.ci95_high && gain <= 1 - XB_VISIBLE;
    return is_faster || is_slower ? gain : 0;
}

/* "To the GPU, touching 1 % of managed memory is 12 times as fast as moving all of it first; 50 %
 * is 33 % as fast." */
static void say_touched(struct xb_reading *reading)
{
    if (reading->bytes < XB_LARGE_BYTES)
        return;
    for (int i = 0; i < 4; i++) {
        const struct xb_choice choice = {.variant = by_fault.variant,
                                         .direction = i < 2 ? XB_H2D : XB_D2H,
                                         .option = &xb_option_touch_order,
                                         .value = i % 2 == 0 ? "sequential" : "random"};
        const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, NULL, &choice);
        bool said = false;
        for (size_t k = 0; k < all.count; k++) {
            const struct xb_record_case *test = all.cases[k];
            const char *percent = xb_record_parameter(test, xb_option_touched.name);
            double gain = find_gain(reading, test);
            char name[32];
            if (!(gain > 0))
                continue;
            snprintf(name, sizeof name, "gain_%s", percent);
            if (said) {
                xb_tell(reading, "; {text} % is {speed}", percent, gain);
            } else {
                xb_tell_next(reading);
                xb_tell(reading,
                        "{to}{text}, touching {text} % of managed memory is {speed} as moving all "
                        "of it first",
                        test, i % 2 == 0 ? "" : ", in random order", percent, gain);
            }
            xb_tell(reading, "{+factor:*}{case}", gain, name, test);
            said = true;
        }
        xb_tell(reading, said ? "." : "");
    }
}

const struct xb_reading_line xb_managed_reading[] = {
    {.label = "managed", .code = "XB-PREFETCH", .say = say_prefetching},
    {.label = "touched", .code = "XB-TOUCHED", .say = say_touched},
    {.label = NULL},
};
