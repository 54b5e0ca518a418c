/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "xferbench/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* When a stage was at work, in seconds of all devices or of one thread. */
struct work {
    double busy;       /* without what overlaps */
    double begin, end; /* of the first and of the last */
    bool has_any;
};

static void add_work(struct work *work, const struct xb_timeline_span *span)
{
    if (!work->has_any)
        *work = (struct work){.begin = span->begin, .end = span->begin, .has_any = true};
    work->busy += fmax(span->end - fmax(span->begin, work->end), 0);
    work->end = fmax(work->end, span->end);
}

static double waited(const struct work *work)
{
    return work->end - work->begin - work->busy;
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

static enum xb_status share_devices(const struct xb_stage *stage,
                                    const struct xb_timeline *timeline, struct xb_shares *shares,
                                    struct xb_error *error)
{
    struct work work = {.has_any = false};
    size_t count = 0;
    const struct xb_timeline_span **list =
        calloc(timeline->span_count + 1, sizeof(struct xb_timeline_span *));
    if (list == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu spans", timeline->span_count);
    for (size_t i = 0; i < timeline->span_count; i++)
        if (xb_stage_does(stage, &timeline->spans[i]))
            list[count++] = &timeline->spans[i];
    qsort(list, count, sizeof(struct xb_timeline_span *), order_by_begin);
    for (size_t i = 0; i < count; i++)
        add_work(&work, list[i]);
    free(list);
    *shares = (struct xb_shares){.busy = work.busy / timeline->seconds,
                                 .wait = waited(&work) / timeline->seconds};
    return XB_OK;
}

/* The spans of a track are in order. */
static void share_threads(const struct xb_stage *stage, const struct xb_timeline *timeline,
                          struct xb_shares *shares)
{
    double whole = timeline->workers * timeline->seconds;
    *shares = (struct xb_shares){.busy = 0};
    if (timeline->workers == 0)
        return;
    for (size_t t = 0; t < timeline->track_count; t++) {
        struct work work = {.has_any = false};
        for (size_t i = 0; i < timeline->span_count; i++)
            if (timeline->spans[i].track == t && xb_stage_does(stage, &timeline->spans[i]))
                add_work(&work, &timeline->spans[i]);
        shares->busy += work.busy / whole;
        shares->wait += waited(&work) / whole;
    }
}

enum xb_status xb_stage_shares(const struct xb_stage *stage, const struct xb_timeline *timeline,
                               struct xb_shares *shares, struct xb_error *error)
{
    if (stage->engine != XB_ENGINE_HOST)
        return share_devices(stage, timeline, shares, error);
    share_threads(stage, timeline, shares);
    return XB_OK;
}
