/* SPDX-License-Identifier: Apache-2.0 */
#include "stopping.h"

/* The share of the median that half an interval may be wide, with as many samples as there are; 0
 * where they are not enough for any. */
static double narrow_enough(const struct xb_stopping *stopping, const struct xb_samples *samples)
{
    double seconds = 0;
    if (samples->count >= stopping->min_samples)
        return XB_STOP_HALF_WIDTH;
    for (size_t i = 0; i < samples->count; i++)
        seconds += samples->values[i] * (double)stopping->iterations;
    if (samples->count < stopping->sure_samples || seconds < XB_STOP_SURE_S)
        return 0;
    return seconds < XB_STOP_LONG_S ? XB_STOP_SURE_HALF_WIDTH : XB_STOP_HALF_WIDTH;
}

/* Looks at the interval if it is time to. */
static enum xb_status look(struct xb_stopping *stopping, const struct xb_samples *samples,
                           bool *converged, struct xb_error *error)
{
    struct xb_statistics statistics;
    double narrow = narrow_enough(stopping, samples);
    *converged = false;
    if (samples->count < stopping->next_look || narrow == 0)
        return XB_OK;
    XB_TRY(xb_statistics_compute(samples->values, samples->count, &statistics, error));
    /* At which count the interval is looked at next. */
    size_t next = samples->count + (samples->count + 9) / 10;
    bool passes = samples->count < stopping->min_samples && next > stopping->min_samples;
    stopping->next_look = passes ? stopping->min_samples : next;
    *converged = (statistics.ci95_high - statistics.ci95_low) / 2.0 <= narrow * statistics.median;
    return XB_OK;
}

enum xb_status xb_stopping_decide(struct xb_stopping *stopping, const struct xb_samples *samples,
                                  double elapsed, enum xb_stop_reason *reason,
                                  struct xb_error *error)
{
    if (stopping->fixed_samples > 0) {
        *reason = samples->count >= stopping->fixed_samples ? XB_STOP_FIXED : XB_STOP_NOT_YET;
        return XB_OK;
    }
    bool converged;
    XB_TRY(look(stopping, samples, &converged, error));
    if (converged)
        *reason = XB_STOP_CONVERGED;
    else if (elapsed >= stopping->time_limit && samples->count >= XB_STOP_LEAST_SAMPLES)
        *reason = XB_STOP_TIME_LIMIT;
    else
        *reason = XB_STOP_NOT_YET;
    return XB_OK;
}

bool xb_times_agree(double a, double b)
{
    double least = a < b ? a : b;
    double most = a < b ? b : a;
    return most <= least * (1.0 + XB_WARM_SPREAD);
}

bool xb_samples_agree(const struct xb_samples *samples)
{
    if (samples->count < XB_WARM_SAMPLES)
        return false;
    const double *last = samples->values + samples->count - XB_WARM_SAMPLES;
    double least = last[0];
    double most = last[0];
    for (size_t i = 1; i < XB_WARM_SAMPLES; i++) {
        least = last[i] < least ? last[i] : least;
        most = last[i] > most ? last[i] : most;
    }
    return xb_times_agree(least, most);
}
