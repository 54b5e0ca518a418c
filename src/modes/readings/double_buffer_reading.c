/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of kernels between copies: overlapped with them, or many in a row. */
#include "modes/shared_options.h"
#include "readings.h"

#include <string.h>

/* Whether it is certain that a reference of a case, a time, is longer than the case's own median
 * `time`: all samples of one are beyond all of the other. */
static bool takes_longer(const struct xb_reading *reading, const struct xb_record_case *test,
                         const struct xb_figure *reference, double time)
{
    struct xb_statistics other, rate;
    return xb_record_describe(reading->record, test, reference->name, &other) &&
           xb_record_describe(reading->record, test, xb_figure_bandwidth.name, &rate) &&
           other.n > 1 && other.n * rate.n >= 9 && other.min > time * rate.median / rate.min;
}

/* ---- copies and kernels overlapped ---- */

/* Which stage takes longest alone. Not said where the copies were not timed: one may be missing. */
static void add_pace(struct xb_reading *reading, const struct xb_record_case *test)
{
    static const struct {
        const struct xb_figure *time;
        const char *words;
    } times[] = {{&xb_figure_kernel_time, "kernels"},
                 {&xb_figure_copies_time, "copies both ways"},
                 {&xb_figure_in_time, "copies to the GPU"},
                 {&xb_figure_out_time, "copies back"}};
    size_t slowest = 0;
    double most = 0;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        double seconds = xb_reading_median(reading, test, times[i].time);
        slowest = seconds > most ? i : slowest;
        most = seconds > most ? seconds : most;
    }
    if (xb_reading_median(reading, test, &xb_figure_copies_time) > 0)
        xb_tell(reading, " The {text} are now the limit: {duration:slowest_stage_time} alone.",
                times[slowest].words, most);
}

/* "Copies and kernels overlapped take 23.8 ms instead of 65.8 ms: 2.8 times as fast." Nothing where
 * the same work was not timed in a row. Returns the fastest case. */
static const struct xb_record_case *add_times(struct xb_reading *reading)
{
    const struct xb_record_case *test = xb_reading_best_of_any(reading, XB_BIDIR, NULL, NULL);
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double serial = xb_reading_median(reading, test, &xb_figure_serial_time);
    if (factor > 0)
        xb_tell(reading,
                "Copies and kernels overlapped[ take {duration} instead of {duration}: ][{text}]"
                "{speed:speed_up}.{case}",
                serial / factor, serial, serial > 0 ? NULL : " are ", factor, test);
    return test;
}

void xb_double_buffer_answer(struct xb_reading *reading)
{
    const struct xb_record_case *test = add_times(reading);
    if (reading->words.length > 0)
        add_pace(reading, test);
}

static void advise(struct xb_reading *reading, const struct xb_record_case *test, double factor,
                   double serial)
{
    const char *kernel = xb_record_parameter(test, "kernel-time");
    char own[48];
    bool is_auto = strcmp(kernel, "auto") == 0 || kernel[0] == '\0';
    snprintf(own, sizeof own, "a kernel of %.16s a chunk", kernel);
    if (takes_longer(reading, test, &xb_figure_serial_time, serial / factor))
        xb_remedy_if_worth(reading, XB_EFFORT_LINES, factor,
                           "Overlap copies and kernels: {duration} instead of {duration} with "
                           "{text}. {call} in chunks on two streams, from and to pinned memory. "
                           "For your kernel: --mode job",
                           serial / factor, serial,
                           is_auto ? "a kernel as long as the copies (the best case)"
                           : strcmp(kernel, "none") == 0 ? "no kernel"
                                                         : own,
                           XB_CALL_COPY_ASYNC);
}

/* What overlap gives in the fastest case, and which stage is the limit. */
static void say_overlap(struct xb_reading *reading)
{
    const struct xb_record_case *test = add_times(reading);
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double serial = xb_reading_median(reading, test, &xb_figure_serial_time);
    double hidden = serial * (1 - 1 / factor); /* of the time in a row, what is not taken */
    if (reading->words.length == 0)
        return;
    if (hidden > 0) {
        xb_tell(reading, "{+duration:hidden_time}{+duration:serial_time}", hidden, serial);
        advise(reading, test, factor, serial);
    }
    add_pace(reading, test);
    xb_tell(reading,
            "[{case} The GPU computed {part=gpu_busy} of the time.]"
            "[{case} Throughput is {part=share_of_bound} of the best possible here.]",
            test, test);
}

const struct xb_reading_line xb_double_buffer_reading[] = {
    {.label = "pipeline", .code = "XB-OVERLAP", .say = say_overlap},
    XB_LINE("chunk", "XB-CHUNK", xb_parameter_say, &xb_option_chunk),
    XB_LINE("buffers", "XB-BUFFERS", xb_parameter_say, &xb_option_buffers),
    {.label = NULL},
};

/* ---- data that stays on the GPU from kernel to kernel ---- */

/* Tells of the case with the most steps between which there was a trip, of several the fastest. */
void xb_resident_say(struct xb_reading *reading)
{
    static const struct xb_choice with_trips = {.figure = &xb_figure_trip_cost};
    const struct xb_record_cases all = xb_reading_group(reading, xb_is_chosen, NULL, &with_trips);
    const struct xb_record_case *test = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < all.count; i++) {
        uint64_t steps = xb_reading_value(all.cases[i], "steps");
        if (steps >= most)
            test = steps > most ? all.cases[i] : xb_reading_faster(reading, test, all.cases[i]);
        most = steps > most ? steps : most;
    }
    double factor = xb_reading_median(reading, test, &xb_figure_speed_up);
    double resident = xb_reading_median(reading, test, &xb_figure_resident_time);
    if (!(factor > 0))
        return;
    xb_tell(reading,
            "{case}{whole:steps} kernels take {duration=resident_time} if the data stays on the "
            "GPU. With a trip to the host after each kernel they take "
            "{duration=round_trip_time}{text}.{+factor=speed_up}{+duration=trip_cost}",
            test, (double)most, factor < 1 + XB_VISIBLE ? ", hardly more" : "");
    if (takes_longer(reading, test, &xb_figure_round_trip_time, resident))
        xb_remedy_if_worth(reading, XB_EFFORT_DESIGN, factor,
                           "Keep the data on the GPU from kernel to kernel: {gain} as fast with "
                           "{whole} kernels that only read and write it.",
                           (double)most);
}
