/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Which item is where when, of a mode with stages: all of its line, and parts. */

#include "testing.h"

#include "line_fixture.h"
#include "measure/engine/stage.h"
#include "measure/timeline/timeline.h"

/* ---- all of it ---- */

/* What must not be is found by read_piece, enqueue and make_until. */
static void run_plan(const struct xb_line_plan *plan)
{
    struct bench b;
    size_t a_turn = plan->items * plan->pieces;
    open_line(&b, &with_host, plan);
    for (unsigned iteration = 1; iteration <= 3; iteration++) {
        size_t before = atomic_load(&late.enqueued);
        submit(&b);
        expect_in_order(before, plan->items, plan->slots, SEND, BACK, plan->in_a_row);
        assert_int_equal(atomic_load(&seen.turns), iteration * a_turn);
    }
    if (plan->threads == 1)
        assert_int_equal(atomic_load(&seen.threads), 1u);
    else /* the one that submits reads nothing */
        assert_int_equal(atomic_load(&seen.threads) & 1u, 0);
    close_bench(&b);
}

RUN_TEST(test_no_slot_is_written_before_it_is_free)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        run_plan(&plans[i]);
}

RUN_TEST(test_in_a_row_each_item_waits_for_all_of_the_one_before)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct xb_line_plan plan = plans[i];
        plan.in_a_row = true;
        plan.frees = SEND;
        run_plan(&plan);
    }
}

/* Of one iteration: what the one before has left is waited for when nothing is enqueued. */
RUN_TEST(test_the_device_has_more_to_do_while_a_slot_is_waited_for)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct bench b;
        open_line(&b, &with_host, &plans[i]);
        submit(&b);
        if (plans[i].slots > 1)
            assert_int_equal(late.starved_waits, 0);
        close_bench(&b);
    }
}

RUN_TEST(test_without_a_host_nothing_waits)
{
    for (int in_a_row = 0; in_a_row < 2; in_a_row++) {
        const struct xb_line_plan plan = {.items = 10, .slots = 3, .in_a_row = in_a_row};
        struct bench b;
        open_line(&b, &without_host, &plan);
        submit(&b);
        expect_in_order(0, 10, 3, SEND, BACK, in_a_row);
        submit(&b);
        expect_in_order(30, 10, 3, SEND, BACK, in_a_row);
        assert_int_equal(atomic_load(&late.done), 0);
        close_bench(&b);
    }
}

/* ---- parts ---- */

RUN_TEST(test_the_host_alone_finds_its_slots_free)
{
    for (int in_a_row = 0; in_a_row < 2; in_a_row++) {
        const struct xb_line_part part = {.stages = 1u << READ, .in_a_row = in_a_row};
        struct bench b;
        open_line(&b, &with_host, &of_parts);
        seen.frees_by_itself = true;
        xb_line_take(&b.context, &part);
        submit(&b);
        submit(&b);
        assert_int_equal(atomic_load(&seen.turns), 2 * 20);
        assert_int_equal(atomic_load(&late.enqueued), 0);
        close_bench(&b);
    }
}

RUN_TEST(test_one_stage_alone)
{
    for (unsigned stage = SEND; stage <= BACK; stage++) {
        const struct xb_line_part part = {.stages = 1u << stage};
        struct bench b;
        open_line(&b, &with_host, &of_parts);
        seen.reads = false;
        xb_line_take(&b.context, &part);
        submit(&b);
        /* Kernels on the slots' queues, copies on one of their own. */
        expect_in_order(0, 10, 3, stage, stage, stage != WORK);
        assert_int_equal(atomic_load(&seen.turns), 0);
        assert_int_equal(atomic_load(&late.done), 0);
        close_bench(&b);
    }
}

RUN_TEST(test_copies_alone_have_a_queue_and_a_slot_each)
{
    for (unsigned slots = 0; slots <= 3; slots++) {
        const struct xb_line_part part = {.stages = 1u << SEND | 1u << BACK, .slots = slots};
        struct bench b;
        open_line(&b, &with_host, &of_parts);
        seen.reads = false;
        xb_line_take(&b.context, &part);
        submit(&b);
        assert_int_equal(atomic_load(&late.enqueued), 20);
        for (size_t i = 0; i < 20; i++) {
            unsigned own = slots == 1 ? 0 : i % 2; /* with one slot they take turns */
            assert_int_equal(late.operations[i].stage, i % 2 == 0 ? SEND : BACK);
            assert_int_equal(late.operations[i].item, i / 2);
            assert_int_equal(late.operations[i].queue, own);
            assert_int_equal(late.operations[i].slot, own);
        }
        close_bench(&b);
    }
}

RUN_TEST(test_parts_of_items_and_slots)
{
    static const struct {
        struct xb_line_part part;
        uint64_t items;
        unsigned slots;
    } rows[] = {
        {{.items = 4}, 4, 3},
        {{.items = 99}, 10, 3},
        {{.slots = 2}, 10, 2},
        {{.slots = 1}, 10, 1},
        {{.slots = 99}, 10, 3},
        {{.in_a_row = true}, 10, 3},
        {{.in_a_row = true, .items = 7, .slots = 2}, 7, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        open_line(&b, &with_host, &of_parts);
        seen.in_a_row = rows[i].part.in_a_row;
        xb_line_take(&b.context, &rows[i].part);
        submit(&b);
        expect_in_order(0, rows[i].items, rows[i].slots, SEND, BACK, rows[i].part.in_a_row);
        size_t before = atomic_load(&late.enqueued);
        xb_line_take(&b.context, NULL);
        make_until(0, before);
        make_until(1, before);
        make_until(2, before);
        seen.in_a_row = false;
        submit(&b);
        expect_in_order(before, 10, 3, SEND, BACK, false);
        close_bench(&b);
    }
}

/* The host's and what computes: nothing on the device reads what the host has written. */
RUN_TEST(test_a_part_that_skips_the_freeing_stage)
{
    const struct xb_line_part part = {.stages = 1u << READ | 1u << WORK};
    struct bench b;
    open_line(&b, &with_host, &of_parts);
    seen.frees_by_itself = true;
    xb_line_take(&b.context, &part);
    submit(&b);
    expect_in_order(0, 10, 3, WORK, WORK, false);
    assert_int_equal(atomic_load(&late.done), 0);
    close_bench(&b);
}

/* ---- what is recorded ---- */

static struct {
    const char *stage; /* that is named now */
    unsigned named[BACK + 1];
    unsigned workers;
    atomic_uint work, waits, wrong;
} recorded;

void __wrap_xb_recorder_stage(struct xb_recorder *recorder, const char *stage, uint64_t item);
void __wrap_xb_recorder_workers(struct xb_recorder *recorder, unsigned workers);
void __wrap_xb_recorder_thread(struct xb_recorder *recorder, unsigned thread,
                               const struct xb_timeline_span *span);

void __wrap_xb_recorder_stage(struct xb_recorder *recorder, const char *stage, uint64_t item)
{
    if (recorder == NULL)
        return;
    assert_true((stage == NULL) == (recorded.stage != NULL)); /* one ends before the next */
    recorded.stage = stage;
    for (unsigned i = SEND; stage != NULL && i <= BACK; i++)
        recorded.named[i] += strcmp(stage, stages[i].name) == 0;
    assert_true(item < of_parts.items);
}

void __wrap_xb_recorder_thread(struct xb_recorder *recorder, unsigned thread,
                               const struct xb_timeline_span *span)
{
    if (recorder == NULL)
        return;
    bool waits = span->kind == XB_SPAN_WAIT;
    bool is_right = span->stage == stages[READ].name && span->item < of_parts.items &&
                    span->begin <= span->end &&
                    strcmp(span->name, !waits        ? "read"
                                       : thread == 0 ? "wait: read"
                                                     : "wait: slot") == 0;
    if (waits)
        is_right = is_right && span->bytes == 0;
    else
        is_right = is_right && span->bytes / 100 == span->item && span->bytes % 100 < 2 &&
                   (atomic_load(&seen.threads) & 1u << thread) != 0;
    if (!waits || thread == 0)
        atomic_fetch_add(waits ? &recorded.waits : &recorded.work, 1);
    atomic_fetch_add(&recorded.wrong, !is_right);
}

void __wrap_xb_recorder_workers(struct xb_recorder *recorder, unsigned workers)
{
    assert_ptr_equal(recorder, &recorded);
    recorded.workers = workers;
}

RUN_TEST(test_stages_turns_and_waits_are_recorded)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct xb_line_plan plan = of_parts;
        struct bench b;
        plan.threads = threads;
        open_line(&b, &with_host, &plan);
        memset(&recorded, 0, sizeof recorded);
        submit(&b);
        assert_int_equal(atomic_load(&recorded.work), 0);
        b.context.recorder = (struct xb_recorder *)&recorded;
        submit(&b);
        assert_int_equal(atomic_load(&recorded.wrong), 0);
        assert_int_equal(atomic_load(&recorded.work), 20);
        assert_int_equal(atomic_load(&recorded.waits), threads > 1 ? 10 : 0); /* one reads itself */
        assert_int_equal(recorded.workers, threads > 1 ? threads - 1 : 1);
        for (unsigned i = SEND; i <= BACK; i++)
            assert_int_equal(recorded.named[i], 10);
        assert_null(recorded.stage);
        b.context.recorder = NULL;
        close_bench(&b);
    }
}
