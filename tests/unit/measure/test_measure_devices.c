/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is timed of several devices at the same time. */

#include "testing.h"

#include "measure_fixture.h"

/*
 * Device 0's memory is given up while device 1 is measured alone, so at the same time its queue is
 * a second one and half as fast, and that of device 1 is the one it had.
 */
RUN_TEST(test_devices_at_the_same_time)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned,peer", "--size", "4M", "--simultaneous", "--direction", "h2d,d2d");
    assert_int_equal(f.run.case_count, 2 + 3 + 3 * 2 + 1);
    const struct xb_result *rows = f.run.results;
    for (unsigned d = 0; d < 2; d++) {
        assert_int_equal(rows[d].test.device, d);
        assert_false(rows[d].test.simultaneous || rows[d].test.sum);
        assert_null(figure_of(&rows[d], "share_of_alone"));
        expect_seconds(&rows[d], 4 * CHUNK_S);
        assert_int_equal(rows[3 + d].test.device, d);
        assert_true(rows[3 + d].test.simultaneous && !rows[3 + d].test.sum);
    }
    assert_true(rows[2].test.simultaneous && rows[2].test.sum);
    assert_int_equal(rows[2].bytes_moved, 8 << 20);
    expect_seconds(&rows[2], 8 * CHUNK_S);
    expect_seconds(&rows[3], 8 * CHUNK_S);
    expect_seconds(&rows[4], 4 * CHUNK_S);
    expect_samples(&rows[2], "overlap", 0.5);
    assert_null(figure_of(&rows[3], "overlap"));
    assert_null(figure_of(&rows[4], "overlap"));
    expect_computed(&rows[3], "share_of_alone", 0.5);
    expect_computed(&rows[4], "share_of_alone", 1.0);
    assert_null(figure_of(&rows[2], "share_of_alone"));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows[i].row.verified, XB_VERIFIED_TRUE);
    assert_true(rows[5].test.mode->pairs); /* and pairs, of which two are no group */
    expect_reason(&rows[11], XB_RESULT_SKIPPED, "needs three GPUs");
    finish(&f);
}

/* Each device has a queue each way; device 0, whose memory was given up, has its third and fourth.
 */
RUN_TEST(test_both_ways_on_all_devices)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--size", "4M", "--simultaneous", "--direction", "bidir");
    assert_int_equal(f.run.case_count, 2 + 3);
    const struct xb_result *rows = f.run.results;
    const double bytes = 4 * MIB;
    assert_int_equal(rows[2].bytes_moved, 16 << 20);
    expect_seconds(&rows[2], 16 * CHUNK_S);
    expect_seconds(&rows[3], 16 * CHUNK_S);
    expect_seconds(&rows[4], 8 * CHUNK_S);
    expect_samples(&rows[3], "bandwidth_h2d", bytes / (12 * CHUNK_S));
    expect_samples(&rows[3], "bandwidth_d2h", bytes / (16 * CHUNK_S));
    expect_samples(&rows[4], "bandwidth_h2d", bytes / (4 * CHUNK_S));
    expect_samples(&rows[4], "bandwidth_d2h", bytes / (8 * CHUNK_S));
    expect_samples(&rows[2], "bandwidth_h2d", 2 * bytes / (12 * CHUNK_S));
    expect_samples(&rows[2], "bandwidth_d2h", 2 * bytes / (16 * CHUNK_S));
    /* Device 1 is done after half of the time, and went both ways in half of its own. */
    expect_samples(&rows[2], "overlap", 0.25);
    expect_computed(&rows[3], "share_of_alone", 0.5);
    expect_computed(&rows[4], "share_of_alone", 1.0);
    finish(&f);
}

/* Each by itself: device 1 is slow, but as fast as it was alone. */
RUN_TEST(test_a_share_is_of_what_the_device_had)
{
    struct fixture f;
    alter(1, 1);
    altered.slow_device = 2;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--size", "2M,4M", "--simultaneous", "--direction", "h2d");
    const struct xb_result *rows = &f.run.results[2 + 2];
    for (unsigned s = 0; s < 2; s++) {
        double seconds = (s + 1) * 2 * 2 * CHUNK_S;
        for (unsigned i = 0; i < 3; i++)
            expect_seconds(&rows[3 * s + i], seconds);
        expect_samples(&rows[3 * s], "overlap", 1);
        expect_computed(&rows[3 * s + 1], "share_of_alone", 0.5);
        expect_computed(&rows[3 * s + 2], "share_of_alone", 1.0);
    }
    finish(&f);
}

/* Three devices, two sizes, both ways one after the other: a group each. */
RUN_TEST(test_groups_stand_one_after_the_other)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "async", "--size", "64K,32K", "--simultaneous", "--device", "2,0");
    assert_int_equal(f.run.case_count, 2 * 4 + 4 * 3);
    for (size_t i = 8; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        const struct xb_case *sum = &f.run.results[i - (i - 8) % 3].test;
        assert_int_equal(test->sum, (i - 8) % 3 == 0);
        assert_true(sum->sum);
        if (!test->sum)
            assert_int_equal(test->device, (i - 8) % 3 == 1 ? 2 : 0);
        assert_int_equal(test->bytes, sum->bytes);
        assert_int_equal(test->direction, sum->direction);
        expect_status(&f.run.results[i], XB_RESULT_OK);
    }
    finish(&f);
}

#define PEER_S (4 * MIB * XB_FAKE_PEER_SECONDS_PER_BYTE)

/*
 * Device 0 sends to both others by two queues of its own: its third, because its memory was given
 * up while 1>2 was measured, and its fifth. So 0>2 alone had the third, too. Each pair has buffers
 * of its own, or their patterns would mix.
 */
RUN_TEST(test_one_to_all)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "4M", "--simultaneous", "--direction", "d2d", "--pairs",
        "0:1,1:2,0:2", "--peer-path", "direct-write");
    assert_int_equal(f.run.case_count, 3 + 2 * 3);
    const struct xb_result *rows = &f.run.results[3];
    assert_int_equal(rows[0].bytes_moved, 8 << 20);
    expect_seconds(&rows[0], 5 * PEER_S);
    expect_seconds(&rows[1], 3 * PEER_S);
    expect_seconds(&rows[2], 5 * PEER_S);
    expect_samples(&rows[0], "overlap", 3.0 / 5);
    expect_computed(&rows[1], "share_of_alone", 1.0 / 3);
    expect_computed(&rows[2], "share_of_alone", 3.0 / 5);
    assert_null(figure_of(&rows[0], "share_of_alone"));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(rows[i].row.verified, XB_VERIFIED_TRUE);
    assert_string_equal(detail(&rows[1], "link"), "NVLink");
    finish(&f);
}

/* Device 0 receives from both others by a queue of each; that of device 1 is its third, since its
 * memory was given up while device 2 was measured. */
RUN_TEST(test_all_to_one)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "4M", "--simultaneous", "--direction", "d2d", "--pairs",
        "1:0,2:0", "--peer-path", "direct-write");
    const struct xb_result *rows = &f.run.results[2];
    expect_seconds(&rows[0], 3 * PEER_S);
    expect_seconds(&rows[1], 3 * PEER_S);
    expect_seconds(&rows[2], PEER_S);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

/*
 * The one device has a single hardware queue, so one pair's copies begin when the other's are done.
 * Both are asked for at once: the sum is of the whole time, not of that of one of them.
 */
RUN_TEST(test_pairs_that_take_turns)
{
    static const struct {
        const char *pairs, *path;
    } rows[] = {{"0:1,0:2", "direct-write"}, {"1:0,2:0", "direct-read"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        xb_fake_reset();
        xb_fake.device_count = 3;
        xb_fake.queues_are_alike = true;
        xb_fake.hardware_queues = 1;
        RUN(&f, "--mode", "peer", "--size", "4M", "--simultaneous", "--direction", "d2d", "--pairs",
            rows[i].pairs, "--peer-path", rows[i].path);
        const struct xb_result *sum = &f.run.results[2];
        expect_seconds(&sum[0], 2 * PEER_S);
        expect_seconds(&sum[1], PEER_S);
        expect_seconds(&sum[2], 2 * PEER_S);
        expect_samples(&sum[0], "overlap", 0.5);
        expect_computed(&sum[2], "share_of_alone", 0.5);
        finish(&f);
    }
}

/* Kernels share the cores of the device that copies for several pairs, and of no other. */
RUN_TEST(test_pairs_share_the_cores)
{
    static const struct {
        const char *pairs, *path;
        unsigned together;
    } rows[] = {
        {"0:1,0:2", "direct-write", 2},
        {"0:1,0:2", "direct-read", 1},
        {"1:0,2:0", "direct-write", 1},
        {"1:0,2:0", "direct-read", 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        xb_fake_reset();
        xb_fake.device_count = 3;
        RUN(&f, "--mode", "peer", "--by", "kernel", "--size", "64K", "--simultaneous",
            "--direction", "d2d", "--pairs", rows[i].pairs, "--peer-path", rows[i].path);
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(xb_fake.kernels_together, rows[i].together);
        finish(&f);
    }
}

/* What they have in common holds the buffers of all three, 4 MiB each; one of them is there from
 * the pairs alone. */
RUN_TEST(test_memory_of_what_pairs_have_in_common)
{
    for (unsigned mib = 4; mib <= 8; mib += 4) {
        struct fixture f;
        xb_fake_reset();
        xb_fake.device_count = 4;
        xb_fake.device_memory_free = mib << 20;
        RUN(&f, "--mode", "peer", "--size", "4M", "--simultaneous", "--direction", "d2d", "--pairs",
            "0:1,0:2,0:3", "--peer-path", "direct-read");
        for (size_t i = 0; i < 3 + 4; i++)
            expect_status(&f.run.results[i], i < 3 || mib == 8 ? XB_RESULT_OK : XB_RESULT_ERROR);
        if (mib == 4)
            assert_int_equal(f.run.results[3].error.status, XB_ERR_MEMORY);
        finish(&f);
    }
}

/* Device 0 has room for so many bytes of device memory. */
static struct {
    uint64_t bytes, taken;
} store;

static enum xb_status allocate_in_room(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error)
{
    bool counts = memory == XB_MEMORY_DEVICE && device->info.index == 0;
    if (counts && bytes > store.bytes - store.taken)
        return XB_FAIL(error, XB_ERR_MEMORY, "no room");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK && counts)
        store.taken += bytes;
    return status;
}

static void free_in_room(struct xb_buffer *buffer)
{
    if (buffer != NULL && buffer->memory == XB_MEMORY_DEVICE && buffer->device->info.index == 0)
        store.taken -= buffer->bytes;
    xb_fake_backend.buffer_free(buffer);
}

static enum xb_status tell_room(struct xb_device *device, uint64_t *free_bytes,
                                struct xb_error *error)
{
    (void)error;
    *free_bytes = device->info.index == 0 ? store.bytes - store.taken : UINT64_C(1) << 30;
    return XB_OK;
}

/* What is kept for a larger size takes nothing away from four pairs of a smaller one. */
RUN_TEST(test_a_larger_size_leaves_pairs_their_memory)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.buffer_allocate = allocate_in_room;
    altered_backend.buffer_free = free_in_room;
    altered_backend.device_memory = tell_room;
    xb_fake.device_count = 5;
    xb_fake.device_memory_free = 1; /* the devices' memory is not the host's */
    store.bytes = 13 << 20;
    store.taken = 0;
    RUN(&f, "--mode", "peer", "--size", "2M,4M", "--simultaneous", "--direction", "d2d", "--pairs",
        "0:1,0:2,0:3,0:4", "--peer-path", "direct-read");
    for (size_t i = 0; i < 2 * 4 + 2 * 5; i++) /* 16 MiB are more than there are */
        expect_status(&f.run.results[i], i < 2 * 4 + 5 ? XB_RESULT_OK : XB_RESULT_ERROR);
    finish(&f);
    assert_int_equal(store.taken, 0);
}

/* One operation of each of two pairs does not fit behind a hold that has room for one. */
RUN_TEST(test_pairs_share_the_room_behind_a_hold)
{
    struct fixture f;
    for (unsigned room = 1; room <= 8; room += 7) {
        xb_fake_reset();
        xb_fake.device_count = 3;
        xb_fake.held_operations = room;
        RUN(&f, "--mode", "peer", "--size", "64K", "--simultaneous", "--direction", "d2d",
            "--pairs", "0:1,0:2", "--peer-path", "direct-read");
        for (size_t i = 2; i < 5 && room == 1; i++)
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "too many operations");
        for (size_t i = 0; i < 3 && room == 8; i++) /* a pair's own row does not tell */
            expect_number(&f.run.results[i], "iterations_per_sample", i < 2 ? 8 : 4);
        finish(&f);
    }
}

/* One of two pairs is wrong. */
RUN_TEST(test_one_wrong_pair_spoils_the_group)
{
    struct fixture f;
    alter(1, 1);
    altered.broken_peer = 3;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "64K", "--simultaneous", "--direction", "d2d", "--pairs",
        "0:1,0:2", "--peer-path", "direct-write");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    for (size_t i = 1; i < 5; i++)
        expect_status(&f.run.results[i], XB_RESULT_ERROR);
    for (size_t i = 2; i < 5; i++)
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "device 0 to 2: ");
    assert_int_equal(f.run.results[3].row.verified, XB_VERIFIED_UNKNOWN);
    finish(&f);
}

RUN_TEST(test_one_device_has_nobody_beside_it)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    for (size_t i = 1; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "only one is here or selected");
    finish(&f);
}

/* Calls that block their caller cannot be started together. */
/* Not held, those enqueued first would run ahead: no sum of theirs would be true. */
RUN_TEST(test_devices_that_cannot_be_held_have_no_sum)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--size", "1M", "--chunk", "4K", "--simultaneous", "--direction",
        "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        if (i < 2) /* alone: 256 too many operations behind 64, and the row says so */
            expect_status(&f.run.results[i], XB_RESULT_OK);
        else
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_HOLD;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
}

RUN_TEST(test_pageable_copies_take_turns)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--host-memory", "pageable", "--size", "64K", "--simultaneous",
        "--direction", "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        expect_status(&f.run.results[i], i < 2 ? XB_RESULT_OK : XB_RESULT_SKIPPED);
    finish(&f);
}

/* One of three is wrong: the time of all is worth nothing, and the rows say whose fault it is. */
RUN_TEST(test_one_wrong_device_spoils_the_group)
{
    struct fixture f;
    alter(1, 1);
    altered.broken_device = 2;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3 + 4);
    for (size_t i = 0; i < 3; i++)
        expect_status(&f.run.results[i], i == 1 ? XB_RESULT_ERROR : XB_RESULT_OK);
    for (size_t i = 3; i < 7; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool wrong = result->test.sum || result->test.device == 1;
        expect_reason(result, XB_RESULT_ERROR, "device 1: ");
        assert_int_equal(result->row.verified, wrong ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN);
        if (!wrong)
            assert_int_equal(result->bandwidth.n, 0);
    }
    finish(&f);
}
