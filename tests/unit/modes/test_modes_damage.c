/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Every mode: what was not copied, decoded, loaded or computed right never verifies. */

#include "every_mode.h"
#include "sanitized.h"

/* Whatever the damage is, the same threads make it and find it: to see them race, one kind is
 * enough. */
static bool is_tried(enum xb_damage damage)
{
    return !HAS_THREAD_SANITIZER || damage == XB_DAMAGE_BIT_FLIPPED;
}

/* Cases whose single operations are large enough to be damaged: two chunks, of which the last is
 * shorter, and one that is not full. But what comes from 2 MiB further on comes from the next
 * chunk, which another queue may write, a race of the damage's own making: of that there is one
 * chunk. */
enum { SHIFTED = 1, OTHERS, OF_PIECES };

#define SENT                                                                                       \
    "--mode quantize,compress --codec for --data integers,text --encode-chunk 128K --threads 2"

static const struct {
    unsigned damages, devices;
    size_t cases; /* 0: as many as there are */
    const char *words;
} ways[] = {
    {OTHERS, 2, 0, EVERYTHING " --size 320K,64K --chunk 192K --touched 50,100"},
    {SHIFTED, 2, 0, EVERYTHING " --size 2560K --chunk 8M --touched 50,100"},
    {OTHERS, 3, 0, EVERYTHING " --size 64K --simultaneous"}, /* two pairs are no group */
    /* Into memory that was given back before, by the synchronous call, of kernels that reach
     * ordinary memory, or of jobs, also where nothing comes back, and where more does than went in.
     */
    {OTHERS, 1, 2, "--size 64K --mode pageable --target fresh --direction d2h --ring-chunk 64K"},
    {SHIFTED, 1, 2, "--size 2560K --mode pageable --target fresh --direction d2h --ring-chunk 8M"},
    {OTHERS, 1, 4, "--size 64K --mode pageable,pinned --staging driver --call sync"},
    {SHIFTED, 1, 4, "--size 2560K --mode pageable,pinned --staging driver --call sync"},
    {OTHERS, 1, 2, "--size 64K --mode pinned --gpu-memory malloc,pool --direction h2d"},
    {SHIFTED, 1, 2, "--size 2560K --mode pinned --gpu-memory malloc,pool --direction h2d"},
    {OTHERS, 1, 2, "--size 64K --mode zero-copy --in-place malloc"},
    {SHIFTED, 1, 2, "--size 2560K --mode zero-copy --in-place malloc"},
    {OTHERS, 1, 1, "--size 64K --mode resident --steps 2"},
    {SHIFTED, 1, 1, "--size 2560K --mode resident --steps 2"},
    {OTHERS, 1, 4, "--size 64K --mode job --job-out 0 --chunk 64K"},
    {SHIFTED, 1, 4, "--size 2560K --mode job --job-out 0 --chunk 2560K"},
    {OTHERS, 1, 4, "--size 64K --mode job --job-out 40K --chunk 64K"},
    {SHIFTED, 1, 4, "--size 2560K --mode job --job-out 1600K --chunk 2560K"},
    {OTHERS, 1, 4, "--size 64K --mode job --job-out 64K --chunk 64K"},
    {SHIFTED, 1, 4, "--size 2560K --mode job --job-out 2560K --chunk 2560K"},
    {OTHERS, 1, 4, "--size 64K --mode job --job-out 100K --chunk 64K"},
    {SHIFTED, 1, 4, "--size 2560K --mode job --job-out 4000K --chunk 2560K"},
    /* Pieces of which a single copy is large enough, and small ones: lost, misplaced or exchanged
     * by what moves many at once. */
    {OTHERS, 1, 6 * 3 * 2 * 2,
     "--mode batch --batch each,call,graph,packed,kernel,bulk --layout scattered,contiguous,rows "
     "--piece 16K --pitch 20K --size 160K,100001"},
    {OTHERS, 1, 2,
     "--mode batch --batch pitched --layout rows --piece 16K --pitch 20K --size 160K"},
    {OF_PIECES, 1, 4 * 2 * 2,
     "--mode batch --batch call,graph,packed,kernel --piece 512,100 --size 64K"},
    {OTHERS, 2, 4, "--size 64K --mode local,peer --by bulk --direction d2d --pairs 0:1 --device 0"},
    /* Chunks are so large that what is made of them is large enough to be damaged. */
    {OTHERS, 1, 2 * (4 + 2 * 2), SENT " --size 192K,320K"},
    {OTHERS, 1, 8, "--mode pin --size 320K --pin-by alloc,register,used,copy"},
};

static bool can_have(unsigned damages, enum xb_damage damage)
{
    if (damages == OF_PIECES)
        return damage == XB_DAMAGE_BLOCKS_SWAPPED || damage >= XB_DAMAGE_NOTHING_COPIED;
    return (damages == SHIFTED) == (damage == XB_DAMAGE_SHIFTED_2MIB);
}

RUN_TEST(wrong_copies_never_verify)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++)
        for (size_t w = 0; w < COUNT_OF(ways); w++) {
            struct fixture f;
            if (!is_tried((enum xb_damage)damage) ||
                !can_have(ways[w].damages, (enum xb_damage)damage))
                continue;
            begin_modes(ways[w].devices);
            xb_fake.damage = (enum xb_damage)damage;
            run_line(&f, "%s", ways[w].words);
            if (ways[w].cases > 0)
                assert_int_equal(f.run.case_count, ways[w].cases);
            expect_all_wrong(&f);
            finish(&f);
        }
}

RUN_TEST(wrong_single_operations_never_verify)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        size_t seen = 0;
        if (damage == XB_DAMAGE_SHIFTED_2MIB || !is_tried((enum xb_damage)damage))
            continue;
        begin_modes(2);
        xb_fake.damage = (enum xb_damage)damage;
        run_line(&f, EVERYTHING " --size 64K --latency");
        for (size_t i = 0; i < f.run.case_count; i++) {
            const struct xb_result *result = &f.run.results[i];
            if (result->row.status == XB_RESULT_SKIPPED &&
                (result->test.direction == XB_BIDIR || result->test.mode->latency != NULL))
                continue;
            expect_reason(result, XB_RESULT_ERROR, "bytes are wrong after the copy");
            assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
            seen++;
        }
        assert_true(seen > 20);
        finish(&f);
    }
}

/* ---- what is right for some time ---- */

/* The damage begins with, or is there for, so many samples: SIZE_MAX for the warm-up. */
static struct {
    size_t from, until;
    enum xb_damage damage;
} late;

static void damage_late(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    xb_fake.damage = samples >= late.from && samples < late.until ? late.damage : XB_DAMAGE_NONE;
}

static const struct xb_run_observer damaging = {.progress = damage_late};

/* The last warm-up sample tells; references and samples come after it. The next case begins with
 * right copies again. */
RUN_TEST(warm_up_does_not_stand_in_for_the_samples)
{
    struct fixture f;
    begin_modes(2);
    late.from = 0;
    late.until = 2;
    late.damage = XB_DAMAGE_NOTHING_COPIED;
    /* Where the host times a case its samples take as long as the machine likes. One that takes
     * longer than the warm-up may last would leave that out. */
    plan_line(&f, EVERYTHING " --size 64K --warm-up 200ms");
    go(&f, &damaging);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
    finish(&f);
}

/* One load that brought another line's word: the chain ends elsewhere, whichever load it was. */
RUN_TEST(a_wrong_load_is_found_in_any_sample)
{
    for (size_t at = 0; at < 4;
         at++) { /* the first one, one between, the last one; in the warm-up */
        struct fixture f;
        reset_fake();
        xb_fake.device_count = 2;
        late.from = at < 3 ? at : SIZE_MAX;
        late.until = at + 1;
        late.damage = XB_DAMAGE_BIT_FLIPPED;
        if (at == 3) /* until its first sample is told */
            xb_fake.damage = XB_DAMAGE_BIT_FLIPPED;
        plan_line(&f, at < 3
                          ? "--mode loads,peer-loads --access sequential,strided,random --samples 3"
                          : "--mode loads --direction h2d --samples 3");
        go(&f, &damaging);
        for (size_t i = 0; i < f.run.case_count; i++) {
            expect_reason(&f.run.results[i], XB_RESULT_ERROR, "the chain ended at byte ");
            assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
        }
        finish(&f);
    }
}

/* Modes whose kernels compute on what is copied, each in the ways that differ in what comes back.
 * Of the last the copies are the CPU's. */
#define JOB "--size 64K --mode job --way pinned,pageable,ring,overlapped --chunk 16K --job-out "
static const char *const computing[] = {
    "--size 64K --mode double-buffer --chunk 16K",
    "--size 64K --mode resident --steps 1,3",
    JOB "0",
    JOB "64K",
    JOB "100K",
    "--size 64K --mode job --way managed,prefetch,zero-copy --job-out 0",
};

RUN_TEST(a_kernel_that_does_nothing_never_verifies)
{
    for (size_t i = 0; i < COUNT_OF(computing); i++) {
        struct fixture f;
        begin_modes(1);
        xb_fake.compute_is_free = true;
        run_line(&f, "%s", computing[i]);
        expect_all_wrong(&f);
        finish(&f);
    }
}

/* What an earlier case left is right, byte for byte. */
RUN_TEST(memory_that_comes_back_does_not_stand_in_for_the_samples)
{
    static const char *const others[] = {EVERYTHING " --size 320K --chunk 192K"};
    for (size_t i = 0; i < COUNT_OF(computing) - 1 + COUNT_OF(others); i++) {
        begin_modes(2);
        xb_fake.memory_comes_back = true;
        for (unsigned lost = 0; lost < 2; lost++) {
            struct fixture f;
            xb_fake.damage = lost ? XB_DAMAGE_PIECE_LOST : XB_DAMAGE_NONE;
            run_line(&f, "%s", i < COUNT_OF(others) ? others[i] : computing[i - COUNT_OF(others)]);
            if (lost)
                expect_all_wrong(&f);
            finish(&f);
        }
    }
}

static enum xb_status (*own_prepare)(struct xb_mode_context *context, struct xb_error *error);

static enum xb_status prepare_and_stop_copying(struct xb_mode_context *context,
                                               struct xb_error *error)
{
    enum xb_status status = own_prepare(context, error);
    xb_fake.damage = XB_DAMAGE_NOTHING_COPIED; /* of decodings too */
    return status;
}

/* Everything is right up to the last reference, and nothing is copied or restored after it. */
RUN_TEST(a_reference_does_not_stand_in_for_the_samples)
{
    static const char *const others[] = {
        "--mode compress --timed sent,made-and-sent --codec for --size 64K --threads 2",
        "--mode pin --pin-by used,copy --size 64K",
    };
    for (size_t i = 0; i < COUNT_OF(computing) - 1 + COUNT_OF(others); i++) {
        struct fixture f;
        begin_modes(1);
        plan_line(&f, "%s", i < COUNT_OF(others) ? others[i] : computing[i - COUNT_OF(others)]);
        struct xb_mode *mode = replace_mode(&f);
        own_prepare = mode->prepare;
        mode->prepare = prepare_and_stop_copying;
        go(&f, NULL);
        expect_all_wrong(&f);
        finish(&f);
    }
}

/* ---- the second opinion ---- */

/* With a check that sees nothing the windows are what is left; the last byte lies in one. A
 * prefetch moves what one address serves for both sides: there are no two buffers to compare. */
RUN_TEST(windows_see_what_a_blind_check_does_not)
{
    struct fixture f;
    begin_modes(2);
    xb_fake.check_is_blind = true;
    xb_fake.damage = XB_DAMAGE_LAST_BYTE_LOST;
    run_line(&f, "--mode pinned,pageable,async,zero-copy,managed,peer --managed fault,advise "
                 "--staging driver,ring --size 1M --direction h2d,d2d");
    assert_int_equal(f.run.case_count, 5 + 2 + 6);
    for (size_t i = 0; i < f.run.case_count; i++) {
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "the check itself is broken");
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
    }
    finish(&f);
}
