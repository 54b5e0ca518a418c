/* SPDX-License-Identifier: Apache-2.0 */
#include "readings.h"
#include "stage_figures.h"

/* Which stage takes longest alone. Not said where the copies were not timed: one may be missing. */
static void add_pace(struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *copies)
{
    const struct {
        const struct xb_figure *time;
        const char *words;
    } stages[] = {{&xb_figure_kernel_time, "The kernels set"},
                  {copies, "The copies, both ways at once, set"},
                  {&xb_figure_in_time, "The copies to the device set"},
                  {&xb_figure_out_time, "The copies from the device set"}};
    size_t slowest = 0;
    double most = 0;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        double seconds = xb_reading_median(reading, test, stages[i].time);
        if (seconds > most) {
            most = seconds;
            slowest = i;
        }
    }
    if (!(xb_reading_median(reading, test, copies) > 0))
        return;
    xb_reading_phrase(reading, " {text} the pace: {duration:slowest_stage_time} alone.",
                      stages[slowest].words, most);
}

bool xb_overlap_say(struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_overlap_times *times)
{
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double busy = xb_reading_median(reading, test, times->busy);
    double share = xb_reading_median(reading, test, &xb_figure_share_of_bound);
    if (!(factor > 0))
        return false;
    /* Of the time in a row, what the pipeline does not take. */
    double serial = xb_reading_median(reading, test, times->serial);
    double hidden = serial * (1 - 1 / factor);
    xb_reading_phrase(reading, "{name} is {speed:speed_up} as one step after the other.", test,
                      factor);
    if (hidden > 0)
        xb_reading_phrase(reading,
                          " Overlap hides {duration:hidden_time} of {duration:serial_time}.",
                          hidden, serial);
    add_pace(reading, test, times->copies);
    if (busy > 0)
        xb_reading_phrase(reading, " The device computed {share-of-time:gpu_busy}.", busy);
    if (share > 0) {
        xb_reading_phrase(reading, " Throughput is {share} of the best possible here.",
                          share < 1 ? share : 1);
        xb_reading_number(reading, "share_of_bound", share, XB_UNIT_RATIO);
    }
    return true;
}
