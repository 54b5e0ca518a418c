/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/stage.h"
#include "measure/sample/measure.h"
#include "timeline.h"

/*
 * Records one iteration: stands between the mode and the backend, so that no mode knows of it. As
 * long as a recorder is there, calls of its devices' backends that submit or wait are noted, and
 * what they enqueue has an event on either side.
 */
struct xb_recorder;

/* Records one more iteration of all lanes, restored first, not held and not timed, and moves what
 * was seen to *timeline. Releases nothing of what the samples have. Fails where the iteration does;
 * where only recording fails it warns, and *timeline has no tracks. */
XB_MUST_CHECK enum xb_status xb_recorder_run(struct xb_measurement *measurement,
                                             struct xb_timeline *timeline, struct xb_error *error);

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
