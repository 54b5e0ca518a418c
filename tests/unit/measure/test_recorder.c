/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* One more iteration, recorded: what ran where, for how long, and what a failure of recording
 * costs. A copy takes the fake device 1 ns a byte. */

#include "testing.h"

#include "sanitized.h"
#include "timeline_fixture.h"

#define MIB 1048576u

/* ---- looking at timelines ---- */

static const struct xb_track *track_of(const struct xb_timeline *timeline,
                                       const struct xb_timeline_span *span)
{
    assert_true(span->track < timeline->track_count);
    return &timeline->tracks[span->track];
}

static size_t count_of(const struct xb_timeline *timeline, enum xb_span_kind kind, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        count += timeline->spans[i].kind == kind && strcmp(timeline->spans[i].name, name) == 0;
    return count;
}

static uint64_t copied(const struct xb_timeline *timeline)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        bytes += timeline->spans[i].kind == XB_SPAN_COPY ? timeline->spans[i].bytes : 0;
    return bytes;
}

/* How many spans of that kind of track have the flow, which only one span of each kind may. */
static const struct xb_timeline_span *flow_on(const struct xb_timeline *timeline, uint64_t flow,
                                              enum xb_track_kind kind)
{
    const struct xb_timeline_span *found = NULL;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        if (span->flow != flow || track_of(timeline, span)->kind != kind)
            continue;
        assert_null(found);
        found = span;
    }
    return found;
}

/* What every timeline keeps to. */
static void check_timeline(const struct xb_timeline *timeline)
{
    double end = 0;
    assert_true(timeline->seconds > 0);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        bool is_first = i == 0 || timeline->spans[i - 1].track != span->track;
        bool is_on_queue = track_of(timeline, span)->kind == XB_TRACK_QUEUE;
        assert_true(span->end >= span->begin);
        assert_true(is_first || span->track > timeline->spans[i - 1].track ||
                    span->begin >= timeline->spans[i - 1].begin);
        if (is_on_queue && !is_first)
            assert_true(span->begin >= end);
        end = span->end;
        assert_true(is_on_queue == (span->kind == XB_SPAN_COPY || span->kind == XB_SPAN_KERNEL ||
                                    (span->kind == XB_SPAN_WAIT && span->flow > 0)));
        if (is_on_queue)
            assert_true(span->flow > 0);
        if (span->flow == 0)
            continue;
        const struct xb_timeline_span *call = flow_on(timeline, span->flow, XB_TRACK_THREAD);
        const struct xb_timeline_span *work = flow_on(timeline, span->flow, XB_TRACK_QUEUE);
        assert_non_null(call);
        assert_non_null(work);
        assert_int_equal(call->kind, XB_SPAN_CALL);
        assert_true(work->begin >= call->begin);
        assert_int_equal(work->bytes, call->bytes);
    }
}

/* Every copy takes what its bytes cost, by the device's clock. */
static void check_copies(const struct xb_timeline *timeline, double seconds_per_byte)
{
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        double expected = (double)span->bytes * seconds_per_byte + xb_fake.operation_s;
        if (span->kind == XB_SPAN_COPY && !(fabs(span->end - span->begin - expected) < 1e-9))
            fail_msg("%s took %.9g, not %.9g", span->name, span->end - span->begin, expected);
    }
}

/* ---- modes ---- */

MODES_TEST(test_one_copy)
{
    struct fixture f;
    RECORD(&f, "--mode", "pinned", "--direction", "both", "--size", "1M");
    const struct xb_timeline *h2d = timeline_of(&f, 0);
    const struct xb_timeline *d2h = timeline_of(&f, 1);
    check_timeline(h2d);
    check_copies(h2d, XB_FAKE_SECONDS_PER_BYTE);
    assert_int_equal(h2d->track_count, 2);
    assert_int_equal(count_of(h2d, XB_SPAN_COPY, "Memcpy HtoD (Pinned -> Device)"), 1);
    assert_int_equal(count_of(h2d, XB_SPAN_CALL, "queue_copy"), 1);
    assert_int_equal(count_of(h2d, XB_SPAN_WAIT, "queue_wait"), 1);
    assert_int_equal(h2d->span_count, 3);
    assert_int_equal(copied(h2d), MIB);
    assert_int_equal(h2d->left_out, 0);
    assert_int_equal(count_of(d2h, XB_SPAN_COPY, "Memcpy DtoH (Device -> Pinned)"), 1);
    expect_number(&f.run.results[0], "recorded_time", h2d->seconds);
    finish(&f);
}

MODES_TEST(test_nothing_is_recorded_unasked)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", "1M");
    assert_null(f.run.results[0].timeline);
    assert_true(isnan(detail_number(&f.run.results[0], "recorded_time")));
    finish(&f);
}

MODES_TEST(test_pageable_memory)
{
    struct fixture f;
    RECORD(&f, "--mode", "pageable", "--staging", "driver", "--direction", "d2h", "--size", "1M");
    const struct xb_timeline *timeline = timeline_of(&f, 0);
    check_timeline(timeline);
    assert_int_equal(count_of(timeline, XB_SPAN_COPY, "Memcpy DtoH (Device -> Pageable)"), 1);
    finish(&f);
}

MODES_TEST(test_chunks_on_several_queues)
{
    struct fixture f;
    RECORD(&f, "--mode", "async", "--chunk", "256K", "--streams", "3", "--direction", "h2d",
           "--size", "2M");
    const struct xb_timeline *timeline = timeline_of(&f, 0);
    check_timeline(timeline);
    check_copies(timeline, XB_FAKE_SECONDS_PER_BYTE);
    assert_int_equal(tracks_of(timeline, XB_TRACK_QUEUE), 3);
    assert_int_equal(count_of(timeline, XB_SPAN_COPY, "Memcpy HtoD (Pinned -> Device)"), 8);
    assert_int_equal(copied(timeline), 2 * MIB);
    finish(&f);
}

MODES_TEST(test_copies_and_kernels)
{
    struct fixture f;
    RECORD(&f, "--mode", "double-buffer", "--chunk", "256K", "--kernel-time", "1us", "--size",
           "1M");
    const struct xb_timeline *timeline = timeline_of(&f, 0);
    check_timeline(timeline);
    check_copies(timeline, XB_FAKE_SECONDS_PER_BYTE);
    assert_int_equal(count_of(timeline, XB_SPAN_COPY, "Memcpy HtoD (Pinned -> Device)"), 4);
    assert_int_equal(count_of(timeline, XB_SPAN_KERNEL, "compute"), 4);
    assert_int_equal(count_of(timeline, XB_SPAN_COPY, "Memcpy DtoH (Device -> Pinned)"), 4);
    assert_int_equal(copied(timeline), 2 * MIB);
    finish(&f);
}

MODES_TEST(test_pair_of_devices)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RECORD(&f, "--mode", "peer", "--pairs", "0:1", "--peer-path", "direct-write,staged", "--size",
           "2M", "--direction", "d2d");
    const struct xb_timeline *direct = timeline_of(&f, 0);
    const struct xb_timeline *staged = timeline_of(&f, 1);
    check_timeline(direct);
    check_copies(direct, XB_FAKE_PEER_SECONDS_PER_BYTE);
    assert_int_equal(count_of(direct, XB_SPAN_COPY, "Memcpy PtoP (Device -> Device)"), 1);
    check_timeline(staged);
    assert_true(count_of(staged, XB_SPAN_WAIT, "wait for an event") > 0);
    assert_int_equal(tracks_of(staged, XB_TRACK_QUEUE), 2);
    unsigned devices = 0;
    for (size_t i = 0; i < staged->track_count; i++)
        if (staged->tracks[i].kind == XB_TRACK_QUEUE)
            devices |= 1u << staged->tracks[i].device;
    assert_int_equal(devices, 3);
    finish(&f);
}

MODES_TEST(test_devices_at_the_same_time)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RECORD(&f, "--mode", "pinned", "--direction", "h2d", "--device", "0,1", "--simultaneous",
           "--size", "1M");
    size_t sums = 0;
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->timeline == NULL) {
            assert_true(result->test.simultaneous && !result->test.sum);
            continue;
        }
        assert_true(!result->test.simultaneous || result->test.sum);
        if (!result->test.sum)
            continue;
        sums++;
        check_timeline(result->timeline);
        assert_int_equal(tracks_of(result->timeline, XB_TRACK_QUEUE), 2);
        assert_int_equal(copied(result->timeline), 2 * MIB);
    }
    assert_int_equal(sums, 1);
    finish(&f);
}

MODES_TEST(test_lists_of_pieces)
{
    struct fixture f;
    RECORD(&f, "--mode", "batch", "--batch", "call,graph", "--direction", "h2d", "--piece", "64K",
           "--size", "1M");
    check_timeline(timeline_of(&f, 0));
    assert_int_equal(copied(timeline_of(&f, 0)), MIB);
    check_timeline(timeline_of(&f, 1));
    assert_int_equal(count_of(timeline_of(&f, 1), XB_SPAN_COPY, "graph of copies"), 1);
    finish(&f);
}

/* What does not fit is run, and counted. */
MODES_TEST(test_too_many_operations)
{
    struct fixture f;
    if (IS_SANITIZED)
        skip(); /* 50000 operations */
    RECORD(&f, "--mode", "batch", "--batch", "each", "--direction", "h2d", "--piece", "64",
           "--layout", "contiguous", "--size", "1049600", "--samples=1", "--time-limit", "1ms");
    const struct xb_timeline *timeline = timeline_of(&f, 0);
    assert_int_equal(count_of(timeline, XB_SPAN_COPY, "Memcpy HtoD (Pinned -> Device)"), 16384);
    assert_int_equal(count_of(timeline, XB_SPAN_CALL, "queue_copy"), 16384);
    assert_int_equal(timeline->left_out, 1049600 / 64 - 16384);
    finish(&f);
}

/* ---- failures ---- */

/* The so-many-th call after the only sample fails. */
static void strike(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const unsigned *after = argument;
    hurry(NULL, run, samples, bandwidth);
    if (samples == 1)
        xb_fake.fail_at = xb_fake.calls + *after;
}

/* Only an operation of the iteration, or of what verifies it, is an error of the case. */
static bool is_of_recording(const char *call)
{
    return strcmp(call, "event_open") == 0 || strcmp(call, "event_record") == 0 ||
           strcmp(call, "event_wait") == 0 || strcmp(call, "event_elapsed") == 0;
}

static void strike_all(const char *const *arguments, unsigned least_warned)
{
    unsigned warned = 0;
    bool happened = true;
    for (unsigned after = 1; happened; after += IS_SANITIZED ? 7 : 2) {
        struct fixture f;
        const struct xb_run_observer observer = {.progress = strike, .argument = &after};
        reset_fake();
        plan(&f, arguments);
        f.run.keeps_timelines = true;
        go(&f, &observer);
        const struct xb_result *result = &f.run.results[0];
        happened = xb_fake.failures > 0;
        if (result->row.status == XB_RESULT_ERROR) {
            assert_int_equal(result->error.native_code, 999);
            assert_false(is_of_recording(result->error.call));
        } else {
            expect_status(result, XB_RESULT_OK);
            assert_int_equal(result->times.count, 1);
            assert_true(result->row.verified == XB_VERIFIED_TRUE);
            assert_true((result->timeline != NULL) !=
                        warns(result, "the timeline could not be recorded: "));
            assert_true(happened || result->timeline != NULL);
            warned += warns(result, "the timeline could not be recorded: ");
        }
        finish(&f);
    }
    assert_true(warned >= least_warned / (IS_SANITIZED ? 8 : 3));
}

/* Two clocks are looked at 20 times each, by three calls a look; each of four operations has five
 * calls besides. */
MODES_TEST(test_each_call_failing_costs_the_timeline_alone)
{
    strike_all(WORDS("--mode", "async", "--direction", "h2d", "--chunk", "64K", "--streams", "2",
                     "--size", "256K", "--samples=1"),
               2 * 20 * 3 + 4 * 5);
}
