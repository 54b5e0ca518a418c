/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between ordinary host memory and the device, as a program that never heard of pinning
 * makes it. */
#include "alignment.h"
#include "shared_options.h"
#include "transfer.h"

#include "xferbench/reading.h"

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_transfer_setup(context, XB_MEMORY_PAGEABLE, 1, error);
}

/* ---- the Reading: what pinning is worth ---- */

static bool say_pinning(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_reading_compare(reading, device, bytes, (struct xb_reading_way){"pinned", NULL},
                              (struct xb_reading_way){"pageable", NULL});
}

/* The share of a copy's time for which the call that starts it blocks; NAN where that was not
 * measured. */
static double blocked_share(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_submit_time) /
           xb_reading_median(reading, test, &xb_figure_wall_time);
}

/* A call that blocks for this share of its time or more blocks until the copy is done. One that
 * blocks for less than the other share returns at once. */
#define UNTIL_DONE 0.99
#define AT_ONCE 0.01

static void add_blocking(struct xb_reading *reading, double share)
{
    if (share >= UNTIL_DONE)
        xb_reading_add(reading, "blocks the calling thread until it is done");
    else if (share < AT_ONCE)
        xb_reading_add(reading, "returns at once");
    else {
        xb_reading_add(reading, "blocks the calling thread for ");
        xb_reading_add_share(reading, share);
        xb_reading_add(reading, " of its time");
    }
}

static bool say_blocking(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *pinned =
        xb_reading_best(reading, device, bytes, XB_H2D, "pinned", NULL);
    const struct xb_record_case *pageable =
        xb_reading_best(reading, device, bytes, XB_H2D, "pageable", NULL);
    if (pinned == NULL)
        pinned = xb_reading_faster(
            reading, xb_reading_best(reading, device, bytes, XB_H2D, "async", "registered"),
            xb_reading_best(reading, device, bytes, XB_H2D, "async", "alloc"));
    if (pageable == NULL)
        pageable = xb_reading_best(reading, device, bytes, XB_H2D, "async", "pageable");
    double of_pageable = blocked_share(reading, pageable);
    double of_pinned = blocked_share(reading, pinned);
    if (!(of_pageable > 0) || !(of_pinned > 0))
        return false;
    xb_reading_add(reading, "Host to device, a pageable copy ");
    add_blocking(reading, of_pageable);
    xb_reading_add(reading, "; a pinned one ");
    add_blocking(reading, of_pinned);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "pageable_blocked_share", of_pageable, XB_UNIT_RATIO);
    xb_reading_number(reading, "pinned_blocked_share", of_pinned, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, pageable);
    xb_reading_rests_on(reading, pinned);
    return true;
}

static bool say_alignment(struct xb_reading *reading, int device, uint64_t bytes)
{
    return xb_alignment_say(reading, device, bytes, "pageable");
}

static const struct xb_reading_line reading_lines[] = {
    {.label = "pinning", .code = "XB-PINNING", .say = say_pinning},
    {.label = "blocking", .code = "XB-BLOCKING", .say = say_blocking},
    {.label = "alignment", .code = "XB-ALIGNMENT", .say = say_alignment},
    {.label = NULL},
};

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
    .reading = reading_lines,
    .state_bytes = sizeof(struct xb_transfer),
    .needs = xb_transfer_needs,
    .setup = setup,
    .prepare = xb_transfer_prepare,
    .submit = xb_transfer_submit,
    .verify = xb_transfer_verify,
};
