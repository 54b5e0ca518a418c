/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "recorder.h"

#include "base/clock.h"
#include "measure.h"
#include "recorder_internal.h"
#include "xferbench/crew.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is noted ---- */

void xb_recorder_fail(struct xb_recorder *recorder, const struct xb_error *error)
{
    pthread_mutex_lock(&recorder->lock);
    if (!recorder->has_failed)
        recorder->failure = *error;
    recorder->has_failed = true;
    pthread_mutex_unlock(&recorder->lock);
}

/* The list with room for one more thing of that size, where `count` are; NULL: no memory. */
static void *grown(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return list;
    size_t more = *room == 0 ? 64 : 2 * *room;
    void *moved = realloc(list, more * size);
    if (moved != NULL)
        *room = more;
    return moved;
}

static void fail_memory(struct xb_recorder *recorder)
{
    struct xb_error error;
    (void)XB_FAIL(&error, XB_ERR_MEMORY, "no memory for more of it");
    xb_recorder_fail(recorder, &error);
}

void xb_recorder_add_call(struct xb_recorder *recorder, const struct xb_timeline_span *span)
{
    pthread_mutex_lock(&recorder->lock);
    bool is_full = recorder->call_count == XB_RECORDED_CALLS;
    void *calls = is_full ? NULL
                          : grown(recorder->calls, recorder->call_count, &recorder->call_room,
                                  sizeof *recorder->calls);
    if (calls != NULL) {
        recorder->calls = calls;
        recorder->calls[recorder->call_count++] = *span;
    }
    recorder->left_out += is_full;
    pthread_mutex_unlock(&recorder->lock);
    if (calls == NULL && !is_full)
        fail_memory(recorder);
}

/* The index of a queue, which is added where it is new; SIZE_MAX: no memory. */
static size_t find_queue(struct xb_recorder *recorder, struct xb_queue *queue)
{
    unsigned number = 0;
    size_t device = 0;
    for (size_t i = 0; i < recorder->queue_count; i++) {
        if (recorder->queues[i].queue == queue)
            return i;
        number += recorder->queues[i].queue->device == queue->device;
    }
    void *queues = grown(recorder->queues, recorder->queue_count, &recorder->queue_room,
                         sizeof *recorder->queues);
    if (queues == NULL)
        return SIZE_MAX;
    recorder->queues = queues;
    while (recorder->devices[device].device != queue->device)
        device++;
    recorder->queues[recorder->queue_count] =
        (struct xb_recorded_queue){.queue = queue, .device = device, .number = number};
    return recorder->queue_count++;
}

struct xb_recorded_operation *xb_recorder_add_operation(struct xb_recorder *recorder,
                                                        struct xb_queue *queue)
{
    if (recorder->has_failed)
        return NULL;
    if (recorder->operation_count == XB_RECORDED_OPERATIONS) {
        pthread_mutex_lock(&recorder->lock);
        recorder->left_out++;
        pthread_mutex_unlock(&recorder->lock);
        return NULL;
    }
    size_t index = find_queue(recorder, queue);
    void *operations = grown(recorder->operations, recorder->operation_count,
                             &recorder->operation_room, sizeof *recorder->operations);
    if (index == SIZE_MAX || operations == NULL) {
        recorder->operations = operations != NULL ? operations : recorder->operations;
        fail_memory(recorder);
        return NULL;
    }
    recorder->operations = operations;
    struct xb_recorded_operation *added = &recorder->operations[recorder->operation_count++];
    *added = (struct xb_recorded_operation){.queue = index};
    return added;
}

void xb_recorder_stage(struct xb_recorder *recorder, const char *stage, uint64_t item)
{
    if (recorder == NULL)
        return;
    recorder->stage = stage;
    recorder->item = item;
}

/* Lanes have a crew each, with the same numbers. */
void xb_recorder_workers(struct xb_recorder *recorder, unsigned workers)
{
    if (recorder != NULL && workers > recorder->workers)
        recorder->workers = workers;
}

void xb_recorder_thread(struct xb_recorder *recorder, unsigned thread,
                        const struct xb_timeline_span *span)
{
    if (recorder == NULL)
        return;
    struct xb_timeline_span own = *span;
    own.track = thread;
    xb_recorder_add_call(recorder, &own);
}

/* ---- beginning and end ---- */

static void add_device(struct xb_recorder *recorder, struct xb_queue *queue)
{
    for (size_t i = 0; i < recorder->device_count; i++)
        if (recorder->devices[i].device == queue->device)
            return;
    struct xb_recorded_device *added = &recorder->devices[recorder->device_count++];
    added->recorder = recorder;
    added->device = queue->device;
    added->real = queue->device->backend;
    added->queue = queue;
}

/* Lists the devices and queues of all lanes, in their order. */
static enum xb_status list_queues(struct xb_recorder *recorder,
                                  const struct xb_measurement *measurement, struct xb_error *error)
{
    size_t queues = 0;
    for (size_t i = 0; i < measurement->lane_count; i++)
        queues += measurement->lanes[i].context.queue_count;
    recorder->devices = calloc(queues + 1, sizeof *recorder->devices);
    if (recorder->devices == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for its devices");
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_mode_context *context = &measurement->lanes[i].context;
        for (size_t k = 0; k < context->queue_count; k++) {
            add_device(recorder, context->queues[k]);
            if (find_queue(recorder, context->queues[k]) == SIZE_MAX)
                return XB_FAIL(error, XB_ERR_MEMORY, "no memory for its queues");
        }
    }
    return XB_OK;
}

static enum xb_status align_all(struct xb_recorder *recorder, bool is_after, struct xb_error *error)
{
    for (size_t i = 0; i < recorder->device_count; i++) {
        struct xb_recorded_device *device = &recorder->devices[i];
        XB_TRY(xb_recorder_align(device, is_after ? &device->after : &device->before, error));
    }
    return XB_OK;
}

static void close_recorder(struct xb_recorder *recorder)
{
    for (size_t i = 0; i < recorder->operation_count; i++) {
        const struct xb_recorded_operation *operation = &recorder->operations[i];
        const struct xb_backend *real =
            recorder->devices[recorder->queues[operation->queue].device].real;
        real->event_close(operation->start);
        real->event_close(operation->stop);
    }
    for (size_t i = 0; i < recorder->device_count; i++) {
        recorder->devices[i].real->event_close(recorder->devices[i].base);
        recorder->devices[i].real->event_close(recorder->devices[i].probe);
    }
    free(recorder->operations);
    free(recorder->queues);
    free(recorder->calls);
    free(recorder->devices);
    pthread_mutex_destroy(&recorder->lock);
}

/* ---- the iteration ---- */

/* Has the lanes recorded from here on, or no more. */
static void attach(struct xb_recorder *recorder, struct xb_measurement *measurement, bool is_on)
{
    for (size_t i = 0; i < recorder->device_count; i++) {
        struct xb_recorded_device *device = &recorder->devices[i];
        if (is_on)
            xb_recorder_wrap(device);
        device->device->backend = is_on ? &device->table : device->real;
    }
    for (size_t i = 0; i < measurement->lane_count; i++)
        measurement->lanes[i].context.recorder = is_on ? recorder : NULL;
}

/* Waits for all queues, whatever `status` is, for nothing may be in flight afterwards. */
static enum xb_status wait_for_all(struct xb_recorder *recorder, enum xb_status status,
                                   struct xb_error *error)
{
    for (size_t i = 0; i < recorder->queue_count; i++) {
        struct xb_error later;
        struct xb_queue *queue = recorder->queues[i].queue;
        enum xb_status waited = queue->device->backend->queue_wait(queue, &later);
        if (status == XB_OK && waited != XB_OK) {
            status = waited;
            *error = later;
        }
    }
    return status;
}

static enum xb_status run_iteration(struct xb_recorder *recorder,
                                    struct xb_measurement *measurement, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    attach(recorder, measurement, true);
    recorder->begin = xb_clock_now();
    for (size_t i = 0; status == XB_OK && i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        status = context->test->mode->submit(context, error);
    }
    xb_recorder_stage(recorder, NULL, 0);
    status = wait_for_all(recorder, status, error);
    recorder->end = xb_clock_now();
    attach(recorder, measurement, false);
    return status;
}

/* ---- what was seen ---- */

/* The index of the track, which is added where it is new. There is room. */
static size_t find_track(struct xb_timeline *timeline, struct xb_track track)
{
    for (size_t i = 0; i < timeline->track_count; i++) {
        const struct xb_track *own = &timeline->tracks[i];
        if (own->kind == track.kind && own->device == track.device && own->number == track.number)
            return i;
    }
    timeline->tracks[timeline->track_count] = track;
    return timeline->track_count++;
}

/* Threads before queues, and each by its numbers. */
static int order_tracks(const void *a, const void *b)
{
    const struct xb_track *one = a;
    const struct xb_track *other = b;
    if (one->kind != other->kind)
        return one->kind == XB_TRACK_THREAD ? -1 : 1;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* By track, then by begin; what lies within another comes after it, and what took no time before
 * what begins then. */
static int order_spans(const void *a, const void *b)
{
    const struct xb_timeline_span *one = a;
    const struct xb_timeline_span *other = b;
    if (one->track != other->track)
        return one->track < other->track ? -1 : 1;
    if (one->begin < other->begin || one->begin > other->begin)
        return one->begin < other->begin ? -1 : 1;
    bool is_one_empty = one->end <= one->begin;
    bool is_other_empty = other->end <= other->begin;
    if (is_one_empty != is_other_empty)
        return is_one_empty ? -1 : 1;
    return one->end > other->end ? -1 : one->end < other->end;
}

static struct xb_track track_of_queue(const struct xb_recorder *recorder, size_t queue)
{
    const struct xb_recorded_queue *own = &recorder->queues[queue];
    return (struct xb_track){.kind = XB_TRACK_QUEUE,
                             .device = recorder->devices[own->device].device->info.index,
                             .number = own->number};
}

static void take_spans(const struct xb_recorder *recorder, struct xb_timeline *timeline)
{
    for (size_t i = 0; i < recorder->call_count; i++) {
        struct xb_timeline_span *span = &timeline->spans[timeline->span_count++];
        *span = recorder->calls[i];
        span->track = find_track(
            timeline, (struct xb_track){.kind = XB_TRACK_THREAD, .number = (unsigned)span->track});
        span->begin -= recorder->begin;
        span->end -= recorder->begin;
    }
    for (size_t i = 0; i < recorder->operation_count; i++) {
        struct xb_timeline_span *span = &timeline->spans[timeline->span_count++];
        *span = recorder->operations[i].span;
        span->track = find_track(timeline, track_of_queue(recorder, recorder->operations[i].queue));
    }
    qsort(timeline->spans, timeline->span_count, sizeof *timeline->spans, order_spans);
}

static enum xb_status make_timeline(struct xb_recorder *recorder, struct xb_timeline *timeline,
                                    struct xb_error *error)
{
    size_t spans = recorder->call_count + recorder->operation_count;
    XB_TRY(xb_recorder_resolve(recorder, &timeline->clock_error, error));
    timeline->seconds = recorder->end - recorder->begin;
    timeline->workers = recorder->workers;
    timeline->left_out = recorder->left_out;
    timeline->spans = calloc(spans + 1, sizeof *timeline->spans);
    timeline->tracks =
        calloc(XB_CREW_THREADS + recorder->queue_count + 1, sizeof *timeline->tracks);
    if (timeline->spans == NULL || timeline->tracks == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for its %zu spans", spans);
    for (size_t i = 0; i < recorder->call_count; i++)
        find_track(timeline, (struct xb_track){.kind = XB_TRACK_THREAD,
                                               .number = (unsigned)recorder->calls[i].track});
    for (size_t i = 0; i < recorder->operation_count; i++)
        find_track(timeline, track_of_queue(recorder, recorder->operations[i].queue));
    qsort(timeline->tracks, timeline->track_count, sizeof *timeline->tracks, order_tracks);
    take_spans(recorder, timeline);
    return XB_OK;
}

/* Aligns again after the iteration, and makes the timeline. */
static enum xb_status conclude(struct xb_recorder *recorder, struct xb_timeline *timeline,
                               struct xb_error *error)
{
    if (recorder->has_failed) {
        *error = recorder->failure;
        return error->status;
    }
    enum xb_status status = align_all(recorder, true, error);
    if (status == XB_OK)
        status = make_timeline(recorder, timeline, error);
    if (status != XB_OK)
        xb_timeline_free(timeline);
    return status;
}

enum xb_status xb_recorder_run(struct xb_measurement *measurement, struct xb_timeline *timeline,
                               struct xb_error *error)
{
    struct xb_recorder recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct xb_error why;
    *timeline = (struct xb_timeline){.tracks = NULL};
    enum xb_status status = xb_measure_restore(measurement, error);
    if (status != XB_OK)
        return status;
    enum xb_status recorded = list_queues(&recorder, measurement, &why);
    if (recorded == XB_OK)
        recorded = align_all(&recorder, false, &why);
    if (recorded == XB_OK) {
        status = run_iteration(&recorder, measurement, error);
        if (status == XB_OK)
            recorded = conclude(&recorder, timeline, &why);
    }
    close_recorder(&recorder);
    if (recorded != XB_OK)
        xb_result_warn(measurement->result, "the timeline could not be recorded: %.180s",
                       why.message);
    return status;
}
