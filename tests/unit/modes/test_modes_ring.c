/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Pageable memory through a ring: nothing is read before it is there, and nothing is overwritten
 * before it was read. */

#include "every_mode.h"
#include "late_copies.h"
#include "modes/ring.h"

#define RING_TEST(name) TEST_WITH(name, ring_setup, NULL)

#define RING "--mode pageable --staging ring"

/* ---- the crew, which is never to have more than a ring of chunks to work on ---- */

static struct {
    uint64_t done, most; /* items from the first one on, and ahead of them */
    unsigned threads;
} crew;

enum xb_status __real_xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                                    struct xb_error *error);
enum xb_status __wrap_xb_crew_begin(struct xb_crew *of, const struct xb_crew_job *job,
                                    struct xb_error *error)
{
    crew.done = 0;
    crew.threads = xb_crew_threads(of);
    return __real_xb_crew_begin(of, job, error);
}

enum xb_status __real_xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                                  struct xb_error *error);
enum xb_status __wrap_xb_crew_run(struct xb_crew *of, const struct xb_crew_job *job,
                                  struct xb_error *error)
{
    if (job->count > crew.most) /* allowed all at once */
        crew.most = job->count;
    return __real_xb_crew_run(of, job, error);
}

void __real_xb_crew_allow(struct xb_crew *crew, uint64_t limit);
void __wrap_xb_crew_allow(struct xb_crew *of, uint64_t limit)
{
    if (limit > crew.done && limit - crew.done > crew.most)
        crew.most = limit - crew.done;
    __real_xb_crew_allow(of, limit);
}

void __real_xb_crew_wait(struct xb_crew *crew, uint64_t item);
void __wrap_xb_crew_wait(struct xb_crew *of, uint64_t item)
{
    __real_xb_crew_wait(of, item);
    crew.done = item + 1;
}

static int ring_setup(void **state)
{
    (void)state;
    begin_modes(1);
    be_late();
    late.is_on = true;
    memset(&crew, 0, sizeof crew);
    return 0;
}

/* Chunks of whole pieces and of parts of one, rings that go round often and not at all. */
RING_TEST(late_copies_verify)
{
    struct fixture f;
    run_line(&f, RING " --size 1,4096,600001,2M --ring-chunk 64K,100001 --ring-slots 3,5 --threads "
                      "1,4 --host-offset 0,3");
    assert_int_equal(f.run.case_count, 4 * 2 * 2 * 2 * 2 * 2);
    expect_all(&f, XB_RESULT_OK);
    assert_true(late.most_pending > 1);
    finish(&f);
}

RING_TEST(who_does_not_wait_is_seen)
{
    struct fixture f;
    late.forgets_waits = true;
    run_line(&f, RING " --size 2M --ring-chunk 64K --ring-slots 3");
    assert_int_equal(f.run.case_count, 2);
    expect_all_wrong(&f);
    finish(&f);
}

/* A chunk of 64 KiB is one piece. The threads' copies alone are bound likewise, or two of them
 * would write one slot at the same time. */
RING_TEST(no_more_than_the_ring_is_worked_on)
{
    struct fixture f;
    run_line(&f, RING " --size 2M --ring-chunk 64K --ring-slots 3 --threads 4");
    assert_int_equal(f.run.case_count, 2);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(crew.most, 3);
    finish(&f);
}

/* To be woken would take another thread longer, and on a busy CPU until the scheduler's next tick.
 * Above, and where somebody asks for them, there are threads. */
RING_TEST(a_small_copy_is_the_callers_own)
{
    static const struct {
        const char *size, *asked;
        unsigned threads;
    } copies[] = {
        {"1", "0", 1}, {"64K", "0", 1}, {"512K", "0", 1}, {"64K", "3", 3}, {"513K", "3", 3}};
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        struct fixture f;
        run_line(&f, RING " --size %s --ring-chunk 64K --threads %s", copies[i].size,
                 copies[i].asked);
        assert_int_equal(f.run.case_count, 2);
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(crew.threads, copies[i].threads);
        expect_number(&f.run.results[0], "threads", copies[i].threads);
        finish(&f);
    }
    assert_int_equal(xb_ring_plan_usual(512 << 10).threads, 1);
}

/* sqrt(bytes * 512 KiB), in whole 64 KiB. */
RING_TEST(usual_chunks_grow_with_the_size)
{
    static const uint64_t rows[][2] = {{1, 64 << 10},
                                       {512 << 10, 512 << 10},
                                       {8 << 20, 2 << 20},
                                       {128 << 20, 8 << 20},
                                       {UINT64_C(1) << 40, 16 << 20}};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(xb_ring_plan_usual(rows[i][0]).chunk, rows[i][1]);
}
