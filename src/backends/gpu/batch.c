/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the runtime takes batches of copies as we ask for them. */
#include "gpu.h"

#include <stdio.h>

#define TRIAL_COPIES 2
#define TRIAL_BYTES 64u /* of each */

struct trial {
    struct xb_buffer *pinned, *memory; /* the host's and the device's */
    struct xb_queue *queue;
    char refusal[96]; /* what the runtime said to the last batch that it refused */
};

/* Copies two pieces that do not touch each other. A refusal is an answer, not an error. */
static enum xb_status try_copies(struct trial *trial, struct xb_buffer *target,
                                 struct xb_buffer *source, enum xb_gpu_order order, bool *taken,
                                 struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(trial->queue->device)->runtime;
    void *targets[TRIAL_COPIES];
    void *sources[TRIAL_COPIES];
    size_t sizes[TRIAL_COPIES];
    for (size_t i = 0; i < TRIAL_COPIES; i++) {
        targets[i] = xb_gpu_buffer_address(target, 2 * i * TRIAL_BYTES);
        sources[i] = xb_gpu_buffer_address(source, 2 * i * TRIAL_BYTES);
        sizes[i] = TRIAL_BYTES;
    }
    struct xb_gpu_outcome outcome = runtime->copy_batch(targets, sources, sizes, TRIAL_COPIES,
                                                        order, xb_gpu_stream(trial->queue));
    *taken = outcome.code == 0;
    if (outcome.code == runtime->not_supported || outcome.code == runtime->invalid_value) {
        snprintf(trial->refusal, sizeof trial->refusal, "%s", runtime->error_name(outcome.code));
        return XB_OK;
    }
    return XB_GPU(error, runtime, outcome, "a batch of %d copies failed", TRIAL_COPIES);
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
    struct xb_error wait_error;
    enum xb_status waited = xb_gpu_queue_wait(trial->queue, &wait_error);
    if (status == XB_OK && waited != XB_OK) {
        *error = wait_error;
        return waited;
    }
    return status;
}

static enum xb_status run_trials(struct xb_gpu_device *device, struct trial *trial,
                                 struct xb_error *error)
{
    const uint64_t bytes = UINT64_C(2) * TRIAL_COPIES * TRIAL_BYTES;
    struct xb_device_info *info = &device->base.info;
    size_t most = device->runtime->batch_at_once;
    char told[96];
    bool taken = false;
    XB_TRY(xb_gpu_buffer_allocate(&device->base, XB_MEMORY_PINNED, bytes, &trial->pinned, error));
    XB_TRY(xb_gpu_buffer_allocate(&device->base, XB_MEMORY_DEVICE, bytes, &trial->memory, error));
    XB_TRY(xb_gpu_queue_open(&device->base, &trial->queue, error));
    XB_TRY(try_both_ways(trial, false, &taken, error));
    snprintf(told, sizeof told, "with attributes");
    if (!taken) {
        snprintf(told, sizeof told, "without attributes: refused (%.60s)", trial->refusal);
        device->batch_order_unsaid = true;
        XB_TRY(try_both_ways(trial, true, &taken, error));
    }
    if (!taken) {
        char reason[160];
        snprintf(reason, sizeof reason, "the runtime refuses a batch of %d copies: %s",
                 TRIAL_COPIES, trial->refusal);
        xb_device_withhold(info, XB_CAP_BATCH, reason);
        return XB_OK;
    }
    if (most > 0)
        xb_device_fact(info, "batch", "%s, at most %zu copies a call", told, most);
    else
        xb_device_fact(info, "batch", "%s", told);
    return XB_OK;
}

enum xb_status xb_gpu_batch_prove(struct xb_gpu_device *device, struct xb_error *error)
{
    struct trial trial = {.pinned = NULL};
    enum xb_status status = run_trials(device, &trial, error);
    xb_gpu_queue_close(trial.queue);
    xb_gpu_buffer_free(trial.memory);
    xb_gpu_buffer_free(trial.pinned);
    return status;
}
