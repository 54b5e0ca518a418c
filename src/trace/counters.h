/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TRACE_COUNTERS_H
#define XFERBENCH_TRACE_COUNTERS_H

#include "xferbench/timeline.h"

/* What a counter is from then on. */
typedef void xb_counter_put(void *argument, const char *name, double seconds, double value);

/*
 * Puts what follows from the spans, in the order of time: "GB/s HtoD" and the like of the copies
 * that are under way, "GB/s read" of the turns of a host's stage `read`, each taken to be even over
 * its span, and "items under way" by items of a
 * line, each from its first span to the end of its last. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_counters_put(const struct xb_timeline *timeline,
                                             xb_counter_put *put, void *argument,
                                             struct xb_error *error);

#endif
