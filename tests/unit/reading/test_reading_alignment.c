/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of data that begins off a boundary. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* The options as the modes name them: a record knows them by their names. */
static const struct xb_option host_offset = {.name = "host-offset", .type = XB_OPTION_SIZES};
static const struct xb_option device_offset = {.name = "device-offset", .type = XB_OPTION_SIZES};

/* A row whose bandwidth is known to within `half`, a share of it. */
static struct xb_result *add_at(struct node *n, const struct xb_mode *mode, uint64_t host,
                                uint64_t device, double gigabytes, double half)
{
    struct xb_result *row = add(n, mode, "alloc", XB_H2D, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &device_offset, .count = device};
    row->test.settings[1] = (struct xb_setting){.option = &host_offset, .count = host};
    row->test.setting_count = 2;
    /* Of seven samples the interval is from the lowest to the highest. */
    for (size_t i = 0; i < row->times.count; i++) {
        double part = i < 3 ? 1 - half : i > 3 ? 1 + half : 1;
        row->times.values[i] = (double)row->bytes_moved / (part * gigabytes * 1e9);
    }
    return row;
}

NODE_TEST(offsets_that_cost_are_named)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 1, 0, 48, 0.001);
    assert_said(n, "alignment",
                "Host buffers 1 B off a boundary cost 4.0 % (pinned allocated to the GPU with "
                "host-offset 1 B).");
    add_at(n, &pinned, 4, 0, 44, 0.001);
    add_at(n, &pinned, 4096, 0, 50, 0.001);
    assert_said(n, "alignment",
                "Host buffers 1 B and 4 B off a boundary cost up to 12 % (pinned allocated to the "
                "GPU with host-offset 4 B). Host buffers 4 KiB off a boundary, pinned copies: no "
                "cost, at most 0.2 % slower.");
}

NODE_TEST(nothing_is_said_plainly)
{
    struct node *n = *state;
    add_at(n, &pinned, 256, 0, 50.05, 0.001); /* in any order */
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 1, 0, 49.95, 0.001);
    add_at(n, &pinned, 64, 0, 50, 0.001);
    assert_said(n, "alignment",
                "Host buffers 1 B, 64 B and 256 B off a boundary, pinned copies: no cost, at most "
                "0.3 % slower.");
}

/* However narrow the intervals, a loss of less than two percent is none. */
NODE_TEST(small_differences_are_none)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0);
    struct xb_result *row = add_at(n, &pinned, 1, 0, 49.1, 0);
    assert_said(n, "alignment",
                "Host buffers 1 B off a boundary, pinned copies: no cost, at most 1.8 % slower.");
    set_bandwidth(row, 48.9);
    assert_said(n, "alignment",
                "Host buffers 1 B off a boundary cost 2.2 % (pinned allocated to the GPU with "
                "host-offset 1 B).");
}

/* The medians are 4 % apart, and so may be those of two runs of one case. */
NODE_TEST(intervals_that_meet_leave_it_open)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.03);
    struct xb_result *row = add_at(n, &pinned, 1, 0, 48, 0.03);
    assert_said(
        n, "alignment",
        "Host buffers 1 B off a boundary, pinned copies: too noisy to tell; at most 9.6 % slower.");
    row->times.count = 5; /* which have none */
    assert_said(n, "alignment", "");
}

NODE_TEST(a_gain_is_none)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 64, 0, 52, 0.001);
    assert_said(n, "alignment",
                "Host buffers 64 B off a boundary, pinned copies: no cost, at most 0.1 % slower.");
}

/* Each against the case that differs in it alone. */
NODE_TEST(sides_are_told_apart)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 0, 3, 40, 0.001);
    add_at(n, &pinned, 1, 0, 50, 0.001);
    add_at(n, &pinned, 1, 3, 39, 0.001);
    assert_said(n, "alignment",
                "Host buffers 1 B off a boundary cost 2.5 % (pinned allocated to the GPU with "
                "device-offset 3 B, host-offset 1 B). GPU buffers 3 B off a boundary cost 22 % "
                "(pinned allocated to the GPU with device-offset 3 B, host-offset 1 B).");
}

/* What differs in more than an offset is no measure of it. */
NODE_TEST(only_what_differs_in_nothing_else_is_compared)
{
    struct node *n = *state;
    add_at(n, &pinned, 1, 0, 40, 0.001);
    add_at(n, &async, 0, 0, 50, 0.001);
    add_at(n, &pinned, 0, 0, 50, 0.001)->test.direction = XB_D2H;
    add_at(n, &pinned, 0, 0, 50, 0.001)->test.variant = "registered";
    add_at(n, &pinned, 0, 64, 50, 0.001);
    add_at(n, &pinned, 0, 0, 50, 0.001)->row.verified = XB_VERIFIED_UNKNOWN;
    assert_said(n, "alignment", "");
    add_at(n, &pinned, 1, 64, 40, 0.001);
    assert_said(n, "alignment",
                "Host buffers 1 B off a boundary cost 20 % (pinned allocated to the GPU with "
                "device-offset 64 B, host-offset 1 B). GPU buffers 64 B off a boundary, pinned "
                "copies: no cost, at most 0.2 % slower.");
}

/* A mode has a line of its own. */
NODE_TEST(modes_are_told_apart)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 1, 0, 50, 0.001);
    add_at(n, &async, 0, 0, 50, 0.001);
    add_at(n, &async, 1, 0, 30, 0.001);
    assert_said(
        n, "alignment",
        "Host buffers 1 B off a boundary, pinned copies: no cost, at most 0.2 % slower.\nHost "
        "buffers 1 B off a boundary cost 40 % (async allocated to the GPU with host-offset 1 B).");
}

/* One way is slow once, however many offsets it was measured with. */
NODE_TEST(a_slow_way_is_named_once)
{
    struct node *n = *state;
    add_at(n, &pinned, 0, 0, 50, 0.001);
    add_at(n, &pinned, 1, 0, 20, 0.001); /* the alignment's doing, not the way's */
    add_at(n, &async, 1, 0, 9, 0.001);
    add_at(n, &async, 0, 0, 10, 0.001);
    assert_said(n, "slow", "Async allocated reaches 20 % of pinned allocated to the GPU.");
}
