/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of many small pieces. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

extern const struct xb_mode xb_mode_batch;

/* The options as the mode names them: a record knows them by their names. */
static const char *const layout_words[] = {"scattered", "contiguous", NULL};
static const struct xb_option layout = {
    .name = "layout", .type = XB_OPTION_CHOICES, .choices = layout_words};
static const struct xb_option piece = {.name = "piece", .type = XB_OPTION_SIZES};

static struct xb_result *add_way(struct node *n, const char *variant, enum xb_direction direction,
                                 const char *word, uint64_t bytes, double gigabytes)
{
    struct xb_result *row = add(n, &xb_mode_batch, variant, direction, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &layout, .word = word};
    row->test.settings[1] = (struct xb_setting){.option = &piece, .count = bytes};
    row->test.setting_count = 2;
    return row;
}

/* One direction and layout. */
static void add_piece(struct node *n, uint64_t bytes, double kernel, double each)
{
    add_way(n, "kernel", XB_H2D, "scattered", bytes, kernel);
    add_way(n, "each", XB_H2D, "scattered", bytes, each);
}

NODE_TEST(a_sweep_is_told_from_the_smallest_piece_up)
{
    struct node *n = *state;
    add_piece(n, 1 << 20, 50, 51);
    add_piece(n, 4096, 50, 2);
    add_piece(n, 64 << 10, 50, 46);
    assert_said(n, "pieces",
                "Fastest to the GPU: a kernel for 4 KiB to 64 KiB, a copy a piece from 1 MiB on. "
                "For 4 KiB the best is 25 times as fast as a copy a piece. A copy a piece is good "
                "enough from 64 KiB on.");
}

NODE_TEST(the_answer_is_of_the_smallest_piece)
{
    struct node *n = *state;
    add_piece(n, 1 << 20, 50, 51);
    add_piece(n, 4096, 50, 2);
    assert_answered(n, "Fastest to the GPU: a kernel for 4 KiB, a copy a piece from 1 MiB on. For "
                       "4 KiB the best is 25 times as fast as a copy a piece.");
    assert_advised(n, "XB-PIECES",
                   "Do not copy pieces of 4 KiB one by one: a kernel is 25 times as fast.");
    add_way(n, "call", XB_H2D, "scattered", 4096, 6);
    assert_advised(
        n, "XB-PIECES",
        "Do not copy pieces of 4 KiB one by one: one call, cudaMemcpyBatchAsync(), is 3.0 "
        "times as fast, a kernel is 25 times as fast.");
    add_way(n, "packed", XB_D2H, "scattered", 4096, 20);
    assert_answered(n, "Fastest to the GPU: a kernel for 4 KiB, a copy a piece from 1 MiB on. For "
                       "4 KiB the best is 25 times as fast as a copy a piece.");
}

NODE_TEST(a_direction_alone_names_the_device)
{
    struct node *n = *state;
    add_way(n, "kernel", XB_D2H, "scattered", 4096, 50);
    add_way(n, "each", XB_D2H, "scattered", 4096, 2);
    assert_said(n, "pieces",
                "Fastest back to the host: a kernel for 4 KiB. That is 25 times as fast as a copy "
                "a piece.");
}

/* It says no more of pieces than was measured. */
NODE_TEST(one_piece_says_nothing_of_others)
{
    struct node *n = *state;
    add_piece(n, 1 << 20, 50, 51);
    assert_said(n, "pieces",
                "Fastest to the GPU: a copy a piece for 1 MiB. A copy a piece is good enough.");
    add_way(n, "kernel", XB_H2D, "scattered", 512, 50);
    assert_said(n, "pieces",
                "Fastest to the GPU: a kernel for 512 B, a copy a piece from 1 MiB on. A copy a "
                "piece is good enough from 1 MiB on.");
}

NODE_TEST(what_is_too_slow_for_some_is_not_so_for_all)
{
    struct node *n = *state;
    add_piece(n, 4096, 50, 49);
    add_piece(n, 1 << 20, 50, 25);
    assert_said(n, "pieces",
                "Fastest to the GPU: a kernel for 4 KiB to 1 MiB. For 1 MiB the best is 2.0 times "
                "as fast as a copy a piece. A copy a piece is good enough for some of these only.");
}

NODE_TEST(layouts_are_told_apart)
{
    struct node *n = *state;
    add_piece(n, 4096, 50, 49);
    add_way(n, "kernel", XB_H2D, "contiguous", 4096, 52);
    add_way(n, "each", XB_H2D, "contiguous", 4096, 26);
    assert_said(n, "pieces",
                "Fastest to the GPU (scattered): a kernel for 4 KiB. A copy a piece is good "
                "enough.\nFastest to the GPU (contiguous): a kernel for 4 KiB. That is 2.0 times "
                "as fast as a copy a piece.");
}

/* There is nothing to compare it with. */
NODE_TEST(one_way_alone_is_not_told)
{
    struct node *n = *state;
    add_way(n, "kernel", XB_H2D, "scattered", 4096, 50);
    add_way(n, "kernel", XB_H2D, "scattered", 8192, 50);
    assert_said(n, "pieces", "");
}
