/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/stage.h"
#include "xferbench/mode.h"
#include "xferbench/workspace.h"

/* Times one repetition of a case at a time, by the device's clock and by the host's. */
struct xb_sampler {
    struct xb_mode_context *context;
    struct xb_event *start, *stop;
    struct {
        struct xb_event *join, *start; /* start: where there are spans */
    } * queues;
    struct xb_event *span_stops[XB_SPANS];
    double begin; /* of the repetition in flight, by the host's clock */
    bool held;
};

/* What one repetition of `iterations` iterations took, in seconds, all of them together. */
struct xb_timing {
    double device; /* between the events around it */
    double submit; /* host: until the last submit returned */
    double wall;   /* host: from the first submit until the data was there */
    /* One for each of the context's spans: from the first of its queues' starts to the end of all.
     */
    double spans[XB_SPANS];
};

/* Waits for all of these, whatever `status` is, because nothing may be in flight when buffers are
 * freed. Returns `status`, or the first failure of waiting if there was none before. */
enum xb_status xb_queues_wait(struct xb_queue *const *queues, size_t count, enum xb_status status,
                              struct xb_error *error);

/* Opens the events for a context that its mode has set up. */
enum xb_status xb_sampler_open(struct xb_sampler *sampler, struct xb_mode_context *context,
                               struct xb_error *error);
void xb_sampler_close(struct xb_sampler *sampler);

/*
 * Submits `iterations` times, between events. With `held` the queues stand still until
 * xb_sampler_release, so that enqueuing is no part of timing->device; timing->wall then means
 * nothing. Do not hold what may block in submit: it would wait for ever. Call xb_sampler_finish
 * after a failure too.
 */
enum xb_status xb_sampler_begin(struct xb_sampler *sampler, xb_submit *submit, uint64_t iterations,
                                bool held, struct xb_timing *timing, struct xb_error *error);
void xb_sampler_release(struct xb_sampler *sampler);
/* Waits for every queue as xb_queues_wait does; `status` is what xb_sampler_begin returned. Then
 * reads the clocks. */
enum xb_status xb_sampler_finish(struct xb_sampler *sampler, enum xb_status status,
                                 struct xb_timing *timing, struct xb_error *error);

/* Begins, releases and finishes one repetition. */
enum xb_status xb_sampler_repeat(struct xb_sampler *sampler, xb_submit *submit, uint64_t iterations,
                                 bool held, struct xb_timing *timing, struct xb_error *error);

/* Repeats one iteration without any event: fills only timing->submit and timing->wall. */
enum xb_status xb_sampler_repeat_bare(struct xb_sampler *sampler, xb_submit *submit,
                                      struct xb_timing *timing, struct xb_error *error);

/* The stages of a mode over slots, from setup to teardown; line.c runs them. */
struct xb_line {
    struct xb_line_plan plan;
    const struct xb_stage *stages;
    unsigned stage_count;
    struct xb_line_part part;
    bool was_stopped;        /* the latest iteration, in the middle */
    struct xb_crew *crew;    /* NULL where no stage is the host's, and so is the next */
    struct xb_event **freed; /* one a slot: the host may write to it again */
    struct xb_event *latest; /* of these the one recorded last; NULL: none yet */
};

/* Closes context->line, of which nothing is under way, and sets it to NULL. Does nothing where
 * there is none. */
void xb_line_close(struct xb_mode_context *context);
