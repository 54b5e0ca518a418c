/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"
#include "xferbench/figure.h"

#include <stdbool.h>
#include <stdint.h>

struct xb_mode_context;
struct xb_queue;

/* A line: items go through the stages of a mode one after the other, each in a slot, which is
 * memory for one item. The mode says what a stage does for an item. The runner drives them: which
 * item is in which slot, who waits for whom, and the host's threads. */

/* What a stage runs on. */
enum xb_engine { XB_ENGINE_HOST, XB_ENGINE_COPY, XB_ENGINE_COMPUTE };

/* One thing for a stage to do. */
struct xb_turn {
    uint64_t item;          /* from 0 */
    unsigned slot;          /* the item's */
    struct xb_queue *queue; /* where to enqueue it; NULL for the host */
    uint64_t piece;         /* of the host's stage: which piece of the item, from 0 */
    unsigned thread;        /* of the host's stage: below the line's number of threads */
};

/* Enqueues the work for an item on turn->queue and does not wait for it. A stage of the host does a
 * piece of it at once, on the calling thread, while other threads do others; a short item may lack
 * the piece: then there is nothing to do. Timed. A failure ends the iteration. */
typedef enum xb_status xb_stage_run(struct xb_mode_context *context, const struct xb_turn *turn,
                                    struct xb_error *error);

struct xb_stage {
    const char *name; /* "read": one word, by which figures and timelines call it */
    enum xb_engine engine;
    xb_stage_run *run;
    /* For the host's stage only: how many bytes a turn works on, for the timeline. */
    uint64_t (*bytes)(const struct xb_mode_context *context, const struct xb_turn *turn);
    /* Shares of the time, from the recorded iteration (timeline.h): in which it worked, and in
     * which it waited, between its first turn and its last, for data or a slot. The host's are the
     * mean of its threads. NULL: nobody asks. */
    const struct xb_figure *busy, *wait;
    /* The last stage's, from that iteration: the time of an item from the beginning of its first
     * stage to the end of this one, a sample an item. NULL: nobody asks. */
    const struct xb_figure *through;
};

#define XB_STAGES 8 /* of a mode, at most */

struct xb_line_plan {
    uint64_t items; /* 1 or more */
    unsigned slots; /* how many items are on the device at a time at most, and on the host */
    /* For the host's stage; 0 where there is none. */
    unsigned threads; /* XB_CREW_THREADS at most */
    uint64_t pieces;  /* that threads share an item in */
    unsigned frees;   /* which stage (its index) is done with what the host's wrote to the slot */
    /* One item after the other, each stage when the one before it is done, all on queue 0. */
    bool in_a_row;
};

/* A part of the line, to be run alone: for references, and to tune by. */
struct xb_line_part {
    uint32_t stages; /* bits: 1u << index; 0: all */
    uint64_t items;  /* the first of them; 0: all */
    unsigned slots;  /* 0: all */
    bool in_a_row;   /* also where the plan is not */
};

struct xb_line; /* the runner's own */

/* For setup, once the queues are set: makes context->line by that plan for the mode's stages. Where
 * items overlap, queue_count is the number of slots or more: a slot's queue keeps the stages of an
 * item in order. The runner closes it after teardown. XB_ERR_MEMORY or XB_ERR_RUNTIME. */
enum xb_status xb_line_open(struct xb_mode_context *context, const struct xb_line_plan *plan,
                            struct xb_error *error);

/* The mode's `submit`: enqueues one iteration of the line, or of the part that is set. Blocks where
 * the host has a stage. */
enum xb_status xb_line_submit(struct xb_mode_context *context, struct xb_error *error);

/* Sets what xb_line_submit runs from now on; NULL: all. In a part of copies alone each stage has a
 * queue of its own; kernels alone go to all queues in turn, as in the whole; the host's stage alone
 * finds each slot free as soon as it has filled it. */
void xb_line_take(struct xb_mode_context *context, const struct xb_line_part *part);

/* For setup: xb_mode_time of that part of the line. Leaves all of it to be run. */
enum xb_status xb_line_time(struct xb_mode_context *context, const struct xb_line_part *part,
                            double *seconds, struct xb_error *error);

/* For restore: whether xb_line_submit runs all stages now, be it in a row, and not one alone, as
 * for a reference. */
bool xb_line_is_whole(const struct xb_mode_context *context);

/* For verify, in a mode whose restore makes wrong what came before: whether the deadline or a
 * signal stopped the latest iteration. It is no sample, and left less than all. */
bool xb_line_was_stopped(const struct xb_mode_context *context);
