/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The line of a mode with stages, over a device that does everything as late as it may: what is
 * enqueued is done when somebody waits for it, and not before. Include after cmocka.h, from a file
 * that defines _GNU_SOURCE.
 */
#include "base/clock.h"
#include "measure/sample/sampler.h"

#include "doubles/fake_internal.h"
#include "measure/engine/stage.h"
#include "run_fixture.h"
#include "xferbench/workspace.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

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

static inline void expect(bool is_right)
{
    atomic_fetch_add(&seen.wrong, !is_right);
}

static inline enum xb_status read_piece(struct xb_mode_context *context, const struct xb_turn *turn,
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

static inline uint64_t bytes_of(const struct xb_mode_context *context, const struct xb_turn *turn)
{
    (void)context;
    return 100 * turn->item + turn->piece;
}

static inline unsigned number_of(const struct xb_mode_context *context,
                                 const struct xb_queue *queue)
{
    unsigned number = 0;
    while (context->queues[number] != queue)
        number++;
    return number;
}

static inline enum xb_status enqueue(struct xb_mode_context *context, const struct xb_turn *turn,
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

static inline enum xb_status send(struct xb_mode_context *context, const struct xb_turn *turn,
                                  struct xb_error *error)
{
    return enqueue(context, turn, SEND, error);
}

static inline enum xb_status compute(struct xb_mode_context *context, const struct xb_turn *turn,
                                     struct xb_error *error)
{
    return enqueue(context, turn, WORK, error);
}

static inline enum xb_status bring_back(struct xb_mode_context *context, const struct xb_turn *turn,
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
static inline void make_until(unsigned queue, size_t behind)
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

static inline enum xb_status record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error)
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

static inline enum xb_status wait_for_event(struct xb_event *event, struct xb_error *error)
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

static inline enum xb_status wait_for_queue(struct xb_queue *queue, struct xb_error *error)
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

static inline void forget(void)
{
    memset(late.operations, 0, sizeof late.operations);
    memset(late.records, 0, sizeof late.records);
    late.record_count = late.starved_waits = 0;
    atomic_store(&late.enqueued, 0);
    atomic_store(&late.done, 0);
    memset(&seen, 0, sizeof seen);
    seen.failing_item = seen.late_item = NO_ITEM;
}

static inline void open_bench(struct bench *b, const struct xb_mode *mode, unsigned queues)
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

static inline void close_bench(struct bench *b)
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

static inline void open_line(struct bench *b, const struct xb_mode *mode,
                             const struct xb_line_plan *plan)
{
    struct xb_error error;
    open_bench(b, mode, plan->in_a_row ? 1 : plan->slots);
    seen.plan = *plan;
    seen.reads = mode == &with_host;
    seen.in_a_row = plan->in_a_row && seen.reads;
    if (xb_line_open(&b->context, plan, &error) != XB_OK)
        fail_msg("%s", error.message);
}

static inline void submit(struct bench *b)
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
static inline void expect_in_order(size_t first, uint64_t items, unsigned slots, unsigned from,
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
