/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* The rule: stop when half the interval's width is at most 0.5 % of the median, with 20 samples or
 * more. Fewer are enough for that if they lasted 150 ms together, and for 0.1 % if they lasted 50
 * ms. Else stop at the time limit. */
#define XB_STOP_MIN_SAMPLES 20u
#define XB_STOP_HALF_WIDTH 0.005
#define XB_STOP_LONG_S 0.15
#define XB_STOP_SURE_HALF_WIDTH 0.001
#define XB_STOP_SURE_S 0.05
/* Neither stops sooner than after this many samples: fewer have no interval. */
#define XB_STOP_LEAST_SAMPLES 6u

/* A 99th percentile needs more: of 1000 samples 10 lie beyond it. */
#define XB_STOP_LATENCY_SAMPLES 1000u

/* Zero-initialise, then set the first five. */
struct xb_stopping {
    uint64_t iterations;    /* in one sample, whose time is that of one of them */
    uint64_t fixed_samples; /* 0: by the rule */
    double time_limit;      /* seconds */
    /* Samples, XB_STOP_MIN_SAMPLES or more, before an interval of XB_STOP_HALF_WIDTH is narrow
     * enough, however short they are. */
    size_t min_samples;
    /* Samples, XB_STOP_LEAST_SAMPLES or more, where they lasted XB_STOP_LONG_S or the interval is
     * narrower; min_samples for cases of which fewer do not say enough. */
    size_t sure_samples;
    size_t next_look; /* private: the sample count at which the interval is looked at next */
};

/* Decides whether to stop after these samples, `elapsed` seconds after the first began. Looks at
 * the interval when the count has grown by a tenth, and at min_samples: each look is a chance to
 * stop on a lucky run, and costs a sort. */
enum xb_status xb_stopping_decide(struct xb_stopping *stopping, const struct xb_samples *samples,
                                  double elapsed, enum xb_stop_reason *reason,
                                  struct xb_error *error);

/* Warm-up is over when the last XB_WARM_SAMPLES times lie within XB_WARM_SPREAD of their least. */
#define XB_WARM_SAMPLES 3u
#define XB_WARM_SPREAD 0.01
bool xb_samples_agree(const struct xb_samples *samples);

/* Whether two times lie within XB_WARM_SPREAD of the lesser: then a third would tell no more. */
bool xb_times_agree(double a, double b);
