/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Every mode, from options to results, over the fake backend: right copies verify, wrong ones never
 * do, and whatever call fails, the row says so and the run goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Whoever adds a mode looks here: what holds for all modes is tested for those of this list. */
static const char *const names[] = {"pageable",  "pinned",  "async", "double-buffer",
                                    "zero-copy", "managed", "peer",  NULL};

static void test_the_modes_are_those_tested_here(void **state)
{
    (void)state;
    size_t count = 0;
    for (; xb_modes[count] != NULL && names[count] != NULL; count++)
        assert_string_equal(xb_modes[count]->name, names[count]);
    assert_true(xb_modes[count] == NULL && names[count] == NULL);
}

/* Every variant and direction of every mode that the fake can have. */
#define EVERYTHING                                                                                 \
    "--direction", "both,bidir,d2d", "--host-memory", "registered,alloc,write-combined",           \
        "--access", "sequential,strided,random", "--managed", "fault,prefetch,advise"
/* How many cases that is, without peer: pageable, pinned, async, double-buffer, zero-copy and
 * managed. */
#define CASES_OF_ONE (2u + 3 * 3 + 3 * 3 + 3 * 1 + 3 * 2 + 3 * 2)
/* Of peer, with n devices: three paths, n (n - 1) ordered pairs, and half as many both ways. */
#define CASES_OF_PAIRS(n) (3u * ((n) * ((n)-1) + (n) * ((n)-1) / 2))

static void mark(unsigned seen[], const struct xb_result *result)
{
    for (size_t m = 0; names[m] != NULL; m++)
        if (strcmp(names[m], result->test.mode->name) == 0)
            seen[m] |= result->test.direction;
}

/* That every mode was seen in each of its directions. */
static void expect_every_way(const struct fixture *f)
{
    unsigned seen[COUNT_OF(names)] = {0};
    for (size_t i = 0; i < f->run.case_count; i++)
        mark(seen, &f->run.results[i]);
    for (size_t m = 0; names[m] != NULL; m++)
        assert_int_equal(seen[m], xb_modes[m]->directions);
}

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
        assert_int_equal(result->verified, XB_VERIFIED_TRUE);
        assert_string_equal(result->reason, "");
        assert_int_equal(result->bandwidth.n, 2);
        assert_int_equal(result->times.count, 2);
        assert_true(result->bandwidth.median > 0);
        assert_int_equal(result->bytes_moved, bytes_moved(&result->test));
        assert_int_equal(result->stop_reason, XB_STOP_FIXED);
        assert_true(result->submit_times.count > 0 && result->wall_times.count > 0);
    }
}

static void test_every_mode_verifies(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, EVERYTHING, "--size", "1,7,4095,64K,5000001", "--chunk", "1000008");
    assert_int_equal(f.run.case_count, (CASES_OF_ONE + CASES_OF_PAIRS(2)) * 5);
    expect_verified(&f);
    expect_every_way(&f);
    assert_true(xb_fake.ranges > f.run.case_count);
    assert_false(xb_fake.staged_by_runtime);
    finish(&f);
}

/* Few queues, many small chunks: every place of a ring or pipeline is used again and again. */
static void test_many_chunks_verify(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "async,double-buffer,peer", "--size", "100001", "--chunk", "1K", "--streams",
        "3", "--buffers", "2", "--direction", "both,bidir,d2d");
    assert_int_equal(f.run.case_count, 3 + 1 + CASES_OF_PAIRS(3));
    expect_verified(&f);
    finish(&f);
}

/* A sample is one operation: 3 samples, 3 of them also without events. */
static void test_every_mode_verifies_for_latency(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, EVERYTHING, "--latency", "--samples=3", "--size", "4,4097");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->test.direction == XB_BIDIR) {
            expect_reason(result, XB_RESULT_SKIPPED, "both ways at once are several");
            continue;
        }
        expect_status(result, XB_RESULT_OK);
        assert_int_equal(result->verified, XB_VERIFIED_TRUE);
        /* What the CPU waits for inside the call lies between no events. */
        assert_int_equal(result->device_latency.n, result->device_timer ? 3 : 0);
        assert_int_equal(result->host_latency.n, 3);
    }
    expect_every_way(&f);
    finish(&f);
}

/* ---- what the variants are ---- */

static void test_the_variant_is_the_memory_copied(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *option, *variant;
        unsigned memory, access;
        enum xb_advice advice;
    } rows[] = {
        {"pageable", NULL, NULL, 1u << XB_MEMORY_PAGEABLE, 0, XB_ADVICE_NONE},
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
        xb_fake_reset();
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
static void test_advice_ends_with_its_case(void **state)
{
    (void)state;
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
static void test_modes_share_a_workspace(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K", "--host-memory", "alloc");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(xb_fake.copied_memory, 1u << XB_MEMORY_PINNED | 1u << XB_MEMORY_PAGEABLE);
    finish(&f);
}

/* Page-locked is what the modes but async are about; there it takes turns, and keeps its caller. */
static void test_pageable_memory_is_for_async(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,double-buffer,async", "--host-memory", "pageable", "--size", "64K",
        "--direction", "both,bidir");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_string_equal(result->test.variant, "pageable");
        if (strcmp(result->test.mode->name, "async") != 0) {
            expect_reason(result, XB_RESULT_SKIPPED, "is about page-locked memory");
        } else if (result->test.direction == XB_BIDIR) {
            expect_reason(result, XB_RESULT_SKIPPED, "keeps its caller until it is done");
        } else {
            expect_status(result, XB_RESULT_OK);
            assert_string_equal(detail(result, "held"), "no");
        }
    }
    assert_int_equal(f.run.case_count, 3 + 1 + 3);
    assert_int_equal(xb_fake.holds, 0);
    finish(&f);
}

/* ---- wrong copies ---- */

static void expect_unverified(const char *name, enum xb_damage damage)
{
    struct fixture f;
    xb_fake_reset();
    xb_fake.device_count = 2;
    xb_fake.damage = damage;
    /* What comes from 2 MiB further on comes from the next chunk, which another queue may write: a
     * race of the damage's own making, unless there is but one. */
    RUN(&f, EVERYTHING, "--size", "5M,12K", "--chunk",
        damage == XB_DAMAGE_SHIFTED_2MIB ? "8M" : "3M");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (damage == XB_DAMAGE_SHIFTED_2MIB && result->test.bytes < 2 << 20)
            continue; /* nothing lies 2 MiB further on */
        if (result->status != XB_RESULT_ERROR || result->verified != XB_VERIFIED_FALSE)
            fail_msg("%s: %s %s %s of %llu bytes passed", name, result->test.mode->name,
                     result->test.variant, xb_direction_name(result->test.direction),
                     (unsigned long long)result->test.bytes);
        assert_non_null(strstr(result->reason, "bytes are wrong after the copy"));
    }
    expect_every_way(&f);
    finish(&f);
}

static void test_wrong_copies_never_verify(void **state)
{
    (void)state;
    expect_unverified("one bit flipped", XB_DAMAGE_BIT_FLIPPED);
    expect_unverified("two blocks swapped", XB_DAMAGE_BLOCKS_SWAPPED);
    expect_unverified("shifted by 2 MiB", XB_DAMAGE_SHIFTED_2MIB);
    expect_unverified("last byte lost", XB_DAMAGE_LAST_BYTE_LOST);
    expect_unverified("nothing copied", XB_DAMAGE_NOTHING_COPIED);
}

/* Nor do those of single operations or of several devices. */
static void test_wrong_copies_never_verify_elsewhere(void **state)
{
    (void)state;
    const char *const ways[][3] = {{"--size", "64K", "--latency"},
                                   {"--size", "64K", "--simultaneous"}};
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_NOTHING_COPIED; damage++) {
            struct fixture f;
            if (damage == XB_DAMAGE_SHIFTED_2MIB)
                continue; /* nothing lies 2 MiB further on */
            xb_fake_reset();
            xb_fake.device_count = 2;
            xb_fake.damage = (enum xb_damage)damage;
            RUN(&f, ways[w][0], ways[w][1], ways[w][2], EVERYTHING);
            size_t seen = 0;
            for (size_t i = 0; i < f.run.case_count; i++) {
                const struct xb_result *result = &f.run.results[i];
                if (w == 0 && result->test.direction == XB_BIDIR)
                    continue; /* skipped */
                expect_reason(result, XB_RESULT_ERROR, "bytes are wrong after the copy");
                assert_int_equal(result->verified, XB_VERIFIED_FALSE);
                seen += w == 0 ? result->test.latency : result->test.sum;
            }
            assert_true(seen > 0);
            finish(&f);
        }
}

/* Right all through warm-up, nothing from the first timed sample on. */
static void stop_copying_when_warm(void *argument, const struct xb_run *run, size_t samples,
                                   double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    /* The last warm-up sample tells; references and samples come after it. The next case begins
     * with right copies again. */
    xb_fake.damage = samples < 2 ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
}

static void test_warm_up_does_not_stand_in_for_the_samples(void **state)
{
    (void)state;
    const struct xb_run_observer observer = {.progress = stop_copying_when_warm};
    struct fixture f;
    xb_fake.device_count = 2;
    execute(&f, WORDS(EVERYTHING, "--size", "64K"), &observer);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].verified, XB_VERIFIED_FALSE);
    finish(&f);
}

/* With a check that sees nothing the windows are what is left; the last byte lies in one. A
 * prefetch moves what one address serves for both sides: there are no two buffers to compare. */
static void test_windows_see_what_a_blind_check_does_not(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    xb_fake.check_is_blind = true;
    xb_fake.damage = XB_DAMAGE_LAST_BYTE_LOST;
    RUN(&f, "--mode", "pinned,pageable,async,zero-copy,managed,peer", "--managed", "fault,advise",
        "--size", "1M", "--direction", "h2d,d2d");
    assert_int_equal(f.run.case_count, 4 + 2 + 6);
    for (size_t i = 0; i < f.run.case_count; i++) {
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "the check itself is broken");
        assert_int_equal(f.run.results[i].verified, XB_VERIFIED_FALSE);
    }
    finish(&f);
}

/* ---- what a device cannot do ---- */

static void test_missing_capability_skips(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *variant;
        uint32_t needed;
    } rows[] = {{"pinned", "registered", XB_CAP_REGISTER},
                {"pinned", "write-combined", XB_CAP_WRITE_COMBINED},
                {"async", "registered", XB_CAP_REGISTER},
                {"double-buffer", "alloc", XB_CAP_KERNELS},
                {"zero-copy", "sequential", XB_CAP_KERNELS},
                {"zero-copy", "sequential", XB_CAP_MAPPED},
                {"managed", "prefetch", XB_CAP_MANAGED}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        bool seen = false;
        xb_fake_reset();
        xb_fake.capabilities &= ~rows[i].needed;
        RUN(&f, EVERYTHING, "--size", "4K");
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            if (strcmp(result->test.mode->name, rows[i].mode) != 0 ||
                strcmp(result->test.variant, rows[i].variant) != 0)
                continue;
            expect_reason(result, XB_RESULT_SKIPPED, "lacks the capability");
            assert_int_equal(result->verified, XB_VERIFIED_UNKNOWN);
            seen = true;
        }
        assert_true(seen);
        expect_status(&f.run.results[0], XB_RESULT_OK); /* pageable needs nothing */
        finish(&f);
    }
}

static void test_pairs_without_access_are_staged_or_skipped(void **state)
{
    (void)state;
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

static void test_the_link_of_a_pair_is_told(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "64K", "--direction", "d2d", "--pairs", "0:1");
    assert_string_equal(detail(&f.run.results[0], "link"), "NVLink");
    expect_number(&f.run.results[0], "links", XB_FAKE_PEER_LINKS);
    expect_number(&f.run.results[0], "link_rate_bytes_per_second", XB_FAKE_PEER_LINK_RATE);
    finish(&f);
}

static void test_hold_only_where_it_may(void **state)
{
    (void)state;
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
    assert_non_null(strstr(f.run.results[0].warnings[0], "128 operations do not fit"));
    finish(&f);

    xb_fake.capabilities = 0;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d", "--host-memory", "alloc");
    assert_string_equal(detail(&f.run.results[0], "held"), "no");
    assert_non_null(strstr(f.run.results[0].warnings[0], "queues cannot be held"));
    expect_status(&f.run.results[0], XB_RESULT_OK);
    finish(&f);
}

static void test_too_little_device_memory_is_an_error_row(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_memory_free = 1 << 20;
    RUN(&f, "--mode", "pinned", "--size", "64K,2M", "--direction", "h2d");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    expect_status(&f.run.results[1], XB_RESULT_ERROR);
    assert_int_equal(f.run.results[1].error.status, XB_ERR_MEMORY);
    finish(&f);
}

/* ---- calls that fail ---- */

/* Ways to run each mode; two sizes, so that another case follows the one that is struck. */
static const char *const struck[][8] = {
    {"--mode", "pageable", NULL},
    {"--mode", "pinned", "--direction", "h2d,bidir", NULL},
    {"--mode", "async", "--chunk", "32K", "--streams", "3", NULL},
    {"--mode", "double-buffer", "--chunk", "32K", NULL},
    {"--mode", "double-buffer", "--chunk", "32K", "--kernel-time", "1us", NULL},
    {"--mode", "zero-copy", "--passes", "2", NULL},
    {"--mode", "managed", "--managed", "fault,prefetch,advise", NULL},
    {"--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-read,direct-write", NULL},
    {"--mode", "peer", "--pairs", "0:1", "--peer-path", "staged", NULL},
    {"--mode", "pinned", "--simultaneous", "--direction", "d2h", NULL},
    {"--mode", "async", "--simultaneous", "--direction", "h2d", NULL},
    {"--mode", "pageable,managed", "--latency", NULL},
    {"--mode", "peer", "--pairs", "0:1", "--latency", NULL},
};

static bool is_struck(const struct xb_result *result)
{
    return result->status == XB_RESULT_ERROR && result->error.native_code == 999;
}

/* A failure strikes one case (rows that run together are one) and those of a device that did not
 * open; the others go on. */
static void check_struck(const struct fixture *f)
{
    bool happened = xb_fake.fail_at > 0 && xb_fake.calls >= xb_fake.fail_at;
    size_t cases = 0;
    bool device_lost = false;
    bool advised = false;
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        advised = advised || strcmp(result->test.variant, "advise") == 0;
        if (!is_struck(result)) {
            expect_status(result, XB_RESULT_OK);
            continue;
        }
        assert_non_null(strstr(result->reason, "fakeErrorInjected"));
        assert_int_equal(result->bandwidth.n, 0);
        assert_int_equal(result->verified, XB_VERIFIED_UNKNOWN);
        cases += !result->test.simultaneous || result->test.sum;
        device_lost = device_lost || strcmp(result->error.call, "device_open") == 0;
    }
    if (!device_lost)
        assert_true(cases <= happened);
    /* The one failure that spoils nothing: taking advice back. */
    if (happened && !advised)
        assert_true(cases > 0);
}

static void start_struck(struct fixture *f, size_t way)
{
    const char *arguments[16] = {"--size", "96K,64K", "--samples=1"};
    memcpy(&arguments[3], struck[way], sizeof struck[way]);
    xb_fake_reset();
    xb_fake.device_count = 2;
    plan(f, arguments);
}

/* Counts from the run's beginning on: all of setup. */
static void test_each_call_failing_in_setup_gives_an_error_row(void **state)
{
    (void)state;
    for (size_t way = 0; way < COUNT_OF(struck); way++)
        for (unsigned at = 1; at <= 120; at += 1 + at / 8) {
            struct fixture f;
            start_struck(&f, way);
            xb_fake.fail_at = at;
            go(&f, NULL);
            check_struck(&f);
            finish(&f);
        }
}

/* The so-many-th call after a case's last warm-up sample fails. */
struct strike {
    size_t wanted; /* the case */
    unsigned after;
};

static void strike(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const struct strike *at = argument;
    hurry(NULL, run, samples, bandwidth);
    if (samples == 0 && run->done_count == at->wanted)
        xb_fake.fail_at = xb_fake.calls + at->after;
}

/* Strikes a case ever later, more coarsely as it repeats itself, until nothing is struck. */
static void strike_case(size_t way, size_t wanted)
{
    bool happened = true;
    for (struct strike at = {.wanted = wanted, .after = 1}; happened; at.after *= 2) {
        struct fixture f;
        const struct xb_run_observer observer = {.progress = strike, .argument = &at};
        start_struck(&f, way);
        assert_true(at.after < 100000);
        go(&f, &observer);
        check_struck(&f);
        happened = false;
        for (size_t i = 0; i < f.run.case_count; i++)
            happened = happened || is_struck(&f.run.results[i]);
        finish(&f);
    }
}

/* Warm-up, references, samples, verification. */
static void test_each_call_failing_later_gives_an_error_row(void **state)
{
    (void)state;
    for (size_t way = 0; way < COUNT_OF(struck); way++) {
        struct fixture f;
        start_struck(&f, way);
        size_t count = f.run.case_count;
        finish(&f);
        for (size_t wanted = 0; wanted < count; wanted++)
            strike_case(way, wanted);
    }
}

static void test_a_device_that_does_not_open_leaves_the_others(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    xb_fake.fail_at = 1; /* the first device_open */
    RUN(&f, "--mode", "pinned", "--size", "64K,32K", "--device", "all", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 6);
    for (size_t i = 0; i < 6; i++)
        expect_status(&f.run.results[i], i < 2 ? XB_RESULT_ERROR : XB_RESULT_OK);
    finish(&f);
}

static void test_a_sick_device_leaves_the_others(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_modes_are_those_tested_here),
        TEST(test_every_mode_verifies),
        TEST(test_many_chunks_verify),
        TEST(test_every_mode_verifies_for_latency),
        TEST(test_the_variant_is_the_memory_copied),
        TEST(test_advice_ends_with_its_case),
        TEST(test_modes_share_a_workspace),
        TEST(test_pageable_memory_is_for_async),
        TEST(test_wrong_copies_never_verify),
        TEST(test_wrong_copies_never_verify_elsewhere),
        TEST(test_warm_up_does_not_stand_in_for_the_samples),
        TEST(test_windows_see_what_a_blind_check_does_not),
        TEST(test_missing_capability_skips),
        TEST(test_pairs_without_access_are_staged_or_skipped),
        TEST(test_the_link_of_a_pair_is_told),
        TEST(test_hold_only_where_it_may),
        TEST(test_too_little_device_memory_is_an_error_row),
        TEST(test_each_call_failing_in_setup_gives_an_error_row),
        TEST(test_each_call_failing_later_gives_an_error_row),
        TEST(test_a_device_that_does_not_open_leaves_the_others),
        TEST(test_a_sick_device_leaves_the_others),
    };
    return cmocka_run_group_tests_name("modes", tests, NULL, NULL);
}
