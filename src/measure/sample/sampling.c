/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From warm-up to the last sample of one case. What one iteration is, its mode says. */
#include "measure.h"

#include "base/clock.h"

#include "measure/plan/case.h"
#include "record/mode_list.h"
#include "sampler.h"

#include <math.h>
#include <stdio.h>

/* Whether the queues can be held while an iteration is enqueued. Adds a warning where the case
 * would need it. */
static bool can_hold(struct xb_measurement *measurement, const struct xb_lane *lane)
{
    const struct xb_mode_context *context = &lane->context;
    uint64_t operations = xb_most_operations(measurement);
    const struct xb_device_info *device = &context->queues[0]->device->info;
    if (!context->hold || xb_case_is_single(context->test)) /* which is timed as it comes */
        return false;
    if ((device->capabilities & XB_CAP_HOLD) == 0) {
        const char *reason = xb_device_lacks(device, XB_CAP_HOLD);
        xb_result_warn(measurement->result,
                       "queues cannot be held here%s%.120s%s: the time may include enqueuing",
                       reason[0] != '\0' ? " (" : "", reason, reason[0] != '\0' ? ")" : "");
        return false;
    }
    if (operations <= device->held_operations)
        return true;
    xb_result_warn(
        measurement->result,
        "too many operations to queue before the clock starts (%llu; limit %u): the time "
        "may include launching them",
        (unsigned long long)operations, device->held_operations);
    return false;
}

/* Decides whether the queues are held while a sample is enqueued. XB_ERR_UNSUPPORTED for several
 * devices whose queues cannot be held: those enqueued first would run ahead, and their sum would be
 * wrong. */
static enum xb_status decide_hold(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_result *result = measurement->result;
    bool all = true;
    for (size_t i = 0; all && i < measurement->lane_count; i++)
        all = can_hold(measurement, &measurement->lanes[i]);
    measurement->held = all;
    if (all || measurement->lane_count == 1)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "devices start together only if their queues can be held while all of an "
                   "iteration is enqueued: %s",
                   result->row.warning_count > 0 ? result->warnings[result->row.warning_count - 1]
                                                 : "this variant's calls may block");
}

/* ---- warm-up ---- */

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
     * Nor does one transfer of a set run on beside the next iteration of another. */
    if (context->test->latency || context->host_waits || context->one_iteration ||
        context->test->group == XB_GROUP_SET)
        return 1;
    if (measurement->held) {
        uint64_t fit = context->device->info.held_operations / xb_most_operations(measurement);
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
    bool loads = true; /* every lane does */
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_mode_context *context = &measurement->lanes[i].context;
        const struct xb_mode *mode = context->test->mode;
        loads = loads && context->hold && !context->host_timed && !mode->pairs &&
                !mode->crosses_otherwise && context->test->direction != XB_D2D;
    }
    return loads;
}

/* Takes one sample of the warm-up, and keeps what the host's clock says of one operation alone. */
static enum xb_status take_one(struct xb_measurement *measurement, bool held, double *seconds,
                               struct xb_error *error)
{
    XB_TRY(xb_measure_repeat(measurement, NULL, measurement->iterations, held, seconds, error));
    xb_witness_look(measurement);
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

/*
 * Repeats the case until its samples agree (xb_samples_agree), but for --warm-up at least: an idle
 * link and idle clocks need tens of milliseconds of work to reach full speed, and until then
 * samples may agree and still be slow. Or for as long as the lanes have rested from the same path's
 * work where that is less: see xb_case_same_path. Not at all where a sample of that work lasted
 * longer than a warm-up may. Finds how many iterations a sample should have. Fills
 * measurement->iterations and, where single operations are what it repeats, measurement->alone.
 * Blocks. Warns in the result where samples did not agree in time.
 */
static enum xb_status warm_up(struct xb_measurement *measurement, struct xb_error *error)
{
    xb_witness_look(measurement); /* the first of a run opens the vendor's library: no warm-up */
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
    /* Samples are left alone, but where load matters more. */
    measurement->looks_at_links = measurement->run->until_deadline && loads_the_link(measurement);
    xb_result_detail_number(measurement->result, "warm_up_samples", (double)taken);
    xb_result_detail_number(measurement->result, "warm_up_s", elapsed);
    /* No warning for single operations: they always scatter, and percentiles say how much. */
    if (!settled && !xb_measure_out_of_time(measurement) && !measurement->result->test.latency)
        xb_result_warn(measurement->result, "noisy: warm-up did not settle within %g %%",
                       XB_WARM_SPREAD * 100);
    return XB_OK;
}

/* ---- beside the samples ---- */

/* Adds what the host's clock says of one operation alone. */
static enum xb_status add_host_times(struct xb_result *result, const struct xb_timing *timing,
                                     struct xb_error *error)
{
    XB_TRY(xb_samples_add(&result->submit_times, timing->submit, error));
    return xb_samples_add(&result->wall_times, timing->wall, error);
}

/* How often one operation is timed alone: as often as there is an interval of the median then, and
 * more often where that is over in no time; where it takes long, no more often than is needed for a
 * median. There the samples have one iteration each, and an interval that says the same. */
#define MOST_ALONE 20u
#define ALONE_TARGET_S 2e-3
#define LONG_ALONE_S 10e-3

/* Whether `count` operations alone, which took so long together, are enough. */
static bool are_enough(size_t count, double seconds)
{
    if (count < XB_STOP_LEAST_SAMPLES)
        return count >= XB_ALONE_REPETITIONS && seconds >= LONG_ALONE_S * (double)count;
    return count >= MOST_ALONE || seconds >= ALONE_TARGET_S;
}

/* Times some operations alone, a lane at a time: a held or batched sample does not tell how long
 * one operation blocks its caller. What the warm-up has told of any counts: it was not held then,
 * which it only is not on one lane, where each takes long by the device's clock (take_one). */
static enum xb_status time_all_alone(struct xb_measurement *measurement, struct xb_error *error)
{
    if (!measurement->held && measurement->iterations == 1 && measurement->lane_count == 1)
        return XB_OK; /* each sample is one operation alone */
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        size_t count = 0;
        double seconds = 0; /* of so many together */
        for (; measurement->alone_count >= XB_ALONE_REPETITIONS && count < XB_ALONE_REPETITIONS;
             count++) {
            XB_TRY(add_host_times(lane->result, &measurement->alone[count], error));
            seconds += measurement->alone[count].device;
        }
        for (; !are_enough(count, seconds) && !xb_measure_out_of_time(measurement); count++) {
            XB_TRY(xb_measure_restore(measurement, error));
            XB_TRY(xb_sampler_repeat(&lane->sampler, lane->context.test->mode->submit, 1, false,
                                     &lane->timing, error));
            XB_TRY(add_host_times(lane->result, &lane->timing, error));
            seconds += xb_lane_seconds(lane);
        }
    }
    return XB_OK;
}

/* The share of the whole time in which all lanes, with both spans of each, can have been at work:
 * the least of any lane's, without the time by which the last was released later. The spans of a
 * lane may begin apart: the times of both add up to more than the lane's by the time in which both
 * were at work. */
static double overlap_of(const struct xb_measurement *measurement, double whole)
{
    double all = whole, lag = 0;
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_lane *lane = &measurement->lanes[i];
        double own = xb_lane_seconds(lane);
        if (lane->context.span_count == XB_SPANS)
            own = lane->timing.spans[0] + lane->timing.spans[1] - own;
        all = fmin(all, own);
        lag = fmax(lag, lane->lag);
    }
    return fmax((all - lag) / whole, 0);
}

/* Adds what the repetition on one lane took to the lane's own result. */
static enum xb_status add_lane(struct xb_measurement *measurement, struct xb_lane *lane,
                               struct xb_error *error)
{
    struct xb_result *result = lane->result;
    double iterations = (double)measurement->iterations;
    double seconds = xb_lane_seconds(lane) / iterations;
    if (!(seconds > 0))
        return XB_FAIL(error, XB_ERR_RUNTIME, XB_MEASURE_WRONG_CLOCK, (double)result->test.bytes,
                       seconds);
    double sum = 0; /* of its ways' rates */
    XB_TRY(xb_samples_add(&result->times, seconds, error));
    for (size_t i = 0; i < lane->context.span_count; i++) {
        const struct xb_span *span = &lane->context.spans[i];
        if (!(lane->timing.spans[i] > 0))
            return XB_FAIL(error, XB_ERR_RUNTIME, "%s: " XB_MEASURE_WRONG_CLOCK, span->figure->name,
                           (double)span->bytes, lane->timing.spans[i] / iterations);
        double rate = (double)span->bytes * iterations / lane->timing.spans[i];
        XB_TRY(xb_result_sample(result, span->figure, rate, error));
        sum += rate;
    }
    return sum > 0 ? xb_result_sample(result, &xb_figure_bandwidth_sum_of_ways, sum, error) : XB_OK;
}

/* Adds each way of several lanes that go both ways: all that was moved this way, by the time of the
 * lane that was slowest in it. */
static enum xb_status add_each_way(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_mode_context *first = &measurement->lanes[0].context;
    struct xb_result *result = measurement->result;
    double sum = 0;
    for (size_t s = 0; s < first->span_count; s++) {
        double bytes = 0;
        double slowest = 0;
        for (size_t i = 0; i < measurement->lane_count; i++) {
            const struct xb_lane *lane = &measurement->lanes[i];
            bytes += (double)lane->context.spans[s].bytes * (double)measurement->iterations;
            slowest = fmax(slowest, lane->timing.spans[s]);
        }
        XB_TRY(xb_result_sample(result, first->spans[s].figure, bytes / slowest, error));
        sum += bytes / slowest;
    }
    return sum > 0 ? xb_result_sample(result, &xb_figure_bandwidth_sum_of_ways, sum, error) : XB_OK;
}

/* Adds what the repetition tells of the whole beyond its lanes. */
static enum xb_status add_whole(struct xb_measurement *measurement, double seconds,
                                struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    const struct xb_lane *first = &measurement->lanes[0];
    if (measurement->lane_count > 1) {
        XB_TRY(add_each_way(measurement, error));
        XB_TRY(xb_samples_add(&result->times, seconds / (double)measurement->iterations, error));
    } else if (!measurement->held && measurement->iterations == 1 && !result->test.latency) {
        XB_TRY(add_host_times(result, &first->timing, error));
    }
    if (measurement->lane_count == 1 && first->context.span_count < XB_SPANS)
        return XB_OK;
    return xb_result_sample(result, &xb_figure_overlap, overlap_of(measurement, seconds), error);
}

/* Takes one sample and adds what it tells to the results. */
static enum xb_status take_sample(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    double seconds = 0;
    XB_TRY(xb_measure_repeat(measurement, NULL, measurement->iterations, measurement->held,
                             &seconds, error));
    for (size_t i = 0; i < measurement->lane_count; i++)
        XB_TRY(add_lane(measurement, &measurement->lanes[i], error));
    XB_TRY(add_whole(measurement, seconds, error));
    xb_measure_tell(measurement, result->times.count, seconds / (double)measurement->iterations);
    return XB_OK;
}

/* Times one operation by the host's clock, without events around it: they would be part of its
 * time. */
static enum xb_status time_bare(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_lane *lane = &measurement->lanes[0];
    XB_TRY(xb_measure_restore(measurement, error));
    XB_TRY(xb_sampler_repeat_bare(&lane->sampler, lane->context.test->mode->submit, &lane->timing,
                                  error));
    return add_host_times(lane->result, &lane->timing, error);
}

/* Decides whether to go on after the latest sample of this placement, `elapsed` seconds after its
 * first began. */
static enum xb_status decide(struct xb_measurement *measurement, struct xb_stopping *stopping,
                             size_t before, double elapsed, bool *done, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    if (measurement->placements > 1) {
        *done = xb_placement_is_full(measurement, stopping->fixed_samples,
                                     result->times.count - before, elapsed);
        if (*done && measurement->placement + 1 == measurement->placements)
            result->stop_reason = stopping->fixed_samples > 0 ? XB_STOP_FIXED : XB_STOP_TIME_LIMIT;
        return XB_OK;
    }
    enum xb_status status =
        xb_stopping_decide(stopping, &result->times, elapsed, &result->stop_reason, error);
    *done = result->stop_reason != XB_STOP_NOT_YET;
    return status;
}

static enum xb_status take_samples(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    bool single = xb_case_is_single(&result->test);
    /* With how many samples sampling may end. Where lanes or ways share what they run on, each with
     * a median of its own, and where the run asks for it, a few do not do. */
    bool few_do = measurement->lane_count == 1 && measurement->lanes[0].context.span_count == 0 &&
                  !measurement->run->unhurried;
    struct xb_stopping stopping = {
        .iterations = measurement->iterations,
        .fixed_samples =
            measurement->run->until_deadline ? SIZE_MAX : measurement->run->asked.samples,
        .time_limit = measurement->run->asked.time_limit,
        .min_samples = single ? XB_STOP_LATENCY_SAMPLES : XB_STOP_MIN_SAMPLES,
        .sure_samples = single   ? XB_STOP_LATENCY_SAMPLES
                        : few_do ? XB_STOP_LEAST_SAMPLES
                                 : XB_STOP_MIN_SAMPLES,
    };
    size_t before = result->times.count;
    double begin = xb_clock_now();
    bool done = false;
    while (!done) {
        enum xb_status status = XB_ERR_STOPPED;
        if (!xb_measure_out_of_time(measurement))
            status = take_sample(measurement, error);
        if (status == XB_OK && single)
            status = time_bare(measurement, error);
        if (status == XB_ERR_STOPPED) { /* what was cut in the middle is no sample */
            xb_measure_note_cut(measurement);
            break;
        }
        if (status != XB_OK)
            return status;
        XB_TRY(decide(measurement, &stopping, before, xb_clock_now() - begin, &done, error));
    }
    xb_placement_close(measurement, before);
    return XB_OK;
}

/* What comes before the samples. The device is warm in every placement but the first: there one
 * repetition is enough, for what the new memory costs the first time. */
static enum xb_status begin_placement(struct xb_measurement *measurement, struct xb_error *error)
{
    double ignored = 0;
    if (measurement->placement > 0)
        return xb_measure_repeat(measurement, NULL, measurement->iterations, measurement->held,
                                 &ignored, error);
    XB_TRY(decide_hold(measurement, error));
    XB_TRY(warm_up(measurement, error));
    /* What is shown beside the samples. Single operations have their times in the samples, and of
     * several lanes nobody wants a reference: each was measured alone. */
    if (measurement->result->test.latency)
        return XB_OK;
    XB_TRY(time_all_alone(measurement, error));
    return measurement->lane_count == 1 ? xb_measure_beside(measurement, error) : XB_OK;
}

/* Notes that the case was at work on its lanes until now. */
static void note_work(struct xb_measurement *measurement)
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

enum xb_status xb_measure_sample(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_backend *backend = measurement->run->backend;
    enum xb_status status = begin_placement(measurement, error);
    bool is_cut = status == XB_ERR_STOPPED && measurement->placement > 0;
    if (status != XB_OK && !is_cut)
        return status;
    if (is_cut || xb_measure_out_of_time(measurement)) {
        if (measurement->placement > 0)
            xb_measure_note_cut(measurement); /* else there is nothing that it cuts short */
        return XB_OK;
    }
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        XB_TRY(context->test->mode->prepare(context, error));
    }
    /* A profiler that waits for it collects the samples. The case's own range began before: a
     * profile of what was collected would lack it. So the samples have one that names the case. */
    if (backend->profiler_collect != NULL) {
        char text[128], name[sizeof text + 16];
        snprintf(name, sizeof name, "samples of %s",
                 xb_case_text(&measurement->result->test, text, sizeof text));
        backend->profiler_collect(true);
        backend->range_push(name);
    }
    status = take_samples(measurement, error);
    if (backend->profiler_collect != NULL) {
        backend->range_pop();
        backend->profiler_collect(false);
    }
    if (measurement->result->stop_reason == XB_STOP_NOT_YET && xb_measure_out_of_time(measurement))
        xb_measure_note_cut(measurement); /* before the next placement */
    note_work(measurement);
    return status;
}
