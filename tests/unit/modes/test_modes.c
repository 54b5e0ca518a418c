/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Every mode: right copies verify, in every variant and direction; what cannot be is skipped. */

#include "testing.h"

#include "modes_fixture.h"

/* ---- right copies ---- */

static uint64_t bytes_moved(const struct xb_case *test)
{
    return test->direction == XB_BIDIR ? 2 * test->bytes : test->bytes;
}

static void expect_verified(const struct fixture *f)
{
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        expect_status(result, XB_RESULT_OK);
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
        assert_string_equal(result->reason, "");
        assert_int_equal(result->bandwidth.n, 2);
        assert_int_equal(result->times.count, 2);
        assert_true(result->bandwidth.median > 0);
        assert_int_equal(result->bytes_moved, bytes_moved(&result->test));
        assert_int_equal(result->stop_reason, XB_STOP_FIXED);
        assert_true(result->submit_times.count > 0 && result->wall_times.count > 0);
    }
}

MODES_TEST(test_every_mode_verifies)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, EVERYTHING, "--size", "1,7,4095,64K,500001", "--chunk", "100008");
    assert_int_equal(f.run.case_count, cases_of_all(&f, 2) * 5);
    expect_verified(&f);
    expect_every_way(&f);
    /* A profiler collects what is sampled, and nothing before. */
    assert_int_equal(xb_fake.samples_collected, 2 * f.run.case_count);
    assert_true(xb_fake.ranges > xb_fake.samples_collected + f.run.case_count);
    assert_false(xb_fake.staged_by_runtime);
    finish(&f);
}

/* So large that several threads fill it with the pattern and check it. */
MODES_TEST(test_large_copies_verify)
{
    struct fixture f;
    RUN(&f, "--mode", "pageable,pinned", "--size", "5000001");
    expect_verified(&f);
    finish(&f);
}

/* Few queues, many small chunks: every place of a ring or pipeline is used again and again. */
MODES_TEST(test_many_chunks_verify)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "async,double-buffer,peer", "--size", "100001", "--chunk", "1K", "--streams",
        "3", "--buffers", "2", "--direction", "both,bidir,d2d");
    assert_int_equal(f.run.case_count, 3 + 1 + cases_of_mode(&f, xb_mode_find("peer"), 3));
    expect_verified(&f);
    finish(&f);
}

/* Each case has its own chunks, queues and slots, also after one that had more or larger ones: of
 * 24 KiB three are as long as a case. */
MODES_TEST(test_many_chunks_of_each_length_verify)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async,double-buffer,peer", "--size", "73728,100001", "--chunk",
        "8M,24K,1000", "--streams", "5,1..2", "--buffers", "4,2,3", "--direction", "both,bidir,d2d",
        "--peer-path", "staged");
    /* Of two sizes: chunks by streams both ways and each, by buffers, and of peer three ways. */
    assert_int_equal(f.run.case_count, 2 * (9 * 3 + 9 + 3 * 3));
    expect_verified(&f);
    finish(&f);
}

/* A sample is one operation: 3 samples, 3 of them also without events. */
MODES_TEST(test_every_mode_verifies_for_latency)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, EVERYTHING, "--latency", "--samples=3", "--size", "4,4097");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->test.direction == XB_BIDIR) {
            expect_reason(result, XB_RESULT_SKIPPED, "both ways at once are several");
            continue;
        }
        if (result->test.mode->latency != NULL) { /* test_modes_loads.c measures them */
            expect_reason(result, XB_RESULT_SKIPPED, "goes through 2 MiB or more");
            continue;
        }
        expect_status(result, XB_RESULT_OK);
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
        /* What the CPU waits for inside the call lies between no events. */
        assert_int_equal(result->event_times, result->device_timer);
        assert_int_equal(result->times.count, 3);
        assert_int_equal(result->wall_times.count, 3);
    }
    expect_every_way(&f);
    finish(&f);
}

/* ---- what the variants are ---- */

MODES_TEST(test_the_variant_is_the_memory_copied)
{
    static const struct {
        const char *mode, *option, *variant;
        unsigned memory, access;
        enum xb_advice advice;
    } rows[] = {
        {"pageable", "--staging", "driver", 1u << XB_MEMORY_PAGEABLE, 0, XB_ADVICE_NONE},
        {"pageable", "--staging", "ring", 1u << XB_MEMORY_PINNED, 0, XB_ADVICE_NONE},
        {"pinned", "--host-memory", "alloc", 1u << XB_MEMORY_PINNED, 0, XB_ADVICE_NONE},
        {"pinned", NULL, NULL, 1u << XB_MEMORY_REGISTERED, 0, XB_ADVICE_NONE},
        {"async", "--host-memory", "write-combined", 1u << XB_MEMORY_WRITE_COMBINED, 0,
         XB_ADVICE_NONE},
        {"async", "--host-memory", "pageable", 1u << XB_MEMORY_PAGEABLE, 0, XB_ADVICE_NONE},
        {"double-buffer", NULL, NULL, 1u << XB_MEMORY_REGISTERED, 0, XB_ADVICE_NONE},
        {"zero-copy", "--access", "strided", 1u << XB_MEMORY_MAPPED, 1u << XB_ACCESS_STRIDED,
         XB_ADVICE_NONE},
        {"zero-copy", "--access", "random", 1u << XB_MEMORY_MAPPED, 1u << XB_ACCESS_RANDOM,
         XB_ADVICE_NONE},
        {"managed", "--managed", "prefetch", 1u << XB_MEMORY_MANAGED, 0, XB_ADVICE_NONE},
        {"managed", "--managed", "fault", 1u << XB_MEMORY_MANAGED, 1u << XB_ACCESS_SEQUENTIAL,
         XB_ADVICE_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        reset_fake();
        const char *arguments[] = {"--size",       "64K",           "--mode", rows[i].mode,
                                   rows[i].option, rows[i].variant, NULL};
        execute(&f, arguments, NULL);
        expect_all(&f, XB_RESULT_OK);
        unsigned device = 1u << XB_MEMORY_DEVICE; /* kernels also go from there to there */
        assert_int_equal(xb_fake.copied_memory & ~device, rows[i].memory);
        assert_int_equal(xb_fake.kernel_access, rows[i].access);
        assert_int_equal(xb_fake.advice, rows[i].advice);
        finish(&f);
    }
}

static void keep_advice(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(NULL, run, samples, bandwidth);
    *(enum xb_advice *)argument = xb_fake.advice;
}

/* Told to stay while the case runs, and to nobody afterwards. */
MODES_TEST(test_peers_are_copied_by_engine_or_kernel)
{
    static const struct {
        const char *path, *by;
        unsigned memory; /* host memory copied to or from; the device's own is not looked at */
        unsigned access;
    } rows[] = {
        {"direct-read,direct-write", "engine", 0, 0},
        {"direct-read,direct-write", "kernel", 0, 1u << XB_ACCESS_SEQUENTIAL},
        {"staged", "engine", 1u << XB_MEMORY_PINNED, 0},
        {"staged", "kernel", 1u << XB_MEMORY_MAPPED, 1u << XB_ACCESS_SEQUENTIAL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        reset_fake();
        xb_fake.device_count = 2;
        RUN(&f, "--mode", "peer", "--size", "64K", "--peer-path", rows[i].path, "--by", rows[i].by);
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(xb_fake.copied_memory & ~(1u << XB_MEMORY_DEVICE), rows[i].memory);
        assert_int_equal(xb_fake.kernel_access, rows[i].access);
        finish(&f);
    }
}

MODES_TEST(test_advice_ends_with_its_case)
{
    struct fixture f;
    enum xb_advice seen = XB_ADVICE_NONE;
    const struct xb_run_observer observer = {.progress = keep_advice, .argument = &seen};
    execute(&f, WORDS("--mode", "managed", "--managed", "advise", "--size", "64K"), &observer);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(seen, XB_ADVICE_STAY_ON_HOST);
    assert_int_equal(xb_fake.advice, XB_ADVICE_NONE);
    finish(&f);
}

/* One workspace, two kinds of memory. */
MODES_TEST(test_modes_share_a_workspace)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--staging", "driver", "--size", "64K", "--host-memory",
        "alloc");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(xb_fake.copied_memory, 1u << XB_MEMORY_PINNED | 1u << XB_MEMORY_PAGEABLE);
    finish(&f);
}

/* Page-locked is what the modes but async are about; there it takes turns, and blocks its caller.
 */
MODES_TEST(test_pageable_memory_is_for_async)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,double-buffer,async", "--host-memory", "pageable", "--size", "64K",
        "--direction", "both,bidir");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_string_equal(result->test.variant, "pageable");
        if (strcmp(result->test.mode->name, "async") != 0) {
            expect_reason(result, XB_RESULT_SKIPPED, "is about page-locked memory");
        } else if (result->test.direction == XB_BIDIR) {
            expect_reason(result, XB_RESULT_SKIPPED, "blocks the calling thread until it is done");
        } else {
            expect_status(result, XB_RESULT_OK);
            assert_string_equal(detail(result, "held"), "no");
        }
    }
    assert_int_equal(f.run.case_count, 3 + 1 + 3);
    assert_int_equal(xb_fake.holds, 0);
    finish(&f);
}

/* ---- what a device cannot do ---- */

MODES_TEST(test_missing_capability_skips)
{
    static const struct {
        const char *mode, *variant;
        uint32_t needed;
    } rows[] = {{"pinned", "registered", XB_CAP_REGISTER},
                {"pinned", "write-combined", XB_CAP_WRITE_COMBINED},
                {"async", "registered", XB_CAP_REGISTER},
                {"double-buffer", "alloc", XB_CAP_KERNELS},
                {"zero-copy", "sequential", XB_CAP_KERNELS},
                {"zero-copy", "sequential", XB_CAP_MAPPED},
                {"managed", "prefetch", XB_CAP_MANAGED},
                {"local", "kernel", XB_CAP_KERNELS}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        bool seen = false;
        reset_fake();
        xb_fake.capabilities &= ~rows[i].needed;
        RUN(&f, EVERYTHING, "--size", "4K");
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            if (strcmp(result->test.mode->name, rows[i].mode) != 0 ||
                strcmp(result->test.variant, rows[i].variant) != 0)
                continue;
            expect_reason(result, XB_RESULT_SKIPPED, "lacks the capability");
            assert_int_equal(result->row.verified, XB_VERIFIED_UNKNOWN);
            seen = true;
        }
        assert_true(seen);
        expect_status(&f.run.results[0], XB_RESULT_OK); /* pageable needs nothing */
        finish(&f);
    }
}

MODES_TEST(test_pairs_without_access_are_staged_or_skipped)
{
    struct fixture f;
    xb_fake.device_count = 2;
    xb_fake.no_peer_access = true;
    RUN(&f, "--mode", "peer", "--size", "64K");
    for (size_t i = 0; i < f.run.case_count; i++)
        if (strcmp(f.run.results[i].test.variant, "staged") == 0)
            expect_status(&f.run.results[i], XB_RESULT_OK);
        else
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "peer access is not possible");
    assert_false(xb_fake.staged_by_runtime);
    finish(&f);
}

/* And nothing else takes its place. */
MODES_TEST(test_peers_without_kernels_or_mapped_memory)
{
    const uint32_t missing[] = {XB_CAP_KERNELS, XB_CAP_MAPPED};
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        struct fixture f;
        reset_fake();
        xb_fake.device_count = 2;
        xb_fake.capabilities &= ~missing[i];
        RUN(&f, "--mode", "peer", "--size", "64K", "--direction", "d2d", "--pairs", "0:1", "--by",
            "engine,kernel");
        assert_int_equal(f.run.case_count, 2 * 3);
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            bool staged = strcmp(result->test.variant, "staged") == 0;
            if (k % 2 == 0 || (missing[i] == XB_CAP_MAPPED && !staged))
                expect_status(result, XB_RESULT_OK);
            else
                expect_reason(result, XB_RESULT_SKIPPED, " by kernel needs");
        }
        finish(&f);
    }
}

MODES_TEST(test_the_link_of_a_pair_is_told)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "64K", "--direction", "d2d", "--pairs", "0:1");
    assert_string_equal(detail(&f.run.results[0], "link"), "NVLink");
    expect_number(&f.run.results[0], "links", XB_FAKE_PEER_LINKS);
    expect_number(&f.run.results[0], "link_rate_bytes_per_second", XB_FAKE_PEER_LINK_RATE);
    finish(&f);
    /* What goes through the host says nothing of the link between the two. */
    RUN(&f, "--mode", "peer", "--size", "64K", "--direction", "d2d", "--pairs", "0:1",
        "--peer-path", "staged");
    assert_string_equal(detail(&f.run.results[0], "link"), "");
    finish(&f);
}

MODES_TEST(test_hold_only_where_it_may)
{
    static const char *const unheld[] = {"pageable", "managed"};
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--size", "64K");
    for (size_t i = 0; i < f.run.case_count; i++) {
        bool held = true;
        for (size_t k = 0; k < COUNT_OF(unheld); k++)
            held = held && strcmp(f.run.results[i].test.mode->name, unheld[k]) != 0;
        assert_string_equal(detail(&f.run.results[i], "held"), held ? "yes" : "no");
    }
    finish(&f);

    /* 128 operations do not fit behind a hold of 64: not held, and said. */
    RUN(&f, "--mode", "async", "--size", "128K", "--chunk", "1K", "--direction", "h2d");
    assert_string_equal(detail(&f.run.results[0], "held"), "no");
    assert_non_null(strstr(f.run.results[0].warnings[0], "(128; limit "));
    finish(&f);

    xb_fake.capabilities = 0;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d", "--host-memory", "alloc");
    assert_string_equal(detail(&f.run.results[0], "held"), "no");
    assert_non_null(strstr(f.run.results[0].warnings[0], "queues cannot be held"));
    expect_status(&f.run.results[0], XB_RESULT_OK);
    finish(&f);
}

MODES_TEST(test_too_little_device_memory_is_an_error_row)
{
    struct fixture f;
    xb_fake.device_memory_free = 1 << 20;
    RUN(&f, "--mode", "pinned", "--size", "64K,2M", "--direction", "h2d");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    expect_status(&f.run.results[1], XB_RESULT_ERROR);
    assert_int_equal(f.run.results[1].error.status, XB_ERR_MEMORY);
    finish(&f);
}

/* ---- devices that fail ---- */

MODES_TEST(test_a_device_that_does_not_open_leaves_the_others)
{
    struct fixture f;
    xb_fake.device_count = 3;
    xb_fake.fail_at = 1; /* the first device_open, of whichever device's thread comes first */
    RUN(&f, "--mode", "pinned", "--size", "64K,32K", "--device", "all", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 6);
    unsigned failed = 0;
    for (size_t i = 0; i < 6; i += 2) { /* both sizes of a device */
        enum xb_result_status status = f.run.results[i].row.status;
        failed += status == XB_RESULT_ERROR;
        expect_status(&f.run.results[i], status == XB_RESULT_ERROR ? status : XB_RESULT_OK);
        expect_status(&f.run.results[i + 1], status);
    }
    assert_int_equal(failed, 1);
    finish(&f);
}

MODES_TEST(test_a_sick_device_leaves_the_others)
{
    struct fixture f;
    xb_fake.device_count = 3;
    xb_fake.sick_device = 2;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--device", "all", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    expect_reason(&f.run.results[1], XB_RESULT_ERROR, "does not answer");
    expect_status(&f.run.results[2], XB_RESULT_OK);
    finish(&f);
    RUN(&f, "--mode", "pinned", "--size", "64K", "--device", "0000:03:00.0"); /* behind it */
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

/* Those that answer another question than how fast a buffer moves. */
MODES_TEST(test_all_modes_leave_some_out)
{
    static const char *const named[] = {"batch",    "compress", "job",     "pin",
                                        "pipeline", "quantize", "resident"};
    struct fixture f;
    PLAN(&f, "--mode", "all", "--size", "64K", "--direction", "both,bidir,d2d");
    assert_true(f.run.case_count > 0);
    for (size_t i = 0; i < f.run.case_count; i++)
        for (size_t k = 0; k < COUNT_OF(named); k++)
            assert_string_not_equal(f.run.results[i].test.mode->name, named[k]);
    finish(&f);
}
