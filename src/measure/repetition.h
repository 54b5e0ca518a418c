/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_REPETITION_H
#define XFERBENCH_MEASURE_REPETITION_H

#include "measure.h"

/*
 * Makes one repetition of a case on every lane: restores what the last one moved, enqueues all,
 * releases all, then waits for all. *seconds is what the slowest lane took, all iterations
 * together. That is the time of all: lanes whose clock is of one device count from the earliest
 * start of any of them, and those of several devices start together, because their clocks cannot be
 * compared. Blocks. Each lane's timing is in lane->timing. With `held` no lane starts before all
 * are enqueued.
 */
XB_MUST_CHECK enum xb_status xb_measure_repeat(struct xb_measurement *measurement,
                                               xb_submit *submit, uint64_t iterations, bool held,
                                               double *seconds, struct xb_error *error);

/* Puts back what the last repetition moved, on every lane whose mode needs that. Blocks. */
XB_MUST_CHECK enum xb_status xb_measure_restore(const struct xb_measurement *measurement,
                                                struct xb_error *error);

/* What a lane's latest repetition took, by the clock that times this lane. */
double xb_lane_seconds(const struct xb_lane *lane);

/* How many operations an iteration puts behind the holds of the lane's devices: all lanes of a
 * device together, because what bounds them may be the device's. */
uint64_t xb_lane_operations(const struct xb_lane *lane);

/* Whether there is no time for another repetition, if that takes as long as the last one. */
bool xb_measure_out_of_time(const struct xb_measurement *measurement);

/* Notes that a signal or the deadline ends the case now. */
void xb_measure_note_cut(struct xb_measurement *measurement);

/* Tells the observer that there are so many samples, the last of which took `seconds`. */
void xb_measure_tell(const struct xb_measurement *measurement, size_t samples, double seconds);

#endif
