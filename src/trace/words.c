/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <stdbool.h>
#include <stdio.h>

static bool has_several_devices(const struct xb_timeline *timeline)
{
    const struct xb_track *first = NULL;
    for (size_t i = 0; i < timeline->track_count; i++) {
        const struct xb_track *track = &timeline->tracks[i];
        if (track->kind != XB_TRACK_QUEUE)
            continue;
        if (first != NULL && track->device != first->device)
            return true;
        first = track;
    }
    return false;
}

/* What the thread does besides submitting: the stage of its first turn; NULL for none. */
static const char *stage_of(const struct xb_timeline *timeline, size_t track)
{
    for (size_t i = 0; i < timeline->span_count; i++)
        if (timeline->spans[i].track == track && timeline->spans[i].kind == XB_SPAN_WORK)
            return timeline->spans[i].stage;
    return NULL;
}

const char *xb_track_name(const struct xb_timeline *timeline, size_t track, char *text, size_t size)
{
    const struct xb_track *own = &timeline->tracks[track];
    const char *stage = stage_of(timeline, track);
    if (own->kind == XB_TRACK_QUEUE && has_several_devices(timeline))
        snprintf(text, size, "device %u stream %u", own->device, own->number);
    else if (own->kind == XB_TRACK_QUEUE)
        snprintf(text, size, "stream %u", own->number);
    else if (own->number == 0)
        snprintf(text, size, "thread 0 (submits)");
    else if (stage != NULL)
        snprintf(text, size, "thread %u (%ss)", own->number, stage);
    else
        snprintf(text, size, "thread %u", own->number);
    return text;
}

double xb_track_busy(const struct xb_timeline *timeline, size_t track)
{
    double busy = 0;
    double covered = 0;
    bool has_any = false;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        if (span->track != track || span->kind == XB_SPAN_WAIT)
            continue;
        double begin = has_any && span->begin < covered ? covered : span->begin;
        busy += span->end > begin ? span->end - begin : 0;
        covered = !has_any || span->end > covered ? span->end : covered;
        has_any = true;
    }
    return busy;
}
