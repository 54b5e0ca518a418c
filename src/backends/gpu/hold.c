/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a queue: a kernel that spins on host memory until it is told to go on. */
#include "gpu.h"

#include <stdio.h>

/* How long a hold lasts that only tries whether holds work: enqueuing takes microseconds. */
#define TRIAL_SHARE 200 /* of the usual limit */
#define TRIAL_BYTES (UINT64_C(1) << 20)

enum xb_status xb_gpu_hold_open(const struct xb_device *device, struct xb_gpu_hold *hold,
                                struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(device)->runtime;
    enum xb_status status =
        XB_GPU(error, runtime,
               runtime->allocate_host((void **)&hold->gate, sizeof *hold->gate, XB_MEMORY_MAPPED),
               "no mapped host memory to hold a stream with");
    if (status != XB_OK)
        return status;
    *hold->gate = (struct xb_gpu_gate){0};
    return XB_GPU(error, runtime, runtime->device_pointer((void **)&hold->device_gate, hold->gate),
                  "cannot map the memory to hold a stream with");
}

void xb_gpu_hold_close(const struct xb_device *device, struct xb_gpu_hold *hold)
{
    if (hold->gate != NULL)
        (void)xb_gpu_device_of(device)->runtime->release_host(hold->gate);
}

bool xb_gpu_hold_expired(const struct xb_gpu_hold *hold)
{
    return hold->gate != NULL &&
           __atomic_exchange_n(&hold->gate->expired, 0u, __ATOMIC_ACQ_REL) != 0;
}

enum xb_status xb_gpu_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    struct xb_gpu_hold *hold = xb_gpu_hold_of(queue);
    if (hold->gate == NULL)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED, "queues of device %u cannot be held: %s",
                       queue->device->info.index,
                       xb_device_lacks(&queue->device->info, XB_CAP_HOLD));
    enum xb_status status = xb_gpu_launch_hold(queue, hold->device_gate, hold->count + 1, error);
    if (status == XB_OK)
        hold->count++;
    return status;
}

void xb_gpu_queue_release(struct xb_queue *queue)
{
    const struct xb_gpu_hold *hold = xb_gpu_hold_of(queue);
    if (hold->gate != NULL)
        __atomic_store_n(&hold->gate->released, hold->count, __ATOMIC_RELEASE);
}

/* ---- whether holds work ---- */

struct trial {
    struct xb_buffer *here, *there;
    struct xb_queue *queue;
    struct xb_event *event;
};

static enum xb_status open_trial(struct xb_device *device, struct trial *trial,
                                 struct xb_error *error)
{
    enum xb_status status =
        xb_gpu_buffer_allocate(device, XB_MEMORY_PINNED, TRIAL_BYTES, &trial->here, error);
    if (status == XB_OK)
        status =
            xb_gpu_buffer_allocate(device, XB_MEMORY_DEVICE, TRIAL_BYTES, &trial->there, error);
    if (status == XB_OK)
        status = xb_gpu_queue_open(device, &trial->queue, error);
    if (status == XB_OK)
        status = xb_gpu_event_open(device, &trial->event, error);
    return status;
}

static void close_trial(struct trial *trial)
{
    xb_gpu_event_close(trial->event);
    xb_gpu_queue_close(trial->queue);
    xb_gpu_buffer_free(trial->there);
    xb_gpu_buffer_free(trial->here);
}

/* One of each thing that modes enqueue behind a hold; then the release. */
static enum xb_status try_hold(const struct trial *trial, struct xb_error *error)
{
    struct xb_queue *queue = trial->queue;
    enum xb_status status = xb_gpu_queue_hold(queue, error);
    if (status == XB_OK)
        status = xb_gpu_event_record(trial->event, queue, error);
    if (status == XB_OK)
        status = xb_gpu_queue_copy(queue, trial->there, 0, trial->here, 0, TRIAL_BYTES, error);
    if (status == XB_OK)
        status = xb_gpu_queue_kernel_copy(queue, trial->there, 0, trial->there, TRIAL_BYTES / 2,
                                          TRIAL_BYTES / 2, XB_ACCESS_SEQUENTIAL, error);
    if (status == XB_OK)
        status = xb_gpu_queue_copy(queue, trial->here, 0, trial->there, 0, TRIAL_BYTES, error);
    if (status == XB_OK)
        status = xb_gpu_queue_wait_event(queue, trial->event, error);
    xb_gpu_queue_release(queue);
    return status;
}

enum xb_status xb_gpu_hold_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = device->runtime;
    struct xb_device_info *info = &device->base.info;
    struct trial trial = {NULL, NULL, NULL, NULL};
    unsigned long long limit = device->hold_limit;
    device->hold_limit = limit / TRIAL_SHARE;
    enum xb_status status = open_trial(&device->base, &trial, error);
    if (status == XB_OK)
        status = try_hold(&trial, error);
    if (status == XB_OK)
        status = XB_GPU(error, runtime, runtime->wait_for_stream(xb_gpu_stream(trial.queue)),
                        "work on %s device %u failed", runtime->name, info->index);
    if (status == XB_OK && xb_gpu_hold_expired(xb_gpu_hold_of(trial.queue)))
        xb_device_withhold(info, XB_CAP_HOLD,
                           "with this runtime, enqueuing behind a hold waits for its end");
    close_trial(&trial);
    device->hold_limit = limit;
    return status;
}
