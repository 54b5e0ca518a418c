/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"
#include "sampler.h"

#include "base/clock.h"

#include "measure/plan/case.h"

#include <math.h>

/* A sample has as many iterations of a small copy as it takes to last this long, where the mode
 * asks for no more: a thousand times an event's resolution. */
#define SAMPLE_TARGET_S 1e-3
/* The most iterations of a sample, where nothing else bounds them. */
#define MAX_ITERATIONS 4096u
/* Enqueuing takes microseconds: of an iteration that lasts this long they are next to nothing, and
 * its warm-up need not be held. */
#define LONG_S 5e-3

/* A repetition that lasts this long leaves time to look at a link while its data moves. */
#define LOOKED_AT_S 0.5e-3

/* How many iterations make a sample long enough, if one takes `seconds`. No more than fit behind a
 * held queue. */
static uint64_t iterations_for(const struct xb_measurement *measurement, double seconds)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    double target = context->sample_seconds > 0 ? context->sample_seconds : SAMPLE_TARGET_S;
    uint64_t most = MAX_ITERATIONS;
    /* What the host waits for is over before the next begins: no iteration hides another's calls.
     */
    if (context->test->latency || context->host_waits || context->one_iteration)
        return 1;
    if (measurement->held) {
        uint64_t fit =
            context->device->info.held_operations / xb_lane_operations(&measurement->lanes[0]);
        most = fit < most ? fit : most;
    }
    if (seconds * (double)most <= target)
        return most;
    return (uint64_t)fmax(ceil(target / seconds), 1);
}

/* How long a device has rested since its last work. One that did something else, or nothing yet,
 * counts as never used. */
static double rest_on(const struct xb_work *last, const struct xb_case *test, double now)
{
    bool same = last->test.mode != NULL && xb_case_same_path(&last->test, test);
    return same ? now - last->end : INFINITY;
}

void xb_measure_note_work(struct xb_measurement *measurement)
{
    double now = xb_clock_now();
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        *lane->last_work = (struct xb_work){.test = *lane->context.test,
                                            .end = now,
                                            .seconds = xb_lane_seconds(lane),
                                            .iterations = measurement->iterations};
        if (lane->peer_last_work != NULL)
            *lane->peer_last_work = *lane->last_work;
    }
}

/*
 * Whether the next repetition is held, if the first took so long (0: this is the first). Where one
 * iteration is a long sample it is not: the host's clock then tells of the same repetition what one
 * operation alone takes. How long the first will be we do not know yet.
 */
static bool is_held(const struct xb_measurement *measurement, double first_s)
{
    if (measurement->lane_count > 1 || measurement->iterations > 1)
        return measurement->held;
    return measurement->held && first_s > 0 && first_s < LONG_S;
}

/* Whether a repetition shows what the device's PCIe link is under load: its data crosses that link,
 * and the call has returned when we look. */
static bool loads_the_link(const struct xb_measurement *measurement)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    const struct xb_mode *mode = context->test->mode;
    return context->hold && !context->host_timed && !mode->pairs && !mode->crosses_otherwise &&
           context->test->direction != XB_D2D;
}

/* Takes one sample of the warm-up, and keeps what the host's clock says of one operation alone. */
static enum xb_status take_one(struct xb_measurement *measurement, bool held, double *seconds,
                               struct xb_error *error)
{
    XB_TRY(xb_measure_repeat(measurement, measurement->result->test.mode->submit,
                             measurement->iterations, held, seconds, error));
    measurement->looks_at_links = *seconds >= LOOKED_AT_S && loads_the_link(measurement);
    *seconds /= (double)measurement->iterations;
    if (!held && measurement->iterations == 1)
        measurement->alone[measurement->alone_count++ % XB_ALONE_REPETITIONS] =
            measurement->lanes[0].timing;
    xb_measure_tell(measurement, 0, *seconds);
    return xb_samples_add(&measurement->warm_up, *seconds, error);
}

/*
 * Finds how many iterations the next sample should have, and whether it is held. A sample that was
 * too short has too few of them, however little is lacking; too many do no harm before they are
 * twice as many. Samples of another kind, or half or twice as long, have to agree anew.
 */
static void adapt(struct xb_measurement *measurement, double seconds, double first_s, bool *held)
{
    uint64_t wanted = iterations_for(measurement, seconds);
    bool far_too_long = 2 * wanted < measurement->iterations;
    bool other_length = far_too_long || wanted >= 2 * measurement->iterations;
    if (far_too_long || wanted > measurement->iterations)
        measurement->iterations = wanted;
    bool hold_next = is_held(measurement, first_s);
    if (other_length || hold_next != *held)
        measurement->warm_up.count = 0;
    *held = hold_next;
}

/*
 * Whether a sample lasts longer than a warm-up may, as that of the same size the other way did, and
 * the device has hardly rested since. Such a warm-up would be one sample, which agrees with nothing
 * and says nothing; the first that counts is as warm.
 */
static bool needs_none(const struct xb_measurement *measurement, double rest, double most)
{
    const struct xb_lane *lane = &measurement->lanes[0];
    const struct xb_work *last = lane->last_work;
    return measurement->lane_count == 1 && rest < measurement->run->asked.warm_up &&
           last->test.bytes == lane->context.test->bytes && last->seconds >= most;
}

enum xb_status xb_measure_warm_up(struct xb_measurement *measurement, struct xb_error *error)
{
    double begin = xb_clock_now();
    /* How long the lanes have rested since they were last at work on the same path: the longest of
     * all their devices. */
    double rest = 0;
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_lane *lane = &measurement->lanes[i];
        rest = fmax(rest, rest_on(lane->last_work, lane->context.test, begin));
        if (lane->peer_last_work != NULL)
            rest = fmax(rest, rest_on(lane->peer_last_work, lane->context.test, begin));
    }
    const struct xb_run_options *asked = &measurement->run->asked;
    double least = fmin(asked->warm_up, rest);
    double most = fmax(asked->warm_up, asked->time_limit * XB_WARM_UP_MOST);
    size_t taken = 0;
    double first_s = 0;
    double elapsed = 0;
    bool settled = needs_none(measurement, rest, most);
    measurement->iterations = settled ? measurement->lanes[0].last_work->iterations : 1;
    bool held = is_held(measurement, first_s);
    while (!settled && !xb_measure_out_of_time(measurement) && elapsed < most) {
        double seconds = 0;
        XB_TRY(take_one(measurement, held, &seconds, error));
        if (taken++ == 0)
            first_s = seconds;
        elapsed = xb_clock_now() - begin;
        adapt(measurement, seconds, first_s, &held);
        settled = elapsed >= least && xb_samples_agree(&measurement->warm_up);
    }
    measurement->looks_at_links = false; /* samples are left alone */
    xb_result_detail_number(measurement->result, "warm_up_samples", (double)taken);
    xb_result_detail_number(measurement->result, "warm_up_s", elapsed);
    /* No warning for single operations: they always scatter, and percentiles say how much. */
    if (!settled && !xb_measure_out_of_time(measurement) && !measurement->result->test.latency)
        xb_result_warn(measurement->result, "noisy: warm-up did not settle within %g %%",
                       XB_WARM_SPREAD * 100);
    return XB_OK;
}
