/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a queue: a kernel that spins on host memory until it is told to go on. */
#include "gpu.h"

/* How long a hold lasts that only tries whether holds work: enqueuing takes microseconds. */
#define TRIAL_SHARE 200 /* of the usual limit */
#define TRIAL_BYTES (UINT64_C(1) << 20)
#define TRIALS 2 /* one may meet a busy machine */

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
    struct xb_queue *first, *second;
    struct xb_event *start, *end;
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
        status = xb_gpu_queue_open(device, &trial->first, error);
    if (status == XB_OK)
        status = xb_gpu_queue_open(device, &trial->second, error);
    if (status == XB_OK)
        status = xb_gpu_event_open(device, &trial->start, error);
    if (status == XB_OK)
        status = xb_gpu_event_open(device, &trial->end, error);
    return status;
}

static void close_trial(struct trial *trial)
{
    xb_gpu_event_close(trial->end);
    xb_gpu_event_close(trial->start);
    xb_gpu_queue_close(trial->second);
    xb_gpu_queue_close(trial->first);
    xb_gpu_buffer_free(trial->there);
    xb_gpu_buffer_free(trial->here);
}

/* Enqueues what modes enqueue behind a hold, over two queues that wait for each other as the
 * sampler's do. */
static enum xb_status enqueue_all(const struct trial *trial, struct xb_error *error)
{
    const uint64_t quarter = TRIAL_BYTES / 4;
    struct xb_queue *first = trial->first;
    struct xb_queue *second = trial->second;
    struct xb_buffer *there = trial->there;
    enum xb_status status = xb_gpu_event_record(trial->start, first, error);
    if (status == XB_OK)
        status = xb_gpu_queue_wait_event(second, trial->start, error);
    if (status == XB_OK)
        status = xb_gpu_queue_copy(first, there, 0, trial->here, 0, quarter, error);
    if (status == XB_OK)
        status = xb_gpu_queue_copy(second, trial->here, quarter, there, quarter, quarter, error);
    if (status == XB_OK)
        status = xb_gpu_queue_kernel_copy(second, there, 2 * quarter, there, 3 * quarter, quarter,
                                          XB_ACCESS_SEQUENTIAL, error);
    if (status == XB_OK)
        status = xb_gpu_queue_compute(second, there, 2 * quarter, quarter, 1, error);
    if (status == XB_OK)
        status = xb_gpu_event_record(trial->end, second, error);
    if (status == XB_OK)
        status = xb_gpu_queue_wait_event(first, trial->end, error);
    return status;
}

static enum xb_status try_hold(struct xb_gpu_device *device, const struct trial *trial, bool held,
                               bool *works, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = device->runtime;
    enum xb_status status = held ? xb_gpu_queue_hold(trial->first, error) : XB_OK;
    if (status == XB_OK)
        status = enqueue_all(trial, error);
    xb_gpu_queue_release(trial->first);
    /* By the runtime's own call: that a hold gave way is what is asked here, not a failure. */
    if (status == XB_OK)
        status = XB_GPU(error, runtime, runtime->wait_for_stream(xb_gpu_stream(trial->first)),
                        "work on %s device %u failed", runtime->name, device->base.info.index);
    *works = !xb_gpu_hold_expired(xb_gpu_hold_of(trial->first));
    return status;
}

enum xb_status xb_gpu_hold_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    struct trial trial = {.here = NULL};
    unsigned long long limit = device->hold_limit;
    bool works = false;
    device->hold_limit = limit / TRIAL_SHARE;
    enum xb_status status = open_trial(&device->base, &trial, error);
    /* Unheld first: what a runtime makes ready at the first of its kind is no waiting. */
    if (status == XB_OK)
        status = try_hold(device, &trial, false, &works, error);
    works = false;
    for (int i = 0; status == XB_OK && !works && i < TRIALS; i++)
        status = try_hold(device, &trial, true, &works, error);
    if (status == XB_OK && !works)
        xb_device_withhold(&device->base.info, XB_CAP_HOLD,
                           "with this runtime, enqueuing behind a hold waits for its end");
    close_trial(&trial);
    device->hold_limit = limit;
    return status;
}
