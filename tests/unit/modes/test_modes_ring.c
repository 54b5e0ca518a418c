/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Pageable memory through a ring: nothing is read before it is there, and nothing is overwritten
 * before it was read. */

#include "testing.h"

#define RING_TEST(name) TEST_WITH(name, ring_setup, NULL)

#include "modes/ring.h"
#include "modes_fixture.h"

/* ---- the fake backend, with copies that are made as late as they may be ---- */

#define MOST_PENDING 4096

struct copy {
    struct xb_queue *queue;
    struct xb_buffer *target, *source;
    uint64_t to, from, bytes;
};

static struct {
    struct copy pending[MOST_PENDING];
    size_t made, enqueued; /* since the run began; those between are pending */
    struct {
        struct xb_event *event;
        size_t behind; /* so many copies were enqueued when it was recorded */
    } records[MOST_PENDING];
    size_t record_count;
    size_t most_pending;
    bool forgets_waits; /* as a ring would that does not wait */
} late;

static enum xb_status make_until(size_t number, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    while (status == XB_OK && late.made < number) {
        const struct copy *copy = &late.pending[late.made++ % MOST_PENDING];
        status = xb_fake_backend.queue_copy(copy->queue, copy->target, copy->to, copy->source,
                                            copy->from, copy->bytes, error);
        if (status == XB_OK)
            status = xb_fake_backend.queue_wait(copy->queue, error);
    }
    return status;
}

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                           struct xb_buffer *source, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    (void)error;
    assert_true(late.enqueued - late.made < MOST_PENDING);
    late.pending[late.enqueued++ % MOST_PENDING] =
        (struct copy){queue, target, source, to, from, bytes};
    if (late.enqueued - late.made > late.most_pending)
        late.most_pending = late.enqueued - late.made;
    return XB_OK;
}

static enum xb_status record(struct xb_event *event, struct xb_queue *queue, struct xb_error *error)
{
    size_t place = 0;
    while (place < late.record_count && late.records[place].event != event)
        place++;
    assert_true(place < MOST_PENDING);
    late.record_count += place == late.record_count;
    late.records[place].event = event;
    late.records[place].behind = late.enqueued;
    return xb_fake_backend.event_record(event, queue, error);
}

static enum xb_status wait_for_event(struct xb_event *event, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < late.record_count; i++)
        if (late.records[i].event == event && !late.forgets_waits)
            status = make_until(late.records[i].behind, error);
    return status == XB_OK ? xb_fake_backend.event_wait(event, error) : status;
}

static enum xb_status wait_for_queue(struct xb_queue *queue, struct xb_error *error)
{
    enum xb_status status = make_until(late.enqueued, error);
    return status == XB_OK ? xb_fake_backend.queue_wait(queue, error) : status;
}

static enum xb_status fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                           struct xb_pattern pattern, struct xb_error *error)
{
    enum xb_status status = make_until(late.enqueued, error);
    return status == XB_OK ? xb_fake_backend.queue_fill(queue, buffer, bytes, pattern, error)
                           : status;
}

static enum xb_status check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                            struct xb_pattern pattern, struct xb_mismatch *mismatch,
                            struct xb_error *error)
{
    enum xb_status status = make_until(late.enqueued, error);
    return status == XB_OK
               ? xb_fake_backend.queue_check(queue, buffer, bytes, pattern, mismatch, error)
               : status;
}

static int ring_setup(void **state)
{
    modes_setup(state);
    memset(&late, 0, sizeof late);
    struct xb_backend *variant = vary_fake();
    variant->queue_copy = copy;
    variant->queue_fill = fill;
    variant->queue_check = check;
    variant->queue_wait = wait_for_queue;
    variant->event_record = record;
    variant->event_wait = wait_for_event;
    return 0;
}

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

/* ---- the data ---- */

#define RING "--mode", "pageable", "--staging", "ring"

/* Chunks of whole pieces and of parts of one, rings that go round often and not at all. */
RING_TEST(test_late_copies_verify)
{
    struct fixture f;
    RUN(&f, RING, "--size", "1,4096,600001,2M", "--ring-chunk", "64K,100001", "--ring-slots", "3,5",
        "--threads", "1,4", "--host-offset", "0,3");
    assert_int_equal(f.run.case_count, 4 * 2 * 2 * 2 * 2 * 2);
    expect_all(&f, XB_RESULT_OK);
    assert_true(late.most_pending > 1);
    finish(&f);
}

RING_TEST(test_who_does_not_wait_is_seen)
{
    struct fixture f;
    late.forgets_waits = true;
    RUN(&f, RING, "--size", "2M", "--ring-chunk", "64K", "--ring-slots", "3");
    assert_int_equal(f.run.case_count, 2);
    expect_all_wrong(&f);
    finish(&f);
}

/* A chunk of 64 KiB is one piece. The threads' copies alone are bound likewise, or two of them
 * would write one slot at the same time. */
RING_TEST(test_no_more_than_the_ring_is_worked_on)
{
    struct fixture f;
    crew.most = 0;
    RUN(&f, RING, "--size", "2M", "--ring-chunk", "64K", "--ring-slots", "3", "--threads", "4");
    assert_int_equal(f.run.case_count, 2);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(crew.most, 3);
    finish(&f);
}

/* To be woken would take another thread longer, and on a busy CPU until the scheduler's next tick.
 * Above, and where somebody asks for them, there are threads. */
RING_TEST(test_a_small_copy_is_the_callers_own)
{
    static const struct {
        const char *size, *asked;
        unsigned threads;
    } copies[] = {
        {"1", "0", 1}, {"64K", "0", 1}, {"512K", "0", 1}, {"64K", "3", 3}, {"513K", "3", 3}};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        struct fixture f;
        RUN(&f, RING, "--size", copies[i].size, "--ring-chunk", "64K", "--threads",
            copies[i].asked);
        assert_int_equal(f.run.case_count, 2);
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(crew.threads, copies[i].threads);
        expect_number(&f.run.results[0], "threads", copies[i].threads);
        finish(&f);
    }
    assert_int_equal(xb_ring_plan_usual(512 << 10).threads, 1);
}

/* ---- the figures ---- */

/* Until the last byte is there, by the host's clock; one at a time. Beside it what bounds it. */
RING_TEST(test_a_ring_is_timed_by_the_host)
{
    struct fixture f;
    RUN(&f, RING, "--size", "1M", "--threads", "3");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_false(result->device_timer);
        expect_number(result, "iterations_per_sample", 1);
        expect_number(result, "threads", 3);
        double host = figure_of(result, "host_copy_rate")->samples.values[0];
        double link = figure_of(result, "ring_link_rate")->samples.values[0];
        assert_true(host > 0 && link > 0);
        assert_non_null(figure_of(result, "share_of_bound"));
    }
    finish(&f);
}

/* ---- how large a ring is ---- */

static struct xb_needs needs_with(const char *chunk, const char *slots)
{
    struct fixture f;
    PLAN(&f, RING, "--size", "1G", "--direction", "h2d", "--ring-chunk", chunk, "--ring-slots",
         slots);
    const struct xb_case *test = &f.run.results[0].test;
    struct xb_needs needs = xb_case_needs(test);
    finish(&f);
    return needs;
}

RING_TEST(test_a_ring_takes_memory)
{
    uint64_t without = (uint64_t)1 << 30;
    assert_int_equal(needs_with("1M", "3").host_bytes, without + (3u << 20));
    assert_int_equal(needs_with("2M", "5").host_bytes, without + (10u << 20));
    /* 16 MiB is the most: sqrt(1 GiB * 512 KiB) is 22.6 MiB. */
    assert_int_equal(needs_with("0", "4").host_bytes, without + (64u << 20));
}

/* sqrt(bytes * 512 KiB), in whole 64 KiB. */
RING_TEST(test_usual_chunks_grow_with_the_size)
{
    assert_int_equal(xb_ring_plan_usual(1).chunk, 64 << 10);
    assert_int_equal(xb_ring_plan_usual(512 << 10).chunk, 512 << 10);
    assert_int_equal(xb_ring_plan_usual(8 << 20).chunk, 2 << 20);
    assert_int_equal(xb_ring_plan_usual(128 << 20).chunk, 8 << 20);
    assert_int_equal(xb_ring_plan_usual(UINT64_C(1) << 40).chunk, 16 << 20);
}

RING_TEST(test_what_no_ring_can_be_is_refused)
{
    EXPECT_USAGE("--ring-slots", RING, "--ring-slots", "2");
    EXPECT_USAGE("take a larger --ring-chunk", RING, "--size", "1G", "--ring-chunk", "1");
}

/* The host's memory is measured once beside large cases that it may bound, and beside no other. */
RING_TEST(test_the_hosts_memory_is_measured)
{
    struct fixture f;
    RUN(&f, "--mode", "pageable,pinned,pin", "--pin-by", "alloc,copy", "--size", "1M,16M",
        "--direction", "h2d,bidir");
    double rate = 0;
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        const struct xb_result_figure *figure = figure_of(result, "host_memory_rate");
        bool is_bound = strcmp(result->test.variant, "ring") == 0 ||
                        strcmp(result->test.variant, "copy") == 0 ||
                        result->test.direction == XB_BIDIR;
        if (result->row.status != XB_RESULT_OK)
            continue;
        assert_int_equal(figure != NULL, is_bound && result->test.bytes == 16 << 20);
        assert_true(figure == NULL ||
                    (figure->computed > 0 && (rate == 0 || rate == figure->computed)));
        rate = figure != NULL ? figure->computed : rate;
    }
    assert_true(rate > 0);
    finish(&f);
}
