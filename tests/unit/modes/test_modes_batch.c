/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The mode of many small pieces: its ways, its figures, and that a wrong piece is found in each. */

#include "testing.h"

#include "modes/batch.h"
#include "modes_fixture.h"

#define WAYS "--batch", "each,call,graph,packed,kernel"
#define LAYOUTS "--layout", "scattered,host-scattered,device-scattered,contiguous,rows"

MODES_TEST(test_every_way_verifies)
{
    struct fixture f;
    /* Whole pieces, one that is shorter, one alone, and one byte. */
    RUN(&f, "--mode", "batch", WAYS, LAYOUTS, "--piece", "512,4K,5000", "--size", "64K,100001,1");
    assert_int_equal(f.run.case_count, 5 * 5 * 3 * 3 * 2);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(xb_fake.lists_open, 0);
    assert_int_equal(xb_fake.graphs_open, 0);
    finish(&f);
}

MODES_TEST(test_rows_verify_by_one_copy)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "pitched", "--layout", "rows", "--piece", "1000,8K",
        "--size", "64K,100001,7");
    assert_int_equal(f.run.case_count, 2 * 3 * 2);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

MODES_TEST(test_buffers_off_a_boundary_verify)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", WAYS, "--host-offset", "0,1,64", "--device-offset", "0,3", "--size",
        "64K");
    assert_int_equal(f.run.case_count, 5 * 3 * 2 * 2);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

static double figure(const struct xb_result *result, const char *name)
{
    for (size_t i = 0; i < result->figure_count; i++) {
        if (strcmp(result->figures[i].figure->name, name) == 0)
            return xb_result_median(result, result->figures[i].figure);
    }
    return NAN;
}

static bool has_figure(const struct xb_result *result, const char *name)
{
    return !isnan(figure(result, name));
}

MODES_TEST(test_figures_follow_from_time_and_pieces)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", WAYS, "--piece", "512", "--size", "64K");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        double seconds = 65536 / result->bandwidth.median;
        bool packed = strcmp(result->test.variant, "packed") == 0;
        bool kernel = strcmp(result->test.variant, "kernel") == 0;
        expect_number(result, "pieces", 128);
        assert_true(fabs(figure(result, "pieces_per_second") * seconds - 128) < 1e-6);
        assert_true(fabs(figure(result, "time_per_piece") * 128 / seconds - 1) < 1e-9);
        assert_int_equal(has_figure(result, "blocks"), kernel);
        assert_int_equal(has_figure(result, "pack_time"), packed);
        assert_int_equal(has_figure(result, "packed_copy_time"), packed);
        assert_int_equal(has_figure(result, "unpack_time"), packed);
        assert_false(has_figure(result, "sm_tax")); /* of so few bytes */
        assert_false(result->event_times);
        expect_number(result, "iterations_per_sample", 1); /* none hides another's calls */
        assert_string_equal(detail(result, "held"), "no");
    }
    finish(&f);
}

/* The fake's clock goes on for each queue alone: no kernel is slower beside a transfer. */
MODES_TEST(test_kernels_that_lose_nothing_pay_no_tax)
{
    struct fixture f;
    xb_fake.compute_is_free = true;
    RUN(&f, "--mode", "batch", "--batch", "call,packed,kernel", "--size", "16M", "--piece", "1M",
        "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    assert_false(has_figure(&f.run.results[0], "sm_tax"));
    for (size_t i = 1; i < 3; i++)
        assert_true(figure(&f.run.results[i], "sm_tax") == 0);
    finish(&f);
}

/* The case itself was measured and is right. */
MODES_TEST(test_a_tax_that_does_not_fit_costs_no_row)
{
    struct fixture f;
    xb_fake.compute_is_free = true;
    xb_fake.no_room_for = XB_SM_TAX_BYTES;
    RUN(&f, "--mode", "batch", "--batch", "kernel", "--size", "16M", "--piece", "1M", "--direction",
        "h2d");
    const struct xb_result *result = &f.run.results[0];
    expect_all(&f, XB_RESULT_OK);
    assert_false(has_figure(result, "sm_tax"));
    assert_true(result->bandwidth.n > 0);
    assert_true(warns(result, "SM tax not measured"));
    finish(&f);
}

MODES_TEST(test_the_kernel_has_the_blocks_asked_for)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "kernel", "--blocks", "4,17", "--size", "64K",
        "--direction", "h2d");
    assert_int_equal(f.run.case_count, 2);
    assert_true(figure(&f.run.results[0], "blocks") == 4);
    assert_true(figure(&f.run.results[1], "blocks") == 17);
    assert_int_equal(xb_fake.piece_blocks, 17);
    finish(&f);
}

MODES_TEST(test_a_call_takes_no_more_pieces_than_asked_for)
{
    const struct {
        const char *asked;
        size_t most;
    } calls[] = {{"100", 100}, {"0", 256}, {"4096", 256}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        struct fixture f;
        reset_fake();
        RUN(&f, "--mode", "batch", "--batch", "call", "--call-pieces", calls[i].asked, "--piece",
            "256", "--size", "64K");
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(xb_fake.most_pieces, calls[i].most);
        assert_int_equal(xb_fake.lists_open, 0);
        finish(&f);
    }
}

MODES_TEST(test_blocks_are_told_where_all_are_the_best)
{
    struct fixture f;
    xb_fake.more_blocks_are_faster = true;
    RUN(&f, "--mode", "batch", "--batch", "kernel", "--size", "64K", "--direction", "h2d");
    assert_int_equal(xb_fake.piece_blocks, 0); /* for all that there is room for */
    assert_true(figure(&f.run.results[0], "blocks") == XB_FAKE_MULTIPROCESSORS);
    finish(&f);
}

MODES_TEST(test_what_a_device_lacks_is_skipped)
{
    const struct {
        const char *way;
        uint32_t capability;
        const char *name;
    } lacks[] = {{"call", XB_CAP_BATCH, "'batch'"},
                 {"graph", XB_CAP_GRAPH, "'graph'"},
                 {"packed", XB_CAP_KERNELS, "'kernels'"},
                 {"kernel", XB_CAP_MAPPED, "'mapped'"},
                 {"pitched", XB_CAP_ROWS, "'rows'"}};
    for (size_t i = 0; i < COUNT_OF(lacks); i++) {
        struct fixture f;
        xb_fake.capabilities &= ~lacks[i].capability;
        RUN(&f, "--mode", "batch", "--batch", lacks[i].way, "--layout", "rows", "--size", "64K");
        for (size_t k = 0; k < f.run.case_count; k++)
            expect_reason(&f.run.results[k], XB_RESULT_SKIPPED, lacks[i].name);
        finish(&f);
        reset_fake();
    }
}

/* One copy a piece needs nothing that a device may lack. */
MODES_TEST(test_each_needs_nothing)
{
    struct fixture f;
    xb_fake.capabilities = 0;
    RUN(&f, "--mode", "batch", "--batch", "each", "--size", "64K");
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

MODES_TEST(test_too_many_pieces_are_skipped)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "each,graph", "--piece", "1", "--size", "1000001",
        "--direction", "h2d");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "1000001 pieces are more than 'each'");
    expect_reason(&f.run.results[1], XB_RESULT_SKIPPED, "1000001 pieces are more than 'graph'");
    finish(&f);
}

MODES_TEST(test_too_many_calls_are_skipped)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "call", "--piece", "1", "--call-pieces", "1,2", "--size",
        "131072", "--direction", "h2d");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "131072 calls are more than 'call'");
    assert_int_equal(f.run.results[1].row.status, XB_RESULT_OK);
    finish(&f);
}

/* Computing kernels run beside large cases alone. */
MODES_TEST(test_a_small_case_needs_no_memory_for_computing)
{
    struct fixture f;
    xb_fake.device_memory_free = UINT64_C(1) << 20;
    RUN(&f, "--mode", "batch", "--batch", "packed,kernel", "--size", "64K");
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

MODES_TEST(test_lists_need_memory)
{
    struct fixture f;
    xb_fake.device_memory_free = UINT64_C(4) << 20;
    RUN(&f, "--mode", "batch", "--batch", "call,each", "--piece", "1", "--size", "256K",
        "--direction", "h2d");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "of memory free, and the case needs");
    assert_int_equal(f.run.results[1].row.status, XB_RESULT_OK);
    finish(&f);
}

MODES_TEST(test_rows_are_asked_for_as_such)
{
    struct fixture f;
    RUN(&f, "--mode", "batch", "--batch", "pitched", "--size", "64K");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "--layout rows");
    finish(&f);
    EXPECT_USAGE("rows would overlap", "--mode", "batch", "--layout", "rows", "--piece", "16K",
                 "--pitch", "8K");
}

MODES_TEST(test_what_would_be_ignored_is_refused)
{
    EXPECT_USAGE("--pitch has no effect without --layout rows", "--mode", "batch", "--pitch", "8K");
    EXPECT_USAGE("--blocks has no effect without --batch kernel", "--mode", "batch", "--batch",
                 "packed,each", "--blocks", "8");
    EXPECT_USAGE("--call-pieces has no effect without --batch call", "--mode", "batch", "--batch",
                 "each", "--call-pieces", "8");
}

/* ---- damage ---- */

static void expect_found(enum xb_damage damage, const char *const *arguments)
{
    struct fixture f;
    reset_fake();
    xb_fake.damage = damage;
    execute(&f, arguments, NULL);
    expect_all_wrong(&f);
    finish(&f);
}

/* Pieces of which a single copy is large enough to be damaged. */
MODES_TEST(test_wrong_pieces_never_verify)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        if (damage == XB_DAMAGE_SHIFTED_2MIB)
            continue; /* nothing lies 2 MiB further on */
        expect_found((enum xb_damage)damage,
                     WORDS("--mode", "batch", WAYS, "--layout", "scattered,contiguous,rows",
                           "--piece", "16K", "--pitch", "20K", "--size", "160K,100001"));
        expect_found((enum xb_damage)damage,
                     WORDS("--mode", "batch", "--batch", "pitched", "--layout", "rows", "--piece",
                           "16K", "--pitch", "20K", "--size", "160K"));
    }
}

/* Small pieces: lost, misplaced or exchanged by what moves many at once. */
MODES_TEST(test_small_pieces_never_verify_at_the_wrong_place)
{
    const enum xb_damage damages[] = {XB_DAMAGE_BLOCKS_SWAPPED, XB_DAMAGE_NOTHING_COPIED,
                                      XB_DAMAGE_PIECE_LOST, XB_DAMAGE_PIECE_MISPLACED};
    for (size_t i = 0; i < COUNT_OF(damages); i++)
        expect_found(damages[i], WORDS("--mode", "batch", "--batch", "call,graph,packed,kernel",
                                       "--piece", "512,100", "--size", "64K"));
}
