/* SPDX-License-Identifier: Apache-2.0 */
/* What a case is compared with: a reference with something before it, copies to the host right
 * after one to the device, and references by a clock or with bytes of their own. */
#define _GNU_SOURCE

#include "testing.h"

#include "measure_fixture.h"

#define FIGURE "bandwidth_after_h2d"

/*
 * A fake whose runtime chooses engines by what ran before. On such a device a case to the host has
 * queue 1, and queue 2 for the reference.
 */
static struct {
    unsigned open, opened;             /* queues, of the case */
    unsigned to_device;                /* copies on the queue that was opened last */
    enum xb_damage during, afterwards; /* from the opening of queue 2 on, and from its closing on */
} seen;

static enum xb_status open_device(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = altered_device_open(driver, index, device, error);
    if (status == XB_OK)
        (*device)->info.engine_by_history = true;
    return status;
}

static enum xb_status open_queue(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.queue_open(device, queue, error);
    seen.open += status == XB_OK;
    seen.opened += status == XB_OK;
    seen.to_device = 0;
    if (seen.opened == 2)
        xb_fake.damage = seen.during;
    return status;
}

static void close_queue(struct xb_queue *queue)
{
    seen.open -= queue != NULL;
    if (seen.opened == 2)
        xb_fake.damage = seen.afterwards;
    xb_fake_backend.queue_close(queue);
}

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                           struct xb_buffer *source, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    seen.to_device += target->memory == XB_MEMORY_DEVICE;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static void use_history(void)
{
    alter(1, 1);
    memset(&seen, 0, sizeof seen);
    altered_backend.device_open = open_device;
    altered_backend.queue_open = open_queue;
    altered_backend.queue_close = close_queue;
    altered_backend.queue_copy = copy;
}

/* The rate is that of queue 2, and so not of the copies to the device before it. */
RUN_TEST(test_it_is_timed_on_a_queue_of_its_own)
{
    static const char *const sizes[] = {"64K", "32M"};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct fixture f;
        xb_fake_reset();
        use_history();
        RUN(&f, "--mode", "pinned", "--direction", "d2h", "--size", sizes[i]);
        const struct xb_result *result = &f.run.results[0];
        expect_seconds(result, (double)result->test.bytes * XB_FAKE_SECONDS_PER_BYTE);
        expect_samples(result, FIGURE, 1 / (2 * XB_FAKE_SECONDS_PER_BYTE));
        assert_int_equal(figure_of(result, FIGURE)->samples.count, 6);
        assert_int_equal(seen.to_device, 1 + 6); /* the first repetition does not count */
        assert_int_equal(seen.opened, 2);
        assert_int_equal(seen.open, 0);
        finish(&f);
    }
}

RUN_TEST(test_only_copies_to_the_host_have_it)
{
    struct fixture f;
    xb_fake.device_count = 2;
    use_history();
    RUN(&f, "--mode", "all", "--direction", "h2d,d2h,bidir", "--size", "64K", "--device", "all",
        "--simultaneous");
    size_t with = 0;
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        bool expected = strcmp(test->mode->name, "pinned") == 0 && test->direction == XB_D2H &&
                        !test->simultaneous;
        assert_true((figure_of(&f.run.results[i], FIGURE) != NULL) == expected);
        with += expected;
    }
    assert_int_equal(with, 2); /* devices */
    finish(&f);
    xb_fake_reset();
    use_history();
    RUN(&f, "--mode", "pinned", "--direction", "d2h", "--size", "64K", "--latency");
    expect_all(&f, XB_RESULT_OK);
    assert_null(figure_of(&f.run.results[0], FIGURE));
    finish(&f);
    xb_fake_reset();
    use_history(); /* the reference is an asynchronous copy */
    RUN(&f, "--mode", "pinned", "--direction", "d2h", "--size", "64K", "--call", "sync");
    expect_all(&f, XB_RESULT_OK);
    assert_null(figure_of(&f.run.results[0], FIGURE));
    finish(&f);
}

RUN_TEST(test_a_device_without_such_engines_has_it_not)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_null(figure_of(&f.run.results[i], FIGURE));
    finish(&f);
}

/* Its own proof finds what is wrong, though the copies before and after it are right. */
RUN_TEST(test_its_data_is_proved)
{
    for (int damage = XB_DAMAGE_NONE + 1; damage <= XB_DAMAGE_NOTHING_COPIED; damage++) {
        struct fixture f;
        xb_fake_reset();
        use_history();
        seen.during = (enum xb_damage)damage;
        RUN(&f, "--mode", "pinned", "--direction", "d2h", "--size", "4M");
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, FIGURE ": the data did not arrive");
        assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_FALSE);
        assert_int_equal(seen.open, 0);
        finish(&f);
    }
}

/* What it brought to the host does not stand in for what the samples are to bring. */
RUN_TEST(test_it_does_not_stand_in_for_the_samples)
{
    struct fixture f;
    use_history();
    seen.afterwards = XB_DAMAGE_NOTHING_COPIED;
    RUN(&f, "--mode", "pinned", "--direction", "d2h", "--size", "1M");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "bytes are wrong after the copy");
    assert_null(strstr(f.run.results[0].reason, FIGURE));
    assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_FALSE);
    finish(&f);
}

/* Whatever call fails: an error row, and every queue is closed. More coarsely as calls repeat. */
RUN_TEST(test_a_call_that_fails_leaves_nothing_open)
{
    bool failed = true;
    for (unsigned call = 1; failed; call += 1 + call / 16) {
        struct fixture f;
        xb_fake_reset();
        use_history();
        PLAN(&f, "--mode", "pinned", "--direction", "d2h", "--size", "64K");
        xb_fake.fail_at = xb_fake.calls + call;
        go(&f, NULL);
        failed = xb_fake.failures > 0;
        expect_all(&f, failed ? XB_RESULT_ERROR : XB_RESULT_OK);
        assert_int_equal(seen.open, 0);
        finish(&f);
    }
}

/* ---- clocks and bytes of their own ---- */

/* Two references more: the mode is pinned with the two put in place of its own. */
static struct {
    struct xb_mode mode;
    enum xb_status (*setup)(struct xb_mode_context *context, struct xb_error *error);
    bool host_timed;
    unsigned first_submits, submits; /* of either reference */
    unsigned holds;                  /* until the first one's latest submit */
    unsigned later_holds;            /* until the second one's */
} probe;

static const struct xb_figure first_time = {.name = "first_time", .unit = XB_UNIT_SECONDS};
static const struct xb_figure second = {.name = "second", .unit = XB_UNIT_SECONDS};
static const struct xb_figure second_rate = {.name = "second", .unit = XB_UNIT_RATE};

static enum xb_status set_up_probe(struct xb_mode_context *context, struct xb_error *error)
{
    enum xb_status status = probe.setup(context, error);
    if (probe.host_timed) {
        context->host_timed = context->host_waits = true;
        context->hold = false;
    }
    return status;
}

static enum xb_status submit_first(struct xb_mode_context *context, struct xb_error *error)
{
    probe.first_submits++;
    probe.holds = xb_fake.holds;
    return context->test->mode->submit(context, error);
}

/* The device takes as long as for the case itself; the host's clock says a second more. */
static enum xb_status submit_second(struct xb_mode_context *context, struct xb_error *error)
{
    probe.submits++;
    probe.later_holds = xb_fake.holds;
    atomic_fetch_add(&clock_ahead_ns, 1000000000);
    return context->test->mode->submit(context, error);
}

static uint64_t half(const struct xb_mode_context *context)
{
    return context->bytes_moved / 2;
}

/* Measures 64 KiB with a second reference like that. */
static const struct xb_result *measure_probe(struct fixture *f,
                                             const struct xb_reference *reference)
{
    static struct xb_reference references[3];
    references[0] = (struct xb_reference){.figure = &first_time, .submit = submit_first};
    references[1] = *reference;
    PLAN(f, "--mode", "pinned", "--direction", "h2d", "--size", "64K");
    assert_int_equal(f->run.case_count, 1);
    probe.mode = *f->run.results[0].test.mode;
    probe.setup = probe.mode.setup;
    probe.mode.setup = set_up_probe;
    probe.mode.references = references;
    probe.first_submits = probe.submits = 0;
    f->run.results[0].test.mode = &probe.mode;
    go(f, NULL);
    expect_all(f, XB_RESULT_OK);
    return &f->run.results[0];
}

#define SECONDS_64K (65536 * XB_FAKE_SECONDS_PER_BYTE)

/* Until the queues are done, an iteration at a time, and nothing held. */
RUN_TEST(test_the_hosts_clock_times_a_reference)
{
    struct fixture f;
    probe.host_timed = false;
    const struct xb_reference reference = {
        .figure = &second, .submit = submit_second, .clock = XB_CLOCK_OF_HOST};
    const struct xb_result *result = measure_probe(&f, &reference);
    expect_samples(result, "first_time", SECONDS_64K);
    /* So small a copy is repeated until its sample is long enough, by the device's clock. */
    assert_true(probe.first_submits > figure_of(result, "first_time")->samples.count);
    const struct xb_result_figure *figure = figure_of(result, "second");
    assert_non_null(figure);
    assert_int_equal(probe.submits, figure->samples.count);
    for (size_t i = 0; i < figure->samples.count; i++)
        assert_true(figure->samples.values[i] >= 1);
    assert_true(probe.holds > 0);
    assert_int_equal(probe.later_holds, probe.holds);
    finish(&f);
}

RUN_TEST(test_the_devices_clock_times_a_part_of_a_case_of_the_host)
{
    struct fixture f;
    probe.host_timed = true;
    const struct xb_reference reference = {
        .figure = &second, .submit = submit_second, .clock = XB_CLOCK_OF_DEVICE};
    const struct xb_result *result = measure_probe(&f, &reference);
    expect_samples(result, "second", SECONDS_64K);
    finish(&f);
}

RUN_TEST(test_a_case_of_the_host_times_its_references_likewise)
{
    struct fixture f;
    probe.host_timed = true;
    const struct xb_reference reference = {.figure = &second, .submit = submit_second};
    const struct xb_result *result = measure_probe(&f, &reference);
    const struct xb_result_figure *figure = figure_of(result, "second");
    assert_non_null(figure);
    for (size_t i = 0; i < figure->samples.count; i++)
        assert_true(figure->samples.values[i] >= 1);
    finish(&f);
}

RUN_TEST(test_a_rate_is_of_the_references_own_bytes)
{
    static const struct {
        uint64_t (*bytes)(const struct xb_mode_context *context);
        double rate;
    } rates[] = {{NULL, 1 / XB_FAKE_SECONDS_PER_BYTE}, {half, 0.5 / XB_FAKE_SECONDS_PER_BYTE}};
    probe.host_timed = false;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct fixture f;
        const struct xb_reference reference = {
            .figure = &second_rate, .submit = submit_second, .bytes = rates[i].bytes};
        expect_samples(measure_probe(&f, &reference), "second", rates[i].rate);
        finish(&f);
    }
}
