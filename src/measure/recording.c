/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* When a case has an iteration recorded, and what follows from it: the shares of the time in which
 * the stages of a line were at work. */
#include "measure.h"
#include "recorder.h"
#include "run.h"

#include <stdlib.h>

static bool has_stage_figures(const struct xb_mode *mode)
{
    for (const struct xb_stage *stage = mode->stages; stage != NULL && stage->name != NULL; stage++)
        if (stage->busy != NULL || stage->wait != NULL)
            return true;
    return false;
}

/* ---- shares of the time ---- */

static enum xb_status compute_shares(struct xb_result *result, const struct xb_timeline *timeline,
                                     struct xb_error *error)
{
    for (const struct xb_stage *stage = result->test.mode->stages; stage->name != NULL; stage++) {
        struct xb_shares shares;
        XB_TRY(xb_stage_shares(stage, timeline, &shares, error));
        if (stage->busy != NULL)
            xb_result_compute(result, stage->busy, shares.busy);
        if (stage->wait != NULL)
            xb_result_compute(result, stage->wait, shares.wait);
    }
    return XB_OK;
}

/* Without all operations there are no shares: what is missing would count as waiting. */
static void add_shares(struct xb_result *result, const struct xb_timeline *timeline)
{
    struct xb_error error;
    if (!has_stage_figures(result->test.mode))
        return;
    if (timeline->left_out > 0) {
        xb_result_warn(result,
                       "%llu operations were too many to record: nothing says which stage waited "
                       "(take larger chunks)",
                       (unsigned long long)timeline->left_out);
        return;
    }
    if (compute_shares(result, timeline, &error) != XB_OK)
        xb_result_warn(result, "nothing says which stage waited: %.180s", error.message);
}

/* Gives the result what was recorded, or frees it. */
static void keep(struct xb_result *result, struct xb_timeline *timeline)
{
    result->timeline = malloc(sizeof *result->timeline);
    if (result->timeline != NULL) {
        *result->timeline = *timeline;
        return;
    }
    xb_result_warn(result, "the timeline could not be kept: there is no memory for it");
    xb_timeline_free(timeline);
}

/* ---- when ---- */

/* An iteration that takes so much longer than the samples does not tell where their time went. */
#define MUCH_LONGER 1.2

enum xb_status xb_measure_record(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_timeline timeline;
    if (!measurement->run->keeps_timelines && !has_stage_figures(result->test.mode))
        return XB_OK;
    if (xb_measure_out_of_time(measurement))
        return XB_OK;
    enum xb_status status = xb_recorder_run(measurement, &timeline, error);
    if (status == XB_ERR_STOPPED) /* all samples are there: only this one more was cut */
        return XB_OK;
    if (status != XB_OK || timeline.tracks == NULL)
        return status;
    xb_result_detail_number(result, "recorded_time", timeline.seconds);
    xb_result_detail_number(result, "recorded_by_median",
                            timeline.seconds * result->bandwidth.median /
                                (double)result->bytes_moved);
    if (has_stage_figures(result->test.mode) &&
        timeline.seconds * result->bandwidth.median > MUCH_LONGER * (double)result->bytes_moved)
        xb_result_warn(result,
                       "the recorded iteration took %.2f times as long as the samples: the shares "
                       "busy_ and wait_ are of that one",
                       timeline.seconds * result->bandwidth.median / (double)result->bytes_moved);
    add_shares(result, &timeline);
    if (measurement->run->keeps_timelines)
        keep(result, &timeline);
    else
        xb_timeline_free(&timeline);
    return XB_OK;
}
