/* SPDX-License-Identifier: Apache-2.0 */
/* Events, whose times come from the device's own clock. */
#include "gpu.h"

#include <stdlib.h>

struct gpu_event {
    struct xb_event base;
    void *event;
};

void *xb_gpu_event(const struct xb_event *event)
{
    return ((const struct gpu_event *)event)->event;
}

static const struct xb_gpu_runtime *runtime_of(const struct xb_event *event)
{
    return xb_gpu_device_of(event->device)->runtime;
}

enum xb_status xb_gpu_event_open(struct xb_device *device, struct xb_event **event,
                                 struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(device)->runtime;
    struct gpu_event *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open an event");
    opened->base.device = device;
    enum xb_status status = xb_gpu_select(device, error);
    if (status == XB_OK)
        status =
            XB_GPU(error, runtime, runtime->open_event(&opened->event),
                   "cannot create an event on %s device %u", runtime->name, device->info.index);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    *event = &opened->base;
    return XB_OK;
}

void xb_gpu_event_close(struct xb_event *event)
{
    if (event == NULL)
        return;
    struct xb_error ignored;
    (void)xb_gpu_select(event->device, &ignored);
    (void)runtime_of(event)->close_event(xb_gpu_event(event));
    free(event);
}

enum xb_status xb_gpu_event_record(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = runtime_of(event);
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU(error, runtime, runtime->record_event(xb_gpu_event(event), xb_gpu_stream(queue)),
                  "an event could not be recorded");
}

enum xb_status xb_gpu_event_wait(struct xb_event *event, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = runtime_of(event);
    XB_TRY(xb_gpu_select(event->device, error));
    return XB_GPU(error, runtime, runtime->wait_for_event(xb_gpu_event(event)),
                  "what stands before an event failed");
}

enum xb_status xb_gpu_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                    struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = runtime_of(start);
    float milliseconds = 0;
    XB_TRY(xb_gpu_select(start->device, error));
    XB_TRY(XB_GPU(error, runtime,
                  runtime->elapsed(&milliseconds, xb_gpu_event(start), xb_gpu_event(stop)),
                  "the time between two events could not be read"));
    *seconds = (double)milliseconds * 1e-3;
    return XB_OK;
}
