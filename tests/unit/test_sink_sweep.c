/* SPDX-License-Identifier: Apache-2.0 */
/* The small tables that sweeps over parameters end with. */
#include "checks.h"
#include "sink_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void a_sweep_has_a_table(void **state)
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
    const char *table = strstr(text, "batch h2d, 256 MiB: GB/s by piece\n");
    assert_non_null(table);
    assert_row(table, " each kernel graph");
    assert_row(table, " 512 B 0.5120 50.00 skip");
    assert_row(table, " 4 KiB 4.096 50.00 -");
    assert_row(table, " 1 MiB 1049 50.00 -");
    assert_true(strstr(table, "512 B") < strstr(table, "4 KiB"));
    free(text);
}

/* What else tells cases apart has a table of its own, which says so. */
static void layouts_have_tables_of_their_own(void **state)
{
    struct node *n = *state;
    const char *const where[] = {"scattered", "rows"};
    for (size_t w = 0; w < 2; w++)
        for (uint64_t bytes = 512; bytes <= 2048; bytes *= 2) {
            add_piece(n, "each", bytes, where[w], 1);
            add_piece(n, "call", bytes, where[w], 2);
        }
    char *text = written(write_all, &n->run);
    assert_has(text, "batch h2d, 256 MiB, layout scattered: GB/s by piece\n");
    assert_has(text, "batch h2d, 256 MiB, layout rows: GB/s by piece\n");
    free(text);
}

static void few_values_or_one_way_have_none(void **state)
{
    struct node *n = *state;
    add_piece(n, "each", 512, "scattered", 1);
    add_piece(n, "call", 512, "scattered", 1);
    add_piece(n, "each", 1024, "scattered", 1);
    add_piece(n, "each", 2048, "rows", 1); /* of another table */
    char *text = written(write_all, &n->run);
    assert_null(strstr(text, "GB/s by piece"));
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

/* Of one variant: one list down, and another across. */
static void two_lists_have_a_table(void **state)
{
    struct node *n = *state;
    for (uint64_t chunk = 512; chunk <= 2048; chunk *= 2)
        for (uint64_t streams = 4; streams >= 2; streams -= 2) {
            add_chunk(n, XB_H2D, chunk, streams, (double)(chunk / 512 * 10 + streams));
            add_chunk(n, XB_D2H, chunk, streams, 50);
        }
    char *text = written(write_all, &n->run);
    const char *table =
        strstr(text, "async alloc h2d, 256 MiB: GB/s by chunk (down) and streams (across)\n");
    assert_non_null(table);
    assert_row(table, " 4 2");
    assert_row(table, " 512 B 14.00 12.00");
    assert_row(table, " 1 KiB 24.00 22.00");
    assert_row(table, " 2 KiB 44.00 42.00");
    assert_has(text, "async alloc d2h, 256 MiB: GB/s by chunk (down) and streams (across)\n");
    free(text);
}

/* Where nothing else differs, the directions stand across. */
static void one_list_has_its_directions(void **state)
{
    struct node *n = *state;
    for (uint64_t streams = 1; streams <= 4; streams *= 2) {
        add_chunk(n, XB_H2D, 512, streams, (double)streams * 10);
        add_chunk(n, XB_D2H, 512, streams, (double)streams * 12);
    }
    char *text = written(write_all, &n->run);
    const char *table = strstr(text, "async alloc, 256 MiB, chunk 512 B: GB/s by streams\n");
    assert_non_null(table);
    assert_row(table, " h2d d2h");
    assert_row(table, " 1 10.00 12.00");
    assert_row(table, " 4 40.00 48.00");
    free(text);
}

/* A table has room for eight columns, and says where there would be more. */
static void what_is_left_out_is_told(void **state)
{
    struct node *n = *state;
    for (uint64_t chunk = 512; chunk <= 2048; chunk *= 2)
        for (uint64_t streams = 1; streams <= 9; streams++)
            add_chunk(n, XB_H2D, chunk, streams, 50);
    char *text = written(write_all, &n->run);
    const char *table = strstr(text, ": GB/s by chunk (down) and streams (across), the first 8\n");
    assert_non_null(table);
    assert_row(table, " 1 2 3 4 5 6 7 8");
    free(text);
}

static void other_modes_have_none(void **state)
{
    struct node *n = *state;
    for (uint64_t bytes = 512; bytes <= 2048; bytes *= 2) {
        add_piece(n, "each", bytes, "scattered", 1)->test.mode = &pinned;
        add_piece(n, "call", bytes, "scattered", 1)->test.mode = &pinned;
    }
    char *text = written(write_all, &n->run);
    assert_null(strstr(text, "GB/s by piece"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(a_sweep_has_a_table),
        NODE_TEST(layouts_have_tables_of_their_own),
        NODE_TEST(few_values_or_one_way_have_none),
        NODE_TEST(two_lists_have_a_table),
        NODE_TEST(one_list_has_its_directions),
        NODE_TEST(what_is_left_out_is_told),
        NODE_TEST(other_modes_have_none),
    };
    return cmocka_run_group_tests_name("sink_sweep", tests, NULL, NULL);
}
