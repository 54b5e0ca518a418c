/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* A line that fails or is stopped in the middle leaves nothing under way, and can be used again. */

#include "testing.h"

#include "line_fixture.h"
#include "measure/engine/stage.h"

static void expect_usable(struct bench *b, const struct xb_line_plan *plan)
{
    assert_int_equal(atomic_load(&late.enqueued), atomic_load(&late.done));
    assert_int_equal(atomic_load(&seen.wrong), 0);
    forget();
    seen.plan = *plan;
    seen.reads = true;
    seen.in_a_row = plan->in_a_row;
    submit(b);
    expect_in_order(0, plan->items, plan->slots, SEND, BACK, plan->in_a_row);
}

RUN_TEST(test_a_failing_turn_of_the_host)
{
    for (size_t i = 0; i < 2 * COUNT_OF(plans); i++) {
        struct xb_line_plan plan = plans[i / 2];
        plan.in_a_row = i % 2 != 0;
        const uint64_t at[] = {0, plan.items / 2, plan.items - 1};
        for (size_t k = 0; k < COUNT_OF(at); k++) {
            struct bench b;
            struct xb_error error = {0};
            char message[64];
            open_line(&b, &with_host, &plan);
            seen.failing_item = at[k];
            seen.failing_piece = k % plan.pieces;
            assert_int_equal(xb_line_submit(&b.context, &error), XB_ERR_SYSTEM);
            snprintf(message, sizeof message, "item %llu cannot be read",
                     (unsigned long long)at[k]);
            assert_string_equal(error.message, message);
            /* Of the items before it all was enqueued that had its turn, and nothing behind. */
            assert_true(atomic_load(&late.enqueued) <= 3 * at[k]);
            if (plan.threads == 1) {
                assert_int_equal(atomic_load(&late.enqueued), 3 * at[k]);
                assert_int_equal(atomic_load(&seen.turns),
                                 at[k] * plan.pieces + k % plan.pieces + 1);
            }
            expect_usable(&b, &plan);
            close_bench(&b);
        }
    }
}

RUN_TEST(test_each_call_failing)
{
    for (size_t i = 0; i < 2 * COUNT_OF(plans); i++) {
        struct xb_line_plan plan = plans[i / 2];
        plan.in_a_row = i % 2 != 0;
        bool failed = true;
        for (unsigned at = 1; failed; at += 1 + at / 8) {
            struct bench b;
            struct xb_error error = {0};
            open_line(&b, &with_host, &plan);
            xb_fake.fail_at = xb_fake.calls + at;
            failed = xb_line_submit(&b.context, &error) != XB_OK;
            assert_true(failed == (xb_fake.failures > 0));
            if (failed) {
                assert_int_equal(error.native_code, 999);
                expect_usable(&b, &plan);
            }
            close_bench(&b);
        }
    }
}

RUN_TEST(test_each_call_failing_while_it_opens)
{
    bool failed = true;
    for (unsigned at = 1; failed; at++) {
        struct bench b;
        struct xb_error error = {0};
        open_bench(&b, &with_host, of_parts.slots);
        xb_fake.fail_at = xb_fake.calls + at;
        failed = xb_line_open(&b.context, &of_parts, &error) != XB_OK;
        assert_true(failed == (at <= of_parts.slots)); /* an event each */
        close_bench(&b);
    }
}

/* Behind a hold what is enqueued does not begin, so that nobody may wait for it. */
RUN_TEST(test_a_failure_behind_a_hold_waits_for_nothing)
{
    const struct xb_line_plan plan = {.items = 10, .slots = 3};
    for (int hold = 0; hold < 2; hold++) {
        struct bench b;
        struct xb_error error;
        open_line(&b, &without_host, &plan);
        b.context.hold = hold;
        xb_fake.fail_at = xb_fake.calls + 7;
        assert_int_equal(xb_line_submit(&b.context, &error), XB_ERR_RUNTIME);
        assert_int_equal(atomic_load(&late.done), hold ? 0 : 6);
        close_bench(&b);
    }
}

RUN_TEST(test_a_deadline_in_the_middle)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct xb_line_plan plan = of_parts;
        struct xb_run run = {.deadline = 0};
        struct bench b;
        struct xb_error error;
        plan.threads = threads;
        open_line(&b, &with_host, &plan);
        run.deadline = xb_clock_now() + 1000;
        b.context.run = &run;
        seen.late_item = 5;
        assert_int_equal(xb_line_submit(&b.context, &error), XB_ERR_STOPPED);
        /* Another thread may be ahead, by what may be begun while this item is not there yet. */
        unsigned beside = threads > 2 ? 2 : 0;
        assert_true(atomic_load(&late.enqueued) <= 3 * (5 + beside));
        assert_true(atomic_load(&seen.turns) <= 2 * 5 + 1 + 2 * beside);
        run.deadline = 0;
        expect_usable(&b, &plan);
        close_bench(&b);
    }
}
