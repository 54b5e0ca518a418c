/* SPDX-License-Identifier: Apache-2.0 */
/* Holds a queue with a kernel that spins on host memory until the host releases it. */
#include "gpu.h"

/* A trial hold gives up after this fraction of the usual limit, because enqueuing takes only
 * microseconds. */
#define TRIAL_DIVISOR 200
#define TRIAL_BYTES (UINT64_C(1) << 20)
#define TRIALS 2 /* the first may fail because the machine is busy */

enum xb_status xb_gpu_hold_open(const struct xb_device *device, struct xb_gpu_hold *hold,
                                struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(device)->runtime;
    XB_TRY(
        XB_GPU(error, runtime,
               runtime->allocate_host((void **)&hold->gate, sizeof *hold->gate, XB_MEMORY_MAPPED),
               "no mapped host memory to hold a stream with"));
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
    XB_TRY(xb_gpu_launch_hold(queue, hold->device_gate, hold->count + 1, error));
    hold->count++;
    return XB_OK;
}

void xb_gpu_queue_release(struct xb_queue *queue)
{
    const struct xb_gpu_hold *hold = xb_gpu_hold_of(queue);
    if (hold->gate != NULL)
        __atomic_store_n(&hold->gate->released, hold->count, __ATOMIC_RELEASE);
}

/* ---- proving that holds work ---- */

struct trial {
    struct xb_buffer *pinned, *memory; /* the host's and the device's */
    struct xb_queue *first, *second;
    struct xb_event *start, *end;
};

/* Call close_trial even if this fails. */
static enum xb_status open_trial(struct xb_device *device, struct trial *trial,
                                 struct xb_error *error)
{
    XB_TRY(xb_gpu_buffer_allocate(device, XB_MEMORY_PINNED, TRIAL_BYTES, &trial->pinned, error));
    XB_TRY(xb_gpu_buffer_allocate(device, XB_MEMORY_DEVICE, TRIAL_BYTES, &trial->memory, error));
    XB_TRY(xb_gpu_queue_open(device, &trial->first, error));
    XB_TRY(xb_gpu_queue_open(device, &trial->second, error));
    XB_TRY(xb_gpu_event_open(device, &trial->start, error));
    return xb_gpu_event_open(device, &trial->end, error);
}

static void close_trial(struct trial *trial)
{
    xb_gpu_event_close(trial->end);
    xb_gpu_event_close(trial->start);
    xb_gpu_queue_close(trial->second);
    xb_gpu_queue_close(trial->first);
    xb_gpu_buffer_free(trial->memory);
    xb_gpu_buffer_free(trial->pinned);
}

/* Copies and computes on the second queue, as modes do behind a hold. */
static enum xb_status enqueue_second(const struct trial *trial, struct xb_error *error)
{
    const uint64_t quarter = TRIAL_BYTES / 4;
    struct xb_queue *second = trial->second;
    struct xb_buffer *memory = trial->memory;
    XB_TRY(xb_gpu_queue_copy(second, trial->pinned, quarter, memory, quarter, quarter, error));
    XB_TRY(xb_gpu_queue_kernel_copy(second, memory, 2 * quarter, memory, 3 * quarter, quarter,
                                    XB_ACCESS_SEQUENTIAL, 1, error));
    XB_TRY(xb_gpu_queue_compute(second, memory, 2 * quarter, quarter, 1, error));
    return xb_gpu_queue_copy(second, memory, 3 * quarter, memory, 2 * quarter, quarter, error);
}

/* Enqueues on two queues that wait for each other, as the sampler's do. */
static enum xb_status enqueue_both(const struct trial *trial, struct xb_error *error)
{
    const uint64_t quarter = TRIAL_BYTES / 4;
    XB_TRY(xb_gpu_event_record(trial->start, trial->first, error));
    XB_TRY(xb_gpu_queue_wait_event(trial->second, trial->start, error));
    XB_TRY(xb_gpu_queue_copy(trial->first, trial->memory, 0, trial->pinned, 0, quarter, error));
    XB_TRY(enqueue_second(trial, error));
    XB_TRY(xb_gpu_event_record(trial->end, trial->second, error));
    return xb_gpu_queue_wait_event(trial->first, trial->end, error);
}

static enum xb_status hold_and_enqueue(const struct trial *trial, bool held, struct xb_error *error)
{
    if (held) {
        XB_TRY(xb_gpu_queue_hold(trial->first, error));
    }
    return enqueue_both(trial, error);
}

static enum xb_status try_hold(struct xb_gpu_device *device, const struct trial *trial, bool held,
                               bool *works, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = device->runtime;
    enum xb_status status = hold_and_enqueue(trial, held, error);
    xb_gpu_queue_release(trial->first);
    if (status != XB_OK)
        return status;
    /* Call the runtime directly: for xb_gpu_queue_wait a hold that gave up is a failure, but here
     * it is an answer. */
    XB_TRY(XB_GPU(error, runtime, runtime->wait_for_stream(xb_gpu_stream(trial->first)),
                  "work on %s device %u failed", runtime->name, device->base.info.index));
    *works = !xb_gpu_hold_expired(xb_gpu_hold_of(trial->first));
    return XB_OK;
}

static enum xb_status run_trials(struct xb_gpu_device *device, struct trial *trial, bool *works,
                                 struct xb_error *error)
{
    XB_TRY(open_trial(&device->base, trial, error));
    /* Enqueue everything once without a hold: a runtime prepares some things on their first use,
     * and that delay must not look like waiting for the hold. */
    enum xb_status status = try_hold(device, trial, false, works, error);
    *works = false;
    for (int i = 0; status == XB_OK && !*works && i < TRIALS; i++)
        status = try_hold(device, trial, true, works, error);
    return status;
}

enum xb_status xb_gpu_hold_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    struct trial trial = {.pinned = NULL};
    unsigned long long limit = device->hold_limit;
    bool works = false;
    device->hold_limit = limit / TRIAL_DIVISOR;
    enum xb_status status = run_trials(device, &trial, &works, error);
    close_trial(&trial);
    device->hold_limit = limit;
    if (status != XB_OK)
        return status;
    if (!works)
        xb_device_withhold(&device->base.info, XB_CAP_HOLD,
                           "with this runtime, enqueuing behind a hold waits for its end");
    return XB_OK;
}
