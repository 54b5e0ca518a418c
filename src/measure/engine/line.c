/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Drives the stages of a mode: host threads fill slots, and this thread enqueues what follows. */
#include "measure/sample/sampler.h"

#include "base/clock.h"
#include "base/memory.h"

#include "crew.h"
#include "measure/run.h"
#include "measure/timeline/timeline.h"
#include "stage.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum xb_status xb_line_open(struct xb_mode_context *context, const struct xb_line_plan *plan,
                            struct xb_error *error)
{
    struct xb_line *line = xb_new(1, sizeof *line);
    line->stages = context->test->mode->stages;
    bool has_host = line->stages[0].engine == XB_ENGINE_HOST;
    assert(plan->items > 0 && plan->slots > 0);
    assert(!has_host || (plan->threads > 0 && plan->pieces > 0));
    assert(plan->in_a_row || context->queue_count >= plan->slots);
    line->plan = *plan;
    while (line->stages[line->stage_count].name != NULL)
        line->stage_count++;
    context->line = line; /* for xb_line_close, also of a part of it */
    if (!has_host)
        return XB_OK;
    XB_TRY(xb_workspace_crew(context->workspace, plan->threads, &line->crew, error));
    line->freed = xb_new(plan->slots, sizeof(struct xb_event *));
    for (unsigned i = 0; i < plan->slots; i++)
        XB_TRY(context->device->backend->event_open(context->device, &line->freed[i], error));
    return XB_OK;
}

void xb_line_close(struct xb_mode_context *context)
{
    struct xb_line *line = context->line;
    if (line == NULL)
        return;
    for (unsigned i = 0; line->freed != NULL && i < line->plan.slots; i++)
        context->device->backend->event_close(line->freed[i]);
    free(line->freed);
    free(line);
    context->line = NULL;
}

void xb_line_take(struct xb_mode_context *context, const struct xb_line_part *part)
{
    context->line->part = part != NULL ? *part : (struct xb_line_part){0};
}

enum xb_status xb_line_time(struct xb_mode_context *context, const struct xb_line_part *part,
                            double *seconds, struct xb_error *error)
{
    xb_line_take(context, part);
    enum xb_status status = xb_mode_time(context, xb_line_submit, seconds, error);
    xb_line_take(context, NULL);
    return status;
}

bool xb_line_is_whole(const struct xb_mode_context *context)
{
    return context->line->part.stages == 0;
}

bool xb_line_was_stopped(const struct xb_mode_context *context)
{
    return context->line->was_stopped;
}

/* ---- an iteration ---- */

/* No stage of the device: each slot is free as soon as it is filled. */
#define NONE XB_STAGES

/* A shorter gap between two turns of a thread is no wait: the next slot was free. */
#define LEAST_WAIT_S 1e-6

/* An iteration, or a part of one, while it runs. */
struct course {
    struct xb_mode_context *context;
    struct xb_line *line;
    uint32_t stages; /* bits, the host's included */
    uint64_t items;
    unsigned slots;
    bool in_a_row, has_host;
    /* How many queues copies have where they run without anything else, each stage of them one; 0:
     * not so. */
    unsigned copy_lanes;
    unsigned frees;   /* the stage behind which a slot's event is recorded, or NONE */
    uint64_t ahead;   /* how many items the host may be ahead of those that are freed */
    uint64_t behind;  /* how many items the device has left when one before them is waited for */
    uint64_t allowed; /* items that the host's threads may begin */
    /* While it is recorded: when each of the host's threads was done with its last turn, or the
     * first could begin. Each thread has its own. */
    double idle_since[XB_CREW_THREADS];
    atomic_bool failed;
    struct xb_error error; /* the first one; the crew's end makes it visible to this thread */
};

/* ---- what runs where ---- */

/* Fills in what the part that was taken, or the whole, comes to. */
static void chart(struct course *course, struct xb_mode_context *context)
{
    struct xb_line *line = context->line;
    const struct xb_line_plan *plan = &line->plan;
    const struct xb_line_part *part = &line->part;
    bool in_a_row = plan->in_a_row || part->in_a_row;
    uint32_t all = (1u << line->stage_count) - 1;
    *course = (struct course){.context = context,
                              .line = line,
                              .stages = part->stages != 0 ? part->stages & all : all,
                              .items = plan->items,
                              .slots = plan->slots,
                              .in_a_row = in_a_row,
                              .frees = NONE};
    if (part->items > 0)
        course->items = xb_lesser(part->items, plan->items);
    if (part->slots > 0)
        course->slots = (unsigned)xb_lesser(part->slots, plan->slots);
    course->has_host = line->crew != NULL && (course->stages & 1u) != 0;
    unsigned copies = 0;
    bool only_copies = !in_a_row;
    for (unsigned i = 0; i < line->stage_count; i++) {
        enum xb_engine engine = line->stages[i].engine;
        if ((course->stages & 1u << i) == 0)
            continue;
        copies += engine == XB_ENGINE_COPY;
        only_copies = only_copies && engine == XB_ENGINE_COPY;
        if (engine != XB_ENGINE_HOST && (in_a_row || i <= plan->frees))
            course->frees = i;
    }
    if (only_copies)
        course->copy_lanes = (unsigned)xb_lesser(copies, course->slots);
    /* Half of the full slots are the device's and half are ahead: it always has something enqueued
     * while this thread waits for a slot, and the host's threads have something to fill while it
     * waits for them. */
    course->ahead = in_a_row ? 1 : course->slots;
    course->behind = course->frees == NONE ? 0 : course->ahead > 1 ? course->ahead / 2 : 1;
}

/* ---- the device ---- */

/* Notes a failure, if it is the first. No further turn of the host begins. */
static void keep(struct course *course, const struct xb_error *error)
{
    if (!atomic_exchange(&course->failed, true))
        course->error = *error;
}

/* Enqueues all stages of an item that are the device's. */
static enum xb_status enqueue(struct course *course, uint64_t item, struct xb_error *error)
{
    struct xb_recorder *recorder = course->context->recorder;
    const struct xb_backend *backend = course->context->device->backend;
    struct xb_line *line = course->line;
    const struct xb_stage *stages = line->stages;
    unsigned copy = 0;
    for (unsigned i = 0; i < line->stage_count; i++) {
        if ((course->stages & 1u << i) == 0 || stages[i].engine == XB_ENGINE_HOST)
            continue;
        struct xb_turn turn = {.item = item, .slot = (unsigned)(item % course->slots)};
        unsigned queue = course->in_a_row ? 0 : turn.slot;
        /* Copies alone are in no order with each other, so that each stage has a slot of its own,
         * too. */
        if (course->copy_lanes > 0)
            queue = copy++ % course->copy_lanes;
        if (course->copy_lanes > 1)
            turn.slot = queue;
        turn.queue = course->context->queues[queue];
        xb_recorder_stage(recorder, stages[i].name, item);
        enum xb_status status = stages[i].run(course->context, &turn, error);
        xb_recorder_stage(recorder, NULL, 0);
        if (status == XB_OK && course->has_host && i == course->frees) {
            line->latest = line->freed[turn.slot];
            status = backend->event_record(line->latest, turn.queue, error);
        }
        XB_TRY(status);
    }
    return XB_OK;
}

/* ---- the host ---- */

/* Adds a span of the host's stage: what a thread did, or waited for. */
static void record_span(const struct course *course, unsigned thread, enum xb_span_kind kind,
                        const char *what, struct xb_timeline_span span)
{
    span.kind = kind;
    span.stage = course->line->stages[0].name;
    snprintf(span.name, sizeof span.name, "%s%s", kind == XB_SPAN_WAIT ? "wait: " : "", what);
    xb_recorder_thread(course->context->recorder, thread, &span);
}

/* Does one piece of an item, unless the iteration has failed or is to stop. */
static void take_turn(void *argument, uint64_t number, unsigned thread)
{
    struct course *course = argument;
    struct xb_mode_context *context = course->context;
    uint64_t pieces = course->line->plan.pieces;
    const struct xb_turn turn = {.item = number / pieces,
                                 .slot = (unsigned)(number / pieces % course->slots),
                                 .piece = number % pieces,
                                 .thread = thread};
    struct xb_error error;
    if (atomic_load(&course->failed))
        return;
    double begin = context->recorder != NULL ? xb_clock_now() : 0;
    enum xb_status status = XB_OK;
    if (context->run != NULL && xb_run_should_stop(context->run))
        status = XB_FAIL(&error, XB_ERR_STOPPED, "an iteration was not finished");
    else
        status = course->line->stages[0].run(context, &turn, &error);
    if (status != XB_OK)
        keep(course, &error);
    if (status != XB_OK || context->recorder == NULL)
        return;
    /* What its thread waited before it; thread 0 has calls and waits of its own there. */
    const struct xb_stage *stage = &course->line->stages[0];
    double *idle_since = &course->idle_since[thread];
    struct xb_timeline_span wait = {.item = turn.item, .begin = *idle_since, .end = begin};
    struct xb_timeline_span work = {.item = turn.item, .begin = begin, .end = xb_clock_now()};
    if (stage->bytes != NULL)
        work.bytes = stage->bytes(context, &turn);
    if (thread > 0 && begin - *idle_since > LEAST_WAIT_S)
        record_span(course, thread, XB_SPAN_WAIT, "slot", wait);
    record_span(course, thread, XB_SPAN_WORK, stage->name, work);
    *idle_since = work.end;
}

/* Has the host's threads begin items below `until`, each when its slot is free, which in a row is
 * when all of the item before is done. */
static enum xb_status allow(struct course *course, uint64_t until, struct xb_error *error)
{
    const struct xb_line *line = course->line;
    for (; course->allowed < until && course->allowed < course->items; course->allowed++) {
        struct xb_event *event =
            course->in_a_row ? line->latest : line->freed[course->allowed % course->slots];
        if (course->frees != NONE && event != NULL)
            XB_TRY(course->context->device->backend->event_wait(event, error));
        xb_crew_allow(line->crew, (course->allowed + 1) * line->plan.pieces);
    }
    return XB_OK;
}

/* Enqueues each item as soon as the host's threads are done with it. Those are let into slots that
 * the iteration before has left, too. A crew of one works on them here, and waits for nobody. */
static enum xb_status feed(struct course *course, struct xb_error *error)
{
    struct xb_crew *crew = course->line->crew;
    uint64_t pieces = course->line->plan.pieces;
    bool is_recorded = course->context->recorder != NULL && xb_crew_threads(crew) > 1;
    XB_TRY(allow(course, course->ahead, error));
    for (uint64_t i = 0; i < course->items; i++) {
        XB_TRY(allow(course, i + 1, error));
        double begin = is_recorded ? xb_clock_now() : 0;
        for (uint64_t piece = 0; piece < pieces; piece++)
            xb_crew_wait(crew, i * pieces + piece);
        if (is_recorded) { /* thread 0, which submits, waited until the item was there */
            struct xb_timeline_span wait = {.item = i, .begin = begin, .end = xb_clock_now()};
            record_span(course, 0, XB_SPAN_WAIT, course->line->stages[0].name, wait);
        }
        if (atomic_load(&course->failed))
            break;
        XB_TRY(enqueue(course, i, error));
        if (i + 1 > course->behind)
            XB_TRY(allow(course, i + 1 - course->behind + course->ahead, error));
    }
    return XB_OK;
}

static enum xb_status run_host(struct course *course, struct xb_error *error)
{
    struct xb_line *line = course->line;
    const struct xb_crew_job job = {
        .work = take_turn, .argument = course, .count = course->items * line->plan.pieces};
    if (course->context->recorder != NULL) {
        /* Note how many threads there are to work, and that all are idle. One that has others
         * beside it only submits. */
        unsigned threads = xb_crew_threads(course->line->crew);
        double now = xb_clock_now();
        for (unsigned i = 0; i < threads; i++)
            course->idle_since[i] = now;
        xb_recorder_workers(course->context->recorder, threads > 1 ? threads - 1 : 1);
    }
    XB_TRY(xb_crew_begin(line->crew, &job, error));
    enum xb_status status = feed(course, error);
    if (status != XB_OK)
        keep(course, error);
    xb_crew_end(line->crew);
    if (!atomic_load(&course->failed))
        return XB_OK;
    *error = course->error;
    return error->status;
}

enum xb_status xb_line_submit(struct xb_mode_context *context, struct xb_error *error)
{
    struct course course;
    chart(&course, context);
    enum xb_status status = course.has_host ? run_host(&course, error) : XB_OK;
    for (uint64_t i = 0; !course.has_host && status == XB_OK && i < course.items; i++)
        status = enqueue(&course, i, error);
    /* What is enqueued uses the slots. Behind a hold it has not begun: then the runner waits, once
     * it has released it. */
    if (status != XB_OK && !context->hold)
        status = xb_queues_wait(context->queues, context->queue_count, status, error);
    context->line->was_stopped = status == XB_ERR_STOPPED;
    return status;
}
