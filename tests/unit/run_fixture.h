/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs over the fake backend, from the command line's words to the results. Include after cmocka.h,
 * from a file that defines _GNU_SOURCE.
 *
 * The host's clock goes on by itself here, but a test can also put it forward. Every warm-up sample
 * does: with the 10 ms that start() gives a case, one warm-up sample is enough.
 */
#include "backends/registry.h"
#include "doubles/fake_backend.h"
#include "machine/host_memory.h"
#include "measure/run.h"
#include "run/request.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How far the clock is put forward: clock_gettime() is run_clock.c's, in the whole program. */
extern atomic_llong clock_ahead_ns;

/* An observer's callback, which others call first. */
static inline void hurry(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    (void)argument;
    (void)run;
    (void)bandwidth;
    if (samples == 0)
        atomic_fetch_add(&clock_ahead_ns, 20000000);
}

struct fixture {
    struct xb_config config;
    struct xb_run run;
};

/* What runs are made with: the fake, or a variant of it. */
static const struct xb_backend *fixture_backend = &xb_fake_backend;

static struct xb_backend fake_variant;

static inline enum xb_status variant_device_open(struct xb_driver *driver, unsigned index,
                                                 struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_open(driver, index, device, error);
    if (status == XB_OK)
        (*device)->backend = &fake_variant;
    return status;
}

/* Has the runs that follow made with a variant of the fake: a copy of its table, in which the test
 * replaces functions. */
static inline struct xb_backend *vary_fake(void)
{
    fake_variant = xb_fake_backend;
    fake_variant.device_open = variant_device_open;
    fixture_backend = &fake_variant;
    return &fake_variant;
}

#define MAX_ARGUMENTS 24

/* Plans the run. Two samples a case and 1 ms of warm-up where nothing else is said. */
static inline enum xb_status start(struct fixture *f, const char *const *arguments,
                                   struct xb_error *error)
{
    static char *argv[MAX_ARGUMENTS + 1];
    static char storage[MAX_ARGUMENTS][80];
    int argc = 0;
    bool given = false, warm_up_given = false;
    snprintf(storage[argc++], sizeof storage[0], "run");
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert_true(argc + 3 < MAX_ARGUMENTS);
        warm_up_given = warm_up_given || strcmp(arguments[i], "--warm-up") == 0;
        given = given || strncmp(arguments[i], "--samples", 9) == 0 ||
                strcmp(arguments[i], "--time-limit") == 0;
        snprintf(storage[argc++], sizeof storage[0], "%s", arguments[i]);
    }
    if (!given) {
        snprintf(storage[argc++], sizeof storage[0], "--samples=2");
        snprintf(storage[argc++], sizeof storage[0], "--time-limit=10ms");
    }
    if (!warm_up_given)
        snprintf(storage[argc++], sizeof storage[0], "--warm-up=1ms");
    for (int i = 0; i < argc; i++)
        argv[i] = storage[i];
    argv[argc] = NULL;
    memset(f, 0, sizeof *f);
    enum xb_status status = xb_config_parse(xb_run_rows(), argc, argv, &f->config, error);
    if (status != XB_OK)
        return status;
    f->run.asked = xb_run_options_of(&f->config);
    f->run.backend = fixture_backend;
    status = fixture_backend->driver_open(&f->run.driver, &f->run.probe, error);
    return status == XB_OK ? xb_plan(&f->run, error) : status;
}

/* Releases the run, which must have left nothing behind. */
static inline void finish(struct fixture *f)
{
    assert_int_equal(xb_fake.peers_open, 0);
    assert_int_equal(xb_fake.range_depth, 0);
    assert_false(xb_fake.collecting || xb_fake.badly_collected);
    xb_run_free(&f->run);
    xb_config_free(&f->config);
}

static inline void plan(struct fixture *f, const char *const *arguments)
{
    struct xb_error error = {0};
    if (start(f, arguments, &error) != XB_OK)
        fail_msg("%s", error.message);
}

static inline void go(struct fixture *f, const struct xb_run_observer *observer)
{
    const struct xb_run_observer usual = {.progress = hurry};
    struct xb_error error = {0};
    if (xb_run_execute(&f->run, observer != NULL ? observer : &usual, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(f->run.done_count, f->run.case_count);
}

static inline void execute(struct fixture *f, const char *const *arguments,
                           const struct xb_run_observer *observer)
{
    plan(f, arguments);
    go(f, observer);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PLAN(f, ...) plan((f), WORDS(__VA_ARGS__))
#define RUN(f, ...) execute((f), WORDS(__VA_ARGS__), NULL)

static inline void expect_usage(const char *const *arguments, const char *part)
{
    struct fixture f;
    struct xb_error error = {0};
    if (start(&f, arguments, &error) != XB_ERR_USAGE)
        fail_msg("not refused; expected \"%s\"", part);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
    finish(&f);
}

#define EXPECT_USAGE(part, ...) expect_usage(WORDS(__VA_ARGS__), (part))

/* On a machine with one NUMA node, and memory enough: to look at the one that this is takes longer
 * than a short run does else, a hundred files for hwloc and a few for the memory of each buffer. */
static inline void describe_machine(void)
{
    setenv("HWLOC_SYNTHETIC", "numa:1 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1); /* with one node nothing is bound, on any system */
    xb_host_memory_trust(true);
}

static inline int reset(void **state)
{
    (void)state;
    describe_machine();
    xb_fake_reset();
    fixture_backend = &xb_fake_backend;
    return 0;
}

#define RUN_TEST(name) TEST_WITH(name, reset, NULL)

/* ---- looking at results ---- */

/* What is ok was verified, too. */
static inline void expect_status(const struct xb_result *result, enum xb_result_status status)
{
    if (result->row.status != status)
        fail_msg("%s %s %s of %llu bytes is %s: %s", result->test.mode->name, result->test.variant,
                 xb_direction_name(result->test.direction), (unsigned long long)result->test.bytes,
                 xb_result_status_name(result->row.status), result->reason);
    if (status == XB_RESULT_OK)
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
}

static inline void expect_all(const struct fixture *f, enum xb_result_status status)
{
    for (size_t i = 0; i < f->run.case_count; i++)
        expect_status(&f->run.results[i], status);
}

static inline void expect_reason(const struct xb_result *result, enum xb_result_status status,
                                 const char *part)
{
    expect_status(result, status);
    if (strstr(result->reason, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", result->reason, part);
}

static inline bool warns(const struct xb_result *result, const char *part)
{
    bool found = false;
    for (size_t i = 0; i < result->row.warning_count; i++)
        found = found || strstr(result->warnings[i], part) != NULL;
    return found;
}

/* The proof found wrong bytes in each. */
static inline void expect_all_wrong(const struct fixture *f)
{
    assert_true(f->run.case_count > 0);
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        expect_status(result, XB_RESULT_ERROR);
        if (strstr(result->reason, "bytes are wrong after") == NULL &&
            strstr(result->reason, "invalid encodings") == NULL)
            fail_msg("%s is no finding of a proof", result->reason);
        assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
    }
}

/* Runs the planned cases with another `prepare`, which calls the mode's own: for what goes wrong
 * behind the last reference, and before the first sample. */
static enum xb_status (*own_prepare)(struct xb_mode_context *context, struct xb_error *error);

static inline void go_prepared(struct fixture *f,
                               enum xb_status (*prepare)(struct xb_mode_context *context,
                                                         struct xb_error *error))
{
    struct xb_mode mode = *f->run.results[0].test.mode;
    own_prepare = mode.prepare;
    mode.prepare = prepare;
    for (size_t i = 0; i < f->run.case_count; i++)
        f->run.results[i].test.mode = &mode;
    go(f, NULL);
}

static inline enum xb_status prepare_and_stop_copying(struct xb_mode_context *context,
                                                      struct xb_error *error)
{
    enum xb_status status = own_prepare(context, error);
    xb_fake.damage = XB_DAMAGE_NOTHING_COPIED;
    return status;
}

/* Equal but for rounding: virtual times are sums and differences of doubles. */
static inline void expect_near(double actual, double expected, const char *what)
{
    if (!(fabs(actual - expected) <= 1e-8 * fabs(expected)))
        fail_msg("%s is %.12g, not %.12g", what, actual, expected);
}

static inline void expect_times(const struct xb_samples *times, double seconds, const char *what)
{
    assert_true(times->count > 0);
    for (size_t i = 0; i < times->count; i++)
        expect_near(times->values[i], seconds, what);
}

/* Every sample took so long, and the bandwidth says so. */
static inline void expect_seconds(const struct xb_result *result, double seconds)
{
    expect_status(result, XB_RESULT_OK);
    expect_times(&result->times, seconds, result->test.mode->name);
    expect_near(result->bandwidth.median, (double)result->bytes_moved / seconds, "the bandwidth");
}

/* NULL for none. */
static inline const struct xb_result_figure *figure_of(const struct xb_result *result,
                                                       const char *name)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (strcmp(result->figures[i].figure->name, name) == 0)
            return &result->figures[i];
    return NULL;
}

/* Every sample of the figure is that. */
static inline void expect_samples(const struct xb_result *result, const char *name, double value)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    assert_non_null(figure);
    expect_times(&figure->samples, value, name);
}

/* The figure was computed, and is that. */
static inline void expect_computed(const struct xb_result *result, const char *name, double value)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    assert_non_null(figure);
    assert_int_equal(figure->samples.count, 0);
    expect_near(figure->computed, value, name);
}

/* NAN for none. */
static inline double detail_number(const struct xb_result *result, const char *key)
{
    return xb_record_fact_number(xb_record_detail_find(&result->row, key));
}

static inline void expect_number(const struct xb_result *result, const char *key, double number)
{
    expect_near(detail_number(result, key), number, key);
}

static inline const char *detail(const struct xb_result *result, const char *key)
{
    for (size_t i = 0; i < result->row.detail_count; i++)
        if (strcmp(result->details[i].name, key) == 0)
            return xb_record_fact_text(&result->details[i]);
    return "";
}
