/* SPDX-License-Identifier: Apache-2.0 */
/* What only a trial shows of a runtime: whether holds work on a device, and batches of copies. */
#include "gpu.h"

#include <stdio.h>

struct trial {
    struct xb_buffer *pinned, *memory; /* the host's and the device's */
    struct xb_queue *first, *second;
    struct xb_event *start, *end;
    char refusal[96]; /* what the runtime said to the last batch that it refused */
};

/* Call close_trial even if this fails. */
static enum xb_status open_trial(struct xb_device *device, uint64_t bytes, struct trial *trial,
                                 struct xb_error *error)
{
    XB_TRY(xb_gpu_buffer_allocate(device, XB_MEMORY_PINNED, bytes, &trial->pinned, error));
    XB_TRY(xb_gpu_buffer_allocate(device, XB_MEMORY_DEVICE, bytes, &trial->memory, error));
    return xb_gpu_queue_open(device, &trial->first, error);
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

/* ---- holds ---- */

/* A trial hold gives up after this fraction of the usual limit, because enqueuing takes only
 * microseconds. */
#define TRIAL_DIVISOR 200
#define TRIAL_BYTES (UINT64_C(1) << 20)
#define TRIALS 2 /* the first may fail because the machine is busy */

/* Enqueues on two queues that wait for each other, as the sampler's do. On the second it copies and
 * computes, as modes do behind a hold. */
static enum xb_status enqueue_both(const struct trial *trial, struct xb_error *error)
{
    const uint64_t quarter = TRIAL_BYTES / 4;
    struct xb_queue *second = trial->second;
    struct xb_buffer *memory = trial->memory, *pinned = trial->pinned;
    XB_TRY(xb_gpu_event_record(trial->start, trial->first, error));
    XB_TRY(xb_gpu_queue_wait_event(second, trial->start, error));
    XB_TRY(xb_gpu_queue_copy(trial->first, memory, 0, pinned, 0, quarter, error));
    XB_TRY(xb_gpu_queue_copy(second, pinned, quarter, memory, quarter, quarter, error));
    XB_TRY(xb_queue_kernel_copy(second, memory, 2 * quarter, memory, 3 * quarter, quarter,
                                XB_ACCESS_SEQUENTIAL, 1, error));
    XB_TRY(xb_queue_compute(second, memory, 2 * quarter, quarter, 1, error));
    XB_TRY(xb_gpu_queue_copy(second, memory, 3 * quarter, memory, 2 * quarter, quarter, error));
    XB_TRY(xb_gpu_event_record(trial->end, second, error));
    return xb_gpu_queue_wait_event(trial->first, trial->end, error);
}

static enum xb_status try_hold(const struct trial *trial, bool held, bool *works,
                               struct xb_error *error)
{
    const struct xb_device *device = trial->first->device;
    enum xb_status status = held ? xb_gpu_queue_hold(trial->first, error) : XB_OK;
    if (status == XB_OK)
        status = enqueue_both(trial, error);
    xb_gpu_queue_release(trial->first);
    if (status != XB_OK)
        return status;
    /* Call the runtime directly: for xb_gpu_queue_wait a hold that gave up is a failure, but here
     * it is an answer. */
    XB_TRY(XB_GPU_CALL(error, device, wait_for_stream(xb_gpu_stream(trial->first)),
                       "work on %s device %u failed", XB_GPU_NAMED(device)));
    *works = !xb_gpu_hold_expired(trial->first);
    return XB_OK;
}

static enum xb_status run_holds(struct xb_device *device, struct trial *trial, bool *works,
                                struct xb_error *error)
{
    XB_TRY(open_trial(device, TRIAL_BYTES, trial, error));
    XB_TRY(xb_gpu_queue_open(device, &trial->second, error));
    XB_TRY(xb_gpu_event_open(device, &trial->start, error));
    XB_TRY(xb_gpu_event_open(device, &trial->end, error));
    /* Enqueue everything once without a hold: a runtime prepares some things on their first use,
     * and that delay must not look like waiting for the hold. */
    XB_TRY(try_hold(trial, false, works, error));
    *works = false;
    for (int i = 0; !*works && i < TRIALS; i++)
        XB_TRY(try_hold(trial, true, works, error));
    return XB_OK;
}

enum xb_status xb_gpu_hold_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    struct trial trial = {.pinned = NULL};
    unsigned long long limit = device->hold_limit;
    bool works = false;
    device->hold_limit = limit / TRIAL_DIVISOR;
    enum xb_status status = run_holds(&device->base, &trial, &works, error);
    close_trial(&trial);
    device->hold_limit = limit;
    if (status == XB_OK && !works)
        xb_device_withhold(&device->base.info, XB_CAP_HOLD,
                           "with this runtime, enqueuing behind a hold waits for its end");
    return status;
}

/* ---- batches ---- */

#define COPIES 2
#define COPY_BYTES 64u /* of each */

/* Copies two pieces that do not touch each other. A refusal is an answer, not an error. */
static enum xb_status try_copies(struct trial *trial, struct xb_buffer *target,
                                 struct xb_buffer *source, enum xb_gpu_order order, bool *taken,
                                 struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(trial->first->device)->runtime;
    void *targets[COPIES];
    void *sources[COPIES];
    size_t sizes[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        targets[i] = xb_gpu_buffer_address(target, 2 * i * COPY_BYTES);
        sources[i] = xb_gpu_buffer_address(source, 2 * i * COPY_BYTES);
        sizes[i] = COPY_BYTES;
    }
    struct xb_gpu_outcome outcome =
        runtime->copy_batch(targets, sources, sizes, COPIES, order, xb_gpu_stream(trial->first));
    *taken = outcome.code == 0;
    if (outcome.code == runtime->not_supported || outcome.code == runtime->invalid_value) {
        snprintf(trial->refusal, sizeof trial->refusal, "%s", runtime->error_name(outcome.code));
        return XB_OK;
    }
    return XB_GPU(error, runtime, outcome, "a batch of %d copies failed", COPIES);
}

/* Either way, each with the order that it is used with if the runtime may be told one. */
static enum xb_status try_both_ways(struct trial *trial, bool unsaid, bool *taken,
                                    struct xb_error *error)
{
    enum xb_status status =
        try_copies(trial, trial->memory, trial->pinned,
                   unsaid ? XB_GPU_ORDER_UNSAID : XB_GPU_ANY_ORDER, taken, error);
    if (status == XB_OK && *taken)
        status = try_copies(trial, trial->pinned, trial->memory,
                            unsaid ? XB_GPU_ORDER_UNSAID : XB_GPU_STREAM_ORDER, taken, error);
    /* Wait also if a batch was refused, because its fellow uses the memory, which is freed. */
    struct xb_error ignored;
    enum xb_status waited = xb_gpu_queue_wait(trial->first, status == XB_OK ? error : &ignored);
    return status != XB_OK ? status : waited;
}

static enum xb_status run_batches(struct xb_gpu_device *device, struct trial *trial,
                                  struct xb_error *error)
{
    struct xb_device_info *info = &device->base.info;
    size_t most = device->runtime->batch_at_once;
    char told[96];
    bool taken = false;
    XB_TRY(open_trial(&device->base, UINT64_C(2) * COPIES * COPY_BYTES, trial, error));
    XB_TRY(try_both_ways(trial, false, &taken, error));
    snprintf(told, sizeof told, "with attributes");
    if (!taken) {
        snprintf(told, sizeof told, "without attributes: refused (%.60s)", trial->refusal);
        device->batch_order_unsaid = true;
        XB_TRY(try_both_ways(trial, true, &taken, error));
    }
    if (!taken) {
        char reason[160];
        snprintf(reason, sizeof reason, "the runtime refuses a batch of %d copies: %s", COPIES,
                 trial->refusal);
        xb_device_withhold(info, XB_CAP_BATCH, reason);
    } else if (most > 0) {
        xb_device_fact(info, "batch", "%s, at most %zu copies a call", told, most);
    } else {
        xb_device_fact(info, "batch", "%s", told);
    }
    return XB_OK;
}

enum xb_status xb_gpu_batch_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    struct trial trial = {.pinned = NULL};
    enum xb_status status = run_batches(device, &trial, error);
    close_trial(&trial);
    return status;
}
