/* SPDX-License-Identifier: Apache-2.0 */
#include "readings.h"
#include "shared_options.h"
#include "xferbench/units.h"

#include <stdio.h>
#include <string.h>

bool xb_takes_longer(const struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *reference, double time)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct xb_statistics other, rate;
    return xb_record_describe(record, test, reference->name, &other) &&
           xb_record_describe(record, test, xb_figure_bandwidth.name, &rate) && other.n > 1 &&
           other.n * rate.n >= 9 && other.min > time * rate.median / rate.min;
}

/* Which stage takes longest alone. Not said where the copies were not timed: one may be missing. */
static void add_pace(struct xb_reading *reading, const struct xb_record_case *test,
                     const struct xb_figure *copies)
{
    const struct {
        const struct xb_figure *time;
        const char *words;
    } stages[] = {{&xb_figure_kernel_time, "kernels"},
                  {copies, "copies both ways"},
                  {&xb_figure_in_time, "copies to the GPU"},
                  {&xb_figure_out_time, "copies back"}};
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
    xb_reading_phrase(reading,
                      " The {text} are now the limit: {duration:slowest_stage_time} alone.",
                      stages[slowest].words, most);
}

/* "Copies and kernels overlapped take 23.8 ms instead of 65.8 ms: 2.8 times as fast." False where
 * the same work was not timed in a row. */
static bool add_times(struct xb_reading *reading, const struct xb_record_case *test)
{
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double serial = xb_reading_median(reading, test, &xb_figure_serial_time);
    if (!(factor > 0))
        return false;
    xb_reading_add(reading, "Copies and kernels overlapped");
    if (serial > 0)
        xb_reading_phrase(reading, " take {duration} instead of {duration}: ", serial / factor,
                          serial);
    xb_reading_phrase(reading, "{text}{speed:speed_up}.", serial > 0 ? "" : " are ", factor);
    xb_reading_rests_on(reading, test);
    return true;
}

static const struct xb_record_case *best_of(const struct xb_reading *reading, int device,
                                            uint64_t bytes)
{
    return xb_reading_best_of_any(reading, device, bytes, XB_BIDIR, "double-buffer", NULL);
}

bool xb_overlap_answer(struct xb_reading *reading, int device, uint64_t bytes,
                       const struct xb_figure *copies)
{
    const struct xb_record_case *test = best_of(reading, device, bytes);
    if (!add_times(reading, test))
        return false;
    add_pace(reading, test, copies);
    return true;
}

static void advise(struct xb_reading *reading, const struct xb_record_case *test, double factor,
                   double serial)
{
    const char *kernel = xb_record_parameter(test, "kernel-time");
    char own[48], whole[32], in_a_row[32];
    bool is_auto = strcmp(kernel, "auto") == 0 || kernel[0] == '\0';
    if (!xb_takes_longer(reading, test, &xb_figure_serial_time, serial / factor) ||
        factor < XB_WORTH_SAYING)
        return;
    snprintf(own, sizeof own, "a kernel of %.16s a chunk", kernel);
    xb_reading_remedy(reading, XB_EFFORT_LINES, factor,
                      "Overlap copies and kernels: %s instead of %s with %s. %s in chunks on two "
                      "streams, from and to pinned memory. For your kernel: --mode job",
                      xb_duration_format(serial / factor, whole, sizeof whole),
                      xb_duration_format(serial, in_a_row, sizeof in_a_row),
                      is_auto ? "a kernel as long as the copies (the best case)"
                      : strcmp(kernel, "none") == 0 ? "no kernel"
                                                    : own,
                      xb_reading_call(reading, XB_CALL_COPY_ASYNC));
}

bool xb_overlap_say(struct xb_reading *reading, int device, uint64_t bytes,
                    const struct xb_figure *copies)
{
    const struct xb_record_case *test = best_of(reading, device, bytes);
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double busy = xb_reading_median(reading, test, &xb_figure_gpu_busy);
    double share = xb_reading_median(reading, test, &xb_figure_share_of_bound);
    double serial = xb_reading_median(reading, test, &xb_figure_serial_time);
    double hidden = serial * (1 - 1 / factor); /* of the time in a row, what is not taken */
    if (!add_times(reading, test))
        return false;
    if (hidden > 0) {
        xb_reading_number(reading, "hidden_time", hidden, XB_UNIT_SECONDS);
        xb_reading_number(reading, "serial_time", serial, XB_UNIT_SECONDS);
        advise(reading, test, factor, serial);
    }
    add_pace(reading, test, copies);
    if (busy > 0)
        xb_reading_phrase(reading, " The GPU computed {share-of-time:gpu_busy}.", busy);
    if (share > 0) {
        xb_reading_phrase(reading, " Throughput is {share} of the best possible here.",
                          share < 1 ? share : 1);
        xb_reading_number(reading, "share_of_bound", share, XB_UNIT_RATIO);
    }
    return true;
}
