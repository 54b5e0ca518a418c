/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between ordinary host memory and the device, as a program that never heard of pinning
 * makes it. */
#include "pageable_reading.h"
#include "shared_options.h"
#include "transfer.h"

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_transfer_setup(context, XB_MEMORY_PAGEABLE, 1, error);
}

static const struct xb_option *const options[] = {&xb_option_host_offset, &xb_option_device_offset,
                                                  NULL};

static const struct xb_parameter parameters[] = {
    {&xb_option_host_offset, NULL}, {&xb_option_device_offset, NULL}, {NULL, NULL}};

const struct xb_mode xb_mode_pageable = {
    .name = "pageable",
    .summary = "one copy of ordinary host memory; the driver stages it through memory of its own",
    .description =
        "Copies one buffer of ordinary (pageable) host memory, every page of which was touched "
        "before. The device cannot reach such memory by itself: the driver copies it piece by "
        "piece through page-locked memory of its own, which costs CPU time, and the call that "
        "starts the copy may return only when the data is moved. So the queue is never held, and "
        "the time the call takes to return stands beside the bandwidth.",
    .directions = XB_H2D | XB_D2H,
    .by_default = XB_H2D | XB_D2H,
    .variant = "malloc",
    .options = options,
    .parameters = parameters,
    .reading = xb_pageable_reading,
    .say_first_thing = xb_pageable_say_first_thing,
    .state_bytes = sizeof(struct xb_transfer),
    .needs = xb_transfer_needs,
    .setup = setup,
    .prepare = xb_transfer_prepare,
    .submit = xb_transfer_submit,
    .verify = xb_transfer_verify,
};
