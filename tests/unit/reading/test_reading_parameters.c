/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of the best chunk, and of the best number of streams and buffers. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* The options as the modes name them: a record knows them by their names. */
static const struct xb_option chunk = {.name = "chunk", .type = XB_OPTION_SIZE};
static const struct xb_option streams = {.name = "streams", .type = XB_OPTION_COUNT};
static const struct xb_option buffers = {.name = "buffers", .type = XB_OPTION_COUNT};

static struct xb_result *add_with(struct node *n, const struct xb_mode *mode,
                                  enum xb_direction direction, uint64_t chunk_bytes,
                                  const struct xb_option *option, uint64_t count, double gigabytes)
{
    struct xb_result *row = add(n, mode, "registered", direction, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &chunk, .count = chunk_bytes};
    row->test.settings[1] = (struct xb_setting){.option = option, .count = count};
    row->test.setting_count = 2;
    return row;
}

static struct xb_result *add_async(struct node *n, uint64_t chunk_bytes, uint64_t count,
                                   double gigabytes)
{
    return add_with(n, &async, XB_H2D, chunk_bytes, &streams, count, gigabytes);
}

/* 50 of 54 GB/s: 7.4 % are lost. */
NODE_TEST(what_the_default_loses_is_said)
{
    struct node *n = *state;
    add_async(n, 1 * MIB, 2, 40);
    add_async(n, 4 * MIB, 2, 54);
    add_async(n, 8 * MIB, 2, 50);
    assert_said(
        n, "chunk",
        "To the GPU, async: the best chunk is 4 MiB (54.0 GB/s). The default, 8 MiB, loses 7.4 %.");
    assert_number(n, "XB-CHUNK", "best", 4 * MIB);
    assert_number(n, "XB-CHUNK", "default", 8 * MIB);
    assert_number(n, "XB-CHUNK", "default_loss", 1 - 50.0 / 54.0);
    assert_rests_on(n, "XB-CHUNK", 3);
    assert_said(n, "streams", "");
}

NODE_TEST(without_the_default_the_slowest_is_said)
{
    struct node *n = *state;
    add_async(n, 1 * MIB, 2, 27);
    add_async(n, 2 * MIB, 2, 40);
    add_async(n, 4 * MIB, 2, 54);
    assert_said(
        n, "chunk",
        "To the GPU, async: the best chunk is 4 MiB (54.0 GB/s). The slowest, 1 MiB, loses 50 %.");
    assert_number(n, "XB-CHUNK", "slowest", 1 * MIB);
    assert_number(n, "XB-CHUNK", "slowest_loss", 0.5);
}

/* The default is among those that are as good: nothing is lost. */
NODE_TEST(what_is_as_good_is_told_as_a_range)
{
    struct node *n = *state;
    add_async(n, 16 * MIB, 2, 53.5);
    add_async(n, 8 * MIB, 2, 54);
    add_async(n, 4 * MIB, 2, 53.8);
    add_async(n, 1 * MIB, 2, 40);
    assert_said(n, "chunk",
                "To the GPU, async: any chunk from 4 MiB to 16 MiB is as good (54.0 GB/s). The "
                "default is among them.");
    assert_number(n, "XB-CHUNK", "as_good_from", 4 * MIB);
    assert_number(n, "XB-CHUNK", "as_good_to", 16 * MIB);
    assert_number(n, "XB-CHUNK", "best", 8 * MIB);
}

/* 2 MiB is as good by its rate, but what lies between is not. */
NODE_TEST(a_range_has_no_gap)
{
    struct node *n = *state;
    add_async(n, 2 * MIB, 2, 54);
    add_async(n, 4 * MIB, 2, 30);
    add_async(n, 16 * MIB, 2, 54.1);
    assert_read(n, "the best chunk is 16 MiB (54.1 GB/s). The slowest, 4 MiB, loses 45 %.");
}

/* Of seven samples the interval is from the least to the most. */
static void make_noisy(struct xb_result *row, double low, double gigabytes)
{
    row->times.values[0] *= gigabytes / low;
}

/* Nothing is lost for certain, and nothing is as good for certain. */
NODE_TEST(what_noise_hides_is_not_called_as_good)
{
    struct node *n = *state;
    struct xb_result *best = add_async(n, 4 * MIB, 2, 54);
    struct xb_result *noisy = add_async(n, 8 * MIB, 2, 50);
    make_noisy(best, 49, 54);
    assert_said(n, "chunk",
                "To the GPU, async: the fastest chunk is 4 MiB (54.0 GB/s). 8 MiB may be as good: "
                "the samples vary too much to tell.");
    assert_number(n, "XB-CHUNK", "as_good_from", 4 * MIB);
    assert_number(n, "XB-CHUNK", "not_told_apart", 1);
    noisy->times.count = 5; /* nobody knows */
    assert_said(n, "chunk", "");
}

/* Of those that are no worse for certain, quiet ones are as good, and noisy ones are told apart. */
NODE_TEST(quiet_values_are_as_good_beside_noisy_ones)
{
    struct node *n = *state;
    add_async(n, 1 * MIB, 2, 40);
    make_noisy(add_async(n, 2 * MIB, 2, 53.9), 50, 53.9);
    make_noisy(add_async(n, 4 * MIB, 2, 53.8), 53.7, 53.8);
    make_noisy(add_async(n, 8 * MIB, 2, 54), 53.9, 54);
    make_noisy(add_async(n, 16 * MIB, 2, 52), 30, 52);
    make_noisy(add_async(n, 32 * MIB, 2, 51), 30, 51);
    n->results[4].times.values[1] *= 52 / 54.0;
    n->results[5].times.values[1] *= 51 / 54.0;
    assert_said(
        n, "chunk",
        "To the GPU, async: any chunk from 4 MiB to 8 MiB is as good (54.0 GB/s). 2 MiB, 16 MiB "
        "and 32 MiB may be as good: the samples vary too much to tell. The default is among them.");
}

/* Each is told by what differs in it alone. */
NODE_TEST(streams_and_chunks_are_told_apart)
{
    struct node *n = *state;
    add_async(n, 1 * MIB, 1, 54);
    add_async(n, 1 * MIB, 2, 47.52);
    add_async(n, 8 * MIB, 2, 53); /* differs from the best in both */
    assert_said(n, "chunk", "");
    assert_said(n, "streams",
                "To the GPU, async: the best number of streams is 1 (54.0 GB/s). The default, 2, "
                "loses 12 %.");
    assert_number(n, "XB-STREAMS", "default_loss", 0.12);
    assert_rests_on(n, "XB-STREAMS", 2);
}

NODE_TEST(each_direction_is_a_statement)
{
    struct node *n = *state;
    static const enum xb_direction ways[] = {XB_H2D, XB_D2H};
    for (size_t i = 0; i < 2; i++) {
        add_with(n, &async, ways[i], 4 * MIB, &streams, 2, 54);
        add_with(n, &async, ways[i], 8 * MIB, &streams, 2, 54);
    }
    assert_said(n, "chunk",
                "To the GPU, async: any chunk from 4 MiB to 8 MiB is as good (54.0 GB/s). The "
                "default is among them.\nBack to the host, async: any chunk from 4 MiB to 8 MiB is "
                "as good (54.0 GB/s). The default is among them.");
}

NODE_TEST(one_value_is_no_comparison)
{
    struct node *n = *state;
    add_async(n, 8 * MIB, 2, 54);
    struct xb_result *other = add_async(n, 4 * MIB, 2, 50);
    other->row.verified = XB_VERIFIED_FALSE;
    assert_said(n, "chunk", "");
    other->row.verified = XB_VERIFIED_TRUE;
    other->test.variant = "alloc";
    assert_said(n, "chunk", "");
}

NODE_TEST(a_pipeline_has_buffers)
{
    struct node *n = *state;
    add_with(n, &double_buffer, XB_BIDIR, 8 * MIB, &buffers, 2, 60);
    add_with(n, &double_buffer, XB_BIDIR, 8 * MIB, &buffers, 3, 80);
    add_with(n, &double_buffer, XB_BIDIR, 8 * MIB, &buffers, 4, 68);
    add_with(n, &double_buffer, XB_BIDIR, 4 * MIB, &buffers, 3, 64);
    assert_said(n, "buffers",
                "Both ways, double-buffer: the best number of buffers is 3 (80.0 GB/s). The "
                "default, 4, loses 15 %.");
    assert_said(
        n, "chunk",
        "Both ways, double-buffer: the best chunk is 8 MiB (80.0 GB/s). It is the default.");
}

/* A sentence of one row names what tells it from others of its mode, and nothing else. */
NODE_TEST(a_row_is_named_with_what_differs)
{
    struct node *n = *state;
    add(n, &pinned, "registered", XB_H2D, 100);
    add_async(n, 8 * MIB, 2, 40);
    assert_read(n, "Async reaches 40 % of pinned to the GPU.");
    add_async(n, 4 * MIB, 2, 45);
    assert_read(n, "Async with chunk 4 MiB reaches 45 % of pinned to the GPU.");
    add_async(n, 4 * MIB, 4, 48);
    assert_read(n, "Async with chunk 4 MiB, streams 4 reaches");
}
