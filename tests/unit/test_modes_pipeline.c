/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* From disk to device: what does not arrive is found, and what the figures are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modes/pipeline_figures.h"
#include "modes_fixture.h"
#include "sanitized.h"

#define PIPELINE "--mode", "pipeline", "--readers", "2", "--buffers", "2", "--io", "cached,gds"

static void expect_unverified(const struct fixture *f, enum xb_damage damage)
{
    size_t seen = 0;
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        if (result->status == XB_RESULT_SKIPPED)
            continue;
        if (result->status != XB_RESULT_ERROR || result->verified != XB_VERIFIED_FALSE)
            fail_msg("damage %d: %s %s passed: %s", (int)damage, result->test.variant,
                     result->test.settings[0].word, result->reason);
        assert_non_null(strstr(result->reason, "did not arrive as they are in the file"));
        seen++;
    }
    assert_true(seen == 5); /* gds has no serial-pageable */
}

static void test_what_does_not_arrive_never_verifies(void **state)
{
    (void)state;
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        /* It reads from the next chunk's slot: a race of the damage's own making. */
        if (HAS_THREAD_SANITIZER && damage == XB_DAMAGE_SHIFTED_2MIB)
            continue;
        reset_fake();
        xb_fake.damage = (enum xb_damage)damage;
        /* What comes from 2 MiB further on must have so much behind it in its slots. */
        if (damage == XB_DAMAGE_SHIFTED_2MIB)
            RUN(&f, PIPELINE, "--size", "5M", "--chunk", "3M");
        else
            RUN(&f, PIPELINE, "--size", "320K", "--chunk", "192K");
        expect_unverified(&f, (enum xb_damage)damage);
        finish(&f);
    }
}

/* Right all through warm-up, nothing from the first timed sample on: all that is in slots, on
 * either side, is of before. */
static void stop_when_warm(void *argument, const struct xb_run *run, size_t samples,
                           double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    xb_fake.damage = samples < 2 ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
}

static void test_what_warm_up_left_does_not_verify(void **state)
{
    (void)state;
    const struct xb_run_observer observer = {.progress = stop_when_warm};
    struct fixture f;
    /* As many slots as chunks: each chunk lies where it lay before. */
    execute(&f, WORDS(PIPELINE, "--size", "64K", "--chunk", "32K", "--warm-up", "200ms"),
            &observer);
    expect_unverified(&f, XB_DAMAGE_NOTHING_COPIED);
    finish(&f);
}

/* A comparison that gates on a share must not call a busier device a regression. */
static void test_to_be_busy_is_better(void **state)
{
    (void)state;
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        assert_true(xb_pipeline_busy[i].more_is_better);
        assert_false(xb_pipeline_wait[i].more_is_better);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODES_TEST(test_what_does_not_arrive_never_verifies),
        MODES_TEST(test_what_warm_up_left_does_not_verify),
        cmocka_unit_test(test_to_be_busy_is_better),
    };
    return cmocka_run_group_tests_name("modes_pipeline", tests, NULL, NULL);
}
