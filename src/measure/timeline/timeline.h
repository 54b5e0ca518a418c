/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stddef.h>
#include <stdint.h>

/* What happened when in one iteration of a case, recorded besides the timed ones. Times are in
 * seconds since it began, by the host's clock; a device's are brought to that. */

enum xb_track_kind {
    XB_TRACK_THREAD, /* of the host */
    XB_TRACK_QUEUE   /* of a device: CUDA calls it a stream */
};

/* What spans stand on. Two spans of a track lie apart or one within the other. */
struct xb_track {
    enum xb_track_kind kind;
    unsigned device; /* of a queue: the device's index */
    unsigned number; /* among those of its kind, and of its device; thread 0 is the one that submits
                      */
};

enum xb_span_kind {
    XB_SPAN_WORK, /* on a thread: a turn of a stage */
    XB_SPAN_CALL, /* on a thread: a call that submits work, until it returned */
    XB_SPAN_WAIT, /* on a thread: it waits; on a queue: for an event */
    XB_SPAN_COPY, /* on a queue */
    XB_SPAN_KERNEL
};

struct xb_timeline_span {
    size_t track; /* index */
    enum xb_span_kind kind;
    char name[48];     /* as profilers say: "Memcpy HtoD (Pinned -> Device)" */
    const char *stage; /* the name of the mode's stage; NULL: none */
    uint64_t item;     /* of the stage; meaningless without one */
    double begin, end;
    uint64_t bytes; /* 0 where it moves none */
    /* The number, from 1, that a call and what it submitted share; 0: none. */
    uint64_t flow;
};

struct xb_timeline {
    struct xb_track *tracks;
    size_t track_count;
    struct xb_timeline_span *spans; /* by track, then by begin */
    size_t span_count;
    unsigned workers;  /* threads that the host's stage has, idle ones included; 0: no such stage */
    uint64_t left_out; /* operations for which there was no room */
    double seconds;    /* that the iteration took, from its first call until all was done */
    double clock_error; /* by how much times of a device may be off against the host's, at most; the
                           largest of any device */
};

void xb_timeline_free(struct xb_timeline *timeline);

struct xb_recorder;

/* ---- for who drives stages: context->recorder, NULL where nothing is recorded ---- */

/* Names what the calling thread enqueues on those queues from now on; a stage of NULL ends that.
 * Accepts a recorder of NULL. */
void xb_recorder_stage(struct xb_recorder *recorder, const char *stage, uint64_t item);

/* Says how many threads the host's stage has, idle ones included. Accepts a recorder of NULL. */
void xb_recorder_workers(struct xb_recorder *recorder, unsigned workers);

/* Adds a span of one of the crew's threads: `begin` and `end` by src/base/clock.h. May be called by
 * several threads, each with its own number. Accepts a recorder of NULL. */
void xb_recorder_thread(struct xb_recorder *recorder, unsigned thread,
                        const struct xb_timeline_span *span);
