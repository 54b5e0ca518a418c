/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Every mode: wrong copies never verify. */

#include "testing.h"

#include "modes_fixture.h"
#include "sanitized.h"

/* Whatever the damage is, the same threads make it and find it: to see them race, one kind is
 * enough. */
static bool is_tried(enum xb_damage damage)
{
    return !HAS_THREAD_SANITIZER || damage == XB_DAMAGE_BIT_FLIPPED;
}

static void expect_unverified(enum xb_damage damage)
{
    struct fixture f;
    reset_fake();
    xb_fake.device_count = 2;
    xb_fake.damage = damage;
    /* Two chunks, of which the last is shorter, and one that is not full; a mode may cut either
     * into copies, each of which must be large enough to be damaged. But what comes from 2 MiB
     * further on comes from the next chunk, which another queue may write: a race of the damage's
     * own making, unless there is but one chunk. */
    if (damage == XB_DAMAGE_SHIFTED_2MIB)
        RUN(&f, EVERYTHING, "--size", "2560K", "--chunk", "8M", "--touched", "50,100");
    else
        RUN(&f, EVERYTHING, "--size", "320K,64K", "--chunk", "192K", "--touched", "50,100");
    expect_all_wrong(&f);
    expect_every_way(&f);
    finish(&f);
}

MODES_TEST(test_wrong_copies_never_verify)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++)
        if (is_tried((enum xb_damage)damage))
            expect_unverified((enum xb_damage)damage);
}

/* Nor do those of single operations or of several devices. */
MODES_TEST(test_wrong_copies_never_verify_elsewhere)
{
    const char *const ways[][3] = {{"--size", "64K", "--latency"},
                                   {"--size", "64K", "--simultaneous"}};
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
            struct fixture f;
            if (damage == XB_DAMAGE_SHIFTED_2MIB || !is_tried((enum xb_damage)damage))
                continue; /* nothing lies 2 MiB further on */
            reset_fake();
            xb_fake.device_count = w == 0 ? 2 : 3; /* two pairs are no group */
            xb_fake.damage = (enum xb_damage)damage;
            RUN(&f, ways[w][0], ways[w][1], ways[w][2], EVERYTHING);
            size_t seen = 0;
            for (size_t i = 0; i < f.run.case_count; i++) {
                const struct xb_result *result = &f.run.results[i];
                if (w == 0 && result->row.status == XB_RESULT_SKIPPED &&
                    (result->test.direction == XB_BIDIR || result->test.mode->latency != NULL))
                    continue;
                expect_reason(result, XB_RESULT_ERROR, "bytes are wrong after the copy");
                assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
                seen += w == 0 ? result->test.latency : result->test.sum;
            }
            assert_true(seen > 0);
            finish(&f);
        }
}

/* Nor do those into memory that was given back before, by the synchronous call, of kernels that
 * reach ordinary memory, or of jobs, also where nothing comes back, and where more does than went
 * in. */
MODES_TEST(test_wrong_copies_never_verify_in_other_ways)
{
    static const struct {
        size_t cases;
        const char *words[7];
    } ways[] = {{2, {"--mode=pageable", "--target=fresh", "--direction=d2h", "--ring-chunk=8M"}},
                {4, {"--mode=pageable,pinned", "--staging=driver", "--call=sync"}},
                {2, {"--mode=pinned", "--gpu-memory=malloc,pool", "--direction=h2d"}},
                {2, {"--mode=zero-copy", "--in-place=malloc"}},
                {1, {"--mode=resident", "--steps=2"}},
                {4, {"--mode=job", "--job-out=0", "--chunk=2560K"}},
                {4, {"--mode=job", "--job-out=1600K", "--chunk=2560K"}},
                {4, {"--mode=job", "--job-out=2560K", "--chunk=2560K"}},
                {4, {"--mode=job", "--job-out=4000K", "--chunk=2560K"}}};
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        if (!is_tried((enum xb_damage)damage))
            continue;
        for (size_t w = 0; w < COUNT_OF(ways); w++) {
            const char *const *more = ways[w].words;
            reset_fake();
            xb_fake.damage = (enum xb_damage)damage;
            execute(&f, WORDS("--size=2560K", more[0], more[1], more[2], more[3]), NULL);
            assert_int_equal(f.run.case_count, ways[w].cases);
            expect_all_wrong(&f);
            finish(&f);
        }
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

MODES_TEST(test_warm_up_does_not_stand_in_for_the_samples)
{
    const struct xb_run_observer observer = {.progress = stop_copying_when_warm};
    struct fixture f;
    xb_fake.device_count = 2;
    /* Where the host times a case its samples take as long as the machine likes. One that takes
     * longer than the warm-up may last would leave that out. */
    execute(&f, WORDS(EVERYTHING, "--size", "64K", "--warm-up", "200ms"), &observer);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
    finish(&f);
}

/* Modes whose kernels compute on what is copied, each in the ways that differ in what comes back.
 */
#define WAYS "--way=pinned,pageable,ring,overlapped"
static const char *const jobs[][4] = {
    {"--mode=double-buffer", "--chunk=16K"},
    {"--mode=resident", "--steps=1,3"},
    {"--mode=job", WAYS, "--job-out=0", "--chunk=16K"},
    {"--mode=job", WAYS, "--job-out=64K", "--chunk=16K"},
    {"--mode=job", WAYS, "--job-out=100K", "--chunk=16K"},
    {"--mode=job", "--way=managed,prefetch,zero-copy", "--job-out=0"},
};

static void plan_job(struct fixture *f, size_t i)
{
    reset_fake();
    plan(f, WORDS("--size=64K", jobs[i][0], jobs[i][1], jobs[i][2], jobs[i][3]));
}

MODES_TEST(test_a_kernel_that_does_nothing_never_verifies)
{
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct fixture f;
        plan_job(&f, i);
        xb_fake.compute_is_free = true;
        go(&f, NULL);
        expect_all_wrong(&f);
        finish(&f);
    }
}

/* All copies are right up to the first case's last reference, and none is made after it; those of a
 * job in place are the CPU's. */
MODES_TEST(test_a_reference_does_not_stand_in_for_the_samples)
{
    for (size_t i = 0; i + 1 < COUNT_OF(jobs); i++) {
        struct fixture f;
        plan_job(&f, i);
        go_prepared(&f, prepare_and_stop_copying);
        expect_all_wrong(&f);
        finish(&f);
    }
}

/* With a check that sees nothing the windows are what is left; the last byte lies in one. A
 * prefetch moves what one address serves for both sides: there are no two buffers to compare. */
MODES_TEST(test_windows_see_what_a_blind_check_does_not)
{
    struct fixture f;
    xb_fake.device_count = 2;
    xb_fake.check_is_blind = true;
    xb_fake.damage = XB_DAMAGE_LAST_BYTE_LOST;
    RUN(&f, "--mode", "pinned,pageable,async,zero-copy,managed,peer", "--managed", "fault,advise",
        "--staging", "driver,ring", "--size", "1M", "--direction", "h2d,d2d");
    assert_int_equal(f.run.case_count, 5 + 2 + 6);
    for (size_t i = 0; i < f.run.case_count; i++) {
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "the check itself is broken");
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
    }
    finish(&f);
}
