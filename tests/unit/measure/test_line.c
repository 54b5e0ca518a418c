/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Which item is where when, of a mode with stages: all of its line, and parts, over a device that
 * does everything as late as it may: what is enqueued is done when somebody waits for it, and not
 * before. And what fails or is stopped in the middle leaves nothing under way. */

#include "base/clock.h"
#include "doubles/fake_internal.h"
#include "measure/engine/stage.h"
#include "measure/sample/sampler.h"
#include "measure/timeline/timeline.h"
#include "run_fixture.h"
#include "xferbench/workspace.h"

#define MOST_OPERATIONS 1024
#define MOST_ITEMS 64
#define MOST_SLOTS 8
#define NO_ITEM UINT64_MAX

enum { READ, SEND, WORK, BACK };

/* ---- the device ---- */

struct operation {
    unsigned stage, slot, queue;
    uint64_t item;
    bool done;
};

static struct {
    struct xb_backend backend;
    struct operation operations[MOST_OPERATIONS];
    struct {
        struct xb_event *event;
        size_t behind; /* so many operations were enqueued when it was recorded */
        unsigned queue;
    } records[MOST_SLOTS];
    size_t record_count;
    size_t starved_waits; /* for an event, that left the device nothing to do */
    atomic_uint enqueued, done;
} late;

/* ---- the mode ---- */

static struct {
    struct xb_line_plan plan;
    atomic_ullong owners[MOST_SLOTS]; /* whose data is in the slot: the item and 1; 0: nobody's */
    atomic_uint pieces[MOST_ITEMS];   /* that were read of the item */
    atomic_uint turns, threads;       /* of the host; threads: bits 1 << number */
    atomic_uint wrong;    /* what must not happen and did; a thread cannot fail a test */
    bool reads;           /* the host takes part */
    bool frees_by_itself; /* no stage of the device does */
    bool in_a_row;
    uint64_t failing_item, failing_piece, late_item;
} seen;

static void expect(bool is_right)
{
    atomic_fetch_add(&seen.wrong, !is_right);
}

static enum xb_status read_piece(struct xb_mode_context *context, const struct xb_turn *turn,
                                 struct xb_error *error)
{
    unsigned long long owner = 0;
    (void)context;
    if (!atomic_compare_exchange_strong(&seen.owners[turn->slot], &owner, turn->item + 1))
        expect(owner == turn->item + 1); /* a piece of the same item came before */
    expect(turn->queue == NULL && turn->thread < seen.plan.threads);
    expect(turn->piece < seen.plan.pieces && turn->item < seen.plan.items);
    if (seen.in_a_row)
        expect(atomic_load(&late.enqueued) == atomic_load(&late.done));
    atomic_fetch_add(&seen.turns, 1);
    atomic_fetch_or(&seen.threads, 1u << turn->thread);
    if (turn->item == seen.late_item) /* the deadline is over */
        atomic_fetch_add(&clock_ahead_ns, 2000000000000);
    if (turn->item == seen.failing_item && turn->piece == seen.failing_piece)
        return XB_FAIL(error, XB_ERR_SYSTEM, "item %llu cannot be read",
                       (unsigned long long)turn->item);
    if (atomic_fetch_add(&seen.pieces[turn->item], 1) + 1 == seen.plan.pieces &&
        seen.frees_by_itself)
        atomic_store(&seen.owners[turn->slot], 0);
    return XB_OK;
}

static uint64_t bytes_of(const struct xb_mode_context *context, const struct xb_turn *turn)
{
    (void)context;
    return 100 * turn->item + turn->piece;
}

static unsigned number_of(const struct xb_mode_context *context, const struct xb_queue *queue)
{
    unsigned number = 0;
    while (context->queues[number] != queue)
        number++;
    return number;
}

static enum xb_status enqueue(struct xb_mode_context *context, const struct xb_turn *turn,
                              unsigned stage, struct xb_error *error)
{
    unsigned place = atomic_load(&late.enqueued);
    if (xb_fake_fails("enqueue", error))
        return error->status;
    if (seen.reads) /* all of the item is there */
        expect(atomic_load(&seen.pieces[turn->item]) == seen.plan.pieces);
    assert_true(place < MOST_OPERATIONS);
    late.operations[place] = (struct operation){.stage = stage,
                                                .slot = turn->slot,
                                                .queue = number_of(context, turn->queue),
                                                .item = turn->item};
    atomic_fetch_add(&late.enqueued, 1);
    return XB_OK;
}

static enum xb_status send(struct xb_mode_context *context, const struct xb_turn *turn,
                           struct xb_error *error)
{
    return enqueue(context, turn, SEND, error);
}

static enum xb_status compute(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    return enqueue(context, turn, WORK, error);
}

static enum xb_status bring_back(struct xb_mode_context *context, const struct xb_turn *turn,
                                 struct xb_error *error)
{
    return enqueue(context, turn, BACK, error);
}

static const struct xb_stage stages[] = {
    {.name = "read", .engine = XB_ENGINE_HOST, .run = read_piece, .bytes = bytes_of},
    {.name = "send", .engine = XB_ENGINE_COPY, .run = send},
    {.name = "work", .engine = XB_ENGINE_COMPUTE, .run = compute},
    {.name = "back", .engine = XB_ENGINE_COPY, .run = bring_back},
    {.name = NULL},
};

/* The same without the host's. */
static const struct xb_mode with_host = {.name = "with-host", .stages = stages};
static const struct xb_mode without_host = {.name = "without-host", .stages = &stages[1]};

/* ---- waiting ---- */

/* Does what is enqueued on that queue, but for what came later than the so-manyth operation. */
static void make_until(unsigned queue, size_t behind)
{
    for (size_t i = 0; i < behind; i++) {
        struct operation *operation = &late.operations[i];
        if (operation->queue != queue || operation->done)
            continue;
        operation->done = true;
        atomic_fetch_add(&late.done, 1);
        if (!seen.reads || operation->stage > seen.plan.frees)
            continue;
        expect(atomic_load(&seen.owners[operation->slot]) == operation->item + 1);
        if (operation->stage == seen.plan.frees)
            atomic_store(&seen.owners[operation->slot], 0);
    }
}

static struct xb_mode_context *the_context;

static enum xb_status record(struct xb_event *event, struct xb_queue *queue, struct xb_error *error)
{
    size_t place = 0;
    while (place < late.record_count && late.records[place].event != event)
        place++;
    assert_true(place < MOST_SLOTS);
    enum xb_status status = xb_fake_backend.event_record(event, queue, error);
    if (status != XB_OK)
        return status;
    late.record_count += place == late.record_count;
    late.records[place].event = event;
    late.records[place].behind = atomic_load(&late.enqueued);
    late.records[place].queue = number_of(the_context, queue);
    return XB_OK;
}

static enum xb_status wait_for_event(struct xb_event *event, struct xb_error *error)
{
    for (size_t i = 0; i < late.record_count; i++) {
        if (late.records[i].event != event)
            continue;
        make_until(late.records[i].queue, late.records[i].behind);
        bool has_more = false;
        for (size_t k = late.records[i].behind; k < atomic_load(&late.enqueued); k++)
            has_more = has_more || !late.operations[k].done;
        late.starved_waits += !has_more;
    }
    return xb_fake_backend.event_wait(event, error);
}

static enum xb_status wait_for_queue(struct xb_queue *queue, struct xb_error *error)
{
    make_until(number_of(the_context, queue), atomic_load(&late.enqueued));
    return xb_fake_backend.queue_wait(queue, error);
}

/* ---- a case by hand ---- */

struct bench {
    struct xb_driver *driver;
    struct xb_device *device;
    struct xb_workspace *workspace;
    struct xb_case test;
    struct xb_mode_context context;
};

static void forget(void)
{
    memset(late.operations, 0, sizeof late.operations);
    memset(late.records, 0, sizeof late.records);
    late.record_count = late.starved_waits = 0;
    atomic_store(&late.enqueued, 0);
    atomic_store(&late.done, 0);
    memset(&seen, 0, sizeof seen);
    seen.failing_item = seen.late_item = NO_ITEM;
}

static void open_bench(struct bench *b, const struct xb_mode *mode, unsigned queues)
{
    struct xb_probe probe;
    struct xb_error error;
    memset(b, 0, sizeof *b);
    xb_fake_reset();
    forget();
    late.backend = xb_fake_backend;
    late.backend.event_record = record;
    late.backend.event_wait = wait_for_event;
    late.backend.queue_wait = wait_for_queue;
    assert_int_equal(xb_fake_backend.driver_open(&b->driver, &probe, &error), XB_OK);
    assert_int_equal(xb_fake_backend.device_open(b->driver, 0, &b->device, &error), XB_OK);
    b->workspace = xb_workspace_open(b->device, 0);
    b->test.mode = mode;
    b->context = (struct xb_mode_context){
        .test = &b->test, .device = b->device, .workspace = b->workspace, .queue_count = queues};
    assert_int_equal(xb_workspace_queues(b->workspace, queues, &b->context.queues, &error), XB_OK);
    b->device->backend = &late.backend;
    the_context = &b->context;
}

static void close_bench(struct bench *b)
{
    struct xb_error error;
    xb_fake.fail_at = 0;
    for (size_t i = 0; i < b->context.queue_count; i++) /* the runner closes what is not in use */
        assert_int_equal(xb_fake_backend.queue_wait(b->context.queues[i], &error), XB_OK);
    xb_line_close(&b->context);
    assert_null(b->context.line);
    b->device->backend = &xb_fake_backend;
    xb_workspace_close(b->workspace);
    xb_fake_backend.device_close(b->device);
    xb_fake_backend.driver_close(b->driver);
}

static void open_line(struct bench *b, const struct xb_mode *mode, const struct xb_line_plan *plan)
{
    struct xb_error error;
    open_bench(b, mode, plan->in_a_row ? 1 : plan->slots);
    seen.plan = *plan;
    seen.reads = mode == &with_host;
    seen.in_a_row = plan->in_a_row && seen.reads;
    if (xb_line_open(&b->context, plan, &error) != XB_OK)
        fail_msg("%s", error.message);
}

static void submit(struct bench *b)
{
    struct xb_error error;
    for (size_t i = 0; i < COUNT_OF(seen.pieces); i++)
        atomic_store(&seen.pieces[i], 0);
    if (xb_line_submit(&b->context, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(atomic_load(&seen.wrong), 0);
}

/* So many operations of one iteration, beginning with `first`, are those of the items in order, by
 * the stages from `from` to `to`. */
static void expect_in_order(size_t first, uint64_t items, unsigned slots, unsigned from,
                            unsigned to, bool in_a_row)
{
    const struct operation *next = &late.operations[first];
    for (uint64_t item = 0; item < items; item++)
        for (unsigned stage = from; stage <= to; stage++, next++) {
            assert_int_equal(next->item, item);
            assert_int_equal(next->stage, stage);
            assert_int_equal(next->slot, item % slots);
            assert_int_equal(next->queue, in_a_row ? 0 : item % slots);
        }
    assert_int_equal(atomic_load(&late.enqueued), next - late.operations);
}

/* ---- plans ---- */

static const struct xb_line_plan plans[] = {
    {.items = 1, .slots = 1, .threads = 1, .pieces = 1, .frees = SEND},
    {.items = 1, .slots = 3, .threads = 3, .pieces = 2, .frees = SEND},
    {.items = 1, .slots = 1, .threads = 6, .pieces = 2, .frees = SEND}, /* more than have a turn */
    {.items = 9, .slots = 1, .threads = 2, .pieces = 1, .frees = SEND},
    {.items = 9, .slots = 1, .threads = 2, .pieces = 3, .frees = BACK},
    {.items = 12, .slots = 2, .threads = 1, .pieces = 2, .frees = SEND},
    {.items = 12, .slots = 2, .threads = 4, .pieces = 3, .frees = WORK},
    {.items = 20, .slots = 3, .threads = 3, .pieces = 1, .frees = SEND},
    {.items = 20, .slots = 4, .threads = 3, .pieces = 4, .frees = BACK},
    {.items = 33, .slots = 8, .threads = 4, .pieces = 2, .frees = SEND},
    {.items = 5, .slots = 8, .threads = 2, .pieces = 2, .frees = WORK},
};

static const struct xb_line_plan of_parts = {
    .items = 10, .slots = 3, .threads = 2, .pieces = 2, .frees = SEND};

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

RUN_TEST(no_slot_is_written_before_it_is_free)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        run_plan(&plans[i]);
}

RUN_TEST(in_a_row_each_item_waits_for_all_of_the_one_before)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct xb_line_plan plan = plans[i];
        plan.in_a_row = true;
        plan.frees = SEND;
        run_plan(&plan);
    }
}

/* Of one iteration: what the one before has left is waited for when nothing is enqueued. */
RUN_TEST(the_device_has_more_to_do_while_a_slot_is_waited_for)
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

RUN_TEST(without_a_host_nothing_waits)
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

/* Some stages, items or slots; and then all of it again. What nothing on the device reads is free
 * at once. A kernel alone runs on the slots' queues, copies alone on one of their own. */
RUN_TEST(parts_of_a_line)
{
    enum { ONE_QUEUE = 1, NO_HOST = 2, FREES_ITSELF = 4 };
    static const struct {
        struct xb_line_part part;
        unsigned how, slots, from, to; /* from > to: nothing is enqueued */
        uint64_t items;
    } rows[] = {
        {{.stages = 1u << READ}, FREES_ITSELF, 3, BACK, READ, 10},
        {{.stages = 1u << READ, .in_a_row = true}, FREES_ITSELF, 3, BACK, READ, 10},
        {{.stages = 1u << SEND}, NO_HOST | ONE_QUEUE, 3, SEND, SEND, 10},
        {{.stages = 1u << WORK}, NO_HOST, 3, WORK, WORK, 10},
        {{.stages = 1u << BACK}, NO_HOST | ONE_QUEUE, 3, BACK, BACK, 10},
        {{.stages = 1u << READ | 1u << WORK}, FREES_ITSELF, 3, WORK, WORK, 10},
        {{.items = 4}, 0, 3, SEND, BACK, 4},
        {{.items = 99}, 0, 3, SEND, BACK, 10},
        {{.slots = 2}, 0, 2, SEND, BACK, 10},
        {{.slots = 1}, 0, 1, SEND, BACK, 10},
        {{.slots = 99}, 0, 3, SEND, BACK, 10},
        {{.in_a_row = true}, ONE_QUEUE, 3, SEND, BACK, 10},
        {{.in_a_row = true, .items = 7, .slots = 2}, ONE_QUEUE, 2, SEND, BACK, 7},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench b;
        open_line(&b, &with_host, &of_parts);
        seen.reads = (rows[i].how & NO_HOST) == 0;
        seen.frees_by_itself = (rows[i].how & FREES_ITSELF) != 0;
        seen.in_a_row = rows[i].part.in_a_row;
        xb_line_take(&b.context, &rows[i].part);
        submit(&b);
        if (rows[i].from <= rows[i].to)
            expect_in_order(0, rows[i].items, rows[i].slots, rows[i].from, rows[i].to,
                            (rows[i].how & ONE_QUEUE) != 0);
        else
            assert_int_equal(atomic_load(&late.enqueued), 0);
        assert_int_equal(atomic_load(&seen.turns), seen.reads ? 2 * rows[i].items : 0);
        if (rows[i].how & (NO_HOST | FREES_ITSELF))
            assert_int_equal(atomic_load(&late.done), 0);
        size_t before = atomic_load(&late.enqueued);
        for (unsigned queue = 0; queue < of_parts.slots; queue++)
            make_until(queue, before);
        xb_line_take(&b.context, NULL);
        seen.reads = true;
        seen.frees_by_itself = seen.in_a_row = false;
        submit(&b);
        expect_in_order(before, 10, 3, SEND, BACK, false);
        close_bench(&b);
    }
}

RUN_TEST(copies_alone_have_a_queue_and_a_slot_each)
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

/* ---- failures ---- */

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

RUN_TEST(a_failing_turn_of_the_host)
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

RUN_TEST(each_call_failing)
{
    for (size_t i = 0; i < 2 * COUNT_OF(plans); i++) {
        struct xb_line_plan plan = plans[i / 2];
        plan.in_a_row = i % 2 != 0;
        for (unsigned n = 1; n > 0; n = next_failing(n, 1 + n / 8)) {
            struct bench b;
            struct xb_error error = {0};
            open_line(&b, &with_host, &plan);
            fail_call(n);
            bool failed = xb_line_submit(&b.context, &error) != XB_OK;
            assert_true(failed == (xb_fake.failures > 0));
            if (failed) {
                assert_int_equal(error.native_code, 999);
                expect_usable(&b, &plan);
            }
            close_bench(&b);
        }
    }
}

RUN_TEST(each_call_failing_while_it_opens)
{
    for (unsigned n = 1; n > 0; n = next_failing(n, 1)) {
        struct bench b;
        struct xb_error error = {0};
        open_bench(&b, &with_host, of_parts.slots);
        fail_call(n);
        bool failed = xb_line_open(&b.context, &of_parts, &error) != XB_OK;
        assert_true(failed == (n <= of_parts.slots)); /* an event each */
        close_bench(&b);
    }
}

/* Behind a hold what is enqueued does not begin, so that nobody may wait for it. */
RUN_TEST(a_failure_behind_a_hold_waits_for_nothing)
{
    const struct xb_line_plan plan = {.items = 10, .slots = 3};
    for (int hold = 0; hold < 2; hold++) {
        struct bench b;
        struct xb_error error;
        open_line(&b, &without_host, &plan);
        b.context.hold = hold;
        fail_call(7);
        assert_int_equal(xb_line_submit(&b.context, &error), XB_ERR_RUNTIME);
        assert_int_equal(atomic_load(&late.done), hold ? 0 : 6);
        close_bench(&b);
    }
}

RUN_TEST(a_deadline_in_the_middle)
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

RUN_TEST(stages_turns_and_waits_are_recorded)
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
