/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runs.h"

#include "base/clock.h"
#include "base/units.h"
#include "doubles/fake_internal.h"
#include "measure/plan/case.h"
#include "measure/plan/estimate.h"
#include "run_fixture.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

/* ---- what can be set, and shown ---- */

/* After so many samples of the first case the deadline comes. */
static struct {
    unsigned deadline_after;
    bool deadline_in_warm_up;
    double deadline_s; /* after the beginning */
    double rest_s;     /* between two cases */
} steered;

#define FIELD(of, name, type)                                                                      \
    {                                                                                              \
#name, &(of).name, type                                                                    \
    }

static const struct {
    const char *name;
    void *field;
    enum { UNSIGNED, FLAG, SIZE, REAL } type;
} fields[] = {
    FIELD(xb_fake, damage, UNSIGNED),
    FIELD(xb_fake, capabilities, UNSIGNED),
    FIELD(xb_fake, device_count, UNSIGNED),
    FIELD(xb_fake, sick_device, UNSIGNED),
    FIELD(xb_fake, no_peer_access, FLAG),
    FIELD(xb_fake, held_operations, UNSIGNED),
    FIELD(xb_fake, device_memory_free, SIZE),
    FIELD(xb_fake, no_room_for, SIZE),
    FIELD(xb_fake, queues_are_alike, FLAG),
    FIELD(xb_fake, more_blocks_are_faster, FLAG),
    FIELD(xb_fake, compute_is_free, FLAG),
    FIELD(xb_fake, hardware_queues, UNSIGNED),
    FIELD(xb_fake, operation_s, REAL),
    FIELD(xb_fake, calls, UNSIGNED),
    FIELD(xb_fake, holds, UNSIGNED),
    FIELD(xb_fake, copied_memory, UNSIGNED),
    FIELD(xb_fake, kernel_access, UNSIGNED),
    FIELD(xb_fake, kernels_together, UNSIGNED),
    FIELD(xb_fake, advice, UNSIGNED),
    FIELD(xb_fake, pcie_overhead, REAL),
    FIELD(xb_fake, pcie_burst, SIZE),
    FIELD(xb_fake, pcie_readings, UNSIGNED),
    FIELD(xb_fake, piece_blocks, UNSIGNED),
    FIELD(xb_fake, most_pieces, SIZE),
    FIELD(xb_fake, staged_by_runtime, FLAG),
    FIELD(altered, copies, UNSIGNED),
    FIELD(altered, mapped_copies, UNSIGNED),
    FIELD(altered, pageable_copies, UNSIGNED),
    {"whole_copies", altered.whole_copies, UNSIGNED},
    {"slow_buffers", altered.slow_buffers, UNSIGNED},
    FIELD(altered, allocate_s, REAL),
    FIELD(altered, register_s, REAL),
    FIELD(altered, lock_s, REAL),
    FIELD(altered, free_s, REAL),
    FIELD(altered, broken_device, UNSIGNED),
    FIELD(altered, slow_device, UNSIGNED),
    FIELD(altered, broken_peer, UNSIGNED),
    FIELD(altered, host_clock, FLAG),
    FIELD(altered, engine_by_history, FLAG),
    FIELD(altered, copies_get_slower, FLAG),
    FIELD(altered, event_times, UNSIGNED),
    FIELD(altered, fault_times, UNSIGNED),
    FIELD(altered, wrong_piece, UNSIGNED),
    FIELD(altered, most_buffers, UNSIGNED),
    FIELD(altered, wrong_copy, UNSIGNED),
    FIELD(altered, registered_copies, UNSIGNED),
    FIELD(altered, registered_buffers, UNSIGNED),
    FIELD(altered, blocking_queues, UNSIGNED),
    FIELD(altered, vain_to_device, UNSIGNED),
    FIELD(altered, vain_to_host, UNSIGNED),
    FIELD(steered, deadline_after, UNSIGNED),
    FIELD(steered, deadline_in_warm_up, FLAG),
    FIELD(steered, deadline_s, REAL),
    FIELD(steered, rest_s, REAL),
};

/* One, or several one behind the other: "3,4,5". */
static void set_numbers(unsigned *numbers, const char *text)
{
    char *end = NULL;
    *numbers = (unsigned)strtol(text, &end, 10);
    if (*end == ',')
        set_numbers(numbers + 1, end + 1);
}

static void set(const char *name, const char *value)
{
    double number = strtod(value, NULL);
    if (strcmp(name, "no_peer_info") == 0) {
        altered_backend.peer_info = NULL;
        return;
    }
    uint32_t lacking = 0;
    for (uint32_t i = 0; strcmp(name, "lacks") == 0 && i < XB_CAPABILITIES; i++)
        if (strcmp(xb_capability_names[i], value) == 0)
            lacking = 1u << i;
    for (size_t i = 0; lacking == 0 && i < COUNT_OF(fields); i++) {
        if (strcmp(fields[i].name, name) != 0)
            continue;
        if (fields[i].type == UNSIGNED)
            set_numbers(fields[i].field, value);
        else if (fields[i].type == FLAG)
            *(bool *)fields[i].field = number != 0;
        else if (fields[i].type == SIZE)
            *(uint64_t *)fields[i].field = (uint64_t)number;
        else
            *(double *)fields[i].field = number;
        return;
    }
    if (lacking == 0)
        fail_msg("there is no %s=%s", name, value);
    xb_fake.capabilities &= ~lacking;
}

static unsigned long long seen(size_t i)
{
    return fields[i].type == UNSIGNED ? *(unsigned *)fields[i].field
           : fields[i].type == FLAG   ? *(bool *)fields[i].field
                                      : *(uint64_t *)fields[i].field;
}

/* ---- what comes of a command, as text ---- */

static const char *shown[MOST_WORDS]; /* words of `show`; ends with NULL */

static bool is_shown(const char *name)
{
    size_t i = 0;
    while (shown[i] != NULL && strcmp(shown[i], name) != 0)
        i++;
    return shown[i] != NULL;
}

static void print_value(FILE *out, double value, const char *unit)
{
    if (strcmp(unit, XB_UNIT_SECONDS) == 0)
        fprintf(out, "%.6g us", value * 1e6);
    else if (strcmp(unit, XB_UNIT_RATE) == 0)
        fprintf(out, "%.6g GB/s", value / 1e9);
    else if (value == rint(value))
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.6g", value);
}

/* One value where all are the same, else the least and the greatest. */
static void print_samples(FILE *out, const struct xb_samples *samples, const char *unit)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < samples->count; i++) {
        least = fmin(least, samples->values[i]);
        most = fmax(most, samples->values[i]);
    }
    print_value(out, least, unit);
    if (!(most - least <= 1e-6 * fabs(most))) {
        fprintf(out, " to ");
        print_value(out, most, unit);
    }
}

static void print_figures(FILE *out, const struct xb_result *result)
{
    const char *between = "  ";
    for (size_t i = 0; i < result->figure_count; i++) {
        const struct xb_result_figure *figure = &result->figures[i];
        const char *name = figure->figure->name;
        bool is_computed = figure->samples.count == 0;
        /* What the machine tells, and what takes the fake no time. */
        if (strcmp(name, "cpu_time") == 0 || strcmp(name, "peak_host_memory") == 0 ||
            (is_computed && strcmp(name, "setup_time") == 0))
            continue;
        bool is_usual = !is_shown("only") && strcmp(name, "peak_device_memory") != 0;
        if (!is_usual && !is_shown(name))
            continue;
        fprintf(out, "%s%s ", between, name);
        if (is_computed)
            print_value(out, figure->computed, figure->figure->unit);
        else
            print_samples(out, &figure->samples, figure->figure->unit);
        if (!is_computed && figure->samples.count != result->times.count)
            fprintf(out, " x%zu", figure->samples.count);
        between = ", ";
    }
    for (size_t i = 0; i < result->row.detail_count; i++) {
        const struct xb_record_fact *fact = &result->details[i];
        const char *text = xb_record_fact_text(fact);
        if (!is_shown(fact->name))
            continue;
        if (isnan(xb_record_fact_number(fact)))
            fprintf(out, "%s%s: %s", between, fact->name, text);
        else
            fprintf(out, "%s%s ", between, fact->name),
                print_value(out, xb_record_fact_number(fact), "");
        between = ", ";
    }
    if (strcmp(between, ", ") == 0)
        fprintf(out, "\n");
}

static void print_timeline(FILE *out, const struct xb_timeline *timeline)
{
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        const struct xb_track *track = &timeline->tracks[span->track];
        fprintf(out, "  %s %u.%u: %s", track->kind == XB_TRACK_QUEUE ? "queue" : "thread",
                track->device, track->number, span->name);
        fprintf(out, ", %.6g to %.6g us", span->begin * 1e6, span->end * 1e6);
        if (span->bytes > 0)
            fprintf(out, ", %" PRIu64 " B", span->bytes);
        if (span->flow > 0)
            fprintf(out, ", flow %" PRIu64, span->flow);
        fprintf(out, "\n");
    }
    if (timeline->left_out > 0)
        fprintf(out, "  %" PRIu64 " left out\n", timeline->left_out);
}

static void print_ok(FILE *out, const struct xb_result *result)
{
    assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
    fprintf(out, ": %zu x ", result->times.count);
    print_samples(out, &result->times, XB_UNIT_SECONDS);
    if (result->stop_reason != XB_STOP_FIXED)
        fprintf(out, ", %s", xb_stop_reason_name(result->stop_reason));
    if (!result->device_timer)
        fprintf(out, ", by the host's clock");
    if (result->device_timer && !result->event_times)
        fprintf(out, ", not by events");
    if (result->bytes_moved != result->test.bytes)
        fprintf(out, ", %" PRIu64 " B moved", result->bytes_moved);
    fprintf(out, "\n");
    /* What the bandwidth says must be what the times do, but where they differ. */
    double seconds = (double)result->bytes_moved / result->bandwidth.median;
    if (result->times.count <= 2 && !result->test.latency)
        assert_true(fabs(seconds - result->times.values[0]) <= 0.5 * seconds);
}

static void print_result(FILE *out, const struct xb_result *result)
{
    char text[256];
    fprintf(out, "%s", xb_case_text(&result->test, text, sizeof text));
    if (result->row.status == XB_RESULT_OK)
        print_ok(out, result);
    else
        fprintf(out, ": %s%s: %s\n", xb_result_status_name(result->row.status),
                result->row.verified == XB_VERIFIED_FALSE ? ", wrong" : "", result->reason);
    print_figures(out, result);
    if (is_shown("alone") && result->wall_times.count > 0) {
        fprintf(out, "  alone %zu x ", result->wall_times.count);
        print_samples(out, &result->wall_times, XB_UNIT_SECONDS);
        fprintf(out, ", submitted in ");
        print_samples(out, &result->submit_times, XB_UNIT_SECONDS);
        fprintf(out, "\n");
    }
    if (is_shown("placements") && result->placement_count > 0) {
        fprintf(out, "  placements of");
        for (size_t i = 0; i < result->placement_count; i++)
            fprintf(out, " %zu", result->placement_samples[i]);
        fprintf(out, " samples: median %.6g GB/s", result->bandwidth.median / 1e9);
        if (result->bandwidth.has_interval)
            fprintf(out, ", from %.6g to %.6g", result->bandwidth.ci95_low / 1e9,
                    result->bandwidth.ci95_high / 1e9);
        fprintf(out, "\n");
    }
    for (size_t i = 0; is_shown("warnings") && i < result->row.warning_count; i++)
        fprintf(out, "  warning: %s\n", result->warnings[i]);
    if (result->timeline != NULL)
        print_timeline(out, result->timeline);
}

static void print_estimate(FILE *out, const struct xb_run *run)
{
    struct xb_estimate all = xb_estimate_run(run);
    struct xb_error error;
    for (size_t i = 0; i < run->case_count; i += xb_run_rows_of(run, i)) {
        const char *skips = xb_estimate_skips(run, i, xb_run_rows_of(run, i), &error);
        if (skips != NULL)
            fprintf(out, "skips: %s\n", skips);
        else
            fprintf(out, "%.6g s\n", xb_estimate_case(run, i, xb_run_rows_of(run, i)).likely);
    }
    fprintf(out,
            "%zu rows, %zu skipped: %.6g s, %.6g to %.6g; %" PRIu64 " B of the host, %" PRIu64
            " B of the device\n",
            all.rows, all.skipped, all.time.likely, all.time.least, all.time.most, all.host_bytes,
            all.device_bytes);
}

/* ---- commands ---- */

static struct xb_run *running;
static FILE *steps;         /* takes what is done in the second sample */
static double warm_up_rate; /* of the latest warm-up sample */

static void steer(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    (void)argument;
    bool is_time = steered.deadline_after > 0 ? samples == steered.deadline_after
                                              : steered.deadline_in_warm_up && samples == 0;
    if (is_time && run->done_count == 0)
        running->deadline = xb_clock_now();
    if (samples == 0)
        warm_up_rate = bandwidth;
    if (is_shown("steps"))
        note_steps(samples == 1 ? steps : NULL);
}

static void rest(void *argument, const struct xb_run *run)
{
    (void)argument;
    (void)run;
    atomic_fetch_add(&clock_ahead_ns, (long long)(steered.rest_s * 1e9));
}

static void command(FILE *out, char **words)
{
    bool measures = words[0][0] == 'r';
    const struct xb_run_observer observer = {.progress = steer, .finished = rest};
    struct fixture f;
    struct xb_error error = {0};
    if (start(&f, (const char *const *)&words[1], &error) != XB_OK) {
        fprintf(out, "refused: %s\n", error.message);
        assert_int_equal(error.status, XB_ERR_USAGE);
    } else if (!measures && is_shown("count")) {
        fprintf(out, "%zu cases\n", f.run.case_count);
    } else if (!measures && is_shown("estimate")) {
        print_estimate(out, &f.run);
    } else if (!measures) {
        char text[256];
        for (size_t i = 0; i < f.run.case_count; i++) {
            const struct xb_case *test = &f.run.results[i].test;
            struct xb_needs needs = xb_case_needs(test);
            fprintf(out, "%s%s", xb_case_text(test, text, sizeof text),
                    test->latency ? ", latency" : "");
            if (is_shown("needs"))
                fprintf(out, ": %" PRIu64 " B of the host, %" PRIu64 " B of the device",
                        needs.host_bytes, needs.device_bytes);
            fprintf(out, "\n");
        }
        for (size_t i = 0; is_shown("devices") && i < f.run.device_count; i++)
            fprintf(out, "device %u\n", f.run.devices[i].info.index);
    } else {
        running = &f.run;
        f.run.keeps_timelines = is_shown("timeline");
        f.run.unhurried = is_shown("unhurried");
        char *text = NULL;
        size_t size = 0;
        steps = open_memstream(&text, &size);
        clock_be_virtual(xb_fake_host_time);
        if (steered.deadline_s > 0)
            f.run.deadline = xb_clock_now() + steered.deadline_s;
        go(&f, &observer);
        clock_be_virtual(NULL);
        fclose(steps);
        for (size_t i = 0; i < f.run.case_count; i++)
            print_result(out, &f.run.results[i]);
        fputs(text, out);
        free(text);
        if (is_shown("told"))
            fprintf(out, "told %.6g GB/s\n", warm_up_rate / 1e9);
        if (is_shown("deadline_met"))
            fprintf(out, "deadline %s\n", f.run.deadline_met ? "met" : "not met");
        for (size_t i = 0; i < COUNT_OF(fields); i++)
            if (is_shown(fields[i].name))
                fprintf(out, "%s %llu\n", fields[i].name, seen(i));
    }
    finish(&f);
}

static void show(UNTOLD, char **words)
{
    memcpy(shown, words, sizeof shown);
}

static void alter(UNTOLD, char **words)
{
    for (char **word = words + 1; *word != NULL; word++) {
        char *value = strchr(*word, '=');
        if (value != NULL)
            *value++ = '\0';
        set(*word, value != NULL ? value : "1");
    }
}

const struct verb run_verbs[] = {
    {"show", show}, {"fake", alter}, {"run", command}, {"plan", command}, {NULL, NULL},
};

void begin_runs(void)
{
    reset_fake();
    memset(&steered, 0, sizeof steered);
    shown[0] = NULL;
}
