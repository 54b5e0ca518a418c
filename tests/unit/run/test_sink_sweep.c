/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is printed of a sweep over a parameter: its values across, or down with bars. */
#include "checks.h"
#include "sink_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* The mode and its options as they are called: a record knows them by their names. */
static const struct xb_mode many = {.name = "batch"};
static const struct xb_option piece = {.name = "piece", .type = XB_OPTION_SIZES};
static const struct xb_option layout = {.name = "layout", .type = XB_OPTION_CHOICES};
static const struct xb_option blocks = {.name = "blocks", .type = XB_OPTION_COUNTS};

static struct xb_result *add_piece(struct node *n, const char *variant, uint64_t bytes,
                                   const char *where, double gigabytes)
{
    struct xb_result *row = add(n, &many, variant, XB_H2D, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &piece, .count = bytes};
    row->test.settings[1] = (struct xb_setting){.option = &layout, .word = where};
    row->test.setting_count = 2;
    return row;
}

NODE_TEST(a_sweep_has_a_table)
{
    struct node *n = *state;
    const uint64_t sizes[] = {4096, 512, 1 << 20}; /* in any order */
    const char *const skipped = "skipped here";
    for (size_t i = 0; i < 3; i++) {
        add_piece(n, "each", sizes[i], "scattered", (double)sizes[i] / 1000);
        struct xb_result *row = add_piece(n, "kernel", sizes[i], "scattered", 50);
        /* Two of a way: the better one counts. */
        row->test.settings[row->test.setting_count++] =
            (struct xb_setting){.option = &blocks, .count = 2};
        row = add_piece(n, "kernel", sizes[i], "scattered", 40);
        row->test.settings[row->test.setting_count++] =
            (struct xb_setting){.option = &blocks, .count = 4};
    }
    struct xb_result *row = add_piece(n, "graph", 512, "scattered", 1);
    row->row.status = XB_RESULT_SKIPPED;
    row->row.verified = XB_VERIFIED_UNKNOWN;
    set_reason(row, skipped);
    char *text = written(write_all, &n->run);
    const char *table = strstr(text, "To the GPU, 256 MiB, GB/s by piece");
    assert_non_null(table);
    assert_row(table, "To the GPU, 256 MiB, GB/s by piece 512 B 4 KiB 1 MiB");
    assert_row(table, " batch, a copy a piece 0.5120 4.096 1049");
    assert_row(table, " batch, by a kernel, blocks 2 50.00 50.00 50.00");
    assert_row(table, " batch, by a kernel, blocks 4 40.00 40.00 40.00");
    free(text);
}

/* What else tells cases apart stands in the names of the rows. */
NODE_TEST(layouts_are_rows_of_their_own)
{
    struct node *n = *state;
    const char *const where[] = {"scattered", "rows"};
    for (size_t w = 0; w < 2; w++)
        for (uint64_t bytes = 512; bytes <= 2048; bytes *= 2)
            add_piece(n, "each", bytes, where[w], (double)(w + 1));
    char *text = written(write_all, &n->run);
    assert_row(text, " batch, a copy a piece, layout scattered 1.0000 1.0000 1.0000");
    assert_row(text, " batch, a copy a piece, layout rows 2.000 2.000 2.000");
    free(text);
}

NODE_TEST(two_values_are_rows)
{
    struct node *n = *state;
    add_piece(n, "each", 512, "scattered", 1);
    add_piece(n, "each", 1024, "scattered", 1);
    char *text = written(write_all, &n->run);
    assert_null(strstr(text, "by piece"));
    free(text);
}

static struct xb_result *add_chunk(struct node *n, enum xb_direction direction, uint64_t chunk,
                                   uint64_t streams, double gigabytes)
{
    static const struct xb_option option_chunk = {.name = "chunk", .type = XB_OPTION_SIZES};
    static const struct xb_option option_streams = {.name = "streams", .type = XB_OPTION_COUNTS};
    struct xb_result *row = add(n, &async, "alloc", direction, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &option_chunk, .count = chunk};
    row->test.settings[1] = (struct xb_setting){.option = &option_streams, .count = streams};
    row->test.setting_count = 2;
    return row;
}

/* One list stands across, the other in the names. */
NODE_TEST(two_lists_have_a_table)
{
    struct node *n = *state;
    for (uint64_t chunk = 512; chunk <= 2048; chunk *= 2)
        for (uint64_t streams = 4; streams >= 2; streams -= 2) {
            add_chunk(n, XB_H2D, chunk, streams, (double)(chunk / 512 * 10 + streams));
            add_chunk(n, XB_D2H, chunk, streams, 50);
        }
    char *text = written(write_all, &n->run);
    const char *table = strstr(text, "To the GPU, 256 MiB, GB/s by chunk");
    assert_non_null(table);
    assert_row(table, "To the GPU, 256 MiB, GB/s by chunk 512 B 1 KiB 2 KiB");
    assert_row(table, " async, allocated, streams 4 14.00 24.00 44.00");
    assert_row(table, " async, allocated, streams 2 12.00 22.00 42.00");
    assert_has(text, "Back to the host, 256 MiB, GB/s by chunk");
    free(text);
}

/* Of one method its directions stand beside each other. */
NODE_TEST(one_list_has_its_directions)
{
    struct node *n = *state;
    for (uint64_t streams = 1; streams <= 4; streams *= 2) {
        add_chunk(n, XB_H2D, 512, streams, (double)streams * 10);
        add_chunk(n, XB_D2H, 512, streams, (double)streams * 12);
    }
    char *text = written(write_all, &n->run);
    const char *table = strstr(text, "async, allocated, 256 MiB, by streams");
    assert_non_null(table);
    assert_row(table,
               "async, allocated, 256 MiB, by streams To the GPU, GB/s Back to the host, GB/s");
    assert_row(table, " 4 40.00 ######### 48.00 ########");
    free(text);
}

/* With many sizes, sizes stand across, and the parameter in the names. */
NODE_TEST(sizes_come_first)
{
    struct node *n = *state;
    for (uint64_t streams = 1; streams <= 4; streams *= 2)
        for (uint64_t bytes = 1 << 24; bytes <= 1 << 26; bytes *= 2)
            add_chunk(n, XB_H2D, 512, streams, 50)->test.bytes = bytes;
    char *text = written(write_all, &n->run);
    assert_null(strstr(text, "by streams"));
    assert_row(text, "To the GPU, GB/s 16 MiB 32 MiB 64 MiB");
    free(text);
}

static int set_locale(NO_STATE)
{
    return setenv("LC_ALL", "C", 1);
}
GROUP(set_locale, NULL)
