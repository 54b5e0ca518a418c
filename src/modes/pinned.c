/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between page-locked host memory and the device: a single transfer by its copy engine. */
#include "shared_options.h"
#include "transfer.h"

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    return xb_host_memory_refuse_pageable(context->test, error);
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_transfer_setup(context, xb_host_memory_of(context->test->variant), 1, error);
}

static const struct xb_option *const options[] = {&xb_option_host_memory, NULL};

const struct xb_mode xb_mode_pinned = {
    .name = "pinned",
    .summary = "one copy of page-locked host memory; what the link gives at its best",
    .description =
        "Copies one buffer of page-locked (pinned) host memory in a single operation. The device's "
        "copy engine reads or writes the memory directly, so this is the bandwidth of the link "
        "itself. Allocating and page-locking the memory is not timed. bidir is one such copy each "
        "way at the same time, with buffers of their own: the row shows the sum, and its parts "
        "each "
        "direction.",
    .directions = XB_H2D | XB_D2H | XB_BIDIR,
    .by_default = XB_H2D | XB_D2H,
    .simultaneous = true,
    .variant_option = &xb_option_host_memory,
    .options = options,
    .state_bytes = sizeof(struct xb_transfer),
    .capabilities = xb_host_memory_capabilities,
    .needs = xb_transfer_needs,
    .check = check,
    .setup = setup,
    .prepare = xb_transfer_prepare,
    .submit = xb_transfer_submit,
    .verify = xb_transfer_verify,
};
