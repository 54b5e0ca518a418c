/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_OPENING_H
#define XFERBENCH_MEASURE_OPENING_H

#include "run.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A device of a run on its way to being open. Creating its context takes a tenth of a second, so
 * several devices are opened at the same time, each in a thread of its own, which is bound near its
 * device: the driver's own memory for the device then lies there too.
 */
struct xb_opening {
    const struct xb_run *run;
    size_t position; /* in run->devices */
    /* ---- what came of it, once xb_opening_wait has returned ---- */
    struct xb_device *device; /* NULL where it failed, and before */
    enum xb_status status;
    struct xb_error error;
    /* ---- private ---- */
    bool has_thread;
    pthread_t thread;
    atomic_bool done;
};

/* Begins to open the `wanted` ones of `count` devices. A single one is opened only when somebody
 * waits for it, unless `also_one`. Set `run` and `position` of all before; zero the rest. The run's
 * topology must be open and its devices described; do not change them until you have waited for
 * all. */
void xb_openings_begin(struct xb_opening *openings, const bool *wanted, size_t count,
                       bool also_one);

/*
 * Waits until all that have begun are done, so that nothing is measured while a context is created.
 * Gives up after 10 seconds, or when the run should stop: a device that hangs must not cost the
 * rows of the others. Whoever needs that one waits for it.
 */
void xb_openings_settle(struct xb_opening *openings, size_t count);

/* Waits until the device is open or has failed; opens it if nobody has begun to. Blocks, as
 * device_open does. A device that failed is not tried again. */
void xb_opening_wait(struct xb_opening *opening);

/* Waits for the device if somebody has begun to open it, and closes it. */
void xb_opening_close(struct xb_opening *opening);

#endif
