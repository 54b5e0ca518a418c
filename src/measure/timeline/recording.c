/* SPDX-License-Identifier: Apache-2.0 */
/* When a case has an iteration recorded, and what follows from it: the shares of the time in which
 * the stages of a line were at work. */
#include "measure/sample/measure.h"

#include "base/memory.h"
#include "measure/engine/stage.h"
#include "timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_stage_figures(const struct xb_mode *mode)
{
    for (const struct xb_stage *stage = mode->stages; stage != NULL && stage->name != NULL; stage++)
        if (stage->busy != NULL || stage->wait != NULL || stage->through != NULL)
            return true;
    return false;
}

/* ---- shares of the time ---- */

void xb_busy_time_add(struct xb_busy_time *work, const struct xb_timeline_span *span)
{
    if (!work->has_any)
        *work = (struct xb_busy_time){.begin = span->begin, .end = span->begin, .has_any = true};
    work->busy += fmax(span->end - fmax(span->begin, work->end), 0);
    work->end = fmax(work->end, span->end);
}

bool xb_stage_does(const struct xb_stage *stage, const struct xb_timeline_span *span)
{
    bool is_on_host = span->kind == XB_SPAN_WORK;
    bool is_on_device = span->kind == XB_SPAN_COPY || span->kind == XB_SPAN_KERNEL;
    return span->stage != NULL && strcmp(span->stage, stage->name) == 0 &&
           (stage->engine == XB_ENGINE_HOST ? is_on_host : is_on_device);
}

static int order_by_begin(const void *a, const void *b)
{
    const struct xb_timeline_span *one = *(const struct xb_timeline_span *const *)a;
    const struct xb_timeline_span *other = *(const struct xb_timeline_span *const *)b;
    return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* The seconds between the first span and the last in which none was under way. */
static double waited(const struct xb_busy_time *work)
{
    return work->end - work->begin - work->busy;
}

static struct xb_shares share_devices(const struct xb_stage *stage,
                                      const struct xb_timeline *timeline)
{
    struct xb_busy_time work = {.has_any = false};
    size_t count = 0;
    const struct xb_timeline_span **list =
        xb_new(timeline->span_count, sizeof(const struct xb_timeline_span *));
    for (size_t i = 0; i < timeline->span_count; i++)
        if (xb_stage_does(stage, &timeline->spans[i]))
            list[count++] = &timeline->spans[i];
    qsort(list, count, sizeof(const struct xb_timeline_span *), order_by_begin);
    for (size_t i = 0; i < count; i++)
        xb_busy_time_add(&work, list[i]);
    free(list);
    return (struct xb_shares){.busy = work.busy / timeline->seconds,
                              .wait = waited(&work) / timeline->seconds};
}

struct xb_shares xb_stage_shares(const struct xb_stage *stage, const struct xb_timeline *timeline)
{
    double whole = timeline->workers * timeline->seconds;
    struct xb_shares shares = {.busy = 0};
    if (stage->engine != XB_ENGINE_HOST)
        return share_devices(stage, timeline);
    for (size_t t = 0; timeline->workers > 0 && t < timeline->track_count; t++) {
        struct xb_busy_time work = {.has_any = false}; /* the spans of a track are in order */
        for (size_t i = 0; i < timeline->span_count; i++)
            if (timeline->spans[i].track == t && xb_stage_does(stage, &timeline->spans[i]))
                xb_busy_time_add(&work, &timeline->spans[i]);
        shares.busy += work.busy / whole;
        shares.wait += waited(&work) / whole;
    }
    return shares;
}

/* Adds how long each item was under way, up to the end of that stage. */
static enum xb_status add_items(struct xb_result *result, const struct xb_stage *last,
                                const struct xb_timeline *timeline, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    uint64_t items = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        if (xb_stage_does(last, &timeline->spans[i]) && timeline->spans[i].item >= items)
            items = timeline->spans[i].item + 1;
    double *times = xb_new(2 * items, sizeof *times); /* of each its beginning and its end */
    for (uint64_t i = 0; i < items; i++)
        times[2 * i] = INFINITY;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        for (const struct xb_stage *stage = result->test.mode->stages; stage <= last; stage++)
            if (xb_stage_does(stage, span) && span->item < items) {
                double *own = &times[2 * span->item];
                own[0] = fmin(own[0], span->begin);
                own[1] = stage == last ? fmax(own[1], span->end) : own[1];
            }
    }
    for (uint64_t i = 0; status == XB_OK && i < items; i++)
        if (times[2 * i + 1] > times[2 * i])
            status =
                xb_result_sample(result, last->through, times[2 * i + 1] - times[2 * i], error);
    free(times);
    return status;
}

/* Without all operations there are no shares: what is missing would count as waiting. */
static enum xb_status add_stage_figures(struct xb_result *result,
                                        const struct xb_timeline *timeline, struct xb_error *error)
{
    if (!has_stage_figures(result->test.mode))
        return XB_OK;
    if (timeline->left_out > 0) {
        xb_result_warn(result,
                       "%llu operations were too many to record: nothing says which stage waited "
                       "(take larger chunks)",
                       (unsigned long long)timeline->left_out);
        return XB_OK;
    }
    for (const struct xb_stage *stage = result->test.mode->stages; stage->name != NULL; stage++) {
        struct xb_shares shares = xb_stage_shares(stage, timeline);
        if (stage->busy != NULL)
            xb_result_compute(result, stage->busy, shares.busy);
        if (stage->wait != NULL)
            xb_result_compute(result, stage->wait, shares.wait);
        if (stage->through != NULL)
            XB_TRY(add_items(result, stage, timeline, error));
    }
    return XB_OK;
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
    double by_median = timeline.seconds * result->bandwidth.median / (double)result->bytes_moved;
    xb_result_detail_number(result, "recorded_time", timeline.seconds);
    xb_result_detail_number(result, "recorded_by_median", by_median);
    if (has_stage_figures(result->test.mode) && by_median > MUCH_LONGER)
        xb_result_warn(result,
                       "the recorded iteration took %.2f times as long as the samples: the shares "
                       "busy_ and wait_, and batch_time, are of that one",
                       by_median);
    status = add_stage_figures(result, &timeline, error);
    if (measurement->run->keeps_timelines) {
        result->timeline = xb_new(1, sizeof *result->timeline);
        *result->timeline = timeline;
    } else {
        xb_timeline_free(&timeline);
    }
    return status;
}
