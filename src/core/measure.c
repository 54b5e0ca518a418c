/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Measures one case: warm-up, clocks, samples, verification. What one iteration is, its mode says.
 */
#include "measure.h"

#include "clock.h"

#include "xferbench/interrupt.h"
#include "xferbench/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small copies are batched until a sample lasts this long: a thousand times an event's resolution.
 */
#define SAMPLE_TARGET_S 1e-3
/* And no further, where nothing else bounds them. */
#define MAX_ITERATIONS 4096u
/* An idle link and idle clocks take tens of milliseconds of work to come up; until then samples may
 * agree with each other and still be slow. */
#define WARM_UP_LEAST_S 0.05
/* How often one operation alone is timed by the host's clock, beside samples that cannot tell. */
#define HOST_CLOCK_REPETITIONS 5u
/* An interval this wide, to either side, is worth a word. */
#define WIDE_INTERVAL 0.05

static void tell(const struct xb_measurement *measurement, size_t samples, double seconds)
{
    const struct xb_run_observer *observer = measurement->observer;
    if (observer != NULL)
        observer->progress(observer->argument, measurement->run, samples,
                           (double)measurement->result->test.bytes / seconds);
}

/* How many iterations make a sample of the target's length, within what a hold can carry. */
static uint64_t iterations_for(const struct xb_measurement *measurement, double seconds)
{
    uint64_t most = MAX_ITERATIONS;
    if (measurement->held) {
        uint64_t fit = measurement->context.device->info.held_operations /
                       measurement->context.operations_per_iteration;
        most = fit < most ? fit : most;
    }
    if (seconds * (double)most <= SAMPLE_TARGET_S)
        return most;
    double wanted = SAMPLE_TARGET_S / seconds;
    return wanted <= 1 ? 1 : (uint64_t)(wanted + 0.5);
}

/* Whether the queues can be held while an iteration is enqueued; says so where that is a loss. */
static bool can_hold(struct xb_measurement *measurement)
{
    const struct xb_mode_context *context = &measurement->context;
    const struct xb_device_info *device = &context->device->info;
    if (!context->hold)
        return false;
    if ((device->capabilities & XB_CAP_HOLD) == 0) {
        xb_result_warn(measurement->result,
                       "queues cannot be held here: enqueuing may be part of the time");
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

/* Repeats until the last samples agree, and finds how many iterations a sample should have. */
static enum xb_status warm_up(struct xb_measurement *measurement, struct xb_error *error)
{
    double begin = xb_clock_now();
    size_t taken = 0;
    bool settled = false;
    double elapsed = 0;
    measurement->iterations = 1;
    while (!settled && xb_interrupt_signal() == 0 &&
           (elapsed < measurement->time_limit / 2 || elapsed < WARM_UP_LEAST_S ||
            taken < XB_WARM_SAMPLES)) {
        struct xb_timing timing;
        enum xb_status status = xb_sampler_take(&measurement->sampler, measurement->iterations,
                                                measurement->held, &timing, error);
        double seconds = timing.device / (double)measurement->iterations;
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
        settled = elapsed >= WARM_UP_LEAST_S && xb_samples_agree(&measurement->warm_up);
    }
    xb_result_detail_number(measurement->result, "warm_up_samples", (double)taken);
    xb_result_detail_number(measurement->result, "warm_up_s", elapsed);
    if (!settled && xb_interrupt_signal() == 0)
        xb_result_warn(measurement->result,
                       "the last %u warm-up samples did not agree within %g %%: this path is noisy "
                       "here, or the time limit is short",
                       XB_WARM_SAMPLES, XB_WARM_SPREAD * 100);
    return XB_OK;
}

/* Adds the host clock's view of one operation alone. */
static enum xb_status add_host_view(struct xb_measurement *measurement,
                                    const struct xb_timing *timing, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    enum xb_status status = xb_samples_add(&result->submit_times, timing->submit, error);
    if (status == XB_OK)
        status = xb_samples_add(&result->wall_times, timing->wall, error);
    return status;
}

/* A held or batched sample does not tell how long one operation keeps its caller: times some alone.
 */
static enum xb_status take_host_view(struct xb_measurement *measurement, struct xb_error *error)
{
    for (unsigned i = 0; i < HOST_CLOCK_REPETITIONS && xb_interrupt_signal() == 0; i++) {
        struct xb_timing timing;
        enum xb_status status = xb_sampler_take(&measurement->sampler, 1, false, &timing, error);
        if (status == XB_OK)
            status = add_host_view(measurement, &timing, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

/* Takes one sample and adds what it tells to the result. */
static enum xb_status take_sample(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_timing timing;
    enum xb_status status = xb_sampler_take(&measurement->sampler, measurement->iterations,
                                            measurement->held, &timing, error);
    if (status != XB_OK)
        return status;
    double seconds = timing.device / (double)measurement->iterations;
    if (!(seconds > 0))
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "the events around a copy of %llu bytes are %g s apart: the device's clock "
                       "cannot be believed",
                       (unsigned long long)result->test.bytes, timing.device);
    status = xb_samples_add(&result->times, seconds, error);
    if (status == XB_OK && !measurement->held && measurement->iterations == 1)
        status = add_host_view(measurement, &timing, error);
    tell(measurement, result->times.count, seconds);
    return status;
}

/* Keeps the faster of two readings: an idle link reads slower than it is. */
static void note_link(struct xb_run_device *where)
{
    if (where->info.pci_bdf[0] == '\0')
        return;
    struct xb_pcie_link now = xb_pcie_link_read(where->info.pci_bdf);
    if (now.known && (!where->link.known ||
                      now.speed_gts * now.width > where->link.speed_gts * where->link.width))
        where->link = now;
}

static enum xb_status take_samples(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    const struct xb_value *fixed = xb_config_get(measurement->run->config, "samples");
    struct xb_stopping stopping = {.fixed_samples = fixed->is_set ? fixed->count : 0,
                                   .time_limit = measurement->time_limit};
    double begin = xb_clock_now();
    while (result->stop_reason == XB_STOP_NOT_YET) {
        if (xb_interrupt_signal() != 0) {
            result->stop_reason = XB_STOP_INTERRUPTED;
            return XB_OK;
        }
        enum xb_status status = take_sample(measurement, error);
        if (status == XB_OK)
            status = xb_stopping_decide(&stopping, &result->times, xb_clock_now() - begin,
                                        &result->stop_reason, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

/* Bytes per second of every sample, described. */
static enum xb_status describe(struct xb_result *result, struct xb_error *error)
{
    size_t count = result->times.count;
    double *rates = malloc(count * sizeof *rates);
    if (rates == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to describe %zu samples", count);
    for (size_t i = 0; i < count; i++)
        rates[i] = (double)result->test.bytes / result->times.values[i];
    enum xb_status status = xb_statistics_compute(rates, count, &result->bandwidth, error);
    free(rates);
    return status;
}

/* Where the host buffer lies. Binding memory is a preference: a full node sends pages elsewhere. */
static void add_host_memory(const struct xb_measurement *measurement)
{
    struct xb_result *result = measurement->result;
    const struct xb_run_device *where = measurement->where;
    const struct xb_buffer *host = xb_workspace_kept_host(measurement->context.workspace);
    char nodes[64];
    char bound_to[16];
    if (host == NULL)
        return;
    xb_topology_locate(measurement->run->topology, host->host_address, host->bytes, nodes,
                       sizeof nodes);
    xb_result_detail_text(result, "host_memory_numa_nodes", "%s", nodes);
    if (host->memory == XB_MEMORY_PINNED && where->info.pinned_note != NULL)
        xb_result_detail_text(result, "pinned_memory", "%s", where->info.pinned_note);
    snprintf(bound_to, sizeof bound_to, "%d", where->binding.node);
    if (where->binding.bound && nodes[0] != '\0' && strcmp(nodes, bound_to) != 0)
        xb_result_warn(result, "bound to NUMA node %s, but the host buffer lies on %s", bound_to,
                       nodes);
}

/* What a reader of the row must know to judge it. */
static void add_conditions(const struct xb_measurement *measurement)
{
    struct xb_result *result = measurement->result;
    const struct xb_run_device *where = measurement->where;
    const struct xb_statistics *bandwidth = &result->bandwidth;
    xb_result_detail_number(result, "iterations_per_sample", (double)measurement->iterations);
    xb_result_detail_text(result, "held", measurement->held ? "yes" : "no");

    add_host_memory(measurement);
    if (!where->binding.bound && !where->binding.note_is_normal)
        xb_result_warn(result, "not bound to a NUMA node: %s", where->binding.note);
    if (!bandwidth->has_interval)
        xb_result_warn(result, "%zu samples are too few for a confidence interval (%u make one)",
                       bandwidth->n, XB_STOP_LEAST_SAMPLES);
    else if (bandwidth->ci95_high - bandwidth->ci95_low > 2 * WIDE_INTERVAL * bandwidth->median)
        xb_result_warn(result, "noisy: the median is known only to within %.0f %%",
                       50 * (bandwidth->ci95_high - bandwidth->ci95_low) / bandwidth->median);
    if (result->stop_reason == XB_STOP_INTERRUPTED)
        xb_result_warn(result, "interrupted after %zu samples", bandwidth->n);
}

/* Everything between setup and teardown. */
static enum xb_status measure(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_mode_context *context = &measurement->context;
    const struct xb_mode *mode = result->test.mode;
    measurement->held = can_hold(measurement);
    enum xb_status status = warm_up(measurement, error);
    if (status == XB_OK && (measurement->held || measurement->iterations > 1))
        status = take_host_view(measurement, error);
    if (status == XB_OK && xb_interrupt_signal() != 0)
        return XB_OK;
    if (status == XB_OK)
        status = mode->prepare(context, error);
    if (status == XB_OK)
        status = take_samples(measurement, error);
    note_link(measurement->where); /* now: verifying takes long enough for it to go to sleep */
    if (status != XB_OK || result->times.count == 0)
        return status;
    status = describe(result, error);
    if (status == XB_OK)
        status = mode->verify(context, result, error);
    if (status != XB_OK)
        return status;
    add_conditions(measurement);
    if (result->verified != XB_VERIFIED_TRUE)
        return XB_FAIL(
            error, XB_ERR_RUNTIME,
            "the data did not arrive as it was sent, so there is no bandwidth to report: "
            "%s",
            result->reason);
    return XB_OK;
}

void xb_result_fail(struct xb_result *result, const struct xb_error *error)
{
    result->status = XB_RESULT_ERROR;
    result->error = *error;
    xb_error_text(error, result->reason, sizeof result->reason);
    /* An unfinished measurement is none. That of a wrong copy stays, as evidence. */
    if (result->verified == XB_VERIFIED_UNKNOWN)
        memset(&result->bandwidth, 0, sizeof result->bandwidth);
}

void xb_result_skip(struct xb_result *result, const char *reason)
{
    result->status = XB_RESULT_SKIPPED;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

/* XB_ERR_UNSUPPORTED, with what is lacking, where the device cannot do the variant. */
static enum xb_status check_capabilities(const struct xb_case *test,
                                         const struct xb_device_info *device,
                                         struct xb_error *error)
{
    uint32_t needed =
        test->mode->capabilities != NULL ? test->mode->capabilities(test->variant) : 0;
    for (size_t i = 0; xb_capability_names[i] != NULL; i++)
        if ((needed & ~device->capabilities & (1u << i)) != 0)
            return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                           "%s lacks the capability '%s', which %s %s needs", device->name,
                           xb_capability_names[i], test->mode->name, test->variant);
    return XB_OK;
}

void xb_measure(struct xb_measurement *measurement)
{
    struct xb_result *result = measurement->result;
    struct xb_mode_context *context = &measurement->context;
    const struct xb_mode *mode = result->test.mode;
    struct xb_error error;
    enum xb_status status = XB_OK;
    status = check_capabilities(&result->test, &context->device->info, &error);
    if (status == XB_OK && mode->check != NULL)
        status = mode->check(&result->test, context->config, &context->device->info, &error);
    if (status == XB_ERR_UNSUPPORTED) {
        xb_result_skip(result, error.message);
        return;
    }
    if (status == XB_OK) {
        context->state = calloc(1, mode->state_bytes + 1);
        if (context->state == NULL)
            status = XB_FAIL(&error, XB_ERR_MEMORY, "no memory for the state of a mode");
    }
    if (status == XB_OK)
        status = mode->setup(context, &error);
    if (status == XB_OK)
        status = xb_sampler_open(&measurement->sampler, context, &error);
    if (status == XB_OK)
        status = measure(measurement, &error);
    xb_sampler_close(&measurement->sampler);
    if (context->state != NULL && mode->teardown != NULL)
        mode->teardown(context);
    free(context->state);
    xb_samples_free(&measurement->warm_up);

    result->device_timer = !context->device->info.host_clock;
    if (status != XB_OK)
        xb_result_fail(result, &error);
    else if (result->times.count == 0)
        xb_result_skip(result, "interrupted before its first sample");
}
