/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of a program whose host backend is slower than it should be, name and all: every 25th
 * copy is made twice, which was measured to cost copies of 4 KiB, of which a sample has thousands,
 * 5 % (bench/results/host). XB_SLOWED_PERCENT in the environment says another number: with 2000
 * each is made 21 times.
 */
#include "backends/registry.h"
#include "record/mode_list.h"

#include <stdlib.h>

extern const struct xb_backend xb_host_backend;
extern const struct xb_mode xb_mode_pageable, xb_mode_pinned;

static struct xb_backend slowed;
static unsigned long percent = 4;

const struct xb_backend_entry xb_backends[] = {
    {.name = "host", .backend = &slowed},
    {.name = NULL},
};

const struct xb_mode *const xb_modes[] = {&xb_mode_pageable, &xb_mode_pinned, NULL};

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    enum xb_status status = xb_host_backend.driver_open(driver, probe, error);
    if (status == XB_OK)
        (*driver)->backend = &slowed; /* whose slots are called from then on */
    return status;
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = xb_host_backend.device_open(driver, index, device, error);
    if (status == XB_OK)
        (*device)->backend = &slowed;
    return status;
}

/* One thread enqueues. */
static enum xb_status queue_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                 struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                 struct xb_error *error)
{
    static unsigned long due; /* in hundredths of a copy */
    enum xb_status status =
        xb_host_backend.queue_copy(queue, target, to, source, from, bytes, error);
    for (due += percent; status == XB_OK && due >= 100; due -= 100)
        status = xb_host_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

/* Before main, which checks the tables. */
__attribute__((constructor)) static void fill_table(void)
{
    const char *text = getenv("XB_SLOWED_PERCENT");
    percent = text != NULL ? strtoul(text, NULL, 10) : percent;
    slowed = xb_host_backend;
    slowed.driver_open = driver_open;
    slowed.device_open = device_open;
    slowed.queue_copy = queue_copy;
}
