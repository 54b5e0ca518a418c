/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fake_backend.h"

#include "../../src/backends/host/host.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCK UINT64_C(4096)
#define SHIFT (UINT64_C(2) << 20)

static const struct xb_fake no_faults = {
    .capabilities = XB_CAP_REGISTER | XB_CAP_WRITE_COMBINED | XB_CAP_HOLD,
    .device_count = 1,
    .held_operations = 64,
};

struct xb_fake xb_fake;

void xb_fake_reset(void)
{
    xb_fake = no_faults;
}

/* ---- virtual time ---- */

/* The time of every queue and event that is open, by address. Only the test's thread comes here. */
static struct {
    const void *object;
    double time;
    unsigned number; /* of a queue: 1 for the first of its device */
} clocks[256];

static unsigned queue_number; /* of the queue that was opened last */

static size_t clock_of(const void *object)
{
    size_t free_place = 0;
    for (size_t i = 1; i < sizeof clocks / sizeof clocks[0]; i++) {
        if (clocks[i].object == object)
            return i;
        if (clocks[i].object == NULL && free_place == 0)
            free_place = i;
    }
    clocks[free_place].object = object;
    clocks[free_place].time = 0;
    clocks[free_place].number = 1;
    return free_place;
}

static void forget_clock(const void *object)
{
    if (object != NULL)
        clocks[clock_of(object)].object = NULL;
}

static void pass_time(const struct xb_queue *queue, double seconds)
{
    clocks[clock_of(queue)].time += seconds;
}

/* ---- faults ---- */

/* One host buffer and one device buffer that copy_flipped copies from; they live while a device is
 * open.
 */
static struct xb_buffer *scratch[2];
static unsigned open_devices;

/* Counts a call that may fail; true if it is its turn. */
static bool fails(const char *call, struct xb_error *error)
{
    if (++xb_fake.calls != xb_fake.fail_at)
        return false;
    (void)!XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, call, 999, "fakeErrorInjected",
                          "the fake backend was told to fail at call %u", xb_fake.fail_at);
    return true;
}

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    enum xb_status status = xb_host_backend.driver_open(driver, probe, error);
    if (status == XB_OK) {
        (*driver)->backend = &xb_fake_backend;
        probe->device_count = xb_fake.device_count;
    }
    return status;
}

static enum xb_status device_info(struct xb_driver *driver, unsigned index,
                                  struct xb_device_info *info, struct xb_error *error)
{
    if (index >= xb_fake.device_count)
        return XB_FAIL(error, XB_ERR_USAGE, "there is no fake device %u", index);
    if (index + 1 == xb_fake.sick_device)
        return XB_FAIL_NATIVE(error, XB_ERR_RUNTIME, "device_info", 999, "fakeErrorSick",
                              "the fake device %u does not answer", index);
    enum xb_status status = xb_host_backend.device_info(driver, 0, info, error);
    info->index = index;
    snprintf(info->name, sizeof info->name, "Fake GPU");
    snprintf(info->pci_bdf, sizeof info->pci_bdf, "0000:%02x:00.0", (index + 1) & 0xffu);
    info->capabilities = xb_fake.capabilities;
    info->held_operations = xb_fake.held_operations;
    return status;
}

static void device_close(struct xb_device *device)
{
    bool last = device != NULL && --open_devices == 0;
    for (size_t i = 0; last && i < 2; i++) {
        xb_host_backend.buffer_free(scratch[i]);
        scratch[i] = NULL;
    }
    xb_host_backend.device_close(device);
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    struct xb_device *opened = NULL;
    if (fails("device_open", error))
        return error->status;
    enum xb_status status = xb_host_backend.device_open(driver, 0, &opened, error);
    if (status != XB_OK)
        return status;
    queue_number = 0;
    status = device_info(driver, index, &opened->info, error);
    open_devices++;
    if (status == XB_OK && scratch[0] == NULL)
        status =
            xb_host_backend.buffer_allocate(opened, XB_MEMORY_PINNED, BLOCK, &scratch[0], error);
    if (status == XB_OK && scratch[1] == NULL)
        status =
            xb_host_backend.buffer_allocate(opened, XB_MEMORY_DEVICE, BLOCK, &scratch[1], error);
    if (status != XB_OK) {
        device_close(opened);
        return status;
    }
    opened->info.shares_host_memory = xb_fake.device_memory_free == 0;
    opened->backend = &xb_fake_backend;
    *device = opened;
    return status;
}

static enum xb_status device_memory(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error)
{
    if (xb_fake.device_memory_free == 0)
        return xb_host_backend.device_memory(device, free_bytes, error);
    *free_bytes = xb_fake.device_memory_free;
    return XB_OK;
}

static enum xb_status buffer_allocate(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error)
{
    if (fails("buffer_allocate", error))
        return error->status;
    bool combined =
        memory == XB_MEMORY_WRITE_COMBINED && (xb_fake.capabilities & XB_CAP_WRITE_COMBINED) != 0;
    enum xb_status status = xb_host_backend.buffer_allocate(
        device, combined ? XB_MEMORY_PINNED : memory, bytes, buffer, error);
    if (status == XB_OK)
        (*buffer)->memory = memory;
    return status;
}

static enum xb_status buffer_register(struct xb_buffer *buffer, struct xb_error *error)
{
    if (fails("buffer_register", error))
        return error->status;
    if (buffer->memory != XB_MEMORY_PAGEABLE)
        return XB_FAIL(error, XB_ERR_USAGE, "only pageable memory can be registered");
    buffer->memory = XB_MEMORY_REGISTERED;
    return XB_OK;
}

static enum xb_status queue_open(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error)
{
    if (fails("queue_open", error))
        return error->status;
    enum xb_status status = xb_host_backend.queue_open(device, queue, error);
    if (status == XB_OK)
        clocks[clock_of(*queue)].number = ++queue_number;
    return status;
}

static void queue_close(struct xb_queue *queue)
{
    forget_clock(queue);
    xb_host_backend.queue_close(queue);
}

/*
 * Copies one byte of `source` with a bit flipped. It goes through a scratch buffer, because the
 * queue may be held: nothing may wait here.
 */
static enum xb_status copy_flipped(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                   struct xb_buffer *source, uint64_t from, struct xb_error *error)
{
    static unsigned turn;
    struct xb_buffer *through = scratch[source->memory == XB_MEMORY_DEVICE];
    uint64_t slot = turn++ % through->bytes;
    const unsigned char *byte = (unsigned char *)xb_host_buffer_address(source) + from;
    ((unsigned char *)xb_host_buffer_address(through))[slot] = *byte ^ 1u;
    return xb_host_backend.queue_copy(queue, target, to, through, slot, 1, error);
}

static enum xb_status damaged_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                   struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                   struct xb_error *error)
{
    const struct xb_backend *host = &xb_host_backend;
    enum xb_status status = XB_OK;
    switch (xb_fake.damage) {
    case XB_FAKE_NO_DAMAGE:
        break;
    case XB_FAKE_NOTHING_COPIED:
        return XB_OK;
    case XB_FAKE_LAST_BYTE_LOST:
        return host->queue_copy(queue, target, to, source, from, bytes - 1, error);
    case XB_FAKE_SHIFTED_2MIB:
        if (from + bytes + SHIFT <= source->bytes)
            return host->queue_copy(queue, target, to, source, from + SHIFT, bytes, error);
        if (bytes > SHIFT)
            return host->queue_copy(queue, target, to, source, from + SHIFT, bytes - SHIFT, error);
        break;
    case XB_FAKE_BLOCKS_SWAPPED:
        status = host->queue_copy(queue, target, to, source, from, bytes, error);
        if (status == XB_OK)
            status = host->queue_copy(queue, target, to, source, from + BLOCK, BLOCK, error);
        if (status == XB_OK)
            status = host->queue_copy(queue, target, to + BLOCK, source, from, BLOCK, error);
        return status;
    case XB_FAKE_BIT_FLIPPED:
        status = host->queue_copy(queue, target, to, source, from, bytes, error);
        if (status == XB_OK)
            status = copy_flipped(queue, target, to + bytes / 2, source, from + bytes / 2, error);
        return status;
    }
    return host->queue_copy(queue, target, to, source, from, bytes, error);
}

static enum xb_status queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                 struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                 struct xb_error *error)
{
    if (fails("queue_copy", error))
        return error->status;
    pass_time(queue, (double)bytes * XB_FAKE_SECONDS_PER_BYTE * clocks[clock_of(queue)].number);
    if (bytes >= 2 * BLOCK)
        xb_fake.copied_memory |=
            1u << (target->memory == XB_MEMORY_DEVICE ? source->memory : target->memory);
    if (xb_fake.damage == XB_FAKE_NO_DAMAGE || bytes < 2 * BLOCK)
        return xb_host_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return damaged_copy(queue, target, to, source, from, bytes, error);
}

static enum xb_status queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error)
{
    return fails("queue_fill", error)
               ? error->status
               : xb_host_backend.queue_fill(queue, buffer, bytes, pattern, error);
}

static enum xb_status queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                  struct xb_error *error)
{
    if (fails("queue_check", error))
        return error->status;
    enum xb_status status =
        xb_host_backend.queue_check(queue, buffer, bytes, pattern, mismatch, error);
    if (xb_fake.check_is_blind)
        *mismatch = (struct xb_mismatch){0};
    return status;
}

static enum xb_status queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    if (fails("queue_hold", error))
        return error->status;
    xb_fake.holds++;
    pass_time(queue, XB_FAKE_HOLD_S);
    return xb_host_backend.queue_hold(queue, error);
}

static enum xb_status queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error)
{
    if (fails("queue_wait_event", error))
        return error->status;
    double *now = &clocks[clock_of(queue)].time;
    double reached = clocks[clock_of(event)].time;
    *now = *now > reached ? *now : reached;
    return xb_host_backend.queue_wait_event(queue, event, error);
}

static enum xb_status queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    enum xb_status status = xb_host_backend.queue_wait(queue, error); /* a failed wait waited */
    return fails("queue_wait", error) ? error->status : status;
}

static enum xb_status event_open(struct xb_device *device, struct xb_event **event,
                                 struct xb_error *error)
{
    return fails("event_open", error) ? error->status
                                      : xb_host_backend.event_open(device, event, error);
}

static void event_close(struct xb_event *event)
{
    forget_clock(event);
    xb_host_backend.event_close(event);
}

static enum xb_status event_record(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error)
{
    if (fails("event_record", error))
        return error->status;
    clocks[clock_of(event)].time = clocks[clock_of(queue)].time;
    return xb_host_backend.event_record(event, queue, error);
}

static enum xb_status event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                    struct xb_error *error)
{
    double unused = 0; /* the host backend checks that both were reached */
    if (fails("event_elapsed", error))
        return error->status;
    enum xb_status status = xb_host_backend.event_elapsed(start, stop, &unused, error);
    if (status == XB_OK)
        *seconds = clocks[clock_of(stop)].time - clocks[clock_of(start)].time;
    return status;
}

static void driver_close(struct xb_driver *driver)
{
    xb_host_backend.driver_close(driver);
}

static void buffer_free(struct xb_buffer *buffer)
{
    xb_host_backend.buffer_free(buffer);
}

const struct xb_backend xb_fake_backend = {
    .abi = XB_BACKEND_ABI,
    .name = "fake",
    .summary = "the host backend with faults",
    .automatic = true,
    .driver_open = driver_open,
    .driver_close = driver_close,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .buffer_allocate = buffer_allocate,
    .buffer_register = buffer_register,
    .buffer_free = buffer_free,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .queue_copy = queue_copy,
    .queue_fill = queue_fill,
    .queue_check = queue_check,
    .queue_hold = queue_hold,
    .queue_release = xb_host_queue_release,
    .queue_wait_event = queue_wait_event,
    .queue_wait = queue_wait,
    .event_open = event_open,
    .event_close = event_close,
    .event_record = event_record,
    .event_elapsed = event_elapsed,
};
