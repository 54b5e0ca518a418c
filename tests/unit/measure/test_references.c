/* SPDX-License-Identifier: Apache-2.0 */
/* What a case is compared with: copies to the host right after one to the device, and references by
 * a clock or with bytes of their own. Which cases have which: tests/unit/runs/memory.txt. */
#define _GNU_SOURCE

#include "run_fixture.h"

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

static void use_history(enum xb_damage during, enum xb_damage afterwards)
{
    reset_fake();
    memset(&seen, 0, sizeof seen);
    seen.during = during;
    seen.afterwards = afterwards;
    altered.engine_by_history = true;
    altered_backend.queue_open = open_queue;
    altered_backend.queue_close = close_queue;
    altered_backend.queue_copy = copy;
}

/* Its own proof finds what is wrong, though the copies before and after it are right; and what it
 * brought to the host does not stand in for what the samples are to bring. */
RUN_TEST(its_data_and_that_of_the_samples_are_proved)
{
    for (int damage = XB_DAMAGE_NONE; damage <= XB_DAMAGE_NOTHING_COPIED + 1; damage++) {
        struct fixture f;
        bool is_later = damage > XB_DAMAGE_NOTHING_COPIED;
        use_history(is_later ? XB_DAMAGE_NONE : (enum xb_damage)damage,
                    is_later ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE);
        run_line(&f, "--mode pinned --direction d2h --size 4M");
        const struct xb_result *result = &f.run.results[0];
        if (damage == XB_DAMAGE_NONE) {
            expect_status(result, XB_RESULT_OK);
            assert_int_equal(seen.to_device, 1 + 6); /* the first repetition does not count */
            assert_int_equal(seen.opened, 2);
        } else {
            expect_reason(result, XB_RESULT_ERROR,
                          is_later ? "bytes are wrong after the copy"
                                   : FIGURE ": the data did not arrive");
            assert_int_equal(strstr(result->reason, FIGURE) != NULL, !is_later);
            assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
        }
        assert_int_equal(seen.open, 0);
        finish(&f);
    }
}

/* Whatever call fails: an error row, and every queue is closed. More coarsely as calls repeat. */
RUN_TEST(a_call_that_fails_leaves_nothing_open)
{
    for (unsigned n = 1; n > 0; n = next_failing(n, 1 + n / 16)) {
        struct fixture f;
        use_history(XB_DAMAGE_NONE, XB_DAMAGE_NONE);
        plan_line(&f, "--mode pinned --direction d2h --size 64K");
        fail_call(n);
        go(&f, NULL);
        expect_all(&f, xb_fake.failures > 0 ? XB_RESULT_ERROR : XB_RESULT_OK);
        assert_int_equal(seen.open, 0);
        finish(&f);
    }
}

/* ---- clocks and bytes of their own ---- */

/* Two references more: the mode is pinned with the two put in place of its own. */
static struct {
    enum xb_status (*setup)(struct xb_mode_context *context, struct xb_error *error);
    enum xb_status (*submit)(struct xb_mode_context *context, struct xb_error *error);
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
    return probe.submit(context, error);
}

/* The device takes as long as for the case itself; the host's clock says a second more. */
static enum xb_status submit_second(struct xb_mode_context *context, struct xb_error *error)
{
    probe.submits++;
    probe.later_holds = xb_fake.holds;
    atomic_fetch_add(&clock_ahead_ns, 1000000000);
    return probe.submit(context, error);
}

static uint64_t half(const struct xb_mode_context *context)
{
    return context->bytes_moved / 2;
}

/* Of 64 KiB, by the device 65.536 us; until the queues are done, an iteration at a time, and
 * nothing held, where the host's clock is taken. */
RUN_TEST(a_reference_has_a_clock_and_bytes_of_its_own)
{
    static const struct {
        bool host_timed; /* the case itself */
        struct xb_reference reference;
        double value; /* 0: a second or more */
    } rows[] = {
        {false, {.figure = &second, .submit = submit_second, .clock = XB_CLOCK_OF_HOST}, 0},
        {true,
         {.figure = &second, .submit = submit_second, .clock = XB_CLOCK_OF_DEVICE},
         65536 * XB_FAKE_SECONDS_PER_BYTE},
        {true, {.figure = &second, .submit = submit_second}, 0},
        {false, {.figure = &second_rate, .submit = submit_second}, 1 / XB_FAKE_SECONDS_PER_BYTE},
        {false,
         {.figure = &second_rate, .submit = submit_second, .bytes = half},
         0.5 / XB_FAKE_SECONDS_PER_BYTE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_reference references[3] = {{.figure = &first_time, .submit = submit_first},
                                             rows[i].reference};
        struct fixture f;
        memset(&probe, 0, sizeof probe);
        probe.host_timed = rows[i].host_timed;
        plan_line(&f, "--mode pinned --direction h2d --size 64K");
        struct xb_mode *mode = replace_mode(&f);
        probe.setup = mode->setup;
        probe.submit = mode->submit;
        mode->setup = set_up_probe;
        mode->references = references;
        go(&f, NULL);
        expect_all(&f, XB_RESULT_OK);
        const struct xb_result *result = &f.run.results[0];
        const struct xb_result_figure *figure = figure_of(result, "second");
        if (rows[i].value > 0)
            expect_samples(result, "second", rows[i].value);
        for (size_t k = 0; rows[i].value <= 0 && k < figure->samples.count; k++)
            assert_true(figure->samples.values[k] >= 1);
        if (i == 0) {
            expect_samples(result, "first_time", 65536 * XB_FAKE_SECONDS_PER_BYTE);
            /* So small a copy is repeated until its sample is long enough, by the device's clock.
             */
            assert_true(probe.first_submits > figure_of(result, "first_time")->samples.count);
            assert_int_equal(probe.submits, figure->samples.count);
            assert_true(probe.holds > 0);
            assert_int_equal(probe.later_holds, probe.holds);
        }
        finish(&f);
    }
}
