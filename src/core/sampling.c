/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From warm-up to the last sample of one case. What one iteration is, its mode says. */
#include "measure.h"

#include "clock.h"

#include "xferbench/interrupt.h"

#include <assert.h>
#include <string.h>

/* Small copies are batched until a sample lasts this long: a thousand times an event's resolution.
 */
#define SAMPLE_TARGET_S 1e-3
/* And no further, where nothing else bounds them. */
#define MAX_ITERATIONS 4096u
/* A path that never agrees with itself is not warmed up longer than this part of the time limit. */
#define WARM_UP_MOST 0.25
/* How often one operation alone is timed by the host's clock, beside samples that cannot tell. */
#define HOST_CLOCK_REPETITIONS 3u
/* How often a reference is repeated: the medians are compared, not their tails. */
#define REFERENCE_SAMPLES 3u

/* Whether there is no time for another repetition, as far as the last one tells. */
static bool out_of_time(const struct xb_measurement *measurement)
{
    const struct xb_run *run = measurement->run;
    return xb_run_should_stop(run) ||
           (run->deadline > 0 && xb_clock_now() + measurement->last_wall > run->deadline);
}

static void tell(const struct xb_measurement *measurement, size_t samples, double seconds)
{
    const struct xb_run_observer *observer = measurement->observer;
    if (observer != NULL && seconds > 0)
        observer->progress(observer->argument, measurement->run, samples,
                           (double)measurement->result->bytes_moved / seconds);
}

/* Puts back what the last repetition moved, where a mode needs that. */
static enum xb_status restore(const struct xb_measurement *measurement, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        if (context->test->mode->restore != NULL)
            status = context->test->mode->restore(context, error);
    }
    return status;
}

/* The time of a lane's repetition, by the clock that is the lane's. */
static double lane_seconds(const struct xb_lane *lane)
{
    return lane->context.host_timed ? lane->timing.submit : lane->timing.device;
}

/*
 * One repetition on every lane: all are enqueued, then all released, then all waited for. *seconds
 * is what the slowest took; they start together, but their clocks cannot be compared.
 */
static enum xb_status take(struct xb_measurement *measurement, xb_submit *submit,
                           uint64_t iterations, bool held, double *seconds, struct xb_error *error)
{
    const struct xb_backend *backend = measurement->run->backend;
    double begin = xb_clock_now();
    enum xb_status status = restore(measurement, error);
    if (status != XB_OK)
        return status;
    size_t begun = 0;
    if (backend->range_push != NULL)
        backend->range_push("sample");
    while (status == XB_OK && begun < measurement->lane_count) {
        struct xb_lane *lane = &measurement->lanes[begun++];
        status = xb_sampler_begin(&lane->sampler, submit, iterations, held, &lane->timing, error);
    }
    for (size_t i = 0; i < begun; i++)
        xb_sampler_release(&measurement->lanes[i].sampler);
    *seconds = 0;
    for (size_t i = 0; i < begun; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        status = xb_sampler_finish(&lane->sampler, status, &lane->timing, error);
        *seconds = lane_seconds(lane) > *seconds ? lane_seconds(lane) : *seconds;
    }
    if (backend->range_pop != NULL)
        backend->range_pop();
    measurement->last_wall = xb_clock_now() - begin;
    return status;
}

/* How many iterations make a sample of the target's length, within what a hold can carry. */
static uint64_t iterations_for(const struct xb_measurement *measurement, double seconds)
{
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    uint64_t most = MAX_ITERATIONS;
    if (context->test->mode->restore != NULL || context->test->latency)
        return 1;
    if (measurement->held) {
        uint64_t fit = context->device->info.held_operations / context->operations_per_iteration;
        most = fit < most ? fit : most;
    }
    if (seconds * (double)most <= SAMPLE_TARGET_S)
        return most;
    double wanted = SAMPLE_TARGET_S / seconds;
    return wanted <= 1 ? 1 : (uint64_t)(wanted + 0.5);
}

/* Whether the queues can be held while an iteration is enqueued; says so where that is a loss. */
static bool can_hold(struct xb_measurement *measurement, const struct xb_mode_context *context)
{
    const struct xb_device_info *device = &context->queues[0]->device->info;
    if (!context->hold || context->test->latency) /* a single operation is timed as it comes */
        return false;
    if ((device->capabilities & XB_CAP_HOLD) == 0) {
        const char *reason = xb_device_lacks(device, XB_CAP_HOLD);
        xb_result_warn(measurement->result,
                       "queues cannot be held here%s%.120s%s: enqueuing may be part of the time",
                       reason[0] != '\0' ? " (" : "", reason, reason[0] != '\0' ? ")" : "");
        return false;
    }
    if (context->operations_per_iteration <= device->held_operations)
        return true;
    xb_result_warn(measurement->result,
                   "%llu operations do not fit behind a held queue (%u do): enqueuing them may be "
                   "part of the time",
                   (unsigned long long)context->operations_per_iteration, device->held_operations);
    return false;
}

/* Whether the queues are held while an iteration is enqueued. XB_ERR_UNSUPPORTED where several
 * devices would have to start together and cannot: those enqueued first would run ahead, and no sum
 * of theirs would be true. */
static enum xb_status decide_hold(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_result *result = measurement->result;
    bool all = true;
    for (size_t i = 0; all && i < measurement->lane_count; i++)
        all = can_hold(measurement, &measurement->lanes[i].context);
    measurement->held = all;
    if (all || measurement->lane_count == 1)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                   "devices start together only if their queues can be held while all of an "
                   "iteration is enqueued: %s",
                   result->warning_count > 0 ? result->warnings[result->warning_count - 1]
                                             : "this variant's calls may block");
}

/* Repeats until the last samples agree, and finds how many iterations a sample should have. */
static enum xb_status warm_up(struct xb_measurement *measurement, struct xb_error *error)
{
    xb_submit *submit = measurement->result->test.mode->submit;
    double begin = xb_clock_now();
    double least = measurement->warm_up_least;
    double most = measurement->time_limit * WARM_UP_MOST;
    size_t taken = 0;
    bool settled = false;
    double elapsed = 0;
    if (most < least)
        most = least;
    measurement->iterations = 1;
    while (!settled && !out_of_time(measurement) && elapsed < most) {
        double seconds = 0;
        enum xb_status status =
            take(measurement, submit, measurement->iterations, measurement->held, &seconds, error);
        seconds /= (double)measurement->iterations;
        if (status == XB_OK)
            status = xb_samples_add(&measurement->warm_up, seconds, error);
        if (status != XB_OK)
            return status;
        taken++;
        elapsed = xb_clock_now() - begin;
        tell(measurement, 0, seconds);

        uint64_t wanted = iterations_for(measurement, seconds);
        if (wanted > 2 * measurement->iterations || 2 * wanted < measurement->iterations) {
            measurement->iterations = wanted; /* samples of another length: agree anew */
            measurement->warm_up.count = 0;
        }
        settled = elapsed >= least && xb_samples_agree(&measurement->warm_up);
    }
    xb_result_detail_number(measurement->result, "warm_up_samples", (double)taken);
    xb_result_detail_number(measurement->result, "warm_up_s", elapsed);
    /* Single operations scatter by nature: their percentiles say how much. */
    if (!settled && !out_of_time(measurement) && !measurement->result->test.latency)
        xb_result_warn(measurement->result,
                       "the last %u warm-up samples did not agree within %g %%: this path is noisy "
                       "here, or the time limit is short",
                       XB_WARM_SAMPLES, XB_WARM_SPREAD * 100);
    return XB_OK;
}

/* Adds the host clock's view of one operation alone. */
static enum xb_status add_host_view(struct xb_result *result, const struct xb_timing *timing,
                                    struct xb_error *error)
{
    enum xb_status status = xb_samples_add(&result->submit_times, timing->submit, error);
    if (status == XB_OK)
        status = xb_samples_add(&result->wall_times, timing->wall, error);
    return status;
}

/* A held or batched sample does not tell how long one operation keeps its caller: times some alone,
 * a lane at a time. */
static enum xb_status take_host_view(struct xb_measurement *measurement, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    if (!measurement->held && measurement->iterations == 1 && measurement->lane_count == 1)
        return XB_OK; /* the samples themselves tell */
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        for (unsigned k = 0;
             status == XB_OK && k < HOST_CLOCK_REPETITIONS && !out_of_time(measurement); k++) {
            status = restore(measurement, error);
            if (status == XB_OK)
                status = xb_sampler_take(&lane->sampler, lane->context.test->mode->submit, 1, false,
                                         &lane->timing, error);
            if (status == XB_OK)
                status = add_host_view(lane->result, &lane->timing, error);
        }
    }
    return status;
}

static struct xb_part *add_part(struct xb_result *result, const char *name, uint64_t bytes)
{
    assert(result->part_count < XB_RESULT_PARTS); /* the registry has counted the references */
    struct xb_part *part = &result->parts[result->part_count++];
    *part = (struct xb_part){.name = name, .bytes = bytes};
    return part;
}

/* What the mode wants to be compared with. */
static enum xb_status take_references(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    const struct xb_reference *reference = result->test.mode->references;
    enum xb_status status = XB_OK;
    for (; reference != NULL && reference->name != NULL; reference++) {
        struct xb_part *part =
            add_part(result, reference->name, reference->crossings * result->test.bytes);
        for (unsigned i = 0; status == XB_OK && i < REFERENCE_SAMPLES && !out_of_time(measurement);
             i++) {
            double seconds = 0;
            status = take(measurement, reference->submit, measurement->iterations,
                          measurement->held, &seconds, error);
            if (status == XB_OK)
                status =
                    xb_samples_add(&part->times, seconds / (double)measurement->iterations, error);
        }
    }
    return status;
}

/* The share of the whole time in which the spans of a lane, or the lanes, all were at work. They
 * start together, so the shortest tells. Two spans may begin apart: what both took beyond the whole
 * is what they took together. */
static double overlap_of(const struct xb_measurement *measurement, double whole)
{
    const struct xb_lane *first = &measurement->lanes[0];
    double both = whole;
    if (measurement->lane_count > 1) {
        for (size_t i = 0; i < measurement->lane_count; i++)
            if (lane_seconds(&measurement->lanes[i]) < both)
                both = lane_seconds(&measurement->lanes[i]);
    } else {
        both = first->timing.spans[0] + first->timing.spans[1] - whole;
    }
    double share = both / whole;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Adds what the repetition on one lane took to the lane's own result. */
static enum xb_status add_lane(struct xb_measurement *measurement, struct xb_lane *lane,
                               struct xb_error *error)
{
    struct xb_result *result = lane->result;
    double iterations = (double)measurement->iterations;
    double seconds = lane_seconds(lane) / iterations;
    if (!(seconds > 0))
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "the events around a copy of %llu bytes are %g s apart: the device's clock "
                       "cannot be believed",
                       (unsigned long long)result->test.bytes, seconds);
    enum xb_status status = xb_samples_add(&result->times, seconds, error);
    for (size_t i = 0; status == XB_OK && i < lane->context.span_count; i++)
        status = xb_samples_add(&result->parts[i].times, lane->timing.spans[i] / iterations, error);
    return status;
}

/* Takes one sample and adds what it tells to the results. */
static enum xb_status take_sample(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    double seconds = 0;
    enum xb_status status = take(measurement, result->test.mode->submit, measurement->iterations,
                                 measurement->held, &seconds, error);
    for (size_t i = 0; status == XB_OK && i < measurement->lane_count; i++)
        status = add_lane(measurement, &measurement->lanes[i], error);
    if (status != XB_OK)
        return status;
    if (measurement->lane_count > 1)
        status = xb_samples_add(&result->times, seconds / (double)measurement->iterations, error);
    else if (!measurement->held && measurement->iterations == 1 && !result->test.latency)
        status = add_host_view(result, &measurement->lanes[0].timing, error);
    if (status == XB_OK &&
        (measurement->lane_count > 1 || measurement->lanes[0].context.span_count == XB_SPANS))
        status = xb_samples_add(&measurement->overlaps, overlap_of(measurement, seconds), error);
    tell(measurement, result->times.count, seconds / (double)measurement->iterations);
    return status;
}

/* One operation without events around it: they would be part of the host's time. */
static enum xb_status take_bare(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_lane *lane = &measurement->lanes[0];
    enum xb_status status = restore(measurement, error);
    if (status == XB_OK)
        status = xb_sampler_take_bare(&lane->sampler, lane->context.test->mode->submit,
                                      &lane->timing, error);
    if (status == XB_OK)
        status = add_host_view(lane->result, &lane->timing, error);
    return status;
}

static enum xb_status take_samples(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    bool latency = result->test.latency;
    const struct xb_value *fixed = xb_config_get(measurement->run->config, "samples");
    struct xb_stopping stopping = {
        .fixed_samples = fixed->is_set ? fixed->count : 0,
        .time_limit = measurement->time_limit,
        .min_samples = latency ? XB_STOP_LATENCY_SAMPLES : XB_STOP_MIN_SAMPLES,
    };
    double begin = xb_clock_now();
    while (result->stop_reason == XB_STOP_NOT_YET) {
        if (out_of_time(measurement)) {
            result->stop_reason =
                xb_interrupt_signal() != 0 ? XB_STOP_INTERRUPTED : XB_STOP_DEADLINE;
            return XB_OK;
        }
        enum xb_status status = take_sample(measurement, error);
        if (status == XB_OK && latency)
            status = take_bare(measurement, error);
        if (status == XB_OK)
            status = xb_stopping_decide(&stopping, &result->times, xb_clock_now() - begin,
                                        &result->stop_reason, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

static enum xb_status prepare(struct xb_measurement *measurement, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        status = context->test->mode->prepare(context, error);
    }
    return status;
}

enum xb_status xb_measure_sample(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    const struct xb_mode_context *context = &measurement->lanes[0].context;
    enum xb_status status = decide_hold(measurement, error);
    if (status != XB_OK)
        return status;
    for (size_t i = 0; i < context->span_count; i++)
        add_part(result, context->spans[i].name, context->spans[i].bytes);
    status = warm_up(measurement, error);
    if (status == XB_OK && !result->test.latency)
        status = take_host_view(measurement, error);
    if (status == XB_OK && measurement->lane_count == 1 && !result->test.latency)
        status = take_references(measurement, error);
    if (status != XB_OK || out_of_time(measurement))
        return status;
    status = prepare(measurement, error);
    if (status == XB_OK)
        status = take_samples(measurement, error);
    return status;
}
