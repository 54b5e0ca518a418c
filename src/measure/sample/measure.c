/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Measures one case: checks, setup, samples (sampling.c), description, verification. */
#include "measure.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/plan/case.h"
#include "record/mode_list.h"
#include "sampler.h"
#include "xferbench/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void xb_result_fail(struct xb_result *result, const struct xb_error *error)
{
    result->row.status = XB_RESULT_ERROR;
    result->error = *error;
    xb_error_text(error, result->reason, sizeof result->reason);
    /* An unfinished measurement is not shown. A wrong copy's stays, as evidence. */
    if (result->row.verified == XB_VERIFIED_UNKNOWN)
        memset(&result->bandwidth, 0, sizeof result->bandwidth);
}

void xb_result_cut(struct xb_result *result, const char *before)
{
    bool signalled = xb_interrupt_signal() != 0;
    result->stop_reason = signalled ? XB_STOP_INTERRUPTED : XB_STOP_DEADLINE;
    result->row.status = XB_RESULT_SKIPPED;
    snprintf(result->reason, sizeof result->reason, "%s before %s",
             signalled ? "interrupted" : "the deadline came", before);
}

void xb_result_end(struct xb_result *result, enum xb_status status, const struct xb_error *error,
                   const char *before)
{
    if (status == XB_OK || status == XB_ERR_STOPPED) {
        xb_result_cut(result, before);
    } else if (status == XB_ERR_UNSUPPORTED) {
        result->row.status = XB_RESULT_SKIPPED;
        snprintf(result->reason, sizeof result->reason, "%s", error->message);
    } else {
        /* This lane's data was right, but another's was not: then no lane's time is worth anything.
         */
        if (result->row.verified == XB_VERIFIED_TRUE)
            result->row.verified = XB_VERIFIED_UNKNOWN;
        xb_result_fail(result, error);
    }
}

/* Keeps the faster of two readings: an idle link reads slower than it is. */
static void note_link(struct xb_run_device *where)
{
    if (where->info.pci_bdf[0] == '\0')
        return;
    struct xb_pcie_link now = xb_pcie_link_read(XB_PCI_DEVICES, where->info.pci_bdf);
    if (now.known && (!where->link.known ||
                      now.speed_gts * now.width > where->link.speed_gts * where->link.width))
        where->link = now;
}

/* ---- verification ---- */

/* Verifies every lane. The whole is right if all lanes are. */
static enum xb_status verify(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *whole = measurement->result;
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        XB_TRY(lane->context.test->mode->verify(&lane->context, lane->result, error));
        if (lane->result == whole)
            continue;
        if (lane->result->row.verified != XB_VERIFIED_TRUE) {
            /* Give the whole the reason of a lane, with the device or pair that this is of. */
            char on[XB_CASE_PLACE_TEXT];
            snprintf(whole->reason, sizeof whole->reason, "%s: %.900s",
                     xb_case_place_text(&lane->result->test, on), lane->result->reason);
        }
        if (whole->row.verified != XB_VERIFIED_FALSE)
            whole->row.verified = lane->result->row.verified;
    }
    return XB_OK;
}

/* Describes every row. A device beside others is also compared with itself alone, if that was
 * measured. */
static enum xb_status describe_all(const struct xb_measurement *measurement, struct xb_error *error)
{
    for (size_t i = 0; i < measurement->row_count; i++)
        XB_TRY(xb_result_describe(&measurement->result[i], error));
    for (size_t i = 1; i < measurement->row_count; i++) {
        struct xb_result *result = &measurement->result[i];
        for (size_t k = 0; k < measurement->run->case_count; k++) {
            const struct xb_result *alone = &measurement->run->results[k];
            if (alone->row.status == XB_RESULT_OK && alone->bandwidth.n > 0 &&
                !alone->test.simultaneous && alone->test.device == result->test.device &&
                alone->test.peer == result->test.peer && xb_case_alike(&alone->test, &result->test))
                xb_result_compute(result, &xb_figure_share_of_alone,
                                  result->bandwidth.median / alone->bandwidth.median);
        }
    }
    return XB_OK;
}

/* Everything between setup and teardown of one placement. */
static enum xb_status measure_placement(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_result *whole = measurement->result;
    size_t before = whole->times.count;
    enum xb_status status = xb_measure_sample(measurement, error);
    /* The link is read before the data is verified: that takes long enough for an idle link to go
     * to sleep. */
    for (size_t i = 0; i < measurement->lane_count; i++)
        note_link(measurement->lanes[i].where);
    if (status != XB_OK || whole->times.count == before)
        return status;
    for (size_t i = 0; i < measurement->lane_count; i++)
        XB_TRY(xb_residence_check(measurement, &measurement->lanes[i], error));
    XB_TRY(describe_all(measurement, error));
    XB_TRY(verify(measurement, error));
    /* After that: else the data of an iteration that no figure of the samples is made of would be
     * what is verified. */
    return whole->row.verified == XB_VERIFIED_TRUE && whole->stop_reason != XB_STOP_NOT_YET
               ? xb_measure_record(measurement, error)
               : XB_OK;
}

/* ---- the warnings and details by which a reader can judge the row ---- */

/* A row whose confidence interval reaches this far to either side of the median gets a warning. */
#define WIDE_INTERVAL 0.05
/* If less than this share of the time was spent together, a sum tells mostly of the time when one
 * of them ran alone. */
#define LEAST_OVERLAP 0.8

static void add_precision(struct xb_result *result)
{
    const struct xb_statistics *bandwidth = &result->bandwidth;
    bool single = xb_case_is_single(&result->test), has_places = result->placement_count > 0;
    double half = (bandwidth->ci95_high - bandwidth->ci95_low) / 2;
    if (single && result->times.count < XB_STOP_LATENCY_SAMPLES)
        xb_result_warn(result, "too few operations for a 99th percentile: %zu (it takes %u)",
                       result->times.count, XB_STOP_LATENCY_SAMPLES);
    else if (single || (bandwidth->has_interval && !(half > WIDE_INTERVAL * bandwidth->median)))
        return;
    else if (!bandwidth->has_interval)
        xb_result_warn(result,
                       has_places ? "%zu places for the host's memory are too few for a confidence "
                                    "interval (it takes %u)"
                                  : "too few samples for a confidence interval: %zu (it takes %u)",
                       has_places ? result->placement_count : bandwidth->n, XB_STOP_LEAST_SAMPLES);
    else if (has_places) /* that is no noise */
        xb_result_warn(result,
                       "it depends on where the host's memory lies: %zu places gave %.1f to %.1f "
                       "GB/s, and a process gets one of them",
                       result->placement_count, bandwidth->ci95_low / 1e9,
                       bandwidth->ci95_high / 1e9);
    else
        xb_result_warn(result, "noisy: the median is known only to within %.0f %%",
                       100 * half / bandwidth->median);
}

static void add_remarks(const struct xb_measurement *measurement)
{
    struct xb_result *result = measurement->result;
    const struct xb_probe *probe = &measurement->run->probe;
    xb_result_detail_number(result, "iterations_per_sample", (double)measurement->iterations);
    xb_result_detail_text(result, "held", measurement->held ? "yes" : "no");
    /* One that someone named can be anything that has the runtime's functions. */
    for (size_t i = 0; probe->runtime_override[0] != '\0' && i < measurement->row_count; i++)
        xb_result_warn(&result[i],
                       "measured with %.150s, which %s names in place of the installed runtime",
                       probe->runtime_library, probe->runtime_override);
    for (size_t i = 0; i < measurement->lane_count; i++)
        xb_residence_tell(measurement, &measurement->lanes[i]);
    /* Warn of both ways, or several devices, that did not work at the same time: their sum is then
     * no bandwidth that the paths have. */
    double overlap = xb_result_median(result, &xb_figure_overlap);
    if (xb_result_has(result, &xb_figure_overlap) && overlap < LEAST_OVERLAP)
        xb_result_warn(result,
                       result->test.group == XB_GROUP_SET
                           ? "all of them ran together for only %.0f %% of the time: the longer "
                             "ones had less beside them"
                           : "the copies overlapped for only %.0f %% of the time: this sum is too "
                             "low",
                       100 * overlap);
    add_precision(result);
    if (result->stop_reason == XB_STOP_INTERRUPTED)
        xb_result_warn(result, "interrupted after %zu samples", result->times.count);
    else if (result->stop_reason == XB_STOP_DEADLINE)
        xb_result_warn(result, "the deadline came after %zu samples", result->times.count);
}

/* ---- the whole ---- */

/* What is said of all placements together. */
static enum xb_status conclude(struct xb_measurement *measurement, struct xb_error *error)
{
    const struct xb_result *whole = measurement->result;
    for (size_t i = 0; i < measurement->row_count; i++) {
        measurement->result[i].stop_reason = whole->stop_reason;
        XB_TRY(xb_placements_compare(&measurement->result[i], error));
    }
    add_remarks(measurement);
    if (whole->row.verified == XB_VERIFIED_TRUE)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_RUNTIME,
                   "the data did not arrive as it was sent, so there is no bandwidth to report: %s",
                   whole->reason);
}

enum xb_status xb_measure_check_capabilities(const struct xb_case *test,
                                             const struct xb_device_info *device,
                                             struct xb_error *error)
{
    uint32_t needed = test->mode->capabilities != NULL ? test->mode->capabilities(test) : 0;
    char settings[XB_CASE_SETTINGS_TEXT];
    for (uint32_t i = 0; i < XB_CAPABILITIES; i++) {
        uint32_t capability = 1u << i;
        const char *reason = xb_device_lacks(device, capability);
        if ((needed & ~device->capabilities & capability) != 0)
            return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                           "%s lacks the capability '%s', which %s %s%s needs%s%s", device->name,
                           xb_capability_names[i], test->mode->name, test->variant,
                           xb_case_settings_text(test, settings, sizeof settings),
                           reason[0] != '\0' ? ": " : "", reason);
    }
    return XB_OK;
}

static enum xb_status check_lane(const struct xb_lane *lane, struct xb_error *error)
{
    const struct xb_mode_context *context = &lane->context;
    const struct xb_case *test = context->test;
    if (test->latency && test->direction == XB_BIDIR)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, XB_MEASURE_NO_LATENCY);
    XB_TRY(xb_measure_check_capabilities(test, &context->device->info, error));
    if (context->peer_device != NULL)
        XB_TRY(xb_measure_check_capabilities(test, &context->peer_device->info, error));
    if (test->mode->check_variant != NULL)
        XB_TRY(test->mode->check_variant(test, error));
    return test->mode->check != NULL ? test->mode->check(context, error) : XB_OK;
}

/* Sets a lane up with the thread bound where its host memory is to lie, because that lies where it
 * is first touched. */
static enum xb_status set_up(struct xb_measurement *measurement, struct xb_lane *lane,
                             struct xb_error *error)
{
    struct xb_mode_context *context = &lane->context;
    const struct xb_mode *mode = context->test->mode;
    if (measurement->placement == 0)
        lane->made = *context;
    else
        *context = lane->made;
    xb_workspace_place(context->workspace, measurement->placement);
    XB_TRY(xb_residence_bind(measurement, lane, error));
    context->state = calloc(1, mode->state_bytes + 1);
    if (context->state == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the state of a mode");
    context->bytes_moved = context->test->bytes;
    double begin = xb_clock_now();
    enum xb_status status = mode->setup(context, error);
    lane->setup_seconds += xb_clock_now() - begin;
    if (!xb_mode_declares(mode, &xb_figure_setup_time)) /* else it takes samples of its own */
        xb_result_compute(lane->result, &xb_figure_setup_time, lane->setup_seconds);
    lane->result->bytes_moved = context->bytes_moved;
    lane->result->event_times = !context->host_timed;
    lane->result->device_timer = !context->device->info.host_clock && !context->host_timed;
    measurement->result->event_times = lane->result->event_times;
    measurement->result->device_timer = lane->result->device_timer;
    return status != XB_OK ? status : xb_sampler_open(&lane->sampler, context, error);
}

/* How many lanes copy by kernels on the device of the clock of one of them. */
static unsigned kernels_together(const struct xb_measurement *measurement,
                                 const struct xb_mode_context *one)
{
    unsigned count = 0;
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_mode_context *context = &measurement->lanes[i].context;
        count += context->queues[0]->device == one->queues[0]->device &&
                 xb_case_is_by_kernel(context->test);
    }
    return count;
}

static enum xb_status set_up_all(struct xb_measurement *measurement, size_t *begun,
                                 struct xb_error *error)
{
    struct xb_result *whole = measurement->result;
    while (*begun < measurement->lane_count) {
        struct xb_lane *lane = &measurement->lanes[(*begun)++];
        XB_TRY(set_up(measurement, lane, error));
        if (lane->result != whole && measurement->placement == 0)
            whole->bytes_moved += lane->result->bytes_moved;
    }
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        context->kernels_together = kernels_together(measurement, context);
    }
    return XB_OK;
}

static void take_down_all(struct xb_measurement *measurement, size_t *begun)
{
    while (*begun > 0) {
        struct xb_lane *lane = &measurement->lanes[--*begun];
        struct xb_mode_context *context = &lane->context;
        xb_sampler_close(&lane->sampler);
        if (context->state != NULL && context->test->mode->teardown != NULL)
            context->test->mode->teardown(context);
        xb_line_close(context);
        free(context->state);
        context->state = NULL;
    }
}

/* Checks every lane, sets every lane up, and measures, for each placement anew. `begun` lanes are
 * to be taken down afterwards, whatever it returns. */
static enum xb_status set_up_and_measure(struct xb_measurement *measurement, size_t *begun,
                                         struct xb_error *error)
{
    const struct xb_result *whole = measurement->result;
    for (size_t i = 0; i < measurement->lane_count; i++)
        XB_TRY(check_lane(&measurement->lanes[i], error));
    for (;; measurement->placement++) {
        XB_TRY(set_up_all(measurement, begun, error));
        if (measurement->placement == 0)
            xb_placements_open(measurement);
        XB_TRY(measure_placement(measurement, error));
        if (whole->times.count == 0)
            return XB_OK;
        if (whole->stop_reason != XB_STOP_NOT_YET || whole->row.verified != XB_VERIFIED_TRUE)
            return conclude(measurement, error);
        take_down_all(measurement, begun);
    }
}

void xb_measure(struct xb_measurement *measurement)
{
    struct xb_result *whole = measurement->result;
    const struct xb_backend *backend = measurement->run->backend;
    struct xb_error error;
    size_t begun = 0;
    char name[128];
    xb_case_text(&whole->test, name, sizeof name);
    if (backend->range_push != NULL)
        backend->range_push(name);
    enum xb_status status = set_up_and_measure(measurement, &begun, &error);
    take_down_all(measurement, &begun);
    xb_debug("warm-up", "%s: %zu times; iterations a sample: %llu", name,
             measurement->warm_up.count, (unsigned long long)measurement->iterations);
    if (whole->times.count > 0)
        xb_debug("stop", "%s: after %zu samples: %s", name, whole->times.count,
                 xb_stop_reason_name(whole->stop_reason));
    xb_samples_free(&measurement->warm_up);
    if (backend->range_pop != NULL)
        backend->range_pop();

    if (status != XB_OK || whole->times.count == 0)
        for (size_t i = 0; i < measurement->row_count; i++)
            xb_result_end(&whole[i], status, &error, "its first sample");
}
