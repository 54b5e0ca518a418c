/* SPDX-License-Identifier: Apache-2.0 */
#include "overlap_reading.h"

#include "stage_figures.h"

#include "xferbench/reading.h"

/* Of the time in a row, what the pipeline does not take. */
static void add_hidden(struct xb_reading *reading, double serial, double speed_up)
{
    double hidden = serial * (1 - 1 / speed_up);
    if (!(hidden > 0))
        return;
    xb_reading_add(reading, " Overlap hides ");
    xb_reading_add_duration(reading, hidden);
    xb_reading_add(reading, " of ");
    xb_reading_add_duration(reading, serial);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "hidden_time", hidden, XB_UNIT_SECONDS);
    xb_reading_number(reading, "serial_time", serial, XB_UNIT_SECONDS);
}

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
    xb_reading_add(reading, " %s the pace: ", stages[slowest].words);
    xb_reading_add_duration(reading, most);
    xb_reading_add(reading, " alone.");
    xb_reading_number(reading, "slowest_stage_time", most, XB_UNIT_SECONDS);
}

bool xb_overlap_say(struct xb_reading *reading, const struct xb_record_case *test,
                    const struct xb_overlap_times *times)
{
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double busy = xb_reading_median(reading, test, times->busy);
    double share = xb_reading_median(reading, test, &xb_figure_share_of_bound);
    if (!(factor > 0))
        return false;
    xb_reading_add_name(reading, test);
    xb_reading_add(reading, " is ");
    xb_reading_add_speed(reading, factor);
    xb_reading_add(reading, " as one step after the other.");
    xb_reading_number(reading, "speed_up", factor, XB_UNIT_RATIO);
    add_hidden(reading, xb_reading_median(reading, test, times->serial), factor);
    add_pace(reading, test, times->copies);
    if (busy > 0) {
        xb_reading_add(reading, " The device computed ");
        xb_reading_add_share_of_time(reading, busy);
        xb_reading_add(reading, ".");
        xb_reading_number(reading, "gpu_busy", busy, XB_UNIT_RATIO);
    }
    if (share > 0) {
        xb_reading_add(reading, " Throughput is ");
        xb_reading_add_share(reading, share < 1 ? share : 1);
        xb_reading_add(reading, " of the best possible here.");
        xb_reading_number(reading, "share_of_bound", share, XB_UNIT_RATIO);
    }
    return true;
}
